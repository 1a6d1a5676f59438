import { jsonOr } from './body.ts'
import { filledBy, isFields, type Meaning } from './meaning.ts'
import {
  attribute,
  kindOf,
  numberAttribute,
  type ForeignSpan,
  type ForeignSpanEvent,
  type SpanKind,
  textAttribute,
  unflattened,
} from './spans.ts'

/**
 * OpenTelemetry's GenAI conventions, and the attributes that frameworks put beside them.
 *
 * @see https://github.com/open-telemetry/semantic-conventions-genai
 */
export function genAi({ name, attributes }: ForeignSpan): Meaning {
  const operation = textAttribute(attributes, 'gen_ai.operation.name')
  const tool = textAttribute(attributes, 'gen_ai.tool.name')
  const asked = textAttribute(attributes, 'gen_ai.request.model')
  const answered = textAttribute(attributes, 'gen_ai.response.model')
  const kind = kindOf(operation) ?? (tool === undefined ? (asked ?? answered) && 'model' : 'tool')
  const common = { kind: kind as SpanKind | undefined, callId: textAttribute(attributes, 'gen_ai.tool.call.id') }
  if (kind === 'tool')
    return {
      ...common,
      name: tool ?? /^execute_tool (.+)$/.exec(name)?.[1],
      input: attribute(
        attributes,
        'gen_ai.tool.call.arguments',
        'gen_ai.tool.args',
        'tool_arguments',
        'gen_ai.input',
        'input',
      ),
      output: attribute(attributes, 'gen_ai.tool.call.result', 'tool_response', 'gen_ai.output', 'output'),
    }
  if (kind === 'retrieval')
    return {
      ...common,
      name: textAttribute(attributes, 'gen_ai.data_source.id'),
      input: attribute(attributes, 'gen_ai.retrieval.query.text'),
      output: attribute(attributes, 'gen_ai.retrieval.documents'),
    }
  return {
    ...common,
    asked,
    answered,
    provider: textAttribute(attributes, 'gen_ai.provider.name', 'gen_ai.system'),
    input: attribute(attributes, 'gen_ai.input.messages'),
    system: attribute(attributes, 'gen_ai.system_instructions'),
    output: attribute(attributes, 'gen_ai.output.messages', 'gen_ai.output'),
    inputTokens: numberAttribute(attributes, 'gen_ai.usage.input_tokens', 'gen_ai.usage.prompt_tokens'),
    outputTokens: numberAttribute(attributes, 'gen_ai.usage.output_tokens', 'gen_ai.usage.completion_tokens'),
    cachedTokens: numberAttribute(
      attributes,
      'gen_ai.usage.cache_read.input_tokens',
      'gen_ai.usage.cache_read_input_tokens',
      'gen_ai.usage.cached_tokens',
    ),
    cacheWriteTokens: numberAttribute(
      attributes,
      'gen_ai.usage.cache_creation.input_tokens',
      'gen_ai.usage.cache_creation_input_tokens',
    ),
    finish: firstText(jsonOr(attribute(attributes, 'gen_ai.response.finish_reasons', 'gen_ai.response.finish_reason'))),
  }
}

function firstText(value: unknown): string | undefined {
  const first: unknown = Array.isArray(value) ? value[0] : value
  return typeof first === 'string' ? first : undefined
}

/**
 * The generation of GenAI conventions with content in events: `gen_ai.user.message`, `gen_ai.choice` and so on, as
 * events of the span, as log records, or, by Logfire, as an attribute; the one before it with `gen_ai.content.prompt`; and
 * the current `gen_ai.client.inference.operation.details`.
 */
export function genAiEvents({ attributes, events }: ForeignSpan): Meaning {
  const listed = jsonOr(attribute(attributes, 'events'))
  const inAttribute = Array.isArray(listed) ? listed.flatMap(eventOf) : []
  const input: unknown[] = []
  const output: unknown[] = []
  let rest: Meaning = {}
  for (const event of [...inAttribute, ...events]) {
    const said = saidIn(event)
    if (event.name === 'gen_ai.choice') output.push(said)
    else if (/^gen_ai\.(system|user|assistant|tool)\.message$/.test(event.name))
      input.push({ role: event.name.split('.')[1], ...said })
    else if (event.name === 'gen_ai.content.prompt')
      rest = { ...rest, input: attribute(event.attributes, 'gen_ai.prompt') }
    else if (event.name === 'gen_ai.content.completion')
      rest = { ...rest, output: attribute(event.attributes, 'gen_ai.completion') }
    else if (event.name === 'gen_ai.client.inference.operation.details')
      rest = filledBy(rest, genAi({ name: '', attributes: event.attributes, events: [] }))
  }
  return filledBy(
    {
      ...(input.length === 0 ? {} : { input }),
      ...(output.length === 0 ? {} : { output }),
    },
    { input: rest.input, system: rest.system, output: rest.output },
  )
}

function eventOf(value: unknown): readonly ForeignSpanEvent[] {
  if (!isFields(value) || typeof value['event.name'] !== 'string') return []
  return [{ name: value['event.name'], attributes: new Map(), body: value }]
}

/** What an event says: its body, or attributes that hold what a body does, each maybe as JSON. */
function saidIn({ attributes, body }: ForeignSpanEvent): { readonly [key: string]: unknown } {
  const fields = isFields(body) ? body : Object.fromEntries(attributes)
  return Object.fromEntries(Object.entries(fields).map(([key, value]) => [key, jsonOr(value)]))
}

/**
 * Traceloop's conventions, from before there were others: `gen_ai.prompt.N.*`, once `llm.prompts.N.*`; tools are
 * entities.
 *
 * @see https://github.com/traceloop/openllmetry, packages/opentelemetry-semantic-conventions-ai
 */
export function traceloop({ attributes }: ForeignSpan): Meaning {
  const kind = kindOf(textAttribute(attributes, 'traceloop.span.kind'))
  if (kind === 'tool')
    return {
      kind,
      name: textAttribute(attributes, 'traceloop.entity.name'),
      input: entityInput(jsonOr(attribute(attributes, 'traceloop.entity.input'))),
      output: entityOutput(jsonOr(attribute(attributes, 'traceloop.entity.output'))),
    }
  const type = textAttribute(attributes, 'llm.request.type')
  return {
    kind: kind ?? (type === 'chat' || type === 'completion' ? 'model' : undefined),
    input: unflattened(attributes, 'gen_ai.prompt.') ?? unflattened(attributes, 'llm.prompts.'),
    output: unflattened(attributes, 'gen_ai.completion.') ?? unflattened(attributes, 'llm.completions.'),
  }
}

/** LangChain's tools have their input beside tags; decorated functions have `args` and `kwargs`. */
function entityInput(value: unknown): unknown {
  if (!isFields(value)) return value
  const { inputs, input_str: text, args, kwargs } = value
  if (isFields(inputs)) return inputs
  if (text !== undefined) return jsonOr(text)
  const isCall = Object.keys(value).every((key) => key === 'args' || key === 'kwargs')
  if (!isCall) return value
  if (isFields(kwargs) && Object.keys(kwargs).length > 0) return Array.isArray(args) && args.length > 0 ? value : kwargs
  return Array.isArray(args) && args.length === 1 && isFields(args[0]) ? args[0] : (args ?? {})
}

function entityOutput(value: unknown): unknown {
  return isFields(value) && Object.hasOwn(value, 'output') ? value['output'] : value
}
