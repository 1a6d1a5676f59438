import { TurnCount } from '../seam/turns.ts'

/** How many calls are counted from at once: a loop of calls that answer at once would count from each. */
const most = 16

/** A call, until it is known that no answer comes at once. */
export interface AtOnceCall {
  readonly n: number
  readonly count: TurnCount
  isAnswered: boolean
}

/** The calls of a run that are answered in one go, and how many turns after each the next steps are made. */
export class AtOnceCalls {
  #calls: AtOnceCall[] = []

  begun(n: number): AtOnceCall | undefined {
    this.#forget()
    if (this.#calls.length === most) return undefined
    const call = { n, count: new TurnCount(), isAnswered: false }
    this.#calls.push(call)
    return call
  }

  /** For a step that is made now: how many turns ago those calls were made that are answered. */
  get turns(): { readonly turns?: readonly (readonly [n: number, turns: number])[] } {
    if (this.#calls.length === 0) return {}
    this.#forget()
    const turns = this.#calls.flatMap(({ n, count, isAnswered }) =>
      isAnswered && count.turns !== undefined ? [[n, count.turns] as const] : [],
    )
    return turns.length === 0 ? {} : { turns }
  }

  #forget(): void {
    this.#calls = this.#calls.filter(({ count }) => count.turns !== undefined)
  }
}
