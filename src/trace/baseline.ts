import { isList } from '../json/canonical.ts'
import { HarvestError } from '../errors/index.ts'
import type { Json } from '../tape/types.ts'
import { parseCall, renderCall } from './call-text.ts'
import { createMatcher, type ArgsMatcher } from './matcher.ts'
import { runFor } from './sequence.ts'
import type { ExpectedTrace, MatchOptions, Trace, TraceCall } from './types.ts'

/**
 * Reads a baseline: a list whose items are calls (`refund(amount, order_id)`), or lists of calls that are concurrent.
 *
 * @throws HarvestError `HARVEST_BASELINE_SHAPE` or `HARVEST_BASELINE_CALL`; `facts.where.at` says which item, and
 *   {@link baselinePath} gives it as numbers
 */
export function parseBaseline(baseline: Json): ExpectedTrace {
  return { layers: readItems(baseline).map(({ texts, at }) => texts.map((text, i) => parseCall(text, at[i]))) }
}

/** A layer of a baseline as it was written. */
export interface BaselineItem {
  readonly item: Json
  readonly texts: readonly string[]
  /** Where each text stands, such as `baseline[2][0]`. */
  readonly at: readonly string[]
}

/** The layers of a baseline as written, with their places. */
export function readItems(baseline: Json): readonly BaselineItem[] {
  if (!isList(baseline)) throw wrongShape('baseline', baseline, 'a list of calls; [] when none is expected')
  return baseline.map((item, index) => {
    const place = `baseline[${index}]`
    if (!isList(item)) return { item, texts: [textOf(item, place)], at: [place] }
    if (item.length === 0) throw wrongShape(place, item, 'a call, or a list of concurrent calls')
    return {
      item,
      texts: item.map((text, inner) => textOf(text, `${place}[${inner}]`)),
      at: item.map((_, inner) => `${place}[${inner}]`),
    }
  })
}

function textOf(item: Json, place: string): string {
  if (typeof item === 'string') return item
  throw wrongShape(place, item, 'a call as text')
}

function wrongShape(at: string, found: Json, wanted: string): HarvestError {
  return new HarvestError('HARVEST_BASELINE_SHAPE', {
    what: 'Invalid baseline: expected a list of calls',
    where: { at, found: shorten(JSON.stringify(found) ?? 'nothing'), wanted },
    why: 'YAML reads an unquoted  key: value  inside a call as a map.',
    fix: [`put the call in quotes: - 'search(query: "x", limit)'`],
  })
}

function shorten(text: string): string {
  return text.length > 80 ? `${text.slice(0, 79)}…` : text
}

/** Position in the baseline an error of this room is about: `[2, 0]` for `baseline[2][0]`; empty for the whole. */
export function baselinePath(error: HarvestError): readonly number[] {
  const place = error.facts.where?.['at'] ?? ''
  return /^baseline(\[\d+\])*$/.test(place) ? (place.match(/\d+/g) ?? []).map(Number) : []
}

/**
 * Writes a trace as a baseline that it equals under the options: a text for a single call, a list for concurrent
 * ones, sorted — in order of arrival under `strict`, where that order counts. Under `sequence` there are no lists.
 */
export function renderBaseline(trace: Trace, options: MatchOptions = {}): Json {
  const matcher = createMatcher(options)
  return runFor(matcher, trace).layers.map((layer) =>
    asItem(
      layer.map((call) => renderFor(call, matcher)),
      matcher,
    ),
  )
}

/** A layer's texts as an item of the baseline. */
export function asItem(texts: readonly string[], { mode }: ArgsMatcher): Json {
  const inOrder = mode === 'strict' ? texts : [...texts].sort()
  return inOrder.length === 1 ? (inOrder[0] as string) : inOrder
}

/** A call as the rules of its tool would have it written. */
export function renderFor(call: TraceCall, matcher: ArgsMatcher): string {
  const rule = matcher.ruleFor(call.name)
  return rule.mode === 'custom' ? renderCall(call, 'exact') : renderCall(call, rule.mode, rule.keys)
}
