import { hiddenPart } from '../match/hidden-part.ts'
import type { NotCompared } from '../match/redacted.ts'
import type { ExchangeState, StepState } from '../match/step.ts'
import type { BodyUse } from '../seam/reading.ts'
import type { Tape } from '../tape/index.ts'

/** An answer whose body was read when recorded and is left unread, in part or whole, or the other way round. */
export interface ChangedReading {
  readonly step: ExchangeState
  readonly recorded: string
  readonly live: string
}

type Use = 'unread' | 'part' | 'read'
interface Uses {
  readonly step: ExchangeState
  /** Absent: it was not seen. */
  readonly recorded: Use | undefined
  readonly live: Use
}

interface Heard {
  readonly how: BodyUse
  /** Pieces of the recorded answer have not come yet. */
  readonly hasMore: () => boolean
}

/** Which answers the agent reads, and how far, compared with what the recorder noted. */
export class AnswerReads {
  /** Absent: no recorder looked. */
  readonly #unread: ReadonlySet<number> | undefined
  readonly #unseen: ReadonlySet<number>
  /** Absent: the recorder noted only who subscribed to a body, and not over HTTP/2. */
  readonly #inPart: ReadonlySet<number> | undefined
  /** Those that came. */
  readonly #live = new Map<ExchangeState, Heard>()

  constructor({ close }: Tape) {
    this.#unread = close?.unread && new Set(close.unread)
    this.#unseen = new Set(close?.unseen)
    this.#inPart = close?.inPart && new Set(close.inPart)
  }

  heard(step: ExchangeState, how: BodyUse, hasMore: () => boolean): void {
    this.#live.set(step, { how, hasMore })
  }

  /** Whether its reader has all that came of it, and does not ask for more. */
  isPaused(step: ExchangeState): boolean {
    return this.#live.get(step)?.how === 'paused'
  }

  /** Once the run is over: an agent may read an answer at any time. */
  changed(steps: readonly StepState[]): readonly ChangedReading[] {
    return this.#uses(steps).flatMap(({ step, recorded, live }) =>
      recorded === undefined || live === recorded ? [] : [{ step, recorded: words[recorded], live: words[live] }],
    )
  }

  /** Answers of which the recorder did not see it. */
  notCompared(steps: readonly StepState[]): readonly NotCompared[] {
    return this.#uses(steps).flatMap(({ step, recorded }) => {
      if (recorded !== undefined) return []
      const why = 'the recorder did not see it: record the run again'
      const at = { step: step.event.n, stepNumber: step.number, path: 'body of the answer' }
      return [{ kind: hiddenPart, placeholder: 'whether it is read', ...at, why }]
    })
  }

  #uses(steps: readonly StepState[]): readonly Uses[] {
    const unread = this.#unread
    if (unread === undefined) return []
    return steps.flatMap((step): readonly Uses[] => {
      if (step.event.kind !== 'exchange') return []
      const { n, response, aborted, via } = step.event
      // What has no body cannot be read, and what was given up says so itself.
      if (response === undefined || response.chunks.length === 0 || aborted !== undefined) return []
      const heard = this.#live.get(step as ExchangeState)
      if (heard === undefined || (this.#inPart === undefined && via === 'http2')) return []
      // Of what has no end on the tape it is chance how much of it had come.
      const isComparedInPart = this.#inPart !== undefined && response.end !== undefined
      const inPart = isComparedInPart ? 'part' : 'read'
      const read = this.#inPart?.has(n) === true ? inPart : 'read'
      const recorded = this.#unseen.has(n) ? undefined : unread.has(n) ? 'unread' : read
      return [{ step: step as ExchangeState, recorded, live: this.#liveUse(heard, inPart) }]
    })
  }

  #liveUse({ how, hasMore }: Heard, inPart: 'part' | 'read'): Use {
    switch (how) {
      case 'taken':
        return this.#inPart === undefined ? 'read' : 'unread'
      case 'paused':
        return hasMore() ? inPart : 'read'
      case 'part':
        return inPart
      default:
        return how
    }
  }
}

const words = { read: 'read', part: 'read in part', unread: 'left unread' }
