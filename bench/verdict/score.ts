import { wilson } from '../../src/stats/index.ts'
import type { Bar, Table } from '../kit/contract.ts'
import type { Accepted } from './accept.ts'
import { subjects } from './agents/index.ts'
import type { Kind } from './edits.ts'
import type { Variant } from './project.ts'
import type { Replayed } from './replayed.ts'
import type { Verdict } from './verdict-of.ts'

/** Everything that was measured. */
export interface Measured {
  readonly variants: readonly Variant[]
  readonly replayed: ReadonlyMap<string, Replayed>
  readonly sample: Sample
  /** Absent where nothing can be accepted. */
  readonly accepted: Accepted | undefined
}

/** Edits that went through Vitest as well. */
export interface Sample {
  readonly edits: number
  /** Verdicts, by case and by hand, that are others there. */
  readonly others: readonly string[]
}

type By = 'case' | 'hand'

const verdicts: readonly Verdict[] = ['same', 'unproven', 'different']

/** What each kind of edit should come to. */
const wanted: Readonly<Record<Kind, readonly Verdict[]>> = {
  meaning: ['different', 'unproven'],
  harmless: ['same'],
  question: ['unproven'],
}

const names: Readonly<Record<Kind, string>> = {
  meaning: 'changes what is asked or done',
  harmless: 'leaves every question alone',
  question: 'harmless, and changes a question',
}

/** All tables. */
export function tablesOf(measured: Measured): readonly Table[] {
  return [summary(measured), byTopic(measured), byAgent(measured), wrong(measured), ...disagreements(measured)]
}

function summary({ variants, replayed }: Measured): Table {
  const rowsOf = (those: readonly Variant[], list: string): readonly string[][] =>
    kinds().flatMap((kind) =>
      (['case', 'hand'] as const).map((by) => {
        const of = verdictsOf(those, replayed, kind, by)
        const shares = verdicts.map((verdict) => share(of.filter((each) => each === verdict).length, of.length))
        return [names[kind] + list, by === 'case' ? 'case' : 'test by hand', String(of.length), ...shares]
      }),
    )
  const rows = [
    ...rowsOf(firstOf(variants), ''),
    ...rowsOf(
      variants.filter(({ isSecond }) => isSecond),
      ' (second list, written after the rules)',
    ),
  ]
  return { title: 'Verdicts (Wilson, 95 %)', columns: ['edit', 'in a', 'edits', ...verdicts], rows }
}

function byTopic({ variants: all, replayed }: Measured): Table {
  const variants = firstOf(all)
  const topics = [...new Set(edited(variants, 'meaning').map(({ edit }) => edit!.of))].sort()
  const rows = topics.map((topic) => {
    const of = edited(variants, 'meaning').filter(({ edit }) => edit!.of === topic)
    const count = (by: By, verdict: Verdict) =>
      String(of.filter(({ id }) => replayed.get(id)![by].verdict === verdict).length)
    return [topic, String(of.length), ...verdicts.map((verdict) => count('case', verdict)), count('hand', 'same')]
  })
  return {
    title: 'Edits that change what is asked or done',
    columns: ['of', 'edits', ...verdicts, 'same, by hand'],
    rows,
  }
}

function byAgent({ variants: all, replayed }: Measured): Table {
  const variants = firstOf(all)
  const rows = subjects.map(({ name, of }) => {
    const mine = variants.filter(({ agent }) => agent === name)
    const right = kinds().map((kind) => {
      const those = verdictsOf(mine, replayed, kind, 'case')
      return `${those.filter((verdict) => wanted[kind].includes(verdict)).length}/${those.length}`
    })
    return [name, of, ...right]
  })
  return {
    title: 'By agent: edits that were judged rightly, in cases',
    columns: ['agent', '', ...kinds().map((kind) => names[kind])],
    rows,
  }
}

/** Every wrong verdict, by the id of its edit. */
function wrong({ variants, replayed }: Measured): Table {
  const rows = variants.flatMap(({ id, edit }) => {
    if (edit === undefined) return []
    const of = replayed.get(id)!
    if ([of.case, of.hand].every(({ verdict }) => wanted[edit.kind].includes(verdict))) return []
    const { code = '', what = '' } = wanted[edit.kind].includes(of.case.verdict) ? of.hand : of.case
    return [[id, names[edit.kind], edit.of, edit.name, of.case.verdict, of.hand.verdict, `${code} ${what}`.trim()]]
  })
  return { title: 'Wrong verdicts', columns: ['edit', 'it', 'of', '', 'case', 'by hand', 'because'], rows }
}

function disagreements({ sample, accepted }: Measured): readonly Table[] {
  const complaints = [...sample.others, ...(accepted?.complaints ?? [])]
  if (complaints.length === 0) return []
  return [{ title: 'In Vitest, and after accepting', columns: ['what'], rows: complaints.map((each) => [each]) }]
}

/** What was promised. */
export function barsOf(measured: Measured): readonly Bar[] {
  const { replayed, sample, accepted } = measured
  const variants = firstOf(measured.variants)
  const count = (kind: Kind, by: By, verdict: Verdict) =>
    verdictsOf(variants, replayed, kind, by).filter((each) => each === verdict).length
  const total = (kind: Kind) => edited(variants, kind).length
  const both = (kind: Kind, verdict: Verdict) => count(kind, 'case', verdict) + count(kind, 'hand', verdict)
  const unproven = edited(variants, 'question').filter(({ id }) => replayed.get(id)?.case.verdict === 'unproven')
  const ofOneKey = unproven.filter(({ id }) => replayed.get(id)?.keys.length === 1)
  return [
    { what: 'edits that change what is asked or done', value: total('meaning'), limit: { atLeast: 400 } },
    {
      what: 'of these, green in a case',
      value: count('meaning', 'case', 'same'),
      parts: { different: count('meaning', 'case', 'different'), unproven: count('meaning', 'case', 'unproven') },
      limit: { atMost: 0 },
      claim: 'Changed questions, arguments, headers or messages that stay green',
    },
    { what: 'of these, green in a test by hand', value: count('meaning', 'hand', 'same'), limit: { atMost: 0 } },
    { what: 'edits that leave every question alone', value: total('harmless'), limit: { atLeast: 150 } },
    {
      what: 'of these, called different, as a share',
      value: both('harmless', 'different') / (2 * total('harmless')),
      limit: { atMost: 0.01 },
      claim: 'Harmless edits that change no question and are called different, as a share',
    },
    { what: 'of these, called unproven', value: both('harmless', 'unproven'), limit: { atMost: 0 } },
    { what: 'harmless edits that change a question', value: total('question'), limit: { atLeast: 80 } },
    {
      what: 'of these, called unproven, as a share',
      value: both('question', 'unproven') / (2 * total('question')),
      limit: { atLeast: 1 },
      claim: 'Harmless edits that change a question and are called unproven, as a share',
    },
    {
      what: 'of those unproven, with one key to look at, as a share',
      value: unproven.length === 0 ? 0 : ofOneKey.length / unproven.length,
      limit: { atLeast: 0.9 },
    },
    {
      what: 'green after they were accepted once, as a share',
      value: accepted === undefined || accepted.accepted === 0 ? 0 : accepted.green / accepted.accepted,
      limit: { atLeast: 1 },
      claim: 'Of these, green once they were accepted, as a share',
    },
    {
      what: 'unproven as before while others were accepted, as a share',
      value: accepted === undefined || accepted.others === 0 ? 0 : accepted.unproven / accepted.others,
      limit: { atLeast: 1 },
    },
    {
      what: 'things that changed beside what was accepted',
      value: accepted?.complaints.filter((each) => each.startsWith('recordings/')).length ?? 0,
      limit: { atMost: 0 },
    },
    { what: 'edits that went through Vitest as well', value: sample.edits, limit: { atLeast: 60 } },
    { what: 'other verdicts there', value: sample.others.length, limit: { atMost: 0 } },
  ]
}

function verdictsOf(
  variants: readonly Variant[],
  replayed: ReadonlyMap<string, Replayed>,
  kind: Kind,
  by: By,
): readonly Verdict[] {
  return edited(variants, kind).map(({ id }) => replayed.get(id)![by].verdict)
}

/** Without the second list. */
export function firstOf(variants: readonly Variant[]): readonly Variant[] {
  return variants.filter(({ isSecond }) => isSecond !== true)
}

function edited(variants: readonly Variant[], kind: Kind): readonly Variant[] {
  return variants.filter(({ edit }) => edit?.kind === kind)
}

function kinds(): readonly Kind[] {
  return ['meaning', 'harmless', 'question']
}

function share(part: number, whole: number): string {
  if (whole === 0) return '0'
  const { low, high } = wilson(part, whole)
  return `${part} (${percent(low)}–${percent(high)} %)`
}

function percent(value: number): string {
  return (100 * value).toFixed(1)
}
