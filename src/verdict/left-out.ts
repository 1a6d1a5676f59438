import { canonicalJson } from '../json/canonical.ts'
import type { ReplayResult } from '../match/types.ts'
import { namedArgs } from '../tape/present-args.ts'
import {
  createMatcher,
  type ExpectedCall,
  type ExpectedTrace,
  type MatchOptions,
  type TraceCall,
  traceOfRun,
} from '../trace/index.ts'

/** The recorded calls of tools and retrievers that a replay does not make, without those inside of another one. */
export function callsLeftOut({ unused }: Pick<ReplayResult, 'unused'>): readonly TraceCall[] {
  const numbers = new Set(unused.map(({ n }) => n))
  return unused.flatMap((step): TraceCall[] => {
    if (step.kind === 'exchange' || (step.in !== undefined && numbers.has(step.in))) return []
    return step.kind === 'tool' || step.kind === 'retrieval'
      ? [{ name: step.name, args: namedArgs(step.args), n: step.n }]
      : []
  })
}

/**
 * Calls left out of which a baseline does not say that it is these: a line of it that fits a call that is made fits them as well. With
 * them in its place the run would be the same to the baseline, which is not what was reviewed. What is lenient by a wildcard or by `match`
 * is meant so.
 */
export function unnamedLeftOut(expected: ExpectedTrace, run: ReplayResult, match: MatchOptions): readonly TraceCall[] {
  const matcher = createMatcher(match)
  if (matcher.mode === 'subset' || matcher.mode === 'superset') return []
  const leftOut = callsLeftOut(run)
  if (leftOut.length === 0) return []
  const made = [...oncePerText(traceOfRun(run).layers.flat(), textOf)]
  const lines = [...oncePerText(expected.layers.flat().filter(hasKeysAlone), (line) => JSON.stringify(line)).values()]
  const unnamed = [...oncePerText(leftOut, textOf)].filter(([text, call]) => {
    const rule = matcher.ruleFor(call.name)
    if (rule.mode !== 'keys' || rule.keys !== undefined) return false
    const fitting = lines.filter((line) => matcher.accepts(line, call))
    return fitting.some((line) => made.some(([other, one]) => other !== text && matcher.accepts(line, one)))
  })
  return unnamed.map(([, call]) => call)
}

/** As an update writes it by default. Whoever writes values or a wildcard means how lenient that is. */
function hasKeysAlone({ name, args }: ExpectedCall): boolean {
  return name !== '*' && args !== '*' && Object.values(args).every((value) => value === undefined)
}

function textOf({ name, args }: TraceCall): string {
  return `${name} ${canonicalJson(args)}`
}

/** Calls that are made again and again are looked at once. */
function oncePerText<T>(all: readonly T[], text: (one: T) => string): ReadonlyMap<string, T> {
  return new Map(all.map((one) => [text(one), one]))
}
