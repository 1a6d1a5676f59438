import { createHash } from 'node:crypto'
import { CallsOnce } from '../providers/counted.ts'
import { decodeBody, type ModelCall, type PriceTable, readModelCall } from '../providers/index.ts'
import { importedModelCall } from '../providers/imported-model-call.ts'
import {
  type Cut,
  cutsOfEvent,
  type DrawsEvent,
  isSettled,
  isStep,
  type Json,
  type PushEvent,
  requestBytes,
  readTapeHeader,
  type Step,
  streamTape,
  type Tape,
  type TapeClose,
  type TapeEvent,
  type TapeHeader,
} from '../tape/index.ts'
import { CutOff, type OpenCall } from '../tape/cut-off.ts'
import { confidenceOf } from './confidence.ts'
import { type DescribedStep, describeStep, headerOf } from './describe.ts'
import { Conversations, type Prompt, type Turn } from './conversation.ts'
import { type LaneMessage, lanesOf, type LaneStep, retriesOf } from './lanes.ts'
import { numbered, stepsByAnswer } from './numbered.ts'
import { overlaps } from './overlaps.ts'
import { addUp, type CallSpending, type Spending, spendingOf, importedSpending } from './spending.ts'
import type { ReportConfidence } from './view/types.ts'

/** A tape taken apart for reading: everything a person asks about, none of the bodies. */
export interface Run {
  readonly file: string
  readonly header: TapeHeader
  /** Absent: the tape is truncated. */
  readonly close?: TapeClose
  /** The calls that were under way when it was cut off. */
  readonly open: readonly OpenCall[]
  readonly digest: string
  readonly steps: readonly RunStep[]
  /** What happened between the steps. */
  readonly notes: readonly TimelineNote[]
  readonly draws: readonly DrawsEvent[]
  /** Every model that was asked for, in the order of first use. */
  readonly models: readonly string[]
  readonly spending: Spending
  /** Bodies of which a part is not on the tape: it is partial. */
  readonly cuts: readonly Cut[]
}

/** A step with its place in the run. Step numbers are 1-based. */
export interface RunStep extends DescribedStep, Partial<Pick<CallSpending, 'usage' | 'costUsd'>> {
  readonly number: number
  /** What a model request says that none before it said; its numbers are of steps. */
  readonly prompt?: Prompt
  /** Number of the tool call this happened inside of. */
  readonly inside?: number
  /** The nearest steps of the same level that were under way at the same time. */
  readonly during: readonly number[]
  /** How many there were. */
  readonly duringCount: number
  /** No answer was recorded. */
  readonly isOpen: boolean
  /** It may have had one: the recording it was imported from does not hold it. */
  readonly isLeftOut?: true
  /** The conversation it belongs to. Derived: no event says so. */
  readonly lane: string
  /** Number of the step that failed and of which this is another attempt. Derived. */
  readonly retryOf?: number
  /** How sure the model was, where its provider said so. */
  readonly confidence?: ReportConfidence
}

/** What is to be said of a step that is open. */
export function openText({ answer, status, isLeftOut }: Pick<RunStep, 'answer' | 'status' | 'isLeftOut'>): string {
  if (isLeftOut) return 'the recording it was imported from does not hold the answer'
  return answer === undefined && status === undefined ? 'no answer was recorded' : 'the answer had not come to its end'
}

/** A mark, a snapshot, a message, a child process, or a line it sent unasked. */
export interface TimelineNote {
  readonly kind: 'mark' | 'message' | 'spawn' | 'push' | 'state'
  readonly n: number
  readonly atMs: number
  /** Number of the tool call it happened inside of. */
  readonly inside?: number
  readonly text: string
}

/**
 * Reads a tape for people: one pass over the file, holding what the steps say once and no body, regardless of its length.
 *
 * @param prices - looked in before the list prices
 * @throws HarvestError `HARVEST_TAPE_…` as `streamTape`
 */
export async function readRun(file: string, prices: PriceTable): Promise<Run> {
  const header = readTapeHeader(file)
  const reader = new RunReader(header, prices)
  const lines = streamTape(file)
  let close: TapeClose | undefined
  let line = await lines.next()
  for (; line.done !== true; line = await lines.next()) {
    if (line.value.kind === 'close') close = line.value
    else reader.add(line.value)
  }
  return { file, header, ...(close === undefined ? {} : { close }), digest: line.value, ...reader.finish(close) }
}

/** The same of a tape that is in memory. */
export function runOf({ source, header, events, close, digest }: Tape, prices: PriceTable): Run {
  const reader = new RunReader(header, prices)
  for (const event of events) reader.add(event)
  return { file: source, header, ...(close === undefined ? {} : { close }), digest, ...reader.finish(close) }
}

/** A step read and not yet numbered. */
interface Read {
  readonly described: DescribedStep
  readonly in?: number
  /** Number of the moment it ended; `Infinity` when it never did. */
  readonly end: number
  readonly isOpen: boolean
  readonly turn?: Turn
  readonly spending?: CallSpending
  /** Names of the tools a model asked for. */
  readonly tools: readonly string[]
  /** Of its request, where one may be made again. */
  readonly attempt?: string
  readonly confidence?: ReportConfidence
}

class RunReader {
  readonly #header: TapeHeader
  readonly #prices: PriceTable
  readonly #conversations = new Conversations()
  readonly #read: Read[] = []
  readonly #notes: (Omit<TimelineNote, 'inside'> & { readonly in?: number })[] = []
  readonly #messages: LaneMessage[] = []
  readonly #draws: DrawsEvent[] = []
  readonly #cuts: Cut[] = []
  /** Model calls that an imported trace tells of. */
  readonly #told: CallSpending[] = []
  readonly #calls = new CallsOnce()
  readonly #cutOff: CutOff

  constructor(header: TapeHeader, prices: PriceTable) {
    this.#header = header
    this.#cutOff = new CutOff(header)
    this.#prices = prices
  }

  add(event: TapeEvent): void {
    this.#cutOff.add(event)
    this.#cuts.push(...cutsOfEvent(event))
    if (isStep(event)) this.#addStep(event)
    else if (event.kind === 'draws') this.#draws.push(event)
    else {
      const told = importedModelCall(this.#header, event)
      if (told !== undefined) this.#told.push(importedSpending(told, this.#prices))
      const { kind, n, at: atMs } = event
      if (event.kind === 'message')
        this.#messages.push({ n, from: event.from, to: event.to, body: messageText(event.body) })
      this.#notes.push({ kind, n, atMs, text: noteText(event), ...(event.in === undefined ? {} : { in: event.in }) })
    }
  }

  #addStep(step: Step): void {
    const call: ModelCall | undefined = step.kind === 'exchange' ? readModelCall(step) : undefined
    if (call !== undefined) this.#calls.add(call)
    const described = describeStep(step)
    const attempt = attemptOf(step, described)
    const confidence = step.kind === 'exchange' && call !== undefined ? confidenceOf(step) : undefined
    this.#read.push({
      described,
      end: endOf(step),
      isOpen: !isSettled(step),
      tools: call?.response?.toolCalls.map(({ name }) => name) ?? [],
      ...(attempt === undefined ? {} : { attempt }),
      ...(confidence === undefined ? {} : { confidence }),
      ...(step.in === undefined ? {} : { in: step.in }),
      ...(call === undefined ? {} : { turn: this.#conversations.add(call), spending: spendingOf(call, this.#prices) }),
    })
  }

  #laneStep({ described, turn, tools }: Read): LaneStep {
    const { n, name, asked, answer } = described
    if (turn !== undefined) return { n, name, prompt: { ...this.#conversations.laneOf(turn), asked: tools } }
    return {
      n,
      name,
      ...(asked === undefined ? {} : { args: asked }),
      ...(answer === undefined ? {} : { result: answer }),
    }
  }

  finish(close: TapeClose | undefined): Omit<Run, 'file' | 'header' | 'close' | 'digest'> {
    const byN = <T extends { readonly n: number }>(one: T, other: T): number => one.n - other.n
    // Lines are written as things end; a run is shown in the order they began.
    const read = this.#read.sort((one, other) => byN(one.described, other.described))
    const numbers = new Map(read.map(({ described: { n } }, index) => [n, index + 1]))
    const insideOf = (parent: number | undefined): { readonly inside?: number } => {
      const number = parent === undefined ? undefined : numbers.get(parent)
      return number === undefined ? {} : { inside: number }
    }
    const answers = stepsByAnswer(read)
    const together = overlaps(read.map(({ described: { n }, end, in: parent }) => ({ n, end, level: parent ?? 0 })))
    const lanes = lanesOf(
      read.map((one) => this.#laneStep(one)),
      this.#messages.sort(byN),
      this.#header.agent,
    )
    const retries = retriesOf(
      read.map(({ attempt, described: { error, status = 0 } }) => ({
        ...(attempt === undefined ? {} : { key: attempt }),
        hasFailed: error !== undefined || status >= 429,
      })),
    )
    const steps = read.map((one, index): RunStep => {
      const { described, isOpen, turn, spending, confidence } = one
      const retried = retries[index]
      const { usage, costUsd } = spending ?? {}
      const { near = [], count = 0 } = together[index] ?? {}
      return {
        number: index + 1,
        ...described,
        ...(turn === undefined
          ? {}
          : { prompt: numbered(this.#conversations.promptOf(turn), numbers, described.n, answers) }),
        ...(usage === undefined ? {} : { usage }),
        ...(costUsd === undefined ? {} : { costUsd }),
        ...insideOf(one.in),
        during: near.map((other) => other + 1),
        duringCount: count,
        isOpen,
        ...(isOpen && this.#header.imported?.missing.includes('answers') ? { isLeftOut: true as const } : {}),
        lane: lanes[index] ?? this.#header.agent,
        ...(retried === undefined ? {} : { retryOf: retried + 1 }),
        ...(confidence === undefined ? {} : { confidence }),
      }
    })
    const asked = [...this.#calls.all].sort(byN).map((call) => spendingOf(call, this.#prices))
    const calls = [...this.#told, ...asked]
    return {
      steps,
      open: close === undefined ? this.#cutOff.calls : [],
      notes: this.#notes.sort(byN).map(({ in: parent, ...note }) => ({ ...note, ...insideOf(parent) })),
      draws: this.#draws.sort(byN),
      cuts: this.#cuts.sort(byN),
      models: [...new Set(calls.map(({ model }) => model))].filter((model) => model !== ''),
      spending: addUp(calls),
    }
  }
}

function endOf(step: Step): number {
  if (step.kind !== 'exchange') return step.settled?.[0] ?? (step.sync === true ? step.n : Infinity)
  const { response, error, aborted, oneWay, n } = step
  return response?.end?.[0] ?? error?.moment[0] ?? aborted?.[0] ?? (oneWay === true ? n : Infinity)
}

/** What tells one request from another; a plain request is no attempt at anything. */
function attemptOf(step: Step, { kind }: DescribedStep): string | undefined {
  if (step.kind !== 'exchange' || kind === 'http') return undefined
  const body = decodeBody(requestBytes(step), headerOf(step.request.headers, 'content-encoding'))
  return createHash('sha256').update(`${step.method} ${step.url}\n`).update(body).digest('base64')
}

/** What a message says, as text. */
export function messageText(body: Json): string {
  return typeof body === 'string' ? body : JSON.stringify(body)
}

function noteText(event: Exclude<TapeEvent, Step | DrawsEvent>): string {
  switch (event.kind) {
    case 'mark':
      return event.data === undefined ? event.name : `${event.name} ${JSON.stringify(event.data)}`
    case 'state':
      return `${event.name} ${JSON.stringify(event.data)}`
    case 'message':
      return `${event.from} → ${event.to}  ${JSON.stringify(event.body)}`
    case 'spawn':
      return event.command.join(' ')
    case 'push':
      return pushText(event)
  }
}

/** What came unasked; how a connection or a child ended in words. */
export function pushText({ frame, text, url }: PushEvent): string {
  if (frame === 'end') return url.startsWith('stdio:') ? 'end of its output' : 'closed'
  if (frame !== 'close') return text
  return url.startsWith('stdio:') ? `ended: ${text}` : `closes: ${text}`
}
