import { askedIn, readModelCall } from '../providers/index.ts'
import type { Amount, RunPosition } from '../rules/index.ts'
import { type Json, type Tape } from '../tape/index.ts'
import { positionsOf } from '../trace/index.ts'

/** What a tape says, as the index keeps it: redacted, as the tape is. */
export interface TapeContent {
  /** All texts and numbers of it, each once, in lower case. */
  readonly text: string
  /** Its positions, see {@link readPositions}. */
  readonly positions: string
}

/** What is said on a tape: its input, what was called with what and answered, what was asked and said, how it ended. */
export function contentOf(tape: Tape): TapeContent {
  const texts = new Set<string>()
  const { input, session, attributes } = tape.header
  for (const value of [input, session, attributes]) if (value !== undefined) collect(value as Json, texts)
  for (const event of tape.events) {
    const call = event.kind === 'exchange' ? readModelCall(event) : undefined
    if (call === undefined || event.kind !== 'exchange') continue
    // A conversation comes again with every question: each text counts once.
    for (const message of (askedIn(event) ?? call.request).messages) collect(message, texts)
  }
  const positions = positionsOf(tape)
  for (const { args, result, text, error } of positions)
    for (const value of [args, result, text, error]) if (value !== undefined) collect(value, texts)
  return { text: searchable([...texts].join('\n')), positions: writePositions(positions) }
}

/** A text as it is looked for: upper and lower case are one, and SQLite ends a text at a NUL. */
export function searchable(text: string): string {
  return text.toLowerCase().replaceAll('\0', '\ufffd').toWellFormed()
}

/** Walks without recursion: values of tapes may be deep. */
function collect(root: Json, texts: Set<string>): void {
  const open: Json[] = [root]
  for (let value = open.pop(); value !== undefined; value = open.pop()) {
    if (typeof value === 'string') texts.add(value)
    else if (typeof value === 'number') texts.add(String(value))
    else if (typeof value === 'object' && value !== null)
      for (const [key, member] of Object.entries(value as Readonly<Record<string, Json>>))
        if (key !== '$type') open.push(member)
  }
}

type Written = Omit<RunPosition, 'tokens' | 'cost' | 'agent'> & { readonly tokens?: Amount }

/** Without what is the same at each position, or depends on prices. */
function writePositions(positions: readonly RunPosition[]): string {
  let before = ''
  const written = positions.map(({ tokens, cost: _, agent: __, ...position }): Written => {
    const now = JSON.stringify(tokens)
    const isNews = now !== before
    before = now
    return isNews ? { ...position, tokens } : position
  })
  return JSON.stringify(written)
}

/** Positions as they were written. Their cost is unknown: it depends on prices that may have changed. */
export function readPositions(text: string, agent: string | undefined): readonly RunPosition[] {
  let tokens: Amount = { known: 0, isWhole: true }
  return (JSON.parse(text) as readonly Written[]).map((written) => {
    tokens = written.tokens ?? tokens
    return { ...written, ...(agent === undefined ? {} : { agent }), tokens, cost: { known: 0, isWhole: false } }
  })
}
