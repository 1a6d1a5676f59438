import { neutralLine } from '../errors/index.ts'
import { counted, grouped } from '../errors/words.ts'
import { duration, kindOfStep } from '../report/describe.ts'
import { outcomeText } from '../report/end.ts'
import { foldText } from '../report/fold.ts'
import type { Json, Tape } from '../tape/index.ts'
import type { ValuePlace } from './locate.ts'
import { brokenRules } from './rules.ts'
import type { DebugSession, StepComparison, ValueDifference } from './session.ts'
import { callText, type DebugStep, failureOf, wordsOf } from './steps.ts'

/** Columns of every view. */
const width = 100
/** Steps the opening lists; of longer runs the first ones and the last. */
const openingSteps = 12
/** Where a note behind a step begins. */
const noteColumn = 60

/** What a reader sees first: which run, how it ended, its steps. */
export function openingLines(session: DebugSession): readonly string[] {
  const { tape, steps } = session
  const { header, close } = tape
  const missing = (word: string): boolean => header.imported?.missing.includes(word) === true
  const took =
    close === undefined || missing('timings') || missing('starts') ? '' : `, ${(close.at / 1000).toFixed(1)} s`
  const when = missing('start') ? '' : `, recorded ${header.startedAt.slice(0, 10)}`
  const imported = header.imported === undefined ? '' : `, imported from ${header.imported.format}`
  const ended = close === undefined ? 'truncated: the process ended before the run did' : outcomeText(close.outcome)
  return [
    neutralLine(`${header.agent}  ${header.id}   ${countsText(steps)}${took}${when}${imported}`, width),
    neutralLine(`ended   ${ended}`, width),
    ...ruleLines(session),
    ...listLines(session),
  ]
}

/** What the rules of the case say of the run; nothing where it has none. */
function ruleLines(session: DebugSession): readonly string[] {
  const { rules } = session
  if (rules.length === 0) return []
  const { broken, unread } = brokenRules(rules, session)
  const [first, ...more] = [
    ...broken.map(({ rule, step }) => `${rule}${step === undefined ? '' : `   first at step ${step}`}`),
    ...unread.map((rule) => `${rule}   is no rule`),
  ]
  const counted = `${broken.length} broken`
  if (first === undefined) return [`rules   ${counted} of ${rules.length}`]
  return [`rules   ${counted}: ${first}`, ...more.map((line) => `        ${line}`)].map((line) =>
    neutralLine(line, width),
  )
}

/** `10 steps (5 model, 5 tool)`. */
function countsText(steps: readonly DebugStep[]): string {
  const counts = Map.groupBy(steps, ({ event }) => kindOfStep(event))
  const parts = [...counts].map(([kind, list]) => `${grouped(list.length)} ${kind}`)
  return steps.length === 0 ? 'no steps' : `${counted(steps.length, 'step')} (${parts.join(', ')})`
}

/** The steps, a line each; of a long run the first ones and the last. */
function listLines(session: DebugSession): readonly string[] {
  const { steps } = session
  if (steps.length <= openingSteps) return steps.map((step) => stepLine(session, step))
  const first = steps.slice(0, openingSteps - 2).map((step) => stepLine(session, step))
  const left = steps.length - openingSteps + 1
  return [
    ...first,
    `   …  ${counted(left, 'more step')}: steps ${openingSteps - 1} ${steps.length - 1}`,
    ...steps.slice(-1).map((step) => stepLine(session, step)),
  ]
}

/** `▶  7  tool   refund(order_id: "A-100", amount: 2500)`, and what is to be said of it. */
export function stepLine(session: DebugSession, step: DebugStep, note = ''): string {
  const digits = Math.max(3, `${session.steps.length}`.length)
  const mark = step.number === session.at ? '▶' : ' '
  const head = `${mark}${`${step.number}`.padStart(digits)}  ${wordsOf(step).kind.padEnd(5)}  `
  const beside = step.during.length === 0 ? '' : `  ∥ ${step.during.join(' ')}`
  const inside = step.inside === undefined ? '' : `  in ${step.inside}`
  const failed = failureOf(step) === undefined ? '' : `  ✗ ${neutralLine(failureOf(step) ?? '', 30)}`
  const tail = `${beside}${inside}${failed}`
  const room = width - head.length - tail.length - (note === '' ? 0 : note.length + 2)
  const line = `${head}${neutralLine(callText(step), Math.max(20, room))}${tail}`
  return note === '' ? line : `${line.padEnd(noteColumn)}  ${note}`.replace(/ {2}$/, '')
}

/** Steps `from` to `to`, a line each. */
export function stepLines(session: DebugSession, from: number, to: number): readonly string[] {
  return session.steps.slice(from - 1, to).map((step) => stepLine(session, step))
}

/** Two steps, side by side: new parts first. */
export function differenceLines({ context, values, from, to }: StepComparison): readonly string[] {
  const head =
    context === undefined
      ? `${from} → ${to}: no model was asked before both`
      : `context of ${context.from} → ${context.to}: ${counted(context.same, 'message')} the same, ${context.gone.length} gone, ` +
        `${context.fresh.length} new${tokensText(context.tokens)}`
  const part = (sign: string, { role, text }: { readonly role: string; readonly text: string }): string =>
    `  ${sign} ${neutralLine(role, 9).padEnd(9)} ${neutralLine(text, width - 14)}`
  return [
    head,
    ...(context?.fresh ?? []).map((one) => part('+', one)),
    ...(context?.gone ?? []).map((one) => part('-', one)),
    ...values.slice(0, 20).map(valueLine),
    ...(values.length > 20 ? [`  … ${counted(values.length - 20, 'more difference')}`] : []),
  ]
}

function tokensText([before, after]: readonly [number | null, number | null]): string {
  return before === null || after === null ? '' : `, ${before} → ${after} tokens`
}

function valueLine({ of, path, before, after }: ValueDifference): string {
  const text = (value: Json | undefined): string => (value === undefined ? 'nothing' : JSON.stringify(value))
  const where = `${of}${path === '' ? '' : ` /${path}`}`
  return `  ${neutralLine(where, 40)}  ${neutralLine(text(before), 40)} → ${neutralLine(text(after), 40)}`
}

/** When each step was under way, one bar a line: what ran side by side stands side by side. */
export function timelineLines(session: DebugSession, from: number, to: number): readonly string[] {
  const rows = session.steps.slice(from - 1, to)
  const begin = Math.min(...rows.map(({ event }) => event.at))
  const end = Math.max(...rows.map(({ event, answered }) => answered?.[1] ?? event.at))
  const span = Math.max(1, end - begin)
  const columns = 40
  const bars = rows.map((step) => {
    const start = Math.min(columns - 1, Math.floor(((step.event.at - begin) / span) * columns))
    const stop = Math.ceil((((step.answered?.[1] ?? end) - begin) / span) * columns)
    const isOpen = step.answered === undefined
    const bar = `${' '.repeat(start)}${(isOpen ? '░' : '█').repeat(Math.max(1, stop - start))}`.padEnd(columns)
    const mark = step.number === session.at ? '▶' : ' '
    const { kind, tookMs } = wordsOf(step)
    const took = tookMs === undefined ? 'open' : duration(tookMs)
    const head = `${mark}${`${step.number}`.padStart(4)}  ${kind.padEnd(5)} ${bar} ${took.padStart(8)}  `
    return `${head}${neutralLine(callText(step), Math.max(10, width - head.length))}`
  })
  return [`steps ${from} to ${to}, +${duration(begin)} to +${duration(end)}`, ...bars]
}

/** Truth of a rule at every step: `..x..x`, ten steps a group, with the number of the first step of each line. */
export function stripLines(steps: number, hits: readonly number[]): readonly string[] {
  const at = new Set(hits)
  const digits = `${steps}`.length
  const perLine = 70
  const lines: string[] = []
  for (let from = 1; from <= steps; from += perLine) {
    const to = Math.min(steps, from + perLine - 1)
    const marks = Array.from({ length: to - from + 1 }, (_, i) => (at.has(from + i) ? 'x' : '.'))
    lines.push(`${`${from}`.padStart(digits)}  ${marks.join('').replace(/.{10}(?=.)/g, '$& ')}`)
  }
  return lines
}

/** `1 of 10 steps: 7`. */
export function hitsText(hits: readonly number[], of: number): string {
  const shown = hits.slice(0, 12).join(', ')
  const more = hits.length > 12 ? `, … ${hits.length - 12} more` : ''
  return `${hits.length} of ${counted(of, 'step')}: ${hits.length === 0 ? 'none' : `${shown}${more}`}`
}

/** Where a value appeared and where it went, a line each. */
export function locateLines(value: string, places: readonly ValuePlace[]): readonly string[] {
  const [first] = places
  if (first === undefined) return [`${neutralLine(value, 60)} is nowhere in this run`]
  const word = ({ step, where }: ValuePlace): string =>
    where === 'input' || where === 'outcome' ? where : `step ${step}`
  const lines = places.map((place) => {
    const { where, path, text, from } = place
    const verb = where === 'input' || where === 'outcome' ? '' : where
    const at = path === '' ? '' : ` /${neutralLine(path, 40)}`
    const origin = from.length === 0 ? '' : `  as step ${from.join(', ')} answered`
    const head = `${word(place).padEnd(8)} ${verb.padEnd(7)}${at}`
    return `${head}  ${neutralLine(text, Math.max(20, width - head.length - origin.length - 2))}${origin}`
  })
  const shown = lines.length > 40 ? [...lines.slice(0, 39), `… ${counted(lines.length - 39, 'more place')}`] : lines
  return [
    `${neutralLine(value, 60)} appears first in ${first.where === 'input' ? 'the input' : `${word(first)}, which ${first.where} it`}`,
    ...shown,
  ]
}

/** How the run ended, for a move that ended. */
export function endText({ close }: Tape): string {
  const outcome = close === undefined ? 'the tape is truncated here' : `the run ${outcomeText(close.outcome)}`
  return neutralLine(`the end: ${outcome}`, width)
}

/** A label and recorded text, folded. */
export function factLines(label: string, text: string, lines = 8): readonly string[] {
  const [first = '', ...more] = foldText(text, { width: width - 10, lines })
  return [`${label.padEnd(9)} ${first}`.trimEnd(), ...more.map((row) => `${' '.repeat(10)}${row}`)]
}

/** Lines of recorded JSON or text at two blanks. */
export function valueLines(value: Json, lines = 40): readonly string[] {
  if (typeof value === 'string') return foldText(value, { width: width - 4, lines }).map((row) => `  ${row}`)
  // Line breaks inside of values are escaped in JSON: these lines are ours.
  const rows = JSON.stringify(value, undefined, 2).split('\n')
  const shown = rows.slice(0, lines).map((row) => `  ${neutralLine(row, width - 4)}`)
  return rows.length > lines ? [...shown, `  … ${counted(rows.length - lines, 'more line')}`] : shown
}
