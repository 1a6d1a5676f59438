// Over 300 lines: a case for each kind of value that encode-value.ts writes.
import { HarvestError } from '../errors/index.ts'
import { bytesOfClass } from './byte-classes.ts'
import { printable } from './errors.ts'
import type { Json } from './types.ts'

/**
 * The value `encodeValue` was given, see there for what it loses. Only own fields are set, never a prototype.
 *
 * @throws HarvestError `HARVEST_TAPE_VALUE` when the JSON has a `$type` this version does not know, or one that
 * makes no sense
 */
export function decodeValue(json: Json): unknown {
  return new Decoder(json).document()
}

type Fields = { readonly [key: string]: Json }

/** A value just made, still empty, and how to fill it: cycles lead back to it while it fills. */
interface Shell {
  readonly value: unknown
  readonly fill?: () => void
}

class Decoder {
  readonly #root: Json
  readonly #made = new Map<object, unknown>()
  readonly #waiting: (() => void)[] = []

  constructor(root: Json) {
    this.#root = root
  }

  document(): unknown {
    const root = this.#root
    const value = isTagged(root, 'deep') ? this.#value(root['value'] ?? null) : this.#value(root)
    for (let fill = this.#waiting.shift(); fill !== undefined; fill = this.#waiting.shift()) fill()
    return value
  }

  #value(json: Json): unknown {
    if (typeof json !== 'object' || json === null) return json
    if (isTagged(json, 'same')) return this.#find(json)
    if (isTagged(json, 'rest')) return this.#later(json)
    const { value, fill } = this.#start(json)
    fill?.()
    return value
  }

  /** Makes and remembers the value without looking at what it holds. */
  #start(json: object): Shell {
    const shell = Array.isArray(json) ? this.#list(json) : this.#shell(json as Fields)
    this.#made.set(json, shell.value)
    return shell
  }

  #later(json: Fields): unknown {
    const rest = isTagged(this.#root, 'deep') ? this.#root['rest'] : undefined
    const target = Array.isArray(rest) ? (rest as readonly Json[])[whole(json, 'at')] : undefined
    if (typeof target !== 'object' || target === null) throw senseless(json, 'it stands for a value that is not there')
    if (this.#made.has(target)) return this.#made.get(target)
    const { value, fill } = this.#start(target)
    if (fill !== undefined) this.#waiting.push(fill)
    return value
  }

  #find(json: Fields): unknown {
    const target = follow(this.#root, text(json, 'at'))
    if (typeof target !== 'object' || target === null || !this.#made.has(target)) {
      throw senseless(json, 'it refers to nothing before it')
    }
    return this.#made.get(target)
  }

  #list(json: readonly Json[]): Shell {
    const value: unknown[] = []
    return { value, fill: () => json.forEach((item) => value.push(this.#value(item))) }
  }

  #shell(json: Fields): Shell {
    if (!Object.hasOwn(json, '$type')) return this.#object({}, json)
    switch (json['$type']) {
      case 'undefined':
      case 'unreadable':
        return { value: undefined }
      case 'number':
        return { value: Number(text(json, 'value')) }
      case 'bigint':
        return { value: sensible(json, () => BigInt(text(json, 'value'))) }
      case 'symbol':
        return { value: symbolOf(json) }
      case 'function':
        return { value: stubOf(text(json, 'name')) }
      case 'date':
        return { value: new Date(json['value'] === null ? Number.NaN : text(json, 'value')) }
      case 'regexp':
        return { value: regExpOf(json) }
      case 'url':
        return { value: sensible(json, () => new URL(text(json, 'value'))) }
      case 'search-params':
        return { value: new URLSearchParams(text(json, 'value')) }
      case 'headers':
        return { value: sensible(json, () => new Headers(list(json, 'entries') as [string, string][])) }
      case 'bytes':
        return { value: sensible(json, () => bytesOf(json)) }
      case 'boxed':
        return { value: Object(this.#value(json['value'] ?? null)) }
      case 'fielded':
        return this.#fieldedShell(json)
      case 'map':
        return this.#map(json)
      case 'set':
        return this.#set(json)
      case 'array':
        return this.#sparse(json)
      case 'error':
        return this.#error(json)
      case 'instance':
        return this.#object(named({}, json['class']), json['fields'])
      case 'object':
        return this.#object(json['prototype'] === null ? (Object.create(null) as object) : {}, json['fields'])
      case 'cut':
        throw leftOut(json)
      default:
        throw senseless(json, 'this version of vitest-harvest does not know it')
    }
  }

  #object(value: object, fields: Json | undefined): Shell {
    return { value, fill: () => this.#setFields(value, fields) }
  }

  #setFields(value: object, fields: Json | undefined): void {
    if (Array.isArray(fields)) {
      for (const pair of fields as readonly Json[]) setField(value, keyOf(pair), this.#value(at(pair, 1)))
    } else if (typeof fields === 'object' && fields !== null) {
      for (const [key, field] of Object.entries(fields as Fields)) setField(value, key, this.#value(field))
    }
  }

  #fieldedShell(json: Fields): Shell {
    const inner = json['value']
    if (typeof inner !== 'object' || inner === null) throw senseless(json, 'it has fields and no value')
    const { value, fill } = this.#start(inner)
    if (typeof value !== 'object' || value === null) throw senseless(json, 'its value can have no fields')
    return {
      value,
      fill: () => {
        fill?.()
        sensible(json, () => this.#setFields(value, json['fields']))
      },
    }
  }

  #map(json: Fields): Shell {
    const value = new Map<unknown, unknown>()
    const entries = list(json, 'entries')
    return {
      value,
      fill: () => entries.forEach((pair) => value.set(this.#value(at(pair, 0)), this.#value(at(pair, 1)))),
    }
  }

  #set(json: Fields): Shell {
    const value = new Set<unknown>()
    const values = list(json, 'values')
    return { value, fill: () => values.forEach((item) => value.add(this.#value(item))) }
  }

  #sparse(json: Fields): Shell {
    const length = whole(json, 'length')
    const value = sensible(json, () => new Array<unknown>(length))
    const items = list(json, 'items')
    return {
      value,
      fill: () => {
        for (const pair of items) setField(value, keyOf(pair), this.#value(at(pair, 1)))
        this.#setFields(value, json['fields'])
      },
    }
  }

  #error(json: Fields): Shell {
    const [className, name, message] = [text(json, 'class'), text(json, 'name'), text(json, 'message')]
    const value = errorOf(className, name, message)
    if (value.name !== name) hide(value, 'name', name)
    // The stack of a replay would show where the tape was decoded, and differ with every checkout.
    hide(value, 'stack', `${name}: ${message}`)
    named(value, className)
    return {
      value,
      fill: () => {
        this.#setFields(value, json['fields'])
        if (json['errors'] !== undefined) hide(value, 'errors', this.#value(json['errors']))
        if (json['cause'] !== undefined) hide(value, 'cause', this.#value(json['cause']))
      },
    }
  }
}

const errorClasses: readonly ErrorConstructor[] = [
  Error,
  TypeError,
  RangeError,
  SyntaxError,
  ReferenceError,
  EvalError,
  URIError,
]

function errorOf(className: string, name: string, message: string): Error {
  if (className === 'DOMException') return new DOMException(message, name)
  if (className === 'AggregateError') return new AggregateError([], message)
  const Class = errorClasses.find((known) => known.name === className) ?? Error
  return new Class(message)
}

function stubOf(name: string): () => never {
  const stub = (): never => {
    throw new HarvestError('HARVEST_TAPE_FUNCTION', {
      what: 'Cannot call a recorded function',
      where: { function: printable(name || '(anonymous)') },
      why: 'A tape is data: functions are recorded by name only.',
      fix: ["to run the code that creates it: mark the tool or retriever with replay: 'run'"],
    })
  }
  Object.defineProperty(stub, 'name', { value: name, configurable: true })
  return stub
}

function symbolOf(json: Fields): symbol {
  const { key, known, description } = json
  if (typeof key === 'string') return Symbol.for(key)
  if (typeof known === 'string' && Object.hasOwn(Symbol, known)) {
    const found: unknown = (Symbol as unknown as Record<string, unknown>)[known]
    if (typeof found === 'symbol') return found
  }
  return Symbol(typeof description === 'string' ? description : undefined)
}

function regExpOf(json: Fields): RegExp {
  const value = sensible(json, () => new RegExp(text(json, 'source'), text(json, 'flags')))
  if (typeof json['lastIndex'] === 'number') value.lastIndex = json['lastIndex']
  return value
}

function bytesOf(json: Fields): unknown {
  const made = bytesOfClass(text(json, 'class'), Buffer.from(text(json, 'base64'), 'base64'))
  if (made === undefined) throw senseless(json, `it holds bytes of a class ${text(json, 'class')}`)
  return made
}

/** Sets an own field regardless of its name: an assignment to `__proto__` would change the prototype. */
function setField(target: object, key: string, value: unknown): void {
  Object.defineProperty(target, key, { value, enumerable: true, configurable: true, writable: true })
}

function hide(target: object, key: string, value: unknown): void {
  Object.defineProperty(target, key, { value, enumerable: false, configurable: true, writable: true })
}

/** The name of the class a value had, for whoever has that class: hidden, for a tape gives back data alone. */
function named<T extends object>(value: T, className: Json | undefined): T {
  Object.defineProperty(value, Symbol.for('vitest-harvest/class'), { value: className, configurable: true })
  return value
}

function follow(root: Json, pointer: string): Json | undefined {
  let at: Json | undefined = root
  for (const step of pointer.split('/').slice(1)) {
    if (typeof at !== 'object' || at === null) return undefined
    const key = step.replaceAll('~1', '/').replaceAll('~0', '~')
    at = Object.hasOwn(at, key) ? (at as Fields)[key] : undefined
  }
  return at
}

function isTagged(json: Json, tag: string): json is Fields {
  return typeof json === 'object' && json !== null && Object.hasOwn(json, '$type') && (json as Fields)['$type'] === tag
}

function at(pair: Json, index: 0 | 1): Json {
  const item = Array.isArray(pair) ? (pair as readonly Json[])[index] : undefined
  if (item === undefined) throw senseless({ $type: 'pair' }, 'it is not a pair')
  return item
}

function keyOf(pair: Json): string {
  const key = at(pair, 0)
  if (typeof key !== 'string' && typeof key !== 'number') throw senseless({ $type: 'pair' }, 'its key is not text')
  return `${key}`
}

function whole(json: Fields, name: string): number {
  const value = json[name]
  if (!Number.isSafeInteger(value)) throw senseless(json, `its ${name} is not a whole number`)
  return value as number
}

function text(json: Fields, name: string): string {
  const value = json[name]
  if (typeof value !== 'string') throw senseless(json, `its ${name} is not text`)
  return value
}

function list(json: Fields, name: string): readonly Json[] {
  const value = json[name]
  if (!Array.isArray(value)) throw senseless(json, `its ${name} is not a list`)
  return value as readonly Json[]
}

function sensible<T>(json: Fields, make: () => T): T {
  try {
    return make()
  } catch (error) {
    if (HarvestError.is(error)) throw error
    throw senseless(json, (error as Error).message, error)
  }
}

function leftOut({ size }: Fields): HarvestError {
  return new HarvestError('HARVEST_BODY_CUT', {
    what: 'Cannot restore a value that was cut',
    where: { bytes: `${Number(size)}` },
    why: "It was above the recorder's cap.",
    fix: ['record the run again with a larger cap: createRecorder({ bodies: { maxMegabytes: … } })'],
  })
}

function senseless(json: Fields, why: string, cause?: unknown): HarvestError {
  return new HarvestError(
    'HARVEST_TAPE_VALUE',
    {
      what: 'Cannot restore a recorded value',
      where: {
        $type: printable(typeof json['$type'] === 'string' ? json['$type'] : JSON.stringify(json['$type'])),
        problem: printable(why),
      },
      why: 'The line was edited, damaged, or written by a newer version of this package.',
      fix: [
        "to see who changed the file: git log -p -- '<the tape>'",
        'if it is newer than this package: npm install --save-dev vitest-harvest@latest',
      ],
    },
    { cause },
  )
}
