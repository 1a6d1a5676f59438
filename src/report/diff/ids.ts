import { isList, isMap } from '../../json/canonical.ts'
import type { Json } from '../../tape/index.ts'

/** Keys under which a provider's ids stand. */
const idKeys = new Set(['call_id', 'tool_call_id', 'tool_use_id', 'toolUseId', 'toolCallId', 'item_id'])
/** Under these stand the agent's own values, where an id is data. */
const dataKeys = new Set(['input', 'arguments', 'args', 'output', 'result', 'response'])

/** Ids that providers make up again in every run, numbered in the order in which a run first had them. */
export class Ids {
  readonly #seen = new Map<string, string>()

  /** A message with `#1`, `#2`, … in the place of such ids. */
  steady(message: Json): Json {
    if (isList(message)) return message.map((item) => this.steady(item))
    if (!isMap(message)) return message
    const isOfProvider = ['type', 'function', 'role', 'functionCall'].some((key) => key in message)
    return Object.fromEntries(
      Object.entries(message).map(([key, value]) => {
        if (typeof value === 'string' && (idKeys.has(key) || (key === 'id' && isOfProvider)))
          return [key, this.#ordinal(value)]
        return [key, dataKeys.has(key) ? value : this.steady(value)]
      }),
    )
  }

  #ordinal(id: string): string {
    const known = this.#seen.get(id) ?? `#${this.#seen.size + 1}`
    this.#seen.set(id, known)
    return known
  }
}
