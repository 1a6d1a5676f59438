// Over 300 lines: one factory, whose functions share its options.
import { randomFillSync } from 'node:crypto'
import { dirname, join } from 'node:path'
import { createRedactor, printKeys, rulesForTape, subjectKeys } from '../privacy/index.ts'
import { Codes } from '../seam/code-of.ts'
import { watchAddOns } from '../seam/add-ons.ts'
import { patchClock, spareUndici } from '../seam/clock.ts'
import { observeChildren } from '../seam/observe/child.ts'
import { observeHttp } from '../seam/observe/http.ts'
import { observeHttp2 } from '../seam/observe/http2.ts'
import { observeInventory, observeTargets } from '../seam/observe/inventory.ts'
import { observed, outsideListeners } from '../seam/observe/observer.ts'
import { observeUndici } from '../seam/observe/undici.ts'
import { patchRandom } from '../seam/random.ts'
import { isAsyncGenerator, isThenable, isUnreadResponse } from '../seam/shape.ts'
import { currentRun, outsideRuns, seamState } from '../seam/source.ts'
import { patchTimers } from '../seam/timers.ts'
import { keepBody, outsideFolder, type RecordedPins, sweepTemporaries } from '../tape/index.ts'
import { fileNameOf } from '../tape/file-name.ts'
import { aboutHeader, type AboutRun, subjectsOf } from './about.ts'
import { observe } from './answer.ts'
import { type Aside, asideOf, handleWithout, isInsideRun } from './aside.ts'
import { TailSampler } from './tail-sampler.ts'
import { RunEndings, finish, type WorkInParts } from './endings.ts'
import { HeldRun } from './held-run.ts'
import { HeldRuns } from './hold.ts'
import { LiveMoments } from './moments.ts'
import type { RunAccount, RunHandle } from './run-stats.ts'
import type { RunObserver } from './observer.ts'
import { checkRecorderOptions, type RecorderOptions } from './options.ts'
import { ProcessReads } from './process-reads.ts'
import { redactorOfRun } from './redactor-of-run.ts'
import { hearBody } from './response.ts'
import { type LiveOutcome, type Past, RecordedRun, recordingFailed } from './run.ts'
import { RunCounts, type RunStats } from './stats.ts'
import { runtimeNotHeard, unheardHere } from './runtime.ts'
import { isSwitchedOn } from './switch.ts'
import { hearRejection, warner } from './warn.ts'
import { hearYields } from './yields.ts'

export interface RunOptions extends AboutRun {
  /** Key of the agent in the plugin's `agents`. */
  readonly agent: string
  /** What the agent is called with; a replay passes it again. */
  readonly input?: unknown
  /** Name of the tape; what is secret in it becomes a placeholder. Default: a new sortable id. */
  readonly id?: string
}

/** Records runs; any number at once, each on a tape of its own. */
export interface Recorder {
  /**
   * Runs `fn` and records it. Returns or throws exactly what `fn` does: a failure of the recorder is a warning and
   * an incomplete tape, never an error of the agent. Inside another recorded run, `fn` belongs to that run and gets
   * its handle.
   *
   * A `Response` of the Fetch API is handed on with the same status and headers and a body that is heard: the run ends
   * when the body has been read. So is an async generator, whose run ends when it does.
   */
  run<T>(options: RunOptions, fn: (run: RunHandle) => T): T
  /** Keeps the run the calling code belongs to, regardless of chance. Returns whether there is one. */
  flag(reason: string): boolean
  /** Keeps its tape until someone lifts the hold. Returns whether there is such a run. */
  hold(reason: string): boolean
  /**
   * Writes now what is to be kept of runs that were judged when they were over. There is no need to call it: they are written
   * one by one between the requests, and when the process ends.
   */
  flush(): void
  /** Path of the tape closed last, of those that were kept. */
  readonly lastTape: string | undefined
  /** What the seam saw but could not attribute to a run, and what became of the runs. */
  readonly stats: { readonly outsideRuns: number } & RunStats
}

/**
 * Makes a recorder and starts listening. Nothing of the HTTP clients is replaced: requests are heard on Node's
 * diagnostics channels, no matter what was imported before.
 *
 * @throws HarvestError `HARVEST_RECORDER_OPTION` for an option this version does not know or that cannot be,
 * `HARVEST_PRIVACY_OPTION` for a redaction rule that cannot work, `HARVEST_RECORDER_METER` when what counts model calls
 * is not there
 */
export function createRecorder(options: RecorderOptions = {}): Recorder {
  checkRecorderOptions(options)
  // Bad rules are refused here, at start-up, not in the middle of a run.
  const redactor = createRedactor(options.redact)
  if (!isSwitchedOn() || options.enabled === false) return offRecorder
  const [printKey] = printKeys()
  const [subjectKey] = subjectKeys()
  const warn = warner(options.onWarning, (text) => createRedactor(options.redact).text(text))
  const sampler = new TailSampler(options, warn)
  const codes = new Codes((text) => createRedactor(options.redact).scan(text))
  const endings = new RunEndings()
  const hold = new HeldRuns({
    limit: megabytes(options.hold?.megabytes ?? 64),
    counts: sampler.counts,
    endings,
    keepsCutShort: options.keep?.errors ?? true,
  })
  listen()
  const unheard = unheardHere()
  if (unheard !== undefined) warn(runtimeNotHeard(unheard))
  const dir = options.dir ?? join('recordings', 'inbox')
  // A version may be an address with a token in it.
  const versions = Object.entries(options.packages ?? {}).map(
    ([name, version]) => [name, redactor.text(version)] as const,
  )
  const pins: RecordedPins = {
    node: process.versions.node,
    ...(options.commit === undefined ? {} : { commit: options.commit }),
    ...(options.dirty === undefined ? {} : { dirty: options.dirty }),
    ...(options.packages === undefined ? {} : { packages: Object.fromEntries(versions) }),
  }
  const redact = options.redact === undefined ? undefined : rulesForTape(options.redact)
  let lastTape: string | undefined

  function run<T>(about: RunOptions, fn: (run: RunHandle) => T): T {
    if (isInsideRun()) return fn(currentHandle() ?? bystander())
    sampler.counts.begun()
    const id = idOf(about) ?? newId()
    const begun = begin(id, about)
    if (begun === undefined) return fn(bystander(id))
    if ('isOpen' in begun) return runAside(begun, fn)
    return settle(
      seamState().runs.run(begun.root, attempt, () => fn(begun.handle)),
      begun,
      (canWait) => {
        if (begun instanceof RecordedRun) return ended(begun, canWait)
      },
    )
  }

  /** @returns what the caller waits for, where there is much to do and it can wait */
  function ended(recorded: RecordedRun, canWait: boolean): Promise<void> | undefined {
    const { rest } = recorded
    if (rest === undefined) return written(recorded)
    const work = (function* (): WorkInParts {
      yield* rest
      written(recorded)
    })()
    if (canWait) return endings.begin(work)
    finish(work)
  }

  const bodyCap = megabytes(options.bodies?.maxMegabytes ?? 8)
  const reads = new ProcessReads({
    bodyCap,
    write: ({ start, startedAt, headers, sent, status, statusText, answerHeaders, got }) => {
      const id = newId()
      // No run: it counts for none, and no rule for keeping runs is about it.
      const account = new TailSampler({}, warn).open(id, 'shared')
      const path = join(dir, outsideFolder, `${id}.tape.jsonl`)
      const moments = new LiveMoments()
      const recorded = record(
        {
          account,
          about: { agent: 'shared' },
          secrets: [],
        },
        path,
        { moments, startedAt },
      )
      const exchange = recorded.exchange({ ...start, headers }, {})
      if (sent.length > 0) exchange.requestChunk(sent)
      exchange.head(status, statusText, { pairs: answerHeaders, bytes: 0 })
      exchange.chunk(got)
      exchange.end()
      recorded.closePast({
        outcome: { status: 'unknown' },
        verdict: { isKept: true },
        timers: {},
        reads: {},
        given: {},
      })
      finish(recorded.rest)
    },
  })
  outsideListeners().add((start) => reads.hear(start))

  function written(recorded: RecordedRun): undefined {
    if (!recorded.hasTape) return
    reads.flush()
    lastTape = recorded.path
    recorded.attempt(() =>
      hearRejection(options.onTape?.(recorded.path), (error) =>
        warn(recordingFailed({ run: recorded.id, tape: recorded.path }, error)),
      ),
    )
  }

  /** What goes wrong here must not reach the application: the run is then not recorded. */
  function begin(id: string, about: RunOptions): RecordedRun | HeldRun | Aside | undefined {
    try {
      const prospect = sampler.prospectOf(id)
      switch (prospect) {
        case 'kept':
          return recordedNow(aboutRun(id, about, true))
        case 'undecided':
          return held(aboutRun(id, about, false))
        case 'left out':
          sampler.counts.notSampled()
          return asideOf(id, () => sampler.counts.flagsTooLate++)
        default:
          return prospect satisfies never
      }
    } catch (error) {
      sampler.counts.ended('unrecorded')
      sampler.counts.failures++
      warn(recordingFailed({ run: String(id) }, error))
      return undefined
    }
  }

  /** Names of files and of the index hold no secret either. Two runs whose ids differ by one alone keep two names. */
  function withoutSecrets(id: string, secrets: readonly string[]): string {
    const clean = createRedactor(options.redact, { secrets }).text(id)
    return clean === id ? id : `${clean}-${newId()}`
  }

  /** The names agents are known by here, as they may be written; a service has few. */
  const agents = new Map<string, string>()

  function agentName(given: string): string {
    let name = agents.get(given)
    if (name === undefined) {
      name = createRedactor(options.redact).text(given)
      if (agents.size < 1_000) agents.set(given, name)
    }
    return name
  }

  interface Begun {
    readonly account: RunAccount
    readonly about: RunOptions
    readonly secrets: readonly string[]
  }

  function aboutRun(given: string, about: RunOptions, isSampled: boolean): Begun {
    const secrets = subjectsOf(about)
    const id = about.id === undefined ? given : withoutSecrets(given, secrets)
    return { account: sampler.open(id, agentName(about.agent), isSampled), about, secrets }
  }

  function pathOf({ run }: RunAccount): string {
    return join(dir, `${fileNameOf(run) || newId()}.tape.jsonl`)
  }

  const swept = new Set<string>()

  /** Before the first tape in a folder: what killed processes left half-written there is a part of a run, and has no name. */
  function sweep(folder: string): void {
    if (swept.has(folder)) return
    swept.add(folder)
    try {
      sweepTemporaries(folder)
    } catch {
      // There is no folder yet; or it cannot be swept: then a tape cannot be written either, or `check` names what stays.
    }
  }

  function record({ account, about, secrets }: Begun, path: string, past?: Past): RecordedRun {
    sweep(dirname(path))
    const { redactor, printed } = redactorOfRun(options.redact, printKey, secrets)
    const recorded = new RecordedRun({
      account,
      path,
      bodyCap,
      codes,
      warn,
      ...('input' in about ? { input: about.input } : {}),
      pins,
      process: processName(),
      redactor,
      ...(printed === undefined ? {} : { printed }),
      said: () => aboutHeader(about, redactor, subjectKey, warn),
      ...(redact === undefined ? {} : { redact }),
      tapeCap: megabytes(options.tapes?.maxMegabytes ?? 256),
      ...(past === undefined ? {} : { past }),
    })
    // No tape of it looks whole.
    if (unheard !== undefined) recorded.unrecorded(unheard)
    return recorded
  }

  function recordedNow(begun: Begun): RecordedRun {
    return record(begun, pathOf(begun.account))
  }

  function held(begun: Begun): HeldRun {
    const { account, about } = begun
    return new HeldRun({
      account,
      about,
      bodyCap,
      codes,
      hold,
      warn,
      path: () => pathOf(account),
      redactor: () => createRedactor(options.redact, { keys: true }),
      record: (past, path, named) => record({ ...begun, secrets: [...begun.secrets, ...named] }, path, past),
      onWritten: written,
    })
  }

  return {
    run,
    flag: (reason) => currentHandle()?.flag(reason) ?? isInsideRun(),
    hold: (reason) => currentHandle()?.hold(reason) ?? isInsideRun(),
    flush: () => outsideRuns(() => endings.flush()),
    get lastTape() {
      return lastTape
    },
    get stats() {
      const counted = sampler.counts.now
      return { ...counted, outsideRuns: observed.outsideRuns, failures: counted.failures + observed.failures }
    },
  }
}

/** A recorder that is off: calls what it is given. */
const offRecorder: Recorder = {
  run: (about, fn) => fn(currentHandle() ?? bystander(idOf(about))),
  flag: (reason) => currentHandle()?.flag(reason) ?? isInsideRun(),
  hold: (reason) => currentHandle()?.hold(reason) ?? isInsideRun(),
  flush: () => undefined,
  lastTape: undefined,
  stats: { outsideRuns: 0, ...new RunCounts().now },
}

/** Runs a function that nothing is recorded of. */
function runAside<T>(aside: Aside, fn: (run: RunHandle) => T): T {
  const ended = (): void => {
    aside.isOpen = false
  }
  const result = seamState().runs.run(aside, attempt, () => fn(aside.handle))
  if (!result.ok) {
    ended()
    throw result.error
  }
  if (isThenable(result.value)) return observe(result.value, ended, ended) as T
  ended()
  return result.value
}

type Attempt<T> = { readonly ok: true; readonly value: T } | { readonly ok: false; readonly error: unknown }

function attempt<T>(fn: () => T): Attempt<T> {
  try {
    return { ok: true, value: fn() }
  } catch (error) {
    return { ok: false, error }
  }
}

/**
 * Closes the tape when the answer is there, and hands the answer on.
 *
 * @param closed - gets whether what it returns is waited for
 */
function settle<T>(
  result: Attempt<T>,
  run: RecordedRun | HeldRun,
  closed: (canWait: boolean) => Promise<void> | undefined,
): T {
  const end = (outcome: LiveOutcome, canWait: boolean): Promise<void> | undefined => {
    if (run.over) return undefined
    run.close(outcome)
    return closed(canWait)
  }
  const answered = (value: unknown, canWait: boolean) => end({ status: 'returned', value }, canWait)
  const failed = (error: unknown, canWait: boolean) => end({ status: 'threw', error }, canWait)
  if (!result.ok) {
    void failed(result.error, false)
    throw result.error
  }
  const { value } = result
  const handOn = (answer: unknown, canWait: boolean): unknown => {
    if (isAsyncGenerator(answer)) return hearYields(answer, run.root, run.bodyCap, (outcome) => end(outcome, true))
    const heard = isUnreadResponse(answer)
      ? hearBody(answer, run.root, run.bodyCap, (body) => {
          if (body.status === 'failed') return failed(body.error, true)
          if (body.bytes !== undefined) keepBody(answer, body.bytes)
          return answered(answer, true)
        })
      : undefined
    if (heard !== undefined) return heard
    const waits = answered(answer, canWait)
    return waits === undefined ? answer : waits.then(() => answer)
  }
  if (!isThenable(value)) return handOn(value, false) as T
  return observe(
    value,
    (answer) => void answered(answer, false),
    (error) => void failed(error, false),
    (answer) => (run.isHearing ? whenHeard(run).then(() => handOn(answer, true)) : handOn(answer, true)),
    (error) => failed(error, true),
  ) as T
}

/** Turns of the event loop in which a client hands over a body that it has. */
const hearingTurns = 20

/** A request that was made just before the answer belongs to the run with all of its body. */
async function whenHeard(run: RecordedRun | HeldRun): Promise<void> {
  const { setImmediate } = seamState().natives
  for (let turn = 0; turn < hearingTurns && run.isHearing; turn++) await new Promise<void>((next) => setImmediate(next))
}

/** The recorded run the calling code belongs to; a replayed one has none. */
function currentHandle(): RunHandle | undefined {
  return (currentRun() as Partial<RunObserver> | undefined)?.handle
}

function idOf(about: RunOptions): string | undefined {
  try {
    return about.id
  } catch {
    // Options that cannot be read are read once more when the run begins: that fails, and is a warning.
    return undefined
  }
}

/** What the function gets that runs without a tape of its own: in a replay, or where none could be made. */
function bystander(id = currentRun()?.id ?? ''): RunHandle {
  return handleWithout(id, () => currentRun() !== undefined)
}

function megabytes(count: number): number {
  return Math.floor(count * 2 ** 20)
}

/** A random name for this process, the same for all its recorders. */
function processName(): string {
  const { shared } = seamState()
  let name = shared.get('process name') as string | undefined
  if (name === undefined) shared.set('process name', (name = newId()))
  return name
}

/** Subscribes and patches, once per process whoever asks. */
export function listen(): void {
  observeUndici()
  observeHttp()
  observeHttp2()
  observeChildren()
  observeInventory()
  observeTargets()
  watchAddOns('observe', (_addOn, load) => load())
  patchClock()
  spareUndici()
  patchRandom()
  patchTimers()
}

const alphabet = '0123456789abcdefghjkmnpqrstvwxyz'
const { epoch } = seamState().natives

/** Of ids, the characters of time: all but two are the same for a second. */
let second = { time: -1, text: '' }

function timeText(time: number): string {
  const whole = Math.floor(time / 1024)
  if (second.time !== whole) {
    let text = ''
    for (let i = 0, left = whole; i < 8; i++, left = Math.floor(left / 32)) text = (alphabet[left % 32] ?? '') + text
    second = { time: whole, text }
  }
  return second.text + (alphabet[(time >> 5) & 31] ?? '') + (alphabet[time & 31] ?? '')
}

/** Characters of chance. The system is asked for many ids at once: one question costs more than all else of an id. */
let chance = ''

/** 10 characters of time, 16 of chance: sorts by time, safe as a file name. */
export function newId(): string {
  if (chance.length < 16) {
    const bytes = randomFillSync(Buffer.alloc(1024))
    for (let i = 0; i < bytes.length; i++) bytes[i] = alphabet.charCodeAt(bytes[i]! & 31)
    chance = bytes.toString('latin1')
  }
  const id = timeText(epoch()) + chance.slice(0, 16)
  chance = chance.slice(16)
  return id
}
