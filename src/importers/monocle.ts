import { jsonOr } from './body.ts'
import { isFields, type Meaning } from './meaning.ts'
import { attribute, numberAttribute, type ForeignSpan, type SpanKind, textAttribute } from './spans.ts'

const kinds: Readonly<Record<string, SpanKind>> = {
  inference: 'model',
  'inference.framework': 'model',
  'agentic.tool.invocation': 'tool',
  'agentic.mcp.invocation': 'tool',
  retrieval: 'retrieval',
}

/**
 * Monocle: numbered entities say who took part, the events `data.input`, `data.output` and `metadata` what was said.
 *
 * @see https://github.com/monocle2ai/monocle, apptrace/src/monocle_apptrace
 */
export function monocleMeaning({ attributes, events }: ForeignSpan): Meaning {
  const type = textAttribute(attributes, 'span.type')
  if (type === undefined || textAttribute(attributes, 'monocle_apptrace.version') === undefined) return {}
  const kind = Object.hasOwn(kinds, type) ? kinds[type]! : 'other'
  const told = (name: string): ReadonlyMap<string, unknown> =>
    events.find((event) => event.name === name)?.attributes ?? new Map<string, unknown>()
  const input = attribute(told('data.input'), 'input')
  const output = attribute(told('data.output'), 'response', 'output')
  if (kind !== 'model') {
    const [first] = Array.isArray(input) ? (input as readonly unknown[]) : [input]
    return {
      kind,
      name: entity(attributes, /^(tool|mcp)\./) ?? textAttribute(attributes, 'entity.1.name'),
      input: argsOf(first),
      output,
    }
  }
  return {
    kind,
    asked: entity(attributes, /^model\./),
    provider: textAttribute(attributes, 'entity.1.provider_name'),
    input: Array.isArray(input) ? input.map(jsonOr) : input,
    output,
    inputTokens: numberAttribute(told('metadata'), 'prompt_tokens'),
    outputTokens: numberAttribute(told('metadata'), 'completion_tokens'),
    finish: textAttribute(told('metadata'), 'finish_reason'),
  }
}

/** The name of the entity of a type. */
function entity(attributes: ForeignSpan['attributes'], type: RegExp): string | undefined {
  const listed = attributes.get('entity')
  // Some loaders make a list of the numbered ones.
  if (Array.isArray(listed)) {
    const found = listed.find(
      (one: unknown) => isFields(one) && typeof one['type'] === 'string' && type.test(one['type']),
    ) as { readonly name?: unknown } | undefined
    return typeof found?.name === 'string' ? found.name : undefined
  }
  for (const [key, value] of attributes) {
    const number = /^entity\.(\d+)\.type$/.exec(key)?.[1]
    if (number !== undefined && typeof value === 'string' && type.test(value))
      return textAttribute(attributes, `entity.${number}.name`)
  }
  return undefined
}

/** Arguments without the word that some tools have before them. */
function argsOf(value: unknown): unknown {
  return jsonOr(typeof value === 'string' ? value.replace(/^input: (?=\{)/, '') : value)
}
