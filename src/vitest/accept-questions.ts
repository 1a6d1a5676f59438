import {
  type AcceptedChange,
  type Case,
  type CaseApproval,
  isInTime,
  modelText,
  type ProvenChange,
  readAcceptedFile,
  validProofs,
} from '../cases/index.ts'
import { neutralLine } from '../errors/index.ts'
import { counted } from '../errors/words.ts'
import { readModelCall } from '../providers/index.ts'
import type { ChangedQuestion } from '../replay/index.ts'
import type { ReplayResult } from '../match/types.ts'
import type { HarvestProvided } from './channel.ts'

/** Changes that were accepted, in a case and for all cases. */
export interface Acceptances {
  /** Of the case and of all cases, without those that are too old. */
  readonly keys: ReadonlySet<string>
  /** Every entry that counts, the case's own first. */
  readonly entries: readonly AcceptedChange[]
  /** Of those that are too old, by key: when and by whom, and how long it counted. */
  readonly expired: ReadonlyMap<string, string>
}

/**
 * What was accepted for a case, in its own file and in `recordings/accepted.yaml`.
 *
 * @param own - absent for a hand-written test
 * @throws what {@link readAcceptedFile} throws
 */
export function acceptancesFor(
  own: readonly AcceptedChange[] | undefined,
  { acceptedFile, settings }: Pick<HarvestProvided, 'acceptedFile' | 'settings'>,
  now = Date.now(),
): Acceptances {
  const { acceptedMaxDays } = settings
  const all = [...(own ?? []), ...readAcceptedFile(acceptedFile)]
  const entries = all.filter((entry) => acceptedMaxDays === undefined || isInTime(entry.at, acceptedMaxDays, now))
  const keys = new Set(entries.map(({ key }) => key))
  const old = all.filter(({ key }) => !keys.has(key))
  return { keys, entries, expired: new Map(old.map((entry) => [entry.key, expiredText(entry, acceptedMaxDays)])) }
}

function expiredText({ at, by }: AcceptedChange, days = 0): string {
  const who = by === undefined ? '' : ` by ${by}`
  return neutralLine(`${at ?? 'on no known day'}${who}: counts for ${counted(days, 'day')} from then`)
}

/**
 * The entries with which this run accepts changed questions; none when it accepts nothing.
 *
 * Data, which is what one run is about, is accepted by its key or where someone named the case: no one looks at a
 * hundred changes at once.
 */
export function acceptedBy(
  { update, accept, approval }: Pick<HarvestProvided, 'update' | 'accept' | 'approval'>,
  unproven: readonly ChangedQuestion[],
): readonly AcceptedChange[] {
  if (update !== 'all' && update !== 'questions') return []
  const keys = accept?.keys
  const wanted = unproven.filter(({ key, isData }) =>
    keys === undefined ? isData !== true || accept?.withData === true : keys.includes(key),
  )
  return wanted.map((question) => entryOf(question, approval))
}

function entryOf({ key, class: what, was, now, words }: ChangedQuestion, approval: CaseApproval = {}): AcceptedChange {
  return { key, what, was, now, words, ...approval }
}

/** The proofs of a case that count for what this run asked its models. */
export function proofsFor(
  kase: Case,
  run: ReplayResult,
  { settings }: Pick<HarvestProvided, 'settings'>,
  now = Date.now(),
): readonly ProvenChange[] {
  if (kase.proven === undefined) return []
  const asked = new Set(run.drift.flatMap(({ policy, key }) => (policy === 'unproven' ? [key] : [])))
  const models = run.events.flatMap((event) => {
    const model = event.kind === 'exchange' ? readModelCall(event)?.request.model : undefined
    return model === undefined || model === '' ? [] : [model]
  })
  return validProofs(kase, { asked, model: modelText(models), maxDays: settings.prove.maxDays, now })
}
