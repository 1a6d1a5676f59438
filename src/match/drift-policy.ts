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
  states: 'fail',
  results: 'fail',
  redacted: 'unproven',
  // The replay fires the timer by its new delay, and all else is judged: what a longer wait means live it cannot say.
  timers: 'report',
  // Whether the recorded agent waited for a function that answers at once, its tape does not say.
  awaits: 'report',
  // Its body does not run: what it does now a replay cannot say.
  functions: 'report',
}

/**
 * What to do about each class of drift, from what was asked for. One policy for all is about questions: leniency towards
 * what the agent does has to name its class.
 */
export function driftPolicy(given: ReplayOptions['drift']): Readonly<Record<DriftClass, DriftPolicy>> {
  if (typeof given !== 'string') return { ...defaultPolicy, ...given }
  const policies = driftClasses.map((name) => [name, defaultPolicy[name] === 'fail' ? 'fail' : given])
  return Object.fromEntries(policies) as Record<DriftClass, DriftPolicy>
}

/** One policy for all classes replaces everything said before it; policies by class replace class by class. */
export function mergeDrift(all: ReplayOptions['drift'], own: ReplayOptions['drift']): ReplayOptions['drift'] {
  if (own === undefined) return all
  return typeof own === 'object' && typeof all === 'object' ? { ...all, ...own } : own
}
