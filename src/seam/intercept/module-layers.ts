import { callSites } from '../call-sites.ts'
import { builtinsChanged } from '../patch.ts'
import { type Caller, sharedOf } from '../source.ts'
import { type Place, showing, top } from './package-layers.ts'

/** Who says which modules may be an agent's, where none is loaded by name. */
export interface ModuleWatch {
  /**
   * Whether code lays something over a function for an agent, and not as a mock.
   *
   * @param files - the files of all code on the stack, the innermost first: paths or URLs
   * @param isInReplay - the code runs in a replay
   * @returns whether the test that runs at the time has it in its agent; `undefined` for a mock
   */
  layerBy(files: readonly string[], isInReplay: boolean): (() => boolean) | undefined
  /** Whether a mock is a server, or one that a set-up file puts up: an agent lays its own over that. */
  isServer(files: readonly string[]): boolean
}

/** What lies over one of the places. */
interface Layer {
  readonly value: unknown
  readonly isInUse: () => boolean
  readonly isMock: boolean
  isGone?: true
}

/**
 * One of the places, while tests that import agents themselves run. What reads it gets a level: it calls the uppermost layer
 * that was there by then and that the agent of the test has, so layers of modules that other tests loaded stay out of it.
 */
class HeededPlace {
  readonly #watch: ModuleWatch
  readonly #place: Place
  readonly #below: unknown
  readonly #means: LayerMeans
  #layers: Layer[] = []
  readonly #levels: object[] = []
  /** A mock of a test, over all of them. */
  #over: { readonly value: unknown } | undefined

  constructor(place: Place, watch: ModuleWatch, means: LayerMeans) {
    this.#place = place
    this.#watch = watch
    this.#means = means
    const [target, key] = place
    this.#below = Reflect.get(target, key)
  }

  /** Hears of it again after something was put there by other means than assigning. */
  install(): void {
    const [target, key] = this.#place
    const before = Object.getOwnPropertyDescriptor(target, key)
    if (this.#isOwn(before?.get)) return
    const value: unknown = Reflect.get(target, key)
    this.#over = this.#levelOf(value) === undefined ? { value } : undefined
    const get = (): unknown => (this.#over === undefined ? this.level : this.#over.value)
    const set = (next: unknown): void => void this.lay(next, callerFiles(set), true)
    places().set(get, this)
    ofReflect(target, key, { configurable: true, enumerable: before?.enumerable ?? true, get, set })
    builtinsChanged()
  }

  #isOwn(get: (() => unknown) | undefined): boolean {
    return get !== undefined && places().get(get) === this
  }

  /** The file is over whose code laid something. In a vm pool, what was laid since is of functions of another context. */
  close(): void {
    this.#layers = []
    if (isOfContext(this.#over?.value)) this.#over = undefined
  }

  /** What an agent calls now that reaches no mock of a test. */
  get level(): unknown {
    return this.#level(this.#layers.length)
  }

  #level(count: number): unknown {
    if (count === 0) return this.#below
    const known = this.#levels[count - 1]
    if (known !== undefined) return known
    const uppermost = (): unknown => {
      const layer = this.#layers.slice(0, count).findLast(({ isGone, isInUse }) => isGone !== true && isInUse())
      return layer === undefined ? this.#below : layer.value
    }
    const level = showing({
      get below() {
        return uppermost()
      },
    })
    this.#levels[count - 1] = level
    return level
  }

  #levelOf(value: unknown): number | undefined {
    if (value === this.#below) return 0
    const at = this.#levels.indexOf(value as object)
    return at === -1 ? undefined : at + 1
  }

  /**
   * Something is assigned, or defined as the value.
   *
   * @returns whether it lies there now; a mock of a test that is defined is left to be defined
   */
  lay(next: unknown, files: readonly string[], isAssigned: boolean): boolean {
    const { isKept, isInReplay, stand } = this.#means
    const level = this.#levelOf(next)
    // In a vm pool, code of a later file is not known to those who watch over this one.
    const isOurs = isOfContext(next) && !isKept(next)
    const isInUse = isOurs ? this.#watch.layerBy(files, isInReplay()) : undefined
    if (level !== undefined) {
      this.#over = undefined
      // A test takes its mocks away, and nothing of the agent's.
      for (const layer of this.#layers.slice(level))
        if (layer.isMock ? isInUse === undefined : isInUse !== undefined && layer.isInUse()) layer.isGone = true
      return true
    }
    const isOverMock = this.#over !== undefined && !isKept(this.#over.value)
    if (isInUse !== undefined && !isOverMock) return this.#push({ value: next, isInUse, isMock: false })
    if (isInUse === undefined && isOurs && !isOverMock && this.#watch.isServer(files))
      return this.#push({ value: stand(this.#place, next, this.level), isInUse: () => true, isMock: true })
    if (isAssigned) this.#over = { value: next }
    return isAssigned
  }

  #push(layer: Layer): true {
    this.#layers.push(layer)
    this.#over = undefined
    builtinsChanged()
    return true
  }

  /**
   * The property is defined.
   *
   * @returns whether that is done
   */
  define(attributes: PropertyDescriptor, files: readonly string[]): boolean {
    const { get } = attributes
    if ('value' in attributes) return this.#isOwn(this.#getter) && this.lay(attributes.value, files, false)
    if (!this.#isOwn(get)) return false
    // A mock that was defined gives back what it found.
    this.#over = undefined
    const mock = this.#layers.findLast(({ isMock, isGone }) => isMock && isGone !== true)
    if (mock !== undefined && this.#isOwn(this.#getter)) mock.isGone = true
    return false
  }

  get #getter(): (() => unknown) | undefined {
    const [target, key] = this.#place
    return Object.getOwnPropertyDescriptor(target, key)?.get
  }
}

function isOfContext(value: unknown): boolean {
  return typeof value === 'function' && value instanceof Function
}

/** What this needs of those who keep a replay on top. */
export interface LayerMeans {
  isKept(value: unknown): boolean
  isInReplay(): boolean
  /** Calls a mock outside of replays, and in a replay what lies below it. */
  stand(place: Place, mock: unknown, below: unknown): unknown
}

/** Contexts of a vm pool have a copy of this module each, and Node's modules in common. */
function places(): WeakMap<() => unknown, HeededPlace> {
  return sharedOf('intercept/heeded', () => new WeakMap())
}

const heeded = new Map<object, Map<string, HeededPlace>>()

/** Heeds what modules assign to the places from now on, or define there. May be called again. */
export function heed(all: readonly Place[], watch: ModuleWatch, means: LayerMeans): void {
  heedDefinitions()
  for (const place of all) {
    const [target, key] = place
    const keys = heeded.get(target) ?? new Map<string, HeededPlace>()
    heeded.set(target, keys)
    let known = keys.get(key)
    if (known === undefined) {
      const getter = Object.getOwnPropertyDescriptor(target, key)?.get
      if (getter !== undefined) places().get(getter)?.close()
      keys.set(key, (known = new HeededPlace(place, watch, means)))
    }
    known.install()
  }
}

/** Before their definitions are heeded. */
const { defineProperty: ofObject } = Object
const { defineProperty: ofReflect } = Reflect

let isHeeding = false

/** Packages that instrument others define what they lay. And what MSW defines over an accessor could not be assigned to. */
function heedDefinitions(): void {
  if (isHeeding) return
  isHeeding = true
  const attributesFor = (
    [target, key, attributes]: Parameters<typeof ofReflect>,
    by: Caller,
  ): PropertyDescriptor | undefined => {
    const place = heeded.get(target)?.get(key as string)
    if (place === undefined || typeof attributes !== 'object' || attributes === null) return attributes
    if (place.define(attributes, callerFiles(by))) return undefined
    return 'value' in attributes ? { writable: true, ...attributes } : attributes
  }
  const put = (holder: object, value: unknown): boolean =>
    ofReflect(holder, 'defineProperty', { value, configurable: true, writable: true, enumerable: false })
  put(Object, function defineProperty(...args: Parameters<typeof ofReflect>): object {
    const attributes = attributesFor(args, defineProperty)
    return attributes === undefined ? args[0] : ofObject(args[0], args[1], attributes)
  })
  put(Reflect, function defineProperty(...args: Parameters<typeof ofReflect>): boolean {
    const attributes = attributesFor(args, defineProperty)
    return attributes === undefined || ofReflect(args[0], args[1], attributes)
  })
}

/** What the modules of agents laid over one of the places until now, with all that lies below; `undefined`: nothing. */
export function levelOf(target: object, key: string): unknown {
  const level = heeded.get(target)?.get(key)?.level
  return typeof level === 'function' && top in level ? level : undefined
}

/** The files of all code that led to `caller`, the innermost first: paths or URLs. */
function callerFiles(caller: Caller): readonly string[] {
  return callSites(caller, 100).map((one) => one.getFileName() ?? one.getEvalOrigin() ?? 'node:')
}
