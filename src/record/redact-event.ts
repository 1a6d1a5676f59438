import {
  decodeBytes,
  encodeValue,
  type Json,
  type MarkEvent,
  type MessageEvent,
  type PushEvent,
  type PushFrame,
  type SpawnEvent,
  type StateEvent,
} from '../tape/index.ts'
import { redactedValue, type Redactor } from '../privacy/index.ts'
import type { Outcome } from '../tape/index.ts'
import type { LiveOutcome } from './run.ts'

/** What a run says about itself, beside exchanges and calls. */
export type RunNote = SpawnEvent | PushEvent | MessageEvent | MarkEvent | StateEvent

/** A note as it may stand on a tape. */
export function redactedNote(note: RunNote, redactor: Redactor): RunNote {
  switch (note.kind) {
    case 'mark':
      return {
        ...note,
        name: redactor.name(note.name),
        ...(note.data === undefined ? {} : { data: redactedValue(note.data, redactor) }),
      }
    case 'state':
      return { ...note, name: redactor.name(note.name), data: redactedValue(note.data, redactor) }
    case 'message':
      return {
        ...note,
        from: redactor.name(note.from),
        to: redactor.name(note.to),
        body: redactedValue(note.body, redactor),
      }
    case 'spawn':
      return {
        ...note,
        command: redactor.json(note.command) as readonly string[],
        ...(note.cwd !== undefined && { cwd: redactor.text(note.cwd) }),
        ...(note.env && { env: redactor.json(note.env) as NonNullable<typeof note.env> }),
        ...(note.options && { options: redactor.json(note.options) as NonNullable<typeof note.options> }),
      }
    case 'push':
      return {
        ...note,
        url: redactor.url(note.url),
        text: isBinary(note) ? bytesIn(note.text, redactor) : redactor.text(note.text),
      }
    default:
      return note satisfies never
  }
}

/** The outcome as it is now, no matter what becomes of the objects in it. */
export function encodedOutcome(outcome: LiveOutcome): Outcome {
  switch (outcome.status) {
    case 'returned':
      return { status: 'returned', value: encodeValue(outcome.value) }
    case 'threw':
      return { status: 'threw', error: encodeValue(outcome.error) }
    case 'exited':
      return outcome
    default:
      return outcome satisfies never
  }
}

/** An encoded outcome as it may stand on a tape. */
export function redactedOutcome(outcome: Outcome, redactor: Redactor): Outcome {
  const json = (value: Json): Json => redactor.json(value)
  switch (outcome.status) {
    case 'returned':
      return outcome.value === undefined ? outcome : { status: 'returned', value: json(outcome.value) }
    case 'threw':
      return { status: 'threw', error: json(outcome.error) }
    case 'exited':
      return {
        ...outcome,
        ...(outcome.stdout === undefined ? {} : { stdout: redactor.text(outcome.stdout) }),
        ...(outcome.stderr === undefined ? {} : { stderr: redactor.text(outcome.stderr) }),
      }
    case 'unknown':
      return outcome
    default:
      return outcome satisfies never
  }
}

function isBinary({ frame }: { readonly frame?: PushFrame }): boolean {
  return frame === 'binary' || frame === 'ping' || frame === 'pong'
}

/** Base64 is looked through as the bytes it stands for. */
function bytesIn(text: string, redactor: Redactor): string {
  return Buffer.concat(redactor.encoded([Buffer.from(text, 'base64')]).map(decodeBytes)).toString('base64')
}
