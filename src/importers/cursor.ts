import { callCap } from './limits.ts'
import { type TextPosition, refusal, type RefusalCode } from './refusal.ts'

/** Keys and indexes from the root of a document to a value. */
export type Path = readonly (string | number)[]

/** A document that can say where its values stand. */
export interface Origin {
  readonly file: string
  /** The 1-based line of a value; asked only when something is wrong with it. */
  lineOf(path: Path): number | undefined
  /** What stands before a path in messages, such as `interactions[2]` of an item that was read alone. */
  readonly prefix?: string
  /** The item stands in a list of its own, which the file does not have: the first step of each path is not shown. */
  readonly isListed?: true
}

type Fields = { readonly [key: string]: unknown }

/** A value of a foreign document and its place. What is not as expected is refused with that place. */
export class Cursor {
  readonly value: unknown
  readonly #origin: Origin
  readonly #path: Path

  constructor(value: unknown, origin: Origin, path: Path = []) {
    this.value = value
    this.#origin = origin
    this.#path = path
  }

  /** Whether there is anything here; null counts as nothing. */
  get isThere(): boolean {
    return this.value !== undefined && this.value !== null
  }

  get isMap(): boolean {
    return isMap(this.value)
  }

  /** The member of a map; a place without value where the map has no such member. */
  at(key: string): Cursor {
    const found = isMap(this.value) && Object.hasOwn(this.value, key) ? this.value[key] : undefined
    return new Cursor(found, this.#origin, [...this.#path, key])
  }

  /** The members of a map in the order of the file. */
  get members(): readonly (readonly [key: string, value: Cursor])[] {
    if (!isMap(this.value)) throw this.refuse('it is not a map')
    return Object.keys(this.value).map((key) => [key, this.at(key)])
  }

  /** The items of a list. */
  get items(): readonly Cursor[] {
    const { value } = this
    if (!Array.isArray(value)) throw this.refuse(this.isThere ? 'it is not a list' : 'it is missing')
    if (value.length > callCap) throw this.refuse(`a list of more than ${callCap} items`, 'HARVEST_IMPORT_TOO_LARGE')
    return value.map((item: unknown, index) => new Cursor(item, this.#origin, [...this.#path, index]))
  }

  /** The first item of a list; `undefined` for an empty one and for anything else. */
  get first(): Cursor | undefined {
    const { value } = this
    return Array.isArray(value) && value.length > 0 ? new Cursor(value[0], this.#origin, [...this.#path, 0]) : undefined
  }

  get text(): string {
    if (typeof this.value !== 'string') throw this.refuse(this.isThere ? 'it is not text' : 'it is missing')
    return this.value
  }

  /** Text, or `undefined` for anything else. */
  get maybeText(): string | undefined {
    return typeof this.value === 'string' ? this.value : undefined
  }

  /** A finite number, also one that was written as text; `undefined` for anything else. */
  get maybeNumber(): number | undefined {
    const { value } = this
    const number = typeof value === 'string' && /^-?\d+(\.\d+)?$/.test(value) ? Number(value) : value
    return typeof number === 'number' && Number.isFinite(number) ? number : undefined
  }

  /** An HTTP status. */
  get status(): number {
    const status = this.maybeNumber
    if (status !== undefined && Number.isInteger(status) && status >= 100 && status <= 999) return status
    throw this.refuse(this.isThere ? 'it is not an HTTP status' : 'it is missing')
  }

  /** A map, or the refusal of anything else. */
  get map(): Cursor {
    if (!this.isMap) throw this.refuse(this.isThere ? 'it is not a map' : 'it is missing')
    return this
  }

  refuse(problem: string, code: RefusalCode = 'HARVEST_IMPORT_SHAPE', cause?: unknown): Error {
    return refusal(code, this.position, problem, { cause })
  }

  get position(): TextPosition {
    const line = this.#origin.lineOf(this.#path)
    const at = pathText(this.#origin.isListed ? this.#path.slice(1) : this.#path, this.#origin.prefix)
    return { file: this.#origin.file, at, ...(line === undefined ? {} : { line }) }
  }
}

function isMap(value: unknown): value is Fields {
  return typeof value === 'object' && value !== null && !Array.isArray(value) && !(value instanceof Uint8Array)
}

function pathText(path: Path, prefix = ''): string {
  return path.reduce<string>((text, step) => {
    if (typeof step === 'number') return `${text}[${step}]`
    return text === '' ? step : `${text}.${step}`
  }, prefix)
}
