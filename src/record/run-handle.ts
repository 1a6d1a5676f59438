import type { Ledger, RunHandle } from './ledger.ts'
import type { RunUsage } from '../tape/index.ts'

/** A run as the function it runs sees it; its functions may be taken out of it. */
class Handle implements RunHandle {
  readonly id: string
  readonly flag: (reason: string) => boolean
  readonly hold: (reason: string) => boolean
  readonly #ledger: Ledger
  readonly #counted: (() => void) | undefined

  constructor(ledger: Ledger, isOver: () => boolean, counted: (() => void) | undefined) {
    this.id = ledger.run
    this.#ledger = ledger
    this.#counted = counted
    this.flag = (reason) => {
      if (!isOver()) ledger.flag(reason)
      return !isOver()
    }
    this.hold = (reason) => {
      if (!isOver()) ledger.setHold(reason)
      return !isOver()
    }
  }

  get signal(): AbortSignal {
    return this.#ledger.signal
  }

  get usage(): RunUsage | undefined {
    this.#counted?.()
    return this.#ledger.usage
  }
}

/** @param counted - called before what the run used is told */
export function handleOf(ledger: Ledger, isOver: () => boolean, counted?: () => void): RunHandle {
  return new Handle(ledger, isOver, counted)
}
