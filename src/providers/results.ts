import type { Json } from '../tape/types.ts'
import { at, isMap, listAt, textAt } from '../json/canonical.ts'
import type { ModelRequest } from './types.ts'

/** What a tool answered, as the agent told the model. */
export interface ToolResult {
  /** Id of the call, where the dialect has ids. */
  readonly id?: string
  /** Name of the tool, where the message or the call it answers tells it. */
  readonly name?: string
  readonly result: Json
}

/** The tool results a request carries, in order. Never throws. */
export function toolResultsIn(request: ModelRequest): readonly ToolResult[] {
  const names = new Map<string, string>()
  return request.messages.flatMap((message) => {
    for (const [id, name] of callsIn(message)) names.set(id, name)
    return resultsIn(message).map(({ id, name, result }) => {
      const known = name ?? (id === undefined ? undefined : names.get(id))
      return { ...(id === undefined ? {} : { id }), ...(known === undefined ? {} : { name: known }), result }
    })
  })
}

interface Found {
  readonly id: string | undefined
  readonly name: string | undefined
  readonly result: Json
}

/** One message can be in any dialect's form: the forms exclude each other. */
function resultsIn(message: Json): readonly Found[] {
  const role = at(message, 'role')
  if (
    role === 'function' ||
    (role === 'tool' && !listAt(message, 'content').some((part) => at(part, 'type') === 'tool-result'))
  ) {
    const id = textAt(message, 'tool_call_id')
    const name = textAt(message, 'name') ?? textAt(message, 'tool_name')
    // Cohere version 1 puts a list of results in one message of the role TOOL; here the content is the result.
    return [{ id, name, result: at(message, 'content') ?? null }]
  }
  const type = textAt(message, 'type') ?? ''
  // Outputs handed to a run of an assistant have no type; the results of Gemini's interactions name call and function.
  const output = at(message, 'output')
  if (output !== undefined && textAt(message, 'tool_call_id') !== undefined)
    return [{ id: textAt(message, 'tool_call_id'), name: undefined, result: output }]
  if (type === 'function.result')
    return [{ id: textAt(message, 'tool_call_id'), name: undefined, result: at(message, 'result') ?? null }]
  if (type === 'function_result')
    return [{ id: textAt(message, 'call_id'), name: textAt(message, 'name'), result: at(message, 'result') ?? null }]
  const handed = at(message, 'functionResult') ?? at(message, 'apiResult')
  if (isMap(handed)) return [agentResult(handed)]
  if (type.endsWith('_call_output')) {
    return [{ id: textAt(message, 'call_id'), name: textAt(message, 'name'), result: at(message, 'output') ?? null }]
  }
  if (isMap(at(message, 'call')) && at(message, 'outputs') !== undefined) return [cohereResult(message)]
  return [
    ...listAt(message, 'tool_results').map(cohereResult),
    ...listAt(message, 'content').flatMap(blockResults),
    ...listAt(message, 'parts').flatMap(partResults),
  ]
}

/** What the caller of a Bedrock agent answers for a tool it was handed back; named as the agent's call is. */
function agentResult(handed: Json): Found {
  const api = `${textAt(handed, 'httpMethod') ?? ''} ${textAt(handed, 'apiPath') ?? ''}`.trim()
  const name = textAt(handed, 'function') ?? (api === '' ? undefined : api)
  return { id: undefined, name, result: at(handed, 'responseBody') ?? null }
}

function cohereResult(item: Json): Found {
  return { id: undefined, name: textAt(at(item, 'call'), 'name'), result: at(item, 'outputs') ?? null }
}

/** Anthropic's `tool_result` blocks, the AI SDK's `tool-result` and Converse's `toolResult`. */
function blockResults(block: Json): readonly Found[] {
  if (at(block, 'type') === 'tool_result') {
    return [{ id: textAt(block, 'tool_use_id'), name: undefined, result: at(block, 'content') ?? null }]
  }
  if (at(block, 'type') === 'tool-result') {
    return [{ id: textAt(block, 'toolCallId'), name: textAt(block, 'toolName'), result: at(block, 'output') ?? null }]
  }
  const result = at(block, 'toolResult')
  if (!isMap(result)) return []
  return [{ id: textAt(result, 'toolUseId'), name: undefined, result: at(result, 'content') ?? null }]
}

function partResults(part: Json): readonly Found[] {
  const response = at(part, 'functionResponse') ?? at(part, 'function_response')
  if (!isMap(response)) return []
  return [{ id: textAt(response, 'id'), name: textAt(response, 'name'), result: at(response, 'response') ?? null }]
}

/** Ids and names of the calls an assistant message asked for. */
function callsIn(message: Json): readonly [id: string, name: string][] {
  const own = textAt(message, 'call_id') === undefined ? [] : [message]
  const sources = [...own, ...listAt(message, 'tool_calls'), ...listAt(message, 'content'), ...listAt(message, 'parts')]
  return sources.flatMap((source): [string, string][] => {
    const inner = at(source, 'toolUse') ?? at(source, 'functionCall') ?? source
    const id =
      textAt(inner, 'call_id') ?? textAt(inner, 'toolUseId') ?? textAt(inner, 'toolCallId') ?? textAt(inner, 'id')
    const name =
      textAt(inner, 'name') ??
      textAt(inner, 'toolName') ??
      textAt(at(inner, 'function'), 'name') ??
      textAt(at(inner, 'custom'), 'name')
    return id === undefined || name === undefined ? [] : [[id, name]]
  })
}
