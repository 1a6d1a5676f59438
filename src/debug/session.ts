import { HarvestError } from '../errors/index.ts'
import { canonicalJson, isMap } from '../json/canonical.ts'
import type { RunPosition } from '../rules/index.ts'
import type { Json, Tape } from '../tape/index.ts'
import { positionsOf } from '../trace/index.ts'
import { type ContextDifference, Contexts } from './context.ts'
import { type InspectedStep, inspectStep } from './inspect.ts'
import { locateValue, type ValuePlace } from './locate.ts'
import { stepsWhere } from './rules.ts'
import { type DebugStep, debugSteps } from './steps.ts'

/** A rule to stop at. */
export interface Breakpoint {
  readonly id: number
  readonly rule: string
  /** Numbers of the steps where it holds, ascending. */
  readonly hits: readonly number[]
}

/** Where a run of moves stopped. */
export interface BreakpointHit {
  readonly step: number
  readonly breakpoint: Breakpoint
}

/** Two steps, side by side. */
export interface StepComparison {
  readonly from: number
  readonly to: number
  readonly context?: ContextDifference
  /** Paths of arguments, result and state that differ. */
  readonly values: readonly ValueDifference[]
}

export interface ValueDifference {
  readonly of: 'args' | 'result' | 'state'
  /** `messages/2/content`; empty: the value itself. */
  readonly path: string
  /** Absent: it was not there. */
  readonly before?: Json
  /** Absent: it is not there any more. */
  readonly after?: Json
}

/** A cursor over the steps of a tape. Nothing runs: what is asked is read from the tape. */
export class DebugSession {
  readonly tape: Tape
  readonly rules: readonly string[]
  readonly steps: readonly DebugStep[]
  readonly #contexts: Contexts
  readonly #breakpoints = new Map<number, Breakpoint>()
  #moments: readonly RunPosition[] | undefined
  #lastId = 0
  #at: number

  /** @param rules - of the case of the tape. Default none */
  constructor(tape: Tape, rules: readonly string[] = []) {
    this.tape = tape
    this.rules = rules
    this.steps = debugSteps(tape)
    this.#contexts = new Contexts(this.steps, tape.header.input)
    this.#at = Math.min(1, this.steps.length)
  }

  /** Number of the step where we are; 0 in a run without steps. */
  get at(): number {
    return this.#at
  }

  get breakpoints(): readonly Breakpoint[] {
    return [...this.#breakpoints.values()]
  }

  /** The run as rules see it. Read once: of a long run it takes longer than a rule. */
  get moments(): readonly RunPosition[] {
    return (this.#moments ??= positionsOf(this.tape))
  }

  /** @throws HarvestError `HARVEST_DEBUG_STEP` when there is no such step */
  step(number = this.#at): DebugStep {
    const step = this.steps[number - 1]
    if (step === undefined) throw noSuchStep(number, this.steps.length)
    return step
  }

  /** @throws HarvestError as {@link step} */
  goto(number: number): DebugStep {
    const step = this.step(number)
    this.#at = number
    return step
  }

  /** The steps where a rule holds, ascending. */
  find(rule: string): readonly number[] {
    return stepsWhere(rule, this)
  }

  /** @throws HarvestError `HARVEST_RULE_…` when it is no rule */
  break(rule: string): Breakpoint {
    const hits = this.find(rule)
    const breakpoint = { id: ++this.#lastId, rule, hits }
    this.#breakpoints.set(breakpoint.id, breakpoint)
    return breakpoint
  }

  /** Whether there was one. */
  delete(id: number): boolean {
    return this.#breakpoints.delete(id)
  }

  /** Goes on to the next step, or back to the one before, where a breakpoint holds; stays where it is without one. */
  run(direction: 1 | -1): BreakpointHit | undefined {
    let best: BreakpointHit | undefined
    for (const breakpoint of this.#breakpoints.values()) {
      const step =
        direction === 1
          ? breakpoint.hits.find((hit) => hit > this.#at)
          : breakpoint.hits.findLast((hit) => hit < this.#at)
      if (step !== undefined && (best === undefined || (step - best.step) * direction < 0)) best = { step, breakpoint }
    }
    if (best !== undefined) this.#at = best.step
    return best
  }

  inspect(number = this.#at): InspectedStep {
    this.step(number)
    return inspectStep(this.tape, this.steps, number, this.#contexts.at(number))
  }

  /** Every place that holds a value, in order: the first is where it appeared. */
  locate(value: Json): readonly ValuePlace[] {
    return locateValue(value, this.tape, this.steps, this.#contexts)
  }

  diff(from: number, to: number): StepComparison {
    const [one, other] = [this.inspect(from), this.inspect(to)]
    const context = this.#contexts.between(from, to)
    const state = ({ state: list }: InspectedStep): Json =>
      Object.fromEntries(list.map(({ name, data }) => [name, data] as const))
    return {
      from,
      to,
      ...(context === undefined ? {} : { context }),
      values: [
        ...differences('args', one.args, other.args),
        ...differences('result', one.result, other.result),
        ...differences('state', state(one), state(other)),
      ],
    }
  }
}

function noSuchStep(number: number, count: number): HarvestError {
  const held = count === 0 ? 'no steps' : count === 1 ? '1 step' : `1 to ${count}`
  return new HarvestError('HARVEST_DEBUG_STEP', {
    what: `there is no step ${number}: this tape has ${held}`,
    fix: ['to see them: steps'],
  })
}

/** Where two values differ, the deepest paths. Both absent, or equal: nowhere. */
export function differences(
  of: ValueDifference['of'],
  before: Json | undefined,
  after: Json | undefined,
  path = '',
): readonly ValueDifference[] {
  if (before === undefined && after === undefined) return []
  if (before !== undefined && after !== undefined) {
    if (canonicalJson(before) === canonicalJson(after)) return []
    const [one, other] = [membersOf(before), membersOf(after)]
    if (one !== undefined && other !== undefined && Array.isArray(before) === Array.isArray(after))
      return [...new Set([...one.keys(), ...other.keys()])].flatMap((key) =>
        differences(of, one.get(key), other.get(key), path === '' ? key : `${path}/${key}`),
      )
  }
  return [{ of, path, ...(before === undefined ? {} : { before }), ...(after === undefined ? {} : { after }) }]
}

function membersOf(value: Json): ReadonlyMap<string, Json> | undefined {
  if (Array.isArray(value)) return new Map((value as readonly Json[]).map((one, index) => [`${index}`, one]))
  return isMap(value) ? new Map(Object.entries(value)) : undefined
}
