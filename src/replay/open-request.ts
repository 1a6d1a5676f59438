import type { ExchangeControl, LiveRequest } from '../seam/intercept/index.ts'
import { lateRequest } from '../tape/index.ts'
import type { Match, MatchRequest } from '../match/matcher.ts'
import { notEnded } from '../playback/problems.ts'
import type { ReplayRun } from './run.ts'

/** No answer comes. */
export const nowhere: ExchangeControl = { abort: () => undefined }

/**
 * What answers a request that has no end, or that of which only the beginning was recorded; `undefined` for any other one,
 * `none` where nothing may have left.
 *
 * @throws HarvestError when the recorded run has no such request
 */
export function openRequest(
  run: ReplayRun,
  question: MatchRequest,
  { open: end, madeAt }: LiveRequest,
): { readonly answer: Extract<Match, { kind: 'found' }>; readonly isMoreThanCompared: boolean } | 'none' | undefined {
  const open = end === 'kept back' ? undefined : end
  const isWhole = open === undefined
  const found = run.begun.find(question, open)
  if (found === undefined && isWhole) return undefined
  if (found !== undefined && !(isWhole && run.matcher.holds(question))) {
    const { step, isMoreThanCompared } = found
    return { answer: { kind: 'found', step, level: 'canonical', drift: [] }, isMoreThanCompared }
  }
  if (isWhole) return undefined
  if (open === 'unsent') return 'none'
  run.refused.push({ kind: 'exchange', name: `${question.method} ${question.url}`, asked: question.bodyText })
  throw run.problem(notEnded(run.place(madeAt), question, run.matcher.find(question)))
}

/** The recorded agent made it after it returned, and this one a little sooner. */
export function isRecordedLate(run: ReplayRun, { method, url, madeAt }: LiveRequest): boolean {
  const work = lateRequest(method, run.redactor.url(url))
  if (!run.lostAwaits.hasReturned || !run.late.isRecorded(work)) return false
  run.late.did(work, run.place(madeAt).site)
  return true
}
