import { diffArrays } from 'diff/lib/diff/array.js'
import { toolNames } from '../providers/index.ts'
import type { Json } from '../tape/index.ts'

/** In what two lists of tools differ. */
export interface ChangedTools {
  /** `tool pay removed`, `tool look added`, `tool refund moved from place 3 to 1`. */
  readonly said: readonly string[]
  /** Tools of both lists. */
  readonly both: readonly (readonly [name: string, before: Json, now: Json])[]
}

/** By the names of the tools; `undefined` where a name is absent, or stands for several. */
export function changedTools(before: Json | undefined, now: Json | undefined): ChangedTools | undefined {
  const [was, is] = [byName(before), byName(now)]
  if (was === undefined || is === undefined) return undefined
  const places = ([...tools]: ReadonlyMap<string, Json>): ReadonlyMap<string, number> =>
    new Map(tools.map(([name], i) => [name, i + 1]))
  const [from, to] = [places(was), places(is)]
  const parts = diffArrays([...was.keys()], [...is.keys()])
  const said = parts.flatMap(({ removed, added, value }) =>
    value.flatMap((name) => {
      if (removed && !is.has(name)) return [`tool ${name} removed`]
      if (added && !was.has(name)) return [`tool ${name} added`]
      return added ? [`tool ${name} moved from place ${from.get(name)} to ${to.get(name)}`] : []
    }),
  )
  const both = [...was].flatMap(([name, tool]) => {
    const other = is.get(name)
    return other === undefined ? [] : [[name, tool, other] as const]
  })
  return { said, both }
}

function byName(tools: Json | undefined): ReadonlyMap<string, Json> | undefined {
  if (tools !== undefined && !Array.isArray(tools)) return undefined
  const list = (tools ?? []) as readonly Json[]
  const named = new Map(list.map((tool) => [toolNames(tool).join(', '), tool]))
  return named.size === list.length && !named.has('') ? named : undefined
}
