import { EventEmitter } from 'node:events'
import { PassThrough } from 'node:stream'
import { Inflate } from 'node:zlib'

/**
 * How far an answer is read. `unread`: nothing asked for its body. `taken`: what hands it on did, and nothing behind that.
 * `part`: its reader stopped, and bytes were left. `paused`: it stopped and has all that came so far. `read`: it has all, or
 * asks for more.
 */
export type BodyUse = 'unread' | 'taken' | 'part' | 'paused' | 'read'

/** What is known of a body and its reader. */
interface Progress {
  readonly wasAsked: boolean
  /** The reader waits for more. */
  readonly isAsking: boolean
  /** Bytes came that it does not have. */
  readonly isLeft: boolean
  readonly isEnded: boolean
}

export function useOf({ wasAsked, isAsking, isLeft, isEnded }: Progress): Exclude<BodyUse, 'taken'> {
  if (isAsking) return 'read'
  if (!wasAsked) return 'unread'
  if (isLeft) return 'part'
  return isEnded ? 'read' : 'paused'
}

type Method = (this: object, ...args: unknown[]) => unknown

/** The body of an answer as Node and undici hand it out. */
interface Body {
  listenerCount(name: string): number
  readonly readableFlowing: boolean | null
  readonly readableLength: number
  readonly _readableState?: { readonly pipes?: readonly Partial<PassThrough>[] }
}

/** Where readers subscribe, in whichever way. */
const subscribing = ['on', 'addListener', 'prependListener'] as const
/** Of undici: they take all there is. */
const whole = ['text', 'json', 'blob', 'bytes', 'arrayBuffer', 'formData'] as const

/**
 * Hears how far a body is read: whether its bytes are handed to a listener, a pipe or who calls for them. What flows off with no
 * reader, by `resume()` or `dump()`, is not read.
 *
 * @param heard - called at once, and whenever that changes
 */
export function hearReading(body: object, heard: (how: BodyUse) => void): void {
  new Reading(body as Body, heard).look()
}

class Reading {
  readonly body: Body
  readonly #heard: (how: BodyUse) => void
  #last: BodyUse | undefined
  #wasAsked = false
  /** Who calls for pieces waits for one. */
  #isPending = false
  #takesAll = false
  #isDumped = false
  /** Bytes flowed off. */
  #isSpilt = false
  #isEnded = false
  /** The streams that hand the body on, and how far they are read. */
  readonly #behind = new Map<object, BodyUse>()
  /** Some of them since it was handed out. */
  #isTaken = false

  constructor(body: Body, heard: (how: BodyUse) => void) {
    this.body = body
    this.#heard = heard
    for (const name of subscribing)
      shadow(body, name, (real, args) => {
        const result = real()
        if (args[0] === 'data') this.look()
        return result
      })
    for (const name of whole)
      shadow(body, name, (real) => {
        this.#takesAll = true
        this.look()
        return real()
      })
    shadow(body, 'dump', (real) => {
      this.#isDumped = true
      return real()
    })
    shadow(body, 'read', (real, args) => this.#called(real, args[0]))
    shadow(body, 'emit', (real, args) => this.#emitted(real, args[0]))
    shadow(body, 'push', (real, args) => {
      if (args[0] === null) this.#isEnded = true
      const result = real()
      this.look()
      return result
    })
  }

  #called(real: () => unknown, size: unknown): unknown {
    const piece = real()
    // Node itself asks for nothing, and for what it hands to listeners.
    if (size === 0 || this.body.readableFlowing === true) return piece
    this.#wasAsked = true
    this.#isPending = piece === null
    this.look()
    return piece
  }

  #emitted(real: () => unknown, event: unknown): unknown {
    if (event === 'data' && this.body.readableFlowing === true) {
      if (this.#hasListener()) this.#wasAsked = true
      else if (this.#behind.size === 0) this.#isSpilt = true
    }
    const result = real()
    if (event === 'data' || event === 'pause' || event === 'resume') this.look()
    return result
  }

  /** Beside what pipes it on. */
  #hasListener(): boolean {
    const piping = piped(this.body).filter((to) => this.#behind.has(to)).length
    return !this.#isDumped && this.body.listenerCount('data') > piping
  }

  look(): void {
    const body = this.body
    for (const to of piped(body)) {
      const isFirst = this.#last === undefined
      if (this.#behind.has(to) || !(isFirst || handsOn(to))) continue
      this.#isTaken ||= !isFirst
      this.#behind.set(to, 'unread')
      hearReading(to, (how) => {
        this.#behind.set(to, how)
        this.look()
      })
    }
    const isAsking = this.#takesAll || this.#isPending || (body.readableFlowing === true && this.#hasListener())
    this.#wasAsked ||= isAsking
    const isLeft = this.#isSpilt || body.readableLength > 0
    const own = useOf({ wasAsked: this.#wasAsked, isAsking, isLeft, isEnded: this.#isEnded })
    const use = own === 'unread' ? this.#useBehind() : own
    if (use === this.#last) return
    this.#last = use
    this.#heard(use)
  }

  #useBehind(): BodyUse {
    const uses = [...this.#behind.values()]
    return uses.find((how) => how !== 'unread' && how !== 'taken') ?? (this.#isTaken ? 'taken' : 'unread')
  }
}

/** Puts a method before the one that a body has, as a method: who copies or lists an answer does not meet it. */
function shadow(body: object, name: string, heard: (real: () => unknown, args: readonly unknown[]) => unknown): void {
  const given = (body as Readonly<Record<string, unknown>>)[name]
  if (given === undefined) return
  const own = Object.hasOwn(body, name) ? (given as Method) : undefined
  const value: Method = function (...args) {
    // The one that its class has by now: it may have another class, or be patched, since.
    const method = own ?? (Reflect.get(Object.getPrototypeOf(this) as object, name, this) as Method)
    return heard(() => Reflect.apply(method, this, args), args)
  }
  Object.defineProperty(body, name, { value, configurable: true, writable: true })
}

/** The streams that it is piped through. */
function piped(body: Body): readonly Partial<PassThrough>[] {
  return body._readableState?.pipes?.filter((to) => '_transform' in to) ?? []
}

/** Whether it is one of Node's own, of which the bytes go on as they are or unpacked. One of the agent's may make anything of them. */
function handsOn({ _transform: method }: Partial<PassThrough>): boolean {
  return method === PassThrough.prototype._transform || method === Inflate.prototype._transform
}

/** Hears how far the body is read that undici hands out for a request. */
export function hearRequestRead(request: object, heard: (how: BodyUse) => void): void {
  // The second one from undici 8 on.
  for (const name of ['onHeaders', 'onResponseStart'])
    shadow(request, name, (real) => {
      let result: unknown
      hearMadeBody(() => (result = real()), heard)
      return result
    })
}

/** A client is given the head of an answer. */
interface Making {
  readonly heard: (how: BodyUse) => void
  reading?: Reading
  readonly outer: Making | undefined
}

let making: Making | undefined
const emitters = EventEmitter as unknown as { init: Method }
let { init } = emitters
const initHeard: Method = function (...args) {
  // What unpacks it is written to.
  if ('readableFlowing' in this && !('write' in this))
    for (let one = making; one; one = one.outer) one.reading ??= new Reading(this as Body, one.heard)
  return Reflect.apply(init, this, args)
}

/**
 * Hears how far the body is read that a client makes when it is given the head of an answer. Handlers of undici keep it, and what
 * one version or another puts around them, to themselves: it is known by being made then. Where none is, the handler gets the bytes.
 *
 * @param answer - gives it the head
 * @returns the last stream of the body, where one was made
 */
export function hearMadeBody(answer: () => void, heard: (how: BodyUse) => void): Body | undefined {
  const outer = making
  const now: Making = { heard, outer }
  making = now
  if (outer === undefined) {
    init = emitters.init
    emitters.init = initHeard
  }
  try {
    answer()
  } finally {
    making = outer
    if (outer === undefined) emitters.init = init
  }
  const { reading } = now
  if (reading === undefined) heard('read')
  reading?.look()
  return reading && lastOf(reading.body)
}

function lastOf(body: Body): Body {
  const [to] = piped(body)
  return to === undefined ? body : lastOf(to as Body)
}
