import { type DriftClass, type DriftPolicy, driftClasses, type ReplayOptions } from './types.ts'

/**
 * Most is reported. Another model is refused, for a recorded answer says nothing about what it would do; and so is another
 * guard or credential, for the request then does something else.
 */
const defaultPolicy: Readonly<Record<DriftClass, DriftPolicy>> = {
  encoding: 'report',
  endpoint: 'report',
  model: 'fail',
  instructions: 'report',
  tools: 'report',
  params: 'report',
  messages: 'report',
  arguments: 'report',
  headers: 'report',
  guards: 'fail',
  credentials: 'fail',
  redacted: 'report',
}

/** What to do about each class of drift, from what was asked for. */
export function driftPolicy(given: ReplayOptions['drift']): Readonly<Record<DriftClass, DriftPolicy>> {
  if (typeof given !== 'string') return { ...defaultPolicy, ...given }
  return Object.fromEntries(driftClasses.map((name) => [name, given])) as Record<DriftClass, DriftPolicy>
}
