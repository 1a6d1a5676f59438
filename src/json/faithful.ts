import type { Json } from './types.ts'

/**
 * Whether `JSON.parse` and `JSON.stringify` keep everything a JSON text says. The one rounds numbers beyond 2⁵³ and drops all
 * but the last of equal keys, the other writes `-0` as `0`: two texts that differ only there would be taken for one.
 */
export function isFaithful(json: string): boolean {
  let keys = 0
  for (const [token, isKey] of json.matchAll(tokens)) {
    if (!token.startsWith('"')) {
      if (!isExact(token)) return false
    } else if (isKey) keys++
  }
  return keys === countKeys(JSON.parse(json))
}

// In JSON a quote outside a string always begins one, so strings are skipped whole.
const tokens = /"(?:[^"\\]|\\.)*"(\s*:)?|-?\d[\d.eE+-]*/g

/**
 * The value of a JSON text in which numbers that would not stay what they are stand as texts, two of them alike exactly when the
 * numbers are equal: `1e400` and `10e399`. `undefined` where keys are equal, and of no use but to compare.
 */
export function parseExactly(json: string): Json | undefined {
  let keys = 0
  for (const [, isKey] of json.matchAll(tokens)) if (isKey) keys++
  if (keys !== countKeys(JSON.parse(json))) return undefined
  const revive = (_: string, value: unknown, { source = '' }: { readonly source?: string } = {}): unknown => {
    if (typeof value === 'number' && !isExact(source)) return `${mark}#${decimal(source)}`
    return typeof value === 'string' && value.startsWith(mark) ? mark + value : value
  }
  return JSON.parse(json, revive as (key: string, value: unknown) => unknown) as Json
}

/** Begins what stands for a number. A text that begins so itself has it twice. */
const mark = '\0'

function isExact(number: string): boolean {
  const value = Number(number)
  if (!Number.isFinite(value) || Object.is(value, -0)) return false
  if (/^-?\d+$/.test(number)) return Number.isSafeInteger(value) || BigInt(number) === BigInt(value)
  // Of all texts of a number beyond 2⁵³ only one may count as exact, whether it is written with an exponent or without.
  if (Number.isInteger(value) && !Number.isSafeInteger(value)) return decimal(number) === decimal(`${BigInt(value)}`)
  // 15 significant digits always survive; more do when they are what JavaScript itself writes.
  return number.replace(/[eE].*$/, '').replace(/^[-0.]+|\./g, '').length <= 15 || String(value) === number
}

/** A number as its digits without zeros at the ends, and the power of ten behind them: `-12.50` is `-125e-1`. */
function decimal(number: string): string {
  const [, sign, whole = '', part = '', power = '0'] = /^(-?)(\d+)(?:\.(\d+))?(?:[eE]([+-]?\d+))?$/.exec(number) ?? []
  const digits = (whole + part).replace(/^0+/, '')
  const short = digits.replace(/(?<!0)0+$/, '')
  return short === ''
    ? `${sign}0`
    : `${sign}${short}e${BigInt(power) - BigInt(part.length - (digits.length - short.length))}`
}

function countKeys(value: unknown): number {
  if (typeof value !== 'object' || value === null) return 0
  const inside = Object.values(value).reduce((sum: number, member) => sum + countKeys(member), 0)
  return Array.isArray(value) ? inside : inside + Object.keys(value).length
}
