import { createHash } from 'node:crypto'
import { redactorOfTape } from '../privacy/index.ts'
import { canonicalJson } from '../providers/index.ts'
import type { ReplayResult } from '../match/types.ts'
import { encodeValue, type Json } from '../tape/index.ts'
import { renderBaseline, traceOfRun } from '../trace/index.ts'

/**
 * Identifies what an unchanged replay did and how it ended: 132 bits, base64url. Times, ids and how questions are worded are
 * no part of it, and of an error its name and message alone.
 */
export function runDigest({ tape, events, outcome }: Pick<ReplayResult, 'tape' | 'events' | 'outcome'>): string {
  const { status } = outcome
  const ended = redactorOfTape(tape).json(encodeValue(status === 'returned' ? outcome.value : outcome.error))
  const said = [renderBaseline(traceOfRun({ tape, events })), status, withoutPlace(ended)]
  const text = canonicalJson(JSON.parse(JSON.stringify(said)) as Json)
  return createHash('sha256').update(text).digest('base64url').slice(0, 22)
}

/** Where an error was made says nothing about what it is. */
function withoutPlace(ended: Json): Json {
  const { $type, name = null, message = null } = (ended ?? {}) as { readonly [key: string]: Json }
  return $type === 'error' ? [name, message] : ended
}
