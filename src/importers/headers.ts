import type { HeaderPair } from '../tape/index.ts'
import type { Cursor } from './cursor.ts'

/**
 * Headers given as a map of names to one value or a list of values, names in lower case. What is neither text nor number
 * is refused.
 */
export function headersOfMap(headers: Cursor): readonly HeaderPair[] {
  if (!headers.isThere) return []
  return headers.members.flatMap(([name, value]) => {
    const values = Array.isArray(value.value) ? value.items : [value]
    return values.filter(({ isThere }) => isThere).map((one): HeaderPair => pair(name, one))
  })
}

/** Headers given as a list of `{ name, value }`. Names of HTTP/2's own fields, such as `:path`, are left out. */
export function headersOfList(headers: Cursor): readonly HeaderPair[] {
  if (!headers.isThere) return []
  return headers.items
    .filter((one) => !one.at('name').text.startsWith(':'))
    .map((one) => pair(one.at('name').text, one.at('value')))
}

/** Headers given as a flat list of names and values, as Node has them. */
export function headersOfFlat(headers: Cursor): readonly HeaderPair[] {
  if (!headers.isThere) return []
  if (headers.isMap) return headersOfMap(headers)
  const { items } = headers
  return items.flatMap((name, i) => (i % 2 === 0 && items[i + 1] ? [pair(name.text, items[i + 1]!)] : []))
}

/** The values of a header, joined. */
export function headerOf(headers: readonly HeaderPair[], name: string): string | undefined {
  const values = headers.filter(([key]) => key === name).map(([, value]) => value)
  return values.length === 0 ? undefined : values.join(', ')
}

function pair(name: string, value: Cursor): HeaderPair {
  return [name.toLowerCase(), headerText(value)]
}

function headerText(value: Cursor): string {
  const { value: given } = value
  if (typeof given === 'string') return given
  if (typeof given === 'number' || typeof given === 'boolean' || typeof given === 'bigint') return String(given)
  if (given instanceof Uint8Array) return Buffer.from(given).toString('latin1')
  if (given === null || given === undefined) return ''
  throw value.refuse('it is not the value of a header')
}
