import module from 'node:module'
import { fileURLToPath } from 'node:url'

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

/** From the first import of a package until it has loaded. */
interface Bracket {
  readonly roots: string[]
  readonly files: string[]
  readonly slots: readonly Slot[]
  pending: number
}

/**
 * What packages lay over `fetch` or `node:http` when they load. They load once in a process, while the modules of an agent
 * load for each case: an agent that imports a package which another one loaded gets the same over its `fetch` as if it had
 * loaded it. Who imports what, Node tells; what lies below, a slot decides, so that the parts of another agent stay out of it.
 */
export class PackageLayers {
  readonly #places: readonly Place[]
  /** All files of packages that loaded, with those they import. */
  readonly #imports = new Map<string, Set<string>>()
  readonly #layers: Layer[] = []
  /** Whether any package laid something over anything: hardly one does. */
  #isNeeded = false
  #bracket: Bracket | undefined

  constructor(places: readonly Place[]) {
    this.#places = places
  }

  /**
   * To be called before the modules of an agent load.
   *
   * @param bottom - what lies at the places without any agent
   * @returns to be called when they have loaded: the places where it is unknown whether this agent has what lay there
   */
  open(bottom: readonly unknown[]): () => ReadonlySet<number> {
    const laid = new Set<Layer>()
    const reached = new Set<string>()
    for (const { slot, at, isLaid } of this.#layers) if (isLaid) slot.below = bottom[at]
    const hooks = module.registerHooks({
      resolve: (specifier, context, next) => {
        const found = next(specifier, context)
        if (!found.url.startsWith('file:')) return found
        const importer = this.#imports.get(context.parentURL ?? '')
        importer?.add(found.url)
        const isNew = !this.#imports.has(found.url)
        if (isNew) {
          this.#imports.set(found.url, new Set())
          this.#bracket?.files.push(found.url)
          if (importer === undefined) this.#load(found.url, context.conditions.includes('require'), laid)
        } else if (this.#isNeeded) {
          this.#reach(found.url, reached)
          for (const layer of this.#layers)
            if (!laid.has(layer) && layer.roots.every((root) => reached.has(root))) this.#layAgain(layer, laid)
        }
        return found
      },
    })
    return () => {
      hooks.deregister()
      const isOpen = (layer: Layer): boolean =>
        layer.isLaid && !laid.has(layer) && layer.files.some((file) => reached.has(file))
      return new Set(this.#layers.filter(isOpen).map(({ at }) => at))
    }
  }

  #reach(file: string, reached: Set<string>): void {
    if (reached.has(file)) return
    reached.add(file)
    for (const one of this.#imports.get(file) ?? []) this.#reach(one, reached)
  }

  /** Loads a package here, where its end is known: the import of the agent gets the same one, and its error. */
  #load(url: string, isRequired: boolean, laid: Set<Layer>): void {
    const bracket = (this.#bracket ??= this.#begin())
    bracket.pending++
    bracket.roots.push(url)
    bracket.files.push(url)
    const end = (): void => {
      if (--bracket.pending === 0) this.#end(bracket, laid)
    }
    if (!isRequired) return void import(url).then(end, end)
    try {
      module.createRequire(url)(fileURLToPath(url))
    } catch {
      // It is thrown again to whoever requires it.
    }
    end()
  }

  #begin(): Bracket {
    const slots = this.#places.map(([target, key]) => slotOver(Reflect.get(target, key)))
    for (const [at, slot] of slots.entries()) this.#put(at, slot.shown)
    return { roots: [], files: [], slots, pending: 0 }
  }

  #end({ roots, files, slots }: Bracket, laid: Set<Layer>): void {
    this.#bracket = undefined
    for (const [at, slot] of slots.entries()) {
      const [target, key] = this.#places[at] as Place
      const value: unknown = Reflect.get(target, key)
      const isLaid = value !== slot.shown
      if (isLaid) this.#isNeeded = true
      else this.#put(at, slot.below)
      const layer = { at, value, isLaid, slot, roots, files }
      this.#layers.push(layer)
      laid.add(layer)
    }
  }

  #layAgain(layer: Layer, laid: Set<Layer>): void {
    laid.add(layer)
    const [target, key] = this.#places[layer.at] as Place
    const slot = this.#bracket?.slots[layer.at]
    layer.slot.below = slot === undefined ? Reflect.get(target, key) : slot.below
    if (!layer.isLaid) return
    if (slot === undefined) this.#put(layer.at, layer.value)
    else slot.below = layer.value
  }

  #put(at: number, value: unknown): void {
    const [target, key] = this.#places[at] as Place
    const enumerable = Object.getOwnPropertyDescriptor(target, key)?.enumerable ?? true
    Object.defineProperty(target, key, { value, configurable: true, writable: true, enumerable })
  }
}

/** Shows the properties of what lies below. */
function slotOver(below: unknown): Slot {
  const call = function (this: unknown, ...args: unknown[]): unknown {
    return Reflect.apply(slot.below as () => unknown, this, args)
  }
  const shown = new Proxy(call, {
    get: (_, name) => (name === top ? slot.below : (Reflect.get(slot.below as object, name) as unknown)),
    set: (_, name, value) => Reflect.set(slot.below as object, name, value),
    has: (_, name) => name === top || Reflect.has(slot.below as object, name),
  })
  const slot: Slot = { below, shown }
  return slot
}
