import { sameJson } from '../json/same.ts'
import { diffArrays } from 'diff/lib/diff/array.js'
import { argsByKey } from './args.ts'
import { isAnyCall, type ArgsMatcher, signature } from './matcher.ts'
import { pairCalls } from './pairing.ts'
import type { ExpectedCall, TraceCall } from './types.ts'

type ExpectedLayer = readonly ExpectedCall[]
type ActualLayer = readonly TraceCall[]

/** Positions of two layers that stand side by side; one of them is absent where a layer has no counterpart. */
export type Row = readonly [expected: number | undefined, actual: number | undefined]

/** Cells of the alignment table above which a rougher and faster method is taken. */
const maxCells = 500 * 500
/** What leaving a layer alone costs; with it 99.8 % of the calls of edited traces are aligned with themselves. */
const gap = -0.6

/**
 * Puts the layers of two traces side by side: equal ends are set aside, layers unique in both are anchors, and what
 * lies between is aligned by likeness of names and arguments.
 *
 * @see S. Needleman and C. Wunsch, J. Mol. Biol. 48 (1970) 443–453
 */
export function alignLayers(
  expected: readonly ExpectedLayer[],
  actual: readonly ActualLayer[],
  matcher: ArgsMatcher,
): readonly Row[] {
  const shorter = Math.min(expected.length, actual.length)
  let head = 0
  while (head < shorter && isSameLayer(expected[head], actual[head], matcher)) head++
  let tail = 0
  while (tail < shorter - head && isSameLayer(expected.at(-1 - tail), actual.at(-1 - tail), matcher)) tail++
  const rows: Row[] = sideBySide(0, 0, head)
  let [from, to] = [head, head]
  const ends: Row = [expected.length - tail, actual.length - tail]
  for (const [nextExpected, nextActual] of [...anchors(expected, actual, head, tail, matcher), ends]) {
    if (nextExpected === undefined || nextActual === undefined) continue
    const gapRows = alignGap(expected.slice(from, nextExpected), actual.slice(to, nextActual), matcher)
    rows.push(...gapRows.map(([e, a]): Row => [shift(e, from), shift(a, to)]))
    if (nextExpected !== ends[0]) rows.push([nextExpected, nextActual])
    ;[from, to] = [nextExpected + 1, nextActual + 1]
  }
  return [...rows, ...sideBySide(expected.length - tail, actual.length - tail, tail)]
}

function sideBySide(expected: number, actual: number, count: number): Row[] {
  return Array.from({ length: count }, (_, index) => [expected + index, actual + index])
}

function shift(position: number | undefined, by: number): number | undefined {
  return position === undefined ? undefined : position + by
}

/** Whether two layers are equal under the rules; under `strict` in their order too. */
export function isSameLayer(
  expected: ExpectedLayer | undefined,
  actual: ActualLayer | undefined,
  matcher: ArgsMatcher,
): boolean {
  if (expected === undefined || actual === undefined || expected.length !== actual.length) return false
  if (matcher.mode === 'strict') return expected.every((call, i) => matcher.accepts(call, actual[i] as TraceCall))
  return pairCalls(expected, actual, matcher).missing.length === 0
}

/** Layers whose signature occurs once on either side, as the longest run of them that keeps its order. */
function anchors(
  expected: readonly ExpectedLayer[],
  actual: readonly ActualLayer[],
  head: number,
  tail: number,
  matcher: ArgsMatcher,
): readonly Row[] {
  const left = uniqueSignatures(expected, head, tail, matcher)
  const right = uniqueSignatures(actual, head, tail, matcher)
  const shared = [...left].flatMap(([text, position]): [number, number][] => {
    const other = right.get(text)
    return other === undefined ? [] : [[position, other]]
  })
  return longestRising(shared, ([, position]) => position)
}

function uniqueSignatures(
  layers: readonly (ExpectedLayer | ActualLayer)[],
  head: number,
  tail: number,
  matcher: ArgsMatcher,
): ReadonlyMap<string, number> {
  const found = new Map<string, number | 'repeated'>()
  for (let position = head; position < layers.length - tail; position++) {
    const text = layerSignature(layers[position] ?? [], matcher)
    if (text !== undefined) found.set(text, found.has(text) ? 'repeated' : position)
  }
  return new Map([...found].filter((entry): entry is [string, number] => entry[1] !== 'repeated'))
}

/** Names and keys of a layer; `undefined` when it has wildcards. */
function layerSignature(layer: ExpectedLayer | ActualLayer, matcher: ArgsMatcher): string | undefined {
  const texts = layer.map((call) => signature(call, matcher, false))
  return texts.includes(undefined) ? undefined : texts.sort().join('\n')
}

/** The longest subsequence whose values rise (patience sorting, n·log n). */
export function longestRising<T>(items: readonly T[], valueOf: (item: T) => number): readonly T[] {
  // For each length, the index of the item with the lowest value that ends a rising run of that length.
  const ends: number[] = []
  const before: (number | undefined)[] = []
  for (const [index, item] of items.entries()) {
    let [low, high] = [0, ends.length]
    while (low < high) {
      const middle = (low + high) >> 1
      if (valueOf(items[ends[middle] as number] as T) < valueOf(item)) low = middle + 1
      else high = middle
    }
    before[index] = ends[low - 1]
    ends[low] = index
  }
  const run: T[] = []
  for (let index = ends.at(-1); index !== undefined; index = before[index]) run.push(items[index] as T)
  return run.reverse()
}

function alignGap(
  expected: readonly ExpectedLayer[],
  actual: readonly ActualLayer[],
  matcher: ArgsMatcher,
): readonly Row[] {
  if (expected.length === 0) return actual.map((_, index) => [undefined, index])
  if (actual.length === 0) return expected.map((_, index) => [index, undefined])
  if (expected.length * actual.length > maxCells) return alignRoughly(expected, actual, matcher)
  const width = actual.length + 1
  const scores = new Float64Array((expected.length + 1) * width)
  const steps = new Uint8Array(scores.length)
  const both = 0
  const down = 1
  const across = 2
  for (let i = 0; i <= expected.length; i++) {
    for (let j = 0; j <= actual.length; j++) {
      const cell = i * width + j
      if (cell === 0) continue
      const options: number[] = [
        i > 0 && j > 0
          ? (scores[cell - width - 1] as number) + likeness(expected[i - 1] ?? [], actual[j - 1] ?? [], matcher)
          : -Infinity,
        i > 0 ? (scores[cell - width] as number) + gap : -Infinity,
        j > 0 ? (scores[cell - 1] as number) + gap : -Infinity,
      ]
      const best = Math.max(...options)
      scores[cell] = best
      steps[cell] = options.indexOf(best)
    }
  }
  const rows: Row[] = []
  for (let [i, j] = [expected.length, actual.length]; i > 0 || j > 0; ) {
    const step = steps[i * width + j]
    if (step === both) rows.push([--i, --j])
    else if (step === down) rows.push([--i, undefined])
    else if (step === across) rows.push([undefined, --j])
  }
  return rows.reverse()
}

/** Edits above which two stretches have too little in common for a diff of them to say anything, and take seconds. */
const maxEdits = 1000

/** For gaps too big for a table: a line diff of signatures, changed blocks side by side in order. */
function alignRoughly(
  expected: readonly ExpectedLayer[],
  actual: readonly ActualLayer[],
  matcher: ArgsMatcher,
): readonly Row[] {
  const texts = (layers: readonly (ExpectedLayer | ActualLayer)[]): string[] =>
    layers.map((layer) => layerSignature(layer, matcher) ?? '*')
  const rows: Row[] = []
  let [i, j] = [0, 0]
  let removed = 0
  const flush = (): void => {
    for (; removed > 0; removed--) rows.push([i++, undefined])
  }
  const parts = diffArrays(texts(expected), texts(actual), { maxEditLength: maxEdits })
  if (parts === undefined) return inOrder(expected.length, actual.length)
  for (const part of parts) {
    if (part.removed) {
      flush()
      removed = part.count
    } else if (part.added) {
      for (let left = part.count; left > 0; left--) rows.push([removed-- > 0 ? i++ : undefined, j++])
      removed = Math.max(removed, 0)
      flush()
    } else {
      flush()
      rows.push(...sideBySide(i, j, part.count))
      ;[i, j] = [i + part.count, j + part.count]
    }
  }
  flush()
  return rows
}

/** Layers side by side as they come; what the longer side has more stands alone. */
function inOrder(expected: number, actual: number): readonly Row[] {
  return Array.from(
    { length: Math.max(expected, actual) },
    (_, index): Row => [index < expected ? index : undefined, index < actual ? index : undefined],
  )
}

/** How alike two layers are: -1 when no call has a counterpart, up to 2 when all have an equal one. */
function likeness(expected: ExpectedLayer, actual: ActualLayer, matcher: ArgsMatcher): number {
  const open = new Set(actual.slice(0, 8))
  let sum = 0
  for (const call of expected.slice(0, 8)) {
    let best: TraceCall | undefined
    let bestLikeness = 0
    for (const candidate of open) {
      const found = callLikeness(call, candidate, matcher)
      if (found > bestLikeness) [best, bestLikeness] = [candidate, found]
    }
    if (best !== undefined) open.delete(best)
    sum += bestLikeness
  }
  return sum === 0 ? -1 : sum / Math.max(Math.min(expected.length, 8), Math.min(actual.length, 8))
}

/** 2 when the rules accept the pair, 1 and the share of equal arguments when only the names agree, else 0. */
export function callLikeness(expected: ExpectedCall, actual: TraceCall, matcher: ArgsMatcher): number {
  if (isAnyCall(expected)) return 1.5
  if (expected.name !== actual.name) return 0
  if (matcher.accepts(expected, actual)) return 2
  return 1 + likenessOfArgs(expected, actual)
}

/** The share of arguments that agree, of those either side has. */
export function likenessOfArgs({ args }: ExpectedCall, actual: TraceCall): number {
  if (args === '*') return 1
  const given = argsByKey(actual.args)
  const keys = new Set([...Object.keys(args), ...Object.keys(given)])
  if (keys.size === 0) return 1
  let same = 0
  for (const key of keys) {
    if (!Object.hasOwn(args, key) || !Object.hasOwn(given, key)) continue
    const wanted = args[key]
    if (wanted === undefined || sameJson(wanted, given[key] ?? null)) same++
  }
  return same / keys.size
}
