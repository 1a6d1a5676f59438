import type { ErrorCode } from './codes.ts'
import { type FormerErrorCode, formerCodes } from './former-codes.ts'
import { visible } from './neutral.ts'

export { neutral, neutralJson, neutralLine, shellWord, visible } from './neutral.ts'
export { nearestWord } from './nearest.ts'
export { page } from './page.ts'
export type { ErrorCode } from './codes.ts'
export type { FormerErrorCode } from './former-codes.ts'

/** What a person reads when something went wrong: what, where, why, and what to paste next. */
export interface ErrorFacts {
  /** What happened, one sentence without a trailing dot. */
  readonly what: string
  /** Where it happened: label → value, printed as a small table in this order. */
  readonly where?: Readonly<Record<string, string>>
  /** Why it usually happens, if we know. */
  readonly why?: string
  /** What to do, safest first; each line is text a reader can paste. */
  readonly fix?: readonly string[]
  /** More lines printed between the table and the reason, such as a diff. */
  readonly detail?: string
}

/** The same error, with more to say. */
export function withFacts({ code, facts, cause }: HarvestError, more: Partial<ErrorFacts>): HarvestError {
  return new HarvestError(code, { ...facts, ...more }, cause === undefined ? {} : { cause })
}

const brand = Symbol.for('vitest-harvest/error@1')

/**
 * The one error class of this package.
 *
 * Recognise it with {@link HarvestError.is}, never `instanceof`: the agent's copy of this package and the
 * test's copy may differ.
 */
export class HarvestError extends Error {
  override readonly name = 'HarvestError'
  /** One code per cause, such as `HARVEST_TAPE_TRUNCATED`. */
  readonly code: ErrorCode
  /** The facts the message was made from. */
  readonly facts: ErrorFacts

  constructor(code: ErrorCode, facts: ErrorFacts, options?: { readonly cause?: unknown }) {
    super(layOut(code, facts), options)
    this.code = code
    this.facts = facts
    Object.defineProperty(this, brand, { value: true, enumerable: false })
  }

  /** Whether a value is a {@link HarvestError}, made by this or any other copy of the package; with `code`, of that cause. A code's former name is taken as well. */
  static is(value: unknown, code?: ErrorCode | FormerErrorCode): value is HarvestError {
    const present = code !== undefined && code in formerCodes ? formerCodes[code as FormerErrorCode] : code
    return (
      typeof value === 'object' &&
      value !== null &&
      brand in value &&
      (present === undefined || (value as { readonly code?: unknown }).code === present)
    )
  }

  /** Only code, message and facts: reporters serialise every own property of an error. */
  toJSON(): { name: string; code: ErrorCode; message: string; facts: ErrorFacts } {
    return { name: this.name, code: this.code, message: this.message, facts: this.facts }
  }
}

function layOut(code: string, { what, where, why, fix, detail }: ErrorFacts): string {
  const rows = Object.entries(where ?? {})
  const width = Math.max(0, ...rows.map(([label]) => label.length))
  const paragraphs = [what]
  if (rows.length > 0) {
    paragraphs.push(
      rows.map(([label, value]) => `  ${label.padEnd(width)}  ${indent(visible(value), width + 4)}`).join('\n'),
    )
  }
  if (detail) paragraphs.push(detail)
  const tail = [...(why ? [why] : []), ...(fix ?? []).map((line) => `→ ${line}`), `(${code})`]
  return [...paragraphs, tail.join('\n')].join('\n\n')
}

function indent(value: string, by: number): string {
  return value.replaceAll('\n', `\n${' '.repeat(by)}`)
}
