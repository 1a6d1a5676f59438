// Over 300 lines: what the page shows and how that changes, in one place that every view reads.
import { batch, computed, effect, signal } from '@preact/signals'
import type { GoldenData, ReportBody, ReportData, ReportNote, ReportRed, ReportRun, ReportStep } from '../view/types.ts'

/** What the page shows, and which part of it: everything on the page follows from these. */
export const data = signal<ReportData | undefined>(undefined)
export const golden = signal<GoldenData | undefined>(undefined)

const asked = fromAddress()
export const view = signal(asked['view'] ?? 'run')
/** Number of the step; below 0 a note, 0: none was chosen. */
export const step = signal(Number(asked['step']) || 0)
export const tab = signal(asked['tab'] ?? 'talk')
export const query = signal(asked['q'] ?? '')
export const kinds = signal<ReadonlySet<string>>(new Set((asked['kind'] ?? '').split(',').filter(Boolean)))
export const onlyHot = signal(asked['only'] === 'look')
export const toast = signal('')
export const help = signal(false)
export const isPrinting = signal(false)
export const theme = signal(document.documentElement.dataset['theme'] ?? 'light')

function fromAddress(): Readonly<Record<string, string | undefined>> {
  return Object.fromEntries(new URLSearchParams(location.hash.slice(1)))
}

function toAddress(): string {
  const words = new URLSearchParams()
  const set = (name: string, value: string, standard: string): void => {
    if (value !== standard) words.set(name, value)
  }
  set('view', view.value, 'run')
  set('step', String(step.value), '0')
  set('tab', tab.value, 'talk')
  set('q', query.value, '')
  set('kind', [...kinds.value].join(','), '')
  set('only', onlyHot.value ? 'look' : '', '')
  return `#${words}`
}

/** Writes the address as what is shown changes, and follows an address that is pasted or gone back to. */
export function followAddress(): void {
  effect(() => {
    document.documentElement.dataset['theme'] = isPrinting.value ? 'light' : theme.value
  })
  let shownView = view.value
  effect(() => {
    const address = toAddress()
    const isOther = view.value !== shownView
    shownView = view.value
    if (address === location.hash || (address === '#' && location.hash === '')) return
    try {
      // One entry of the history for each view, none for each key.
      if (isOther) history.pushState(null, '', address)
      else history.replaceState(null, '', address)
    } catch {
      // A sandboxed frame has no history: the page works without.
    }
  })
  const obey = (): void => {
    const now = fromAddress()
    batch(() => {
      shownView = now['view'] ?? 'run'
      view.value = shownView
      if (Number(now['step'])) step.value = Number(now['step'])
      tab.value = now['tab'] ?? 'talk'
      query.value = now['q'] ?? ''
      kinds.value = new Set((now['kind'] ?? '').split(',').filter(Boolean))
      onlyHot.value = now['only'] === 'look'
    })
  }
  addEventListener('hashchange', obey)
  addEventListener('popstate', obey)
}

/** The report, where there is one on the page. */
export function report(): ReportData {
  const held = data.value
  if (held === undefined) throw new Error('there is no report on this page')
  return held
}

/** A text by its number. */
export function text(ref: number | undefined): string {
  return ref === undefined ? '' : (data.value?.texts[ref] ?? '')
}

const bodies = new Map<number, string>()
/** The request body of a step; most of it may stand with an earlier one. */
export function bodyOf(of: ReportStep): string {
  const open: ReportStep[] = []
  let at: ReportStep | undefined = of
  while (at?.raw !== undefined && !bodies.has(at.no)) {
    open.push(at)
    at = typeof at.raw.q === 'number' ? undefined : report().run.steps[at.raw.q.like - 1]
  }
  for (const one of open.reverse()) bodies.set(one.no, restored(one.raw?.q))
  return bodies.get(of.no) ?? ''
}

function restored(body: ReportBody | undefined): string {
  if (body === undefined || typeof body === 'number') return text(body)
  const known = bodies.get(body.like) ?? ''
  return known.slice(0, body.head) + text(body.t) + (body.tail === 0 ? '' : known.slice(-body.tail))
}

/** One row of the timeline. */
export interface TimelineRow {
  readonly id: number
  readonly n: number
  readonly at: number
  readonly s?: ReportStep
  readonly note?: ReportNote
  readonly only?: OnlyNow
}

type OnlyNow = ReportRed['only'][number]
export function isAlike(one: OnlyNow, other: OnlyNow): boolean {
  return one.kind === other.kind && one.name === other.name && one.t === other.t
}

export const rows = computed((): readonly TimelineRow[] => {
  if (data.value === undefined) return []
  const { run, replay } = data.value
  const near = run.steps[(replay?.nearest ?? 0) - 1] ?? run.steps.at(-1)
  // A client that gets no answer asks again.
  const only = (replay?.only ?? []).filter((one, index, all) => index === all.findIndex((other) => isAlike(one, other)))
  return [
    ...run.steps.map((s) => ({ id: s.no, n: s.n, at: s.at, s })),
    ...run.notes.map((note, index) => ({ id: -(index + 1), n: note.n, at: note.at, note })),
    ...only.map((only, index) => ({
      id: -(1_000_000 + index),
      n: (near?.n ?? 0) + 0.5,
      at: near?.at ?? 0,
      only,
    })),
  ].sort((one, other) => one.n - other.n)
})

/** Positions that blame names. */
export const decided = computed(() => {
  const blame = data.value?.blame
  return (blame?.verdict?.commitments ?? []).flatMap((commitment) => {
    const position = blame?.steps[commitment.position]
    return position === undefined ? [] : [{ commitment, position }]
  })
})
export const decidedSteps = computed(
  () =>
    new Set(
      decided.value.flatMap(({ commitment, position }) =>
        commitment.how === 'draws' || commitment.isDrawn ? [] : position.steps,
      ),
    ),
)
export const blameOf = computed(
  () => new Map((data.value?.blame?.steps ?? []).flatMap((one) => one.steps.map((no) => [no, one] as const))),
)

/** Steps of this run that differ from those of the other, without those whose address alone differs. */
export const differing = computed(
  () =>
    new Map(
      (data.value?.diff?.steps ?? []).flatMap((row) =>
        row.a !== undefined && row.role !== undefined && row.role !== 'aside' ? [[row.a, row] as const] : [],
      ),
    ),
)
const servedSteps = computed(() => new Set(data.value?.replay?.servedSteps ?? []))

/** How far a replay came; where a question changed, its answer was served all the same. */
export function replayed(
  no: number,
): 'served' | 'parts here' | 'asks otherwise' | 'skipped' | 'not reached' | undefined {
  const red = data.value?.replay
  if (red === undefined) return undefined
  if (red.verdict === 'unproven' && red.drift.some(({ step: changed }) => changed === no)) return 'asks otherwise'
  if (red.nearest === no) return 'parts here'
  if (servedSteps.value.has(no)) return 'served'
  // What ran beside the parting step may have been to come.
  const isBeside = data.value?.run.steps[no - 1]?.par?.includes(red.nearest ?? 0) === true
  return no < (red.nearest ?? 0) && !isBeside ? 'skipped' : 'not reached'
}

/** An error, a retry, a difference, where a test parts, or what decided. */
function isHot(s: ReportStep): boolean {
  return (
    s.err !== undefined ||
    s.again !== undefined ||
    (s.open === true && s.left === undefined) ||
    differing.value.has(s.no) ||
    decidedSteps.value.has(s.no) ||
    data.value?.replay?.nearest === s.no
  )
}

/** A row that is worth a look. */
export function isLook({ s, note, only }: TimelineRow): boolean {
  return only !== undefined || note?.model?.error !== undefined || (s !== undefined && isHot(s))
}

/** What is searched of each row, once and in lower case. */
const haystacks = computed(() => new Map(rows.value.map((row) => [row.id, wordsOf(row).join('\n').toLowerCase()])))

function wordsOf({ s, note, only }: TimelineRow): readonly (string | undefined)[] {
  if (only !== undefined) return [only.kind, only.name, text(only.t)]
  if (note !== undefined) return [note.kind, note.from, note.to, note.name, note.model?.name, text(note.t)]
  if (s === undefined) return []
  return [
    s.name,
    s.lane,
    s.err,
    text(s.args),
    text(s.result),
    text(s.said),
    text(s.thought),
    ...(s.calls ?? []).map((call) => call.text),
    ...(s.prompt?.msgs.slice(-4).map(({ t }) => text(t)) ?? []),
  ]
}

const words = computed(() => query.value.trim().split(/\s+/).filter(Boolean))
/** The word to be marked in texts. */
export const found = computed(() => words.value.find((word) => !/^(?:kind|lane|agent|is):|^>\d/.test(word)))

function testOf(word: string): (row: TimelineRow) => boolean {
  const [, name = '', value = ''] = /^(kind|lane|agent|is):(.+)$/.exec(word) ?? []
  if (name === 'kind') return ({ s, note, only }) => (s ?? note ?? only)?.kind === value
  if (name === 'lane' || name === 'agent') return ({ s }) => s?.lane === value
  if (name === 'is')
    return ({ s, note }) => (s === undefined ? value === 'error' && note?.model?.error !== undefined : isOf(s, value))
  const slow = /^>(\d+)ms$/.exec(word)
  if (slow !== null) return ({ s }) => (s?.took ?? 0) > Number(slow[1])
  const low = word.toLowerCase()
  return ({ id }) => haystacks.value.get(id)?.includes(low) === true
}

function isOf(s: ReportStep, what: string): boolean {
  if (what === 'error') return s.err !== undefined
  if (what === 'retry') return s.again !== undefined
  if (what === 'blamed') return decidedSteps.value.has(s.no)
  return what === 'differs' && (differing.value.has(s.no) || data.value?.replay?.nearest === s.no)
}

/** The rows that search and filters leave. */
export const shown = computed(() => {
  const tests = words.value.map(testOf)
  const isWanted = ({ s }: TimelineRow): boolean => kinds.value.size === 0 || kinds.value.has(s?.kind ?? 'note')
  return rows.value.filter(
    (row) => isWanted(row) && (!onlyHot.value || isLook(row)) && tests.every((test) => test(row)),
  )
})

export const current = computed(
  () => rows.value.find(({ id }) => id === step.value) ?? rows.value.find(({ s }) => s !== undefined),
)

/** An import that holds no times has none on this page: its order stands in their place. */
export const isTimed = computed(() => isTimedRun(data.value?.run))

/** Whether a run has times. */
export function isTimedRun(run: ReportRun | undefined): boolean {
  const missing = run?.imported?.missing ?? []
  return !missing.includes('timings') && !missing.includes('starts')
}

/** The step a page opens at. */
export function firstStep({ replay, run, diff }: ReportData): number {
  const parting = replay?.nearest ?? [...decidedSteps.value][0] ?? diff?.parts?.a
  return parting ?? run.steps.find(({ err }) => err !== undefined)?.no ?? cutOffAt(run)?.no ?? 1
}

/** The step in which a truncated run ended. */
export function cutOffAt({ truncated, steps }: ReportRun): ReportStep | undefined {
  return truncated ? steps.findLast(({ open }) => open === true) : undefined
}

export async function copy(what: string, name: string, note = ''): Promise<void> {
  try {
    await navigator.clipboard.writeText(what)
  } catch {
    // A page opened from disk may have no clipboard: the old way works there.
    const area = document.createElement('textarea')
    area.value = what
    document.body.append(area)
    area.select()
    document.execCommand('copy')
    area.remove()
  }
  const said = `${name} copied${note}`
  toast.value = said
  setTimeout(() => toast.value === said && (toast.value = ''), note === '' ? 1400 : 6000)
}

/** Copies the address of what is shown. */
export function copyLink(): Promise<void> {
  return copy(
    location.href,
    'link',
    location.protocol === 'file:' ? '; it opens beside this file: send the file too' : '',
  )
}

/** Why the run cannot be replayed, and so neither forked nor blamed; `undefined`: it can. */
export function whyNotRerun(): string | undefined {
  const { truncated, imported } = report().run
  if (truncated) return ' The tape is truncated, so the run cannot be replayed: neither forked nor blamed.'
  if (imported?.grade === 'signature-only')
    return ' The tape says which tools were called, and not what models were asked: it cannot be replayed, forked or blamed.'
  if (imported?.grade === 'timeline-only')
    return ' The tape says that something was asked, and when: it cannot be replayed, forked or blamed.'
  return undefined
}
