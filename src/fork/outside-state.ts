import inspector from 'node:inspector'
import { types } from 'node:util'
import { ownFolder, ownFolderPath } from '../own-files.ts'
import { outsideRuns } from '../seam/source.ts'

/**
 * What is kept outside of an agent's modules, which load afresh for every run: each global, what is patched into built-ins,
 * and each environment variable, by its name. Values are texts to compare: they leave the process nowhere.
 */
export type OutsideState = ReadonlyMap<string, string>

/** Of the test runner and of this package, and not of what they run. */
const ofRunner = /^__(?:vitest|vite|coverage|msw)|vitest-harvest/i

/** Looks at what all runs of this process share. */
export function outsideState(): OutsideState {
  return outsideRuns(look)
}

function look(): OutsideState {
  using classes = new Classes()
  const state = new Map<string, string>()
  for (const [name, value] of Object.entries(process.env)) state.set(`process.env.${name}`, value ?? '')
  for (const key of Reflect.ownKeys(globalThis)) {
    const name = typeof key === 'string' ? `globalThis.${key}` : `globalThis[${String(key)}]`
    const found = Reflect.getOwnPropertyDescriptor(globalThis, key)
    if (found === undefined || ofRunner.test(String(key))) continue
    const { value } = found as { value?: unknown }
    // What packages and Node make of their classes is theirs, and often made when it is first needed.
    if (isItself(value) || classes.isForeign(value)) continue
    state.set(name, new Walk(classes).textOf(found))
    if (typeof value === 'function')
      for (const [at, text] of membersOf(value, String(key), classes)) state.set(at, text)
  }
  return state
}

/** Names of what is not as it was, sorted. */
export function changedOutside(before: OutsideState, after: OutsideState): readonly string[] {
  const names = new Set([...before.keys(), ...after.keys()])
  return [...names].filter((name) => before.get(name) !== after.get(name)).sort()
}

function isItself(value: unknown): boolean {
  return value === globalThis || value === process || value === console
}

/** What stands at a class or a function, and on its prototype; what packages and this one patch there is theirs. */
function membersOf(value: object, name: string, classes: Classes): readonly (readonly [string, string])[] {
  const prototype: unknown = Reflect.getOwnPropertyDescriptor(value, 'prototype')?.value
  const holders = [[value, name] as const, ...(isObject(prototype) ? [[prototype, `${name}.prototype`] as const] : [])]
  return holders.flatMap(([holder, at]) =>
    Reflect.ownKeys(holder).map((key) => {
      const member = Reflect.getOwnPropertyDescriptor(holder, key)
      return [typeof key === 'string' ? `${at}.${key}` : `${at}[${String(key)}]`, shallow(member, classes)] as const
    }),
  )
}

function shallow({ get, set, value }: PropertyDescriptor = {}, classes: Classes): string {
  const told = (one: unknown): string => {
    if (typeof one === 'function' && !classes.isOfProject(one)) return 'function'
    return isObject(one) ? 'object' : leaf(one)
  }
  return [get, set, value].map(told).join(' ')
}

/** A function by its text: loaded again, a module makes another one of the same text. */
function leaf(value: unknown): string {
  if (typeof value === 'function') return Function.prototype.toString.call(value)
  return typeof value === 'symbol' ? String(value) : `${typeof value} ${String(value)}`
}

function isObject(value: unknown): value is object {
  return typeof value === 'object' && value !== null
}

/** More of one global is not looked at. */
const mostValues = 20_000

/** One global with all that hangs on it, in the order in which it hangs there. */
class Walk {
  readonly #classes: Classes
  readonly #seen = new Map<object, number>()
  readonly #texts: string[] = []

  constructor(classes: Classes) {
    this.#classes = classes
  }

  textOf(member: PropertyDescriptor): string {
    this.#member(member)
    return JSON.stringify(this.#texts)
  }

  #member({ get, set, value }: PropertyDescriptor): void {
    this.#add(get)
    this.#add(set)
    this.#add(value)
  }

  #add(value: unknown): void {
    if (this.#texts.length >= mostValues) return
    if (!isObject(value)) return void this.#texts.push(leaf(value))
    // Looking at it runs the code of whoever made it.
    if (types.isProxy(value)) return void this.#texts.push('proxy')
    const known = this.#seen.get(value)
    if (known !== undefined) return void this.#texts.push(`seen ${known}`)
    this.#seen.set(value, this.#seen.size)
    if (value instanceof Map || value instanceof Set) {
      this.#texts.push(value.constructor.name)
      for (const [key, item] of value.entries()) {
        this.#add(key)
        this.#add(item)
      }
    }
    if (value instanceof Date) this.#texts.push(String(value.getTime()))
    if (this.#classes.isForeign(value)) return void this.#texts.push(leaf(classOf(value)))
    for (const key of Reflect.ownKeys(value)) {
      this.#texts.push(String(key))
      this.#member(Reflect.getOwnPropertyDescriptor(value, key) ?? {})
    }
    if (!isPlain(value)) for (const hidden of this.#classes.privatesOf(value)) this.#add(hidden)
  }
}

const plain: ReadonlySet<object> = new Set([
  Object.prototype,
  Array.prototype,
  Map.prototype,
  Set.prototype,
  Date.prototype,
])

function isPlain(value: object): boolean {
  const prototype = Reflect.getPrototypeOf(value)
  return prototype === null || plain.has(prototype)
}

function classOf(value: object): unknown {
  return Reflect.getPrototypeOf(value)?.constructor
}

/** Where a function is written never changes: what one look has asked V8, the next ones know. */
const known = new WeakMap<object, boolean>()

/** Only V8 knows in which file a class is written, and what its private fields hold. */
class Classes {
  #session: inspector.Session | undefined
  readonly #files = new Map<string, string>()

  /** Whether a value is of a class that a package or Node has made. */
  isForeign(value: unknown): boolean {
    return isObject(value) && !types.isProxy(value) && !isPlain(value) && !this.isOfProject(classOf(value))
  }

  /** Whether a function or a class is written in a file of the project. */
  isOfProject(constructor: unknown): boolean {
    if (typeof constructor !== 'function') return false
    const found = known.get(constructor) ?? (isNative(constructor) ? false : undefined)
    if (found !== undefined) return found
    const { internalProperties = [] } = this.#look(constructor)
    const at = internalProperties.find(({ name }) => name === '[[FunctionLocation]]')
    const { scriptId = '' } = (at?.value?.value ?? {}) as { readonly scriptId?: string }
    const file = this.#files.get(scriptId) ?? ''
    const isOurs = file.startsWith(ownFolderPath) || file.startsWith(ownFolder.href)
    const isOfProject = file !== '' && !isOurs && !/^node:|[\\/]node_modules[\\/]/.test(file)
    known.set(constructor, isOfProject)
    return isOfProject
  }

  privatesOf(value: object): readonly unknown[] {
    const { privateProperties = [] } = this.#look(value) as { readonly privateProperties?: readonly PrivateField[] }
    return privateProperties.map(({ name, value: held }) => [
      name,
      held?.objectId === undefined ? (held?.value ?? held?.description) : this.#objectOf(held.objectId),
    ])
  }

  #look(value: unknown): inspector.Runtime.GetPropertiesReturnType {
    const { result } = this.#withGlobal(value, () =>
      this.#ask<inspector.Runtime.EvaluateReturnType>('Runtime.evaluate', {
        expression: `globalThis[Symbol.for('${slot}')]`,
      }),
    )
    return this.#ask('Runtime.getProperties', { objectId: result.objectId, ownProperties: true })
  }

  #objectOf(objectId: string): unknown {
    const held: { value?: unknown } = {}
    this.#withGlobal(held, () =>
      this.#ask('Runtime.callFunctionOn', {
        objectId,
        functionDeclaration: `function () { globalThis[Symbol.for('${slot}')].value = this }`,
      }),
    )
    return held.value
  }

  #withGlobal<T>(value: unknown, work: () => T): T {
    Reflect.set(globalThis, Symbol.for(slot), value)
    try {
      return work()
    } finally {
      Reflect.deleteProperty(globalThis, Symbol.for(slot))
    }
  }

  /** Answers of a session of this process come before `post` returns. */
  #ask<T>(method: string, params?: object): T {
    let answer: T | undefined
    const session = this.#session ?? this.#open()
    session.post(method, params, (error, result) => {
      if (error !== null) throw error
      answer = result as T
    })
    return answer as T
  }

  #open(): inspector.Session {
    const session = new inspector.Session()
    this.#session = session
    session.connect()
    session.on('Debugger.scriptParsed', ({ params: { scriptId, url } }) => this.#files.set(scriptId, url))
    session.post('Debugger.enable')
    return session
  }

  [Symbol.dispose](): void {
    this.#session?.disconnect()
  }
}

function isNative(constructor: unknown): boolean {
  return leaf(constructor).endsWith('{ [native code] }')
}

const slot = 'vitest-harvest/looked-at@1'

interface PrivateField {
  readonly name: string
  readonly value?: { readonly objectId?: string; readonly value?: unknown; readonly description?: string }
}
