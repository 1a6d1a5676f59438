import { bytesOfText, type ExchangeState, type StepState } from '../match/step.ts'
import type { MatchRequest } from '../match/matcher.ts'
import type { LiveRequest } from '../seam/intercept/index.ts'
import { requestBytes } from '../tape/index.ts'

/** @param isExiting - nothing asynchronous happens any more */
type Ask = (isExiting: boolean) => void | Promise<void>

/** Requests of a replay that have begun and are not asked, for their bodies have not ended. */
export class BegunRequests {
  readonly #asks = new Set<Ask>()
  readonly #steps: readonly StepState[]
  readonly #isOneRecorded: boolean

  constructor(steps: readonly StepState[]) {
    this.#steps = steps
    this.#isOneRecorded = steps.some(({ event }) => event.kind === 'exchange' && event.request.open === true)
  }

  /** @returns to be called when it is asked */
  add(ask: Ask): () => void {
    this.#asks.add(ask)
    return () => void this.#asks.delete(ask)
  }

  get isEmpty(): boolean {
    return this.#asks.size === 0
  }

  /** Asks them all with what there is of their bodies. */
  async askAll(): Promise<void> {
    await Promise.all([...this.#asks].map(async (ask) => ask(false)))
  }

  /** The same when the process exits. */
  askNow(): void {
    for (const ask of this.#asks) void ask(true)
  }

  /**
   * The recorded request of which `question` may be the same where one of both has no end: all that both have of it is the
   * same. A client that gave up stops where it happens to be.
   */
  find(question: MatchRequest, open: LiveRequest['open']): OpenMatch | undefined {
    if (open === undefined && !this.#isOneRecorded) return undefined
    const isGivenUp = open === 'given up' || open === 'unsent'
    const body = bytesOfText(question.bodyText)
    for (const step of this.#steps) {
      if (step.taken || step.event.kind !== 'exchange') continue
      const { method, url, request, aborted, response } = step.event
      const mayBe = request.open === true || (isGivenUp && aborted !== undefined && response === undefined)
      if (!mayBe || method !== question.method || url !== question.url) continue
      const recorded = requestBytes(step.event)
      // What is recorded goes on, and the live one has ended.
      if (open === undefined && body.length < recorded.length) continue
      const common = Math.min(body.length, recorded.length)
      if (!body.subarray(0, common).equals(recorded.subarray(0, common))) continue
      return { step: step as ExchangeState, isMoreThanCompared: body.length !== recorded.length }
    }
    return undefined
  }
}

/** A recorded request that a live one may be. */
export interface OpenMatch {
  readonly step: ExchangeState
  /** One of both goes on where the other one stops. */
  readonly isMoreThanCompared: boolean
}
