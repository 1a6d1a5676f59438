import type { RunAccount, RunHandle } from './run-stats.ts'
import type { RunUsage } from '../tape/index.ts'

/** A run as far as its handle asks it. */
export interface HandledRun {
  readonly over: boolean
  /** Called before what the run used is reported. */
  count?(): void
}

/** A run as the function it runs sees it; its functions may be taken out of it. */
class Handle implements RunHandle {
  readonly id: string
  readonly flag: (reason: string) => boolean
  readonly hold: (reason: string) => boolean
  readonly #account: RunAccount
  readonly #run: HandledRun

  constructor(account: RunAccount, run: HandledRun) {
    this.id = account.run
    this.#account = account
    this.#run = run
    const unlessOver =
      (take: (reason: string) => void) =>
      (reason: string): boolean => {
        if (!run.over) take(reason)
        return !run.over
      }
    this.flag = unlessOver((reason) => account.flag(reason))
    this.hold = unlessOver((reason) => account.setHold(reason))
  }

  get signal(): AbortSignal {
    return this.#account.signal
  }

  get usage(): RunUsage | undefined {
    this.#run.count?.()
    return this.#account.usage
  }
}

export function handleOf(account: RunAccount, run: HandledRun): RunHandle {
  return new Handle(account, run)
}
