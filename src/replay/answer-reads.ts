import type { ExchangeState, StepState } from '../match/step.ts'
import type { BodyUse } from '../seam/reading.ts'
import type { Tape } from '../tape/index.ts'

/** An answer whose body was read when recorded and is left unread, or the other way round. */
export interface ChangedReading {
  readonly step: ExchangeState
  readonly recorded: string
  readonly live: string
}

/** Which answers the agent reads, compared with what the recorder noted. */
export class AnswerReads {
  /** Absent: no recorder looked. */
  readonly #unread: ReadonlySet<number> | undefined
  readonly #unseen: ReadonlySet<number>
  /** Those of which it is seen. */
  readonly #live = new Map<ExchangeState, BodyUse>()

  constructor({ close }: Tape) {
    this.#unread = close?.unread && new Set(close.unread)
    this.#unseen = new Set(close?.unseen)
  }

  heard(step: ExchangeState, how: BodyUse): void {
    this.#live.set(step, how)
  }

  /** Once the run is over: an agent may read an answer at any time. */
  changed(steps: readonly StepState[]): readonly ChangedReading[] {
    const unread = this.#unread
    if (unread === undefined) return []
    return steps.flatMap((step): readonly ChangedReading[] => {
      if (step.event.kind !== 'exchange') return []
      const { n, response, aborted } = step.event
      // What has no body cannot be read, and what was given up says so itself.
      if (response === undefined || response.chunks.length === 0 || aborted !== undefined) return []
      const live = this.#live.get(step as ExchangeState)
      const recorded = this.#unseen.has(n) ? undefined : unread.has(n) ? 'unread' : 'read'
      if (live === undefined || live === 'unseen' || recorded === undefined || live === recorded) return []
      return [{ step: step as ExchangeState, recorded: words[recorded], live: words[live] }]
    })
  }
}

const words = { read: 'read', unread: 'left unread' }
