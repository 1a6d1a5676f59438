import { readModelRequest } from '../providers/index.ts'
import { type Json, requestBytes, type TapeEvent } from '../tape/index.ts'

/** A tool as a request offers it to its model. */
export interface OfferedTool {
  readonly name: string
  /** Names of its arguments, when its schema says them. */
  readonly keys?: readonly string[]
  /** Those it cannot be called without, when its schema says its arguments. */
  readonly required?: readonly string[]
}

/** All tools that the models of a run were offered. */
export function offeredTools(events: readonly TapeEvent[]): readonly OfferedTool[] {
  return events.flatMap((event) => {
    if (event.kind !== 'exchange') return []
    const { method, url } = event
    return readModelRequest({ method, url, body: requestBytes(event).toString('utf8') })?.tools.flatMap(toolsIn) ?? []
  })
}

/** Providers name a tool and its schema differently. */
function toolsIn(tool: Json): readonly OfferedTool[] {
  const many = at(tool, 'functionDeclarations') ?? at(tool, 'function_declarations')
  if (Array.isArray(many)) return (many as readonly Json[]).flatMap(toolsIn)
  const own = at(tool, 'function') ?? at(tool, 'toolSpec') ?? tool
  const name = at(own, 'name')
  if (typeof name !== 'string') return []
  const schema = at(own, 'parameters') ?? at(own, 'input_schema') ?? at(at(own, 'inputSchema'), 'json')
  const properties = at(schema, 'properties')
  if (typeof properties !== 'object' || properties === null) return [{ name }]
  const required = at(schema, 'required')
  const names = Array.isArray(required) ? required.filter((key): key is string => typeof key === 'string') : []
  return [{ name, keys: Object.keys(properties), required: names }]
}

function at(value: Json | undefined, key: string): Json | undefined {
  if (typeof value !== 'object' || value === null || Array.isArray(value)) return undefined
  return Object.hasOwn(value, key) ? (value as { readonly [key: string]: Json })[key] : undefined
}
