import type { ReplayResult, UninstrumentedIo } from '../match/types.ts'
import { afterRun } from '../playback/problems.ts'
import { isAllowed } from '../playback/allow.ts'
import type { HarvestError } from '../errors/index.ts'
import { listOnce, type AgentWork } from '../seam/intercept/index.ts'
import { outsideRuns } from '../seam/source.ts'
import { tellVitest } from './unheard.ts'

/**
 * What the agent of one case, or of one replay of a hand-written test, does, from the loading of its modules until its worker ends.
 *
 * What it reaches for when its run is over is refused. While the case is still at hand, that makes the case red; later it
 * makes the run of Vitest red, with an error that names the case.
 */
export class CaseWork implements AgentWork {
  isOver = false
  readonly listed: UninstrumentedIo[] = []
  readonly #late: HarvestError[] = []
  readonly #case: string
  readonly #allow: readonly string[]
  readonly #listLate: (one: UninstrumentedIo) => void
  readonly #redact: (text: string) => string
  #isTold = false

  constructor(
    name: string,
    allow: readonly string[],
    listLate: (one: UninstrumentedIo) => void,
    redact: (text: string) => string,
  ) {
    this.#case = name
    this.#redact = redact
    this.#allow = allow
    this.#listLate = listLate
  }

  list(done: UninstrumentedIo): void {
    const one = { ...done, target: this.#redact(done.target) }
    const known = this.listed.length
    listOnce(this.listed, one)
    if (this.#isTold && this.listed.length > known) outsideRuns(() => this.#listLate(one))
  }

  end(): void {
    this.isOver = true
  }

  escapeLate(kind: string, target: string): Error | undefined {
    const said = this.#redact(target)
    if (isAllowed(this.#allow, kind, target, said)) return undefined
    const error = afterRun(this.#case, kind, said)
    if (this.#isTold) outsideRuns(() => tellVitest(error, 'Uncaught Exception'))
    else this.#late.push(error)
    return error
  }

  /** What came after the run so far; what comes from now on goes to Vitest. */
  takeLate(): readonly HarvestError[] {
    this.#isTold = true
    return this.#late
  }
}

/** What the agent did while it loaded, and after its run, is said with the rest. */
export function withWork<T extends ReplayResult>(run: T, work: CaseWork): T {
  const listed = [...work.listed]
  for (const one of run.listed) listOnce(listed, one)
  return { ...run, listed, problems: [...run.problems, ...work.takeLate()] }
}
