import type { Json } from '../tape/index.ts'
import { type AnswerKind, type FaultArgs, numberIn } from './types.ts'
import { value } from './values.ts'

/**
 * Messages, hits and records that a step hands over in a list, such as an inbox or a thread: one is missing, comes
 * twice, comes last, or is taken back.
 */
export const messageKinds: readonly AnswerKind[] = [
  inList('message-dropped', 'one of a list is missing', 1, (list, at) => list.toSpliced(at, 1)),
  inList('message-duplicated', 'one of a list comes twice', 1, (list, at) => list.toSpliced(at, 0, list[at] ?? null)),
  inList('message-delayed', 'one of a list comes last', 2, (list, at) => {
    // The last one is there already.
    const early = at % (list.length - 1)
    return [...list.toSpliced(early, 1), list[early] ?? null]
  }),
  inList('message-contradicted', 'one of a list is followed by its contrary', 1, (list, at) =>
    list.toSpliced(at + 1, 0, contrary(list[at] ?? null)),
  ),
]

function inList(
  name: string,
  about: string,
  least: number,
  change: (list: readonly Json[], at: number) => readonly Json[],
): AnswerKind {
  const isOne = (one: Json): boolean => Array.isArray(one) && one.length >= least
  const apply = (old: Json, args: FaultArgs): Json => {
    if (!Array.isArray(old)) return old
    const list = old as readonly Json[]
    return change(list, numberIn(args, 'item') % list.length)
  }
  return value(name, about, isOne, apply, { item: { least: 0, most: 9 } }, 'messages')
}

/** Yes for no, less for more, and for text that it is not so. */
function contrary(one: Json): Json {
  if (typeof one === 'boolean') return !one
  if (typeof one === 'number') return -one
  if (typeof one === 'string') return `Correction, the contrary is true: not ${one}`
  if (Array.isArray(one)) return (one as readonly Json[]).map(contrary)
  if (one === null || '$type' in one) return one
  // Ids stay: it is the same thing that is said to be otherwise.
  return Object.fromEntries(
    Object.entries(one).map(([key, inner]) => [key, /(^|_)id$/i.test(key) ? (inner as Json) : contrary(inner as Json)]),
  )
}
