import { neutralLine } from '../errors/index.ts'
import { type Draw, type DrawsEvent, isTimed } from '../tape/index.ts'
import { confidenceText } from './confidence.ts'
import { duration } from './describe.ts'
import type { Screen } from './output.ts'
import type { PrintedMessage } from './conversation.ts'
import { foldText } from './fold.ts'
import { counted, grouped } from '../errors/words.ts'
import { type TimelineNote, openText, type Run, type RunStep } from './run.ts'
import { callSpendingText } from './spending.ts'

export interface TimelineOptions {
  readonly width: number
  /** Every text whole. */
  readonly isFull: boolean
  /** Steps and notes printed: the first and the last ones. */
  readonly limit: number
  /** Clock, random and id reads are listed one by one. */
  readonly withDraws: boolean
}

type Entry =
  | { readonly kind: 'step'; readonly n: number; readonly depth: number; readonly step: RunStep }
  | { readonly kind: 'note'; readonly n: number; readonly depth: number; readonly note: TimelineNote }
  | { readonly kind: 'draws'; readonly n: number; readonly depth: number; readonly draws: DrawsEvent }

/** Prints the steps of a run in the order they began, what happened inside a tool call below it. */
export function printTimeline(run: Run, options: TimelineOptions, screen: Screen): void {
  const entries = inOrder(run, options.withDraws)
  if (entries.length === 0) return screen.line(screen.paint('dim', 'no steps'))
  const columns = columnsOf(run.steps, isTimed(run.header))
  const head = Math.ceil(options.limit / 2)
  const isCut = entries.length > options.limit
  for (const [index, entry] of entries.entries()) {
    if (isCut && index === head)
      screen.line(skipped(entries.slice(head, entries.length - options.limit + head), screen))
    if (isCut && index >= head && index < entries.length - options.limit + head) continue
    for (const line of linesOf(entry, columns, options, screen)) screen.line(line)
  }
}

/** Steps, notes and draws as a tree walked from the top: children follow their tool call, all by the moment they began. */
function inOrder({ steps, notes, draws }: Run, withDraws: boolean): readonly Entry[] {
  const depths: number[] = []
  const depthOf = (inside: number | undefined): number => (inside === undefined ? 0 : (depths[inside - 1] ?? 0) + 1)
  for (const { number, inside } of steps) depths[number - 1] = depthOf(inside)
  const all: (Entry & { readonly inside?: number | undefined })[] = [
    ...steps.map((step) => ({
      kind: 'step' as const,
      n: step.n,
      depth: depthOf(step.inside),
      step,
      inside: step.inside,
    })),
    ...notes.map((note) => ({
      kind: 'note' as const,
      n: note.n,
      depth: depthOf(note.inside),
      note,
      inside: note.inside,
    })),
    ...(withDraws ? draws.map((event) => ({ kind: 'draws' as const, n: event.n, depth: 0, draws: event })) : []),
  ]
  const below = Map.groupBy(
    all.sort((a, b) => a.n - b.n),
    ({ inside }) => inside,
  )
  const walk = (inside: number | undefined): Entry[] =>
    (below.get(inside) ?? []).flatMap((entry) => [entry, ...(entry.kind === 'step' ? walk(entry.step.number) : [])])
  return walk(undefined)
}

function skipped(entries: readonly Entry[], { paint }: Screen): string {
  const numbers = entries.flatMap((entry) => (entry.kind === 'step' ? [entry.step.number] : []))
  const [first, last] = [Math.min(...numbers), Math.max(...numbers)].map((number) => grouped(number))
  const what = numbers.length === 0 ? 'marks and draws' : `steps ${first} to ${last}`
  return paint('dim', `… ${what} not shown: --steps ${entries.length * 2}, or --step N for one`)
}

interface Columns {
  readonly number: number
  /** 0: the run has no times, and none is printed. */
  readonly at: number
  readonly took: number
  readonly kind: number
  /** 0: the run has one conversation, and nothing is said of it. */
  readonly lane: number
}

function columnsOf(steps: readonly RunStep[], hasTimes: boolean): Columns {
  const widest = (texts: readonly string[]): number => texts.reduce((most, { length }) => Math.max(most, length), 0)
  const lanes = new Set(steps.map(({ lane }) => lane))
  return {
    number: `${steps.length}`.length,
    at: !hasTimes ? 0 : widest(steps.map(({ atMs }) => `+${duration(atMs)}`)),
    took: !hasTimes ? 0 : widest(steps.map(({ tookMs }) => (tookMs === undefined ? '…' : duration(tookMs)))),
    kind: widest(steps.map(({ kind }) => kind)),
    lane: lanes.size < 2 ? 0 : widest([...lanes].map(laneText)),
  }
}

/** Names of agents are recorded text. */
function laneText(lane: string): string {
  return neutralLine(lane, 16)
}

function linesOf(entry: Entry, columns: Columns, options: TimelineOptions, screen: Screen): readonly string[] {
  switch (entry.kind) {
    case 'step':
      return [headOf(entry.step, entry.depth, columns, options, screen), ...body(entry, columns, options, screen)]
    case 'note': {
      const { kind, atMs, text } = entry.note
      const time = columns.at === 0 ? '' : `${`+${duration(atMs)}`.padStart(columns.at)}  `
      const start = `${' '.repeat(columns.number + 2 + 2 * entry.depth)}${time}`
      const label = `${kind}  `
      const [first = '', ...more] = foldText(text, roomOf(options, start.length + label.length))
      return [
        `${screen.paint('dim', start)}${screen.paint('magenta', label)}${first}`,
        ...more.map((line) => `${' '.repeat(start.length + label.length)}${line}`),
      ]
    }
    case 'draws':
      return entry.draws.draws.map((draw) =>
        screen.paint('dim', `${' '.repeat(columns.number + 2)}${drawText(entry.draws, draw, columns)}`),
      )
  }
}

function drawText({ at }: DrawsEvent, [kind, caller, value]: Draw, { at: width }: Columns): string {
  const read = kind === 'now' && typeof value === 'number' ? `${value} (${timeOf(value)})` : JSON.stringify(value)
  return `${`+${duration(at)}`.padStart(width)}  ${kind}  ${neutralLine(read, 60)}  by ${neutralLine(caller, 40)}`
}

function timeOf(ms: number): string {
  const time = new Date(ms)
  return Number.isNaN(time.getTime()) ? 'no time' : time.toISOString()
}

function headOf(step: RunStep, depth: number, columns: Columns, { width }: TimelineOptions, screen: Screen): string {
  const { number, atMs, tookMs, kind, name, lane, retryOf, during, duringCount } = step
  const hasTimes = columns.at > 0
  const indent = ' '.repeat(2 * depth)
  const ordinal = indent + `${number}`.padStart(columns.number)
  const began = hasTimes ? [`+${duration(atMs)}`.padStart(columns.at)] : []
  const rest = [
    ...(hasTimes ? [(tookMs === undefined ? '…' : duration(tookMs)).padStart(columns.took)] : []),
    ...(columns.lane === 0 ? [] : [laneText(lane).padEnd(columns.lane)]),
    kind.padEnd(columns.kind),
  ]
  const more = duringCount - during.length
  const isAlone = duringCount === 0 || !hasTimes
  const marks = isAlone ? '' : `  ∥ ${during.join(', ')}${more > 0 ? ` and ${more} more` : ''}`
  const retry = retryOf === undefined ? '' : `  retry of ${retryOf}`
  const tokens = kind === 'model' ? `  ${callSpendingText(step)}` : ''
  const taken = [ordinal, ...began, ...rest, marks + retry + tokens].join('  ').length
  const title = neutralLine(name, Math.max(20, width - taken))
  return [
    ordinal,
    ...began.map((time) => screen.paint('dim', time)),
    ...rest,
    `${screen.paint('bold', title)}${screen.paint('yellow', retry)}${screen.paint('cyan', marks)}${screen.paint('dim', tokens)}`,
  ].join('  ')
}

/** Widest label of a step's lines. */
const labelWidth = 7

function body(
  { step, depth }: Extract<Entry, { kind: 'step' }>,
  columns: Columns,
  options: TimelineOptions,
  screen: Screen,
): readonly string[] {
  const indent = ' '.repeat(columns.number + 2 + 2 * depth)
  const room = roomOf(options, indent.length + labelWidth + 2)
  return partsOf(step).flatMap(({ label, text, isOurs = false, isBad = false }) => {
    const rows = isOurs ? [text] : foldText(text, room)
    const paint = (row: string): string => (isBad ? screen.paint('red', row) : row)
    return rows.map((row, i) =>
      `${indent}${screen.paint(isBad ? 'red' : 'dim', (i === 0 ? label : '').padEnd(labelWidth))}  ${paint(row)}`.trimEnd(),
    )
  })
}

function roomOf({ width, isFull }: TimelineOptions, taken: number): { width: number; lines?: number } {
  return { width: Math.max(20, width - taken), ...(isFull ? {} : { lines: 4 }) }
}

interface Part {
  readonly label: string
  readonly text: string
  /** Our own words: printed as they are. */
  readonly isOurs?: boolean
  readonly isBad?: boolean
}

function partsOf(step: RunStep): readonly Part[] {
  const { kind, error, isOpen } = step
  return [
    ...(kind === 'model' ? modelParts(step) : callParts(step)),
    ...(error === undefined ? [] : [{ label: 'error', text: error, isBad: true }]),
    ...(isOpen ? [{ label: 'open', text: openText(step), isOurs: true, isBad: true }] : []),
  ]
}

function modelParts(step: RunStep): readonly Part[] {
  const { prompt, reasoning, answer, toolCalls, finish, error, status, isOpen, dialect, confidence } = step
  const isSilent = answer === undefined && toolCalls.length === 0 && error === undefined && !isOpen
  const said = dialect === 'openai-embeddings' ? 'vectors' : 'no text'
  return [
    ...(prompt === undefined ? [] : promptParts(prompt)),
    ...(reasoning === undefined ? [] : [{ label: 'thought', text: reasoning }]),
    ...(answer === undefined ? [] : [{ label: 'said', text: answer }]),
    ...toolCalls.map((text) => ({ label: 'calls', text })),
    ...(isSilent ? [{ label: 'said', text: `(${said})`, isOurs: true }] : []),
    ...(confidence === undefined ? [] : [{ label: 'sure', text: confidenceText(confidence) }]),
    ...(isUsualEnd(finish) ? [] : [{ label: 'ended', text: finish ?? '' }]),
    ...(status === undefined || status < 400
      ? []
      : [{ label: 'status', text: `${status}`, isOurs: true, isBad: true }]),
  ]
}

function isUsualEnd(finish: string | undefined): boolean {
  return (
    finish === undefined ||
    /^(stop|end_turn|tool_calls|tool_use|tool-calls|completed|STOP|COMPLETE|TOOL_CALL)$/.test(finish)
  )
}

function promptParts({
  instructions,
  tools,
  messageCount,
  continues,
  fresh,
}: NonNullable<RunStep['prompt']>): readonly Part[] {
  const [system, offered] = [instructions?.sameAs, tools?.sameAs]
  const same = [
    ...(system === undefined ? [] : [`system${system === offered ? ' and tools' : ''} as in step ${system}`]),
    ...(offered === undefined || offered === system ? [] : [`tools as in step ${offered}`]),
    ...(continues === undefined ? [] : [`goes on from step ${continues} (${counted(messageCount, 'message')})`]),
  ]
  return [
    ...(instructions === undefined || instructions.sameAs !== undefined
      ? []
      : [{ label: 'system', text: instructions.text }]),
    ...(tools === undefined || tools.sameAs !== undefined ? [] : [{ label: 'tools', text: tools.names.join(', ') }]),
    ...(same.length === 0 ? [] : [{ label: 'prompt', text: same.join('; '), isOurs: true }]),
    ...fresh.flatMap(messageParts),
  ]
}

function messageParts({ role, text, calls, results }: PrintedMessage): readonly Part[] {
  return [
    ...(text === '' ? [] : [{ label: labelOf(role), text }]),
    ...results.map(({ name = 'a tool', text: result, sameAs }) => ({
      label: 'tool',
      text: `${name}: ${sameAs === undefined ? result : `as step ${sameAs} answered`}`,
    })),
    ...(text === '' && calls.length > 0 ? [{ label: labelOf(role), text: `(calls ${calls.join(', ')})` }] : []),
  ]
}

/** Roles come from the tape: words of ours are distinguished from them by being known. */
function labelOf(role: string): string {
  if (/^(assistant|model|ai|CHATBOT)$/.test(role)) return 'model'
  return /^(user|tool|input)$/.test(role) ? role : neutralLine(role, labelWidth)
}

function callParts({ kind, asked, answer, status }: RunStep): readonly Part[] {
  const isHttp = kind === 'http'
  return [
    ...(asked === undefined ? [] : [{ label: isHttp ? 'sent' : 'args', text: asked }]),
    ...(status === undefined || (!isHttp && status < 400)
      ? []
      : [{ label: 'status', text: `${status}`, isOurs: true, isBad: status >= 400 }]),
    ...(answer === undefined ? [] : [{ label: isHttp ? 'body' : 'result', text: answer }]),
  ]
}
