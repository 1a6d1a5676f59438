// Over 300 lines: the ways in which a recorded call is answered, side by side.
import { userSite } from '../seam/caller.ts'
import { never } from '../seam/intercept/index.ts'
import { handOut } from '../seam/queries.ts'
import { isThenable } from '../seam/shape.ts'
import { type SeamCall, type RunContext, seamState } from '../seam/source.ts'
import { asOnTape, compareContext } from './compare-context.ts'
import { type CallEvent, encodeValue, type Json, type Moment } from '../tape/index.ts'
import { presentArgs } from '../tape/present.ts'
import { answer, giveBackWritten } from './answer.ts'
import { decoderFor } from './cut.ts'
import { observeInside, observeValues } from './observe-answer.ts'
import { firstDifference } from '../match/difference.ts'
import * as problem from '../playback/problems.ts'
import { isGivenUp } from '../playback/order.ts'
import { servedPieces } from '../playback/pieces.ts'
import type { ReplayRun } from './run.ts'
import { runBody } from './run-body.ts'
import type { GateItem } from '../match/delivery.ts'
import type { CallState, StepState } from '../match/step.ts'

/** The run as code inside the call with this number sees it. */
type View = (n: number) => RunContext

const nothing = encodeValue(undefined)

type Mutable<T> = { -readonly [K in keyof T]: T[K] }

/**
 * Answers a call of a wrapped function from the tape; the function itself does not run, unless it was wrapped with
 * `replay: 'run'`.
 * @throws HarvestError when the tape has no answer for these arguments
 */
export function serveCall(
  run: ReplayRun,
  call: SeamCall,
  fn: (args?: readonly unknown[]) => unknown,
  inside: number | undefined,
  viewFrom: View,
): unknown {
  if (run.over) return never()
  const encoded = run.encode(call.args[0], { isArgs: true })
  const args = run.encodeAs(call.args[0], () => run.calls.openArgs(call), encoded)
  const again = run.calls.findSame(call, args) ? undefined : run.calls.findAgain(call, userSite())
  if (again) return readAgain(run, again)
  const handed = call.context?.()
  const context =
    handed && (handed.data === undefined ? null : asOnTape(run.tape, run.encode(handed.data, { isArgs: true })))
  const step = findCall(run, call, args, context)
  if (call.revive === undefined) run.served(call.name, step)
  if (call.replay !== 'run') run.requireWholeQuery(step)
  run.checkOrder(step)
  if (call.kind !== 'value') run.countFrom(step)
  run.compareValues(step, undefined, () => ({ args, ...(context === undefined ? {} : { context }) }))
  if (handed) compareContext(run, call, step, context ?? null, handed)
  const isAnswered = step.event.sync === true || step.event.settled !== undefined
  const isCompared = isAnswered && run.tools.runs(call)
  if (call.kind !== 'value') {
    const isRun = isCompared || call.replay === 'run'
    run.noteHidden(run.hidden.ofArguments(call.name, call.args[0], isRun), step)
    run.noteHidden([...run.hidden.ofCut('args', args), ...run.hidden.ofCut('context', context)], step)
  }
  const heard: Mutable<CallEvent> = {
    kind: call.kind,
    n: run.nextN(),
    at: run.gate.now,
    name: call.name,
    ...(call.driver === undefined ? {} : { driver: call.driver }),
    args,
    ...(context === undefined ? {} : { context }),
    ...(inside === undefined ? {} : { in: inside }),
    ...run.siteOf(),
  }
  run.events.push(heard)
  if (isCompared) return runAndCompare(run, call, step, heard, fn, viewFrom(heard.n))
  if (call.replay === 'run') return runForReal(run, step, heard, fn, viewFrom)
  run.functions.compare(call, step)
  return serveRecorded(run, step, heard, call.write)
}

/** A value read more often than recorded is another run, but what follows is worth seeing. */
function readAgain(run: ReplayRun, step: CallState): unknown {
  const give = (): unknown => answer(step.event, decoderFor(run, step))
  return step.event.sync ? give() : Promise.resolve().then(give)
}

function findCall(run: ReplayRun, call: SeamCall, args: Json, context: Json | undefined): CallState {
  const same = run.calls.findSame(call, args, context)
  if (same) {
    run.identical++
    return same
  }
  const changed = run.calls.findChanged(call, args, (step) => run.order.isDue(step))
  if (changed) {
    const difference = firstDifference(presentArgs(changed.event.args), presentArgs(args), 'args')
    if (difference) run.drifted(changed, undefined, { class: 'arguments', part: call.name, ...difference })
    return changed
  }
  run.compareValues(undefined, undefined, () => ({ args }))
  const place = run.place()
  const nearest = run.calls.nearest(call, args)
  const due = run.steps.find((one) => !one.taken)
  const isRecorded = run.calls.isRecorded(call)
  const instead = `${call.kind} ${call.name}${isRecorded ? ' once more than recorded' : ', which is not on the tape'}`
  run.refused.push({
    kind: call.kind,
    name: call.name,
    asked: JSON.stringify(args),
    ...(nearest === undefined ? {} : { nearest: nearest.number }),
  })
  throw run.problem(
    isRecorded
      ? problem.wrongCall(place, call.name, JSON.stringify(args), nearest)
      : problem.unknownCall(place, call.name, JSON.stringify(args), due),
    // With one of its name left, it is that one with other arguments.
    nearest ? undefined : () => problem.passedOver(place, due, run.steps, instead),
  )
}

/** Hands out the recorded answer at its recorded place in the order. */
function serveRecorded(run: ReplayRun, step: CallState, heard: Mutable<CallEvent>, write: SeamCall['write']): unknown {
  run.skipInside(step.event.n)
  observeInside(run, step)
  const { event } = step
  const decode = decoderFor(run, step)
  if (event.sync) {
    run.take(step)
    run.gate.done(step.items)
    settle(run, step, heard, [run.nextN(), run.gate.now])
    heard.sync = true
    giveBackWritten(event, write)
    return answer(event, decode)
  }
  if (event.yields) return serveIterable(run, step, heard, write)
  if (!event.settled) {
    run.take(step)
    return never()
  }
  const { promise, resolve, reject } = Promise.withResolvers<unknown>()
  onDelivery(run, step, (moment) => {
    settle(run, step, heard, moment)
    giveBackWritten(event, write)
    try {
      resolve(answer(event, decode))
    } catch (error) {
      reject(error as Error)
    }
  })
  run.take(step)
  return promise
}

/** Runs the body beside its recording, and hands out the answer at its recorded place. */
function runAndCompare(
  run: ReplayRun,
  call: SeamCall,
  step: CallState,
  heard: Mutable<CallEvent>,
  fn: (args?: readonly unknown[]) => unknown,
  view: RunContext,
): unknown {
  const { event } = step
  run.ranForReal.push(event.name)
  run.bodies.set(heard.n, event.n)
  run.begin(step)
  const ran = runBody(run, call, step, heard.args, fn, view)
  if (isThenable(ran)) run.waitFor(ran)
  if (event.sync) {
    run.gate.done(step.items)
    settle(run, step, heard, [run.nextN(), run.gate.now])
    heard.sync = true
    // What answered at once may answer later now: the agent has to go on.
    if (isThenable(ran)) {
      run.waitFor(ran.then(({ compareArguments }) => compareArguments()))
      return answer(event, decoderFor(run, step))
    }
    ran.compareArguments()
    return ran.outcome()
  }
  if (event.yields) {
    const served = iterable(run, step, heard)
    void Promise.resolve(ran).then(({ compareArguments }) => {
      compareArguments()
      run.gate.ready(piecesOf(step))
    })
    return served
  }
  const { promise, resolve } = Promise.withResolvers<void>()
  onDelivery(run, step, (moment) => {
    settle(run, step, heard, moment)
    resolve()
  })
  return Promise.resolve(ran).then(async ({ outcome, compareArguments }) => {
    run.gate.ready(step.items.slice(1))
    await promise
    compareArguments()
    return outcome()
  })
}

/** Runs the function; its answer reaches the agent where the recorded one did. */
function runForReal(
  run: ReplayRun,
  step: CallState,
  heard: Mutable<CallEvent>,
  fn: () => unknown,
  viewFrom: View,
): unknown {
  run.ranForReal.push(step.event.name)
  run.bodies.set(heard.n, step.event.n)
  const view = viewFrom(heard.n)
  const result = seamState().runs.run(view, fn)
  if (!isThenable(result)) {
    run.take(step)
    run.gate.done(step.items)
    settle(run, step, heard, [run.nextN(), run.gate.now])
    heard.sync = true
    heard.result = run.encode(result)
    return result
  }
  const arrived = (outcome: () => unknown): Promise<unknown> => {
    const { promise, resolve } = Promise.withResolvers<void>()
    onDelivery(run, step, (moment) => {
      settle(run, step, heard, moment)
      resolve()
    })
    run.gate.ready(step.items.slice(1))
    return promise.then(outcome)
  }
  run.begin(step)
  const hear = (settled: PromiseLike<unknown>): PromiseLike<unknown> =>
    settled.then(
      (value) =>
        arrived(() => {
          heard.result = run.encode(value)
          return value
        }),
      (error: unknown) =>
        arrived(() => {
          heard.error = run.encode(error)
          throw error
        }),
    )
  return handOut(result, { view, hear })
}

function serveIterable(
  run: ReplayRun,
  step: CallState,
  heard: Mutable<CallEvent>,
  write: SeamCall['write'],
): AsyncGenerator<unknown> {
  const served = iterable(run, step, heard, write)
  run.begin(step)
  run.gate.ready(piecesOf(step))
  return served
}

/** What comes by itself: a source whose pieces are not asked for any more hears of it from whoever read them. */
function piecesOf({ event, items }: CallState): readonly GateItem[] {
  return event.stopped && event.settled ? items.slice(1, -1) : items.slice(1)
}

/** The recorded pieces, each at its place once the answer is ready. */
function iterable(
  run: ReplayRun,
  step: CallState,
  heard: Mutable<CallEvent>,
  write?: SeamCall['write'],
): AsyncGenerator<unknown> {
  const { event, items } = step
  const decode = decoderFor(run, step)
  const pieces = (event.yields ?? []).map(([, , value]) => ({ value, ...Promise.withResolvers<void>() }))
  const end = Promise.withResolvers<void>()
  for (const [i, piece] of pieces.entries()) {
    const item = items[i + 1]
    const handOver = (): void => {
      observeValues(run, piece.value)
      piece.resolve()
    }
    if (item) item.deliver = handOver
  }
  if (event.settled)
    onDelivery(run, step, (moment) => {
      settle(run, step, heard, moment)
      giveBackWritten(event, write)
      end.resolve()
    })
  return servedPieces({
    event,
    pieces: pieces.map(({ value, promise }) => ({ value, opened: promise })),
    ended: end.promise,
    decode,
    onLeft(how) {
      run.readsOn(step, how === 'reads on')
      run.gate.ready(items.slice(1))
    },
    onTold(value, at) {
      const difference = firstDifference(event.told?.[at] ?? nothing, run.encode(value), `next()[${at}]`)
      if (difference) run.drifted(step, undefined, { class: 'arguments', part: event.name, ...difference })
    },
    onGivenUp(asked) {
      const last = event.yields?.[asked - 1]?.[1] ?? event.at
      // How far a reader was ahead of what came in one go is chance.
      const isChance = isGivenUp(step) && event.yields?.slice(asked).every(([, at]) => at === last)
      if (!isChance) run.gaveUp(step, asked, pieces.length)
    },
    onOpen: (idleAfter) => run.opened(step, idleAfter),
    onReadOn: () => run.problem(run.readFurther(step)),
  })
}

function onDelivery(run: ReplayRun, step: StepState, deliver: (moment: Moment) => void): void {
  const last = step.items.at(-1)
  const handOver = (): void => deliver([run.nextN(), run.gate.now])
  if (last && step.items.length > 1) last.deliver = handOver
}

function settle(run: ReplayRun, step: CallState, heard: Mutable<CallEvent>, moment: Moment): void {
  step.answered = true
  heard.settled = moment
  const { result, error, wrote } = step.event
  if (wrote !== undefined) heard.wrote = wrote
  if (result !== undefined) heard.result = result
  if (error !== undefined) heard.error = error
  observeValues(run, result, error)
}
