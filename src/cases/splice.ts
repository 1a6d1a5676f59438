import { isList } from '../json/canonical.ts'
import { sameJson } from '../json/same.ts'
import { diffArrays } from 'diff/lib/diff/array.js'
import {
  type Document,
  isMap,
  isScalar,
  isSeq,
  type Node,
  type Pair,
  parseDocument,
  Scalar,
  type YAMLMap,
  type YAMLSeq,
} from 'yaml'
import type { Json } from '../tape/types.ts'
import { escapePragmas } from './pragma.ts'
import { renderInline, renderItem, renderPair, writing } from './render.ts'
import { caseKeys } from './schema.ts'
import { keyName, offsetOf, pairOf, toJson } from './validate.ts'

/** A piece of text to be put in place of what stands between two offsets. */
interface Edit {
  readonly start: number
  readonly end: number
  readonly text: string
}

/**
 * Changes one field of a case file and leaves every other character as it is: comments, blank lines, quotes, order.
 *
 * Inside the field, items and keys that stay keep their text too. Text that cannot be edited in place, such as a case
 * written in one pair of braces, gives `undefined`.
 */
export function spliceField(
  text: string,
  { contents }: Document.Parsed,
  name: string,
  value: Json,
): string | undefined {
  if (!isMap(contents)) return undefined
  const pair = pairOf(contents, name)
  const edits = pair === undefined ? insertField(text, contents, name, value) : editPair(text, pair, value, 0)
  return edits === undefined ? undefined : applyEdits(text, edits)
}

/** As {@link spliceField}, but the field is written again: comments inside it go. */
export function replaceField(
  text: string,
  { contents }: Document.Parsed,
  name: string,
  value: Json,
): string | undefined {
  const pair = isMap(contents) ? pairOf(contents, name) : undefined
  const edits = pair === undefined ? undefined : replacePair(text, pair, value)
  return edits === undefined ? undefined : applyEdits(text, edits)
}

/** Takes a field out: its lines, or where it shares them, it alone from a document that is written again. */
export function removeField(text: string, document: Document.Parsed, name: string): string | undefined {
  const pair = isMap(document.contents) ? pairOf(document.contents, name) : undefined
  if (pair === undefined) return undefined
  const edits = deletion(text, offsetOf(pair.key), contentEnd(pair))
  if (edits !== undefined) return applyEdits(text, edits)
  document.delete(name)
  return escapePragmas(document.toString({ ...writing, lineWidth: 120 }))
}

/** Writes the whole document again with one field changed: for layouts that cannot be edited in place. */
export function rewriteDocument(_text: string, document: Document.Parsed, name: string, value: Json): string {
  document.set(name, parseDocument(renderPair(name, value, 0)).get(name, true))
  return escapePragmas(document.toString({ ...writing, lineWidth: 120 }))
}

/** After the field that comes before it in the written order; a case has at least its first four fields. */
function insertField(text: string, root: YAMLMap, name: string, value: Json): readonly Edit[] | undefined {
  const earlier = caseKeys.slice(0, caseKeys.indexOf(name))
  const before = earlier.map((key) => pairOf(root, key)).findLast((pair) => pair !== undefined)
  if (before === undefined || startsItsLine(text, offsetOf(before.key), 0) === undefined) return undefined
  return [insertion(text, lineEnd(text, contentEnd(before)), renderPair(name, value, 0))]
}

function editPair(
  text: string,
  pair: Pair<Node, Node | null>,
  value: Json,
  indent: number,
): readonly Edit[] | undefined {
  const node = pair.value
  if (sameJson(toJson(node), value)) return []
  if (isSeq(node) && node.flow !== true && isList(value) && value.length > 0) return editList(text, node, value)
  if (isMap(node) && node.flow !== true && isPlainMap(value)) return editMap(text, node, value)
  const inline = isInline(text, node) ? renderInline(value) : undefined
  if (inline !== undefined) return [{ ...rangeOf(node as Node), text: inline }]
  return replacePair(text, pair, value, indent)
}

function editMap(text: string, map: YAMLMap, value: { readonly [key: string]: Json }): readonly Edit[] | undefined {
  const pairs = map.items as Pair<Node, Node | null>[]
  const first = pairs[0]
  const last = pairs.at(-1)
  if (first === undefined || last === undefined) return undefined
  const indent = startsItsLine(text, offsetOf(first.key))
  if (indent === undefined) return undefined
  const edits: Edit[] = []
  for (const pair of pairs) {
    const name = keyName(pair.key) ?? ''
    const next = value[name]
    const change =
      next === undefined ? deletion(text, offsetOf(pair.key), contentEnd(pair)) : editPair(text, pair, next, indent)
    if (change === undefined) return undefined
    edits.push(...change)
  }
  const added = Object.keys(value).filter((name) => pairOf(map, name) === undefined)
  const lines = added.map((name) => renderPair(name, value[name] ?? null, indent)).join('')
  if (lines !== '') edits.push(insertion(text, lineEnd(text, contentEnd(last)), lines))
  return edits
}

/** Items that stay keep their lines; of those that change, as many as possible are rewritten where they stand. */
function editList(text: string, list: YAMLSeq, value: readonly Json[]): readonly Edit[] | undefined {
  const items = list.items as (Node | null)[]
  const indents = items.map((item) => dashIndent(text, item))
  const indent = indents[0]
  if (indent === undefined || indents.includes(undefined)) return undefined
  const hunks = diffArrays(items.map(toJson), [...value], { comparator: sameJson, maxEditLength: 2_000 })
  if (hunks === undefined) return undefined
  const edits: Edit[] = []
  let at = 0
  let removed = 0
  for (const hunk of hunks) {
    if (hunk.removed) {
      removed = hunk.count
      continue
    }
    const added = hunk.added ? hunk.value : []
    for (let k = 0; k < Math.max(removed, added.length); k++) {
      const old = k < removed ? items[at + k] : undefined
      const next = added[k]
      if (old != null && next !== undefined) edits.push(...replaceItem(text, old, next, indent))
      else if (old != null) edits.push(...itemDeletion(text, old))
      else if (next !== undefined)
        edits.push(insertion(text, insertionPoint(text, items, at + removed), renderItem(next, indent)))
    }
    at += removed + (hunk.added ? 0 : hunk.count)
    removed = 0
  }
  for (const old of items.slice(at, at + removed)) if (old != null) edits.push(...itemDeletion(text, old))
  return edits
}

function replaceItem(text: string, item: Node, value: Json, indent: number): readonly Edit[] {
  const inline = isInline(text, item) ? renderInline(value) : undefined
  if (inline !== undefined) return [{ ...rangeOf(item), text: inline }]
  const end = lineEnd(text, contentEnd(item))
  return [{ start: lineStart(text, offsetOf(item)), end, text: renderItem(value, indent) }]
}

function itemDeletion(text: string, item: Node): readonly Edit[] {
  return [{ start: lineStart(text, offsetOf(item)), end: lineEnd(text, contentEnd(item)), text: '' }]
}

/** After the item before this index, or before the first one. */
function insertionPoint(text: string, items: readonly (Node | null)[], index: number): number {
  const before = items[index - 1]
  return before == null ? lineStart(text, offsetOf(items[0] ?? null)) : lineEnd(text, contentEnd(before))
}

function replacePair(
  text: string,
  pair: Pair<Node, Node | null>,
  value: Json,
  indent = 0,
): readonly Edit[] | undefined {
  const start = offsetOf(pair.key)
  if (startsItsLine(text, start, indent) === undefined) return undefined
  return [
    {
      start: start - indent,
      end: lineEnd(text, contentEnd(pair)),
      text: renderPair(keyName(pair.key) ?? '', value, indent),
    },
  ]
}

function deletion(text: string, start: number, end: number): readonly Edit[] | undefined {
  const indent = startsItsLine(text, start)
  return indent === undefined ? undefined : [{ start: start - indent, end: lineEnd(text, end), text: '' }]
}

/** The last line of a file need not have a line end. */
function insertion(text: string, at: number, lines: string): Edit {
  const missing = at === text.length && at > 0 && text[at - 1] !== '\n'
  return { start: at, end: at, text: missing ? `\n${lines}` : lines }
}

function applyEdits(text: string, edits: readonly Edit[]): string {
  let result = ''
  let at = 0
  for (const { start, end, text: replacement } of edits.toSorted((a, b) => a.start - b.start || a.end - b.end)) {
    result += text.slice(at, start) + replacement
    at = Math.max(at, end)
  }
  return result + text.slice(at)
}

/** Columns before an offset that is the first thing in its line; `undefined` when something stands before it, or another number. */
function startsItsLine(text: string, offset: number, indent?: number): number | undefined {
  const before = text.slice(lineStart(text, offset), offset)
  return /^ *$/.test(before) && (indent === undefined || before.length === indent) ? before.length : undefined
}

/** Columns before the dash of an item that stands in the line of its dash, alone. */
function dashIndent(text: string, item: Node | null): number | undefined {
  if (item === null) return undefined
  const before = /^( *)- +$/.exec(text.slice(lineStart(text, offsetOf(item)), offsetOf(item)))
  return before?.[1]?.length
}

/** Whether a value stands in one line after its key or dash, so that a comment behind it can stay. */
function isInline(text: string, node: Node | null): boolean {
  if (node === null) return false
  if (isScalar(node) && (node.type === Scalar.BLOCK_LITERAL || node.type === Scalar.BLOCK_FOLDED)) return false
  if (!isScalar(node) && !((isMap(node) || isSeq(node)) && node.flow === true)) return false
  const { start, end } = rangeOf(node)
  return end > start && !text.slice(start, end).includes('\n')
}

function rangeOf(node: Node): { start: number; end: number } {
  return { start: node.range?.[0] ?? 0, end: node.range?.[1] ?? 0 }
}

/** Where the last thing inside a node ends; a list in block style by itself also claims the comments after it. */
function contentEnd(node: unknown): number {
  if ((isMap(node) || isSeq(node)) && node.flow !== true && node.items.length > 0) return contentEnd(node.items.at(-1))
  if (typeof node === 'object' && node !== null && 'key' in node) {
    const { key, value } = node as Pair<Node, Node | null>
    return Math.max(contentEnd(key), value === null ? 0 : contentEnd(value))
  }
  return rangeOf(node as Node).end
}

function lineStart(text: string, offset: number): number {
  return text.lastIndexOf('\n', offset - 1) + 1
}

/** The offset after the line an offset is in; a block text already ends with its line. */
function lineEnd(text: string, offset: number): number {
  if (offset > 0 && text[offset - 1] === '\n') return offset
  const end = text.indexOf('\n', offset)
  return end === -1 ? text.length : end + 1
}

function isPlainMap(value: Json): value is { readonly [key: string]: Json } {
  return typeof value === 'object' && value !== null && !isList(value) && Object.keys(value).length > 0
}
