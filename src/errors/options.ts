import type { ErrorCode } from './codes.ts'
import { HarvestError, nearestWord, neutralLine } from './index.ts'

/** Who takes the options, as its users call it, and the code of what is wrong with one. */
export interface OptionsOf {
  readonly owner: string
  readonly code: ErrorCode
}

/** What fits an option, and how that is said behind "expected". */
export interface OptionRule {
  readonly expected: string
  readonly fits: (value: unknown) => boolean
  /** What to name when none of it was meant. */
  readonly words?: readonly string[]
}

/** Options by their names; groups of options hold more of them. */
export interface OptionShape {
  readonly [name: string]: OptionRule | OptionShape
}

/**
 * Refuses options that cannot be meant: unknown names at any depth, and values that do not fit.
 *
 * @param path - where `given` stands: `keep.`
 */
export function checkOptions(of: OptionsOf, given: object, shape: OptionShape, path = ''): void {
  const known = Object.keys(shape)
  for (const [name, value] of Object.entries(given)) {
    const rule = Object.hasOwn(shape, name) ? shape[name] : undefined
    if (rule === undefined)
      throw unknownOption(
        of,
        path + name,
        known.map((one) => path + one),
      )
    // What is given as undefined is not given: `commit: process.env.GIT_SHA`.
    if (value === undefined) continue
    if (isRule(rule)) checkOption(of, path + name, value, rule)
    else if (isFields(value)) checkOptions(of, value, rule, `${path}${name}.`)
    else throw invalidOption(of, path + name, value, `an object with ${Object.keys(rule).join(', ')}`)
  }
}

/** Refuses a value that does not fit one option. */
export function checkOption(of: OptionsOf, name: string, value: unknown, rule: OptionRule): void {
  if (rule.fits(value)) return
  const meant = typeof value === 'string' ? nearestWord(value, rule.words ?? []) : undefined
  throw invalidOption(of, name, value, rule.expected, meant === undefined ? undefined : `${name}: '${meant}'`)
}

/** Refuses a name that is no option. */
export function unknownOption({ owner, code }: OptionsOf, name: string, known: readonly string[]): HarvestError {
  const meant = nearestWord(name, known)
  return new HarvestError(code, {
    what: `Unknown option '${neutralLine(name, 60)}' of ${owner}`,
    where: { options: known.join(', ') },
    fix: [meant === undefined ? 'remove it, or correct the spelling' : `did you mean: ${meant}`],
  })
}

/**
 * Refuses the value of an option.
 *
 * @param name - the option, with the groups it is in: `keep.outliers`
 * @param given - its value
 * @param expected - in words that go on behind "expected"
 * @param meant - what was probably meant, as it is written
 */
export function invalidOption(
  { owner, code }: OptionsOf,
  name: string,
  given: unknown,
  expected: string,
  meant?: string,
): HarvestError {
  return new HarvestError(code, {
    what: `Invalid option '${neutralLine(name, 60)}' of ${owner}`,
    where: { expected, got: neutralLine(shown(given), 120) },
    fix: [
      ...(meant === undefined ? [] : [`did you mean: ${meant}`]),
      `set ${neutralLine(name, 60)} to ${expected}, or leave it out`,
    ],
  })
}

/** `a`, `a or b`, `a, b, or c`. By hand: the first list of `Intl` makes Node load what it knows of languages, 30 ms. */
function alternatives(words: readonly string[]): string {
  if (words.length < 3) return words.join(' or ')
  return `${words.slice(0, -1).join(', ')}, or ${words.at(-1)}`
}

/** One of these values. */
export function oneOf(values: readonly unknown[]): OptionRule {
  const words = values.filter((value) => typeof value === 'string')
  return {
    expected: alternatives(values.map(shown)),
    fits: (value) => values.includes(value),
    words,
  }
}

export const anything: OptionRule = { expected: 'anything', fits: () => true }
export const text: OptionRule = { expected: 'text', fits: (value) => typeof value === 'string' }
export const truth: OptionRule = { expected: 'true or false', fits: (value) => typeof value === 'boolean' }
export const listener: OptionRule = { expected: 'a function', fits: (value) => typeof value === 'function' }
export const above0: OptionRule = { expected: 'a number above 0', fits: (value) => isNumber(value) && value > 0 }
export const between0And1: OptionRule = {
  expected: 'a number between 0 and 1',
  fits: (value) => isNumber(value) && value > 0 && value < 1,
}

/** A whole number from this one. */
export function wholeFrom(least: number): OptionRule {
  const fits = (value: unknown): boolean => Number.isSafeInteger(value) && Number(value) >= least
  return { expected: `a whole number from ${least}`, fits }
}

export function isFields(value: unknown): value is object {
  return typeof value === 'object' && value !== null && !Array.isArray(value)
}

export function isNumber(value: unknown): value is number {
  return typeof value === 'number' && Number.isFinite(value)
}

function isRule(rule: OptionRule | OptionShape): rule is OptionRule {
  return typeof rule['fits'] === 'function'
}

function shown(value: unknown): string {
  if (typeof value === 'string') return `'${value}'`
  return typeof value === 'object' ? JSON.stringify(value) : String(value)
}
