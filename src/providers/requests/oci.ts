import type { Address } from '../dialect.ts'
import { at, isList, type JsonMap, mapAt } from '../../json/canonical.ts'
import { bySpeaker, type Parts, Taking } from './taking.ts'

/** A chat of OCI Generative AI: who serves it stands beside what is asked. */
export function oci(address: Address, body: JsonMap): Parts {
  const outer = new Taking(body)
  const serving = new Taking(mapAt(body, 'servingMode'))
  const asked = new Taking(mapAt(body, 'chatRequest'))
  // A model of one's own is named by the endpoint that serves it.
  const isOwn = at(mapAt(body, 'servingMode'), 'modelId') === undefined
  const [endpoint] = isOwn ? serving.take('endpointId', (id) => typeof id === 'string') : []
  const model = typeof endpoint === 'string' ? endpoint : serving.model(address)
  const preamble = asked.take('preambleOverride', (value) => typeof value === 'string')
  const history = [...asked.take('messages', isList), ...asked.take('chatHistory', isList)]
  const [instructions, messages] = bySpeaker(history, ['SYSTEM', 'DEVELOPER'])
  return {
    model,
    instructions: [...preamble, ...instructions],
    messages: [...messages, ...asked.take('message'), ...asked.take('toolResults', isList)],
    tools: asked.take('tools', isList),
    params: { ...outer.rest(), servingMode: serving.rest(), chatRequest: asked.rest() },
  }
}
