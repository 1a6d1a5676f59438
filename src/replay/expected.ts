import { codingOf } from '../privacy/index.ts'
import type { KnownRequest, LiveRequest, Pairs, StatedRequest } from '../seam/intercept/index.ts'
import { headerDrift } from '../match/header-drift.ts'
import type { FoundDrift } from '../match/matcher.ts'
import { hasKey } from '../match/idempotency.ts'
import { isAborted } from '../playback/order.ts'
import { steadyBoundary } from '../seam/shape.ts'
import type { HeaderPair } from '../tape/index.ts'
import type { ReplayRun } from './run.ts'
import type { ExchangeState, StepState } from '../match/step.ts'
import { sameTarget, targetOf } from '../match/target.ts'

/** A request that was recognised, and what was found on the way. */
export interface Foreseen extends KnownRequest {
  readonly step: ExchangeState
  /** How many steps the agent had made by then. */
  readonly made: number
  /** Headers as they were when it was made. */
  readonly stated: Pairs
  /** They are those of the one before it. */
  readonly isAsBefore: boolean
}

/** One recorded request and the live one it answered, between whose headers there was no difference. */
interface Settled {
  readonly method: string
  readonly recorded: readonly HeaderPair[]
  readonly url: string
  readonly stated: Pairs
  /** The live ones as a tape may hold them. */
  readonly redacted: Pairs
  readonly renewals: number
}

/**
 * Foresees the requests nothing will have to be said about: the tape has exactly this one, open and due, and its headers
 * say what they said. Of such a request it is not asked where it was made, and finding that out takes as long as finding
 * its answer.
 *
 * A request with a `head` is compared here once and for all, as long as the agent makes no other step before it is
 * answered. Any other is compared once more, in full, when it is answered.
 */
export class ExpectedRequest {
  readonly #run: ReplayRun
  /** The second of two equal requests made at once has to know where it was made. */
  readonly #promised = new Set<StepState>()
  /** Every step before this one was made, or its request is on its way. */
  #next = 0
  #settled: Settled | undefined

  constructor(run: ReplayRun) {
    this.#run = run
  }

  /** What is known of a request before it is made; `undefined` where something may have to be said about it. */
  find({ via, method, url, text, headers }: StatedRequest): KnownRequest | undefined {
    const { matcher, order, tools, over, namesSites } = this.#run
    // What is answered for real may differ, and then the line that asked is reported.
    if (over || namesSites || tools.serverOf(url) !== undefined || tools.isLive(url)) return undefined
    const step = matcher.expected({ via, method, url, bodyText: text })
    if (!step || this.#promised.has(step) || !order.isDue(step)) return undefined
    const { request, response } = step.event
    // Where it leads to is asked for in the name of the same call.
    if (response && isRedirect(response.status)) return undefined
    // The rest of an answer that was given up may be asked for.
    if (isAborted(step)) return undefined
    const recorded = request.headers
    const live = headers()
    const isAsBefore = this.#isAsBefore(step, live)
    if (!isAsBefore) {
      if (hasKey(recorded) || !sameTarget(recorded, targetOf(live), this.#run.comparison(step, via).isWhole))
        return undefined
      if (headerDrift(recorded, live, this.#run.comparison(step, via)).length > 0) return undefined
      if (!this.#isSameAsker(step, live)) return undefined
    }
    const isNext = this.#isNext(step)
    // Through sockets a request takes longer than those of `fetch` behind it: none may count on it.
    if (!isNext && via === 'http') return undefined
    this.#promised.add(step)
    if (!isNext || response?.end === undefined || step.event.error !== undefined) return {}
    const { status, statusText = '' } = response
    const head = { status, statusText, headers: response.headers }
    const known: Foreseen = { head, step, made: this.#run.made, stated: live, isAsBefore }
    return known
  }

  /** What was found of a request, if it still holds and there is nothing else to look for in it. */
  recognised({ known, url, headers }: LiveRequest): Foreseen | undefined {
    if (known === undefined || !('step' in known)) return undefined
    const foreseen = known as Foreseen
    const { made, isPlain } = this.#run
    const { step } = foreseen
    // What was made in between may have changed who asks, what is due and which host stands for which.
    if (foreseen.made !== made || step.taken || !isPlain || !this.#run.isAskedAt(url)) return undefined
    if (step.event.response?.unsearched !== undefined) return undefined
    if (codingOf(headers) !== undefined || codingOf(step.event.request.headers) !== undefined) return undefined
    if (foreseen.isAsBefore) return foreseen
    return hasKey(headers) || steadyBoundary(headers, nothing).headers !== headers ? undefined : foreseen
  }

  /**
   * What there is to say about the headers of a recognised request. Where that is nothing, the next one that has the same
   * headers need not be looked at.
   *
   * @param redacted - its headers as a tape may hold them
   */
  drift({ step, stated, isAsBefore }: Foreseen, live: LiveRequest, redacted: Pairs): readonly FoundDrift[] {
    if (isAsBefore && this.#settled !== undefined && areSame(this.#settled.redacted, redacted)) return none
    const { credentials } = this.#run
    const { method, request, url } = step.event
    const { via } = live
    let isOfCall = false
    const comparison = this.#run.comparison(step, via)
    const told = headerDrift(request.headers, redacted, {
      ...comparison,
      isModelCall() {
        const isOfModel = comparison.isModelCall?.() === true
        isOfCall ||= isOfModel
        return isOfModel
      },
    })
    const found = credentials?.check({ headers: request.headers, url }, { headers: redacted, url }, live) ?? none
    if (told.length > 0 || found.length > 0) return [...told, ...found]
    // The next one may be asked of no model.
    if (isOfCall) return none
    const renewals = credentials?.renewals ?? 0
    this.#settled = { method, recorded: request.headers, url, stated, redacted, renewals }
    return none
  }

  #isAsBefore({ event }: ExchangeState, live: Pairs): boolean {
    const settled = this.#settled
    if (settled === undefined || settled.url !== event.url || settled.method !== event.method) return false
    if (settled.renewals !== (this.#run.credentials?.renewals ?? 0)) return false
    return areSame(settled.recorded, event.request.headers) && areSame(settled.stated, live)
  }

  /** Whether nothing on the tape comes before it that is not made yet: no request of another way can be overtaken. */
  #isNext(step: StepState): boolean {
    const { steps } = this.#run
    for (let one = steps[this.#next]; one && (one.taken || this.#promised.has(one)); one = steps[this.#next])
      this.#next++
    return steps[this.#next] === step
  }

  #isSameAsker({ event }: ExchangeState, live: readonly HeaderPair[]): boolean {
    const { credentials, redactor } = this.#run
    if (credentials === undefined) return true
    const headers = redactor.requestHeaders(live.filter(([name]) => redactor.meaning(name) === 'credential'))
    const { url } = event
    return credentials.isSame({ headers: event.request.headers, url }, { headers, url }, { headers: live, url })
  }
}

const nothing = Buffer.alloc(0)
const none: readonly FoundDrift[] = []

/** The length of the body is no more than the body says. */
function areSame(before: Pairs, now: Pairs): boolean {
  if (before === now) return true
  if (before.length !== now.length) return false
  for (let i = 0; i < now.length; i++) {
    const was = before[i]!
    const is = now[i]!
    if (was !== is && (was[0] !== is[0] || (was[1] !== is[1] && is[0] !== 'content-length'))) return false
  }
  return true
}

function isRedirect(status: number): boolean {
  return status >= 300 && status < 400
}
