import type { Json } from '../../tape/types.ts'
import type { Address } from '../dialect.ts'
import { at, isList, isMap, type JsonMap, listAt, mapAt, textAt, without } from '../../json/canonical.ts'
import { bySpeaker, type Parts, Taking } from './taking.ts'

/** A run: what it adds to its thread; or what the tools of one answered. */
export function assistants(address: Address, body: JsonMap): Parts {
  const parts = new Taking(body)
  const model = parts.model(address)
  const said = (value: Json): boolean => typeof value === 'string'
  const thread = mapAt(body, 'thread')
  const begun = listAt(thread, 'messages')
  const instructions = [...parts.take('instructions', said), ...parts.take('additional_instructions', said)]
  const messages = [...begun, ...parts.take('additional_messages', isList), ...parts.take('tool_outputs', isList)]
  const tools = parts.take('tools', isList)
  const params = begun.length === 0 ? parts.rest() : { ...parts.rest(), thread: without(thread, 'messages') }
  return { model, instructions, messages, tools, params }
}

export function interactions(address: Address, body: JsonMap): Parts {
  const parts = new Taking(body)
  const model = parts.model(address) || (textAt(body, 'agent') ?? '')
  return {
    model,
    instructions: parts.take('system_instruction', (value) => value !== null),
    messages: parts.take('input'),
    tools: parts.take('tools', isList),
    params: parts.rest(),
  }
}

export function conversations(address: Address, body: JsonMap): Parts {
  const parts = new Taking(body)
  return {
    model: parts.model(address) || (textAt(body, 'agent_id') ?? ''),
    instructions: parts.take('instructions', (value) => value !== null),
    messages: parts.take('inputs'),
    tools: parts.take('tools', isList),
    params: parts.rest(),
  }
}

/** A turn with an agent that keeps the conversation; the tools it handed back answer in the state of the session. */
export function bedrockAgent(address: Address, body: JsonMap): Parts {
  const parts = new Taking(body)
  const asked = mapAt(body, 'retrieveAndGenerateConfiguration')
  const sources = [mapAt(asked, 'knowledgeBaseConfiguration'), mapAt(asked, 'externalSourcesConfiguration')]
  const named = [at(body, 'foundationModel'), ...sources.map((source) => at(source, 'modelArn'))]
  const model = address.model ?? named.find((name) => typeof name === 'string') ?? ''
  const session = mapAt(body, 'sessionState')
  const results = listAt(session, 'returnControlInvocationResults')
  const instructions = parts.take('instruction', (value) => typeof value === 'string')
  const messages = [...parts.take('inputText'), ...parts.take('input', isMap), ...results]
  const tools = parts.take('actionGroups', isList)
  const kept = { sessionState: without(session, 'returnControlInvocationResults') }
  return { model, instructions, messages, tools, params: { ...parts.rest(), ...(results.length === 0 ? {} : kept) } }
}

export function replicate(address: Address, body: JsonMap): Parts {
  const parts = new Taking(body)
  const model = parts.model(address) || (textAt(body, 'version') ?? '')
  const input = new Taking(mapAt(body, 'input'))
  const instructions = input.take('system_prompt', (value) => typeof value === 'string')
  const messages = [...input.take('messages', isList), ...input.take('prompt')]
  return { model, instructions, messages, tools: [], params: { ...parts.rest(), input: input.rest() } }
}

export function sourcegraph(address: Address, body: JsonMap): Parts {
  const parts = new Taking(body)
  const model = parts.model(address)
  const [instructions, messages] = bySpeaker(parts.take('messages'))
  return { model, instructions, messages, tools: parts.take('tools', isList), params: parts.rest() }
}

/** A chat of Yandex Cloud: its model is an address that names the folder of the customer too. */
export function yandex(_: Address, body: JsonMap): Parts {
  const parts = new Taking(body)
  const [model] = parts.take('modelUri', (value) => typeof value === 'string')
  const [instructions, messages] = bySpeaker(parts.take('messages'))
  return {
    model: typeof model === 'string' ? model : '',
    instructions,
    messages,
    tools: parts.take('tools', isList),
    params: parts.rest(),
  }
}
