import { type JsonMap } from '../json/canonical.ts'
import { HarvestError, neutralLine } from '../errors/index.ts'
import { type Dialect, isModelCall, readModelCall, type ToolCall } from '../providers/index.ts'
import { stepsText } from '../replay/index.ts'
import type { ExchangeEvent, Json, Step } from '../tape/index.ts'
import { answerText, withBody } from './body.ts'
import { writeAnthropic } from './decide/anthropic.ts'
import { writeChat } from './decide/openai-chat.ts'
import { writeGemini } from './decide/gemini.ts'
import { writeResponses } from './decide/openai-responses.ts'
import type { Decided, RecordedAnswer, Writer } from './decide/types.ts'
import type { Decision } from './plan.ts'

const writers: Partial<Readonly<Record<Dialect, Writer>>> = {
  'openai-chat': writeChat,
  'openai-responses': writeResponses,
  anthropic: writeAnthropic,
  gemini: writeGemini,
}

/**
 * The recorded answer of a model with another decision in it, in its own dialect and whole or streamed as it was. Ids,
 * model and usage stay as recorded; a call that stands where a recorded one stood keeps its id.
 *
 * @param steps - of the run: what no model decided leads to those of models. Default: no steps
 * @throws HarvestError `HARVEST_FORK_DECIDE` for an answer no decision can be written into
 */
export function decided(step: Step, number: number, decision: Decision, steps: readonly Step[] = []): Step {
  const refuse = (why: string): HarvestError => refused(number, step, why, steps)
  if (step.kind !== 'exchange') throw refuse('Its answer is the result of a function, not what a model decided.')
  const call = readModelCall(step)
  const dialect = call?.request.dialect
  const write = dialect && writers[dialect]
  if (!call || !write) throw refuse(whyNot(dialect))
  if (step.response === undefined || step.response.status >= 400)
    throw refuse('The model gave no answer there, but an error.')
  const recorded = recordedAnswer(step)
  if (recorded === undefined) throw refuse('What was recorded of the answer cannot be taken apart.')
  return withBody(step, write(recorded, toDecided(decision, call.response?.toolCalls ?? [])))
}

function recordedAnswer(event: ExchangeEvent): RecordedAnswer | undefined {
  const { text, isStream } = answerText(event)
  if (!isStream) {
    const whole = mapOf(text)
    return whole && { isStream, whole, events: [] }
  }
  const data = text.split('\n').flatMap((line) => (line.startsWith('data:') ? [line.slice('data:'.length).trim()] : []))
  const events = data.map(mapOf).filter((event) => event !== undefined)
  const [first] = events
  return first === undefined ? undefined : { isStream, whole: first, events, isDone: data.includes('[DONE]') }
}

function mapOf(text: string): JsonMap | undefined {
  try {
    const value = JSON.parse(text) as Json
    return typeof value === 'object' && value !== null && !Array.isArray(value) ? (value as JsonMap) : undefined
  } catch {
    // No JSON is no answer that could be written again; who asked says so.
    return undefined
  }
}

function toDecided(decision: Decision, before: readonly ToolCall[]): Decided {
  if ('say' in decision) return { text: decision.say, calls: [] }
  return {
    text: '',
    calls: decision.calls.map(({ name, args }, i) => ({ id: before[i]?.id ?? `call_of_fork_${i + 1}`, name, args })),
  }
}

function whyNot(dialect: Dialect | undefined): string {
  if (dialect === undefined) return 'It is no call of a model.'
  return `Decisions are written in the dialects ${Object.keys(writers).join(', ')}, and this one is ${dialect}.`
}

function refused(number: number, step: Step, why: string, steps: readonly Step[]): HarvestError {
  const name = step.kind === 'exchange' ? `${step.method} ${step.url}` : `${step.kind} ${step.name}`
  return new HarvestError('HARVEST_FORK_DECIDE', {
    what: `Cannot set a decision at step ${number}`,
    where: { step: neutralLine(name, 120) },
    why,
    fix: [
      ...toModelSteps(number, steps),
      'change its value with --set instead: result.… of a tool call, body.… or status of an answer',
    ],
  })
}

/** The steps at which models decide: the last one before, which led to this step, or else the first one. */
function toModelSteps(number: number, steps: readonly Step[]): readonly string[] {
  const ofModels = steps.flatMap((step, at) => (step.kind === 'exchange' && isModelCall(step) ? [at + 1] : []))
  const meant = ofModels.findLast((one) => one < number) ?? ofModels[0]
  return meant === undefined ? [] : [`models decide at ${stepsText(ofModels)}: --step ${meant}`]
}
