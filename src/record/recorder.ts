import { randomBytes } from 'node:crypto'
import { join } from 'node:path'
import { HarvestError } from '../errors/index.ts'
import { createRedactor, type RedactorOptions, rulesForTape } from '../privacy/index.ts'
import { patchClock } from '../seam/clock.ts'
import { observeChildren } from '../seam/observe/child.ts'
import { observeHttp } from '../seam/observe/http.ts'
import { observeHttp2 } from '../seam/observe/http2.ts'
import { observeInventory } from '../seam/observe/inventory.ts'
import { observed, type Observer } from '../seam/observe/observer.ts'
import { observeUndici } from '../seam/observe/undici.ts'
import { patchRandom } from '../seam/random.ts'
import { isThenable } from '../seam/shape.ts'
import { currentRun, seamState } from '../seam/source.ts'
import { observe } from './answer.ts'
import { type LiveOutcome, RecordedRun, recordingFailed } from './run.ts'

export interface RecorderOptions {
  /** Folder for the tapes; made when missing. Default `recordings/inbox`. */
  readonly dir?: string
  /** Git commit the agent runs at. Production images have no git: pass it in. */
  readonly commit?: string
  /** Whether the work tree had uncommitted changes. */
  readonly dirty?: boolean
  /** `name → version` of packages worth pinning, such as the SDK's. */
  readonly packages?: Readonly<Record<string, string>>
  /** What counts as a secret, beyond the built-in rules. */
  readonly redact?: RedactorOptions
  /** Called once when a tape is closed, with its path. */
  readonly onTape?: (path: string) => void
  /** Called at the first failure of a recording. Default: one line on stderr per process. */
  readonly onWarning?: (error: HarvestError) => void
}

export interface RunOptions {
  /** Key of the agent in the plugin's `agents`. */
  readonly agent: string
  /** What the agent is called with; a replay passes it again. */
  readonly input?: unknown
  /** Name of the tape. Default: a new sortable id. */
  readonly id?: string
}

/** Records runs; any number at once, each on a tape of its own. */
export interface Recorder {
  /**
   * Runs `fn` and records it. Returns or throws exactly what `fn` does: a failure of the recorder is a warning and
   * an incomplete tape, never an error of the agent. Inside another recorded run, `fn` belongs to that run.
   */
  run<T>(options: RunOptions, fn: () => T): T
  /** Path of the tape closed last. */
  readonly lastTape: string | undefined
  /** What the seam saw but could not attribute to a run. */
  readonly stats: { readonly outsideRuns: number; readonly failures: number }
}

/**
 * Makes a recorder and starts listening. Nothing of the HTTP clients is replaced: requests are heard on Node's
 * diagnostics channels, whatever was imported before.
 *
 * @throws HarvestError `HARVEST_RECORDER_OPTION` for an option this version does not know, `HARVEST_PRIVACY_OPTION`
 * for a redaction rule that cannot work
 */
export function createRecorder(options: RecorderOptions = {}): Recorder {
  checkOptions(options)
  // Bad rules are refused here, at start-up, not in the middle of a run.
  createRedactor(options.redact)
  listen()
  const dir = options.dir ?? join('recordings', 'inbox')
  const warn = warner(options.onWarning)
  let lastTape: string | undefined

  function run<T>(about: RunOptions, fn: () => T): T {
    if (isInsideRun()) return fn()
    const recorded = begin(about)
    if (!recorded) return fn()
    const closed = (): void => {
      if (!recorded.hasTape) return
      lastTape = recorded.path
      recorded.attempt(() => options.onTape?.(recorded.path))
    }
    return settle(seamState().runs.run(recorded.root, attempt, fn), recorded, closed)
  }

  /** Whatever goes wrong here must not reach the application: the run is then not recorded. */
  function begin(about: RunOptions): RecordedRun | undefined {
    const id = about.id ?? newId()
    try {
      return open(id, about)
    } catch (error) {
      warn(recordingFailed({ run: String(id) }, error))
      return undefined
    }
  }

  function open(id: string, about: RunOptions): RecordedRun {
    return new RecordedRun({
      id,
      agent: about.agent,
      path: join(dir, `${fileNameOf(id)}.tape.jsonl`),
      pins: {
        node: process.versions.node,
        ...(options.commit === undefined ? {} : { commit: options.commit }),
        ...(options.dirty === undefined ? {} : { dirty: options.dirty }),
        ...(options.packages === undefined ? {} : { packages: options.packages }),
      },
      redactor: createRedactor(options.redact),
      ...(options.redact === undefined ? {} : { redact: rulesForTape(options.redact) }),
      warn,
      ...('input' in about ? { input: about.input } : {}),
    })
  }

  return {
    run,
    get lastTape() {
      return lastTape
    },
    get stats() {
      return { outsideRuns: observed.outsideRuns, failures: observed.failures }
    },
  }
}

type Attempt<T> = { readonly ok: true; readonly value: T } | { readonly ok: false; readonly error: unknown }

function attempt<T>(fn: () => T): Attempt<T> {
  try {
    return { ok: true, value: fn() }
  } catch (error) {
    return { ok: false, error }
  }
}

/** Closes the tape when the answer is there, and hands the answer on. */
function settle<T>(result: Attempt<T>, run: RecordedRun, closed: () => void): T {
  if (!result.ok) {
    run.close({ status: 'threw', error: result.error })
    closed()
    throw result.error
  }
  const { value } = result
  const end = (outcome: LiveOutcome): void => {
    run.close(outcome)
    closed()
  }
  if (isThenable(value)) {
    return observe(
      value,
      (answer) => end({ status: 'returned', value: answer }),
      (error) => end({ status: 'threw', error }),
    ) as T
  }
  end({ status: 'returned', value })
  return value
}

/** A run that was answered records nothing more: what begins in its context, such as the next request of a server, is a run of its own. */
function isInsideRun(): boolean {
  const run = currentRun()
  return run !== undefined && !(run.mode === 'record' && (run as Observer).over)
}

/** An id may be anything the application calls its runs; a file name may not. */
function fileNameOf(id: string): string {
  return (
    id
      .replaceAll(/[^\w.-]/g, '-')
      .replace(/^\.+/, '')
      .slice(0, 200) || newId()
  )
}

/** Subscribes and patches, once per process whoever asks. */
export function listen(): void {
  observeUndici()
  observeHttp()
  observeHttp2()
  observeChildren()
  observeInventory()
  patchClock()
  patchRandom()
}

const known = new Set(['dir', 'commit', 'dirty', 'packages', 'redact', 'onTape', 'onWarning'])

function checkOptions(options: RecorderOptions): void {
  const unknown = Object.keys(options).filter((name) => !known.has(name))
  if (unknown.length === 0) return
  throw new HarvestError('HARVEST_RECORDER_OPTION', {
    what: `createRecorder does not know the option ${unknown.map((name) => `'${name}'`).join(', ')}`,
    where: { known: [...known].join(', ') },
    fix: ['remove it, or correct the spelling'],
  })
}

/** Tells about the first failure; a callback that fails itself is ignored, for the agent must go on. */
export function warner(onWarning: RecorderOptions['onWarning']): (error: HarvestError) => void {
  let said = false
  return (error) => {
    if (onWarning) return quietly(() => onWarning(error))
    if (said) return
    said = true
    process.stderr.write(`vitest-harvest: ${error.message.replaceAll('\n', '\n  ')}\n`)
  }
}

const alphabet = '0123456789abcdefghjkmnpqrstvwxyz'

function quietly(work: () => void): void {
  try {
    work()
  } catch {
    // The callback that was to hear of the failure failed: there is nobody left to tell.
  }
}

/** 10 characters of time, 16 of chance: sorts by time, safe as a file name. */
export function newId(): string {
  let time = Date.now()
  let id = ''
  for (let i = 0; i < 10; i++) {
    id = (alphabet[time % 32] ?? '') + id
    time = Math.floor(time / 32)
  }
  for (const byte of randomBytes(16)) id += alphabet[byte & 31] ?? ''
  return id
}
