import { isStream } from './events.ts'
import { KeptHeaders } from './headers.ts'
import type { Finders } from './engine.ts'
import { FirstNames } from './first/names.ts'
import { checkLists, kindsOf } from './kinds.ts'
import type { SecretNames } from './names.ts'
import { PlaceholderShapes } from './placeholders.ts'
import type { Finder, RedactorOptions } from './types.ts'
import { encodedWords } from './words.ts'

/** What redactors with the same options share: everything that no run changes. */
export class Means {
  readonly names: SecretNames
  readonly keptHeaders: KeptHeaders
  readonly find: Finder
  readonly shapes: PlaceholderShapes
  /** Whether it looks for what the application names. */
  readonly hasOwnRules: boolean
  readonly #clean = new Set<string>()

  readonly version: Finders['version']
  /** The scheme before credentials in a text, with what follows it. */
  readonly schemeOf: (value: string) => string

  /** @throws HarvestError `HARVEST_PRIVACY_OPTION` */
  constructor(options: RedactorOptions, finders: Finders) {
    checkLists(options)
    this.version = finders.version
    const { keys = [], names: own } = options
    this.hasOwnRules = (options.rules ?? []).length > 0
    // What a header means is the same for all tapes: an application's own names count, as its keys do.
    const forHeaders = new FirstNames([...keys, ...(own?.always ?? [])])
    const inUse = finders.by(options, forHeaders)
    this.names = inUse.names
    this.schemeOf = inUse.schemeOf
    this.keptHeaders = new KeptHeaders(options.headers, forHeaders)
    const { templates, find } = kindsOf(options, inUse)
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
    if (isStream(text, this.version) || this.shapes.mayStandIn(text) || this.find(text).length > 0) return false
    if (this.version !== 1 && encodedWords(text).length > 0) return false
    // Ids and dates that never come again would fill it in the end; what does come again is soon back.
    if (this.#clean.size >= plainCap) this.#clean.clear()
    this.#clean.add(text)
    return true
  }
}

const shortLength = 256
const plainCap = 2048

const withoutOptions = new Map<Finders, Means>()
const byOptions = new WeakMap<RedactorOptions, Map<Finders, Means>>()

/**
 * The means for these options, made once: patterns are compiled for a recorder and not for each of its runs.
 *
 * @throws HarvestError `HARVEST_PRIVACY_OPTION`
 */
export function meansFor(options: RedactorOptions, finders: Finders): Means {
  const made =
    Object.keys(options).length === 0 ? withoutOptions : (byOptions.get(options) ?? new Map<Finders, Means>())
  const known = made.get(finders)
  if (known !== undefined) return known
  const means = new Means(options, finders)
  made.set(finders, means)
  if (made !== withoutOptions) byOptions.set(options, made)
  return means
}
