import type { StepReport } from './report.ts'
import type { BlameVerdict } from './verdict.ts'

/** Marks what is confirmed of positions whose answers were never other ones, or thought likely: not those decided. */
export function withDrawn(verdict: BlameVerdict, steps: readonly StepReport[]): BlameVerdict {
  if (verdict.kind === 'diffuse' || verdict.kind === 'unresolved') {
    const { likeliest } = verdict
    const isOfCode = likeliest !== undefined && isDrawn(steps[likeliest.position])
    return isOfCode ? { ...verdict, likeliest: { ...likeliest, isDrawn: true } } : verdict
  }
  if (verdict.kind !== 'confirmed') return verdict
  return {
    ...verdict,
    commitments: verdict.commitments.map((one) =>
      isDrawn(steps[one.position]) ? { ...one, isDrawn: true as const } : one,
    ),
  }
}

function isDrawn(step: StepReport | undefined): boolean {
  const { first } = step?.resampled ?? {}
  if (step === undefined || first === undefined || first.answer > 0 || first.same === 0) return false
  // A model whose turn never came decided nothing; a tool may have been asked otherwise because of what was drawn.
  return step.isExogenous || first.question === 0
}
