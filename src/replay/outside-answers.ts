import type { ExchangeControl, ExchangeSink, LiveRequest, OutsideAnswers } from '../seam/intercept/index.ts'
import { redactorOfTape } from '../privacy/index.ts'
import { questionOf } from '../match/step.ts'
import type { Tape } from '../tape/index.ts'
import { type SharedServing, serveShared } from './serve-shared.ts'
import { sharedAnswersOf } from './shared-answers.ts'

/**
 * Answers what is asked outside the run, while an agent's modules load or by what they left behind, with what the recording
 * process had: it is on no run's tape. Everything else stays refused.
 *
 * @param run - who lists what was shared
 */
export function outsideAnswers(tape: Tape, run: SharedServing): OutsideAnswers {
  const answers = sharedAnswersOf(tape)
  return {
    claims: (method, url) => answers.holds(method, redactorOfTape(tape).url(url)),
    claimsPort: (port) => answers.urls().some((url) => portOf(url) === port),
    exchange(live: LiveRequest, sink: ExchangeSink): ExchangeControl | undefined {
      const answer = answers.find({ question: questionOf(live, redactorOfTape(tape)), headers: live.headers })
      return answer && serveShared(run, answer, sink)
    },
  }
}

function portOf(url: string): string {
  if (!URL.canParse(url)) return ''
  const { port, protocol } = new URL(url)
  return port || (protocol === 'https:' ? '443' : '80')
}
