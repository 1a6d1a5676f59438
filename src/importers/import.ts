import { createRedactor } from '../privacy/index.ts'
import { readModelCall } from '../providers/index.ts'
import {
  type Closing,
  currentFlags,
  encodeValue,
  formatVersion,
  type TapeEvent,
  type TapeHeader,
} from '../tape/index.ts'
import { version } from '../version.ts'
import { eventsOf } from './events.ts'
import { gradeOf, missingIn } from './grade.ts'
import { type ForeignFile, readRecording } from './read.ts'
import type { ImportFacts, Recording } from './types.ts'

export interface ImportOptions extends ForeignFile {
  /** Id of the tape; a function is given the name the recording gives itself. */
  readonly id: string | ((name: string | undefined) => string)
  /** Agent the tape is for. */
  readonly agent: string
  /** What the agent was called with, when somebody knows. */
  readonly input?: { readonly value: unknown }
}

/** A foreign recording as a tape that is not written yet. Everything in it is redacted. */
export interface ImportedTape {
  readonly header: TapeHeader
  readonly events: readonly TapeEvent[]
  readonly close: Closing
  readonly facts: ImportFacts
}

/**
 * Makes a tape of a foreign recording, redacted by the rules of the recorder.
 *
 * Nothing is made up: what the recording does not hold is named in the header, and where a tape has to have something,
 * it is the plainest there is: `1970-01-01` for a start nobody knows, an outcome without a value.
 *
 * @throws HarvestError `HARVEST_IMPORT_…`
 */
export function importRecording(options: ImportOptions): ImportedTape {
  const recording = readRecording(options)
  const redactor = createRedactor()
  // The input comes first in a recorder too: placeholders are numbered by it.
  const input = options.input === undefined ? undefined : redactor.json(encodeValue(options.input.value))
  const made = eventsOf(recording, redactor, options.file)
  const grade = gradeOf(recording)
  const missing = missingIn(recording, made).filter((word) => word !== 'input' || input === undefined)
  const { format, startedMs = 0 } = recording
  const [n, at] = made.end
  return {
    header: {
      harvest: formatVersion,
      id: typeof options.id === 'string' ? options.id : options.id(recording.name),
      agent: options.agent,
      ...(input === undefined ? {} : { input }),
      startedAt: new Date(startedMs).toISOString(),
      recorder: `vitest-harvest/${version}`,
      flags: currentFlags,
      pins: { node: 'unknown' },
      imported: { format, grade, missing },
    },
    events: made.events,
    close: { n, at, outcome: { status: 'returned' } },
    facts: { format, grade, missing, bytes: made.bytes, ...countsOf(recording, made.events) },
  }
}

function countsOf(
  { exchanges, turns }: Recording,
  events: readonly TapeEvent[],
): Pick<ImportFacts, 'exchanges' | 'modelCalls' | 'tools'> {
  const calls = events.flatMap((event) => (event.kind === 'exchange' ? (readModelCall(event) ?? []) : []))
  const asked = calls.flatMap(({ response }) => response?.toolCalls.filter(({ builtIn }) => !builtIn) ?? [])
  return {
    exchanges: exchanges.length,
    modelCalls: calls.length,
    tools: [...asked, ...(turns ?? []).flatMap(({ toolCalls }) => toolCalls)].map(({ name }) => name),
  }
}
