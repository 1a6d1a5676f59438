import { createHash } from 'node:crypto'
import type { Json, TapeEvent } from '../tape/types.ts'
import { askedIn, readModelCall } from './exchange.ts'
import { canonicalJson } from '../json/canonical.ts'
import type { ModelCall, ModelRequest } from './types.ts'

/**
 * Every model that was asked for or that answered, sorted, each once.
 *
 * @param answered - whether an answer to this model is its own; of another one it is not counted
 */
export function modelIds(
  events: readonly TapeEvent[],
  answered: (model: string) => boolean = () => true,
): readonly string[] {
  const named = modelCalls(events).flatMap(({ request: { model }, response }) => [
    model,
    answered(model) ? (response?.model ?? '') : '',
  ])
  return [...new Set(named)].filter((model) => model !== '').sort()
}

/** Every model that was asked for. */
export function askedModels(events: readonly TapeEvent[]): ReadonlySet<string> {
  return new Set(asked(events).map(({ model }) => model))
}

/**
 * One hash over all distinct system prompts of a run: `sha256-` and base64url. The order of calls does not count.
 *
 * @returns `undefined` when no call had any
 */
export function promptHash(events: readonly TapeEvent[]): string | undefined {
  return hashOf(asked(events).flatMap(({ instructions }) => instructions))
}

/**
 * One hash over all distinct tool schemas of a run: `sha256-` and base64url. The order of calls does not count.
 *
 * @returns `undefined` when no call had any
 */
export function toolsHash(events: readonly TapeEvent[]): string | undefined {
  return hashOf(asked(events).flatMap(({ tools }) => tools))
}

function modelCalls(events: readonly TapeEvent[]): readonly ModelCall[] {
  return events.flatMap((event) => (event.kind === 'exchange' ? (readModelCall(event) ?? []) : []))
}

function asked(events: readonly TapeEvent[]): readonly ModelRequest[] {
  return events.flatMap((event) => (event.kind === 'exchange' ? (askedIn(event) ?? []) : []))
}

function hashOf(values: readonly Json[]): string | undefined {
  const distinct = [...new Set(values.map(canonicalJson))].sort()
  if (distinct.length === 0) return undefined
  return `sha256-${createHash('sha256')
    .update(`[${distinct.join(',')}]`)
    .digest('base64url')}`
}
