import { basename, dirname } from 'node:path'
import { isHostUnknown, isSocketNoted } from '../match/asked-url.ts'
import { at, isList, isMap, without } from '../json/canonical.ts'
import type { NotCompared } from '../match/redacted.ts'
import { hiddenPart, orderOfSteps, unkeptHeader } from '../match/hidden-part.ts'
import { offersUnknown, subprotocolHeader } from '../match/subprotocol.ts'
import type { RunOutcome, SharedRequest } from '../match/types.ts'
import { isComparedInPart } from '../match/encode.ts'
import { type LiveWhole, sameWhole } from '../match/cut-request.ts'
import { droppedCap, type Redactor } from '../privacy/index.ts'
import { socketName, unknownSocket } from '../seam/connection.ts'
import { trailersName } from '../seam/shape.ts'
import type { LiveRequest } from '../seam/intercept/index.ts'
import type { ExchangeState, StepState } from '../match/step.ts'
import { isRead } from '../playback/independence.ts'
import { keptHeader } from '../playback/problems.ts'
import { uncomparedParts } from './same-error.ts'
import {
  encodeFor,
  type ExchangeEvent,
  functionCode,
  type HeaderPair,
  type HiddenPart,
  isCut,
  type Json,
  sharedFolder,
  type Tape,
} from '../tape/index.ts'

/** Parts of values that a tape holds nothing of: it is unknown whether they are the recorded ones. */
export class HiddenParts {
  readonly #tape: Tape
  readonly #redactor: () => Redactor
  /** Places of callbacks that were listed. */
  readonly #callbacks = new Set<string>()

  constructor(tape: Tape, redactor: () => Redactor) {
    this.#tape = tape
    this.#redactor = redactor
  }

  /** @param path - where the value stands, such as `message to worker` */
  of(path: string, value: unknown): readonly NotCompared[] {
    return this.#named(path, this.#find(value).parts)
  }

  /**
   * Of what a wrapped function is called with. Callbacks among it are listed once a function and place, those of one call
   * together: an object full of them is one thing that is handed over.
   *
   * @param isRun - the function runs, and calls them
   */
  ofArguments(name: string, args: unknown, isRun: boolean): readonly NotCompared[] {
    const { parts } = this.#find(args)
    const others = parts.filter(({ what }) => what !== functionCode)
    const callbacks = isRun ? [] : parts.filter(({ what }) => what === functionCode)
    return [...this.#named('args', others), ...this.#ofCallbacks(name, callbacks)]
  }

  #ofCallbacks(name: string, callbacks: readonly HiddenPart[]): readonly NotCompared[] {
    if (callbacks.length === 0) return []
    const place = callbacks.map(({ at }) => at).reduce(commonPath)
    const path = `args${place} of ${name}`
    if (this.#callbacks.has(path)) return []
    this.#callbacks.add(path)
    const what = callbacks.length === 1 ? functionCode : `the code of ${callbacks.length} functions`
    return this.#named('', [{ at: path, what }], neverCalled)
  }

  /** Of arguments that the body of a call changed, now as well as when recorded or where nothing looked. */
  ofChangedArguments(): readonly NotCompared[] {
    const why = 'the tape holds what the call was given, and not what it made of that: return it, and it is compared'
    return this.#named('args', [{ at: '', what: 'what the call changed in its arguments' }], why)
  }

  /** Of what the run made of its input, which is compared where the recorded run was seen to change it. */
  ofInput(how: keyof typeof uncomparedInput): readonly NotCompared[] {
    return this.#named('input', [{ at: '', what: 'what the agent changed in its input' }], uncomparedInput[how])
  }

  /** Of a value of which the tape has the two ends, and no digest: something in them was redacted. */
  ofCut(path: string, value: Json | undefined): readonly NotCompared[] {
    if (!isCut(value) || (value.sha256 !== undefined && !isComparedInPart(value))) return []
    return this.#cutOut(path)
  }

  /** Of the body of a request of which the tape has the two ends, where its digest is not of these bytes. */
  ofCutBody({ request }: ExchangeEvent, live: LiveWhole | undefined): readonly NotCompared[] {
    return sameWhole(request.whole, live) === 'in part' ? this.#cutOut('body') : []
  }

  /** Of code that runs in a replay and returns a query. */
  ofQuery(): readonly NotCompared[] {
    const why = 'it runs when it is awaited: wrap the function that awaits it'
    return this.#named('result', [{ at: '', what: 'a query' }], why)
  }

  #cutOut(path: string): readonly NotCompared[] {
    const why =
      'the tape has its two ends and its size: record the run again with a larger cap, bodies: { maxMegabytes }'
    return this.#named(path, [{ at: '', what: 'what the recorder cut out' }], why)
  }

  /** Of what a framework handed a tool beside its arguments. */
  ofContext(parts: readonly HiddenPart[]): readonly NotCompared[] {
    return this.#named('context', parts)
  }

  ofRequest(live: LiveRequest, { request, response }: ExchangeEvent): readonly NotCompared[] {
    const part = (path: string, what: string): readonly NotCompared[] => this.#named(path, [{ at: '', what }])
    return [
      ...(isHostUnknown(this.#tape, live) ? part('headers.host', 'a Host header unlike the address') : []),
      ...(this.#isSocketUnknown(live, request.headers) ? part('connection', 'where the connection leads') : []),
      ...(live.beside?.some(([name]) => name === trailersName) ? part('trailers', 'the trailers of a request') : []),
      ...(live.via === 'websocket' && offersUnknown(response, live.headers)
        ? part(`headers.${subprotocolHeader}`, 'a subprotocol without a version, which may be a key')
        : []),
    ]
  }

  #isSocketUnknown({ beside = [] }: LiveRequest, recorded: readonly HeaderPair[]): boolean {
    const given = [...recorded, ...beside].filter(([name]) => name === socketName)
    return given.length > 0 && (!isSocketNoted(this.#tape) || given.some(([, value]) => value === unknownSocket))
  }

  /** Of a request of which one side has more than the other, because the other one has no end. */
  get ofOpenRequest(): readonly NotCompared[] {
    return this.#named('body', [{ at: '', what: 'the rest of a body that had not ended' }])
  }

  /**
   * Once the run is over: headers that some request had when recorded and none has now, or the other way round. Only their
   * names are on the tape, and not those by which clients tell of themselves.
   */
  headerNames(): readonly NotCompared[] {
    const { header, close } = this.#tape
    if (header.imported !== undefined || !header.flags.includes('headers-1')) return []
    const [before, now] = [close?.droppedHeaders ?? [], this.#redactor().dropped]
    // More than that were not noted.
    if (Math.max(before.length, now.length) >= droppedCap) return []
    const told = (name: string, is: 'gone' | 'new'): NotCompared => ({
      kind: unkeptHeader,
      placeholder: `the header ${name}`,
      path: `headers.${name}, ${is}`,
      why: `the tape has names of such headers alone: ${keptHeader(name)}`,
    })
    return [
      ...before.filter((name) => !now.includes(name)).map((name) => told(name, 'gone')),
      ...now.filter((name) => !before.includes(name)).map((name) => told(name, 'new')),
    ]
  }

  /**
   * Of what the agent asks for now and another run of its process had asked for: whether it asks as when recorded is on no tape. What
   * is kept beside the golden set was looked at when it was promoted.
   */
  ofShared(shared: readonly SharedRequest[]): readonly NotCompared[] {
    const fromRuns = shared.filter(({ file }) => basename(dirname(file)) !== sharedFolder)
    const asked = new Set(fromRuns.map(({ method, url }) => `${method} ${url}`))
    return [...asked].map((request) => ({
      kind: hiddenPart,
      placeholder: 'whether the run asks for it',
      path: request,
      why: 'the run did not ask for it when recorded: its process had the answer, which another tape gives',
    }))
  }

  /** Of states the agent notes, and the recording of another tool cannot have. */
  statesOf(names: ReadonlySet<string>): readonly NotCompared[] {
    const { format = '' } = this.#tape.header.imported ?? {}
    const why = `no recording of ${format} holds states: record the run again with vitest-harvest`
    return [...names].map((name) => ({ kind: hiddenPart, placeholder: 'all of it', path: `state ${name}`, why }))
  }

  /** Of a recording that does not state in which order its steps were made: they may have been made in any. */
  order(steps: number): readonly NotCompared[] {
    const { imported } = this.#tape.header
    if (steps < 2 || imported === undefined || !isOrderUnknown(this.#tape)) return []
    return [
      {
        kind: orderOfSteps,
        placeholder: 'which step waited for which',
        path: `imported from ${imported.format}`,
        why: 'the recording does not state which of its steps waited for which: record the run again with vitest-harvest',
      },
    ]
  }

  /** Of an async generator that acted: its tape holds what it did and what it yielded, and not where the one stood in the other. */
  orderOfPieces(steps: readonly StepState[]): readonly NotCompared[] {
    const acts = (step: StepState): boolean =>
      !isRead(step.event) && (step as Partial<ExchangeState>).model === undefined
    if (!steps.some(acts)) return []
    return [
      {
        kind: orderOfSteps,
        placeholder: 'what it did between which pieces',
        path: 'what the agent yields',
        why: 'no tape holds where the steps of an async generator stand among its pieces: leave a mark before the step, whose place is compared',
      },
    ]
  }

  /** Of a header of an answer that tapes do not keep: nothing for one that they do, which the answer did not have. */
  ofMissedHeader(name: string): readonly NotCompared[] {
    if (!/^[\w-]{1,64}$/.test(name) || this.#redactor().headers([[name, '']]).length > 0) return []
    const why = `tapes have listed headers of answers alone: ${keptHeader(name)}`
    return [{ kind: hiddenPart, placeholder: `the header ${name} of an answer`, path: `answer.headers.${name}`, why }]
  }

  /** Of a function that lies over this one, which a replay does not call. */
  over(name: string): readonly NotCompared[] {
    const why = `it was there before the replay, which did not call it: import the agent inside of the function that is replayed`
    return [{ kind: hiddenPart, placeholder: `the function that replaced ${name}`, path: name, why }]
  }

  ofOutcome(outcome: RunOutcome): readonly NotCompared[] {
    const { json, parts } = this.#find(outcome.status === 'returned' ? outcome.value : outcome.error)
    // Of an error only data is compared, and all of that is on the tape.
    if (outcome.status === 'threw' && at(json, '$type') === 'error')
      return this.#named('outcome', uncomparedParts(json), notComparedInErrors)
    const ended = this.#tape.close?.outcome
    const recorded = ended?.status === 'returned' ? ended.value : undefined
    const isUnheard = recorded !== undefined && withRecordedParts(recorded, json) !== json
    return this.#named('outcome', isUnheard ? [...parts, unheard] : parts)
  }

  #find(value: unknown): { readonly json: Json; readonly parts: readonly HiddenPart[] } {
    const parts: HiddenPart[] = []
    const json = encodeFor(this.#tape.header.flags, value, parts)
    const dropped = this.#droppedHeaders(json)
    return { json, parts: dropped === 0 ? parts : [...parts, { at: '', what: `headers (${dropped})` }] }
  }

  #droppedHeaders(json: Json): number {
    if (typeof json !== 'object' || json === null) return 0
    if (at(json, '$type') !== 'headers')
      return Object.values(json).reduce((sum: number, item: Json) => sum + this.#droppedHeaders(item), 0)
    const entries = at(json, 'entries')
    if (!isList(entries)) return 0
    // Their names decide, and a value would count as one that the agent brought.
    const names = entries.map((pair) => [String((pair as readonly Json[])[0]), ''] as const)
    return names.length - this.#redactor().headers(names).length
  }

  #named(path: string, parts: readonly HiddenPart[], because?: string): readonly NotCompared[] {
    return parts.map(({ at: below, what }) => ({
      kind: hiddenPart,
      placeholder: what,
      path: path + this.#redactor().text(below),
      why: because ?? `not on the tape: ${this.#redactor().text(what)}`,
    }))
  }
}

const uncomparedInput = {
  unseen:
    'the tape does not hold what the run made of its input: its recorder is an older one, or a run beside it had a part of the same input',
  unchanged:
    'the recorded run left the input that the recorder got as it was: the agent had a copy of it, or changes it only now',
  'not taken': 'the recorded run changed its input, and this agent takes none: hand it the one that the replay gives',
  lost: 'the input holds an instance of a class or a function, and the agent gets its data alone',
}

const neverCalled = 'a replay calls it back only where this function runs, as under tools: run'

/** What two paths below a value begin with. */
function commonPath(one: string, other: string): string {
  const [names, others] = [one, other].map((path) => path.split(/(?=[.[])/)) as [string[], string[]]
  const parts = names.findIndex((name, i) => name !== others[i])
  return parts === -1 ? one : names.slice(0, parts).join('')
}

const notComparedInErrors =
  'of a thrown error data is compared: what describes a request, or holds functions, is left out'

/** The body of a returned response that was not heard to its end: whoever asked stopped reading, or it was too long. */
const unheard: HiddenPart = { at: '', what: 'the body of a Response' }

/** A returned value without what the recorder did not hear of the recorded one. */
export function withRecordedParts(recorded: Json, live: Json): Json {
  const [before, now] = [at(recorded, 'contents'), at(live, 'contents')]
  const isUnheard = at(recorded, 'class') === 'Response' && isMap(before) && !Object.hasOwn(before, 'body')
  return isUnheard && isMap(live) && isMap(now) && Object.hasOwn(now, 'body')
    ? { ...live, contents: without(now, 'body') }
    : live
}

/** Whether a recording of another tool may list one after the other what went side by side. */
export function isOrderUnknown({ header: { imported } }: Tape): boolean {
  return imported?.missing.includes('order') === true
}
