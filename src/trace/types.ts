import type { Json } from '../tape/types.ts'

/** One tool call of a run, as it counts for comparison. */
export interface TraceCall {
  readonly name: string
  /** A map of arguments, or a list when they were positional, or a bare value. */
  readonly args: Json
  /** `n` of the event it was read from: the wrapped call, or the model exchange that asked for it. */
  readonly n: number
  readonly site?: string
}

/**
 * A run as tool calls with their causal order, in Foata form: each layer holds the calls whose longest chain of
 * causes is equally long. Calls of one layer are independent: their order means nothing.
 */
export interface Trace {
  readonly layers: readonly (readonly TraceCall[])[]
}

export type TraceMode = 'causal' | 'strict' | 'sequence' | 'unordered' | 'subset' | 'superset'
export const traceModes: readonly TraceMode[] = ['causal', 'strict', 'sequence', 'unordered', 'subset', 'superset']
export type ArgsMode = 'keys' | 'exact' | 'ignore' | 'subset' | 'superset'
export const argsModes: readonly ArgsMode[] = ['keys', 'exact', 'ignore', 'subset', 'superset']

/** How one tool's arguments are compared: a mode, the keys that count, or a function of your own. */
export type ArgsRule =
  | ArgsMode
  | { readonly args: ArgsMode | readonly string[] }
  | ((expected: Json, actual: Json) => boolean)

export interface MatchOptions {
  /** Default `causal`. */
  readonly trace?: TraceMode
  /** Default `keys`. */
  readonly args?: ArgsMode
  /** Per tool. */
  readonly tools?: Readonly<Record<string, ArgsRule>>
}

/**
 * One expected call: `lookup(*)` any arguments, `*` any one call, `lookup(order_id)` these keys,
 * and with values when the baseline was written with them.
 */
export interface ExpectedCall {
  readonly name: string
  /** `*`: anything. Otherwise key → expected value, or `undefined` when only the key counts. */
  readonly args: '*' | { readonly [key: string]: Json | undefined }
}

/** A baseline: layers of expected calls. */
export interface ExpectedTrace {
  readonly layers: readonly (readonly ExpectedCall[])[]
}
