import type { FindSteps } from '../../debug/index.ts'
import { wrong } from './words.ts'

/** The steps where a rule holds. */
export const findSteps: FindSteps = () => {
  throw wrong('rules are not supported', ['steps'])
}
