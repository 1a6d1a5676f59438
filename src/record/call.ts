import { userSite } from '../seam/caller.ts'
import { argumentsOf, isAsyncIterable, isThenable } from '../seam/shape.ts'
import { type SeamCall, seamState } from '../seam/source.ts'
import type { CallEvent, Json } from '../tape/index.ts'
import { observerOf, type RecordedRun } from './run.ts'

/** Runs a wrapped function and records what it was asked and what it answered. */
export function recordCall(run: RecordedRun, call: SeamCall, fn: () => unknown, where: { readonly in?: number }): unknown {
  const [n, at] = run.moment()
  const site = userSite()
  let args: Json = null
  run.attempt(() => {
    args = run.encode(argumentsOf(call.args))
  })
  const issued = { kind: call.kind, n, at, ...where, ...(site ? { site } : {}), name: call.name, args }
  const finish = (rest: Partial<CallEvent>): void => {
    if (!run.over) run.attempt(() => run.append({ ...issued, ...rest }))
  }
  const inside = observerOf(run, n)
  let answer: unknown
  try {
    answer = seamState().runs.run(inside, fn)
  } catch (error) {
    finish({ sync: true, settled: run.moment(), error: run.encode(error) })
    throw error
  }
  if (isThenable(answer)) {
    return answer.then(
      (value) => {
        finish({ settled: run.moment(), result: run.encode(value) })
        return value
      },
      (error: unknown) => {
        finish({ settled: run.moment(), error: run.encode(error) })
        throw error
      },
    )
  }
  if (isAsyncIterable(answer)) return recordIterable(run, answer, finish)
  finish({ sync: true, settled: run.moment(), result: run.encode(answer) })
  return answer
}

async function* recordIterable(
  run: RecordedRun,
  source: AsyncIterable<unknown>,
  finish: (rest: Partial<CallEvent>) => void,
): AsyncGenerator<unknown> {
  const yields: (readonly [number, number, Json])[] = []
  try {
    for await (const value of source) {
      const [n, at] = run.moment()
      yields.push([n, at, run.encode(value)])
      yield value
    }
    finish({ yields, settled: run.moment() })
  } catch (error) {
    finish({ yields, settled: run.moment(), error: run.encode(error) })
    throw error
  }
}
