import type { GradeGiven, Oracle, SelfAgreement } from './oracle.ts'
import type { Grade } from './types.ts'
import type { BlameReport } from './report.ts'
import type { BlameVerdict } from './verdict.ts'

/** How often a run is graded when its oracle is known to disagree with itself. */
export const votes = 5

/** Below this share of single grades that are the majority's, nothing is certified. */
export const leastAgreement = 0.95

/** Grades every run {@link votes} times and gives the most frequent grade; of two as frequent ones the worse. */
export function majorityOracle(oracle: Oracle): Oracle & { readonly agreement: SelfAgreement } {
  const agreement = { same: 0, of: 0 }
  return {
    ...oracle,
    about: `${oracle.about}, the majority of ${votes}`,
    agreement,
    async grade(run) {
      const given: GradeGiven[] = []
      for (let vote = 0; vote < votes; vote++) given.push(await oracle.grade(run))
      const counts = Map.groupBy(given, ({ grade }) => grade)
      const most =
        [...counts.values()].sort((a, b) => b.length - a.length || worse(a[0]?.grade, b[0]?.grade))[0] ?? given
      agreement.same += most.length
      agreement.of += given.length
      return most[0] ?? { grade: 'ungraded' }
    },
  }
}

/** Nothing is shown by grades that are hardly better than a coin: what they would have certified is likeliest, no more. */
export function withoutCertificate(report: BlameReport, { same, of }: SelfAgreement): BlameReport {
  if (of === 0 || same / of >= leastAgreement) return report
  const { mutations, repairs, verdict, earlier: _earlier, ...rest } = report
  return {
    ...rest,
    steps: report.steps.map(({ commitment: _certified, isResponsible: _responsible, ...step }) => step),
    ...(verdict === undefined ? {} : { verdict: unsure(verdict) }),
    ...(mutations === undefined ? {} : { mutations: { ...mutations, verdict: { kind: 'unresolved' } } }),
    ...(repairs === undefined ? {} : { repairs: { ...repairs, ...noRepairs } }),
  }
}

const noRepairs = { outcome: 'undecidable', necessary: [], sufficient: [] } as const

function unsure(verdict: BlameVerdict): BlameVerdict {
  if (verdict.kind === 'confirmed') return { kind: 'unsure', positions: verdict.commitments.map((one) => one.position) }
  return verdict.kind === 'never' ? { kind: 'unsure', positions: [] } : verdict
}

function worse(a: Grade = 'ungraded', b: Grade = 'ungraded'): number {
  return Number(a === 'ok') - Number(b === 'ok')
}
