import { neutralLine } from '../../errors/index.ts'
import type { ControlDifference } from '../../fork/index.ts'

/** Says that today's code is not the recorded code, and where that first shows. */
export function controlLine({ step, what }: ControlDifference): string {
  const place = step === undefined ? 'at its end' : `at step ${step}`
  return `compared with today's code: it already differs from the recording ${place} (${neutralLine(what, 100)})`
}
