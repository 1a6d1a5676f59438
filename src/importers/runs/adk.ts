import type { Cursor } from '../cursor.ts'
import { firstItem, type ForeignFormat, itemsAt, listed } from '../document.ts'
import { isFields } from '../meaning.ts'
import { readMessage, type ConversationMessage } from '../messages.ts'
import type { ForeignStep, ForeignRecording } from '../types.ts'
import { usageOf } from '../usage.ts'
import { type MessageFacts, saidSteps } from './conversation.ts'
import { outcome } from './marks.ts'
import { epochMs, known, listOf } from './values.ts'

/**
 * Google's Agent Development Kit: sessions with their events, eval sets with the calls and answers of each invocation, and
 * the results of an evaluation. Names with underscores or in camel case. A case that holds only questions is no run.
 *
 * @see https://github.com/google/adk-python, src/google/adk/evaluation/eval_case.py and src/google/adk/events/event.py
 */
export const adk: ForeignFormat = {
  name: 'adk',
  recognises: (document) => isOfKit(firstItem(document) ?? document.root),
  read: (document) => (document.root.isMap ? runsOf(document.root) : listed(itemsAt(document), runsOf).flat()),
}

/** A member in either spelling. */
function either(at: Cursor, name: string): Cursor {
  const found = at.at(name)
  return found.isThere ? found : at.at(name.replace(/_([a-z])/g, (_, letter: string) => letter.toUpperCase()))
}

function isOfKit(root: Cursor): boolean {
  return isSession(root) || listOfCases(root) !== undefined
}

/** An event has an author and a content of parts. */
function isSession(root: Cursor): boolean {
  const events = listOf(root.at('events'))
  const isEvent = (event: Cursor): boolean =>
    event.at('author').maybeText !== undefined && either(event, 'invocation_id').isThere
  return either(root, 'app_name').isThere && events.length > 0 && events.every(isEvent)
}

function listOfCases(root: Cursor): Cursor | undefined {
  if (!either(root, 'eval_set_id').isThere) return undefined
  return [either(root, 'eval_cases'), either(root, 'eval_case_results')].find(({ value }) => Array.isArray(value))
}

function runsOf(root: Cursor): readonly ForeignRecording[] {
  if (isSession(root)) return [sessionOf(root)]
  const cases = listOfCases(root) ?? either(root.map, 'eval_cases')
  return listed(cases.items, caseOf).filter(({ steps = [] }) => steps.some(({ kind }) => kind === 'model'))
}

function sessionOf(session: Cursor, name = session.at('id').maybeText): ForeignRecording {
  const said = listed(listOf(session.at('events')), eventOf).flat()
  return { format: 'adk', ...(name === undefined ? {} : { name }), exchanges: [], steps: saidSteps(said) }
}

type Told = readonly [said: ConversationMessage, facts: MessageFacts]

/** What an event says; pieces of an answer are reported once more as a whole. */
function eventOf(event: Cursor): readonly Told[] {
  const content = event.map.at('content')
  const error = either(event, 'error_message').maybeText
  if (event.at('partial').value === true || (!content.isMap && error === undefined)) return []
  const seconds = event.at('timestamp').maybeNumber
  const at = epochMs(seconds === undefined ? undefined : seconds * 1000)
  const answered = either(event, 'model_version').maybeText
  const usage = usageOf(either(event, 'usage_metadata').value)
  const finish = either(event, 'finish_reason').maybeText
  return [
    [
      saidBy(event.at('author').maybeText, content.value),
      {
        ...(at === undefined ? {} : { at }),
        model: {
          ...(answered === undefined ? {} : { answered }),
          ...(Object.keys(usage).length === 0 ? {} : { usage }),
          ...(finish === undefined ? {} : { finish }),
          ...(error === undefined ? {} : { error }),
        },
      },
    ],
  ]
}

/** A content, which may leave out who speaks. What tools answered stands in the words of the user. */
function saidBy(author: string | undefined, content: unknown): ConversationMessage {
  const fields = isFields(content) ? content : {}
  const said = readMessage({ ...fields, role: author === 'user' ? 'user' : 'model' })
  return said.results.length > 0 && said.calls.length === 0 ? { ...said, role: 'user' } : said
}

/** A case of an eval set, or what came of one. */
function caseOf(one: Cursor): ForeignRecording {
  const name = either(one.map, 'eval_id').maybeText
  const session = either(one, 'session_details')
  const status = either(one, 'final_eval_status')
  const ended = outcome(known({ status }))
  if (session.isMap && isSession(session)) {
    const run = sessionOf(session, name)
    return { ...run, steps: [...(run.steps ?? []), ...ended] }
  }
  const measured = listOf(either(one, 'eval_metric_result_per_invocation'))
  const invocations = [
    ...listOf(one.at('conversation')),
    ...measured.map((result) => either(result, 'actual_invocation')),
  ]
  const steps: readonly ForeignStep[] = [...saidSteps(invocations.flatMap(invocationOf)), ...ended]
  return { format: 'adk', ...(name === undefined ? {} : { name }), exchanges: [], steps }
}

/** A question, what was called for it, and the answer. */
function invocationOf(invocation: Cursor): readonly Told[] {
  const between = either(invocation.map, 'intermediate_data')
  const events = listOf(either(between, 'invocation_events'))
  const last = either(invocation, 'final_response')
  return [
    ...told('user', either(invocation, 'user_content')),
    ...(events.length > 0 ? listed(events, eventOf).flat() : callsOf(between)),
    ...told('agent', last),
  ]
}

function told(author: string, content: Cursor): readonly Told[] {
  return content.isMap ? [[saidBy(author, content.value), {}]] : []
}

/** Calls in the order of the list, each with the answer of its id, else of its place. */
function callsOf(between: Cursor): readonly Told[] {
  const answers = listOf(either(between, 'tool_responses'))
  return listOf(either(between, 'tool_uses')).flatMap((use, index): readonly Told[] => {
    const id = use.at('id').maybeText
    const own = answers.find((answer) => id !== undefined && answer.at('id').value === id)
    const answer = own ?? (answers[index]?.at('id').isThere === true && id !== undefined ? undefined : answers[index])
    return [
      [saidBy('agent', { parts: [{ functionCall: use.value }] }), {}],
      ...(answer === undefined
        ? []
        : [[saidBy('agent', { parts: [{ functionResponse: answer.value }] }), {}] as const]),
    ]
  })
}
