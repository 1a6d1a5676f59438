import module from 'node:module'
import { pathToFileURL } from 'node:url'
import { builtinsChanged } from '../patch.ts'
import { queueMicrotask } from '../source.ts'

/** Marks what stands in for what lies below it. */
export const top: unique symbol = Symbol.for('vitest-harvest/on-top@1') as never

export type Place = readonly [target: object, key: string, name: string]

/** Stands below what a package lays over it: what that calls is set for each agent. */
interface Slot {
  below: unknown
  readonly shown: object
}

/** What a package found at one of the places while it loaded, and may have kept, and what it laid over that. */
interface Layer {
  readonly at: number
  readonly value: unknown
  readonly isLaid: boolean
  readonly slot: Slot
  /** What was imported when it was laid, and all files that loaded for that. */
  readonly roots: readonly string[]
  readonly files: readonly string[]
}

/** From the first load of a file of a package until what was imported has loaded. */
interface Bracket {
  readonly roots: string[]
  readonly files: string[]
  readonly slots: readonly Slot[]
  pending: number
}

/** A call of `require`, until it returns. */
interface Call {
  readonly request: string
  url?: string
}

/** What packages lay over for one agent. */
export interface AgentLayers {
  /** The places where it is unknown whether this agent has what lay there. */
  unknown(): ReadonlySet<number>
  /** What loads from now on belongs to no agent. */
  close(): void
}

/** Called by the last line of what is imported. */
const ranKey = Symbol.for('vitest-harvest/ran@1')

/** What every `require` calls, also where Node asks no hook because it resolved the same before. */
const commonJs = module as unknown as {
  _load: (request: string, parent?: { readonly path?: string; readonly filename?: string }, isMain?: boolean) => unknown
}

/**
 * What packages lay over `fetch` or `node:http` when they load. They load once in a process, while the modules of an agent
 * load for each case: an agent that imports a package which another one loaded gets the same over its `fetch` as if it had
 * loaded it. Who imports what, Node tells; what lies below, a slot decides, so that the parts of another agent stay out of it.
 *
 * Nothing is loaded for that which does not load anyway: the path of a package is looked up as well where it never loads.
 */
export class PackageLayers {
  readonly #places: readonly Place[]
  /** All files of packages that loaded, with those they import. */
  readonly #imports = new Map<string, Set<string>>()
  /** What any of them imports. */
  readonly #imported = new Set<string>()
  /** What was required, by the folder it was required in and what was written there. */
  readonly #required = new Map<string, string>()
  #call: Call | undefined
  /** To be called for what loads, when it has run. */
  readonly #ends = new Map<string, () => void>()
  readonly #layers: Layer[] = []
  /** Whether any package laid something over anything: hardly one does. */
  #isNeeded = false
  #bracket: Bracket | undefined

  constructor(places: readonly Place[]) {
    this.#places = places
  }

  /**
   * To be called before the modules of an agent load. What it imports while it runs belongs to it as well.
   *
   * @param bottom - what lies at the places without any agent
   */
  open(bottom: readonly unknown[]): AgentLayers {
    // In a vm pool, which stands between, packages load for each file as the modules of agents do.
    if (module !== process.getBuiltinModule('node:module')) return noLayers
    const laid = new Set<Layer>()
    const reached = new Set<string>()
    for (const { slot, at, isLaid } of this.#layers) if (isLaid) slot.below = bottom[at]
    const hooks = module.registerHooks({
      resolve: (specifier, context, next) => {
        const found = next(specifier, context)
        if (context.conditions.includes('require')) {
          // Else it is a `require.resolve`.
          if (this.#call?.request !== specifier || this.#call.url !== undefined) return found
          this.#call.url = found.url
        }
        this.#note(found.url, context.parentURL, laid, reached)
        return found
      },
      load: (url, context, next) => {
        const loaded = next(url, context)
        if (!url.startsWith('file:') || this.#imports.has(url)) return loaded
        if (!this.#begins(url, context.importAttributes, laid)) return loaded
        return loaded.source && loaded.format?.startsWith('module')
          ? { ...loaded, source: withLastLine(loaded.source, url) }
          : loaded
      },
    })
    Object.assign(globalThis, { [ranKey]: (url: string) => this.#ended(url) })
    const unwrap = this.#wrapRequire((url, importer) => this.#note(url, importer, laid, reached))
    const isOpen = (layer: Layer): boolean =>
      layer.isLaid && !laid.has(layer) && layer.files.some((file) => reached.has(file))
    return {
      unknown: () => new Set(this.#layers.filter(isOpen).map(({ at }) => at)),
      close() {
        hooks.deregister()
        unwrap()
        Reflect.deleteProperty(globalThis, ranKey)
      },
    }
  }

  #wrapRequire(note: (url: string, importer: string | undefined) => void): () => void {
    const load = commonJs._load
    let isOver = false
    const over: typeof load = (request, parent, ...rest) => {
      if (isOver) return Reflect.apply(load, commonJs, [request, parent, ...rest])
      const outer = this.#call
      // Without a parent it is what an `import` of such a module calls, once it runs.
      const call: Call = parent === undefined ? { request, url: pathToFileURL(request).href } : { request }
      this.#call = call
      const place = `${parent?.path}\0${request}`
      try {
        return Reflect.apply(load, commonJs, [request, parent, ...rest])
      } finally {
        this.#call = outer
        const known = this.#required.get(place)
        if (call.url !== undefined) this.#required.set(place, call.url)
        else if (known !== undefined) note(known, parent?.filename && pathToFileURL(parent.filename).href)
        if (call.url !== undefined) this.#ended(call.url)
      }
    }
    commonJs._load = over
    return () => {
      isOver = true
      if (commonJs._load === over) commonJs._load = load
    }
  }

  /** A file is imported, or its path is asked for with `import.meta.resolve`, which Node does not tell apart. */
  #note(url: string, importer: string | undefined, laid: Set<Layer>, reached: Set<string>): void {
    if (!url.startsWith('file:')) return
    const imports = this.#imports.get(importer ?? '')
    if (imports !== undefined) {
      imports.add(url)
      this.#imported.add(url)
    }
    if (!this.#isNeeded || !this.#imports.has(url)) return
    this.#reach(url, reached)
    for (const layer of this.#layers)
      if (!laid.has(layer) && layer.roots.every((root) => reached.has(root))) this.#layAgain(layer, laid)
  }

  #reach(file: string, reached: Set<string>): void {
    if (reached.has(file)) return
    reached.add(file)
    for (const one of this.#imports.get(file) ?? []) this.#reach(one, reached)
  }

  /**
   * Node loads a file for the first time.
   *
   * @returns whether it is what was imported, and not a part of it
   */
  #begins(url: string, attributes: module.ImportAttributes | undefined, laid: Set<Layer>): boolean {
    this.#imports.set(url, new Set())
    const isPart = this.#bracket !== undefined && this.#imported.has(url)
    const bracket = (this.#bracket ??= this.#begin())
    bracket.files.push(url)
    if (isPart) return false
    bracket.pending++
    bracket.roots.push(url)
    this.#ends.set(url, () => {
      if (--bracket.pending === 0) this.#end(bracket, laid)
    })
    // What throws never comes to its last line. In a turn of its own, so that the module is waited for that Node is to make.
    const ended = (): void => this.#ended(url)
    queueMicrotask(() => {
      if (this.#ends.has(url))
        void import(url, { with: { ...(attributes as Record<string, string>) } }).then(ended, ended)
    })
    return true
  }

  #ended(url: string): void {
    const end = this.#ends.get(url)
    this.#ends.delete(url)
    end?.()
  }

  #begin(): Bracket {
    const slots = this.#places.map(([target, key]) => slotOver(Reflect.get(target, key)))
    for (const [at, slot] of slots.entries()) put(...this.#target(at), slot.shown)
    return { roots: [], files: [], slots, pending: 0 }
  }

  #end({ roots, files, slots }: Bracket, laid: Set<Layer>): void {
    this.#bracket = undefined
    for (const [at, slot] of slots.entries()) {
      const value: unknown = Reflect.get(...this.#target(at))
      const isLaid = value !== slot.shown
      if (isLaid) this.#isNeeded = true
      else put(...this.#target(at), slot.below)
      const layer = { at, value, isLaid, slot, roots, files }
      this.#layers.push(layer)
      laid.add(layer)
    }
  }

  #layAgain(layer: Layer, laid: Set<Layer>): void {
    laid.add(layer)
    const slot = this.#bracket?.slots[layer.at]
    layer.slot.below = slot === undefined ? Reflect.get(...this.#target(layer.at)) : slot.below
    if (!layer.isLaid) return
    if (slot === undefined) put(...this.#target(layer.at), layer.value)
    else slot.below = layer.value
  }

  #target(at: number): readonly [target: object, key: string] {
    const [target, key] = this.#places[at] as Place
    return [target, key]
  }
}

const noLayers: AgentLayers = { unknown: () => new Set(), close: () => undefined }

/** Puts something in the place of a function that agents call. */
export function put(target: object, key: string, value: unknown): void {
  const enumerable = Object.getOwnPropertyDescriptor(target, key)?.enumerable ?? true
  Object.defineProperty(target, key, { value, configurable: true, writable: true, enumerable })
  builtinsChanged()
}

function withLastLine(source: module.ModuleSource, url: string): string {
  const text = typeof source === 'string' ? source : Buffer.from(source as ArrayBuffer).toString()
  return `${text}\n;globalThis[Symbol.for('${ranKey.description}')]?.(${JSON.stringify(url)})\n`
}

/** Calls what lies below, as it is then. */
function slotOver(below: unknown): Slot {
  const slot: { below: unknown; shown: object } = { below, shown: {} }
  slot.shown = showing(slot)
  return slot
}

/** Calls what lies below something, as it is then, and shows its properties. */
export function showing(slot: { readonly below: unknown }): object {
  const call = function (this: unknown, ...args: unknown[]): unknown {
    return Reflect.apply(slot.below as () => unknown, this, args)
  }
  return new Proxy(call, {
    get: (_, name) => (name === top ? slot.below : (Reflect.get(slot.below as object, name) as unknown)),
    set: (_, name, value) => Reflect.set(slot.below as object, name, value),
    has: (_, name) => name === top || Reflect.has(slot.below as object, name),
  })
}
