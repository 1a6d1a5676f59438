// Over 300 lines: the order in which differences decide is the subject.
import { canonicalJson } from '../json/canonical.ts'
import { type Case, expectedError, factsOfError, saidOutcome, shapeOfError, throwing } from '../cases/index.ts'
import { HarvestError, neutralLine, shellWord, withFacts } from '../errors/index.ts'
import { firstNames } from '../errors/words.ts'
import { toUpdate } from '../errors/usual-steps.ts'
import {
  comparedFacts,
  describeEnding,
  leftOutThen,
  threwInstead,
  whereThrown,
  type GreenSteps,
  type RunVerdict,
  unprovenError,
  verdictFrom,
  withLosses,
  withQuestions,
} from '../replay/index.ts'
import { firstDifference } from '../match/difference.ts'
import type { ReplayResult, RunOutcome } from '../match/types.ts'
import { encodeFor, encodeValue, type Json } from '../tape/index.ts'
import {
  compareReplay,
  compareTraces,
  type ExpectedTrace,
  asValue,
  holdsWildcard,
  matchOutcome,
  presentOutcome,
  type MatchOptions,
  renderCall,
  traceOf,
} from '../trace/index.ts'
import { presentValue } from '../tape/present.ts'
import { unnamedLeftOut } from './left-out.ts'

/** One way in which a replay is not what its case says. */
export interface Difference {
  /** `ending`: the agent returned where it threw, or the other way round. `question`: what a model was asked changed. */
  readonly aspect: 'trace' | 'outcome' | 'ending' | 'baseline' | 'messages' | 'marks' | 'states' | 'question'
  readonly error: HarvestError
  /** 1-based line of the case file. */
  readonly line: number
  /** Where the replay left the recorded run, in words: `step 3`, `layer 2 of the trace`. */
  readonly divergedAt?: string
  readonly expected?: string
  readonly actual?: string
  /** The baseline says too little, and the run may be as it was. */
  readonly isOfBaseline?: true
}

/** What a case proves, and why it is red. */
export interface CaseVerdict extends Omit<RunVerdict, 'differences'> {
  readonly isGreen: boolean
  /** Why it is red. */
  readonly because?: Difference
  /** Differences that an update of the case can accept. */
  readonly open?: readonly Difference[]
}

/**
 * Judges a replay by its case.
 *
 * `expect: pass` is green when the replay had no problem, nothing differs from what the case says, and every changed
 * question to a model was accepted.
 *
 * `expect: fail` marks a bug that is known and not fixed: its baseline and outcome are those of the bad run. It is green
 * while the replay reproduces that run — no divergence, same trace, same outcome — and red as soon as it does not, so that
 * someone looks and takes the fix for its new baseline. What has nothing to do with the agent's decisions (an escape, a
 * hang, a spin) is red in either case, and so is a changed question: it is unknown whether the bug is still there.
 *
 * @param accepted - changes that a person accepted, and at which steps
 * @param expired - acceptances that do not count any more, by key
 */
export function judge(
  kase: Case,
  run: ReplayResult,
  match: MatchOptions,
  accepted: GreenSteps = new Map(),
  expired: ReadonlyMap<string, string> = new Map(),
): CaseVerdict {
  const found = differenceOf(kase, run, match)
  const { differences: _, ...proof } = verdictFrom(run, found === undefined ? [] : [found.because.error], accepted)
  if (found !== undefined)
    return {
      ...proof,
      isGreen: false,
      ...found,
      because: { ...found.because, error: withQuestions(found.because.error, proof.unproven) },
    }
  if (proof.unproven.length === 0) return { ...proof, isGreen: true }
  const asked = unprovenError(proof.unproven, {
    caseId: kase.id,
    isKnownBad: kase.expect === 'fail',
    tape: run.tape.header.id,
    expired,
  })
  const error = proof.unproven.some(({ isData }) => isData) ? withLosses(asked, run.notRevived ?? []) : asked
  return { ...proof, isGreen: false, because: { aspect: 'question', error, line: kase.lines.agent } }
}

/** Why the agent does something else than the case says, and what of it an update can accept. */
function differenceOf(
  kase: Case,
  run: ReplayResult,
  match: MatchOptions,
): { readonly because: Difference; readonly open?: readonly Difference[] } | undefined {
  const stops = (one: HarvestError): boolean => announced(one) === undefined && !isForTheTrace(one, run, kase)
  // A state that was another one by then may be why the agent was stopped.
  const found = run.problems.some(stops)
    ? run.problems.find((one) => stops(one) || announced(one) === 'states')
    : undefined
  const problem = found === undefined ? undefined : ofCase(kase, found, announced(found) === undefined)
  const isKnownBad = kase.expect === 'fail'
  if (problem !== undefined) {
    const because = thrown(problem, kase, run) ?? {
      aspect: 'trace' as const,
      error: problem,
      line: kase.lines.agent,
      ...stepOf(problem),
    }
    return { because: isKnownBad && isDeparture(problem) ? noLongerFails(kase, because) : because }
  }
  const open = differences(kase, run, match)
  const [first] = open
  if (first === undefined) return undefined
  if (isKnownBad && first.aspect !== 'baseline' && first.isOfBaseline !== true)
    return { because: noLongerFails(kase, first) }
  return { because: first, open }
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
  // What the replay found has that beside it already.
  const explained = (found: Difference | undefined): Difference | undefined =>
    found && { ...found, error: withLosses(found.error, run.notRevived ?? []) }
  return [
    explained(ending(kase, run)),
    explained(trace(kase, run, match)),
    ...run.problems.map((one) => announcement(kase, one)),
    explained(outcome(kase, run)),
  ].filter((found) => found !== undefined)
}

/** Which list of the case a problem of the replay is about; an update can accept it. */
function announced({ code }: HarvestError): Announced | undefined {
  return lists.get(code)
}

type Announced = 'messages' | 'marks' | 'states'

const lists: ReadonlyMap<string, Announced> = new Map([
  ['HARVEST_MESSAGES', 'messages'],
  ['HARVEST_MARKS', 'marks'],
  ['HARVEST_STATES', 'states'],
])

function announcement(kase: Case, error: HarvestError): Difference | undefined {
  const aspect = announced(error)
  return aspect && { aspect, error: ofCase(kase, error), line: kase.lines[aspect] ?? kase.lines.agent }
}

/**
 * What a replay says of a tape, with the case that an update is to renew: the tape does not know whose it is.
 *
 * @param isAcceptable - whether an update can accept it: not beside what it cannot
 */
function ofCase(kase: Case, error: HarvestError, isAcceptable = true): HarvestError {
  const { fix = [] } = error.facts
  const [general, own] = [toUpdate('behaviour'), isAcceptable ? [toUpdate('behaviour', kase.id)] : []]
  return fix.includes(general)
    ? withFacts(error, { fix: fix.flatMap((step) => (step === general ? own : [step])) })
    : error
}

function ending(kase: Case, run: ReplayResult): Difference | undefined {
  const { tape, outcome: live } = run
  const seen = tape.close?.outcome.status
  // A program that exited was recorded from outside; how its function ended was never seen.
  if (seen === undefined || seen === 'exited') return undefined
  // Of an import the case alone knows how the run is to end; where it does not say either, an error is no success.
  const recorded = seen === 'unknown' ? expectedEnding(kase) : seen
  if (recorded === live.status) return undefined
  if (seen === 'unknown') return unexpectedEnding(kase, run)
  const error = new HarvestError(
    'HARVEST_OUTCOME_KIND',
    {
      what: live.status === 'threw' ? threwInstead(run) : 'The agent returned, but threw when recorded',
      where: { case: kase.id, ...whereThrown(run), recorded, now: describeEnding(run), ...leftOutThen(run) },
      fix: [
        `to see the recorded run: npx vitest-harvest show ${shellWord(kase.id)}`,
        'if this is right, record it again: the tape ends differently',
      ],
    },
    live.status === 'threw' ? { cause: live.error } : {},
  )
  return { aspect: 'ending', error, line: kase.lines.outcome ?? kase.lines.agent }
}

function expectedEnding({ outcome }: Case): RunOutcome['status'] {
  return outcome !== undefined && expectedError(outcome) !== undefined ? 'threw' : 'returned'
}

function unexpectedEnding(kase: Case, run: ReplayResult): Difference {
  const { outcome: live } = run
  const hasThrown = live.status === 'threw'
  const error = new HarvestError(
    'HARVEST_OUTCOME_KIND',
    {
      what: hasThrown
        ? 'The agent threw, and its case expects a return value'
        : 'The agent returned, and its case expects an error',
      where: { case: kase.id, recorded: 'unknown (the import did not see it)', now: describeEnding(run) },
      fix: hasThrown
        ? [`if the error is right, put it in the case: outcome: { $threw: { name: ${nameOf(live.error)} } }`]
        : ['if the return value is right, change or remove `outcome:` in the case'],
    },
    hasThrown ? { cause: live.error } : {},
  )
  return { aspect: 'ending', error, line: kase.lines.outcome ?? kase.lines.agent }
}

function nameOf(error: unknown): string {
  const shape = shapeOfError(encodeValue(error)) as { readonly name?: Json } | null
  return typeof shape?.name === 'string' ? JSON.stringify(shape.name) : '"*"'
}

function trace(kase: Case, run: ReplayResult, match: MatchOptions): Difference | undefined {
  if (kase.expected === undefined) return baselineMissing(kase)
  const compared = isReplay(run)
    ? compareReplay(kase.expected, run, match)
    : compareTraces(kase.expected, traceOf(run.events), match)
  if (compared.equal) return isReplay(run) ? leftOutUnnamed(kase, kase.expected, run, match) : undefined
  const { baseline, baselineItems, case: top } = kase.lines
  const error = new HarvestError('HARVEST_TRACE', {
    what: 'The tool calls differ from the baseline of this case',
    where: { case: kase.id, ...(compared.first?.actual?.site !== undefined && { at: compared.first.actual.site }) },
    detail: compared.report,
    fix: [toUpdate('behaviour', kase.id), `to see the recorded run: npx vitest-harvest show ${shellWord(kase.id)}`],
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

/** The baseline is met, and would be by a run that leaves other calls out. */
function leftOutUnnamed(
  kase: Case,
  expected: ExpectedTrace,
  run: ReplayResult,
  match: MatchOptions,
): Difference | undefined {
  const calls = unnamedLeftOut(expected, run, match)
  const [first] = calls
  if (first === undefined) return undefined
  const texts = calls.map((call) => renderCall(call, 'exact'))
  const error = new HarvestError('HARVEST_TRACE', {
    what: 'The baseline does not say which recorded calls are left out',
    where: { case: kase.id, 'left out': neutralLine(firstNames(texts), 300) },
    why: 'Lines without values fit these calls as well as those that are made.',
    fix: [toUpdate('behaviour', kase.id), `to see the recorded run: npx vitest-harvest show ${shellWord(kase.id)}`],
  })
  return { aspect: 'trace', error, line: kase.lines.baseline ?? kase.lines.case, isOfBaseline: true }
}

function baselineMissing(kase: Case): Difference {
  const error = new HarvestError('HARVEST_BASELINE_MISSING', {
    what: 'The case has no baseline, so no tool call is checked',
    where: { case: kase.id },
    why: 'A baseline is written by the first run on a developer machine, never in CI.',
    fix: [
      `to write it: npx vitest-harvest test ${shellWord(kase.id)} --update-recordings=new`,
      'to assert that no tool is called: baseline: []',
    ],
  })
  return { aspect: 'baseline', error, line: kase.lines.case }
}

/** A case that says nothing of the outcome wants the recorded one; `outcome: '*'` asserts nothing. */
function outcome(kase: Case, run: ReplayResult): Difference | undefined {
  if (kase.outcome === undefined) return recordedOutcome(kase, run)
  const { outcome: live } = run
  const hasThrown = live.status === 'threw'
  const wanted = hasThrown ? expectedError(kase.outcome) : kase.outcome
  const given = encodeFor(run.tape.header.flags, hasThrown ? live.error : live.value)
  const said = (value: Json): Json => (hasThrown ? factsOfError(value) : value)
  const actual = said(run.redactedOutcome)
  const recorded = isReplay(run) && run.tape.close ? saidOutcome(run.tape.close.outcome) : undefined
  const match = (value: Json): ReturnType<typeof matchOutcome> =>
    wanted === undefined
      ? { equal: false, path: '' }
      : matchOutcome(
          presentOutcome(wanted, presentValue),
          presentValue(value),
          hasThrown ? undefined : recorded && presentValue(recorded),
        )
  // A case has values as a person wrote them, or as its tape has them: without secrets.
  const asGiven = match(said(given))
  const matched = asGiven.equal ? asGiven : match(actual)
  // A case that says of the error what the tape does asserts the recorded one, with its fields and causes. So does a value with a
  // text that reads as a wildcard.
  const isRecorded =
    (hasThrown || holdsWildcard(kase.outcome)) &&
    recorded !== undefined &&
    canonicalJson(kase.outcome) === canonicalJson(recorded)
  if (matched.equal) return isRecorded ? recordedOutcome(kase, run) : undefined
  const error = new HarvestError('HARVEST_OUTCOME', {
    what: hasThrown
      ? 'The error of the agent differs from the outcome of this case'
      : 'The return value of the agent differs from the outcome of this case',
    where: { case: kase.id, ...(matched.path !== undefined && matched.path !== '' && { 'differs at': matched.path }) },
    fix: [toUpdate('outcome', kase.id), `to see the recorded run: npx vitest-harvest show ${shellWord(kase.id)}`],
  })
  return {
    aspect: 'outcome',
    error,
    line: kase.lines.outcome ?? kase.lines.case,
    expected: pretty(asValue(kase.outcome)),
    actual: pretty(hasThrown ? throwing(actual) : actual),
  }
}

/** A live run answers the same in its own way, and in an order of its own; a replay has the recorded answers. */
function isReplay({ comparison }: ReplayResult): boolean {
  return comparison.messages !== undefined
}

function recordedOutcome(
  kase: Case,
  { tape, outcome: live, comparison, redactedOutcome: now }: ReplayResult,
): Difference | undefined {
  const recorded = tape.close?.outcome
  if (comparison.outcomeEqual !== false || recorded === undefined || recorded.status !== live.status) return undefined
  const found =
    recorded.status === 'threw' ? firstDifference(comparedFacts(recorded.error), comparedFacts(now)) : undefined
  const error = new HarvestError('HARVEST_OUTCOME', {
    what: `The agent ${live.status} a different value than recorded`,
    where: {
      case: kase.id,
      ...(found && { 'differs at': found.path || 'the whole', recorded: found.recorded, now: found.live }),
    },
    fix: [
      toUpdate('outcome', kase.id),
      `to compare a part of it: \`outcome:\` in the case; \`outcome: '*'\` asserts nothing`,
      `to see the recorded run: npx vitest-harvest show ${shellWord(kase.id)}`,
    ],
  })
  const before =
    recorded.status === 'returned' ? (recorded.value ?? null) : recorded.status === 'threw' ? recorded.error : null
  return {
    aspect: 'outcome',
    error,
    line: kase.lines.case,
    expected: pretty(recorded.status === 'threw' ? factsOfError(before) : before),
    actual: pretty(live.status === 'threw' ? factsOfError(now) : now),
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
    'HARVEST_RESULTS',
    'HARVEST_STATES',
  ].includes(code)
}

function noLongerFails(kase: Case, found: Difference): Difference {
  const error = new HarvestError('HARVEST_CASE_NO_LONGER_FAILS', {
    what: 'This incident no longer reproduces',
    where: {
      case: kase.id,
      ...(found.error.facts.where?.['at'] !== undefined && { at: found.error.facts.where['at'] }),
    },
    detail: [found.error.facts.what, found.error.facts.detail].filter((text) => text !== undefined).join('\n\n'),
    why: 'The case has `expect: fail`: it must reproduce the recorded failure until it is fixed.',
    fix:
      // A tool whose own code changed is seen by no fork: there tools answer from the tape.
      found.error.code === 'HARVEST_RESULTS'
        ? (found.error.facts.fix ?? [])
        : [
            `if the agent is fixed: npx vitest-harvest fix ${shellWord(kase.id)}`,
            'if it now fails in another way: record the new run',
          ],
  })
  return { ...found, error, line: kase.lines.expect }
}
