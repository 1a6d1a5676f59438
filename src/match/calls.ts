import { canonicalJson } from '../providers/index.ts'
import type { Json } from '../tape/index.ts'
import { presentArgs } from '../tape/present.ts'
import { closeness } from './difference.ts'
import type { CallState, ExchangeState } from './step.ts'

/** Which wrapped function was called. */
interface Called {
  readonly kind: CallState['event']['kind']
  readonly name: string
}

/** A named value that the agent reads more often than it did when it was recorded. */
export interface OftenRead {
  readonly name: string
  readonly recorded: number
  readonly read: number
  /** Where the first read too many was made. */
  readonly site: string | undefined
}

/** The serve key of wrapped functions: the recorded call of that name with these arguments. */
export class Calls {
  readonly #byName: ReadonlyMap<string, readonly CallState[]>
  readonly #byArgs: ReadonlyMap<string, CallState[]>
  readonly #tooOften = new Map<string, OftenRead>()
  readonly #inside: ReadonlyMap<number | undefined, readonly (ExchangeState | CallState)[]>

  constructor(steps: readonly (ExchangeState | CallState)[]) {
    const calls = steps.filter(isCall)
    this.#byName = Map.groupBy(calls, ({ event }) => keyOf(event))
    this.#byArgs = Map.groupBy(calls, ({ event }) => keyOf(event, event.args))
    this.#inside = Map.groupBy(steps, ({ event }) => event.in)
  }

  /** The first open call with the same arguments, in the same context if there is one; a value is asked for by name alone. */
  findSame(call: Called, args: Json, context?: Json): CallState | undefined {
    const steps = this.#byArgs.get(keyOf(call, args))
    while (steps?.[0]?.taken) steps.shift()
    const open = steps?.find((step) => !step.taken)
    if (context === undefined || open === undefined) return open
    return steps?.find((step) => !step.taken && isContextOf(step, context)) ?? open
  }

  /** The value of this name once more: as it was read last. `undefined` when it was never recorded. */
  findAgain(call: Called, site: string | undefined): CallState | undefined {
    if (call.kind !== 'value') return undefined
    const recorded = this.#all(call)
    const last = recorded.at(-1)
    if (last) {
      const before = this.#tooOften.get(call.name)
      this.#tooOften.set(call.name, {
        name: call.name,
        recorded: recorded.length,
        read: (before?.read ?? recorded.length) + 1,
        site: before?.site ?? site,
      })
    }
    return last
  }

  get tooOften(): readonly OftenRead[] {
    return [...this.#tooOften.values()]
  }

  /**
   * The open call that is asked for at this place with other arguments: all of that name which are due were asked the
   * same, and what is asked was not answered before, for then it would be that one once more.
   */
  findChanged(call: Called, args: Json, isDue: (step: CallState) => boolean): CallState | undefined {
    const key = keyOf(call, args)
    const all = this.#all(call)
    if (all.some((step) => step.taken && keyOf(step.event, step.event.args) === key)) return undefined
    return onlyOne(all.filter((step) => !step.taken && isDue(step)))
  }

  /** The open call whose arguments are like these, by the rule of whoever asks, if there is only one such question. */
  findLike(call: Called, isLike: (recorded: Json) => boolean): CallState | undefined {
    return onlyOne(this.#all(call).filter((step) => !step.taken && isLike(step.event.args)))
  }

  /** What the open calls of that name were asked. */
  *openArgs(call: Called): Generator<Json> {
    for (const { taken, event } of this.#all(call)) if (!taken) yield event.args
  }

  /** The call of that name most like this one, open ones first. */
  nearest(call: Called, args: Json): CallState | undefined {
    const open = this.#all(call).filter((step) => !step.taken)
    const text = JSON.stringify(args)
    const score = (step: CallState): number => closeness(JSON.stringify(step.event.args), text)
    return open
      .slice(0, 500)
      .reduce<CallState | undefined>((best, step) => (best && score(best) >= score(step) ? best : step), undefined)
  }

  /** Whether the recorded run ever called it. */
  isRecorded(call: Called): boolean {
    return this.#byName.has(keyOf(call))
  }

  /** What happened inside the call `n`. */
  inside(n: number): readonly (ExchangeState | CallState)[] {
    return this.#inside.get(n) ?? []
  }

  #all(call: Called): readonly CallState[] {
    return this.#byName.get(keyOf(call)) ?? []
  }
}

/** Whether a call was recorded in this context, or it is not known in which. */
function isContextOf({ event: { context } }: CallState, now: Json): boolean {
  return context === undefined || canonicalJson(presentArgs(context)) === canonicalJson(presentArgs(now))
}

/** The first of several calls that were asked the same. */
function onlyOne(steps: readonly CallState[]): CallState | undefined {
  const [first] = steps
  const key = first && keyOf(first.event, first.event.args)
  return steps.every(({ event }) => keyOf(event, event.args) === key) ? first : undefined
}

function isCall(step: ExchangeState | CallState): step is CallState {
  return step.event.kind !== 'exchange'
}

function keyOf({ kind, name }: Called, args?: Json): string {
  return JSON.stringify([kind, name, args === undefined || kind === 'value' ? '' : canonicalJson(presentArgs(args))])
}
