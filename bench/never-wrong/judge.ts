import type { DrivenRun } from './drive.child.ts'
import type { Got } from './ask.ts'
import type { Mutation } from './mutations.ts'
import type { Session } from './session.ts'

/** What became of one pair. */
export type Verdict =
  /** The answer belongs to a recorded request that means the same. */
  | 'right'
  | 'refused'
  /** The answer belongs to another request, and the recorder said so. */
  | 'reported'
  /** The answer belongs to another request, and nobody said so. */
  | 'silent'
  /** Already the recording has no answer of the provider for the request. */
  | 'not recorded'

export interface Judged {
  readonly mutation: Mutation
  readonly verdict: Verdict
  /** Classes of drift that were reported for the answer. */
  readonly drift: readonly string[]
  /** After a refusal: whether the recorded request itself then got its own answer. */
  readonly isUnharmed: boolean | undefined
  /** For a wrong one: what was asked, and what the answer belongs to. */
  readonly example: string
}

/** Judges one run. An answer belongs to the request that was the first to get it while recording. */
export function judge(session: Session, recorded: DrivenRun, replayed: DrivenRun): readonly Judged[] {
  const owners = new Map<string, number>()
  recorded.got.forEach((got, i) => {
    if ('answer' in got && !owners.has(got.answer)) owners.set(got.answer, i)
  })
  const isOwn = (i: number, got: Got | undefined): boolean =>
    got !== undefined && 'answer' in got && owners.get(got.answer) === i
  return session.pairs.map((pair, i): Judged => {
    const [before, now] = [recorded.got[i], replayed.got[i]]
    const made = (verdict: Verdict, drift: readonly string[] = [], example = ''): Judged => ({
      mutation: pair.mutation,
      verdict,
      drift,
      example,
      isUnharmed: verdict === 'refused' ? isOwn(i, replayed.afterwards[i]) : undefined,
    })
    if (now !== undefined && 'answer' in now) {
      const owner = owners.get(now.answer)
      const original = owner === undefined ? undefined : session.pairs[owner]?.recorded
      const drift = replayed.reported.filter(({ request }) => request === owner).map(({ as }) => as)
      if (original?.meaning === pair.asked.meaning) return made('right', drift)
      const example = `asked:\n${pair.asked.meaning}\nanswered as:\n${original?.meaning ?? now.answer}`
      return made(drift.length > 0 ? 'reported' : 'silent', drift, example)
    }
    return made(before !== undefined && 'answer' in before ? 'refused' : 'not recorded')
  })
}
