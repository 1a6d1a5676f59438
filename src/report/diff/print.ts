import { diffArrays } from 'diff/lib/diff/array.js'
import { neutralLine, visible } from '../../errors/index.ts'
import { printedPath } from '../../errors/here.ts'
import { wordDiff } from '../../errors/word-diff.ts'
import { readModelCall, textOf, toolNames } from '../../providers/index.ts'
import { canonicalJson } from '../../json/canonical.ts'
import { driftClasses } from '../../match/types.ts'
import { type Json, outcomeNotCompared, stepsOf, type Tape } from '../../tape/index.ts'
import type { TraceDifference } from '../../trace/index.ts'
import { signature } from '../describe.ts'
import { columnsOf, foldText } from '../fold.ts'
import { counted, grouped } from '../../errors/words.ts'
import { type Screen, table } from '../output.ts'
import type { FactRow, Opened } from './facts.ts'
import type { RunComparison, DiffJson } from './json.ts'
import type { StepDifference, StepRow } from './steps.ts'
import { nearDifference } from './words.ts'

export interface PrintOptions {
  readonly width: number
  /** Every step, text and call, however many there are. */
  readonly isFull: boolean
}

/** Prints how two runs differ, the most important first: outcome, tool calls, steps, prompts, facts. */
export function printDiff(
  { answer: diff, calls }: RunComparison,
  a: Opened,
  b: Opened,
  options: PrintOptions,
  screen: Screen,
): void {
  for (const [label, { tape }] of [
    ['A', a],
    ['B', b],
  ] as const)
    screen.line(`${screen.paint('bold', label)}  ${neutralLine(tape.header.id, 40)}  ${printedPath(tape.source)}`)
  screen.line()
  screen.line(screen.paint(['bold', diff.class === 'same' ? 'green' : 'yellow'], diff.class))
  if (diff.inPart !== undefined)
    screen.line(
      `cut      ${counted(diff.inPart, 'value')} compared by the ends and the size alone: the rest is on no tape`,
    )
  printOutcome(diff, options, screen)
  printTrace(diff, calls, options, screen)
  printSteps(diff, options, screen)
  printPrompts(diff.steps, a.tape, b.tape, options, screen)
  screen.line()
  screen.line(factTable(diff.facts, options.width, screen))
}

function printOutcome({ outcome }: DiffJson, { width, isFull }: PrintOptions, screen: Screen): void {
  if (outcome.same) return screen.line(`outcome  the same: ${neutralLine(outcome.a, width - 19)}`)
  if (outcome.same === null) {
    screen.line(`outcome  ${outcomeNotCompared}`)
    return printSides(outcome.a, outcome.b, { width, isFull, lines: 3 }, screen)
  }
  const path = outcome.at?.path ?? ''
  screen.line(screen.paint('red', `outcome  differs${path === '' ? '' : ` at ${neutralLine(path, 60)}`}`))
  const sides = outcome.at ?? outcome
  printSides(sides.a, sides.b, { width, isFull, lines: 3 }, screen)
}

function printSides(
  a: string,
  b: string,
  { width, isFull, lines }: PrintOptions & { readonly lines: number },
  screen: Screen,
): void {
  for (const [label, text, color] of [
    ['A', a, 'red'],
    ['B', b, 'green'],
  ] as const) {
    const [first = '', ...more] = foldText(visible(text), { width: width - 6, ...(isFull ? {} : { lines }) })
    screen.line(`   ${label}  ${screen.paint(color, first)}`)
    for (const row of more) screen.line(`      ${screen.paint(color, row)}`)
  }
}

const kinds = ['missing', 'extra', 'moved', 'arguments', 'renamed'] as const
const kindTexts = {
  missing: 'only in A',
  extra: 'only in B',
  moved: 'moved',
  arguments: 'with other arguments',
  renamed: 'renamed',
} as const

function printTrace({ trace }: DiffJson, calls: RunComparison['calls'], options: PrintOptions, screen: Screen): void {
  const { differences, first } = trace
  const [a, b] = trace.calls
  if (first === null) return screen.line(`trace    the same: ${counted(a, 'tool call')}`)
  const counts = kinds
    .map((kind) => [kind, differences.filter((one) => one.kind === kind).length] as const)
    .filter(([, count]) => count > 0)
    .map(([kind, count]) => `${grouped(count)} ${kindTexts[kind]}`)
  screen.line(screen.paint('red', `trace    ${counted(a, 'tool call')} in A, ${grouped(b)} in B: ${counts.join(', ')}`))
  screen.line(`first    ${placeOf(first)}`)
  const { expected, actual } = first
  printSides(
    expected === undefined ? '(no such call)' : signature({ name: expected.name, args: expected.args as Json }),
    actual === undefined ? '(no such call)' : signature(actual),
    { ...options, lines: 3 },
    screen,
  )
  screen.line()
  for (const line of overlay(calls[0].split('\n'), calls[1].split('\n'), options)) {
    const color = line.startsWith('  -') ? 'red' : line.startsWith('  +') ? 'green' : 'dim'
    screen.line(screen.paint(color, line))
  }
}

function placeOf({ kind, layer, actualLayer, moved }: TraceDifference): string {
  const place = `layer ${layer + 1} of the causal order`
  if (kind !== 'moved') return `${kindTexts[kind]}, ${place}`
  return `made ${moved ?? 'elsewhere'}, ${place}${actualLayer === undefined ? '' : `, layer ${actualLayer + 1} in B`}`
}

/** Lines of one side only, and two around them. */
function overlay(a: readonly string[], b: readonly string[], { width, isFull }: PrintOptions): readonly string[] {
  const parts = diffArrays([...a], [...b], { maxEditLength: 400 })
  const mark = (sign: string, line: string): string => `  ${sign} ${neutralLine(line, width - 4)}`
  // Nothing in common worth a diff: the beginnings say it.
  if (parts === undefined)
    return [...a.slice(0, 8).map((line) => mark('-', line)), ...b.slice(0, 8).map((line) => mark('+', line))]
  const lines = parts.flatMap(({ value, removed, added }) =>
    value.map((line) => ({ line: mark(removed ? '-' : added ? '+' : ' ', line), isKept: !removed && !added })),
  )
  const isNear = (index: number): boolean =>
    lines.slice(Math.max(0, index - 2), index + 3).some(({ isKept }) => !isKept)
  const shown: string[] = []
  let skipped = 0
  for (const [index, { line }] of lines.entries()) {
    if (!isNear(index)) skipped++
    else {
      if (skipped > 0) shown.push(`    … ${counted(skipped, 'call')} alike`)
      skipped = 0
      shown.push(line)
    }
  }
  if (skipped > 0) shown.push(`    … ${counted(skipped, 'call')} alike`)
  const most = isFull ? Infinity : 30
  return shown.length <= most ? shown : [...shown.slice(0, most), `    … ${counted(shown.length - most, 'more line')}`]
}

function printSteps({ steps: rows, parts }: DiffJson, { width, isFull }: PrintOptions, screen: Screen): void {
  const differing = rows.filter((row) => row.a === undefined || row.b === undefined || row.differences.length > 0)
  screen.line()
  if (differing.length === 0) return screen.line(`steps    the same: ${grouped(rows.length)}`)
  const alike = rows.length - differing.length
  screen.line(`steps    ${grouped(differing.length)} differ, ${grouped(alike)} alike${driftText(rows)}`)
  if (parts !== null) screen.line(`parts    ${partsText(parts, rows)}`)
  const shown = isFull ? differing : differing.slice(0, 20)
  const columns = shown.map((row) => [`A${row.a ?? '–'}`, `B${row.b ?? '–'}`, row.kind, neutralLine(row.name, 24)])
  const lines = table(columns, [], Infinity).split('\n')
  const widest = Math.max(...lines.map(columnsOf))
  for (const [index, row] of shown.entries()) {
    const line = lines[index] ?? ''
    const what = row.a === undefined ? 'only in B' : row.b === undefined ? 'only in A' : classesOf(row.differences)
    const isFirst = parts !== null && row.a === parts.a && row.b === parts.b
    const role = isFirst ? screen.paint('red', '  parts here') : screen.paint('dim', roleText(row.role))
    screen.line(`  ${line}${' '.repeat(widest - columnsOf(line))}  ${screen.paint('yellow', what)}${role}`)
    const [told] = row.differences
    if (told === undefined || told.path === '') continue
    const path = neutralLine(told.path, 40)
    const [from, to] = nearDifference(told.a, told.b, Math.max(20, Math.floor((width - path.length - 11) / 2)))
    screen.line(screen.paint('dim', `      ${path}: ${from} → ${to}`))
  }
  if (shown.length < differing.length)
    screen.line(`  … ${counted(differing.length - shown.length, 'more step')}: --full`)
}

type RoleRow = DiffJson['steps'][number]

/** `A7 and B6 were asked the same and answered differently; 3 steps were asked something else after it`. */
function partsText({ a, b }: NonNullable<DiffJson['parts']>, rows: readonly RoleRow[]): string {
  const first = rows.find((row) => row.a === a && row.b === b)
  const names = [...(a === undefined ? [] : [`A${a}`]), ...(b === undefined ? [] : [`B${b}`])].join(' and ')
  const how = {
    origin: 'were asked the same and answered differently',
    follows: 'were asked something else',
    chance: 'met a failure that the other run did not',
    aside: 'differ in their address',
    none: 'is in only one of the runs',
  }[first?.role ?? 'none']
  const follows = rows.filter((row) => row.role === 'follows' && row !== first).length
  return `${names} ${how}${follows === 0 ? '' : `; ${counted(follows, 'step')} after it ${follows === 1 ? 'follows' : 'follow'}`}`
}

function roleText(role: RoleRow['role']): string {
  return role === 'follows' ? '  follows' : role === 'chance' ? '  chance' : role === 'origin' ? '  other answer' : ''
}

function classesOf(differences: readonly StepDifference[]): string {
  return [...new Set(differences.map((one) => one.class))].join(', ')
}

/** `; drift: 3 messages, 1 params`: what a replay of A by the agent of B would report. */
function driftText(rows: readonly StepRow[]): string {
  const all = rows.flatMap(({ differences }) => differences)
  const counts = driftClasses
    .map((name) => [name, all.filter((one) => one.class === name).length] as const)
    .filter(([, count]) => count > 0)
    .map(([name, count]) => `${grouped(count)} ${name}`)
  return counts.length === 0 ? '' : `; drift: ${counts.join(', ')}`
}

function printPrompts(rows: readonly StepRow[], a: Tape, b: Tape, options: PrintOptions, screen: Screen): void {
  const differing = (name: StepDifference['class']): readonly StepRow[] =>
    rows.filter(({ differences }) => differences.some((one) => one.class === name))
  const [stepsA, stepsB] = [stepsOf(a), stepsOf(b)]
  const requestsOf = (row: StepRow | undefined) =>
    ([stepsA[(row?.a ?? 0) - 1], stepsB[(row?.b ?? 0) - 1]] as const).map((step) =>
      step?.kind === 'exchange' ? readModelCall(step)?.request : undefined,
    )
  const head = (label: string, count: number): void => {
    screen.line()
    screen.line(`${label}  differ${label.endsWith('s') ? '' : 's'} in ${counted(count, 'model call')}, first:`)
  }
  const prompts = differing('instructions')
  if (prompts.length > 0) {
    const [one, other] = requestsOf(prompts[0])
    head('system prompt', prompts.length)
    const text = wordDiff(
      (one?.instructions ?? []).map(textOf).join('\n\n'),
      (other?.instructions ?? []).map(textOf).join('\n\n'),
    )
    const room = { width: options.width - 2, ...(options.isFull ? {} : { lines: 8 }) }
    for (const line of foldText(text, room)) screen.line(`  ${line}`)
  }
  const tools = differing('tools')
  if (tools.length > 0) {
    const [one, other] = requestsOf(tools[0])
    head('tools', tools.length)
    for (const line of toolChanges(one?.tools ?? [], other?.tools ?? [])) screen.line(`  ${line}`)
  }
  const params = differing('params')
  if (params.length > 0) {
    head('params', params.length)
    const found = params[0]?.differences.find((one) => one.class === 'params')
    if (found !== undefined)
      screen.line(`  ${neutralLine(`${found.path}: ${visible(found.a)} → ${visible(found.b)}`, options.width - 2)}`)
  }
}

/** `+` new, `-` gone, `~` with another schema or description. */
function toolChanges(a: readonly Json[], b: readonly Json[]): readonly string[] {
  const byName = (tools: readonly Json[]): ReadonlyMap<string, string> =>
    new Map(tools.map((tool) => [toolNames(tool).join(', '), canonicalJson(tool)]))
  const [one, other] = [byName(a), byName(b)]
  const names = [...new Set([...one.keys(), ...other.keys()])]
  const changes = names.flatMap((name) => {
    const [before, now] = [one.get(name), other.get(name)]
    if (before === now) return []
    return [`${before === undefined ? '+' : now === undefined ? '-' : '~'} ${neutralLine(name, 70)}`]
  })
  return changes.length > 0 ? changes : ['the same tools in another order']
}

function factTable(rows: readonly FactRow[], width: number, screen: Screen): string {
  const label = Math.max(...rows.map(({ what }) => what.length))
  const room = Math.max(16, Math.floor((width - label - 7) / 2))
  const cell = (text: string): string => neutralLine(text, room)
  const cells = rows.map(({ what, a, b, same }) => [
    screen.paint('dim', what),
    cell(a),
    cell(b),
    same ? '' : screen.paint('yellow', '≠'),
  ])
  return table([['', 'A', 'B', ''].map((text) => screen.paint('bold', text)), ...cells])
}
