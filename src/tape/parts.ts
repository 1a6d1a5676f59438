import { eventProblem, isFields } from './shape.ts'
import type { CallEvent, Chunk, Step, TapeEvent } from './types.ts'

/**
 * A step in several lines: one when it begins, some while its answer comes, and one when it is settled. No line says
 * again what one before it said. Lines without a `part` are whole events.
 */
export type EventPart =
  /** What was asked. May come twice: the body of a request that is still being sent comes with the second one. */
  | 'begun'
  /** Pieces of the answer, after those of the lines before. */
  | 'pieces'
  /** All the rest; `pieces` says how many of the pieces before it stand. */
  | 'rest'

/** A step as far as it came, to be written before it is settled. */
export interface OpenStep {
  readonly part: 'begun' | 'pieces'
  readonly event: Step
}

/** A line of a step, without what the lines before it say. */
export type PartLine = Readonly<Record<string, unknown>> & { readonly n: number }

type Yield = NonNullable<CallEvent['yields']>[number]
type Piece = Chunk | Yield

/** What the lines of one step said so far. */
interface Written {
  readonly event: Step
  readonly pieces: readonly Piece[]
}

/** Writes steps in parts: remembers what each one said already. */
export class PartsWritten {
  readonly #open = new Map<number, Written>()

  /** Whether a line of this event is written already. */
  has(n: number): boolean {
    return this.#open.has(n)
  }

  /** The line for a step under way, and what to do once it is written. */
  open({ part, event }: OpenStep): { readonly line: PartLine; readonly done: () => void } {
    const before = this.#open.get(event.n)
    const pieces = piecesOf(event)
    const { kind, n } = event
    const line =
      part === 'pieces'
        ? { kind, n, part, ...asFields(event, pieces.slice(before?.pieces.length ?? 0)) }
        : { kind, n, part, ...(before === undefined ? event : fresh(event, before.event)) }
    return {
      line,
      done: () => void this.#open.set(event.n, { event, pieces: part === 'begun' ? (before?.pieces ?? []) : pieces }),
    }
  }

  /** The last line of a step; the event itself when it is the only one. */
  settle(event: TapeEvent): { readonly line: TapeEvent | PartLine; readonly done: () => void } {
    const before = this.#open.get(event.n)
    if (before === undefined) return { line: event, done: () => {} }
    const step = event as Step
    const pieces = piecesOf(step)
    const standing = sameBeginning(before.pieces, pieces)
    const { kind, n } = step
    const line = {
      kind,
      n,
      part: 'rest',
      ...(before.pieces.length > 0 && { pieces: standing }),
      ...fresh(step, before.event),
      ...(standing > 0 && asFields(step, pieces.slice(standing))),
    }
    return { line, done: () => void this.#open.delete(event.n) }
  }
}

/** Members of an event that it did not have before, or not this one. */
function fresh(event: Step, before: Step): Readonly<Record<string, unknown>> {
  const known = before as unknown as Readonly<Record<string, unknown>>
  const members = event as unknown as Readonly<Record<string, unknown>>
  const rest: Record<string, unknown> = {}
  // Not by lists of names and values: this is done while an agent waits.
  for (const name of Object.keys(members)) if (known[name] !== members[name]) rest[name] = members[name]
  return rest
}

function piecesOf(event: Step): readonly Piece[] {
  return (event.kind === 'exchange' ? event.response?.chunks : event.yields) ?? []
}

function asFields(event: Step, pieces: readonly Piece[]): Readonly<Record<string, unknown>> {
  return event.kind === 'exchange'
    ? { ...(event.response !== undefined && { response: { ...event.response, chunks: pieces } }) }
    : { yields: pieces }
}

/** How many of the pieces written early are the first ones of all. */
function sameBeginning(early: readonly Piece[], all: readonly Piece[]): number {
  let same = 0
  while (same < early.length && same < all.length && isSame(early[same]!, all[same]!)) same++
  return same
}

function isSame([n, at, one]: Piece, [otherN, otherAt, other]: Piece): boolean {
  return n === otherN && at === otherAt && (one === other || JSON.stringify(one) === JSON.stringify(other))
}

/** A line as read, before anything is known of its members. */
type Fields = Readonly<Record<string, unknown>>

interface Reading {
  readonly fields: Fields
  /** Members beside the pieces that came early. */
  readonly response: Fields | undefined
  readonly pieces: unknown[]
}

/** Puts steps together that stand on several lines. Holds those that are not settled. */
export class PartsRead {
  readonly #open = new Map<number, Reading>()

  /** What the lines of this event said so far; `undefined` when none came, or its last one did. */
  soFar(n: unknown): Fields | undefined {
    return this.#open.get(n as number)?.fields
  }

  /**
   * Takes a line that says it is a part.
   *
   * @returns the whole event when it is the last line of one; what is wrong with the line as text
   */
  take({ part, ...fields }: Fields): TapeEvent | string | undefined {
    const n = fields['n'] as number
    const before = this.#open.get(n)
    if (before !== undefined && before.fields['kind'] !== fields['kind'])
      return `it goes on with event ${n}, which is of another kind`
    if (part === 'begun') return this.#begin(n, fields, before)
    if (before === undefined) return `it goes on with event ${String(n)}, which has not begun`
    if (part === 'pieces') return this.#add(before, fields)
    if (part !== 'rest') return `nothing is known of part ${JSON.stringify(part)}`
    this.#open.delete(n)
    const { pieces: standing = 0, ...rest } = fields
    if (!isCountUpTo(standing, before.pieces.length)) return `it counts other pieces than those before it`
    return wholeEvent(before, rest, before.pieces.slice(0, standing as number))
  }

  /** The steps that were not settled, as far as they came; what is wrong with one as text. */
  takeOpen(): readonly (TapeEvent | string)[] {
    const open = [...this.#open.values()]
    this.#open.clear()
    return open.map((one) => wholeEvent(one, {}, one.pieces))
  }

  #begin(n: number, fields: Fields, before: Reading | undefined): string | undefined {
    const all = before === undefined ? fields : merged(before.fields, fields)
    const problem = eventProblem(all)
    if (problem !== undefined) return `it is not the beginning of an event: ${problem}`
    this.#open.set(n, { response: undefined, pieces: [], ...before, fields: all })
    return undefined
  }

  #add(before: Reading, fields: Fields): string | undefined {
    const { response, yields } = fields
    const pieces = isFields(response) ? response['chunks'] : yields
    if (!Array.isArray(pieces)) return 'it holds no pieces'
    const problem = eventProblem({ ...before.fields, ...fields })
    if (problem !== undefined) return `its pieces are none: ${problem}`
    for (const piece of pieces) before.pieces.push(piece)
    if (isFields(response)) this.#open.set(fields['n'] as number, { ...before, response })
    return undefined
  }
}

function wholeEvent(
  { fields, response: early }: Reading,
  rest: Fields,
  standing: readonly unknown[],
): TapeEvent | string {
  const all = merged(fields, rest)
  // No pieces came early: the last line says all of the answer.
  if (early === undefined && standing.length === 0) return eventProblem(all) ?? (all as unknown as TapeEvent)
  const isExchange = all['kind'] === 'exchange'
  const response = rest['response'] ?? (standing.length > 0 ? { ...early, chunks: [] } : undefined)
  const later = isExchange ? (isFields(response) ? response['chunks'] : undefined) : rest['yields']
  const pieces = standing.length === 0 ? later : [...standing, ...(Array.isArray(later) ? (later as unknown[]) : [])]
  const event = isExchange
    ? { ...all, ...(isFields(response) && { response: { ...response, chunks: pieces } }) }
    : { ...all, ...(pieces !== undefined && { yields: pieces }) }
  return eventProblem(event) ?? (event as unknown as TapeEvent)
}

/** Later members win; fingerprints of all lines count. */
function merged(before: Fields, later: Fields): Fields {
  if (before['prints'] === undefined && later['prints'] === undefined) return { ...before, ...later }
  const prints = [before['prints'], later['prints']].filter((list) => Array.isArray(list)).flat(1)
  return { ...before, ...later, ...(prints.length > 0 && { prints }) }
}

function isCountUpTo(value: unknown, most: number): boolean {
  return Number.isSafeInteger(value) && (value as number) >= 0 && (value as number) <= most
}
