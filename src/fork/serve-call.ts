import { HarvestError } from '../errors/index.ts'
import { answer, giveBackWritten } from '../replay/answer.ts'
import { decoderFor } from '../replay/cut.ts'
import { observeInside, observeValues } from '../replay/observe-answer.ts'
import type { CallState } from '../match/step.ts'
import { servedPieces } from '../playback/pieces.ts'
import { noteGiven } from '../live/given.ts'
import { CallSockets } from '../live/lost-calls.ts'
import { never } from '../seam/intercept/index.ts'
import { handOut } from '../seam/queries.ts'
import { argumentsOf, isThenable } from '../seam/shape.ts'
import { type SeamCall, type RunContext, seamState } from '../seam/source.ts'
import type { CallEvent, Json, Moment } from '../tape/index.ts'
import type { Entry } from './branch-recorder.ts'
import type { Reply } from './answers.ts'
import type { ForkRun } from './fork-run.ts'

/** The run as code inside the call with this number sees it. */
type View = (n: number) => RunContext
type Heard = Entry<CallEvent>
type Fields = Omit<CallEvent, 'n' | 'at'>

/**
 * Answers a call of a wrapped function in a fork.
 * @throws HarvestError when it has no answer
 */
export function forkCall(
  run: ForkRun,
  given: SeamCall,
  fn: () => unknown,
  inside: number | undefined,
  viewFrom: View,
): unknown {
  if (run.over) return never()
  run.look()
  const call = { ...given, name: run.saidName(given.name), args: [argumentsOf(given.args)] }
  const args = run.argsOf(call)
  const fields: Fields = { kind: call.kind, name: call.name, args, ...(inside === undefined ? {} : { in: inside }) }
  const reply = answerFor(run, call, fields)
  switch (reply.from) {
    case 'place':
      return call.replay === 'run'
        ? runInPlace(run, reply.step, fields, fn, viewFrom)
        : inPlace(run, reply.step, fields, given.write)
    case 'event':
      return played(run, reply, fields, given.write)
    case 'world': {
      const replaced = run.options.tools?.[given.name]
      return runForReal(run, fields, replaced ? () => replaced(...(given.args as never[])) : fn, viewFrom)
    }
    default:
      return reply satisfies never
  }
}

/** What the agent asked for is part of what it did, although it has no answer. */
function answerFor(run: ForkRun, call: SeamCall, fields: Fields): Reply<CallState> {
  const { leftAt } = run
  try {
    return run.answers.forCall(call, fields.args)
  } catch (error) {
    if (HarvestError.is(error, 'HARVEST_NOT_RECORDED')) {
      const { event } = run.account.began<CallEvent>(fields)
      run.leftAt = leftAt ?? event.n
    }
    throw error
  }
}

/** The recorded answer at its recorded place. */
function inPlace(run: ForkRun, step: CallState, fields: Fields, write: SeamCall['write']): unknown {
  const { event, items } = step
  const decode = decoderFor(run, step)
  run.skipInside(event.n)
  observeInside(run, step)
  const heard = run.account.began<CallEvent>(fields, event)
  noteGiven(heard.event)
  run.gate.asked(items[0])
  if (event.sync) {
    run.gate.done(items)
    heard.event.sync = true
    settle(run, event, heard, heard.moment(event.settled))
    giveBackWritten(event, write)
    step.answered = true
    return answer(event, decode)
  }
  if (event.yields === undefined && event.settled === undefined) return never()
  const pieces = (event.yields ?? []).map(([n, at, value]) => ({ at: [n, at] as const, value, ...gate() }))
  const end = gate()
  for (const [i, piece] of pieces.entries()) {
    const item = items[i + 1]
    const handOver = (): void => {
      heard.event.yields = [...(heard.event.yields ?? []), [...heard.moment(piece.at), piece.value]]
      observeValues(run, piece.value)
      piece.open()
    }
    if (item) item.deliver = handOver
  }
  const last = items.at(-1)
  const finish = (): void => {
    step.answered = true
    settle(run, event, heard, heard.moment(event.settled))
    giveBackWritten(event, write)
    end.open()
  }
  if (last && event.settled) last.deliver = finish
  run.gate.ready(items.slice(1))
  return event.yields === undefined ? answerAt(event, end, decode) : iterate(event, pieces, end, decode)
}

/** Runs the function; its answer reaches the agent where the recorded one did. */
function runInPlace(run: ForkRun, step: CallState, fields: Fields, fn: () => unknown, viewFrom: View): unknown {
  const { event, items } = step
  const heard = run.account.began<CallEvent>(fields, event)
  run.runsForReal(event.name)
  run.gate.asked(items[0])
  const done = (rest: Pick<CallEvent, 'result' | 'error'>, moment: Moment): void => {
    step.answered = true
    Object.assign(heard.event, rest, { settled: moment })
    if (JSON.stringify([rest.result, rest.error]) !== JSON.stringify([event.result, event.error])) heard.differs()
  }
  const view = viewFrom(heard.event.n)
  const value = seamState().runs.run(view, fn)
  if (!isThenable(value)) {
    run.gate.done(items)
    heard.event.sync = true
    done({ result: run.encode(value) }, heard.moment(event.settled))
    return value
  }
  const arrive = (rest: Pick<CallEvent, 'result' | 'error'>): Promise<void> => {
    const { open, opened } = gate()
    const last = items.at(-1)
    if (!last || items.length === 1) return opened
    const handOver = (): void => {
      done(rest, heard.moment(event.settled))
      open()
    }
    last.deliver = handOver
    run.gate.ready(items.slice(1))
    return opened
  }
  const hear = (answer: PromiseLike<unknown>): PromiseLike<unknown> =>
    answer.then(
      async (result: unknown) => {
        await arrive({ result: run.encode(result) })
        return result
      },
      async (error: unknown) => {
        await arrive({ error: run.encode(error) })
        throw error
      },
    )
  return handOut(value, { view, hear })
}

/** A recorded or made-up answer, as long after the call as it took. */
function played(
  run: ForkRun,
  { event, step }: Extract<Reply<CallState>, { from: 'event' }>,
  fields: Fields,
  write: SeamCall['write'],
): unknown {
  run.depart()
  const decode = decoderFor(run, step ?? event)
  const isKept = step !== undefined && step.number <= run.plan.keep
  if (step) {
    run.gate.asked(step.items[0])
    run.gate.done(step.items)
    run.skipInside(step.event.n)
    observeInside(run, step)
  }
  const heard = run.account.began<CallEvent>(fields, step?.event)
  noteGiven(heard.event)
  heard.differs()
  if (event.sync) {
    heard.event.sync = true
    settle(run, event, heard, heard.moment())
    giveBackWritten(event, write)
    if (step) step.answered = true
    return answer(event, decode)
  }
  if (event.yields === undefined && event.settled === undefined) return never()
  if (isKept) run.answerSent()
  const start = run.now
  const pieces = (event.yields ?? []).map(([, at, value]) => ({ at, value, ...gate() }))
  const end = gate()
  const waits = pieces.map((piece) => ({
    at: piece.at,
    work: () => {
      heard.event.yields = [...(heard.event.yields ?? []), [...heard.moment(), piece.value]]
      observeValues(run, piece.value)
      piece.open()
    },
  }))
  if (event.settled)
    waits.push({
      at: event.settled[1],
      work: () => {
        settle(run, event, heard, heard.moment())
        giveBackWritten(event, write)
        if (step) step.answered = true
        if (isKept) run.answerArrived()
        end.open()
      },
    })
  const next = (): void => {
    const wait = waits.shift()
    if (!wait) return
    run.later(Math.max(0, wait.at - event.at - (run.now - start)), () => {
      wait.work()
      next()
    })
  }
  next()
  return event.yields === undefined ? answerAt(event, end, decode) : iterate(event, pieces, end, decode)
}

function runForReal(run: ForkRun, fields: Fields, fn: () => unknown, viewFrom: View): unknown {
  run.depart()
  run.runsForReal(fields.name)
  const heard = run.account.began<CallEvent>(fields)
  const view = viewFrom(heard.event.n)
  const sockets = new CallSockets(view)
  const value = seamState().runs.run(view, fn)
  const settled = (rest: Partial<CallEvent>): void => {
    Object.assign(heard.event, rest, { settled: heard.moment() })
  }
  if (!isThenable(value)) {
    settled({ sync: true, result: run.encode(value) })
    return value
  }
  const hear = (answer: PromiseLike<unknown>): PromiseLike<unknown> =>
    answer.then(
      (result: unknown) => {
        settled({ result: run.encode(result) })
        sockets.endedAs(heard.event)
        return result
      },
      (error: unknown) => {
        settled({ error: run.encode(error) })
        throw error
      },
    )
  return handOut(value, { view, hear })
}

function settle(run: ForkRun, { result, error, wrote }: CallEvent, heard: Heard, moment: Moment): void {
  heard.event.settled = moment
  if (wrote !== undefined) heard.event.wrote = wrote
  if (result !== undefined) {
    heard.event.result = run.redactor.json(result)
    run.redactor.observe(JSON.stringify(result))
  }
  if (error !== undefined) heard.event.error = run.redactor.json(error)
}

type Decode = ReturnType<typeof decoderFor>

interface Opening {
  readonly open: () => void
  readonly opened: Promise<void>
}

function gate(): Opening {
  const { promise, resolve } = Promise.withResolvers<void>()
  return { open: resolve, opened: promise }
}

async function answerAt(event: CallEvent, end: Opening, decode: Decode): Promise<unknown> {
  await end.opened
  return answer(event, decode)
}

function iterate(
  event: CallEvent,
  pieces: readonly (Opening & { readonly value: Json })[],
  end: Opening,
  decode: Decode,
): AsyncGenerator<unknown> {
  return servedPieces({ event, pieces, ended: end.opened, decode })
}
