import type { Cursor } from './cursor.ts'
import { readYaml } from './yaml.ts'

/** A document whose one long list is read item by item, so that no tree of the whole stands in memory. */
export interface ListedYaml {
  /** The document with an empty list in place of the long one. */
  readonly rest: Cursor
  /** Items in order; each is read when it is asked for. */
  items(): Iterable<Cursor>
}

/**
 * Cuts a YAML document at the items of the first list under one of these keys. Block lists alone are cut: there an item
 * begins at its dash and nothing of it stands further left.
 *
 * @returns `undefined` when it cannot be cut safely: read it whole then
 */
export function cutYaml(text: string, file: string, keys: readonly string[]): ListedYaml | undefined {
  if (!keys.some((key) => text.includes(`${key}:`))) return undefined
  // `---` begins another document, and an alias may name what stands in another item.
  if (text.includes('\n---') || mayHaveAliases(text)) return undefined
  const key = new RegExp(`^([ ]*)(${keys.join('|')}):[ \\t]*(?:#.*)?\\r?\\n([ ]*)- `, 'm').exec(text)
  if (key === null) return undefined
  const [whole, outer = '', name = '', dash = ''] = key
  if (dash.length < outer.length) return undefined
  const begin = key.index + whole.length - dash.length - 2
  const ends = itemStarts(text, begin, dash)
  const last = ends.at(-1)!
  const head = text.slice(0, key.index + outer.length + name.length)
  const rest = `${head}: []\n${text.slice(last)}`
  // Lines behind the items keep their numbers.
  const gap = { after: 1 + count(text, 0, head.length), lines: count(text, head.length, last) - 1 }
  return {
    rest: readYaml({ text: rest, file, line: 1, gap }),
    *items() {
      let line = 1 + count(text, 0, begin)
      for (let i = 0; i < ends.length - 1; i++) {
        const from = ends[i]!
        const to = ends[i + 1]!
        const [item] = readYaml({ text: text.slice(from, to), file, line, prefix: `${name}[${i}] › ` }).items
        if (item !== undefined) yield item
        line += count(text, from, to)
      }
    },
  }
}

/** More of what looks like anchors or aliases than this is not looked through: the document is read whole, by its own limits. */
const lookedThrough = 200_000

/** Whether something in a text looks like an anchor, and something else like its alias. */
function mayHaveAliases(text: string): boolean {
  const anchors = new Set<string>()
  let seen = 0
  for (const [, name = ''] of text.matchAll(/(?<=[\s[{,])&([^\s,[\]{}]+)/g)) {
    if (++seen > lookedThrough) return true
    anchors.add(name)
  }
  if (anchors.size === 0) return false
  for (const [, name = ''] of text.matchAll(/(?<=[\s[{,])\*([^\s,[\]{}]+)/g))
    if (++seen > lookedThrough || anchors.has(name)) return true
  return false
}

/** Offsets at which items begin, and the one at which the list ends. */
function itemStarts(text: string, begin: number, dash: string): readonly number[] {
  const starts = [begin]
  let at = text.indexOf('\n', begin) + 1
  while (at > 0 && at < text.length) {
    const next = text.indexOf('\n', at)
    const end = next === -1 ? text.length : next
    if (isItem(text, at, dash)) starts.push(at)
    else if (!isInside(text, at, end, dash.length)) return [...starts, at]
    at = next === -1 ? text.length : next + 1
  }
  return [...starts, text.length]
}

function isItem(text: string, at: number, dash: string): boolean {
  return text.startsWith(`${dash}-`, at) && ' \r\n'.includes(text[at + dash.length + 1] ?? '\n')
}

/** Whether a line belongs to the item before it: it is empty, or stands further right than the dash. */
function isInside(text: string, from: number, end: number, dash: number): boolean {
  let at = from
  while (at < end && text[at] === ' ') at++
  return at === end || text[at] === '\r' || at - from > dash
}

function count(text: string, from: number, to: number): number {
  let lines = 0
  for (let at = text.indexOf('\n', from); at !== -1 && at < to; at = text.indexOf('\n', at + 1)) lines++
  return lines
}
