import { type CallState, type ExchangeState } from '../match/step.ts'
import { decodeBytes } from '../tape/index.ts'
import { observe } from './observe-answer.ts'
import type { ReplayRun } from './run.ts'

/**
 * Tokens that the recorded run renewed in its course, and a fresh process does not: it begins with a new one. They are no act of
 * the agent; the requests that carried them carry the one it has.
 *
 * @param before - the step that is made now; absent: the run is over
 */
export function skipRenewals(run: ReplayRun, before?: ExchangeState | CallState): void {
  if (!run.hasShared) return
  const served = run.allShared()
  for (const step of run.steps) {
    if (step.event.kind !== 'exchange' || step.taken) continue
    const { response, n } = step.event
    if (response?.end === undefined || (before !== undefined && n >= before.event.n)) continue
    if (!run.sharedAnswers.isHeldToken(step.event, served)) continue
    step.taken = true
    step.served = true
    step.answered = true
    observe(run, step as ExchangeState)
    run.gate.done(step.items)
    const text = response.chunks.map(([, , bytes]) => decodeBytes(bytes).toString('utf8')).join('')
    run.credentials?.renewed(text.match(/redacted-[a-z][a-z0-9-]*?-\d{1,9}/g) ?? [])
  }
}
