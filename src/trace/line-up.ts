import { alignLayers, isSameLayer } from './align.ts'
import type { ArgsMatcher } from './matcher.ts'
import { pairCalls } from './pairing.ts'
import { baselineFor, runFor } from './sequence.ts'
import type { ExpectedCall, ExpectedTrace, Trace, TraceCall } from './types.ts'

/** A call with its layer, its position there, and the group of the line-up it stands in. */
export interface Placed<Call> {
  readonly call: Call
  readonly layer: number
  readonly position: number
  readonly group: number
}

/** Two layers side by side: which calls stand for each other, and which are left over. */
export interface LayerPair {
  readonly expectedLayer: number | undefined
  readonly actualLayer: number | undefined
  readonly pairs: readonly { readonly expected: Placed<ExpectedCall>; readonly actual: Placed<TraceCall> }[]
  readonly missing: readonly Placed<ExpectedCall>[]
  readonly extra: readonly Placed<TraceCall>[]
}

/** Whether the order of layers counts in a mode. */
export function isOrdered({ mode }: ArgsMatcher): boolean {
  return mode === 'causal' || mode === 'strict' || mode === 'sequence'
}

/**
 * Lines two traces up: layer by layer where their order counts, and in one group with all calls where it does not.
 * No group with anything left over: the traces are equal (under `strict`, but for the order inside layers).
 */
export function lineUp(baseline: ExpectedTrace, run: Trace, matcher: ArgsMatcher): readonly LayerPair[] {
  const expected = baselineFor(matcher, baseline)
  const actual = runFor(matcher, run)
  if (!isOrdered(matcher)) return [pairAll(placeAll(expected.layers), placeAll(actual.layers), matcher)]
  return alignLayers(expected.layers, actual.layers, matcher).map(([expectedLayer, actualLayer], group) => {
    const left = place(expected.layers, expectedLayer, group)
    const right = place(actual.layers, actualLayer, group)
    const isExact = isSameLayer(
      left.map(({ call }) => call),
      right.map(({ call }) => call),
      matcher,
    )
    const pairs = left.flatMap((one, i) => (right[i] === undefined ? [] : { expected: one, actual: right[i] }))
    // Under `strict` equal layers pair in order; a maximum matching might pair equal calls crosswise.
    if (matcher.mode === 'strict' && isExact) return { expectedLayer, actualLayer, pairs, missing: [], extra: [] }
    return { ...pairAll(left, right, matcher), expectedLayer, actualLayer }
  })
}

function placeAll<Call>(layers: readonly (readonly Call[])[]): readonly Placed<Call>[] {
  return layers.flatMap((_, layer) => place(layers, layer, 0))
}

function place<Call>(
  layers: readonly (readonly Call[])[],
  layer: number | undefined,
  group: number,
): readonly Placed<Call>[] {
  return layer === undefined ? [] : (layers[layer] ?? []).map((call, position) => ({ call, layer, position, group }))
}

function pairAll(
  expected: readonly Placed<ExpectedCall>[],
  actual: readonly Placed<TraceCall>[],
  matcher: ArgsMatcher,
): LayerPair {
  const { pairs, missing, extra } = pairCalls(
    expected.map(({ call }) => call),
    actual.map(({ call }) => call),
    matcher,
  )
  return {
    expectedLayer: undefined,
    actualLayer: undefined,
    pairs: pairs.map(([e, a]) => ({
      expected: expected[e] as Placed<ExpectedCall>,
      actual: actual[a] as Placed<TraceCall>,
    })),
    missing: missing.map((index) => expected[index] as Placed<ExpectedCall>),
    extra: extra.map((index) => actual[index] as Placed<TraceCall>),
  }
}
