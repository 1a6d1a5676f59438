import { asyncGenerator } from './async-generator.ts'
import { HarvestError } from '../errors/index.ts'
import { isAsyncIterable, isThenable } from './shape.ts'
import type { Revive, SeamCall, RunContext } from './source.ts'

/** Calls through a run, and revives the result unless the function itself ran: then it is what it is. */
export function revived(
  source: RunContext,
  call: SeamCall,
  run: (args?: readonly unknown[]) => unknown,
  revive: Revive,
): unknown {
  let hasRun = false
  const heard = (args?: readonly unknown[]): unknown => {
    hasRun = true
    return run(args)
  }
  try {
    const answer = source.call(call, heard)
    if (hasRun) return answer
    if (isThenable(answer))
      return answer.then(
        (value) => revive(value, 'returned'),
        (error: unknown) => {
          throw again(error, revive)
        },
      )
    return isAsyncIterable(answer) ? pieces(answer, revive) : revive(answer, 'returned')
  } catch (error) {
    throw hasRun ? error : again(error, revive)
  }
}

function pieces(answer: AsyncIterable<unknown>, revive: Revive): AsyncGenerator<unknown> {
  const source = answer[Symbol.asyncIterator]() as AsyncGenerator<unknown>
  const revived = async (ask: () => Promise<IteratorResult<unknown>>): Promise<IteratorResult<unknown>> => {
    try {
      const { done, value } = await ask()
      if (done === true) return { done, value: value === undefined ? value : revive(value, 'returned') }
      return { done: false, value: revive(value, 'yielded') }
    } catch (error) {
      throw again(error, revive)
    }
  }
  return asyncGenerator({
    next: (...given) => revived(() => source.next(...given)),
    return: (value) => source.return(value),
    throw: (error) => source.throw(error),
  })
}

/** What the replay itself has to say is no answer of the function. */
function again(error: unknown, revive: Revive): unknown {
  return HarvestError.is(error) ? error : revive(error, 'threw')
}
