import type { RedactedPrint } from '../tape/index.ts'
import { isStream } from './events.ts'
import type { Means } from './means.ts'
import { lateFrom, type Shapes } from './placeholders.ts'
import type { TextRange } from './types.ts'
import { encodedWords } from './words.ts'

/** A value that a name before it made known, and what stands for it where the run met it since. */
export interface NamedSecret {
  readonly kind: string
  readonly value: string
  /** Absent: it stood inside of something else, and was not met by itself. */
  readonly placeholder?: string
  /** Its number among the keys of requests, where one had it for a key. */
  readonly key?: string
  /** Its fingerprint as a value of this kind, where there is a key. */
  readonly print?: (kind: string) => string
}

/** What stands for values that were named when they stood on the tape already. */
export interface LatePlaceholders {
  /** By value, by the placeholder it had, and by its number among keys. */
  readonly instead: ReadonlyMap<string, string>
  readonly prints: readonly RedactedPrint[]
}

/**
 * Their numbers begin at {@link lateFrom}: they are met before they were given, and no other value changes its number for that. The
 * number they had stays taken.
 */
export function latePlaceholders(named: readonly NamedSecret[], shapes: Shapes): LatePlaceholders {
  const instead = new Map<string, string>()
  const prints: RedactedPrint[] = []
  named.forEach(({ kind, value, placeholder, key, print }, at) => {
    // One that had no number takes none away.
    const had = placeholder === undefined ? { kind, n: lateFrom + at + 1 } : shapes.at(placeholder, 0)
    const lateKind = had.kind ?? kind
    // One that a tape gave it keeps its placeholder.
    const isLate = placeholder !== undefined && had.n >= lateFrom
    const late = isLate ? placeholder : shapes.of(lateKind, lateFrom + had.n, value)
    for (const before of [value, placeholder, key]) if (before !== undefined) instead.set(before, late)
    if (print !== undefined) prints.push([late, print(lateKind)])
  })
  return { instead, prints }
}

/** Means that find these placeholders, and nothing else. */
export function lateMeans(means: MeansInUse, placeholders: readonly string[]): MeansInUse {
  const before = new Set(placeholders)
  const { shapes, version } = means
  const rangesIn = (text: string): readonly (readonly [start: number, end: number])[] => {
    const { starts, ends } = shapes.in(text)
    return starts.map((start, at) => [start, ends[at]!])
  }
  const find = (text: string): readonly TextRange[] =>
    before.size === 0
      ? []
      : rangesIn(text).flatMap(([start, end]) => {
          const value = text.slice(start, end)
          return before.has(value) ? [{ kind: 'secret', start, end, value }] : []
        })
  return {
    version,
    find,
    hasOwnRules: false,
    keptHeaders: means.keptHeaders,
    schemeOf: () => '',
    names: { promise: () => undefined, isSecret: () => false, isSecretQuery: () => false, isSecretFlag: () => false },
    isPlain: (text) => !isStream(text, version) && find(text).length === 0 && encodedWords(text).length === 0,
    shapes: {
      of: (...given) => shapes.of(...given),
      isUsual: (kind) => shapes.isUsual(kind),
      at: (...given) => shapes.at(...given),
      mayStandIn: (text) => shapes.mayStandIn(text),
      kinds: shapes.kinds,
      in: (text) => {
        const others = rangesIn(text).filter(([start, end]) => !before.has(text.slice(start, end)))
        return { starts: others.map(([start]) => start), ends: others.map(([, end]) => end) }
      },
    },
  }
}

/** As much of the means as a redactor uses. */
export type MeansInUse = Pick<
  Means,
  'names' | 'keptHeaders' | 'find' | 'hasOwnRules' | 'version' | 'schemeOf' | 'isPlain'
> & { readonly shapes: Shapes }
