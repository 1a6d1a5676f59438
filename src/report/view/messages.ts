import { isMap, parseJson } from '../../json/canonical.ts'
import { callsOf, type ModelCall, readMessage, resultsOf, textOf, toolNames } from '../../providers/index.ts'
import type { Json } from '../../tape/index.ts'
import { valueText } from '../conversation.ts'
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
      msgs: messages.map((message) => this.#message(message)),
      tools: tools.flatMap((tool) => {
        const names = toolNames(tool)
        const t = this.#texts.add(JSON.stringify(tool, null, 2))
        return (names.length === 0 ? ['unnamed'] : names).map((n) => ({ n, t }))
      }),
      params: this.#texts.add(JSON.stringify(params, null, 2)),
    }
  }

  #message(message: Json): ReportMessage {
    const key = JSON.stringify(message)
    const known = this.#messages.get(key)
    if (known !== undefined) return known
    const read = this.#read(message)
    this.#messages.set(key, read)
    return read
  }

  #read(message: Json): ReportMessage {
    const read = readMessage(message)
    const results = resultsOf(read)
    const calls = callsOf(read).map(({ name, args }) =>
      signature({ name, args: typeof args === 'string' ? (parseJson(args) ?? args) : args }),
    )
    const own = textOf(message)
    const said = results.map(({ result }) => textOf(result) || valueText(result)).join('\n')
    const text = results.length > 0 ? said : own
    const { role } = read
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
