import {
  type Case,
  type CaseApproval,
  entriesFor,
  greenSteps,
  modelText,
  type NamedAcceptance,
  type ProvenChange,
  readAcceptedFile,
  stillCounted,
  validProofs,
} from '../cases/index.ts'
import { neutralLine } from '../errors/index.ts'
import { counted } from '../errors/words.ts'
import { readModelCall } from '../providers/index.ts'
import { type ChangedQuestion, changedQuestions, type GreenSteps, isAtEveryStep } from '../replay/index.ts'
import type { ReplayResult } from '../match/types.ts'
import type { HarvestProvided, ReviewedChange } from './channel.ts'

/** Changes that were accepted, in a case and for all cases. */
export interface Acceptances {
  /** Of the case and of all cases, without those that are too old. */
  readonly green: GreenSteps
  /** Every entry that counts, the case's own first. */
  readonly entries: readonly NamedAcceptance[]
  /** Of those that are too old, by key: when and by whom, and how long it counted. */
  readonly expired: ReadonlyMap<string, string>
}

/**
 * What was accepted for a case, in its own file and in `recordings/accepted.yaml`.
 *
 * @param asker - a case; of a hand-written test, its tape
 * @throws what {@link readAcceptedFile} throws
 */
export function acceptancesFor(
  { id, accepted: own = [] }: Pick<Case, 'id' | 'accepted'>,
  { acceptedFile, settings }: Pick<HarvestProvided, 'acceptedFile' | 'settings'>,
  now = Date.now(),
): Acceptances {
  const { acceptedMaxDays } = settings
  const all = entriesFor(id, own, readAcceptedFile(acceptedFile))
  const entries = stillCounted(all, acceptedMaxDays, now)
  const green = greenSteps(entries)
  const old = all.filter(({ key, isOfOthers }) => !green.has(key) && isOfOthers !== true)
  return { green, entries, expired: new Map(old.map((entry) => [entry.key, expiredText(entry, acceptedMaxDays)])) }
}

/** With these changes green at every step. */
export function withAll(green: GreenSteps, changes: readonly Pick<ReviewedChange, 'key'>[]): GreenSteps {
  return new Map([...green, ...changes.map(({ key }) => [key, 'all'] as const)])
}

function expiredText({ at, by }: NamedAcceptance, days = 0): string {
  const who = by === undefined ? '' : ` by ${by}`
  return neutralLine(`${at ?? 'on no known day'}${who}: counts for ${counted(days, 'day')} from then`)
}

/**
 * The entries with which this run accepts changed questions; none when it accepts nothing.
 *
 * Data, which is what one run is about, is accepted by its key or where someone named the case: no one looks at a
 * hundred changes at once.
 *
 * @param own - what the case itself accepts already
 */
export function acceptedBy(
  { update, accept, approval }: Pick<HarvestProvided, 'update' | 'accept' | 'approval'>,
  unproven: readonly ChangedQuestion[],
  { drift, tape }: Pick<ReplayResult, 'drift' | 'tape'>,
  own: Case['accepted'] = [],
): readonly ReviewedChange[] {
  if (update !== 'all' && update !== 'questions') return []
  const keys = accept?.keys
  const wanted = unproven.filter(({ key, isData }) =>
    keys === undefined ? isData !== true || accept?.withData === true : keys.includes(key),
  )
  return wanted.map((question) => ({
    ...entryOf(question, approval),
    isEverywhere: isAtEveryStep(
      drift.filter(({ key }) => key === question.key),
      tape,
    ),
    ...(own.some(({ key, steps }) => key === question.key && steps !== undefined) && { hasOwnSteps: true }),
  }))
}

function entryOf({ key, class: what, was, now, words, steps }: ChangedQuestion, approval: CaseApproval = {}) {
  return { key, what, was, now, words, steps: steps.toSorted((a, b) => a - b), ...approval }
}

/** The proofs of a case that count for what this run asked its models. */
export function proofsFor(
  kase: Case,
  run: ReplayResult,
  { settings }: Pick<HarvestProvided, 'settings'>,
  now = Date.now(),
): readonly ProvenChange[] {
  if (kase.proven === undefined) return []
  const questions = changedQuestions(run.drift.filter(({ policy }) => policy === 'unproven'))
  const asked = new Map(questions.map(({ key, steps }) => [key, steps]))
  const models = run.events.flatMap((event) => {
    const model = event.kind === 'exchange' ? readModelCall(event)?.request.model : undefined
    return model === undefined || model === '' ? [] : [model]
  })
  return validProofs(kase, { asked, model: modelText(models), maxDays: settings.prove.maxDays, now })
}
