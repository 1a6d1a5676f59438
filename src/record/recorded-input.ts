import { encodeValue, type InputLeft, type Json } from '../tape/index.ts'

/** What a run was called with: an agent may work by what it makes of it. */
export class RecordedInput {
  /** As it was given. */
  readonly json: Json
  readonly #value: unknown
  readonly #held: HeldObjects | undefined

  constructor(value: unknown) {
    this.#value = value
    this.json = encodeValue(value)
    if (typeof value === 'object' && value !== null) this.#held = new HeldObjects(value)
  }

  /** The run is over. */
  end(): void {
    this.#held?.end()
  }

  /**
   * What the run made of it, once it is over: nothing of an input that no code can change, that another run may have changed, which
   * was under way beside it and has a part of it as well, or that has getters: a replay hands the agent what they gave.
   */
  left(): { readonly input?: InputLeft } {
    const held = this.#held
    held?.end()
    if (held === undefined || held.hasGetters || held.isChangedBeside) return {}
    const left = encodeValue(this.#value)
    return { input: JSON.stringify(left) === JSON.stringify(this.json) ? {} : { left } }
  }
}

/** Objects in the inputs of runs that are under way, and which runs those are. */
const holders = new WeakMap<object, Set<HeldObjects>>()
/** Of an input that holds more, the rest is not looked at. */
const mostObjects = 10_000

/** The objects in the input of a run that is under way. */
class HeldObjects {
  readonly #sets: Set<HeldObjects>[] = []
  /** Those that are in the input of another run as well, and how they were when both had begun. */
  readonly #shared = new Map<object, string>()
  readonly hasGetters: boolean = false

  constructor(input: object) {
    const seen = new Set([input])
    for (const one of seen) {
      const runs = holders.get(one) ?? new Set()
      holders.set(one, runs.add(this))
      this.#sets.push(runs)
      if (runs.size > 1) {
        // What is in it is a part of how it is.
        const now = textOf(one)
        for (const run of runs) if (!run.#shared.has(one)) run.#shared.set(one, now)
      } else if (seen.size < mostObjects) {
        const fields = fieldsOf(one)
        this.hasGetters ||= fields.some(({ get }) => get !== undefined)
        for (const part of partsOf(one, fields)) seen.add(part)
      }
    }
  }

  end(): void {
    for (const runs of this.#sets.splice(0)) runs.delete(this)
  }

  /** Whether another run may have changed a part of the input. */
  get isChangedBeside(): boolean {
    return [...this.#shared].some(([one, before]) => textOf(one) !== before)
  }
}

function textOf(value: object): string {
  return JSON.stringify(encodeValue(value))
}

function fieldsOf(value: object): readonly PropertyDescriptor[] {
  return Object.values(Object.getOwnPropertyDescriptors(value))
}

/** Without what getters would give. */
function partsOf(value: object, fields: readonly PropertyDescriptor[]): readonly object[] {
  const items: unknown[] = value instanceof Map ? [...value].flat() : value instanceof Set ? [...value] : []
  for (const { value: item } of fields) items.push(item)
  return items.filter((item): item is object => typeof item === 'object' && item !== null)
}
