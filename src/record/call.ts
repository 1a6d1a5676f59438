import { userSite } from '../seam/caller.ts'
import type { Observer } from '../seam/observe/observer.ts'
import { argumentsOf, isAsyncIterable, isThenable } from '../seam/shape.ts'
import { type SeamCall, seamState } from '../seam/source.ts'
import { type CallEvent, encodeValue, type Json } from '../tape/index.ts'
import { observe } from './answer.ts'
import { CallLosses, notGivenBack } from './losses.ts'
import type { Arriving, CallRecording } from './recording.ts'

/** Runs a wrapped function and records what it was asked and what it answered. */
export function recordCall(
  run: CallRecording,
  call: SeamCall,
  fn: () => unknown,
  where: { readonly in?: number },
  /** The run as code inside call `n` sees it. */
  viewFrom: (n: number) => Observer,
): unknown {
  const [n, at] = run.moment()
  const site = userSite()
  let args: Json = null
  let losses: CallLosses | undefined
  run.attempt(() => {
    const encoded = encodeValue(argumentsOf(call.args))
    args = run.clean(encoded)
    losses = new CallLosses(call, encoded)
  })
  const issued = {
    kind: call.kind,
    n,
    at,
    ...where,
    ...(site ? { site } : {}),
    name: call.name,
    ...driverOf(call),
    args,
  }
  run.called(issued)
  const settle = (rest: () => Partial<CallEvent>): void =>
    run.answered(issued, () => {
      const settled = { settled: run.moment(), ...rest() }
      const lost = losses?.of({ ...issued, ...settled }) ?? []
      if (lost.length === 0) return settled
      run.warn(notGivenBack(call, lost))
      return { ...settled, lost }
    })
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
    return observe(
      answer,
      (value) => settle(() => ({ result: run.encode(value) })),
      (error) => settle(() => ({ error: run.encode(error) })),
    )
  }
  if (isAsyncIterable(answer)) return recordIterable(answer, (source) => hear(run, inside, source, issued, settle))
  settle(() => ({ sync: true, result: run.encode(answer) }))
  return answer
}

function driverOf({ driver }: SeamCall): Pick<CallEvent, 'driver'> {
  return driver === undefined ? {} : { driver }
}

type Settle = (rest: () => Partial<CallEvent>) => void

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

async function* hear(
  run: CallRecording,
  inside: Observer,
  source: AsyncIterator<unknown>,
  issued: CallEvent,
  settle: Settle,
): AsyncGenerator<unknown> {
  const yields: (readonly [number, number, Json])[] = []
  let written = 0
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
  let isDone = false
  try {
    for (;;) {
      const next = await seamState().runs.run(inside, () => source.next())
      if (next.done) break
      run.attempt(() => {
        const [n, at] = run.moment()
        yields.push([n, at, run.encode(next.value)])
        run.arriving(arriving)
      })
      yield next.value
    }
    isDone = true
    settle(() => ({ yields }))
    return undefined
  } catch (error) {
    isDone = true
    settle(() => ({ yields, error: run.encode(error) }))
    throw error
  } finally {
    if (!isDone) {
      // The agent stopped reading: no piece is written after the end.
      isDone = true
      settle(() => ({ yields, stopped: true }))
      await source.return?.()
    }
  }
}
