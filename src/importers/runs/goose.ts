import { createHash } from 'node:crypto'
import type { Cursor } from '../cursor.ts'
import type { ForeignFormat } from '../document.ts'
import { conversationSteps, type MessageFacts } from './conversation.ts'
import { usageIn } from '../usage.ts'
import { epochMs } from './values.ts'

/**
 * Scenarios of goose: what a provider was asked and what it said, by a hash of the question. The question holds the
 * whole conversation so far, so the longest one tells them all.
 *
 * @see https://github.com/block/goose, crates/goose/src/providers/testprovider.rs
 */
export const gooseScenario: ForeignFormat = {
  name: 'goose-scenario',
  recognises({ root }) {
    if (!root.isMap) return false
    const [first] = root.members
    return (
      first !== undefined &&
      Array.isArray(first[1].at('input').at('messages').value) &&
      first[1].at('output').at('message').isMap
    )
  },
  read({ root }) {
    const records = root.members.map(([, record]) => record)
    const answers = new Map(records.map((record) => [contentText(record.at('output').at('message')), record]))
    const runs = lastOf(records).map((last, index) => ({
      format: 'goose-scenario' as const,
      ...(index === 0 ? {} : { name: `conversation-${index + 1}` }),
      exchanges: [],
      steps: conversationSteps([...messagesOf(last), last.at('output').at('message')], (message) =>
        factsOf(message, answers),
      ),
    }))
    return runs
  },
}

function messagesOf(record: Cursor): readonly Cursor[] {
  return record.at('input').at('messages').items
}

/** The records whose conversation no other one goes on with, the longest first: beside it titles are asked for, and the like. */
function lastOf(records: readonly Cursor[]): readonly Cursor[] {
  const begun = records.map((record) => beginningsOf(messagesOf(record)))
  const inner = new Set(begun.flatMap((digests) => digests.slice(0, -1)))
  return records
    .filter((_, index) => !inner.has(begun[index]!.at(-1) ?? ''))
    .sort((a, b) => messagesOf(b).length - messagesOf(a).length)
}

/** A digest of a conversation up to each of its messages. */
function beginningsOf(messages: readonly Cursor[]): readonly string[] {
  let last = ''
  return messages.map((message) => {
    last = createHash('sha256').update(last).update(contentText(message)).digest('base64')
    return last
  })
}

function contentText(message: Cursor): string {
  return JSON.stringify([message.at('role').value, message.at('content').value])
}

/** An answer says which model gave it and what it used; inside later questions it stands without. */
function factsOf(message: Cursor, records: ReadonlyMap<string, Cursor>): MessageFacts {
  const seconds = message.at('created').maybeNumber
  const created = epochMs(seconds === undefined ? undefined : seconds * 1000)
  const at = created === undefined ? {} : { at: created }
  if (message.at('role').value !== 'assistant') return at
  const record = records.get(contentText(message))
  if (record === undefined) return at
  const usage = record.at('output').at('usage')
  const answered = usage.at('model').maybeText
  return { ...at, model: { ...(answered === undefined ? {} : { answered }), ...usageIn(usage.at('usage').value) } }
}
