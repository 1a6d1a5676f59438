import { askedModels, modelIds, promptHash, toolsHash } from '../providers/index.ts'
import type { Tape, TapeEvent } from '../tape/types.ts'

/** What a tape was made with, as a case keeps it. Everything optional: a tape from elsewhere may not know. */
export interface CasePins {
  /** Git commit the agent ran at. */
  readonly commit?: string
  /** Whether its work tree had uncommitted changes. */
  readonly dirty?: boolean
  /** Model ids asked for, sorted. */
  readonly models?: readonly string[]
  /** Hash of the instructions. */
  readonly prompt?: string
  /** Hash of the tool schemas. */
  readonly tools?: string
  /** Node version, such as `24.21.0`. */
  readonly node?: string
  /** `vitest-harvest/<version>` that wrote the tape. */
  readonly recorder?: string
  /** The code whose behaviour was accepted last; absent: that of the recording. All else here stays as it was recorded. */
  readonly accepted?: AcceptedPin
}

/** The code whose behaviour was accepted after the recording; written again each time something is. */
export interface AcceptedPin extends Pick<CasePins, 'commit' | 'dirty' | 'models' | 'prompt' | 'tools'> {
  /** Digest of the trace and the outcome of the unchanged run. */
  readonly digest: string
}

/** What code is compared with: the code that was accepted last, and where nothing was, the recorded one. */
export function acceptedPins(pins: CasePins): CasePins {
  if (pins.accepted === undefined) return pins
  const { digest: _, ...now } = pins.accepted
  // Whether the recorded work tree was clean says nothing about a later commit.
  const { dirty: __, ...recorded } = pins
  return { ...(now.commit === undefined ? pins : recorded), ...now }
}

/** What code asks its models for, read off a replay: a recorded answer says nothing about another model that is asked now. */
export function pinsOfReplay(tape: Tape, events: readonly TapeEvent[]): Pick<CasePins, 'models' | 'prompt' | 'tools'> {
  const recorded = askedModels(tape.events)
  const models = modelIds(events, (model) => recorded.has(model))
  const prompt = promptHash(events)
  const tools = toolsHash(events)
  return {
    ...(models.length === 0 ? {} : { models }),
    ...(prompt === undefined ? {} : { prompt }),
    ...(tools === undefined ? {} : { tools }),
  }
}

/** Reads the pins of a tape: the recorded facts, and what its model requests say. */
export function pinsOf(tape: Tape): CasePins {
  const { pins, recorder } = tape.header
  const models = modelIds(tape.events)
  const prompt = promptHash(tape.events)
  const tools = toolsHash(tape.events)
  return {
    ...(pins.commit === undefined ? {} : { commit: pins.commit }),
    ...(pins.dirty === undefined ? {} : { dirty: pins.dirty }),
    ...(models.length === 0 ? {} : { models: [...models].sort() }),
    ...(prompt === undefined ? {} : { prompt }),
    ...(tools === undefined ? {} : { tools }),
    node: pins.node,
    recorder,
  }
}
