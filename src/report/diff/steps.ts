import { diffArrays } from 'diff/lib/diff/array.js'
import { askedIn } from '../../providers/index.ts'
import { originOf, steadyPath } from '../../match/address.ts'
import { firstDifference } from '../../match/difference.ts'
import { headerDrift } from '../../match/header-drift.ts'
import type { DriftClass } from '../../match/types.ts'
import { type Json, type Step, stepsOf, type Tape } from '../../tape/index.ts'
import { type DescribedStep, describeStep } from '../describe.ts'
import { Ids } from './ids.ts'

/** Two steps side by side, or one that the other run does not have. Numbers are 1-based. */
export interface StepRow {
  readonly a?: number
  readonly b?: number
  readonly kind: DescribedStep['kind']
  readonly name: string
  readonly differences: readonly StepDifference[]
  /** Only one run has it: an attempt that failed, after which the same was asked again. */
  readonly isRetried?: true
}

/** One way in which two steps differ: a class of drift as a replay knows it, or what came back. */
export interface StepDifference {
  readonly class: DriftClass | 'answer'
  /** The first place, such as `messages[2].content`. */
  readonly path: string
  readonly a: string
  readonly b: string
  /** Words or values; addresses and headers are not. */
  readonly isText: boolean
}

/** Edits above which two runs are not aligned but paired name by name: runs without anything in common stay quick. */
const maxEditLength = 400

/** Lines the steps of two runs up and compares those that stand side by side. */
export function compareSteps(a: Tape, b: Tape): readonly StepRow[] {
  const [left, right] = [sideOf(a), sideOf(b)]
  return rowsOf(left, right).map(([i, j]) => {
    const [one, other] = [i === undefined ? undefined : left[i], j === undefined ? undefined : right[j]]
    const { kind, name } = (one ?? other)!.described
    return {
      ...(i === undefined ? {} : { a: i + 1 }),
      ...(j === undefined ? {} : { b: j + 1 }),
      kind,
      name: other?.described.name ?? name,
      differences: one === undefined || other === undefined ? [] : differencesOf(one, other),
      ...((one === undefined || other === undefined) && (one ?? other)!.isRetried ? { isRetried: true as const } : {}),
    }
  })
}

interface Side {
  readonly step: Step
  readonly described: DescribedStep
  /** Steps with the same key may stand side by side. */
  readonly key: string
  readonly parts: Parts
  /** It failed, and the same was asked again. */
  readonly isRetried: boolean
}

function sideOf(tape: Tape): readonly Side[] {
  const ids = new Ids()
  const steps = stepsOf(tape)
  const last = new Map(steps.map((step, index) => [requestKey(step), index]))
  return steps.map((step, index) => {
    const described = describeStep(step)
    const { kind, name } = described
    const key = kind === 'model' ? kind : step.kind === 'exchange' && kind !== 'mcp' ? steadyPath(step) : name
    const hasFailed = described.error !== undefined || (described.status ?? 0) >= 429
    const isRetried = step.kind === 'exchange' && hasFailed && (last.get(requestKey(step)) ?? 0) > index
    return { step, described, key: `${kind} ${key}`, parts: partsOf(step, described, ids), isRetried }
  })
}

function requestKey(step: Step): string {
  return step.kind === 'exchange' ? JSON.stringify([step.method, step.url, step.request.body]) : `${step.n}`
}

type Row = readonly [a: number | undefined, b: number | undefined]

function rowsOf(left: readonly Side[], right: readonly Side[]): readonly Row[] {
  // An attempt that was made again would stand beside the step after it, and all that follow beside others.
  const kept = (side: readonly Side[]): readonly number[] =>
    side.flatMap(({ isRetried }, index) => (isRetried ? [] : [index]))
  const [keptLeft, keptRight] = [kept(left), kept(right)]
  const keys = (side: readonly Side[], indices: readonly number[]): string[] => indices.map((at) => side[at]!.key)
  const parts = diffArrays(keys(left, keptLeft), keys(right, keptRight), { maxEditLength }) ?? [
    { count: keptLeft.length, removed: true, added: false },
    { count: keptRight.length, removed: false, added: true },
  ]
  const rows: Row[] = []
  let [i, j] = [0, 0]
  for (const { count, removed, added } of parts) {
    for (let k = 0; k < count; k++) rows.push([added ? undefined : keptLeft[i++], removed ? undefined : keptRight[j++]])
  }
  left.forEach(({ isRetried }, at) => isRetried && rows.splice(placeOf(rows, 0, at), 0, [at, undefined]))
  right.forEach(({ isRetried }, at) => isRetried && rows.splice(placeOf(rows, 1, at), 0, [undefined, at]))
  return paired(rows, left, right)
}

/** Where a step of one side belongs: before the first row with a later one. */
function placeOf(rows: readonly Row[], side: 0 | 1, at: number): number {
  const found = rows.findIndex((row) => (row[side] ?? -1) > at)
  return found === -1 ? rows.length : found
}

/** Steps left over on both sides that have one key change places only: parallel calls that were made in another order. */
function paired(rows: readonly Row[], left: readonly Side[], right: readonly Side[]): readonly Row[] {
  const open = Map.groupBy(
    rows.flatMap(([i, j]) => (i === undefined && j !== undefined ? [j] : [])),
    (j) => right[j]?.key ?? '',
  )
  const taken = new Set<number>()
  const withMates = rows.map(([i, j]): Row => {
    if (i === undefined || j !== undefined) return [i, j]
    const mate = open.get(left[i]?.key ?? '')?.shift()
    if (mate !== undefined) taken.add(mate)
    return [i, mate]
  })
  return withMates.filter(([i, j]) => i !== undefined || j === undefined || !taken.has(j))
}

/** What of a step is compared, by class. */
type Parts = Readonly<Partial<Record<StepDifference['class'], Json>>>

function partsOf(step: Step, { answer, toolCalls, status, error, asked }: DescribedStep, ids: Ids): Parts {
  const request = step.kind === 'exchange' ? askedIn(step) : undefined
  const came = {
    ...(answer === undefined ? {} : { text: answer }),
    ...(toolCalls.length === 0 ? {} : { calls: toolCalls }),
    ...(status === undefined ? {} : { status }),
    ...(error === undefined ? {} : { error }),
  }
  if (request === undefined) return { arguments: parsed(asked), answer: parsedText(came) }
  const { model, instructions, messages, tools, params } = request
  return { model, instructions, tools, params, messages: messages.map((message) => ids.steady(message)), answer: came }
}

function parsedText({ text, ...rest }: { readonly text?: string; readonly [key: string]: Json | undefined }): Json {
  return { ...(text === undefined ? {} : { value: parsed(text) }), ...rest } as Json
}

function parsed(text: string | undefined): Json {
  if (text === undefined) return null
  try {
    return JSON.parse(text) as Json
  } catch {
    // Not JSON: compared as the text it is.
    return text
  }
}

const classes = ['model', 'instructions', 'tools', 'params', 'messages', 'arguments', 'answer'] as const

function differencesOf(a: Side, b: Side): readonly StepDifference[] {
  const found = classes.flatMap((name): StepDifference[] => {
    const difference = firstDifference(a.parts[name], b.parts[name])
    if (difference === undefined) return []
    const { recorded, live } = difference
    const path = difference.path.startsWith('[') || difference.path === '' ? difference.path : `.${difference.path}`
    return [{ class: name, path: `${name}${path}`, a: recorded, b: live, isText: true }]
  })
  return [...found, ...addressDifferences(a.step, b.step)]
}

function addressDifferences(a: Step, b: Step): readonly StepDifference[] {
  if (a.kind !== 'exchange' || b.kind !== 'exchange') return []
  const [one, other] = [`${originOf(a.url)} ${steadyPath(a)}`, `${originOf(b.url)} ${steadyPath(b)}`]
  // Of two tapes either may come from elsewhere, without them.
  const headers =
    b.request.headers.length === 0 ? [] : headerDrift(a.request.headers, b.request.headers, { method: a.method })
  return [
    ...(one === other ? [] : [{ class: 'endpoint' as const, path: 'url', a: a.url, b: b.url, isText: false }]),
    ...headers.map(({ path, recorded, live }) => ({
      class: 'headers' as const,
      path,
      a: recorded,
      b: live,
      isText: false,
    })),
  ]
}
