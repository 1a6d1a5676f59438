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

async function* pieces(answer: AsyncIterable<unknown>, revive: Revive): AsyncGenerator<unknown> {
  try {
    for await (const piece of answer) yield revive(piece, 'yielded')
  } catch (error) {
    throw again(error, revive)
  }
}

/** What the replay itself has to say is no answer of the function. */
function again(error: unknown, revive: Revive): unknown {
  return HarvestError.is(error) ? error : revive(error, 'threw')
}
