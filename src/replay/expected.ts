import type { KnownRequest, StatedRequest } from '../seam/intercept/index.ts'
import { headerDrift } from '../match/header-drift.ts'
import { hasKey } from '../match/idempotency.ts'
import type { HeaderPair } from '../tape/index.ts'
import type { ReplayRun } from './run.ts'
import type { ExchangeState, StepState } from '../match/step.ts'
import { sameTarget, targetOf } from '../match/target.ts'

/**
 * Foresees, at the door of `fetch`, the requests nothing will have to be said about: the tape has exactly this one,
 * open and due, and its headers say what they said. Of such a request nobody will ask where it was made, and finding
 * that out takes as long as finding its answer.
 *
 * This decides about the line in a message and nothing else: each request is compared once more, in full, when it is
 * answered.
 */
export class ExpectedRequest {
  readonly #run: ReplayRun
  /** The second of two equal requests made at once has to be told where it was made. */
  readonly #promised = new Set<StepState>()
  /** Every step before this one was made, or its request is on its way. */
  #next = 0

  constructor(run: ReplayRun) {
    this.#run = run
  }

  /** What is known of a request before it is made; `undefined` where something may have to be said about it. */
  find({ via, method, url, text, headers }: StatedRequest): KnownRequest | undefined {
    const { matcher, order, tools, over, namesSites } = this.#run
    // What is answered for real may differ, and then the line that asked is told.
    if (over || namesSites || tools.serverOf(url) !== undefined || tools.isLive(url)) return undefined
    const step = matcher.expected({ via, method, url, bodyText: text })
    if (!step || this.#promised.has(step) || !order.isDue(step)) return undefined
    const { request, response } = step.event
    // Where it leads to is asked for in the name of the same call.
    if (response && isRedirect(response.status)) return undefined
    const recorded = request.headers
    const live = headers()
    if (hasKey(recorded) || !sameTarget(recorded, targetOf(live))) return undefined
    if (headerDrift(recorded, live, this.#run.comparison(step)).length > 0) return undefined
    if (!this.#isSameAsker(step, live)) return undefined
    const isNext = this.#isNext(step)
    // Through sockets a request takes longer than those of `fetch` behind it: none may count on it.
    if (!isNext && via === 'http') return undefined
    this.#promised.add(step)
    if (!isNext || response?.end === undefined || step.event.error !== undefined) return {}
    const { status, statusText = '' } = response
    return { head: { status, statusText, headers: response.headers } }
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

function isRedirect(status: number): boolean {
  return status >= 300 && status < 400
}
