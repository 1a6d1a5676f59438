import type { Cursor } from './cursor.ts'
import { callCap } from './limits.ts'
import type { ForeignExchange, ImportFormat, ForeignRecording } from './types.ts'
import { Unpacking } from './unpacking.ts'

/** A file taken apart as JSON, JSON Lines or YAML. */
export interface ForeignDocument {
  readonly file: string
  /** Of JSON Lines an empty list: the lines are its items. Of a long YAML or JSON the document with an empty list in it, or such a list. */
  readonly root: Cursor
  /** Items that are read one by one, in place of those of the empty list in the root. May be asked for again. */
  readonly items?: () => Iterable<Cursor>
  /** Whether the items are lines, each a document of its own. */
  readonly isLines: boolean
}

/** A format of recordings, and how it is read. */
export interface ForeignFormat {
  readonly name: ImportFormat
  /** Whether a document is in this format and in no other that is known, by the names it uses. Never throws. */
  recognises(document: ForeignDocument): boolean
  /**
   * The runs a document holds: one, or a list.
   *
   * @throws HarvestError `HARVEST_IMPORT_…` with file and line
   */
  read(document: ForeignDocument): ForeignRecording | readonly ForeignRecording[]
}

/** A format that is no text. */
export interface BytesFormat {
  readonly name: ImportFormat
  recognisesBytes(bytes: Buffer): boolean
  /** @throws HarvestError `HARVEST_IMPORT_…` with the byte */
  readBytes(bytes: Buffer, file: string): ForeignRecording | readonly ForeignRecording[]
}

/** The items of the list at a path, wherever the document keeps them; without a path, the lines or the list itself. */
export function itemsAt({ root, items }: ForeignDocument, ...path: readonly string[]): Iterable<Cursor> {
  return items?.() ?? path.reduce((at, key) => at.at(key), root).items
}

/**
 * Items that are read when they are asked for, the first of them once: each format looks at it to know its own, and many
 * recordings have no other one.
 */
export function firstKept(read: () => Iterable<Cursor>): () => Iterable<Cursor> {
  let begun: { readonly first: IteratorResult<Cursor>; rest?: Iterator<Cursor> | undefined } | undefined
  return function* () {
    if (begun === undefined) {
      const rest = read()[Symbol.iterator]()
      begun = { first: rest.next(), rest }
    }
    const { first } = begun
    if (first.done === true) return
    yield first.value
    // Who goes on first takes up where the first one ended.
    const rest = begun.rest ?? after(read())
    begun.rest = undefined
    for (let next = rest.next(); next.done !== true; next = rest.next()) yield next.value
  }
}

/** What comes behind the first item. */
function after(items: Iterable<Cursor>): Iterator<Cursor> {
  const rest = items[Symbol.iterator]()
  rest.next()
  return rest
}

/** The first line, or the first item of the list the document is; `undefined` when it is neither. */
export function firstItem({ root, items, isLines }: ForeignDocument): Cursor | undefined {
  if (!isLines && !Array.isArray(root.value)) return undefined
  if (root.first !== undefined) return root.first
  for (const first of items?.() ?? []) return first
  return undefined
}

/**
 * Each item as what it is read as.
 *
 * @throws HarvestError `HARVEST_IMPORT_TOO_LARGE`
 */
export function listed<T>(items: Iterable<Cursor>, read: (item: Cursor) => T): T[] {
  const list: T[] = []
  for (const item of items) {
    if (list.length >= callCap) throw item.refuse(`more than ${callCap} calls`, 'HARVEST_IMPORT_TOO_LARGE')
    list.push(read(item))
  }
  return list
}

/**
 * Each item as a request and its answer, or as several. Their bodies are looked at while the list is read: one that
 * becomes too large when it is decompressed ends the reading.
 *
 * @throws HarvestError `HARVEST_IMPORT_TOO_LARGE`, `HARVEST_IMPORT_BOMB`
 */
export function exchangesIn(
  items: Iterable<Cursor>,
  read: (item: Cursor) => ForeignExchange | readonly ForeignExchange[],
): ForeignExchange[] {
  const unpacking = new Unpacking()
  return listed(items, (item) => {
    const exchanges = [read(item)].flat()
    for (const exchange of exchanges) unpacking.check(exchange, () => item.position)
    return exchanges
  }).flat()
}
