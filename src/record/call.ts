import { asyncGenerator } from '../seam/async-generator.ts'
import { userSite } from '../seam/caller.ts'
import type { Observer } from '../seam/observe/observer.ts'
import { handOut, isQuery } from '../seam/queries.ts'
import { argumentsOf, isAsyncIterable, isThenable } from '../seam/shape.ts'
import { type SeamCall, seamState } from '../seam/source.ts'
import type { ToolContext } from '../seam/tool-context.ts'
import { redactedChanges } from '../privacy/index.ts'
import { type CallEvent, encodeValue, type Json, type Moment, queryBuilt } from '../tape/index.ts'
import { observe } from './answer.ts'
import { contextChanges, type WrittenChange } from './context-changes.ts'
import { CallLosses, notGivenBack } from './losses.ts'
import type { AtOnceCalls } from './at-once.ts'
import type { Arriving, CallRecording } from './recording.ts'

/** Runs a wrapped function and records what it was asked and what it answered. */
export function recordCall(
  run: CallRecording,
  call: SeamCall,
  fn: () => unknown,
  where: { readonly in?: number },
  atOnce: AtOnceCalls,
  /** The run as code inside call `n` sees it. */
  viewFrom: (n: number) => Observer,
): unknown {
  const [n, at] = run.moment()
  const site = userSite()
  let { name } = call
  let args: Json = null
  let context: Json | undefined
  let handed: Json | undefined
  let code: CallEvent['code']
  let losses: CallLosses | undefined
  run.attempt(() => {
    name = run.cleanName(name)
    const asEncoded = (): Json => run.capped(encodeValue(argumentsOf(call.args)), { isArgs: true })
    const encoded = asEncoded()
    args = run.clean(encoded)
    losses = new CallLosses(call, encoded, asEncoded)
    const found = call.body && run.codes.of(call.body)
    if (found) code = [run.clean(found[0]) as string, found[1]]
    if (call.context) {
      handed = dataOf(call.context())
      context = run.clean(run.capped(handed, { isArgs: true }))
    }
  })
  const issued = {
    kind: call.kind,
    n,
    at,
    ...where,
    ...(call.kind === 'value' ? {} : atOnce.turns),
    ...(site ? { site } : {}),
    name,
    ...driverOf(call),
    ...(code && { code }),
    args,
    ...(context === undefined ? {} : { context }),
  }
  run.called(issued)
  const counted = call.kind === 'value' ? undefined : atOnce.begun(n)
  const used: string[] = []
  const settle: Settle = (rest, after) => {
    if (counted !== undefined) counted.isAnswered = true
    run.answered(issued, () => {
      const settled = { settled: run.moment(after), ...rest(), ...written(run, call, handed) }
      const found = losses?.of({ ...issued, ...settled }) ?? []
      const lost = used.length === 0 ? found : [...found, ...builtFurther(call, used)]
      if (lost.length === 0) return settled
      run.warn(notGivenBack(call, lost))
      return { ...settled, lost }
    })
  }
  const { spent } = run.account
  if (spent !== undefined && call.kind !== 'value') {
    settle(() => ({ sync: true, error: run.encode(spent) }))
    throw spent
  }
  const inside = viewFrom(n)
  let answer: unknown
  try {
    answer = seamState().runs.run(inside, fn)
  } catch (error) {
    settle(() => ({ sync: true, error: run.encode(error) }))
    throw error
  }
  if (isThenable(answer)) {
    const hear = (settled: PromiseLike<unknown>): PromiseLike<unknown> =>
      observe(
        settled,
        (value) => settle(() => ({ result: run.encode(value) })),
        (error) => settle(() => ({ error: run.encode(error) })),
      )
    if (!isQuery(answer)) return hear(answer)
    run.leftOpen(issued, () => notAwaited(run, call, used))
    const again = (): void => run.attempt(() => run.warn(notGivenBack(call, [`${queryBuilt}: awaited more than once`])))
    return handOut(answer, { view: inside, hear, again }, used)
  }
  if (isAsyncIterable(answer)) {
    run.leftOpen(issued, () => unheard(run, call, answer))
    return recordIterable(answer, (source) => hear(run, inside, source, issued, settle))
  }
  settle(() => ({ sync: true, result: run.encode(answer) }))
  return answer
}

/** What was added to a query before it was awaited: the call stands on the tape without that. */
function builtFurther({ replay }: SeamCall, used: readonly string[]): readonly string[] {
  // Where the body runs in a replay, its query is there to be built.
  return used.length === 0 || replay === 'run' ? [] : [`${queryBuilt}: ${[...new Set(used)].join(', ')}`]
}

/** Of a query that was not awaited: it may have run in another way. */
function notAwaited(run: CallRecording, call: SeamCall, used: readonly string[]): Partial<CallEvent> {
  const lost = builtFurther(call, used)
  if (lost.length === 0) return {}
  run.warn(notGivenBack(call, lost))
  return { lost }
}

function dataOf({ data }: ToolContext): Json {
  return data === undefined ? null : encodeValue(data)
}

/** What the body wrote into what it was handed: a replay does not run it, and writes the same. */
function written(run: CallRecording, { context }: SeamCall, before: Json | undefined): Pick<CallEvent, 'wrote'> {
  if (context === undefined || before === undefined) return {}
  const after = context()
  const changes = contextChanges(before, dataOf(after)).map((change): WrittenChange => {
    const [path] = change
    const there = change.length === 1 ? after.at(path) : undefined
    // What is empty is no data, and there all the same.
    if (Array.isArray(there)) return [path, []]
    return typeof there === 'object' && there !== null ? [path, {}] : change
  })
  if (changes.length === 0) return {}
  return { wrote: redactedChanges(changes, (value) => run.clean(value)) }
}

function driverOf({ driver }: SeamCall): Pick<CallEvent, 'driver'> {
  return driver === undefined ? {} : { driver }
}

/** @param after - the piece before, where the answer came in pieces */
type Settle = (rest: () => Partial<CallEvent>, after?: Moment) => void

/** The same iterable, heard while the agent reads it. A stream keeps its other methods; what those read is not heard. */
function recordIterable(
  answer: AsyncIterable<unknown>,
  listen: (source: AsyncIterator<unknown>) => AsyncIterator<unknown>,
): unknown {
  if (Object.prototype.toString.call(answer) === '[object AsyncGenerator]')
    return listen(answer[Symbol.asyncIterator]())
  const iterate = answer[Symbol.asyncIterator]
  let isHeard = false
  function heard(...args: []): AsyncIterator<unknown> {
    const source = Reflect.apply(iterate, answer, args)
    if (isHeard) return source
    isHeard = true
    return listen(source)
  }
  // Of a frozen stream nothing is heard: on the tape its call was never answered.
  Reflect.defineProperty(answer, Symbol.asyncIterator, { value: heard, configurable: true, writable: true })
  return answer
}

/** Of an iterable that was not iterated over: a stream may have been read in another way. */
function unheard(run: CallRecording, call: SeamCall, answer: AsyncIterable<unknown>): Partial<CallEvent> {
  const { readableDidRead, locked } = answer as { readonly readableDidRead?: boolean; readonly locked?: boolean }
  if (call.replay === 'run' || !(readableDidRead === true || locked === true)) return { yields: [] }
  const lost = ['result: a stream that is not read by `for await`']
  run.warn(notGivenBack(call, lost))
  return { yields: [], lost }
}

/** Hands the questions of whoever reads on to the source, and hears its answers. */
function hear(
  run: CallRecording,
  inside: Observer,
  source: AsyncIterator<unknown>,
  issued: CallEvent,
  settle: Settle,
): AsyncGenerator<unknown> {
  const yields: (readonly [number, number, Json])[] = []
  const told: Json[] = []
  let hasTold = false
  let before: Moment = [issued.n, issued.at]
  let written = 0
  let isDone = false
  /** Whoever reads stopped, and the source made its end of that. */
  let isStopped = false
  const arriving: Arriving = {
    soFar() {
      if (isDone || written === yields.length) return undefined
      written = yields.length
      return { ...issued, yields: [...yields] }
    },
    get isBehind() {
      return !isDone && written < yields.length
    },
  }
  const soFar = (): Partial<CallEvent> => ({
    yields: [...yields],
    ...(hasTold && { told: [...told] }),
    ...(isStopped && { stopped: true }),
  })
  run.leftOpen(issued, soFar)
  const end = (how: Asking, rest: () => Partial<CallEvent>): void => {
    if (isDone) return
    isDone = true
    isStopped = how !== 'reads'
    settle(() => ({ ...soFar(), ...rest() }), before)
  }
  const arrived = ({ done, value }: IteratorResult<unknown>, how: Asking): void => {
    // What comes of a reader that stops is its own.
    if (done === true) end(how, () => (how === 'stops' || value === undefined ? {} : { result: run.encode(value) }))
    if (isDone) return
    run.attempt(() => {
      before = run.moment(before)
      yields.push([...before, run.encode(value)])
      run.arriving(arriving)
    })
  }
  const ask = async (
    question: () => Promise<IteratorResult<unknown>>,
    how: Asking,
    given?: unknown,
  ): Promise<IteratorResult<unknown>> => {
    try {
      isStopped ||= how === 'stops' && !isDone
      const answer = await seamState().runs.run(inside, question)
      arrived(answer, how)
      return answer
    } catch (error) {
      end(how, () => (how === 'stops' && error === given ? {} : { error: run.encode(error) }))
      throw error
    }
  }
  return asyncGenerator({
    next(...given) {
      hasTold ||= given[0] !== undefined
      if (!isDone) run.attempt(() => told.push(run.encode(given[0])))
      return ask(() => source.next(...given), 'reads')
    },
    return: (value) => ask(async () => (await source.return?.(value)) ?? { done: true, value: await value }, 'stops'),
    throw: (given) =>
      ask(
        async () => {
          if (source.throw) return source.throw(given)
          await source.return?.()
          throw given
        },
        'stops',
        given,
      ),
  })
}

/** What whoever reads wants of the source: its next piece, or that it ends. */
type Asking = 'reads' | 'stops'
