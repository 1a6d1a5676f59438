import type { Case } from '../cases/index.ts'
import { HarvestError } from '../errors/index.ts'
import type { ReplayResult, RunOutcome } from '../replay/types.ts'
import { encodeValue, type Json } from '../tape/index.ts'
import { compareTraces, matchOutcome, type MatchOptions, traceOf } from '../trace/index.ts'

/** One way in which a replay is not what its case says. */
export interface Difference {
  /** `ending`: the agent returned where it threw, or the other way round. */
  readonly aspect: 'trace' | 'outcome' | 'ending' | 'baseline'
  readonly error: HarvestError
  /** 1-based line of the case file. */
  readonly line: number
  /** Where the replay left the recorded run, in words: `step 3`, `layer 2 of the trace`. */
  readonly divergedAt?: string
  readonly expected?: string
  readonly actual?: string
}

/** Whether a case is green. `open` differences are those an update of the case can accept. */
export type Verdict =
  | { readonly isGreen: true }
  | { readonly isGreen: false; readonly because: Difference; readonly open?: readonly Difference[] }

/**
 * Judges a replay by its case.
 *
 * `expect: pass` is green when the replay had no problem and nothing differs from what the case says.
 *
 * `expect: fail` marks a bug that is known and not fixed: its baseline and outcome are those of the bad run. It is green
 * while the replay reproduces that run — no divergence, same trace, same outcome — and red as soon as it does not, so that
 * somebody looks and sets `expect: pass`. What has nothing to do with the agent's decisions (an escape, a hang, a spin)
 * is red in either case.
 */
export function judge(kase: Case, run: ReplayResult, match: MatchOptions): Verdict {
  const problem = run.problems.find((one) => !isForTheTrace(one, run, kase))
  const isKnownBad = kase.expect === 'fail'
  if (problem !== undefined) {
    const because = thrown(problem, kase, run) ?? {
      aspect: 'trace' as const,
      error: problem,
      line: kase.lines.agent,
      ...stepOf(problem),
    }
    return { isGreen: false, because: isKnownBad && isDeparture(problem) ? noLongerFails(kase, because) : because }
  }
  const open = differences(kase, run, match)
  const [first] = open
  if (first === undefined) return { isGreen: true }
  if (isKnownBad && first.aspect !== 'baseline') return { isGreen: false, because: noLongerFails(kase, first) }
  return { isGreen: false, because: first, open }
}

/** Why steps were left out, where the agent threw of itself: that says more than which steps those are. */
function thrown({ code }: HarvestError, kase: Case, run: ReplayResult): Difference | undefined {
  return code === 'HARVEST_UNUSED' && run.outcome.status === 'threw' ? ending(kase, run) : undefined
}

/**
 * Tool calls that were left out are judged by the trace: a baseline without them is what a reviewer accepted. What the
 * tools asked of the world goes with them.
 */
function isForTheTrace({ code }: HarvestError, { unused }: ReplayResult, { expected }: Case): boolean {
  if (code !== 'HARVEST_UNUSED' || expected === undefined) return false
  const leftOut = new Set<number>()
  for (const step of [...unused].sort((a, b) => a.n - b.n)) {
    const isCall = step.kind === 'tool' || step.kind === 'retrieval'
    if (!isCall && !(step.in !== undefined && leftOut.has(step.in))) return false
    leftOut.add(step.n)
  }
  return true
}

/** Everything in which the replay is not what the case says, the ending first: without it the rest means little. */
function differences(kase: Case, run: ReplayResult, match: MatchOptions): readonly Difference[] {
  return [ending(kase, run), trace(kase, run, match), outcome(kase, run)].filter((found) => found !== undefined)
}

function ending(kase: Case, { tape, outcome: live }: ReplayResult): Difference | undefined {
  const recorded = tape.close?.outcome.status
  // A program that exited was recorded from outside; how its function ended was never seen.
  if (recorded === undefined || recorded === 'exited' || recorded === live.status) return undefined
  const error = new HarvestError(
    'HARVEST_OUTCOME_KIND',
    {
      what:
        live.status === 'threw'
          ? 'The agent threw, and returned when this run was recorded'
          : 'The agent returned, and threw when this run was recorded',
      where: { case: kase.id, recorded, now: describeEnding(live) },
      fix: [
        `to see the recorded run: npx harvest show ${kase.id}`,
        'if this is right now, record it again: the tape ends differently',
      ],
    },
    live.status === 'threw' ? { cause: live.error } : {},
  )
  return { aspect: 'ending', error, line: kase.lines.outcome ?? kase.lines.agent }
}

function describeEnding(live: RunOutcome): string {
  if (live.status === 'returned') return 'returned'
  return live.error instanceof Error ? `threw ${live.error.name}: ${live.error.message}` : `threw ${String(live.error)}`
}

function trace(kase: Case, run: ReplayResult, match: MatchOptions): Difference | undefined {
  if (kase.expected === undefined) return baselineMissing(kase)
  const compared = compareTraces(kase.expected, traceOf(run.events), match)
  if (compared.equal) return undefined
  const { baseline, baselineItems, case: top } = kase.lines
  const error = new HarvestError('HARVEST_TRACE', {
    what: 'The agent made other tool calls than the baseline of this case',
    where: { case: kase.id, ...(compared.first?.actual?.site !== undefined && { at: compared.first.actual.site }) },
    detail: compared.report,
    fix: [
      'if the new behaviour is right: npx harvest test --update-recordings --reason "…"',
      `to see the recorded run: npx harvest show ${kase.id}`,
    ],
  })
  const isSequence = match.trace === 'sequence'
  const at = compared.first?.layer ?? 0
  // Under `sequence` it counts calls, of which an item of the baseline may list several.
  const items = isSequence ? kase.expected.layers.flatMap((layer, item) => layer.map(() => item)) : undefined
  const item = items === undefined ? at : (items[at] ?? items.length)
  const line = baselineItems[Math.min(item, baselineItems.length - 1)] ?? baseline ?? top
  const place = isSequence ? 'call' : 'layer'
  const divergedAt = compared.first === undefined ? {} : { divergedAt: `${place} ${at + 1} of the trace` }
  return { aspect: 'trace', error, line, ...divergedAt, expected: compared.expectedText, actual: compared.actualText }
}

function baselineMissing(kase: Case): Difference {
  const error = new HarvestError('HARVEST_BASELINE_MISSING', {
    what: 'The case has no baseline, so nothing is asserted about what the agent does',
    where: { case: kase.id },
    why: 'A baseline is written by the first run on a developer machine, never in CI.',
    fix: ['to write it: npx harvest test --update-recordings=new', 'to assert that no tool is called: baseline: []'],
  })
  return { aspect: 'baseline', error, line: kase.lines.case }
}

function outcome(kase: Case, run: ReplayResult): Difference | undefined {
  if (kase.outcome === undefined || run.outcome.status === 'threw') return undefined
  const actual = encodeValue(run.outcome.value)
  const matched = matchOutcome(kase.outcome, actual)
  if (matched.equal) return undefined
  const error = new HarvestError('HARVEST_OUTCOME', {
    what: 'The agent returned something else than this case says',
    where: { case: kase.id, ...(matched.path !== undefined && matched.path !== '' && { 'differs at': matched.path }) },
    fix: [
      'if the new outcome is right: npx harvest test --update-recordings --reason "…"',
      `to see the recorded run: npx harvest show ${kase.id}`,
    ],
  })
  return {
    aspect: 'outcome',
    error,
    line: kase.lines.outcome ?? kase.lines.case,
    expected: pretty(kase.outcome),
    actual: pretty(actual),
  }
}

function pretty(value: Json): string {
  return JSON.stringify(value, null, 2)
}

/** `step` of a problem reads `3 of this replay (5 recorded)`. */
function stepOf({ facts }: HarvestError): { readonly divergedAt?: string } {
  const step = /^\d+/.exec(facts.where?.['step'] ?? '')?.[0]
  return step === undefined ? {} : { divergedAt: `step ${step}` }
}

/** Problems that say: the agent went another way than the recorded one. */
function isDeparture({ code }: HarvestError): boolean {
  return [
    'HARVEST_DIVERGENCE',
    'HARVEST_TAPE_EXHAUSTED',
    'HARVEST_UNUSED',
    'HARVEST_ORDER',
    'HARVEST_CLOCK',
    'HARVEST_AMBIGUOUS',
  ].includes(code)
}

function noLongerFails(kase: Case, found: Difference): Difference {
  const error = new HarvestError('HARVEST_CASE_NO_LONGER_FAILS', {
    what: 'This incident no longer reproduces: review and set expect: pass',
    where: {
      case: kase.id,
      ...(found.error.facts.where?.['at'] !== undefined && { at: found.error.facts.where['at'] }),
    },
    detail: [found.error.facts.what, found.error.facts.detail].filter((text) => text !== undefined).join('\n\n'),
    why: 'The case is marked `expect: fail`: it was to stay as bad as it was recorded until somebody fixed it.',
    fix: [
      'if the agent is right now: set `expect: pass`, then npx harvest test --update-recordings --reason "…"',
      'if it now fails in another way: record the new run',
    ],
  })
  return { ...found, error, line: kase.lines.expect }
}
