import path from 'node:path'
import { inject } from 'vitest'
import { HarvestError } from '../errors/index.ts'
import { createRecorder } from '../record/index.ts'
import type { HarvestProvided } from './channel.ts'
import { untilAwaited } from './under-way.ts'
import { unattended } from './update-mode.ts'

export interface RecordOptions {
  /** Key of the agent in the plugin's `agents`. Default: the one there is. */
  readonly agent?: string
  /** What the agent is called with; a replay passes it again. */
  readonly input?: unknown
  /** Folder of the tape. Default `recordings/inbox`. */
  readonly dir?: string
}

/** What a run returned, and where its tape lies. */
export interface RecordedTest<T> {
  readonly value: T
  /** Path of the tape, for `npx vitest-harvest promote`. */
  readonly tape: string
}

/**
 * Runs an agent for real and records it into the inbox: a way to make tapes while writing the agent. A test that ends
 * before its recording does is red (`HARVEST_TEST_OVER`).
 *
 * @throws HarvestError `HARVEST_RECORD_REFUSED` in CI: a pipeline makes no live call because a test was forgotten
 */
export function record<T>(fn: () => T | PromiseLike<T>, options: RecordOptions = {}): Promise<RecordedTest<T>> {
  return untilAwaited('record()', () => recordRun(fn, options))
}

async function recordRun<T>(fn: () => T | PromiseLike<T>, options: RecordOptions): Promise<RecordedTest<T>> {
  const because = process.env['HARVEST_ALLOW_CI_RECORD'] === '1' ? undefined : unattended(process.env)
  if (because !== undefined) throw refused(because)
  const { agent = onlyAgent(), dir = path.join('recordings', 'inbox') } = options
  const seen: { tape?: string; warning?: HarvestError } = {}
  const recorder = createRecorder({
    dir,
    onTape: (tape) => (seen.tape ??= tape),
    onWarning: (warning) => (seen.warning ??= warning),
  })
  const value = await recorder.run({ agent, ...('input' in options && { input: options.input }) }, fn)
  // In production a failing recorder never disturbs the agent; here the tape is what the caller is after.
  if (seen.tape === undefined || seen.warning !== undefined) throw noTape(dir, seen.warning)
  return { value, tape: seen.tape }
}

/** The agent of the config when there is just one. */
function onlyAgent(): string {
  const provided: HarvestProvided | undefined = inject('vitest-harvest')
  const names = Object.keys(provided?.settings.agents ?? {})
  const [only] = names
  if (only !== undefined && names.length === 1) return only
  throw new HarvestError('HARVEST_RECORD_AGENT', {
    what: 'Missing agent name for a recording',
    where: { known: names.length > 0 ? names.join(', ') : 'none' },
    why: 'The case made from the tape finds its agent by this name.',
    fix: [`record(() => agent(input), { agent: '${only ?? 'refund'}', input })`],
  })
}

function refused(because: string): HarvestError {
  return new HarvestError('HARVEST_RECORD_REFUSED', {
    what: 'Recording is disabled here',
    where: { because },
    why: 'Recording makes live calls, and a tape made in CI gets no review.',
    fix: [
      "record on a developer machine, then npx vitest-harvest promote '<tape>' --as '<id>'",
      'or replay a tape: replay(tape, agent)',
    ],
  })
}

function noTape(dir: string, cause: HarvestError | undefined): HarvestError {
  return new HarvestError(
    'HARVEST_RECORD_FAILED',
    {
      what: 'The recorder left no complete tape of this run',
      where: { folder: dir, ...(cause !== undefined && { warning: cause.facts.what }) },
      why: 'The recorder failed; the agent itself ran undisturbed.',
      fix: ['see the cause below', 'if this run is inside another recorded run: record the outer one only'],
    },
    { cause },
  )
}
