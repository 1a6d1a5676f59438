import type { Json } from '../tape/types.ts'
import { asItem, type BaselineItem, parseBaseline, readItems, renderFor } from './baseline.ts'
import { compareTraces } from './compare.ts'
import { differencesOf } from './differences.ts'
import { type LayerPair, lineUp, type Placed } from './line-up.ts'
import { parseCall } from './call-text.ts'
import { createMatcher, type ArgsMatcher } from './matcher.ts'
import { runFor } from './sequence.ts'
import { renderLike } from './texts.ts'
import type { ExpectedCall, MatchOptions, Trace, TraceCall } from './types.ts'

/**
 * The baseline after an update: what still stands for a call of the run is kept word for word, so hand-written
 * wildcards survive; everything else is written again. A baseline the run already equals is returned as it is.
 *
 * Under `superset` calls beyond the expected ones are not added; under `subset` expected calls that were not made
 * stay allowed. Under `sequence` lists in the old one, which mean nothing there, are not written again.
 *
 * @param before - the list of the case file, as data
 * @param exactly - tools whose calls are written with all arguments, but where a line takes any
 * @returns a baseline the run equals under these options
 * @throws HarvestError `HARVEST_BASELINE_…` when the previous baseline cannot be read
 */
export function mergeBaseline(
  before: Json,
  actual: Trace,
  given: MatchOptions = {},
  exactly: readonly string[] = [],
): Json {
  const { previous, options } =
    exactly.length === 0 ? { previous: before, options: given } : spelledOut(before, given, exactly)
  const matcher = createMatcher(options)
  const expected = parseBaseline(previous)
  if (compareTraces(expected, actual, options).equal) return previous
  const groups = lineUp(expected, actual, matcher)
  const items = itemsFor(matcher, readItems(previous))
  const written = writtenTexts(groups, matcher, ({ layer, position }) => items[layer]?.texts[position] ?? '')
  switch (matcher.mode) {
    case 'superset':
    case 'subset':
      return limited(items, groups, written, matcher)
    case 'causal':
    case 'strict':
    case 'sequence':
    case 'unordered': {
      const kept = new Map(
        groups.filter(isUntouched).map((group) => [group.actualLayer, items[group.expectedLayer ?? -1]?.item]),
      )
      return runFor(matcher, actual).layers.map(
        (layer, index) =>
          kept.get(index) ??
          asItem(
            layer.map((call) => written.get(call) ?? renderFor(call, matcher)),
            matcher,
          ),
      )
    }
  }
}

/** Without lines that name only the keys of these tools, whose calls are to be written with values. */
function spelledOut(
  before: Json,
  given: MatchOptions,
  names: readonly string[],
): { readonly previous: Json; readonly options: MatchOptions } {
  const matcher = createMatcher(given)
  const isOpen = (text: string): boolean => {
    const { name, args } = parseCall(text)
    if (!names.includes(name) || args === '*') return false
    const rule = matcher.ruleFor(name)
    return rule.mode === 'keys' && rule.keys === undefined && Object.values(args).every((value) => value === undefined)
  }
  const open = new Set<string>()
  const previous = readItems(before).flatMap(({ item, texts }): Json[] => {
    const kept = texts.filter((text) => !isOpen(text))
    for (const text of texts) if (isOpen(text)) open.add(parseCall(text).name)
    return kept.length === texts.length ? [item] : kept.length === 0 ? [] : [asItem(kept, matcher)]
  })
  const rules = Object.fromEntries([...open].map((name) => [name, 'exact' as const]))
  return { previous, options: { ...given, tools: { ...given.tools, ...rules } } }
}

/** The items as a mode looks at them: under `sequence` one for each call. */
function itemsFor({ mode }: ArgsMatcher, items: readonly BaselineItem[]): readonly BaselineItem[] {
  if (mode !== 'sequence') return items
  return items.flatMap(({ texts, at }) =>
    texts.map((text, i) => ({ item: text, texts: [text], at: at.slice(i, i + 1) })),
  )
}

/** The text each call of the run gets in the new baseline, as far as the old one has something to say about it. */
function writtenTexts(
  groups: readonly LayerPair[],
  matcher: ArgsMatcher,
  textOf: (placed: Placed<ExpectedCall>) => string,
): ReadonlyMap<TraceCall, string> {
  const placedExpected = new Map(
    groups
      .flatMap(({ pairs, missing }) => [...pairs.map(({ expected }) => expected), ...missing])
      .map((one) => [one.call, one]),
  )
  const texts = new Map<TraceCall, string>()
  for (const { kind, expected, actual } of differencesOf(groups, matcher)) {
    if (expected === undefined || actual === undefined) continue
    const placed = placedExpected.get(expected)
    // A moved call is still the one expected; changed arguments keep what the baseline chose to spell out.
    if (kind === 'moved' && placed !== undefined) texts.set(actual, textOf(placed))
    if (kind === 'arguments') texts.set(actual, renderLike(expected, actual, matcher))
  }
  for (const { pairs } of groups) for (const { expected, actual } of pairs) texts.set(actual.call, textOf(expected))
  return texts
}

function isUntouched({ expectedLayer, missing, extra, pairs }: LayerPair): boolean {
  const isInOrder = pairs.every(({ expected, actual }) => expected.position === actual.position)
  return expectedLayer !== undefined && missing.length === 0 && extra.length === 0 && isInOrder
}

/** Under `superset` and `subset` the baseline is a list of demands, or of permissions: it is changed, not rebuilt. */
function limited(
  items: readonly BaselineItem[],
  [group]: readonly LayerPair[],
  written: ReadonlyMap<TraceCall, string>,
  matcher: ArgsMatcher,
): Json {
  if (group === undefined) return []
  const replaced = new Map<Placed<ExpectedCall>, string>()
  const used = new Set<TraceCall>()
  for (const { kind, expected, actual } of differencesOf([group], matcher)) {
    if (kind !== 'arguments' || expected === undefined || actual === undefined) continue
    const placed = group.missing.find(({ call }) => call === expected)
    if (placed === undefined) continue
    replaced.set(placed, written.get(actual) ?? renderFor(actual, matcher))
    used.add(actual)
  }
  const dropped = new Set(matcher.mode === 'subset' ? [] : group.missing)
  const placed = [...group.pairs.map(({ expected }) => expected), ...group.missing]
  const byPlace = new Map(placed.map((one) => [`${one.layer} ${one.position}`, one]))
  const kept = items.flatMap(({ item, texts }, layer): Json[] => {
    const next = texts.flatMap((text, position) => {
      const one = byPlace.get(`${layer} ${position}`)
      const replacement = one === undefined ? undefined : replaced.get(one)
      if (replacement !== undefined) return [replacement]
      return one !== undefined && dropped.has(one) ? [] : [text]
    })
    if (next.length === texts.length && next.every((text, i) => text === texts[i])) return [item]
    return next.length === 0 ? [] : [asItem(next, matcher)]
  })
  const added = matcher.mode === 'subset' ? group.extra.filter(({ call }) => !used.has(call)) : []
  return [...kept, ...added.map(({ call }) => renderFor(call, matcher))]
}
