import { describeArguments } from './argument-differences.ts'
import { renderFor } from './baseline.ts'
import { renderExpected } from './call-text.ts'
import type { TraceDifference } from './differences.ts'
import { type LayerPair, isOrdered } from './line-up.ts'
import type { ArgsMatcher } from './matcher.ts'
import { type Line, linesOf } from './texts.ts'

/** Differences reported one by one; the rest is counted. */
const maxDifferences = 8
/** Lines of the traces laid over each other. */
const maxLines = 32
/** Calls shown around a difference. */
const around = 2

/** What differs, for people: how much, the first difference first, then the calls around the differences. */
export function renderReport(
  groups: readonly LayerPair[],
  differences: readonly TraceDifference[],
  matcher: ArgsMatcher,
): string {
  if (differences.length === 0) return "The run's calls are those of the baseline."
  const told = differences.slice(0, maxDifferences)
  const untold = differences.length - told.length
  const paragraphs = [
    `The run's calls differ from the baseline: ${count(differences)}.`,
    [
      ...told.flatMap((difference) => describe(difference, matcher)),
      ...(untold > 0 ? [`  … and ${untold} more`] : []),
    ].join('\n'),
    overlay(groups, matcher).join('\n'),
  ]
  return paragraphs.join('\n\n')
}

const kinds = ['missing', 'extra', 'moved', 'arguments', 'renamed'] as const

function count(differences: readonly TraceDifference[]): string {
  return kinds
    .map((kind) => [kind, differences.filter((difference) => difference.kind === kind).length] as const)
    .filter(([, found]) => found > 0)
    .map(([kind, found]) => `${found} ${kind === 'arguments' ? 'with other arguments' : kind}`)
    .join(', ')
}

function describe(difference: TraceDifference, matcher: ArgsMatcher): readonly string[] {
  const { kind, expected, actual, layer } = difference
  const place = isOrdered(matcher) ? `${placeName(matcher)} ${layer + 1}`.padEnd(10) : ''
  const line = (text: string): string => `  ${kind.padEnd(9)}  ${place}${text}`
  const wanted = expected === undefined ? '' : shorten(renderExpected(expected))
  const made = actual === undefined ? '' : shorten(renderFor(actual, matcher))
  switch (kind) {
    case 'missing':
      return [line(wanted)]
    case 'extra':
      return [line(made)]
    case 'moved':
      return [line(`${wanted}  ${movedTo(difference, matcher)}`)]
    case 'renamed':
      return [line(`${wanted}  →  ${made}`)]
    case 'arguments':
      if (expected === undefined || actual === undefined) return [line(wanted)]
      return [line(wanted), ...describeArguments(expected, actual, matcher).map((text) => `               ${text}`)]
  }
}

/** Under `sequence` each call is a layer of its own, and it is not meant as one. */
function placeName({ mode }: ArgsMatcher): 'call' | 'layer' {
  return mode === 'sequence' ? 'call' : 'layer'
}

function movedTo({ moved, layer, actualLayer }: TraceDifference, matcher: ArgsMatcher): string {
  if (moved === 'within its layer') return '→  in another order'
  const preposition = matcher.mode === 'sequence' ? 'as' : 'in'
  return `→  made ${moved}, ${preposition} ${placeName(matcher)} ${(actualLayer ?? layer) + 1} of the run`
}

/** The two traces laid over each other, long agreeing stretches left out. */
function overlay(groups: readonly LayerPair[], matcher: ArgsMatcher): readonly string[] {
  const lines = groups.flatMap((group) => linesOf(group, matcher))
  const differs = lines.map(({ side }) => side !== 'both')
  const near = (index: number): boolean => differs.slice(Math.max(0, index - around), index + around + 1).includes(true)
  const shown: string[] = []
  let skipped = 0
  const flush = (): void => {
    if (skipped > 0) shown.push(`    … ${skipped} call${skipped === 1 ? '' : 's'} as expected`)
    skipped = 0
  }
  for (const [index, line] of lines.entries()) {
    if (near(index)) {
      flush()
      shown.push(mark(line))
    } else skipped++
  }
  flush()
  if (shown.length <= maxLines) return shown
  return [...shown.slice(0, maxLines), `    … ${shown.length - maxLines} more lines`]
}

const marks = { both: ' ', expected: '-', actual: '+' } as const

function mark({ side, text }: Line): string {
  return `  ${marks[side]} ${shorten(text)}`
}

function shorten(text: string): string {
  return text.length > 160 ? `${text.slice(0, 159)}…` : text
}
