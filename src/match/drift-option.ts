import { checkOption, checkOptions, isFields, oneOf, type OptionsOf } from '../errors/options.ts'
import { driftClasses, driftPolicies } from './types.ts'

/** Refuses a policy or a class of differences that is not known: one policy for all, or one for each class. */
export function checkDrift(of: OptionsOf, drift: unknown): void {
  const policy = oneOf(driftPolicies)
  if (drift === undefined) return
  if (!isFields(drift)) return checkOption(of, 'drift', drift, policy)
  checkOptions(of, drift, Object.fromEntries(driftClasses.map((name) => [name, policy])), 'drift.')
}
