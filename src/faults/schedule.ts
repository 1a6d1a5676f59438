import type fc from 'fast-check'
import { stepsOf, type Tape } from '../tape/index.ts'
import { defaultFaults, kindNamed, kindsNamed } from './kinds.ts'
import { Subsets } from './subsets.ts'
import type { ArgumentRange, ArgumentRanges, Fault, FaultArgs, FaultKind, FaultSchedule } from './types.ts'

export interface ScheduleOptions {
  /** Families and single kinds. Default `http`, `tools` and `order`: what a sound agent lives through. */
  readonly faults?: readonly string[]
  /**
   * Shares of all possible faults that a schedule has; one of them is drawn per schedule. Default `[.02, .1, .5]`: the
   * dense ones find what needs several faults at once, the sparse ones what many faults would hide. They are meant for
   * six kinds per step, and are lower where there are more, so that a step has as many faults as there.
   */
  readonly densities?: readonly number[]
  /** Once no fault can be taken out, make the numbers in those that are left as small as they can be. Default false. */
  readonly smallest?: boolean
  /** Names of agents that can run instead, for `regression`. Default none. */
  readonly variants?: readonly string[]
}

/** One fault that can happen in a run, and the arguments it can have. */
export interface Possible {
  readonly step: number
  readonly kind: FaultKind
  readonly ranges: ArgumentRanges
}

const kindsPerStep = 6

/**
 * Draws what goes wrong in a run of this tape: any mixture of the faults that can happen to its steps.
 *
 * A failing schedule shrinks by delta debugging to one without any fault that is not needed. Schedules of an incident
 * shrink too: `fc.assert(property, { examples: [[schedule]] })`.
 *
 * @throws HarvestError `HARVEST_FAULT_KIND` for a name that is not known
 */
export function faultSchedule(tape: Tape, options: ScheduleOptions = {}): fc.Arbitrary<FaultSchedule> {
  const { faults = defaultFaults, densities = [0.02, 0.1, 0.5], smallest = false, variants = [] } = options
  const possible = possibleFaults(tape, kindsNamed(faults), variants)
  const steps = Math.max(1, stepsOf(tape).length)
  const scale = Math.min(1, (kindsPerStep * steps) / Math.max(1, possible.length))
  return new Subsets<Fault>({
    draw(random) {
      const density = (densities[random.nextInt(0, densities.length - 1)] ?? 0) * scale
      const drawn = possible.filter(() => random.nextInt(0, 999_999) < density * 1_000_000)
      // A run in which nothing goes wrong tells nothing.
      const one = drawn.length === 0 ? possible[random.nextInt(0, Math.max(0, possible.length - 1))] : undefined
      return (one === undefined ? drawn : [one]).map(({ step, kind, ranges }) => ({
        step,
        kind: kind.name,
        args: drawArgs(ranges, random),
      }))
    },
    isOne: (value): value is Fault => isFaultOf(tape, variants, value),
    ...(smallest ? { smaller: (fault, reached) => smallerFaults(tape, variants, fault, reached) } : {}),
  })
}

/** Every fault of these kinds that can happen to a step of this tape, in the order of its steps. */
export function possibleFaults(
  tape: Tape,
  kinds: readonly FaultKind[],
  variants: readonly string[] = [],
): readonly Possible[] {
  const numbers = [0, ...stepsOf(tape).map((_, i) => i + 1)]
  return numbers.flatMap((step) =>
    kinds.flatMap((kind) => {
      const ranges = rangesOf(tape, variants, step, kind)
      return ranges === undefined ? [] : [{ step, kind, ranges }]
    }),
  )
}

function rangesOf(
  tape: Tape,
  variants: readonly string[],
  number: number,
  kind: FaultKind,
): ArgumentRanges | undefined {
  if (kind.changes === 'run') return number === 0 ? kind.fits(tape, variants) : undefined
  const steps = stepsOf(tape)
  const step = steps[number - 1]
  // What happened inside a wrapped call is part of its answer: it is not asked for.
  return step === undefined || step.in !== undefined ? undefined : kind.fits({ tape, steps, step, number })
}

function drawArgs(ranges: ArgumentRanges, random: fc.Random): FaultArgs {
  return Object.fromEntries(Object.entries(ranges).map(([name, range]) => [name, drawOne(range, random)]))
}

function drawOne(range: ArgumentRange, random: fc.Random): number | string {
  if ('oneOf' in range) return range.oneOf[random.nextInt(0, range.oneOf.length - 1)] ?? range.oneOf[0]
  return random.nextInt(range.least, range.most)
}

/** Whether a value is a fault that can happen in this run. */
export function isFaultOf(tape: Tape, variants: readonly string[], value: unknown): value is Fault {
  if (typeof value !== 'object' || value === null) return false
  const { step, kind, args } = value as Partial<Fault>
  if (typeof step !== 'number' || typeof kind !== 'string' || typeof args !== 'object' || args === null) return false
  const ranges = rangesOf(tape, variants, step, kindNamed(kind))
  return ranges !== undefined && Object.entries(ranges).every(([name, range]) => isWithin(range, args[name]))
}

function isWithin(range: ArgumentRange, value: unknown): boolean {
  if ('oneOf' in range) return typeof value === 'string' && range.oneOf.includes(value)
  if (value === undefined && range.isOptional === true) return true
  return Number.isSafeInteger(value) && Number(value) >= range.least && Number(value) <= range.most
}

/** Which argument is being made smaller, and the largest value that is known to be too small. */
interface Reached {
  readonly name: string
  readonly tooSmall: number
}

function* smallerFaults(
  tape: Tape,
  variants: readonly string[],
  fault: Fault,
  reached: unknown,
): Generator<readonly [Fault, Reached]> {
  const ranges = rangesOf(tape, variants, fault.step, kindNamed(fault.kind)) ?? {}
  const numbers = Object.entries(ranges).flatMap(([name, range]) => ('oneOf' in range ? [] : [[name, range] as const]))
  const from = numbers.findIndex(([name]) => isReached(reached) && reached.name === name)
  for (const [i, [name, { least }]] of numbers.entries()) {
    if (i < from) continue
    const value = fault.args[name]
    if (typeof value !== 'number') continue
    const known = i === from && isReached(reached) ? reached.tooSmall : undefined
    for (const [smaller, tooSmall] of towards(least, value, known))
      yield [
        { ...fault, args: { ...fault.args, [name]: smaller } },
        { name, tooSmall },
      ]
  }
}

/** The least value, then by halves back up to the value below `value`. */
function* towards(
  least: number,
  value: number,
  known: number | undefined,
): Generator<readonly [smaller: number, tooSmall: number]> {
  let tooSmall = known ?? least
  if (known === undefined && value > least) yield [least, least]
  while (value - tooSmall > 1) {
    const middle = tooSmall + Math.floor((value - tooSmall) / 2)
    yield [middle, tooSmall]
    tooSmall = middle
  }
}

function isReached(value: unknown): value is Reached {
  return typeof value === 'object' && value !== null && 'tooSmall' in value
}
