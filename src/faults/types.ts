import type { Decision, ForkChange } from '../fork/index.ts'
import type { Step, Tape } from '../tape/index.ts'

/** One thing that goes wrong. Plain data: it can be written into a test, and handed back to be shrunk. */
export interface Fault {
  /** 1-based step whose answer is another one; 0: the run as a whole. */
  readonly step: number
  /** Name of a {@link FaultKind}, such as `http-429`. */
  readonly kind: string
  readonly args: FaultArgs
}

/** Whole numbers, and texts such as the path of a value. */
export type FaultArgs = { readonly [name: string]: number | string }

/** Faults that happen in one run. Taking one out leaves a schedule: that is how schedules shrink. */
export type FaultSchedule = readonly Fault[]

/** Kinds that are asked for together: `--faults http,values`. */
export type FaultFamily =
  | 'http'
  | 'tools'
  | 'values'
  | 'order'
  | 'messages'
  | 'clock'
  | 'version'
  | 'regression'
  | 'tracefork'

/** What an argument of a fault may be. Numbers shrink towards `least`; texts do not shrink. */
export type ArgumentRange =
  /** Optional: a schedule that someone wrote may leave it out, and it is the least then. */
  | { readonly least: number; readonly most: number; readonly isOptional?: true }
  | { readonly oneOf: readonly [string, ...string[]] }

export type ArgumentRanges = { readonly [name: string]: ArgumentRange }

/** Where a fault is to be made: one step, in the run it belongs to. */
export interface FaultSite {
  readonly tape: Tape
  readonly steps: readonly Step[]
  readonly step: Step
  /** 1-based. */
  readonly number: number
}

interface KindBase {
  readonly name: string
  readonly family: FaultFamily
  /** For people: what happens, without its arguments. */
  readonly about: string
  /** What an error holds that hands this very fault on: a status, a code, a name, or words of its message. */
  readonly tells?: readonly (string | number)[]
}

/** The answer to one step is another one. */
export interface AnswerKind extends KindBase {
  readonly changes: 'answer'
  /** The arguments it can have here; `undefined`: it cannot happen to this step. */
  fits(place: FaultSite): ArgumentRanges | undefined
  /**
   * `once`: the next time the same is asked for, the answer is the recorded one, as after a failure that passes.
   * `always`: it stays so.
   */
  readonly lasts: 'once' | 'always'
  /** The answer is a whole one all the same, only late or not as it was: it comes after all failures of its step. */
  readonly answers?: true
  rewrite(place: FaultSite, args: FaultArgs): Step
}

/** A model decides otherwise. */
export interface DecisionKind extends KindBase {
  readonly changes: 'decision'
  fits(place: FaultSite): ArgumentRanges | undefined
  decide(place: FaultSite, args: FaultArgs): Decision
}

/** The run as a whole is another one. */
export interface RunKind extends KindBase {
  readonly changes: 'run'
  fits(tape: Tape, variants: readonly string[]): ArgumentRanges | undefined
  plan(tape: Tape, args: FaultArgs): RunChange
}

export interface RunChange {
  readonly changes?: readonly ForkChange[]
  readonly clockOffsetMs?: number
  /** Name of the agent that runs instead. */
  readonly variant?: string
}

export type FaultKind = AnswerKind | DecisionKind | RunKind

/** The number an argument has, or `least` when it is missing. */
export function numberIn(args: FaultArgs, name: string, least = 0): number {
  const value = args[name]
  return typeof value === 'number' ? value : least
}

export function textIn(args: FaultArgs, name: string): string {
  const value = args[name]
  return typeof value === 'string' ? value : ''
}
