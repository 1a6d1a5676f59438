import { HarvestError, shellWord } from '../errors/index.ts'
import { neutralLine } from '../errors/neutral.ts'
import { isMap } from '../json/canonical.ts'
import { changedQuestions, type ChangedQuestion } from './changed-questions.ts'
import { firstDifference } from '../match/difference.ts'
import { describeEvent, isStep } from '../match/step.ts'
import { siteIn } from '../seam/caller.ts'
import { encodeFor } from '../tape/index.ts'
import { comparedFacts } from './same-error.ts'
import { withLosses } from '../playback/problems.ts'
import type { ReplayResult } from '../match/types.ts'
import { presentValue } from '../tape/present.ts'

/**
 * What a replay proves. `same`: every question equals the recorded one, and so does all that the agent did. `different`:
 * the agent does something else. `unproven`: it does the same on the recorded answers, but the question to a model changed,
 * so it is unknown what it would answer now.
 */
export const verdicts = ['same', 'different', 'unproven'] as const
export type VerdictName = (typeof verdicts)[number]

/** The verdict of one replay, as every command, test and report has it. */
export interface RunVerdict {
  readonly verdict: VerdictName
  /** Why it is `different`, the first one first; empty otherwise. */
  readonly differences: readonly HarvestError[]
  /** Changed questions that were not accepted. There may be some beside differences, too. */
  readonly unproven: readonly ChangedQuestion[]
  /** Changed questions that a person accepted. */
  readonly accepted: readonly ChangedQuestion[]
  /** Changed questions that the options exclude from the verdict: `same` says nothing about them. */
  readonly notJudged: readonly ChangedQuestion[]
}

/**
 * Changes that are green for one tape, by key: at the numbers of its steps at which someone reviewed them. Empty: they were
 * reviewed for other tapes only.
 */
export type GreenSteps = ReadonlyMap<string, readonly number[] | 'all'>

/** The same as JSON. */
export type GreenEntries = readonly (readonly [key: string, steps: readonly number[] | 'all'])[]

/** A replay with its verdict. */
export interface JudgedReplay<T = unknown> extends ReplayResult<T> {
  /** `same`, `different` or `unproven`, with each difference. */
  readonly verdict: RunVerdict
}

/**
 * Compares a replay with its tape.
 *
 * @param accepted - changes that a person accepted
 */
export function verdictOf(run: ReplayResult, accepted: GreenSteps = new Map()): RunVerdict {
  const ending = outcomeDifference(run).map((error) => withLosses(error, run.notRevived ?? []))
  return verdictFrom(run, [...ending, ...run.problems], accepted)
}

/** The verdict for differences that someone else found. */
export function verdictFrom(
  { drift }: Pick<ReplayResult, 'drift'>,
  differences: readonly HarvestError[],
  accepted: GreenSteps,
): RunVerdict {
  const open = changedQuestions(drift.filter(({ policy }) => policy === 'unproven'))
  const unproven = open.filter((one) => !isGreenAt(one, accepted)).map((one) => withReviewed(one, accepted))
  return {
    verdict: differences.length > 0 ? 'different' : unproven.length > 0 ? 'unproven' : 'same',
    differences,
    unproven,
    accepted: open.filter((one) => isGreenAt(one, accepted)),
    notJudged: changedQuestions(drift.filter(({ policy, class: name }) => policy === 'report' && isQuestion(name))),
  }
}

/** Whether a change shows at no other step than where someone reviewed it. */
export function isGreenAt({ key, steps }: Pick<ChangedQuestion, 'key' | 'steps'>, green: GreenSteps): boolean {
  const reviewed = green.get(key)
  return reviewed === 'all' || (reviewed !== undefined && steps.every((step) => reviewed.includes(step)))
}

function withReviewed(question: ChangedQuestion, green: GreenSteps): ChangedQuestion {
  const reviewed = green.get(question.key)
  return reviewed === undefined || reviewed === 'all' ? question : { ...question, acceptedAt: reviewed }
}

/** Another spelling of one question, and what only the provider's books know of, change no question. */
function isQuestion(name: ReplayResult['drift'][number]['class']): boolean {
  return name !== 'encoding' && name !== 'bookkeeping'
}

/** What an agent leaves undone that throws: the steps after it, what it would have announced, and its states. */
export const leftUndone: ReadonlySet<string> = new Set([
  'HARVEST_UNUSED',
  'HARVEST_MESSAGES',
  'HARVEST_MARKS',
  'HARVEST_STATES',
])

/** How a run ended in another way than its tape, unless a problem may be why. */
function outcomeDifference(run: ReplayResult): readonly HarvestError[] {
  const { tape, outcome, problems, comparison } = run
  const recorded = tape.close?.outcome.status
  // A program was recorded from outside: how its function ended was never seen.
  if (recorded === undefined || recorded === 'exited') return []
  if (problems.length > 0 && !(outcome.status === 'threw' && problems.every(({ code }) => leftUndone.has(code))))
    return []
  // An import that did not see the end has nothing to compare; an error is no success all the same.
  const isUnknown = recorded === 'unknown' || tape.header.imported?.missing.includes('outcome') === true
  const expected = isUnknown ? 'returned' : recorded
  if (expected !== outcome.status) return [otherEnding(run, isUnknown)]
  return comparison.outcomeEqual === false && !isUnknown ? [otherOutcome(run)] : []
}

function otherEnding(run: ReplayResult, isUnknown: boolean): HarvestError {
  const { tape, outcome } = run
  const isThrown = outcome.status === 'threw'
  return new HarvestError(
    'HARVEST_OUTCOME_KIND',
    {
      what: isUnknown
        ? 'The agent threw, and the imported recording has no outcome'
        : isThrown
          ? threwInstead(run)
          : 'The agent returned, but threw when recorded',
      where: {
        tape: tape.header.id,
        ...whereThrown(run),
        recorded: tape.close?.outcome.status ?? '',
        now: describeEnding(run),
        ...leftOutThen(run),
      },
      fix: [`to see the recorded run: npx vitest-harvest show ${shellWord(tape.header.id)}`],
    },
    isThrown ? { cause: outcome.error } : {},
  )
}

/** An agent that threw where it returned: its own error says most. */
export function threwInstead(run: ReplayResult): string {
  return `The agent threw ${neutralLine(describeThrown(run), 160)}, but returned when recorded`
}

/** The line of the agent that threw. */
export function whereThrown({ outcome }: ReplayResult): { readonly at?: string } {
  const site = outcome.status === 'threw' && outcome.error instanceof Error ? siteIn(outcome.error) : undefined
  return site === undefined ? {} : { at: site }
}

/** What an agent that threw left out. */
export function leftOutThen({ tape, outcome, unused }: ReplayResult): { readonly 'left out'?: string } {
  const [first, ...more] = outcome.status === 'threw' ? unused : []
  if (first === undefined) return {}
  const number = tape.events.filter(isStep).findIndex(({ n }) => n === first.n) + 1
  const said = neutralLine(`step ${number}, ${describeEvent(first)}`, 200)
  return { 'left out': more.length === 0 ? said : `${said}, and ${more.length} more` }
}

/** `returned`, `threw TypeError: x is not a function`. */
export function describeEnding(run: ReplayResult): string {
  return run.outcome.status === 'returned' ? 'returned' : `threw ${describeThrown(run)}`
}

/** What an agent threw, redacted: `TypeError: x is not a function`. */
export function describeThrown({ redactedOutcome: said }: Pick<ReplayResult, 'redactedOutcome'>): string {
  if (isMap(said) && typeof said['name'] === 'string') return `${said['name']}: ${String(said['message'])}`
  if (isMap(said) && said['$type'] === 'undefined') return 'undefined'
  return typeof said === 'string' ? said : JSON.stringify(said)
}

function otherOutcome(run: ReplayResult): HarvestError {
  const { tape, outcome, redactedOutcome: now } = run
  const ended = tape.close?.outcome
  const found =
    ended?.status === 'threw' && outcome.status === 'threw'
      ? firstDifference(comparedFacts(ended.error), comparedFacts(now))
      : ended?.status === 'returned' && outcome.status === 'returned'
        ? firstDifference(
            presentValue(ended.value === undefined ? encodeFor(tape.header.flags, undefined) : ended.value),
            presentValue(now),
          )
        : undefined
  return new HarvestError('HARVEST_OUTCOME', {
    what:
      outcome.status === 'threw'
        ? 'The agent threw a different error than recorded'
        : 'The agent returned a different value than recorded',
    where: {
      tape: tape.header.id,
      ...(found === undefined
        ? { now: describeEnding(run) }
        : { 'differs at': found.path || 'the whole', recorded: found.recorded, now: found.live }),
    },
    fix: [
      `to see the recorded run: npx vitest-harvest show ${shellWord(tape.header.id)}`,
      `in a test that checks what the agent returns itself: replay(tape, agent, { outcome: 'ignore' })`,
    ],
  })
}
