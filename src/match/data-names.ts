import { canonicalJson, type ModelRequest } from '../providers/index.ts'
import type { Json } from '../tape/index.ts'
import { own } from './difference.ts'

/**
 * Whether two requests name the same data kept elsewhere: an earlier answer, files, stores of vectors, servers of tools.
 * With another one the model is asked about another tenant's data, however alike the questions look.
 */
export function namesSameData(recorded: ModelRequest, live: ModelRequest): boolean {
  const [before, now] = [dataNames(recorded), dataNames(live)]
  return before.length === now.length && before.every((name, i) => name === now[i])
}

function dataNames({ params, tools }: ModelRequest): readonly string[] {
  return [...named(params as Json, 'params'), ...tools.flatMap((tool) => named(tool, 'tools'))].sort()
}

/** Every field that names data, with its value. */
function named(value: Json, path: string): readonly string[] {
  if (typeof value !== 'object' || value === null) return []
  if (Array.isArray(value)) return (value as readonly Json[]).flatMap((item) => named(item, path))
  const map = value as { readonly [key: string]: Json }
  return Object.keys(map).flatMap((key) => {
    const member = own(map, key) ?? null
    if (declaresArguments.has(key)) return []
    return namesData(key) ? [`${path}.${key}=${canonicalJson(member)}`] : named(member, `${path}.${key}`)
  })
}

/** Schemas and functions of the agent's own: the names of their fields are the agent's, not the provider's. */
const declaresArguments: ReadonlySet<string> = new Set([
  'function',
  'toolSpec',
  'functionDeclarations',
  'function_declarations',
  'input_schema',
  'inputSchema',
  'parameters',
  'parametersJsonSchema',
  'json_schema',
  'schema',
  'response_format',
  'responseSchema',
  'response_schema',
  'responseJsonSchema',
  'metadata',
  'labels',
  'requestMetadata',
])

/** Providers end such names in `id`, `ids`, `url`, `uri` or `arn`; these do not. */
const others: ReadonlySet<string> = new Set([
  'cachedContent',
  'cached_content',
  'container',
  'conversation',
  'environment',
  'headers',
  'authorization',
  'data_sources',
  'dataSources',
  'documents',
  'connectors',
])

function namesData(key: string): boolean {
  return (
    others.has(key) ||
    /(?:_|^)(?:id|ids|url|urls|uri|uris|arn|arns)$|[a-z](?:Id|Ids|Url|Urls|Uri|Uris|Arn|Arns)$/.test(key)
  )
}
