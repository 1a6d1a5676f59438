import { namedArgs } from '../../tape/present-args.ts'
import type { MessageEvent, Moment, Tape, TapeEvent } from '../../tape/index.ts'
import { isMap } from '../../json/canonical.ts'
import { type ModelMark, readModelMark } from '../model-mark.ts'
import { attributes, type AttributeValue, jsonOf } from './attributes.ts'
import { type GenAiMessage, inputMessages } from './messages.ts'
import { between, type OtlpSpan, type Telling } from './span.ts'

/** The span of a model call that an imported trace has, with what was said to the model before it and by it. */
export function modelMarkSpan(mark: ModelMark, tape: Tape, telling: Telling): OtlpSpan {
  const { event, asked, answered, provider, finish, error, usage } = mark
  const { ids, clock, parents, withContent, isTimed } = telling
  const parent = parents.get(event.n)
  return {
    traceId: ids.trace,
    spanId: ids.of(event.n),
    parentSpanId: parent === undefined ? ids.root : ids.of(parent),
    name: asked === undefined ? 'chat' : `chat ${asked}`,
    kind: 3,
    ...between([event.n, event.at], endOfMark(mark), clock),
    attributes: attributes({
      'gen_ai.operation.name': 'chat',
      'gen_ai.provider.name': provider,
      'gen_ai.request.model': asked,
      'gen_ai.response.model': answered,
      'gen_ai.response.finish_reasons': finish === undefined ? undefined : [finish],
      'gen_ai.usage.input_tokens': usage?.inputTokens,
      'gen_ai.usage.output_tokens': usage?.outputTokens,
      'gen_ai.usage.cache_read.input_tokens': usage?.cachedTokens,
      ...(withContent ? saidAround(mark, tape) : {}),
      'error.type': error === undefined ? undefined : '_OTHER',
      'vitest_harvest.event': event.n,
      'vitest_harvest.times': isTimed ? undefined : 'order',
    }),
    ...(error === undefined ? {} : { status: { code: 2 as const, ...(withContent ? { message: error } : {}) } }),
  }
}

/** When the model had answered, as far as the trace said. */
export function endOfMark({ event, tookMs = 0 }: ModelMark): Moment {
  return [event.n, event.at + tookMs]
}

/** Whether a message is part of a conversation with a model, which the spans of its calls tell. */
export function isSaidToModel(event: TapeEvent): event is MessageEvent {
  return event.kind === 'message' && (event.to === 'model' || event.from === 'model')
}

function saidAround({ event, finish }: ModelMark, tape: Tape): Readonly<Record<string, AttributeValue>> {
  const { n, in: inside } = event
  const said = tape.events.filter((other) => isSaidToModel(other) && other.in === inside) as MessageEvent[]
  const next = tape.events.find(
    (other) => other.n > n && other.in === inside && readModelMark(other, tape) !== undefined,
  )
  const answers = said.filter((other) => other.from === 'model' && other.n > n && other.n < (next?.n ?? Infinity))
  const parts = [
    ...answers.flatMap((answer) => messageOf(answer).parts),
    ...tape.events.flatMap((other) =>
      other.kind === 'tool' && other.asked === n
        ? [{ type: 'tool_call', id: `call_${other.n}`, name: other.name, arguments: namedArgs(other.args) }]
        : [],
    ),
  ]
  const output = [{ role: 'assistant', parts, ...(finish === undefined ? {} : { finish_reason: finish }) }]
  const input = said.filter((other) => other.n < n).map(messageOf)
  return {
    'gen_ai.input.messages': input.length === 0 ? undefined : JSON.stringify(input),
    'gen_ai.output.messages': parts.length === 0 ? undefined : jsonOf(output),
  }
}

function messageOf({ from, body }: MessageEvent): GenAiMessage {
  const role = from === 'model' ? 'assistant' : from
  const [whole] = isMap(body) && (body['role'] !== undefined || body['type'] !== undefined) ? inputMessages([body]) : []
  if (whole !== undefined) return whole
  return { role, parts: [typeof body === 'string' ? { type: 'text', content: body } : { type: 'value', value: body }] }
}
