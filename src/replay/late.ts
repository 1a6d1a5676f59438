import type { FoundDrift } from '../match/matcher.ts'
import { isSafeMethod } from '../playback/independence.ts'
import { LateTimers } from './late-timers.ts'
import { isLateAs, lateFlag, lateKey, type LateWork, LateWorks, type Tape } from '../tape/index.ts'

/** A difference in what an agent does after it returned. */
export interface LateDifference {
  /** What the agent does, where it acts and did not when recorded. */
  readonly action?: LateWork
  readonly site?: string | undefined
  readonly found: FoundDrift
}

/**
 * What the agent of a replay does after it returned. No tape has it as steps, so it is compared with nothing but what the
 * recorder noted: that it was done. Where no recorder did, as on older tapes, it is listed alone.
 */
export class LateRun {
  readonly #recorded: readonly LateWork[]
  readonly #isNoted: boolean
  readonly #done = new LateWorks()
  readonly timers = new LateTimers()
  readonly #sites = new Map<string, string | undefined>()
  readonly #changed: string[] = []

  constructor({ close, header }: Tape) {
    this.#isNoted = header.flags.includes(lateFlag)
    this.#recorded = close?.late ?? []
  }

  /** Whether the recorded agent did this after it returned. */
  isRecorded(work: LateWork): boolean {
    return this.#recorded.some((one) => isLateAs(one, work))
  }

  did(work: LateWork, site: string | undefined): void {
    const { kind, name } = work
    // Where the recorder noted no path, all of one origin is one thing.
    const isPathNoted = !this.#recorded.some((one) => isLateAs(one, work) && one.path === undefined)
    const one = isPathNoted ? work : { kind, name }
    if (this.#done.add(one)) this.#sites.set(lateKey(one), site)
  }

  /** What the agent was given, or returned, is another one by now. No recorder looks: its caller changes these as well. */
  changed(what: 'input' | 'return value'): void {
    this.#changed.push(`change of the ${what}`)
  }

  /**
   * All of it is listed: that it was done says nothing of what it was done with. What is missing may only wait for something that a
   * run that is over does not answer any more.
   */
  get differences(): readonly LateDifference[] {
    const made = this.#done.all.map((work) => {
      const isKnown = this.isRecorded(work)
      const isAction = this.#isNoted && !isKnown && acts(work)
      const recorded = isKnown ? 'made, not compared' : 'not made'
      const found = foundOf(lateKey(work), recorded, 'made')
      return { ...(isAction && { action: work }), site: this.#sites.get(lateKey(work)), found }
    })
    const missing = this.#recorded.filter((work) => !this.#done.all.some((one) => isLateAs(work, one)))
    return [
      ...made,
      ...this.#changed.map((what) => ({ found: foundOf(what, 'not seen', 'made, not compared') })),
      ...missing.map((work) => ({ found: foundOf(lateKey(work), 'made', 'not made') })),
      ...this.timers.left.map(({ ms }) => ({ found: foundOf(`timer of ${ms} ms`, 'not set', 'set, not compared') })),
      ...(this.timers.isCutOff ? [{ found: foundOf('work without an end', 'not seen', 'not compared') }] : []),
    ]
  }
}

/**
 * What is done to others: nothing by a request that only reads. Recorders with the flag of late work have not noted all that is
 * said over WebSockets and to child processes, so that it is listed alone.
 */
function acts({ kind, name }: LateWork): boolean {
  if (kind === 'request') return !isSafeMethod(name.slice(0, name.indexOf(' '))) && !/ (wss?|stdio):/.test(name)
  return kind !== 'mark' && kind !== 'state'
}

function foundOf(what: string, recorded: string, live: string): FoundDrift {
  return { class: 'awaits', path: 'after the run', part: `${what} after the agent returned`, recorded, live }
}
