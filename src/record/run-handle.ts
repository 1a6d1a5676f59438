import type { RunAccount, RunHandle } from './run-stats.ts'
import type { RunUsage } from '../tape/index.ts'

/** A run as the function it runs sees it; its functions may be taken out of it. */
class Handle implements RunHandle {
  readonly id: string
  readonly flag: (reason: string) => boolean
  readonly hold: (reason: string) => boolean
  readonly #account: RunAccount
  readonly #counted: (() => void) | undefined

  constructor(account: RunAccount, isOver: () => boolean, counted: (() => void) | undefined) {
    this.id = account.run
    this.#account = account
    this.#counted = counted
    this.flag = (reason) => {
      if (!isOver()) account.flag(reason)
      return !isOver()
    }
    this.hold = (reason) => {
      if (!isOver()) account.setHold(reason)
      return !isOver()
    }
  }

  get signal(): AbortSignal {
    return this.#account.signal
  }

  get usage(): RunUsage | undefined {
    this.#counted?.()
    return this.#account.usage
  }
}

/** @param counted - called before what the run used is reported */
export function handleOf(account: RunAccount, isOver: () => boolean, counted?: () => void): RunHandle {
  return new Handle(account, isOver, counted)
}
