import type { Cursor } from './cursor.ts'
import type { ForeignFormat } from './document.ts'
import { isFields } from './meaning.ts'
import { timeOf } from './moments.ts'
import { countOf, kindOf, type ForeignSpan, type SpanAttributes } from './spans.ts'
import { runsOfSpans } from './trace-runs.ts'

const lists = ['baseSpans', 'agentSpans', 'llmSpans', 'retrieverSpans', 'toolSpans'] as const

/**
 * A trace of DeepEval: its spans in a list for each kind.
 *
 * @see https://github.com/confident-ai/deepeval, deepeval/tracing/api.py
 */
export const deepeval: ForeignFormat = {
  name: 'deepeval',
  recognises: ({ root }) => root.at('uuid').isThere && Array.isArray(root.at('llmSpans').value),
  read({ root }) {
    const trace = root.at('uuid').maybeText ?? ''
    const spans = lists
      .flatMap((name) => (root.at(name).isThere ? root.at(name).items : []))
      .map((span) => spanOf(span, trace))
    return runsOfSpans('deepeval', spans, root.position)
  },
}

function spanOf(span: Cursor, trace: string): ForeignSpan {
  const id = span.map.at('uuid').maybeText
  const parent = span.at('parentUuid').maybeText
  const startedMs = timeOf(span.at('startTime'))
  const endedMs = timeOf(span.at('endTime'))
  return {
    ...(id === undefined ? {} : { id }),
    trace,
    ...(parent === undefined ? {} : { parent }),
    name: span.at('name').maybeText ?? '',
    ...(startedMs === undefined ? {} : { startedMs }),
    ...(endedMs === undefined ? {} : { endedMs }),
    attributes: new Map(),
    events: [],
    ...(span.at('status').maybeText === 'ERRORED' ? { error: span.at('error').maybeText ?? 'error' } : {}),
    told: toldOf(span),
  }
}

function toldOf(span: Cursor): SpanAttributes {
  const kind = kindOf(span.at('type').maybeText) ?? 'other'
  const input = span.at('input').value
  const output = span.at('output').value
  const called = Array.isArray(span.at('toolsCalled').value) ? span.at('toolsCalled').items : []
  if (kind === 'tool') {
    // Some integrations name the span after the operation, and tell the call itself beside it.
    const name =
      /^(?:execute_tool|Function tool:) (.+)$/.exec(span.at('name').maybeText ?? '')?.[1] ??
      called[0]?.at('name').maybeText
    return {
      kind,
      ...(name === undefined ? {} : { name }),
      input: input ?? called[0]?.at('inputParameters').value,
      output,
    }
  }
  const model = span.at('model').maybeText
  const provider = span.at('provider').maybeText
  const inputTokens = countOf(span.at('inputTokenCount').value)
  const outputTokens = countOf(span.at('outputTokenCount').value)
  return {
    kind,
    input,
    output,
    ...(called.length === 0 ? {} : { calls: called.map(({ value }) => requestIn(value)) }),
    ...(model === undefined ? {} : { model }),
    ...(provider === undefined ? {} : { provider }),
    ...(inputTokens === undefined ? {} : { inputTokens }),
    ...(outputTokens === undefined ? {} : { outputTokens }),
  }
}

function requestIn(call: unknown): unknown {
  return isFields(call) ? { type: 'tool_call', name: call['name'], args: call['inputParameters'] } : call
}
