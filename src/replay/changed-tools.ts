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
  const stayed = longestRising([...is.keys()].flatMap((name) => from.get(name) ?? []))
  const said = [
    ...[...was.keys()].flatMap((name) => (is.has(name) ? [] : [`tool ${name} removed`])),
    ...[...is.keys()].flatMap((name) => {
      const place = from.get(name)
      if (place === undefined) return [`tool ${name} added`]
      return stayed.has(place) ? [] : [`tool ${name} moved from place ${place} to ${to.get(name)}`]
    }),
  ]
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

/** Numbers of the longest part of a list that rises: what is not of it has moved. */
function longestRising(numbers: readonly number[]): ReadonlySet<number> {
  let longest: readonly number[] = []
  const ending: (readonly number[])[] = []
  for (const number of numbers) {
    const before = ending.reduce<readonly number[]>(
      (best, one) => ((one.at(-1) ?? 0) < number && one.length > best.length ? one : best),
      [],
    )
    const rising = [...before, number]
    ending.push(rising)
    if (rising.length > longest.length) longest = rising
  }
  return new Set(longest)
}
