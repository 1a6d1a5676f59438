import { readModelRequest } from '../providers/index.ts'
import { isMap, type JsonMap } from '../json/canonical.ts'
import { type Json, requestBytes, type TapeEvent } from '../tape/index.ts'

/** A tool as a request offers it to its model. */
export interface OfferedTool {
  readonly name: string
  /** Names of its arguments, when its schema says them. */
  readonly keys?: readonly string[]
  /** Those it cannot be called without, when its schema says its arguments. */
  readonly required?: readonly string[]
  /** Whether it takes arguments that its schema does not list; `unsaid`: it lists some, and does not say. Absent: it has no schema. */
  readonly others?: 'allowed' | 'refused' | 'unsaid'
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
  if (!isMap(schema)) return [{ name }]
  const { properties, required } = schema
  const keys = isMap(properties) ? Object.keys(properties) : []
  const others = othersOf(schema, keys)
  // A list of none that allows others says nothing of the arguments.
  if (keys.length === 0 && others === 'allowed') return [{ name, others }]
  const names = Array.isArray(required) ? required.filter((key): key is string => typeof key === 'string') : []
  return [{ name, others, keys, required: names }]
}

/** Of JSON Schema: what takes part in saying which properties there are, beside their list. */
const beside = ['$ref', 'allOf', 'anyOf', 'oneOf']

/** By JSON Schema all that is not refused is allowed; who lists some and says no more may have meant all. */
function othersOf(schema: JsonMap, keys: readonly string[]): NonNullable<OfferedTool['others']> {
  const { additionalProperties: more, patternProperties } = schema
  if (isMap(patternProperties)) return 'allowed'
  if (more === false) return 'refused'
  return more !== undefined || keys.length === 0 || beside.some((key) => key in schema) ? 'allowed' : 'unsaid'
}

function at(value: Json | undefined, key: string): Json | undefined {
  if (typeof value !== 'object' || value === null || Array.isArray(value)) return undefined
  return Object.hasOwn(value, key) ? (value as { readonly [key: string]: Json })[key] : undefined
}
