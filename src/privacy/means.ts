import { isStream } from './events.ts'
import { KeptHeaders } from './headers.ts'
import { kindsOf } from './kinds.ts'
import { SecretNames } from './names.ts'
import { PlaceholderShapes } from './placeholders.ts'
import type { Finder, RedactorOptions } from './types.ts'

/** What redactors with the same options share: everything that no run changes. */
export class Means {
  readonly names: SecretNames
  readonly keptHeaders: KeptHeaders
  readonly find: Finder
  readonly shapes: PlaceholderShapes
  readonly #clean = new Set<string>()

  /** @throws HarvestError `HARVEST_PRIVACY_OPTION` */
  constructor(options: RedactorOptions) {
    this.names = new SecretNames(options.keys)
    this.keptHeaders = new KeptHeaders(options.headers, this.names)
    const { templates, find } = kindsOf(options, this.names)
    this.find = find
    this.shapes = new PlaceholderShapes(templates, new Set(options.keep))
  }

  /**
   * Whether a short text holds nothing that is secret by itself, no pieces of a stream and no placeholder. `false` for a
   * long one. Header values, URLs and names of fields come again with every call, so the answer is kept.
   */
  isPlain(text: string): boolean {
    if (text.length > shortLength) return false
    if (this.#clean.has(text)) return true
    if (isStream(text) || this.shapes.mayStandIn(text) || this.find(text).length > 0) return false
    // Ids and dates that never come again would fill it in the end; what does come again is soon back.
    if (this.#clean.size >= plainCap) this.#clean.clear()
    this.#clean.add(text)
    return true
  }
}

const shortLength = 256
const plainCap = 2048

const withoutOptions = new Means({})
const byOptions = new WeakMap<RedactorOptions, Means>()

/**
 * The means for these options, made once: patterns are compiled for a recorder and not for each of its runs.
 *
 * @throws HarvestError `HARVEST_PRIVACY_OPTION`
 */
export function meansFor(options: RedactorOptions): Means {
  if (Object.keys(options).length === 0) return withoutOptions
  let means = byOptions.get(options)
  if (means === undefined) byOptions.set(options, (means = new Means(options)))
  return means
}
