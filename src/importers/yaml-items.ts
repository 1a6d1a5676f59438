import type { Cursor } from './cursor.ts'
import { callCap, yamlLineCap } from './limits.ts'
import { refusal } from './refusal.ts'
import { readYaml } from './yaml.ts'
import { manyLines } from './yaml-excess.ts'

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
  const key = new RegExp(`^([ ]*)(${keys.join('|')}):[ \\t]*(?:#.*)?\\r?\\n([ ]*)- `, 'm').exec(
    text.slice(0, headLength),
  )
  // `---` begins another document.
  if (key === null || text.includes('\n---')) return undefined
  const [whole, outer = '', name = '', dash = ''] = key
  if (dash.length < outer.length) return undefined
  const begin = key.index + whole.length - dash.length - 2
  const ends = itemStarts(text, begin, dash, { file, line: 1 + count(text, 0, begin) })
  // An alias may name what stands in another item.
  if (mayHaveAliases(text)) return undefined
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
        const [item] = readYaml({ text: text.slice(from, to), file, line, prefix: `${name}[${i}]` }).items
        if (item !== undefined) yield item
        line += count(text, from, to)
      }
    },
  }
}

/** Recorders write little before their list of calls. */
const headLength = 64 * 1024

/** Whether something in a text looks like an anchor, and something else like its alias. */
function mayHaveAliases(text: string): boolean {
  const anchors = namesBehind('&', text)
  if (anchors?.size === 0) return false
  const aliases = namesBehind('*', text)
  // What has too many of them is read whole, by its own limits.
  return anchors === undefined || aliases === undefined || [...anchors].some((name) => aliases.has(name))
}

const most = { signs: 4_000_000, names: 100_000 }
const markName = /[^\s,[\]{}]+/y

/** The names behind a sign, where it could begin an anchor or alias; `undefined` when there are too many to look at. */
function namesBehind(sign: '&' | '*', text: string): ReadonlySet<string> | undefined {
  const names = new Set<string>()
  let [signs, looks] = [0, 0]
  for (let at = text.indexOf(sign); at !== -1; at = text.indexOf(sign, at + 1)) {
    if (++signs > most.signs) return undefined
    if (at > 0 && !' \t\r\n[{,'.includes(text[at - 1]!)) continue
    if (++looks > most.names) return undefined
    markName.lastIndex = at + 1
    const [name] = markName.exec(text) ?? []
    if (name !== undefined) names.add(name)
  }
  return names
}

/**
 * Offsets at which items begin, and the one at which the list ends.
 *
 * @throws HarvestError `HARVEST_IMPORT_TOO_LARGE` for more calls, or more lines of one, than there can be
 */
function itemStarts(text: string, begin: number, dash: string, place: Begin): readonly number[] {
  const { file } = place
  const starts = [begin]
  let [line, lineOfItem] = [place.line, place.line]
  let at = text.indexOf('\n', begin) + 1
  while (at > 0 && at < text.length) {
    line++
    const next = text.indexOf('\n', at)
    const end = next === -1 ? text.length : next
    if (isItem(text, at, dash)) {
      if (starts.push(at) > callCap)
        throw refusal('HARVEST_IMPORT_TOO_LARGE', { file, line }, `more than ${callCap} calls`)
      lineOfItem = line
    } else if (!isInside(text, at, end, dash.length)) return [...starts, at]
    if (line - lineOfItem >= yamlLineCap) throw manyLines(file, lineOfItem)
    at = next === -1 ? text.length : next + 1
  }
  return [...starts, text.length]
}

/** Where something begins, with its 1-based line. */
interface Begin {
  readonly file: string
  readonly line: number
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
