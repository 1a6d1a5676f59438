import { at, isMap, listAt, parseJson, textAt } from '../../json/canonical.ts'
import { type ModelCall, type ModelRequest, toolNames, toolResultsIn } from '../../providers/index.ts'
import type { Json } from '../../tape/index.ts'
import { textOf, valueText } from '../conversation.ts'
import { signature } from '../describe.ts'
import type { Texts } from './texts.ts'
import type { ReportMessage, ReportPrompt } from './types.ts'

/** Reads the prompts of a run. A message that many requests carry is read once. */
export class Prompts {
  readonly #texts: Texts
  readonly #messages = new Map<string, ReportMessage>()

  constructor(texts: Texts) {
    this.#texts = texts
  }

  read({ request }: ModelCall): ReportPrompt {
    const { instructions, messages, tools, params } = request
    return {
      sys: instructions.map((one) => this.#texts.add(textOf(one) || JSON.stringify(one))),
      msgs: messages.map((message) => this.#message(message, request)),
      tools: tools.flatMap((tool) => {
        const names = toolNames(tool)
        const t = this.#texts.add(JSON.stringify(tool, null, 2))
        return (names.length === 0 ? ['unnamed'] : names).map((n) => ({ n, t }))
      }),
      params: this.#texts.add(JSON.stringify(params, null, 2)),
    }
  }

  #message(message: Json, request: ModelRequest): ReportMessage {
    const key = JSON.stringify(message)
    const known = this.#messages.get(key)
    if (known !== undefined) return known
    const read = this.#read(message, request)
    this.#messages.set(key, read)
    return read
  }

  #read(message: Json, request: ModelRequest): ReportMessage {
    const results = toolResultsIn({ ...request, messages: [message] })
    const calls = callsIn(message)
    const own = textOf(message)
    const said = results.map(({ result }) => textOf(result) || valueText(result)).join('\n')
    const text = results.length > 0 ? said : own
    const role = textAt(message, 'role') ?? textAt(message, 'type')?.replace(/_call(_output)?$/, '') ?? 'input'
    const [id] = results.flatMap((result) => result.id ?? [])
    return {
      r: results.length > 0 ? 'tool' : calls.length > 0 && role === 'function' ? 'assistant' : role,
      // A message in a form that is not known is shown whole rather than empty.
      t: this.#texts.add(text === '' && calls.length === 0 && results.length === 0 ? textIn(message) : text),
      ...(calls.length === 0 ? {} : { c: calls }),
      ...(id === undefined ? {} : { id }),
    }
  }
}

function textIn(message: Json): string {
  const content = isMap(message) ? message['content'] : message
  return content === '' || content === null ? '' : JSON.stringify(message, null, 2)
}

/** The tool calls a message asks for, with their arguments. */
function callsIn(message: Json): readonly string[] {
  const own = /_call$/.test(textAt(message, 'type') ?? '') ? [message] : []
  const parts = [...own, ...listAt(message, 'tool_calls'), ...listAt(message, 'content'), ...listAt(message, 'parts')]
  return parts.flatMap((part) => {
    const inner = at(part, 'function') ?? at(part, 'functionCall') ?? at(part, 'toolUse')
    const isCall = inner !== undefined || /^(tool_use|tool-call|function_call)$/.test(textAt(part, 'type') ?? '')
    if (!isCall) return []
    const call = inner ?? part
    const args = at(call, 'arguments') ?? at(call, 'args') ?? at(call, 'input') ?? null
    const name = textAt(call, 'name') ?? textAt(part, 'toolName') ?? '?'
    return [signature({ name, args: typeof args === 'string' ? (parseJson(args) ?? args) : args })]
  })
}
