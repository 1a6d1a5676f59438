import { jsonOr } from './body.ts'
import { attribute, kindOf, numberAttribute, type ForeignSpan, textAttribute, unflattened } from './spans.ts'
import { genAi, genAiEvents, traceloop } from './genai.ts'
import { filledBy, isFields, type Meaning } from './meaning.ts'
import { monocleMeaning } from './monocle.ts'

/**
 * What a span says, in any convention its attributes and events are written: several instruments may have written
 * into one span, and each fact is taken from the first that tells it.
 */
export function meaningOf(span: ForeignSpan): Meaning {
  return conventions.map((read) => read(span)).reduce(filledBy, {})
}

/** In the order in which they are believed. */
const conventions: readonly ((span: ForeignSpan) => Meaning)[] = [
  vercel,
  monocleMeaning,
  agentKit,
  genAi,
  genAiEvents,
  traceloop,
  openInference,
  backends,
  told,
]

/**
 * OpenInference: flattened messages, and `input.value`, `output.value` beside them.
 *
 * @see https://github.com/Arize-ai/openinference, spec/semantic_conventions.md
 */
function openInference({ attributes }: ForeignSpan): Meaning {
  const kind = kindOf(textAttribute(attributes, 'openinference.span.kind'))
  const value = { input: attribute(attributes, 'input.value'), output: attribute(attributes, 'output.value') }
  switch (kind) {
    case 'tool': {
      // BeeAI tells of one call in a span for each of its events; the first has the arguments.
      const [, target, moment] =
        /^tool\.(.+)\.(start|success|finish|error)$/.exec(textAttribute(attributes, 'target') ?? '') ?? []
      if (moment !== undefined && moment !== 'start') return { kind: 'other' }
      return {
        kind,
        name: textAttribute(attributes, 'tool.name') ?? target,
        input: value.input ?? attribute(attributes, 'tool.parameters'),
        output: value.output,
        callId: textAttribute(attributes, 'tool_call.id', 'tool.id'),
      }
    }
    case 'retrieval':
      return { kind, input: value.input, output: value.output ?? unflattened(attributes, 'retrieval.documents.') }
    case 'model':
      return {
        kind,
        asked: textAttribute(attributes, 'llm.model_name'),
        answered: textAttribute(attributes, 'llm.response.model_name'),
        provider: textAttribute(attributes, 'llm.provider', 'llm.system'),
        input: unflattened(attributes, 'llm.input_messages.') ?? unflattened(attributes, 'llm.prompts.') ?? value.input,
        output: unflattened(attributes, 'llm.output_messages.') ?? value.output,
        inputTokens: numberAttribute(attributes, 'llm.token_count.prompt'),
        outputTokens: numberAttribute(attributes, 'llm.token_count.completion'),
        cachedTokens: numberAttribute(attributes, 'llm.token_count.prompt_details.cache_read'),
        cacheWriteTokens: numberAttribute(attributes, 'llm.token_count.prompt_details.cache_write'),
      }
    case 'other':
    case undefined:
      return { kind }
  }
}

/**
 * The Vercel AI SDK. `ai.generateText` is exported as a model call, too: when there are calls inside of it they stand for it.
 *
 * @see https://ai-sdk.dev/docs/ai-sdk-core/telemetry
 */
function vercel({ attributes }: ForeignSpan): Meaning {
  const operation = textAttribute(attributes, 'ai.operationId') ?? ''
  if (operation === 'ai.toolCall')
    return {
      kind: 'tool',
      name: textAttribute(attributes, 'ai.toolCall.name'),
      callId: textAttribute(attributes, 'ai.toolCall.id'),
      input: attribute(attributes, 'ai.toolCall.args', 'ai.toolCall.input'),
      output: attribute(attributes, 'ai.toolCall.result', 'ai.toolCall.output'),
    }
  if (!/^ai\.(generate|stream)(Text|Object)/.test(operation)) return operation === '' ? {} : { kind: 'other' }
  return {
    kind: 'model',
    asked: textAttribute(attributes, 'ai.model.id'),
    answered: textAttribute(attributes, 'ai.response.model'),
    provider: textAttribute(attributes, 'ai.model.provider'),
    input: attribute(attributes, 'ai.prompt.messages', 'ai.prompt'),
    output: attribute(attributes, 'ai.response.text', 'ai.result.text', 'ai.response.object', 'ai.result.object'),
    calls: attribute(attributes, 'ai.response.toolCalls', 'ai.result.toolCalls'),
    finish: textAttribute(attributes, 'ai.response.finishReason', 'ai.finishReason'),
    inputTokens: numberAttribute(attributes, 'ai.usage.inputTokens', 'ai.usage.promptTokens'),
    outputTokens: numberAttribute(attributes, 'ai.usage.outputTokens', 'ai.usage.completionTokens'),
    cachedTokens: numberAttribute(attributes, 'ai.usage.cachedInputTokens'),
  }
}

/** Google's Agent Development Kit, beside the GenAI attributes. */
function agentKit({ attributes }: ForeignSpan): Meaning {
  const request = jsonOr(attribute(attributes, 'gcp.vertex.agent.llm_request'))
  const system = isFields(request) && isFields(request['config']) ? request['config']['system_instruction'] : undefined
  const args = attribute(attributes, 'gcp.vertex.agent.tool_call_args')
  if (args !== undefined)
    return { kind: 'tool', input: args, output: attribute(attributes, 'gcp.vertex.agent.tool_response') }
  const hasContents = isFields(request) && Array.isArray(request['contents'])
  return {
    ...(hasContents ? { kind: 'model', input: request['contents'] } : {}),
    system,
    output: hasContents ? attribute(attributes, 'gcp.vertex.agent.llm_response') : undefined,
  }
}

/** Attributes that backends have for what their own exports call type, input and output. */
const backendKeys: readonly {
  readonly kind: string
  readonly input: string
  readonly output: string
  readonly model?: string
}[] = [
  {
    kind: 'langfuse.observation.type',
    input: 'langfuse.observation.input',
    output: 'langfuse.observation.output',
    model: 'langfuse.observation.model.name',
  },
  { kind: 'langsmith.span.kind', input: 'gen_ai.prompt', output: 'gen_ai.completion' },
  { kind: 'mlflow.spanType', input: 'mlflow.spanInputs', output: 'mlflow.spanOutputs' },
  { kind: 'gen_ai.operation.name', input: 'gen_ai.prompt', output: 'gen_ai.completion' },
]

function backends({ attributes }: ForeignSpan): Meaning {
  for (const { kind, input, output, model } of backendKeys) {
    const word = textAttribute(attributes, kind)
    if (word === undefined) continue
    return {
      // MLflow writes its texts as JSON.
      kind: kindOf(word.replaceAll('"', '')),
      input: attribute(attributes, input),
      output: attribute(attributes, output),
      asked: model === undefined ? undefined : textAttribute(attributes, model),
    }
  }
  return {}
}

function told({ name, told: given }: ForeignSpan): Meaning {
  if (given === undefined) return {}
  const { model, ...rest } = given
  return { name, ...rest, asked: model }
}
