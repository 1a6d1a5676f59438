import { counted } from '../errors/words.ts'
import { at, isMap, listAt, numberAt, textAt } from '../json/canonical.ts'
import type { ExchangeEvent, Json } from '../tape/index.ts'
import { readFrames } from '../wire/frames.ts'
import { decodedResponse } from './describe.ts'
import type { ReportConfidence } from './view/types.ts'

/** Tokens that are named. */
const named = 8

/** How sure the model was, where the request asked for log probabilities and the provider answered with them. */
export function confidenceOf(event: ExchangeEvent): ReportConfidence | undefined {
  const bytes = decodedResponse(event)
  // Most answers have none, and need not be read again.
  if (!/logprob/i.test(Buffer.from(bytes).toString('latin1'))) return undefined
  const tokens = readFrames(bytes).values.flatMap(tokensIn)
  if (tokens.length === 0) return undefined
  const mean = Math.exp(tokens.reduce((sum, { logprob }) => sum + logprob, 0) / tokens.length)
  const least = [...tokens].sort((one, other) => one.logprob - other.logprob).slice(0, named)
  return { tokens: tokens.length, mean, least: least.map(({ token, logprob }) => ({ token, p: Math.exp(logprob) })) }
}

interface Token {
  readonly token: string
  readonly logprob: number
}

/** In the forms of OpenAI (chat and responses, whole and streamed) and Gemini. */
function tokensIn(value: Json): readonly Token[] {
  const choices = [...listAt(value, 'choices'), ...listAt(value, 'candidates')]
  const chat = choices.flatMap((choice) => [
    ...listAt(at(choice, 'logprobs'), 'content'),
    ...listAt(at(choice, 'logprobsResult'), 'chosenCandidates'),
  ])
  const parts = listAt(value, 'output').flatMap((item) => listAt(item, 'content'))
  const whole = parts.flatMap((part) => listAt(part, 'logprobs'))
  // The events of a streamed response carry those of their piece; its last event repeats them all.
  const piece = textAt(value, 'type') === 'response.output_text.delta' ? listAt(value, 'logprobs') : []
  return [...chat, ...whole, ...piece].flatMap((token) => {
    const text = textAt(token, 'token')
    const logprob = numberAt(token, 'logprob') ?? numberAt(token, 'logProbability')
    return !isMap(token) || text === undefined || logprob === undefined ? [] : [{ token: text, logprob }]
  })
}

/** `64 % a token over 2 tokens; least sure: "2500" 42 %, " EUR" 99 %`. */
export function confidenceText({ tokens, mean, least }: ReportConfidence): string {
  const percent = (p: number): string => `${Math.round(p * 100)} %`
  const named = least.map(({ token, p }) => `${JSON.stringify(token)} ${percent(p)}`)
  return `${percent(mean)} a token over ${counted(tokens, 'token')}; least sure: ${named.join(', ')}`
}
