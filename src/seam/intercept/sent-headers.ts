import type { Pairs } from '../pairs.ts'

/** What undici makes of the headers of a caller: each is the caller's, the length of the body, or the same every time. */
type Part = { readonly name: string } & ({ readonly value: string } | { readonly from: 'caller' | 'body' })

/** Of each shape of request that undici was seen to send. `undefined`: what it added depends on more than the shape. */
const shapes = new Map<string, readonly Part[] | undefined>()
/** An agent that asks ever new hosts must not fill the memory. */
const mostShapes = 1_000

/** As undici sends a value, and would not trim or refuse it. */
const plainValue = /^[!-~\x80-\xff](?:[\t -~\x80-\xff]*[!-~\x80-\xff])?$/

/** One request, by all that decides which headers undici adds: where it goes, how, and which headers its caller states. */
export interface RequestShape {
  readonly key: string
  readonly stated: Pairs
}

/** The shape of a request; `undefined` where undici might change what its caller states. */
export function shapeOf(method: string, origin: string, stated: Pairs): RequestShape | undefined {
  let key = `${method} ${origin}`
  const names = new Set<string>()
  for (const [name, value] of stated) {
    if (names.has(name) || !plainValue.test(value)) return undefined
    names.add(name)
    key += ` ${name}`
  }
  return { key, stated }
}

/** Notes what undici sent for a request whose body has `length` bytes. */
export function learnSent({ key, stated }: RequestShape, length: number, sent: Pairs): void {
  if (shapes.has(key)) return
  if (shapes.size >= mostShapes) shapes.clear()
  const values = new Map(stated)
  const parts = sent.map(([name, value]): Part | undefined => {
    if (values.has(name)) return values.get(name) === value ? { name, from: 'caller' } : undefined
    if (name === 'content-length') return value === String(length) ? { name, from: 'body' } : undefined
    return { name, value }
  })
  const known = parts.filter((part) => part !== undefined)
  const isWhole = known.length === sent.length && stated.every(([name]) => known.some((part) => part.name === name))
  shapes.set(key, isWhole ? known : undefined)
}

/** The headers undici would send, in its order; `undefined` while it was not seen to send such a request. */
export function sentFor({ key, stated }: RequestShape, length: number): Pairs | undefined {
  const parts = shapes.get(key)
  if (parts === undefined) return undefined
  const values = new Map(stated)
  return parts.map((part) => {
    if ('value' in part) return [part.name, part.value] as const
    return [part.name, part.from === 'body' ? String(length) : (values.get(part.name) ?? '')] as const
  })
}
