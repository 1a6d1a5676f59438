import { neutralLine, shellWord } from '../errors/index.ts'
import { acceptChanges, acceptedBefore, type AskedChange } from '../replay/accept-request.ts'
import type { QuestionCounts } from './channel.ts'
import { labelOf, type SummaryLine } from './summary.ts'
import { mostFiles } from './update-mode.ts'

/** Who asked changed questions: a case, or a hand-written test. */
export interface QuestionOwner {
  /** `golden/refund-100x`, or the full name of a test. */
  readonly name: string
  readonly questions: QuestionCounts
  /** It is red for more than its questions: no acceptance reaches it. */
  readonly isDifferent?: boolean
}

/** Changes that are named one by one. */
const shownChanges = 9

/** Cases that are named for one change. */
const shownNames = 3

/** Changes by key, those that most cases have first. */
export function changesOf(
  askers: readonly QuestionOwner[],
  of: 'unproven' | 'accepted' | 'notJudged',
): readonly AskedChange[] {
  const asked = askers.flatMap(({ name, questions }) => questions[of].map((question) => ({ name, question })))
  return [...Map.groupBy(asked, ({ question }) => question.key).values()]
    .flatMap((same) => {
      // What it was accepted for is said of whoever asks more.
      const first = same.find(({ question }) => question.acceptedAt !== undefined) ?? same[0]
      return first ? [{ question: first.question, names: [...new Set(same.map(({ name }) => name))] }] : []
    })
    .sort((a, b) => b.names.length - a.names.length)
}

/** What was not accepted, and the command that accepts what can be: nothing of what is different. */
export function unprovenLines(askers: readonly QuestionOwner[]): readonly SummaryLine[] {
  const changes = changesOf(askers, 'unproven')
  if (changes.length === 0) return []
  const within = askers.filter(({ isDifferent }) => isDifferent !== true)
  const acceptable = new Set(changesOf(within, 'unproven').map(({ question }) => question.key))
  const shown = changes.slice(0, shownChanges)
  const rows = shown.map(({ question, names }, at): SummaryLine => {
    const { key, part, words, isData } = question
    const also = acceptedBefore({ question, names }) + (acceptable.has(key) ? '' : '; red for more than this')
    return [
      at === 0 ? 'Unproven' : '',
      `${part}${isData ? ' (data)' : ''}  ${neutralLine(words, 200)}   ${namesText(names)}${also}`,
    ]
  })
  const more = changes.length - shown.length
  const keys = shown.flatMap(({ question: { key } }) => (acceptable.has(key) ? [key] : []))
  const what = changes.length === 1 ? 'it' : keys.length === shown.length ? 'what is shown' : 'the others'
  return [
    ...rows,
    ...(more > 0 ? [['', `and ${more} more changes: npx vitest-harvest accept --list`] as const] : []),
    ...(keys.length === 0 ? [] : [['', `to accept ${what}: ${acceptChanges(keys)}`] as const]),
  ]
}

/** Of what is waited for, done late or not run it is unknown whether it does another thing. */
function silentText({ question: { class: name, part, words }, names }: AskedChange): string {
  if (name === 'functions') return `${part} changed and did not run, --tools run runs it   ${namesText(names)}`
  const shown = name === 'awaits' ? `${part}: ${neutralLine(words, 200)}   ` : `${part} changed in `
  return shown + namesText(names)
}

/** What a green run rests on, and what it says nothing about. */
export function proofLines(askers: readonly QuestionOwner[]): readonly SummaryLine[] {
  const accepted = changesOf(askers, 'accepted').slice(0, shownChanges).map(acceptedLine)
  const proven = provenOf(askers)
  const notJudged = changesOf(askers, 'notJudged')
  const silent = notJudged
    .slice(0, shownChanges)
    .map((change): SummaryLine => ['Not judged', `${silentText(change)}: green says nothing about it`])
  const more = notJudged.length - silent.length
  const obsolete = askers.filter(({ questions }) => questions.obsolete.length > 0)
  return [
    ...accepted,
    ...proven,
    ...silent,
    ...uncomparedLines(askers),
    ...(more > 0 ? [['', `and ${more} more`] as const] : []),
    ...[true, false].flatMap((isRed) => obsoleteLines(obsolete, isRed)),
  ]
}

function obsoleteLines(askers: readonly QuestionOwner[], isRed: boolean): readonly SummaryLine[] {
  const some = askers.filter((one) => isOpen(one) === isRed)
  if (some.length === 0) return []
  const count = some.reduce((sum, { questions }) => sum + questions.obsolete.length, 0)
  const names = some.map(({ name }) => name)
  return [['Obsolete', `accepted and no longer asked: ${count} (${shortNames(names)}): ${toRemove(names, isRed)}`]]
}

/** Whether an update would accept something of it. */
export function isOpen({ questions, isDifferent }: QuestionOwner): boolean {
  return isDifferent === true || questions.unproven.length > 0
}

/**
 * How acceptances go that are not needed any more. The update that removes them accepts what is red, so it is named where
 * nothing is.
 */
export function toRemove(names: readonly string[], isRed: boolean): string {
  if (isRed) return 'to be removed by an update once the rest is green'
  const words = ['test', ...names.slice(0, mostFiles)]
  return `npx vitest-harvest ${words.map(shellWord).join(' ')} --update-recordings --reason "…"`
}

/** What hand-written tests could not compare, each with its place; the totals name that of cases. */
function uncomparedLines(askers: readonly QuestionOwner[]): readonly SummaryLine[] {
  const all = askers.flatMap(({ name, questions }) =>
    (questions.notCompared ?? []).map(({ kind, step, path }) => ({
      label: labelOf(kind),
      text: `not compared: ${kind} (${neutralLine(name, 80)}${step === undefined ? '' : ` step ${step}`}: ${path})`,
    })),
  )
  const lines = all.slice(0, shownChanges).map(({ label, text }): SummaryLine => [label, text])
  return all.length > lines.length ? [...lines, ['', `and ${all.length - lines.length} more not compared`]] : lines
}

/** One line a change: of several cases the one that shows least. */
function provenOf(askers: readonly QuestionOwner[]): readonly SummaryLine[] {
  const all = askers.flatMap(({ questions }) => questions.proven)
  return [...Map.groupBy(all, ({ key }) => key).values()].slice(0, shownChanges).flatMap((same): SummaryLine[] => {
    const [least] = same.toSorted((a, b) => a.atLeast - b.atLeast)
    if (least === undefined) return []
    const { part, good, asked, atLeast, model, at } = least
    const cases = same.length === 1 ? [] : [plural(same.length)]
    const facts = [...cases, `${good} of ${asked} good`, `at least ${atLeast.toFixed(2)}`, model, at.slice(0, 10)]
    return [['Proven', `${part} (${facts.join(', ')})`]]
  })
}

function acceptedLine({ question, names }: AskedChange): SummaryLine {
  const { part, at, by, reason } = question
  const who = [by, reason].filter((text) => text !== undefined).join(': ')
  const facts = [plural(names.length), ...(at === undefined ? [] : [at.slice(0, 10)]), ...(who === '' ? [] : [who])]
  return ['Accepted', `${part} (${facts.join(', ')})`]
}

/** `3 cases: refund-a, refund-b, refund-c`. */
function namesText(names: readonly string[]): string {
  return `${plural(names.length)}: ${shortNames(names)}`
}

function shortNames(names: readonly string[]): string {
  const shown = names.slice(0, shownNames).map((name) => neutralLine(name, 80))
  return names.length > shown.length ? `${shown.join(', ')} and ${names.length - shown.length} more` : shown.join(', ')
}

function plural(count: number): string {
  return `${count} case${count === 1 ? '' : 's'}`
}
