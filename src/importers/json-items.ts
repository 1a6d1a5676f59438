import type { Cursor } from './cursor.ts'
import { endOfValue, memberAt, readJson, refuseExcess } from './json.ts'
import { beginsAsJson, skipSpace } from './json-syntax.ts'

/** A document whose one long list is read item by item, so that no tree of the whole stands in memory. */
export interface ListedJson {
  /** The document with an empty list in place of the long one. */
  readonly rest: Cursor
  /** Items in order; each is read when it is asked for. */
  items(): Iterable<Cursor>
}

/** Smaller documents are read whole: that is quicker. */
const cutFrom = 8 * 1024 * 1024

const lookFirst = 4 * 1024 * 1024

/** Where recordings keep their calls. */
const paths: readonly (readonly string[])[] = [
  ['interactions'],
  ['http_interactions'],
  ['log', 'entries'],
  ['fixtures'],
  [],
]

/**
 * Cuts a large JSON document at the items of its list of calls.
 *
 * @param least - bytes from which on a document is cut; by default 8 MiB
 * @returns `undefined` without such a list, or when the document is not well-formed: read it whole then
 * @throws HarvestError as {@link readJson}
 */
export function cutJson(bytes: Buffer, file: string, least = cutFrom): ListedJson | undefined {
  if (bytes.length < least || !beginsAsJson(bytes)) return undefined
  const found = listIn(bytes, file)
  if (found === undefined) return undefined
  const { path, bounds } = found
  const [begin = 0] = bounds
  const end = bounds.at(-1)!
  const lines = '\n'.repeat(linesIn(bytes, begin, end))
  const text = `${bytes.toString('utf8', 0, begin)}${lines}${bytes.toString('utf8', end)}`
  const rest = readJson(text, file)
  const list = path.reduce((at, key) => at.at(key), rest)
  // Of a name that stands there twice, JSON means the last.
  if (!Array.isArray(list.value) || list.value.length > 0) return undefined
  const name = path.at(-1) ?? ''
  return {
    rest,
    *items() {
      let line = 1 + linesIn(bytes, 0, begin)
      for (let i = 0; i + 1 < bounds.length; i++) {
        const [from, to] = [bounds[i]!, bounds[i + 1]!]
        const item = bytes.toString('utf8', i === 0 ? from : from + 1, to)
        if (bounds.length > 2 || item.trim() !== '') yield readJson(item, file, line, `${name}[${i}]`)
        line += linesIn(bytes, from, to)
      }
    },
  }
}

interface FoundList {
  readonly path: readonly string[]
  /** Offsets: behind the opening bracket, of each comma, of the closing bracket. */
  readonly bounds: readonly number[]
}

function listIn(bytes: Buffer, file: string): FoundList | undefined {
  // One character for each byte: what JSON is built of is ASCII, and offsets are those of the bytes.
  // What is too much is so at the beginning, mostly: then the rest is not made into text.
  refuseExcess(bytes.toString('latin1', 0, lookFirst), { file, line: 1 })
  const text = bytes.toString('latin1')
  refuseExcess(text, { file, line: 1 })
  for (const path of paths) {
    let at: number | undefined = skipSpace(text, 0)
    for (const key of path) at = at === undefined ? undefined : memberAt(text, at, key)
    if (at === undefined || text[at] !== '[') continue
    const bounds = boundsOf(text, at)
    if (bounds === undefined || (path.length === 0 && !isCall(text.slice(bounds[0], bounds[1])))) continue
    return { path, bounds }
  }
  return undefined
}

/** Of lists that are whole documents, only those of recorders are cut. */
function isCall(text: string): boolean {
  try {
    const first = JSON.parse(text) as object | null
    return typeof first === 'object' && first !== null && ('scope' in first || 'snapshot' in first)
  } catch {
    // Read as a whole it is refused, with its place.
    return false
  }
}

function boundsOf(text: string, open: number): readonly number[] | undefined {
  const bounds = [open + 1]
  for (let at = open + 1; at < text.length; ) {
    const end = endOfValue(text, at)
    bounds.push(end)
    if (text[end] === ']') return bounds
    if (text[end] !== ',') return undefined
    at = end + 1
  }
  return undefined
}

function linesIn(bytes: Buffer, from: number, to: number): number {
  let lines = 0
  for (let at = bytes.indexOf(0x0a, from); at !== -1 && at < to; at = bytes.indexOf(0x0a, at + 1)) lines++
  return lines
}
