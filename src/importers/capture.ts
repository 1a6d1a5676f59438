import { jsonOr } from './body.ts'
import { isFields, type Meaning } from './meaning.ts'
import { type Attributes, type ForeignSpan, textAttribute } from './spans.ts'
import type { Uncaptured } from './types.ts'

/** What OpenInference writes where it hides a value. */
const hidden = '__REDACTED__'

/** Instruments by what their spans have, in the order in which they are asked: several speak OpenTelemetry's words too. */
const instruments: readonly {
  readonly name: string
  readonly isOf: (attributes: Attributes) => boolean
  readonly set: string
}[] = [
  {
    name: 'AI SDK',
    isOf: (attributes) => has(attributes, 'ai.'),
    set: 'experimental_telemetry: { isEnabled: true, recordInputs: true, recordOutputs: true }',
  },
  {
    name: 'OpenInference',
    isOf: (attributes) => has(attributes, 'openinference.'),
    set: 'OPENINFERENCE_HIDE_INPUTS=false and OPENINFERENCE_HIDE_OUTPUTS=false',
  },
  {
    name: 'OpenLLMetry',
    isOf: (attributes) => has(attributes, 'traceloop.') || attributes.has('llm.request.type'),
    set: 'TRACELOOP_TRACE_CONTENT=true, or traceContent: true in initialize()',
  },
  {
    name: 'Google ADK',
    isOf: (attributes) => has(attributes, 'gcp.vertex.agent.'),
    set: 'ADK_CAPTURE_MESSAGE_CONTENT_IN_SPANS=true',
  },
  {
    name: 'Azure AI',
    isOf: (attributes) => attributes.has('az.namespace') || systemOf(attributes)?.startsWith('az.') === true,
    set: 'AZURE_TRACING_GEN_AI_CONTENT_RECORDING_ENABLED=true',
  },
  {
    name: 'Pydantic AI',
    isOf: (attributes) => attributes.has('model_request_parameters') || attributes.has('logfire.json_schema'),
    set: 'InstrumentationSettings(include_content=True)',
  },
  {
    name: 'OpenTelemetry GenAI',
    isOf: (attributes) => has(attributes, 'gen_ai.'),
    set:
      'OTEL_INSTRUMENTATION_GENAI_CAPTURE_MESSAGE_CONTENT=true, ' +
      'or span_only with OTEL_SEMCONV_STABILITY_OPT_IN=gen_ai_latest_experimental',
  },
]

/**
 * What no model call of a trace has: what models were asked, what they answered, or both.
 *
 * @returns `undefined` where there is no model call, or one has each of them
 */
export function uncapturedIn(
  calls: readonly { readonly span: ForeignSpan; readonly meaning: Meaning }[],
): Uncaptured | undefined {
  const models = calls.filter(({ meaning }) => meaning.kind === 'model')
  if (models.length === 0) return undefined
  const hasInputs = models.some(({ meaning: { input, system } }) => isFilled(input) || isFilled(system))
  // A call that failed has no answer, no matter what is recorded.
  const hasOutputs = models.some(
    ({ span, meaning: { output, calls: asked } }) => span.error !== undefined || isFilled(output) || isFilled(asked),
  )
  if (hasInputs && hasOutputs) return undefined
  const known = models.map(({ span }) => instruments.find(({ isOf }) => isOf(span.attributes)))
  const switches = [...new Set(known)].flatMap((one) => (one === undefined ? [] : [`${one.name}: set ${one.set}`]))
  const what = hasInputs ? 'outputs' : hasOutputs ? 'inputs' : 'content'
  // One side alone may be empty; of an instrument that is not known only the lack of both tells.
  return switches.length === 0 && what !== 'content' ? undefined : { what, switches }
}

/** Whether there is something in a value beside the marks of messages: some instruments leave roles, and no more. */
function isFilled(given: unknown): boolean {
  const value = jsonOr(given)
  if (value === undefined || value === null || value === '' || value === hidden) return false
  if (Array.isArray(value)) return value.some(isFilled)
  if (!isFields(value)) return true
  return Object.entries(value).some(([name, inner]) => !marks.has(name) && isFilled(inner))
}

/** Members of a message that are there without its content. */
const marks: ReadonlySet<string> = new Set([
  'role',
  'type',
  'index',
  'finish_reason',
  'finishReason',
  'id',
  'message.role',
  'event.name',
  'gen_ai.system',
  'gen_ai.provider.name',
])

function has(attributes: Attributes, prefix: string): boolean {
  for (const name of attributes.keys()) if (name.startsWith(prefix)) return true
  return false
}

function systemOf(attributes: Attributes): string | undefined {
  return textAttribute(attributes, 'gen_ai.provider.name', 'gen_ai.system')
}
