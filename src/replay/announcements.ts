// Over 300 lines: messages and marks are compared by one rule.
import { neutral, neutralLine } from '../errors/neutral.ts'
import { HarvestError, shellWord } from '../errors/index.ts'
import { toUpdate } from '../errors/usual-steps.ts'
import { canonicalJson } from '../providers/index.ts'
import type { Json, MarkEvent, MessageEvent, Tape } from '../tape/index.ts'
import { type RequestDifference, firstDifference } from '../match/difference.ts'
import { isStep } from '../match/step.ts'
import type { Compared, ExpectedMark, ExpectedMessage } from '../match/types.ts'
import { wordDiff } from '../errors/word-diff.ts'
import { presentValue } from '../tape/present.ts'

/** What an agent says of itself, which no answer depends on: a message between agents, or a mark. */
export type Announcement = MessageEvent | MarkEvent

/** One way in which the messages or marks of a replay are not the expected ones. */
export interface AnnouncementDifference {
  readonly kind: 'changed' | 'moved' | 'missing' | 'extra'
  /** `message 2, planner → worker`, 1-based among the expected ones; among those made when it is extra. */
  readonly name: string
  /** Where it differs, such as `body.amount`; `order` when it moved; empty for the whole. */
  readonly path: string
  readonly recorded: string
  readonly live: string
  /** `n` of the expected event, or of the step before it. */
  readonly step: number
  /** Steps before it, for people. */
  readonly stepNumber: number
  readonly site?: string
}

/** Lists longer than this are compared place by place behind what they have in common. */
const alignable = 1_000

/**
 * The messages between agents, or the marks, of one replay: what is expected and what was made, in order.
 *
 * What was made inside the body of a wrapped function is expected only when that body ran, and is compared with what
 * was made inside that body.
 */
export class Announcements {
  readonly #kind: Announcement['kind']
  readonly #isCompared: boolean
  /** By the recorded call whose body made them; `undefined`: made by the agent itself. */
  readonly #lists = new Map<number | undefined, List>()
  readonly #stepsBefore: (n: number) => { readonly step: number; readonly stepNumber: number }

  /** @param given - what a case expects of the agent itself, in place of what the tape holds */
  constructor(tape: Tape, kind: Announcement['kind'], given: readonly (ExpectedMessage | ExpectedMark)[] | undefined) {
    this.#kind = kind
    const steps = tape.events.filter(isStep).map(({ n }) => n)
    const stepsBefore = (n: number): { readonly step: number; readonly stepNumber: number } => {
      const stepNumber = steps.filter((step) => step < n).length
      return { step: steps[stepNumber - 1] ?? 0, stepNumber }
    }
    this.#stepsBefore = stepsBefore
    this.#lists.set(undefined, new List(given?.map((one) => ({ fact: factOf(one) })) ?? []))
    // What an importer noted on a tape was not said by the agent, and no import holds what the agent said.
    this.#isCompared = tape.header.imported === undefined || given !== undefined
    if (tape.header.imported !== undefined) return
    for (const event of tape.events) {
      if (event.kind !== kind || (given !== undefined && event.in === undefined)) continue
      this.#listOf(event.in).expected.push({ fact: factOf(event), n: event.n })
    }
  }

  /** Notes what the agent announces, inside the recorded call `body` if that runs. */
  made(event: Announcement, body: number | undefined, site: () => string | undefined): void {
    const list = this.#listOf(body)
    const fact = factOf(event)
    const next = list.expected[list.made.length]
    list.isOther ||= next === undefined || canonicalJson(next.fact) !== canonicalJson(fact)
    // A stack is costly, and where an expected one was made is not asked.
    const at = list.isOther ? site() : undefined
    list.made.push({ fact, ...(at === undefined ? {} : { site: at }) })
  }

  /** @param ran - whether the body of a recorded call ran */
  compared(ran: (n: number) => boolean): Compared {
    let [recorded, same, made] = [0, 0, 0]
    for (const list of this.#due(ran)) {
      recorded += list.expected.length
      made += list.made.length
      same += list.aligned().filter(({ before, after }) => before !== undefined && after !== undefined).length
    }
    return { recorded, same, other: made - same }
  }

  /** What differs, in order. */
  differences(ran: (n: number) => boolean): readonly AnnouncementDifference[] {
    if (!this.#isCompared) return []
    return this.#due(ran).flatMap((list) => list.differences(this.#kind, this.#stepsBefore))
  }

  #due(ran: (n: number) => boolean): readonly List[] {
    return [...this.#lists].filter(([body]) => body === undefined || ran(body)).map(([, list]) => list)
  }

  #listOf(body: number | undefined): List {
    let list = this.#lists.get(body)
    if (!list) this.#lists.set(body, (list = new List([])))
    return list
  }
}

interface Item {
  readonly fact: Fact
  /** Of the recorded event. */
  readonly n?: number
  readonly site?: string
}

/** What is compared of an announcement. */
type Fact = { readonly [key: string]: Json }

/** An expected one beside one that was made; one of the two when it has no partner. */
interface Pair {
  readonly before?: number | undefined
  readonly after?: number | undefined
}

class List {
  readonly expected: Item[]
  readonly made: Item[] = []
  /** Something that is not as expected was made; everything behind it may be shifted. */
  isOther = false

  constructor(expected: readonly Item[]) {
    this.expected = [...expected]
  }

  /** Equal ones in their order, as many as there can be, and between them those without a partner. */
  aligned(): readonly Pair[] {
    const before = this.expected.map(({ fact }) => canonicalJson(fact))
    const after = this.made.map(({ fact }) => canonicalJson(fact))
    return align(before, after)
  }

  differences(
    kind: Announcement['kind'],
    stepsBefore: (n: number) => { readonly step: number; readonly stepNumber: number },
  ): readonly AnnouncementDifference[] {
    const pairs = paired(this.aligned(), this.expected, this.made)
    let last = 0
    return pairs.flatMap(({ before, after, how }): AnnouncementDifference[] => {
      const expected = before === undefined ? undefined : this.expected[before]
      const made = after === undefined ? undefined : this.made[after]
      if (expected?.n !== undefined) last = expected.n
      if (how === 'same') return []
      const number = (before ?? after ?? 0) + 1
      const subject = (expected ?? made)!.fact
      const base = {
        kind: how,
        name: `${kind} ${number}, ${addressOf(subject)}`,
        ...stepsBefore(last),
        ...(made?.site === undefined ? {} : { site: made.site }),
      }
      return textsOf(how, expected, made, { before, after }).map((texts) => ({ ...base, ...texts }))
    })
  }
}

function textsOf(
  how: AnnouncementDifference['kind'],
  expected: Item | undefined,
  made: Item | undefined,
  { before, after }: Pair,
): readonly RequestDifference[] {
  switch (how) {
    case 'changed':
      return ['from', 'to', 'name', 'body', 'data'].flatMap(
        (part) => firstDifference(expected?.fact[part], made?.fact[part], part) ?? [],
      )
    case 'moved':
      return [{ path: 'order', recorded: `number ${(before ?? 0) + 1}`, live: `number ${(after ?? 0) + 1}` }]
    case 'missing':
      return [{ path: '', recorded: contentOf(expected!.fact), live: '(absent)' }]
    case 'extra':
      return [{ path: '', recorded: '(absent)', live: contentOf(made!.fact) }]
  }
}

type Told = Pair & { readonly how: 'same' | AnnouncementDifference['kind'] }

/** Finds partners for what has none: the equal one elsewhere, else the one at its place that shares a part with it. */
function paired(pairs: readonly Pair[], expected: readonly Item[], made: readonly Item[]): readonly Told[] {
  const keyOf = ({ fact }: Item): string => canonicalJson(fact)
  const elsewhere = Map.groupBy(
    pairs.flatMap(({ before, after }) => (before === undefined && after !== undefined ? [after] : [])),
    (after) => keyOf(made[after]!),
  )
  const moved = new Set<number>()
  const first = pairs.map((pair): Told => {
    if (pair.before === undefined) return { ...pair, how: 'extra' }
    if (pair.after !== undefined) return { ...pair, how: 'same' }
    const after = elsewhere.get(keyOf(expected[pair.before]!))?.shift()
    if (after === undefined) return { ...pair, how: 'missing' }
    moved.add(after)
    return { before: pair.before, after, how: 'moved' }
  })
  const rest = first.filter(({ how, after }) => how !== 'extra' || !moved.has(after!))
  return rest.reduce<Told[]>((told, one) => {
    // A gap lists what is missing first, and then what was made in its place.
    const open = one.how === 'extra' ? openIn(told, expected, made[one.after!]!) : undefined
    if (open === undefined) told.push(one)
    else told[open] = { before: told[open]!.before!, after: one.after!, how: 'changed' }
    return told
  }, [])
}

/** The missing one of this gap that an extra one may be, changed. */
function openIn(told: readonly Told[], expected: readonly Item[], extra: Item): number | undefined {
  let open: number | undefined
  for (let at = told.length - 1; at >= 0 && told[at]!.how !== 'same'; at--) {
    const { how, before } = told[at]!
    if (how === 'missing' && sharesPart(expected[before!]!.fact, extra.fact)) open = at
  }
  return open
}

function sharesPart(one: Fact, other: Fact): boolean {
  return Object.keys(one).some((key) => key in other && canonicalJson(one[key]!) === canonicalJson(other[key]!))
}

export function factOf(one: Announcement | ExpectedMessage | ExpectedMark): Fact {
  if ('from' in one) return { from: one.from, to: one.to, body: presentValue(one.body) }
  return { name: one.name, ...(one.data === undefined ? {} : { data: presentValue(one.data) }) }
}

export function addressOf({ from, to, name }: Fact): string {
  return neutralLine(name === undefined ? `${String(from)} → ${String(to)}` : String(name), 120)
}

function contentOf({ body, data }: Fact): string {
  const content = body ?? data
  return content === undefined ? 'without data' : typeof content === 'string' ? content : JSON.stringify(content)
}

/** Longest common subsequence, the common ends taken off first. */
function align(before: readonly string[], after: readonly string[]): readonly Pair[] {
  let head = 0
  while (head < before.length && before[head] === after[head]) head++
  let tail = 0
  const most = Math.min(before.length, after.length) - head
  while (tail < most && before.at(-1 - tail) === after.at(-1 - tail)) tail++
  const same = (from: number, shift: number, count: number): Pair[] =>
    Array.from({ length: count }, (_, i) => ({ before: from + i, after: from + i + shift }))
  const [rows, columns] = [before.slice(head, before.length - tail), after.slice(head, after.length - tail)]
  const middle = rows.length > alignable || columns.length > alignable ? byPlace(rows, columns) : common(rows, columns)
  return [
    ...same(0, 0, head),
    ...middle.map(({ before: row, after: column }) => ({
      ...(row === undefined ? {} : { before: row + head }),
      ...(column === undefined ? {} : { after: column + head }),
    })),
    ...same(before.length - tail, after.length - before.length, tail),
  ]
}

function byPlace(rows: readonly string[], columns: readonly string[]): readonly Pair[] {
  return Array.from({ length: Math.max(rows.length, columns.length) }, (_, i): readonly Pair[] =>
    rows[i] === columns[i]
      ? [{ before: i, after: i }]
      : [...(i < rows.length ? [{ before: i }] : []), ...(i < columns.length ? [{ after: i }] : [])],
  ).flat()
}

function common(rows: readonly string[], columns: readonly string[]): readonly Pair[] {
  const lengths = Array.from({ length: rows.length + 1 }, () => new Uint16Array(columns.length + 1))
  for (let row = rows.length - 1; row >= 0; row--)
    for (let column = columns.length - 1; column >= 0; column--)
      lengths[row]![column] =
        rows[row] === columns[column]
          ? lengths[row + 1]![column + 1]! + 1
          : Math.max(lengths[row + 1]![column]!, lengths[row]![column + 1]!)
  const pairs: Pair[] = []
  let [row, column] = [0, 0]
  while (row < rows.length || column < columns.length) {
    if (row < rows.length && column < columns.length && rows[row] === columns[column])
      pairs.push({ before: row++, after: column++ })
    else if (
      column === columns.length ||
      (row < rows.length && lengths[row + 1]![column]! >= lengths[row]![column + 1]!)
    )
      pairs.push({ before: row++ })
    else pairs.push({ after: column++ })
  }
  return pairs
}

const listed = 8

const answersByInput =
  'An agent may answer by what it makes of its input: how it leaves it must be as recorded, or as the case has it.'

const said = {
  message: {
    code: 'HARVEST_MESSAGES',
    did: 'sent other messages between agents',
    why: 'Sender, receiver, body and order must be as recorded, or as the case lists them.',
  },
  mark: {
    code: 'HARVEST_MARKS',
    did: 'left other marks',
    why: 'Name, data and order must be as recorded, or as the case lists them.',
  },
  state: {
    code: 'HARVEST_STATES',
    did: 'was in another state',
    why: 'Each must be as recorded, or as the case has it: the first one that differs is the nearest to the cause.',
  },
  input: {
    code: 'HARVEST_STATES',
    did: 'left its input in another state',
    why: answersByInput,
  },
  added: {
    code: 'HARVEST_STATES',
    did: 'left its input in another state',
    why: `${answersByInput} Where its code is as it was, the recorded run worked on a copy of its input, such as \`{ ...input }\`: record it on the input itself.`,
  },
  lessened: {
    code: 'HARVEST_STATES',
    did: 'left its input in another state',
    why: `${answersByInput} Where its code is as it was, a wrapped tool changed the input: the tape answers it, and its body does not run. Let the agent add what the tool returns.`,
  },
  untouched: {
    code: 'HARVEST_STATES',
    did: 'left its input in another state',
    why: 'It changed nothing of the object that the replay hands it, and did when recorded. Where it works on a copy, as one that a schema makes, let it work on the input itself.',
  },
} as const

/** How a state that is no decision of the agent, such as the id of a process, is left out. */
export const toExcludeStates =
  "to exclude states from the verdict, in the case or the config: drift: { states: 'report' }"

/** What is not as expected, and for an input what may be why. */
export type SaidOtherwise = keyof typeof said

/** The one problem for all messages, or all marks, that are not as expected. */
export function announcementProblem(
  tape: Tape,
  kind: SaidOtherwise,
  differences: readonly AnnouncementDifference[],
): HarvestError {
  const { code, did, why } = said[kind]
  const at = differences.find(({ site }) => site !== undefined)?.site
  const shown = differences.slice(0, listed).map((one) => show(one))
  if (differences.length > listed) shown.push(`  … and ${differences.length - listed} more`)
  const counts = (['changed', 'moved', 'missing', 'extra'] as const).flatMap((how) => {
    const { size } = new Set(differences.filter((one) => one.kind === how).map(({ name }) => name))
    return size === 0 ? [] : [`${size} ${how}`]
  })
  return new HarvestError(code, {
    what: `The agent ${did} than expected: ${counts.join(', ')}`,
    where: { tape: tape.header.id, ...(at === undefined ? {} : { at }) },
    detail: shown.join('\n'),
    why,
    fix: [
      toUpdate('behaviour'),
      ...(code === 'HARVEST_STATES' ? [toExcludeStates] : []),
      `to see the recorded run: npx vitest-harvest show ${shellWord(tape.header.id)}`,
    ],
  })
}

function show({ kind, name, path, recorded, live, site }: AnnouncementDifference): string {
  const place = site === undefined ? '' : `  (${site})`
  const what: Readonly<Record<typeof kind, string>> = {
    changed: `${path}: ${wordDiff(recorded, live)}`,
    moved: `made ${placed(live)}, expected ${placed(recorded)}`,
    missing: wordDiff(recorded, ''),
    extra: wordDiff('', live),
  }
  return `  ${kind.padEnd(8)} ${name}${place}\n           ${neutral(what[kind]).replaceAll('\n', '\n           ')}`
}

/** `as number 2`, `before message 1` */
function placed(place: string): string {
  return place.startsWith('number ') ? `as ${place}` : place
}
