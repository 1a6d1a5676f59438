import { neutralLine } from '../errors/index.ts'
import type { CaseReport } from './channel.ts'

/** What JUnit has as properties of a red test, about its verdict and the questions that changed. */
export function questionAnnotations({
  verdict,
  questions,
}: Pick<CaseReport, 'verdict' | 'questions'>): readonly (readonly [message: string, type: string])[] {
  const unproven = questions?.unproven ?? []
  return [
    ...(verdict === undefined ? [] : [[verdict, 'verdict'] as const]),
    ...(unproven.length === 0
      ? []
      : [
          [neutralLine([...new Set(unproven.map(({ part }) => part))].join(', '), 300), 'changed'] as const,
          [unproven.map(({ key }) => key).join(', '), 'keys'] as const,
        ]),
  ]
}
