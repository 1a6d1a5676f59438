import { neutralLine } from '../errors/index.ts'
import { firstNames } from '../errors/words.ts'
import { replayTape, standInKeys } from '../replay/index.ts'
import { noteAnswers } from '../live/given-again.ts'
import type { Redactor } from '../privacy/index.ts'
import type { RunSettings } from '../replay/run.ts'
import { bodyTextOf } from '../match/step.ts'
import type { UnansweredCall } from '../match/types.ts'
import { parseTape, requestBytes, type Step, stepsOf, type Tape, wholeTape } from '../tape/index.ts'
import { keepIfPossible } from '../tape/kept-files.ts'
import type { ControlOptions } from './control.ts'
import type { ForkResult } from './plan.ts'
import {
  changedHeaders,
  headersKey,
  type HiddenHeader,
  hiddenHeaders,
  hiddenHeadersOf,
  keyVariables,
  keyVariablesOf,
  nameOfKey,
  newHeadersKey,
  type SaidRequest,
  saidVariables,
  type SentHeaders,
  unkeptHeaders,
} from './sent-headers.ts'
import { timeLimit } from './time-limit.ts'

/** What a fork did, for a later session that wants to know whether the code still does it. */
export interface KeptRun {
  /** Text of its tape: all events, or those before it asked what no answer was there for. */
  readonly tape: string
  /** It left its tape, or something else kept it from being judged. */
  readonly hasProblems: boolean
  /** What it asked when it left its tape; absent: it did not, or that is unknown. */
  readonly refused?: AskedCall
  /** What it sent in headers that its tape does not hold; absent: unknown, and so is whether today's code does the same. */
  readonly headers?: readonly HiddenHeader[]
  /** Names the key of these digests; absent: an earlier version kept it. */
  readonly key?: string
  /** Environment variables whose value was the key of a request; absent: none, or that is unknown. */
  readonly keyVariables?: readonly string[]
}

type AskedCall = Pick<UnansweredCall, 'asked' | 'kind' | 'name'>

/**
 * What tools found that ran for real is given, as what the models said is: it may be another time within a session, too.
 *
 * @param folder - where it is kept, and the key of its digests
 * @returns `undefined` where a replay says nothing about the run: a time limit ended it, or its headers have no key
 */
export function keptRunOf({ branch, problems }: ForkResult, folder: string): KeptRun | undefined {
  if (problems.some(({ code }) => code === 'HARVEST_RUN_ABORTED')) return undefined
  const { tape } = branch
  // What is thrown at an agent that leaves its tape names the tape: what it does behind that says nothing.
  const refused = problems.length === 0 ? undefined : stepsOf(tape).find(isOpen)
  const key = keyHere(folder)
  if (key === undefined) return undefined
  const headers = hiddenHeadersOf(tape, key).filter(([n]) => refused === undefined || n < refused.n)
  const variables = keyVariablesOf(tape)
  const sent = { headers, key: nameOfKey(key), ...(variables.length === 0 ? {} : { keyVariables: variables }) }
  if (refused === undefined) return { tape: wholeTape(tape), hasProblems: problems.length > 0, ...sent }
  const before = tape.events.filter(({ n }) => n < refused.n)
  return { tape: wholeTape({ ...tape, events: before }), hasProblems: true, refused: askedBy(refused), ...sent }
}

/** `undefined` where none can be written. */
function keyHere(folder: string): string | undefined {
  let key: string | undefined
  keepIfPossible(`${folder}/`, () => {
    key = newHeadersKey(folder)
  })
  return key
}

function isOpen(step: Step): boolean {
  return step.error === undefined && (step.kind === 'exchange' ? step.response : step.settled) === undefined
}

function askedBy(step: Step): AskedCall {
  const { kind } = step
  return kind === 'exchange'
    ? { kind, name: `${step.method} ${step.url}`, asked: bodyTextOf(requestBytes(step)) }
    : { kind, name: step.name, asked: JSON.stringify(step.args) }
}

/** What today's code makes of a fork. */
export type Again =
  /** It does what it did. */
  | ({ readonly replayed: ReplayedFork } & SentAgain)
  /** It does something else; the names of the headers that have another value, where that is all. */
  | { readonly changedHeaders: readonly string[] }
  /** That is unknown, for the key of its digests is not there, or another one is. */
  | { readonly headersKey: 'missing' | 'another' }

/** What a fork sends today besides what was compared. */
export interface SentAgain {
  /** Environment variables whose value is the key of a request. Default none. */
  readonly keyVariables?: readonly string[]
  /** Those whose value stands in the address or the body of a request. Default none. */
  readonly saidVariables?: readonly string[]
  /** Absent: all of its headers were compared. */
  readonly notCompared?: UncomparedHeaders
}

/**
 * Whether a variable may have another value than when a fork was made, by its replay: it was or is a key, and that shows in no
 * address and no body, where a tape has the same placeholder for each.
 */
export function isFreeIn(
  { keyVariables: keys = [], saidVariables: said = [] }: SentAgain,
  name: string,
  isNamed: boolean,
): boolean {
  return !said.includes(name) && (isNamed || keys.includes(name))
}

/** Names of headers whose values of then and of today were not compared. */
export interface UncomparedHeaders {
  /** Keys, tokens, and what tells about the trace: nothing is kept of them. */
  readonly unkept: readonly string[]
  /** Those that have another value in each replay. */
  readonly varying: readonly string[]
}

/** Of several forks; `undefined`: without any. */
export function allUncompared(forks: readonly (UncomparedHeaders | undefined)[]): UncomparedHeaders | undefined {
  const names = (of: keyof UncomparedHeaders): readonly string[] =>
    [...new Set(forks.flatMap((one) => one?.[of] ?? []))].sort()
  const all = { unkept: names('unkept'), varying: names('varying') }
  return all.unkept.length + all.varying.length === 0 ? undefined : all
}

/** What a fork comes to today, where that is not what it did. */
export type NotAgain = Exclude<Again, { readonly replayed: unknown }>

/**
 * What today's code, in today's surroundings, makes of a fork: replayed with the answers of the fork it asks the same, byte for
 * byte and with the same headers, and ends the same, or not. Offline, and for free.
 *
 * @returns `undefined` where that is unknown: an earlier version kept it
 */
export async function doAgain(
  run: KeptRun,
  { folder, parent, ...options }: Replaying & KeptIn & Forked,
): Promise<Again | undefined> {
  const { headers } = run
  if (headers === undefined) return undefined
  const known = headersKey(folder)
  // A run without such headers is compared without digests: one that is sent today is new.
  if (headers.length > 0 && known === undefined) return { headersKey: 'missing' }
  if (headers.length > 0 && run.key !== undefined && run.key !== nameOfKey(known!)) return { headersKey: 'another' }
  const key = known ?? ''
  const tape = parseTape(run.tape, 'kept.tape.jsonl')
  noteAnswers(tape.events)
  const imported = importedIn(tape, parent)
  const again = async () => {
    const heard = new Heard()
    const replayed = await replayOnce(tape, { ...options, replay: { ...options.replay, ...heard.listening } })
    const sent = heard.headers(key)
    // What a run does once it left its tape by a call says nothing.
    const asked = run.refused === undefined ? heard.asked : new Set([...heard.asked].filter((n) => n > 0))
    const isOther = !isSame(replayed, run, imported)
    return { replayed, isOther, sent, heard, changed: isOther ? [] : changedHeaders(headers, sent, asked) }
  }
  const same = ({ replayed, heard }: Awaited<ReturnType<typeof again>>, varying: readonly string[]): Again => {
    const { keyVariables: variables, saidVariables: said, unkept } = heard
    const isAll = unkept.length + varying.length === 0
    return {
      replayed,
      keyVariables: variables,
      saidVariables: said,
      ...(isAll ? {} : { notCompared: { unkept, varying } }),
    }
  }
  const first = await again()
  if (!first.isOther && first.changed.length === 0) return same(first, [])
  // Once is no proof: a machine may be too busy for its time limit.
  const second = await again()
  // A header that has another value each time says nothing about then and now.
  const everyTime = changedHeaders(first.sent, second.sent, new Set(first.sent.map(([n]) => n)))
  const changed = second.changed.filter((name) => !everyTime.includes(name))
  if (second.isOther || changed.length > 0) return { changedHeaders: changed }
  return same(second, everyTime)
}

/** What a fork does otherwise, or why that is unknown, for people. */
export function otherwiseText(today: NotAgain): string {
  if ('headersKey' in today)
    return `whether the code sends the same headers is unknown, for headers.key beside them is ${today.headersKey === 'missing' ? 'missing or damaged' : 'the key of other forks'}`
  const { changedHeaders: names } = today
  if (names.length === 0) return 'replayed with the answers they got then, some do something else'
  return `replayed, some send another value in the ${names.length === 1 ? 'header' : 'headers'} ${neutralLine(firstNames(names), 300)}`
}

/** What a fork was made of. */
export interface Forked {
  /** An import need not have each header of its requests: those of the steps that a fork kept of it are not compared. */
  readonly parent?: Tape
}

/** The `n` of the requests that a fork kept of an import. */
function importedIn(tape: Tape, parent: Tape | undefined): ReadonlySet<number> {
  if (parent?.header.imported === undefined) return new Set()
  const requests = ({ events }: Tape): ReadonlyMap<number, string> =>
    new Map(events.flatMap((one) => (one.kind === 'exchange' ? [[one.n, JSON.stringify(one.request)]] : [])))
  const recorded = requests(parent)
  return new Set([...requests(tape)].flatMap(([n, request]) => (recorded.get(n) === request ? [n] : [])))
}

/** Where runs are kept. */
export interface KeptIn {
  readonly folder: string
}

/** What a replay sends. */
class Heard {
  readonly #requests: (SentHeaders & SaidRequest)[] = []
  #redactor: Redactor | undefined
  readonly listening: Pick<RunSettings, 'onSent'> = {
    onSent: (step, { headers, url, text, body }, redactor) => {
      this.#redactor = redactor
      const request = { headers, url, said: text ?? body.toString() }
      this.#requests.push(step === undefined ? request : { n: step.event.n, ...request })
    },
  }

  /** The requests by their events; 0: the first one without an answer. */
  get asked(): ReadonlySet<number> {
    return new Set(this.#requests.map(({ n = 0 }) => n))
  }

  get keyVariables(): readonly string[] {
    return keyVariables(this.#requests)
  }

  get saidVariables(): readonly string[] {
    return saidVariables(this.#requests)
  }

  get unkept(): readonly string[] {
    return this.#redactor === undefined ? [] : unkeptHeaders(this.#requests, this.#redactor)
  }

  headers(key: string): readonly HiddenHeader[] {
    return this.#redactor === undefined ? [] : hiddenHeaders(this.#requests, this.#redactor, key)
  }
}

/** How a run is replayed. */
export type Replaying = Pick<ControlOptions, 'hangMs' | 'load' | 'replay' | 'signal' | 'timeoutMs'>

export type ReplayedFork = Awaited<ReturnType<typeof replayTape>>

/** Replays a tape with the agent loaded afresh, offline and within its time. */
export async function replayOnce(
  tape: Tape,
  { load, replay = {}, timeoutMs = 120_000, signal = new AbortController().signal, hangMs }: Replaying,
): Promise<ReplayedFork> {
  using limit = timeLimit({ timeoutMs, signal })
  const takeBack = standInKeys(tape)
  const given = { signal: limit.signal, ...(hangMs === undefined ? {} : { hangMs }) }
  try {
    return await replayTape(tape, await load(), { ...replay, ...given })
  } finally {
    takeBack()
  }
}

function isSame(
  { problems, drift, unused, unanswered = [], transcoded, comparison }: ReplayedFork,
  { hasProblems, refused }: KeptRun,
  imported: ReadonlySet<number>,
): boolean {
  const { identical, served, outcomeEqual } = comparison
  if (unused.length + transcoded.length > 0 || identical < served) return false
  if (refused !== undefined)
    return unanswered.some(
      (call) => call.kind === refused.kind && call.name === refused.name && call.asked === refused.asked,
    )
  // In another order everything that is asked has its answer all the same.
  const isJudged = problems.every(({ code }) => code === 'HARVEST_ORDER')
  // How far an answer was read is chance where a client gives it up, as one that tries again does.
  const isOther = drift.some((one) => one.class !== 'awaits' && !imported.has(one.step))
  return !isOther && isJudged === !hasProblems && (hasProblems || outcomeEqual === true)
}
