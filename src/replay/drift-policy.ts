import { type DriftClass, type DriftPolicy, driftClasses, type ReplayOptions } from './types.ts'

/**
 * A recorded answer proves nothing about a changed question, so that is `unproven`. What an agent does by itself can
 * differ only because its code does: that is another behaviour, and fails. One question in two spellings is one question.
 */
export const defaultPolicy: Readonly<Record<DriftClass, DriftPolicy>> = {
  encoding: 'report',
  bookkeeping: 'report',
  endpoint: 'unproven',
  model: 'unproven',
  instructions: 'unproven',
  whitespace: 'unproven',
  tools: 'unproven',
  params: 'unproven',
  messages: 'unproven',
  headers: 'unproven',
  destination: 'fail',
  arguments: 'fail',
  guards: 'fail',
  credentials: 'fail',
  agentMessages: 'fail',
  marks: 'fail',
  results: 'fail',
  redacted: 'unproven',
}

/** What to do about each class of drift, from what was asked for. */
export function driftPolicy(given: ReplayOptions['drift']): Readonly<Record<DriftClass, DriftPolicy>> {
  if (typeof given !== 'string') return { ...defaultPolicy, ...given }
  return Object.fromEntries(driftClasses.map((name) => [name, given])) as Record<DriftClass, DriftPolicy>
}
