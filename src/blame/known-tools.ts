import { isMap } from '../json/canonical.ts'
import { readModelCall } from '../providers/index.ts'
import type { Json, Tape } from '../tape/index.ts'
import { argsByKey } from '../trace/args.ts'
import { traceOf } from '../trace/index.ts'
import { type OfferedTool, offeredTools } from './offered-tools.ts'

/** A tool that a run called, or that its models were offered. */
export interface KnownTool {
  /** Its arguments, with the values that calls had there; those that only a schema or a model names have none. */
  readonly args: Map<string, Json[]>
  readonly schemas: OfferedTool[]
  isCalled: boolean
}

/** By name. */
export type KnownTools = ReadonlyMap<string, KnownTool>

/** The tools of these runs, with all arguments that their schemas list, and that their models and their calls gave them. */
export function knownTools(tapes: readonly Tape[]): KnownTools {
  const known = new Map<string, KnownTool>()
  const toolOf = (name: string): KnownTool => {
    const tool = known.get(name) ?? { args: new Map<string, Json[]>(), schemas: [], isCalled: false }
    known.set(name, tool)
    return tool
  }
  const addKeys = ({ args }: KnownTool, keys: readonly string[]): void => {
    for (const key of keys) if (!args.has(key)) args.set(key, [])
  }
  for (const { events } of tapes) {
    for (const offered of offeredTools(events)) {
      const tool = toolOf(offered.name)
      tool.schemas.push(offered)
      addKeys(tool, offered.keys ?? [])
    }
    for (const call of traceOf(events).layers.flat()) {
      const tool = toolOf(call.name)
      tool.isCalled = true
      for (const [key, value] of Object.entries(argsByKey(call.args)))
        tool.args.set(key, [...(tool.args.get(key) ?? []), value])
    }
    for (const event of events) {
      if (event.kind === 'tool') toolOf(event.name)
      const asked = event.kind === 'exchange' ? readModelCall(event)?.response?.toolCalls : undefined
      for (const call of asked ?? []) {
        const tool = known.get(call.name)
        if (tool !== undefined && isMap(call.args)) addKeys(tool, Object.keys(call.args))
      }
    }
  }
  return known
}

/**
 * Whether a tool takes arguments that are not known. Where its schema lists some and does not say whether these are all, calls
 * with others say that they are not. `undefined`: it has no schema.
 */
export function takesOtherArgs({ args, schemas }: KnownTool): boolean | undefined {
  const said = schemas.filter(({ others }) => others !== undefined)
  if (said.length === 0) return undefined
  if (said.some(({ others }) => others === 'allowed')) return true
  const listed = new Set(said.flatMap(({ keys = [] }) => keys))
  return said.some(({ others }) => others === 'unsaid') && [...args.keys()].some((key) => !listed.has(key))
}
