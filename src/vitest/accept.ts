import { readFileSync } from 'node:fs'
import {
  type Case,
  type CaseApproval,
  type CaseChanges,
  type CaseMark,
  type CaseMessage,
  expectedError,
  factsOfError,
  parseCase,
  saidOutcome,
  throwing,
  updateCase,
} from '../cases/index.ts'
import { HarvestError, withFacts } from '../errors/index.ts'
import { recordAgain, toUpdate } from '../errors/usual-steps.ts'
import { runDigest } from '../fork/run-digest.ts'
import { acceptedPins, type CasePins, type GitState, pinsOfReplay } from '../provenance/index.ts'
import type { ReplayResult } from '../match/types.ts'
import type { GreenSteps } from '../replay/index.ts'
import { type TapeEvent } from '../tape/index.ts'
import { presentValue } from '../tape/present.ts'
import { type MatchOptions, matchOutcome, presentOutcome, traceOfRun } from '../trace/index.ts'
import { type CaseUpdate, updateArtifact } from './channel.ts'
import type { UpdateMode } from './update-mode.ts'
import { callsLeftOut, type Difference, judge } from '../verdict/index.ts'
import { textHash } from './write-updates.ts'

/** What is needed to accept what a replay did. */
export interface Acceptance {
  readonly kase: Case
  readonly run: ReplayResult
  readonly match: MatchOptions
  readonly open: readonly Difference[]
  readonly mode: UpdateMode
  readonly git: GitState | null
  /** Who accepts it and why; a first baseline needs neither. */
  readonly approval: CaseApproval | undefined
  /** Accepted changes, those that this run accepts included. */
  readonly accepted: GreenSteps
}

/**
 * The case as it should read after an update, or `undefined` when this mode accepts no such difference.
 *
 * `new` writes a baseline where one is missing, and nothing else. `all` also accepts another trace and outcome, never another
 * ending (the tape would contradict the case), and never for `expect: fail`: new behaviour there is for a person to see.
 */
export function acceptRun(acceptance: Acceptance): CaseUpdate | undefined {
  const { kase, run, match, open, mode, accepted } = acceptance
  if (!open.every(({ aspect }) => accepts(mode, aspect, kase))) return undefined
  const before = readFileSync(kase.file, 'utf8')
  const text = updateCase(before, changesFor(acceptance), kase.file)
  const updated = parseCase(text, kase.file)
  // An update after which the case is still red would be written again and again.
  if (!judge(updated, withoutAnnouncements(run, open), match, accepted).isGreen) return undefined
  // Of another error it has to hold what is other: the recorded one may not do as well.
  const isOther = run.comparison.outcomeEqual === false && fitsRecordedError(kase, run)
  if (isOther && fitsRecordedError(updated, run)) return undefined
  return { type: updateArtifact, file: kase.file, before: textHash(before), text }
}

/** Whether a case says nothing that the recorded error does not have. */
function fitsRecordedError({ outcome }: Case, { tape, outcome: live }: ReplayResult): boolean {
  const recorded = tape.close?.outcome
  if (recorded?.status !== 'threw' || live.status !== 'threw') return false
  if (outcome === undefined) return true
  const wanted = expectedError(outcome)
  const facts = presentValue(factsOfError(recorded.error))
  return wanted !== undefined && matchOutcome(presentOutcome(wanted, presentValue), facts).equal
}

/** What a red case proposes: an update only where it would be written, and else a new tape. */
export function withWrittenUpdate(error: HarvestError, acceptance: Omit<Acceptance, 'mode'>): HarvestError {
  const { fix = [] } = error.facts
  const { id } = acceptance.kase
  const updates = [toUpdate('behaviour', id), toUpdate('outcome', id)]
  if (!fix.some((step) => updates.includes(step)) || isWritten({ ...acceptance, mode: 'all' })) return error
  return withFacts(error, { fix: fix.map((step) => (updates.includes(step) ? recordAgain : step)) })
}

function isWritten(acceptance: Acceptance): boolean {
  try {
    return acceptRun(acceptance) !== undefined
  } catch (error) {
    // No layout of this file can hold it.
    if (HarvestError.is(error)) return false
    throw error
  }
}

/** What the update lists as the run announced it is no difference any more. */
function withoutAnnouncements(run: ReplayResult, open: readonly Difference[]): ReplayResult {
  const isListed = (code: string): boolean =>
    open.some(({ aspect, error }) => isAnnounced(aspect) && error.code === code)
  return { ...run, problems: run.problems.filter(({ code }) => !isListed(code)) }
}

function isAnnounced(aspect: Difference['aspect']): boolean {
  return aspect === 'messages' || aspect === 'marks' || aspect === 'states'
}

function accepts(mode: UpdateMode, aspect: Difference['aspect'], { expect }: Case): boolean {
  switch (aspect) {
    case 'baseline':
      return mode === 'new' || mode === 'all'
    case 'trace':
    case 'messages':
    case 'marks':
    case 'states':
    case 'outcome':
      return mode === 'all' && expect === 'pass'
    // Questions are accepted on their own, see `acceptedBy`.
    case 'question':
    case 'ending':
      return false
  }
}

/** What makes a green case worth rewriting. */
export interface Renewal {
  /** Keys of its acceptances that no question needs any more. */
  readonly obsolete: readonly string[]
  /** Whether a person or a proof stands for a changed question: then its pins may be behind. */
  readonly isCovered: boolean
}

/**
 * A green case as a run that renews it leaves it: without acceptances that no question needs any more, and with the pins of
 * today's code where a changed question was accepted or proven, or where code was accepted before it was committed.
 */
export function renewed(
  { kase, run, git }: Pick<Acceptance, 'kase' | 'run' | 'git'>,
  { obsolete, isCovered }: Renewal,
): CaseUpdate | undefined {
  const { pins } = kase
  const isCommitted = pins?.accepted?.dirty === true && git?.commit !== undefined && !git.dirty
  const now = pins === undefined ? undefined : pinsNow(pins, run, git)
  const mayBeBehind = isCovered || pins?.accepted !== undefined
  const isBehind = mayBeBehind && pins !== undefined && now !== undefined && !asksTheSame(acceptedPins(pins), now)
  if (obsolete.length === 0 && !isCommitted && !isBehind) return undefined
  const before = readFileSync(kase.file, 'utf8')
  const changes = {
    ...(obsolete.length > 0 && { accepted: (kase.accepted ?? []).filter(({ key }) => !obsolete.includes(key)) }),
    ...((isCommitted || isBehind) && now !== undefined && { pins: now }),
  }
  const text = updateCase(before, changes, kase.file)
  return { type: updateArtifact, file: kase.file, before: textHash(before), text }
}

/** Whether models are asked with the same prompt and tools, and are the same ones. A later commit alone renews nothing. */
function asksTheSame(before: CasePins, { accepted }: CasePins): boolean {
  return (['models', 'prompt', 'tools'] as const).every(
    (name) => JSON.stringify(before[name]) === JSON.stringify(accepted?.[name]),
  )
}

function changesFor({ kase, run, open, git, mode, approval }: Acceptance): CaseChanges {
  const has = (aspect: Difference['aspect']) => open.some((difference) => difference.aspect === aspect)
  const said = run.redactedOutcome
  const ended = run.outcome.status === 'returned' ? said : throwing(factsOfError(said))
  const recorded = run.tape.close && saidOutcome(run.tape.close.outcome)
  return {
    ...((has('trace') || has('baseline')) && {
      baseline: traceOfRun(run),
      exactly: callsLeftOut(run).map(({ name }) => name),
    }),
    ...(has('outcome') && { outcome: ended, ...(recorded !== undefined && { recorded }) }),
    ...(has('messages') && { messages: run.events.flatMap(messageOf) }),
    ...(has('marks') && { marks: run.events.flatMap(markOf) }),
    ...(has('states') && { states: run.states ?? [] }),
    ...(mode === 'all' && kase.pins !== undefined && { pins: pinsNow(kase.pins, run, git) }),
    // As a whole: who approved the last update did not approve this one.
    ...(approval !== undefined && { approved: approval }),
  }
}

/** Those of a wrapped function's body belong to its call: a replay that does not run it has none of them. */
function messageOf(event: TapeEvent): readonly CaseMessage[] {
  if (event.kind !== 'message' || event.in !== undefined) return []
  const { from, to, body } = event
  return [{ from, to, body }]
}

function markOf(event: TapeEvent): readonly CaseMark[] {
  if (event.kind !== 'mark' || event.in !== undefined) return []
  const { name, data } = event
  return [{ name, ...(data !== undefined && { data }) }]
}

/** The pins of a case once what this code does is accepted: those of the recording stay. */
export function pinsNow(recorded: CasePins, run: ReplayResult, git: GitState | null): CasePins {
  const accepted = {
    digest: runDigest(run),
    ...(git?.commit !== undefined && { commit: git.commit, dirty: git.dirty }),
    ...pinsOfReplay(run.tape, run.events),
  }
  return { ...recorded, accepted }
}
