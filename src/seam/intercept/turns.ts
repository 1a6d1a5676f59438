import { queueMicrotask } from '../source.ts'

/**
 * Turns of the microtask queue from the head of an answer to the response of `fetch`, as undici takes them: as measured on
 * Node 24, until one is counted here. Two answers that come in one turn of the event loop reach the agent in their order,
 * also when undici hands over one of them.
 */
let headTurns = 7

/** Does something when undici would have a response for the agent, were the head of its answer there now. */
export function afterHead(work: () => void): void {
  void takeTurns(headTurns, work)
}

/** Likewise one turn later, and what `work` throws is thrown, and no rejection: where it calls the agent. */
export function thrownAfterHead(work: () => void): void {
  void takeTurns(headTurns, () => queueMicrotask(work))
}

/** Does something when the microtask queue has turned so often. */
export function afterTurns(turns: number, work: () => void): void {
  void takeTurns(turns, work)
}

const settled = Promise.resolve()

/** One `await` is one turn, and takes less than `queueMicrotask`. */
async function takeTurns(turns: number, work: () => void): Promise<void> {
  for (let left = turns; left > 0; left--) await settled
  work()
}

/** What takes more turns waits for something else than undici. */
const most = 100

/** Counts the turns that undici takes for one response: other versions of it take others. */
export class HeadTurns {
  #turns = 0
  #isCounting = false

  /** To be called when the head of the answer is there, before undici has it. */
  begin(): void {
    this.#isCounting = true
    this.#count()
  }

  /** To be called by whoever waits for the response, a turn after it is there. */
  end(): void {
    if (this.#isCounting && this.#turns > 1 && this.#turns <= most) headTurns = this.#turns - 1
    this.#isCounting = false
  }

  #count(): void {
    if (!this.#isCounting || this.#turns > most) return
    queueMicrotask(() => {
      this.#turns++
      this.#count()
    })
  }
}
