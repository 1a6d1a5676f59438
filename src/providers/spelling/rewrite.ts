import type { Json } from '../../tape/types.ts'
import { canonicalJson, isList, isMap, type JsonMap } from '../../json/canonical.ts'

/** What a dialect makes of the body of a request, to write it in one spelling. */
export type Spelling = (body: JsonMap, url: string) => JsonMap

/** A map with some of its members changed; the map itself where all stay. */
export function withMembers(map: JsonMap, changes: Readonly<Record<string, (value: Json) => Json>>): JsonMap {
  const before = Object.entries(map)
  const after = before.map(([key, value]): [string, Json] => [
    key,
    Object.hasOwn(changes, key) ? (changes[key]?.(value) ?? null) : value,
  ])
  return after.every(([, value], i) => value === before[i]?.[1]) ? map : Object.fromEntries(after)
}

/** A map without the members that say what their absence says. */
export function withoutDefaults(map: JsonMap, defaults: JsonMap): JsonMap {
  return withoutSome(
    map,
    (key, value) => Object.hasOwn(defaults, key) && canonicalJson(defaults[key] as Json) === canonicalJson(value),
  )
}

/** A map without those of its members that are `null`, where the provider reads that as absent. */
export function withoutNulls(map: JsonMap, nullable: ReadonlySet<string>): JsonMap {
  return withoutSome(map, (key, value) => value === null && nullable.has(key))
}

/** A map without one of its members. */
export function withoutMember(map: JsonMap, name: string): JsonMap {
  return withoutSome(map, (key) => key === name)
}

function withoutSome(map: JsonMap, isLeftOut: (key: string, value: Json) => boolean): JsonMap {
  const entries = Object.entries(map)
  const kept = entries.filter(([key, value]) => !isLeftOut(key, value))
  return kept.length === entries.length ? map : Object.fromEntries(kept)
}

/** A list with each of its maps changed; the list itself where all stay, and what is no list as it is. */
export function eachMap(value: Json, change: (item: JsonMap) => Json): Json {
  if (!isList(value)) return value
  const items = value.map((item) => (isMap(item) ? change(item) : item))
  return items.every((item, i) => item === value[i]) ? value : items
}

/** The value of a member that is a map, changed; anything else as it is. */
export function inside(change: (map: JsonMap) => JsonMap): (value: Json) => Json {
  return (value) => (isMap(value) ? change(value) : value)
}

/**
 * The text of a content that is a list of one text part and nothing beside it. A text with a mark of its own (a citation,
 * an annotation) stays a part, and several texts stay several: their concatenation is another question.
 */
export function oneText(content: Json, type: string): Json {
  if (!isList(content) || content.length !== 1) return content
  const [part] = content
  if (!isMap(part) || Object.keys(part).length !== 2 || part['type'] !== type) return content
  return typeof part['text'] === 'string' ? part['text'] : content
}

export function nameSet(names: string): ReadonlySet<string> {
  return new Set(names.split(' '))
}

export function isFilled(value: Json | undefined): boolean {
  return isList(value) && value.length > 0
}
