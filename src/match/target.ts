import type { HeaderPair } from '../tape/index.ts'

/**
 * Headers that say which operation is asked for, or which part of an answer. With another value it is another question,
 * as with another address.
 */
const names: ReadonlySet<string> = new Set(['last-event-id', 'range', 'x-amz-target'])

/** What the headers of a request say about its target, one line for each that does; nearly always empty. */
export function targetOf(headers: readonly HeaderPair[]): string {
  let target = ''
  for (const [name, value] of headers) {
    const lower = name.toLowerCase()
    if (names.has(lower)) target += `${lower}: ${value}\n`
  }
  return target
}

/**
 * Whether a recorded request had the target of a live one.
 *
 * @param isWhole - its recorder kept all headers of this kind; another may have kept none
 */
export function sameTarget(recorded: readonly HeaderPair[], live: string, isWhole = false): boolean {
  return (recorded.length === 0 && !isWhole) || targetOf(recorded) === live
}
