import { type DriftClass, type DriftPolicy, driftClasses, type ReplayOptions } from './types.ts'

/** Everything is reported, and another model is refused: a recorded answer says nothing about what it would do. */
const defaultPolicy: Readonly<Record<DriftClass, DriftPolicy>> = {
  encoding: 'report',
  endpoint: 'report',
  model: 'fail',
  instructions: 'report',
  tools: 'report',
  params: 'report',
  messages: 'report',
  arguments: 'fail',
  headers: 'report',
  agentMessages: 'fail',
  marks: 'fail',
  results: 'fail',
}

/** What to do about each class of drift, from what was asked for. */
export function driftPolicy(given: ReplayOptions['drift']): Readonly<Record<DriftClass, DriftPolicy>> {
  if (typeof given !== 'string') return { ...defaultPolicy, ...given }
  return Object.fromEntries(driftClasses.map((name) => [name, given])) as Record<DriftClass, DriftPolicy>
}
