import type { HarvestError } from '../errors/index.ts'
import { createRedactor, type Redactor, type RedactorOptions, rulesForTape, withoutLate } from '../privacy/index.ts'
import { CallsOnce, ModelQuestions } from '../providers/counted.ts'
import { readMcpCall, readModelCall } from '../providers/index.ts'
import {
  type Closing,
  currentFlags,
  formatVersion,
  redactorFlag,
  type TapeEvent,
  type TapeHeader,
} from '../tape/index.ts'
import type { Outcome } from '../tape/types.ts'
import { version } from '../version.ts'
import { eventsOf } from './events.ts'
import { gradeOf, missingIn } from './grade.ts'
import { type ForeignFile, readRecordings } from './read.ts'
import { refusal } from './refusal.ts'
import { errorOf, onTape } from './tape-value.ts'
import type { ForeignOutcome, ImportFacts, ForeignRecording } from './types.ts'

export interface ImportOptions extends ForeignFile {
  /** Id of the tape; a function is given the name the recording gives itself. */
  readonly id: string | ((name: string | undefined) => string)
  /** Agent the tape is for. */
  readonly agent: string
  /** What the agent was called with, when someone knows. */
  readonly input?: { readonly value: unknown }
  /** What counts as a secret, beyond the built-in rules; kept in the header, for a replay redacts its requests alike. */
  readonly redact?: RedactorOptions
}

/** A foreign recording as a tape that is not written yet. Everything in it is redacted. */
export interface TapeDraft {
  readonly header: TapeHeader
  readonly events: readonly TapeEvent[]
  readonly close: Closing
  readonly facts: ImportFacts
}

/**
 * Makes tapes of the runs a foreign recording holds, each redacted by the rules of the recorder, when it is asked for.
 * Most formats hold one run; an export of traces holds one for each trace.
 *
 * Nothing is made up: what the recording does not hold is named in the header. An outcome it does not state is `unknown`;
 * a start it does not state is `1970-01-01`, because a tape has to have one.
 *
 * @returns how many there are, and the tapes
 * @throws HarvestError `HARVEST_IMPORT_…`
 */
export function importRecordings(options: ImportOptions): {
  readonly count: number
  readonly tapes: Iterable<TapeDraft>
} {
  const recordings = readRecordings(options)
  const { bytes: _, ...rest } = options
  return { count: recordings.length, tapes: tapesOf(recordings, rest) }
}

/** Without the bytes of the file: what was read of them is all that has to stay in memory. */
function* tapesOf(
  recordings: readonly ForeignRecording[],
  options: Omit<ImportOptions, 'bytes'>,
): Generator<TapeDraft> {
  for (const recording of recordings) yield tapeOf(recording, options)
}

/**
 * As {@link importRecordings}, of a file that holds one run.
 *
 * @throws HarvestError `HARVEST_IMPORT_…`; `HARVEST_IMPORT_SEVERAL` when there are more
 */
export function importRecording(options: ImportOptions): TapeDraft {
  const recordings = readRecordings(options)
  const [recording] = recordings
  if (recordings.length > 1 || recording === undefined) throw several(options.file, recordings.length)
  return tapeOf(recording, options)
}

/** The error for one thing asked of a file that holds several runs. */
export function several(file: string, count: number): HarvestError {
  return refusal('HARVEST_IMPORT_SEVERAL', { file }, `it holds ${count} runs, and one was asked for`)
}

function tapeOf(recording: ForeignRecording, options: Omit<ImportOptions, 'bytes'>): TapeDraft {
  const redactor = createRedactor(options.redact)
  // The input comes first in a recorder too: placeholders are numbered by it.
  const given = options.input ?? recording.input
  const input = given === undefined ? undefined : redactor.json(onTape(given.value))
  const made = eventsOf(recording, redactor, options.file)
  const grade = gradeOf(recording)
  const missing = missingIn(recording, made).filter((word) => word !== 'input' || input === undefined)
  const { format, startedMs = 0, uncaptured } = recording
  const [n, at] = made.end
  const draft = {
    header: {
      harvest: formatVersion,
      id: typeof options.id === 'string' ? options.id : options.id(recording.name),
      agent: options.agent,
      ...(input === undefined ? {} : { input }),
      startedAt: new Date(startedMs).toISOString(),
      recorder: `vitest-harvest/${version}`,
      flags: [...currentFlags, redactorFlag],
      pins: { node: 'unknown' },
      ...(options.redact === undefined ? {} : { redact: rulesForTape(options.redact) }),
      imported: { format, grade, missing },
    },
    events: made.events,
    close: { n, at, outcome: outcomeOf(recording.outcome, redactor) },
    facts: {
      format,
      grade,
      missing,
      bytes: made.bytes,
      ...countsOf(recording, made.events),
      ...(uncaptured === undefined ? {} : { uncaptured }),
    },
  } satisfies TapeDraft
  return withoutLate<TapeDraft>(draft, redactor)
}

/** How the run ended. Where the recording does not say it, the outcome is unknown: the end of a recording is no ending of a run. */
function outcomeOf(outcome: ForeignOutcome | undefined, redactor: Redactor): Outcome {
  if (outcome === undefined) return { status: 'unknown' }
  if (outcome.status === 'threw')
    return { status: 'threw', error: redactor.json(onTape(outcome.thrown ?? errorOf(outcome.message))) }
  return 'value' in outcome
    ? { status: 'returned', value: redactor.json(onTape(outcome.value)) }
    : { status: 'returned' }
}

function countsOf(
  { exchanges, steps, lines }: ForeignRecording,
  events: readonly TapeEvent[],
): Pick<ImportFacts, 'exchanges' | 'modelCalls' | 'tools'> {
  if (steps !== undefined) {
    const calls = events.flatMap((event) => (event.kind === 'tool' ? [event.name] : []))
    return { exchanges: 0, modelCalls: steps.filter(({ kind }) => kind === 'model').length, tools: calls }
  }
  if (lines !== undefined) {
    const asked = events.flatMap((event) => (event.kind === 'exchange' ? [event] : []))
    const calls = asked.flatMap((event) => readMcpCall(event) ?? [])
    return { exchanges: asked.length, modelCalls: 0, tools: calls.map(({ name }) => name) }
  }
  const calls = new CallsOnce()
  const questions = new ModelQuestions()
  const asked = new Map<string, number>()
  const tools: string[] = []
  for (const event of events) {
    // Of a copy: what was read is kept as long as the event it was read from, and of a large file that is much.
    const call = event.kind === 'exchange' ? readModelCall({ ...event }) : undefined
    if (call === undefined) continue
    calls.add(call)
    const question = questions.of(call)
    for (const { id, name, builtIn } of call.response?.toolCalls ?? []) {
      // A poll tells again what was asked for.
      const by = asked.get(`${question} ${id}`) ?? call.n
      if (id !== undefined) asked.set(`${question} ${id}`, by)
      if (!builtIn && by === call.n) tools.push(name)
    }
  }
  return { exchanges: exchanges.length, modelCalls: calls.all.length, tools }
}
