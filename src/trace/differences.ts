import { callLikeness, likenessOfArgs, longestRising } from './align.ts'
import { type LayerPair, isOrdered, type Placed } from './line-up.ts'
import { isAnyCall, type ArgsMatcher } from './matcher.ts'
import { pairCalls } from './pairing.ts'
import type { ExpectedCall, TraceCall } from './types.ts'

/** One way in which a run differs from its baseline. */
export interface TraceDifference {
  /**
   * `missing`: expected and not made. `extra`: made and not expected. `arguments`: the tool was called, with other
   * arguments. `moved`: the call was made at another place in the order. `renamed`: another tool was called with
   * like arguments in its place.
   */
  readonly kind: 'missing' | 'extra' | 'arguments' | 'moved' | 'renamed'
  readonly expected?: ExpectedCall
  readonly actual?: TraceCall
  /**
   * 0-based: the expected call's layer; the actual call's when nothing was expected. Under `sequence` every call is a
   * layer: then this counts calls.
   */
  readonly layer: number
  /** 0-based layer of the actual call, when there is one. */
  readonly actualLayer?: number
  /** Of a moved call: where it was made, seen from where it was expected. */
  readonly moved?: 'earlier' | 'later' | 'within its layer'
}

type Left = Placed<ExpectedCall>
type Right = Placed<TraceCall>

/** What a line-up says is different, first in causal order first. Empty exactly when the traces are equal. */
export function differencesOf(groups: readonly LayerPair[], matcher: ArgsMatcher): readonly TraceDifference[] {
  const found: { readonly at: number; readonly difference: TraceDifference }[] = []
  const missing = new Set(groups.flatMap((group) => group.missing))
  const extra = new Set(groups.flatMap((group) => group.extra))
  const report = (kind: TraceDifference['kind'], left: Left | undefined, right: Right | undefined): void => {
    if (left !== undefined) missing.delete(left)
    if (right !== undefined) extra.delete(right)
    const at = Math.min(left?.group ?? Infinity, right?.group ?? Infinity)
    found.push({ at, difference: differenceOf(kind, left, right) })
  }
  if (matcher.mode === 'strict') for (const [left, right] of outOfOrder(groups)) report('moved', left, right)
  if (isOrdered(matcher))
    for (const [left, right] of movedPairs([...missing], [...extra], matcher)) report('moved', left, right)
  for (const [left, right] of alike([...missing], [...extra], matcher)) report('arguments', left, right)
  // Where one side may have more calls than the other, a left-over call stands for nothing in particular.
  if (matcher.mode !== 'subset' && matcher.mode !== 'superset') {
    for (const [left, right] of renamedPairs([...missing], [...extra], matcher)) report('renamed', left, right)
  }
  if (matcher.mode !== 'subset') for (const left of missing) report('missing', left, undefined)
  if (matcher.mode !== 'superset') for (const right of extra) report('extra', undefined, right)
  return found
    .sort((a, b) => a.at - b.at || a.difference.layer - b.difference.layer)
    .map(({ difference }) => difference)
}

function differenceOf(
  kind: TraceDifference['kind'],
  left: Left | undefined,
  right: Right | undefined,
): TraceDifference {
  return {
    kind,
    ...(left === undefined ? {} : { expected: left.call }),
    ...(right === undefined ? {} : { actual: right.call }),
    layer: left?.layer ?? right?.layer ?? 0,
    ...(right === undefined ? {} : { actualLayer: right.layer }),
    ...(kind === 'moved' && left !== undefined && right !== undefined ? { moved: direction(left, right) } : {}),
  }
}

function direction(left: Left, right: Right): 'earlier' | 'later' | 'within its layer' {
  if (left.group === right.group) return 'within its layer'
  return right.group < left.group ? 'earlier' : 'later'
}

/** Calls of equal layers that arrived in another order: those outside the longest run that kept it. */
function outOfOrder(groups: readonly LayerPair[]): readonly (readonly [Left, Right])[] {
  return groups.flatMap(({ pairs }) => {
    const kept = new Set(longestRising(pairs, ({ actual }) => actual.position))
    return pairs.filter((pair) => !kept.has(pair)).map(({ expected, actual }) => [expected, actual] as const)
  })
}

function movedPairs(
  missing: readonly Left[],
  extra: readonly Right[],
  matcher: ArgsMatcher,
): readonly (readonly [Left, Right])[] {
  // A call anybody may make has not moved when some other one is left over.
  const named = missing.filter(({ call }) => !isAnyCall(call))
  const { pairs } = pairCalls(
    named.map(({ call }) => call),
    extra.map(({ call }) => call),
    matcher,
  )
  return pairs.map(([left, right]) => [named[left] as Left, extra[right] as Right])
}

/** Left-over calls of the same tool, most alike first; those side by side before all others. */
function alike(
  missing: readonly Left[],
  extra: readonly Right[],
  matcher: ArgsMatcher,
): readonly (readonly [Left, Right])[] {
  const candidates: { readonly left: Left; readonly right: Right; readonly likeness: number }[] = []
  const byName = Map.groupBy(extra, ({ call }) => call.name)
  for (const left of missing) {
    for (const right of (byName.get(left.call.name) ?? []).slice(0, 200)) {
      const sideBySide = left.group === right.group ? 2 : 0
      candidates.push({ left, right, likeness: callLikeness(left.call, right.call, matcher) + sideBySide })
    }
  }
  return pickBest(candidates)
}

/** Left-over calls side by side whose arguments are like enough to be the same call under another name. */
function renamedPairs(
  missing: readonly Left[],
  extra: readonly Right[],
  matcher: ArgsMatcher,
): readonly (readonly [Left, Right])[] {
  const placeOf = (placed: Left | Right): number => (isOrdered(matcher) ? placed.group : placed.layer)
  const byPlace = Map.groupBy(extra, placeOf)
  const candidates = missing
    .filter(({ call }) => call.args !== '*')
    .flatMap((left) => (byPlace.get(placeOf(left)) ?? []).map((right) => ({ left, right })))
    .map(({ left, right }) => ({ left, right, likeness: likenessOfArgs(left.call, right.call) }))
  return pickBest(candidates.filter(({ likeness }) => likeness >= 0.5))
}

function pickBest<P extends { readonly left: Left; readonly right: Right; readonly likeness: number }>(
  candidates: readonly P[],
): readonly (readonly [Left, Right])[] {
  const used = new Set<unknown>()
  const picked: (readonly [Left, Right])[] = []
  for (const { left, right } of [...candidates].sort((a, b) => b.likeness - a.likeness)) {
    if (used.has(left) || used.has(right)) continue
    used.add(left).add(right)
    picked.push([left, right])
  }
  return picked
}
