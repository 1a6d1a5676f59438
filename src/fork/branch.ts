import { createHash } from 'node:crypto'
import { basename } from 'node:path'
import { isDeepStrictEqual } from 'node:util'
import { isGiven, noteGiven } from '../live/given.ts'
import { replacesCall } from '../live/lost-calls.ts'
import { lateIn, type LateRedactor, redactedAgain } from '../privacy/index.ts'
import {
  branchFlag,
  currentFlags,
  type Draw,
  formatVersion,
  isStep,
  type Json,
  type Outcome,
  serializeTape,
  type Step,
  stepsOf,
  type Tape,
  type TapeClose,
  type TapeEvent,
  type TapeHeader,
} from '../tape/index.ts'
import { version } from '../version.ts'
import { standsFor, stepBehind } from './branch-recorder.ts'
import type { ForkRun } from './fork-run.ts'
import type { Branch } from './plan.ts'

/** Draws on one line of a tape. */
const drawBatch = 256

/** How a run ended, encoded and redacted. */
export interface BranchEnd {
  readonly status: 'returned' | 'threw'
  readonly ended: Json
}

/** Of branches of runs that met values that got their name late: what redacts once more, and the events as the run made them. */
const lateOf = new WeakMap<Tape, { readonly late: LateRedactor; readonly events: readonly TapeEvent[] }>()

/** What a fork says, without the values that are not on its branch. */
export function asOnBranch(branch: Tape, said: Json): Json {
  return lateOf.get(branch)?.late.json(said) ?? said
}

/** The steps of a branch as the next run makes them: before it knows what gets its name late. */
export function stepsAsMade(branch: Tape): readonly Step[] {
  return stepsOf(lateOf.get(branch) ?? branch)
}

/** The run as a tape whose beginning is its parent's: everything up to the first event that is not. */
export function branchOf(run: ForkRun, outcome: BranchEnd, isSame: boolean): Branch {
  const { tape } = run
  const parted = split(run)
  const sharedAtFirst = tape.events.filter(({ n }) => n < parted.before)
  const draws = drawLines(run, sharedAtFirst)
  const own = [...parted.own, ...draws].sort((a, b) => a.n - b.n)
  const made = {
    header: headerOf(run),
    shared: sharedAtFirst,
    own,
    before: parted.before,
    close: closeOf(run, outcome, isSame, own),
  }
  const late = lateOfMade(run, made)
  const { header: head, shared, own: events, before, close } = late === undefined ? made : withoutLate(tape, made, late)
  const { kind: _kind, events: _events, ...said } = close
  const { outcome: ended, n, at, prints, input } = said
  const ends = { outcome: ended, n, at, ...(prints && { prints }), ...(input && { input }) }
  const header: TapeHeader = {
    ...head,
    id: idOf(run, events, ends),
    parent: {
      id: tape.header.id,
      file: fileOf(tape),
      digest: tape.digest,
      events: shared.length,
      ...(before === Number.POSITIVE_INFINITY ? {} : { before }),
      keep: run.plan.keep,
    },
  }
  const text = serializeTape(header, events, ends)
  const digest = /"#":"([^"]*)"\}\n$/.exec(text)?.[1] ?? ''
  const whole = [...shared, ...events].sort((a, b) => a.n - b.n)
  const branch = { source: `${header.id}.tape.jsonl`, header, events: whole, close, digest }
  if (late !== undefined) lateOf.set(branch, { late, events: [...made.shared, ...made.own].sort((a, b) => a.n - b.n) })
  return { text, ownEvents: events, tape: branch }
}

/** All of a branch but its id and its parent. */
interface Made {
  readonly header: TapeHeader
  readonly shared: readonly TapeEvent[]
  readonly own: readonly TapeEvent[]
  readonly before: number
  readonly close: TapeClose
}

function headerOf(run: ForkRun): TapeHeader {
  const { header, digest } = run.tape
  return {
    harvest: formatVersion,
    id: header.id,
    agent: header.agent,
    ...(run.plan.input === undefined ? {} : { input: run.redactor.json(run.plan.input) }),
    startedAt: header.startedAt,
    recorder: `vitest-harvest/${version}`,
    flags: [...new Set([...header.flags, ...currentFlags, branchFlag])],
    pins: { ...run.plan.code, node: process.versions.node, recorded: digest, ...acceptedPin(run) },
    ...aboutOf(header),
    ...(header.redact === undefined ? {} : { redact: header.redact }),
    ...(header.printed === undefined ? {} : { printed: header.printed }),
    ...(header.prints === undefined ? {} : { prints: header.prints }),
    ...(header.command === undefined ? {} : { command: header.command }),
  }
}

/** What replaces values that stand in clear in what was made before they got their name; `undefined` without any. */
function lateOfMade({ redactor }: ForkRun, { header, shared, own, close }: Made): LateRedactor | undefined {
  return lateIn(redactor, (search) => {
    redactedAgain({ header, events: [...shared, ...own] }, search)
    search.json([close.outcome, close.input ?? null] as unknown as Json)
  })
}

/** The parent keeps what it says: from the first event that says such a value, all of them are the branch's own. */
function withoutLate(tape: Tape, { header, shared, own, before, close }: Made, late: LateRedactor): Made {
  const old = [...shared, ...own]
  const again = redactedAgain({ header, events: old }, late)
  const onTape = new Set(tape.events)
  const events = again.events.map((event, at) => {
    const was = old[at]!
    // What is as it was stays the same event, by which it is known.
    if (isDeepStrictEqual(event, was)) return was
    const parent = isStep(was) && !onTape.has(was) ? stepBehind(was) : was
    if (isStep(event) && parent !== undefined && isStep(parent)) standsFor(event, parent)
    if (isGiven(was)) noteGiven(event)
    replacesCall(event, was)
    return event
  })
  const other = events.slice(0, shared.length).find((event, at) => event !== shared[at])
  const border = Math.min(before, other?.n ?? Number.POSITIVE_INFINITY)
  const ownNow = [...events.slice(0, shared.length).filter(({ n }) => n >= border), ...events.slice(shared.length)]
  const said = <T>(part: T): T => late.json(part as unknown as Json) as unknown as T
  const { input } = close
  const prints = [...(close.prints ?? []), ...late.prints]
  return {
    header: again.header,
    shared: shared.filter(({ n }) => n < border),
    own: ownNow.sort((a, b) => a.n - b.n),
    before: border,
    close: {
      ...close,
      outcome: said(close.outcome),
      ...(input && { input: said(input) }),
      events: ownNow.length,
      ...(prints.length > 0 && { prints }),
    },
  }
}

/** The unchanged run of the code that made the branch: accepted, or the recorded one again. */
function acceptedPin({ plan }: ForkRun): Pick<TapeHeader['pins'], 'accepted'> {
  const { digest, commit } = plan.control ?? {}
  return digest === undefined ? {} : { accepted: { digest, ...(commit === undefined ? {} : { commit }) } }
}

/** The first number at which the run is not its parent any more, and all it did from there on. */
function split({ tape, account, drawn }: ForkRun): { readonly before: number; readonly own: readonly TapeEvent[] } {
  const recorded = new Set<TapeEvent>()
  // What today's code asks otherwise is not on the tape.
  const onTape = new Set(tape.events)
  let before = Number.POSITIVE_INFINITY
  for (const entry of account.entries) {
    const same = entry.recorded
    if (same && onTape.has(same as TapeEvent)) recorded.add(same)
    else before = Math.min(before, entry.event.n)
  }
  const covered = coveredBy(recorded, tape)
  for (const event of tape.events)
    if (event.kind !== 'draws' && !recorded.has(event) && !covered.has(event)) before = Math.min(before, event.n)
  before = Math.min(before, firstOtherDraw(tape, drawn))
  const own = account.entries
    .map((entry) => entry.recorded ?? (entry.event as TapeEvent))
    .filter(({ n }) => n >= before)
  return { before, own }
}

/** What served calls did inside when they were recorded: it is part of their answer. */
function coveredBy(recorded: ReadonlySet<TapeEvent>, tape: Tape): ReadonlySet<TapeEvent> {
  const calls = new Set(
    [...recorded].filter(({ kind }) => kind === 'tool' || kind === 'retrieval' || kind === 'value').map(({ n }) => n),
  )
  const covered = new Set<TapeEvent>()
  for (const event of tape.events) {
    if (event.in === undefined || !calls.has(event.in) || recorded.has(event)) continue
    covered.add(event)
    calls.add(event.n)
  }
  return covered
}

/** The line of the parent's draws with the first one that this run drew otherwise. */
function firstOtherDraw(tape: Tape, drawn: readonly Draw[]): number {
  const queues = Map.groupBy(drawn, keyOf)
  const next = new Map<string, number>()
  for (const event of tape.events) {
    if (event.kind !== 'draws') continue
    for (const draw of event.draws) {
      const key = keyOf(draw)
      const at = next.get(key) ?? 0
      next.set(key, at + 1)
      const now = queues.get(key)?.[at]
      if (now !== undefined && now[2] !== draw[2]) return event.n
    }
  }
  return Number.POSITIVE_INFINITY
}

/** What was drawn and is in no shared line. */
function drawLines({ account, drawn, now }: ForkRun, shared: readonly TapeEvent[]): readonly TapeEvent[] {
  const left = new Map<string, number>()
  for (const event of shared)
    if (event.kind === 'draws') for (const draw of event.draws) left.set(keyOf(draw), (left.get(keyOf(draw)) ?? 0) + 1)
  const own = drawn.filter((draw) => {
    const key = keyOf(draw)
    const count = left.get(key) ?? 0
    left.set(key, count - 1)
    return count <= 0
  })
  const lines: TapeEvent[] = []
  for (let i = 0; i < own.length; i += drawBatch) {
    const [n, at] = account.numbers.fresh(now)
    lines.push({ kind: 'draws', n, at, draws: own.slice(i, i + drawBatch) })
  }
  return lines
}

function keyOf([kind, caller]: Draw): string {
  return `${kind} ${caller}`
}

function closeOf(run: ForkRun, outcome: BranchEnd, isSame: boolean, own: readonly TapeEvent[]): TapeClose {
  const { close } = run.tape
  if (close && isSame && own.length === 0 && run.asked.close === close) {
    const { n, at, outcome: recorded, timers, timersInCalls, timersUnheeded, unread, unseen, inPart, input } = close
    const noted = {
      ...(timers && { timers }),
      ...(timersInCalls && { timersInCalls }),
      ...(timersUnheeded && { timersUnheeded }),
      ...(unread && { unread }),
      ...(unseen && { unseen }),
      ...(inPart && { inPart }),
      ...(input && inputOf(run)),
    }
    return { kind: 'close', n, at, outcome: recorded, events: 0, ...noted }
  }
  const [n, at] = run.account.numbers.fresh(run.now)
  return { kind: 'close', n, at, outcome: encoded(outcome), events: own.length, ...inputOf(run) }
}

/** What the run made of its input. */
function inputOf({ given: { left }, redactor }: ForkRun): Pick<TapeClose, 'input'> {
  return left === undefined ? {} : { input: left.isChanged ? { left: redactor.json(left.json) } : {} }
}

function encoded({ status, ended }: BranchEnd): Outcome {
  return status === 'returned' ? { status, value: ended } : { status, error: ended }
}

/** The same for the same run, and another for any other. */
function idOf({ tape, plan }: ForkRun, own: readonly TapeEvent[], ends: object): string {
  const said = JSON.stringify([plan.draws, plan.tail.from, plan.clockOffsetMs ?? 0, own, ends] as unknown as Json)
  const root = tape.header.id.replace(/~[0-9a-f]{12}$/, '')
  return `${root}~${createHash('sha256').update(said).digest('hex').slice(0, 12)}`
}

/** Name of the parent's file, for a branch that lies beside it. */
function fileOf({ source, header }: Tape): string {
  const name = basename(source)
  return name.endsWith('.tape.jsonl') ? name : `${header.id}.tape.jsonl`
}

/** A branch is about whom its tape is about: what is asked for by that name, or forgotten, includes it. */
function aboutOf({
  subjects,
  session,
  attributes,
}: TapeHeader): Pick<TapeHeader, 'subjects' | 'session' | 'attributes'> {
  return {
    ...(subjects === undefined ? {} : { subjects }),
    ...(session === undefined ? {} : { session }),
    ...(attributes === undefined ? {} : { attributes }),
  }
}
