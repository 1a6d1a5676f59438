import type { Json } from '../../tape/types.ts'
import type { Address } from '../dialect.ts'
import { at, isList, type JsonMap, without } from '../../json/canonical.ts'
import type { ModelRequest } from '../types.ts'

/** What a reader of requests finds in a body: every field in exactly one part. */
export type Parts = Omit<ModelRequest, 'dialect'>

/** Collects parts and remembers which keys they were taken from, so that the rest is exactly the params. */
export class Taking {
  readonly #body: JsonMap
  readonly #taken = new Set<string>()

  constructor(body: JsonMap) {
    this.#body = body
  }

  /** The items of a list, a single value as the one item; an empty list, or another shape, stays among the params. */
  take(key: string, accepts: (value: Json) => boolean = () => true): readonly Json[] {
    const value = at(this.#body, key)
    if (value === undefined || (isList(value) && value.length === 0) || !accepts(value)) return []
    this.#taken.add(key)
    return isList(value) ? value : [value]
  }

  /** The model in the body, or else the one in the path. */
  model(address: Address): string {
    const key = ['model', 'model_id', 'modelId'].find((name) => typeof at(this.#body, name) === 'string')
    const named = key === undefined ? undefined : at(this.#body, key)
    if (key === undefined || typeof named !== 'string') return address.model ?? ''
    if (address.model !== undefined && address.model !== named) return address.model
    this.#taken.add(key)
    return named
  }

  rest(): JsonMap {
    return without(this.#body, ...this.#taken)
  }
}

/** Splits system and developer messages from the conversation. */
export function bySpeaker(
  messages: readonly Json[],
  words: readonly string[] = ['system', 'developer'],
): [instructions: readonly Json[], messages: readonly Json[]] {
  const commands = (message: Json): boolean => {
    const role = at(message, 'role') ?? at(message, 'speaker')
    return typeof role === 'string' && words.includes(role)
  }
  return [messages.filter(commands), messages.filter((message) => !commands(message))]
}
