import type { Json } from '../tape/types.ts'

/**
 * Names of the tools in a declaration; one of Gemini's may declare several. A tool that the provider brings itself goes by
 * its type: `web_search`.
 */
export function toolNames(tool: Json | undefined): readonly string[] {
  if (typeof tool !== 'object' || tool === null) return []
  if (Array.isArray(tool)) return (tool as readonly Json[]).flatMap(toolNames)
  const { name, type, function: fn, toolSpec, ...rest } = tool as { readonly [key: string]: Json }
  if (typeof name === 'string') return [name]
  const inner = [fn, toolSpec, rest['functionDeclarations'], rest['function_declarations']].flatMap(toolNames)
  return inner.length === 0 && typeof type === 'string' ? [type] : inner
}
