import type { Cursor } from '../cursor.ts'
import { readMessage, type ConversationMessage } from '../messages.ts'
import type { ForeignRequest, ForeignStep } from '../types.ts'
import { type MessageFacts, saidSteps } from './conversation.ts'
import { outcome } from './marks.ts'
import { known, timeOf } from './values.ts'

/** Events of OpenHands since its agent SDK: each says of which `kind` it is. */
const kinds: ReadonlySet<string> = new Set([
  'SystemPromptEvent',
  'MessageEvent',
  'ActionEvent',
  'ObservationEvent',
  'AgentErrorEvent',
  'UserRejectObservation',
])

export function isSdkEvent(event: Cursor): boolean {
  return kinds.has(event.at('kind').maybeText ?? '')
}

/**
 * Actions of one answer of the model name it; what came of each is joined by the id of its call.
 *
 * @see https://github.com/OpenHands/software-agent-sdk, openhands-sdk/openhands/sdk/event
 */
export function sdkSteps(events: readonly Cursor[]): readonly ForeignStep[] {
  const told = events.filter((event) => isSdkEvent(event)).map((event) => [saidIn(event), factsOf(event)] as const)
  const failed = events.findLast((event) => event.at('kind').value === 'ConversationErrorEvent')
  return [
    ...saidSteps(told),
    ...(failed === undefined ? [] : outcome(known({ code: failed.at('code'), detail: failed.at('detail') }))),
  ]
}

function saidIn(event: Cursor): ConversationMessage {
  switch (event.at('kind').value) {
    case 'SystemPromptEvent':
      return readMessage({ role: 'system', content: [event.at('system_prompt').value] })
    case 'MessageEvent': {
      // What the surroundings tell the model is said in the role of a user as well.
      const role = event.at('source').value === 'agent' ? 'assistant' : (event.at('source').maybeText ?? 'user')
      return readMessage({ role, content: event.at('llm_message').at('content').value })
    }
    case 'ActionEvent': {
      const said = readMessage({ role: 'assistant', content: event.at('thought').value ?? [] })
      return { ...said, calls: [callIn(event)] }
    }
    default:
      return resultIn(event)
  }
}

function callIn(event: Cursor): ForeignRequest {
  const asked = event.at('tool_call')
  const [call] = asked.isMap ? readMessage({ role: 'assistant', tool_calls: [asked.value] }).calls : []
  const id = idOf(event, 'id')
  return {
    ...(id === undefined ? {} : { id }),
    name: event.at('tool_name').text,
    // The action holds what was filled in as well.
    args: call?.args ?? withoutKind(event.at('action')),
  }
}

function resultIn(event: Cursor): ConversationMessage {
  const id = idOf(event, 'action_id')
  const name = event.at('tool_name').maybeText
  const observation = event.at('observation')
  const { text, value } = observedIn(observation)
  const error =
    event.at('error').maybeText ??
    event.at('rejection_reason').maybeText ??
    (observation.at('is_error').value === true ? text : undefined)
  const result = {
    ...(id === undefined ? {} : { id }),
    ...(name === undefined ? {} : { name }),
    value,
    ...(error === undefined ? {} : { error }),
  }
  return { role: 'tool', text: '', calls: [], results: [result], body: value }
}

/** What a tool showed: its text where it is all there is. */
function observedIn(observation: Cursor): { readonly text: string; readonly value: unknown } {
  const rest = withoutKind(observation)
  const content = rest['content']
  const said = readMessage({ role: 'user', content })
  const isText = content !== undefined && typeof said.body === 'string'
  return { text: said.text === '' ? JSON.stringify(rest) : said.text, value: isText ? said.body : rest }
}

function withoutKind(place: Cursor): Record<string, unknown> {
  const members = place.isMap ? place.members : []
  return Object.fromEntries(members.filter(([key]) => key !== 'kind').map(([key, { value }]) => [key, value]))
}

function idOf(event: Cursor, key: string): string | undefined {
  return event.at('tool_call_id').maybeText ?? event.at(key).maybeText
}

function factsOf(event: Cursor): MessageFacts {
  const at = timeOf(event.at('timestamp'))
  const response = event.at('llm_response_id').maybeText
  return { ...(at === undefined ? {} : { at }), ...(response === undefined ? {} : { response }) }
}
