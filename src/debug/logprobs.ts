import { readFrames } from '../wire/frames.ts'
import { at, isMap, listAt } from '../json/canonical.ts'
import { decodedResponse } from '../report/describe.ts'
import type { ExchangeEvent, Json } from '../tape/index.ts'

/** One token of an answer, and how likely the model held it. */
export interface TokenProbability {
  readonly token: string
  readonly logprob: number
  /** The likeliest tokens at this place, this one perhaps among them. */
  readonly others: readonly { readonly token: string; readonly logprob: number }[]
}

/** The log probabilities a provider gave with an answer, in order; empty when it gave none. */
export function logprobsOf(event: ExchangeEvent): readonly TokenProbability[] {
  const found: TokenProbability[] = []
  const { values } = readFrames(decodedResponse(event))
  // A stream of the Responses API tells them piece by piece, and all together at its end.
  const pieces = values.filter((value) => at(value, 'type') !== 'response.completed' || values.length === 1)
  for (const value of pieces) collect(value, found, 0)
  return found
}

function collect(value: Json, into: TokenProbability[], depth: number): void {
  if (depth > 12) return
  if (Array.isArray(value)) for (const one of value as readonly Json[]) collect(one, into, depth + 1)
  if (!isMap(value)) return
  for (const [key, member] of Object.entries(value)) {
    if (key === 'logprobs') into.push(...tokensIn(member))
    else if (key === 'logprobsResult') into.push(...chosenIn(member))
    else collect(member, into, depth + 1)
  }
}

/** OpenAI: a list, or a map with the list as `content`; old completions keep tokens and numbers in two lists. */
function tokensIn(value: Json): readonly TokenProbability[] {
  const list = Array.isArray(value) ? (value as readonly Json[]) : listAt(value, 'content')
  const [tokens, numbers] = [listAt(value, 'tokens'), listAt(value, 'token_logprobs')]
  const old = tokens.flatMap((token, index) => read({ token, logprob: numbers[index] ?? null }, []))
  return [...list.flatMap((one) => read(one, listAt(one, 'top_logprobs'))), ...old]
}

/** Gemini. */
function chosenIn(value: Json): readonly TokenProbability[] {
  const top = listAt(value, 'topCandidates')
  return listAt(value, 'chosenCandidates').flatMap((one, index) => read(one, listAt(top[index], 'candidates')))
}

function read(value: Json, others: readonly Json[]): readonly TokenProbability[] {
  const own = pair(value)
  return own === undefined ? [] : [{ ...own, others: others.flatMap((one) => pair(one) ?? []) }]
}

function pair(value: Json): { readonly token: string; readonly logprob: number } | undefined {
  const [token, logprob] = [at(value, 'token'), at(value, 'logprob') ?? at(value, 'logProbability')]
  return typeof token === 'string' && typeof logprob === 'number' ? { token, logprob } : undefined
}
