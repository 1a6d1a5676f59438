import type { Cursor } from '../cursor.ts'
import { firstItem, type ForeignDocument, type ForeignFormat, itemsAt } from '../document.ts'
import type { ForeignStep, ForeignRecording } from '../types.ts'
import { conversationSteps, type MessageFacts } from './conversation.ts'
import { usageIn } from '../usage.ts'
import { outcome } from './marks.ts'
import { known, timeOf } from './values.ts'

/**
 * Sessions of pi: JSON Lines, a header and then a message for each line.
 *
 * @see https://github.com/badlogic/pi-mono, packages/coding-agent/docs/session.md
 */
export const piSession: ForeignFormat = {
  name: 'pi-session',
  recognises(document) {
    const first = firstItem(document)
    const type = first?.at('type').maybeText
    return (
      (type === 'session' && first!.at('id').isThere) || (type === 'message' && first!.at('message').at('role').isThere)
    )
  },
  read: (document) => sessionOf(document, 'pi-session', (line) => line.at('type').value === 'message'),
}

/**
 * Transcripts of Claude Code, and what it prints as a stream of JSON: JSON Lines, each line with the session it is of.
 *
 * @see https://code.claude.com/docs/en/data-usage
 */
export const claudeCode: ForeignFormat = {
  name: 'claude-code',
  recognises(document) {
    const exported = exportsIn(document)[0]
    const { isLines, root } = exported ?? document
    if (exported !== undefined && isEmpty(exported)) return true
    if (exported === undefined && !isLines) return isOfClaude(firstItem(document) ?? root)
    for (const line of linesOf(exported ?? document)) {
      if (isOfClaude(line)) return true
      // Before the first message stand a summary and snapshots of files.
      if (line.at('message').isThere || line.at('type').maybeText === undefined) return false
    }
    return false
  },
  read(document) {
    const exported = exportsIn(document)
    return (exported.length === 0 ? [document] : exported).map((one) => sessionOf(one, 'claude-code', isOfClaude))
  },
}

/** What the web app of Claude Code exports: a session in one document, or several in a list or in lines. */
function exportsIn(document: ForeignDocument): readonly ForeignDocument[] {
  if (document.root.at('loglines').isThere) return [document]
  const { file } = document
  return firstItem(document)?.at('loglines').isThere === true
    ? [...itemsAt(document)].map((root) => ({ file, root, isLines: false }))
    : []
}

function isEmpty(document: ForeignDocument): boolean {
  for (const _ of linesOf(document)) return false
  return true
}

function isOfClaude(line: Cursor): boolean {
  const type = line.at('type').value
  const hasSession = ['uuid', 'sessionId', 'session_id'].some((key) => line.at(key).isThere)
  return (type === 'user' || type === 'assistant') && line.at('message').at('role').isThere && hasSession
}

/** The lines of a session. */
function linesOf(document: ForeignDocument): Iterable<Cursor> {
  const { root } = document
  if (root.at('loglines').isThere) return itemsAt(document, 'loglines')
  return root.isMap ? [root] : itemsAt(document)
}

function sessionOf(
  document: ForeignDocument,
  format: 'pi-session' | 'claude-code',
  isMessage: (line: Cursor) => boolean,
): ForeignRecording {
  const lines = [...linesOf(document)]
  const said = lines.filter((line) => isMessage(line))
  const facts = new Map(said.map((line) => [line.at('message').value, factsOf(line)]))
  const ids = [lines[0]?.at('id'), said[0]?.at('sessionId'), said[0]?.at('session_id')]
  const name = ids.map((id) => id?.maybeText).find((id) => id !== undefined)
  const startedMs = said.map((line) => timeOf(line.at('timestamp'))).find((at) => at !== undefined)
  const steps = conversationSteps(
    said.map((line) => line.at('message')),
    (message) => facts.get(message.value) ?? {},
  )
  return {
    format,
    ...(name === undefined ? {} : { name }),
    exchanges: [],
    steps: [...steps, ...lines.flatMap(resultOf)],
    ...(startedMs === undefined ? {} : { startedMs }),
  }
}

/** The last line of a stream says how the run went. */
function resultOf(line: Cursor): readonly ForeignStep[] {
  if (line.at('type').value !== 'result') return []
  return outcome(known({ ended: line.at('subtype'), is_error: line.at('is_error'), result: line.at('result') }))
}

function factsOf(line: Cursor): MessageFacts {
  const at = timeOf(line.at('timestamp'))
  const message = line.at('message')
  const [answered, provider] = [message.at('model').maybeText, message.at('provider').maybeText]
  const finish = message.at('stopReason').maybeText ?? message.at('stop_reason').maybeText
  const error = message.at('errorMessage').maybeText
  // Claude Code writes a line for each block of an answer.
  const response = line.at('type').value === 'assistant' ? message.at('id').maybeText : undefined
  return {
    ...(at === undefined ? {} : { at }),
    ...(response === undefined ? {} : { response }),
    model: {
      ...(answered === undefined ? {} : { answered }),
      ...(provider === undefined ? {} : { provider }),
      ...(finish === undefined ? {} : { finish }),
      ...(error === undefined ? {} : { error }),
      ...usageIn(message.at('usage').value),
    },
  }
}
