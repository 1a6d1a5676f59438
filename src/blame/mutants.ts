import { HarvestError } from '../errors/index.ts'
import { decided } from '../fork/decide.ts'
import type { Decision, Patch } from '../fork/index.ts'
import { decodeBody } from '../providers/index.ts'
import { type ExchangeEvent, type Json, responseBytes, type Step, stepsOf, type Tape } from '../tape/index.ts'
import { decisionOf } from './positions.ts'

/** One other answer a step could have given, of the same shape. */
export type Mutant =
  | { readonly kind: 'value'; readonly patch: Patch & { readonly step: number } }
  /** Of a model that called tools: the same tools with another argument. */
  | { readonly kind: 'decision'; readonly step: number; readonly decision: Decision }

/** Mutants of one step: enough to be distinguished, few enough to be tried. */
const mostPerStep = 40

/**
 * The other answers of a step that keep its shape: one value of it is another value of its type. All are different, and
 * none is the recorded one. Of a model, arguments of the tools it called; what it says to people is the outcome itself,
 * and is not mutated.
 *
 * @param number - 1-based number of the step
 */
export function mutantsOf(step: Step, number: number): readonly Mutant[] {
  const decision = decisionOf(step)
  if (decision !== undefined)
    return canDecide(step, number) ? mutantsOfDecision(decision.response?.toolCalls ?? [], number) : []
  const [root, value] = step.kind === 'exchange' ? ['body', bodyOf(step)] : ['result', step.result]
  if (value === undefined) return []
  return spread(othersOf(value)).map(({ keys, value: other }) => ({
    kind: 'value',
    patch: { step: number, path: root + keys.map(asPath).join(''), value: other },
  }))
}

/** Whether any answer of a run has an alternative: of one that only speaks to people none has. */
export function canMutate(tape: Tape): boolean {
  return stepsOf(tape).some((step, index) => mutantsOf(step, index + 1).length > 0)
}

/** Not in every dialect another decision can be written. */
function canDecide(step: Step, number: number): boolean {
  try {
    decided(step, number, { calls: [] })
    return true
  } catch (error) {
    if (HarvestError.is(error, 'HARVEST_FORK_DECIDE')) return false
    throw error
  }
}

function mutantsOfDecision(
  calls: readonly { readonly name: string; readonly args: Json }[],
  step: number,
): readonly Mutant[] {
  return spread(
    calls.flatMap(({ args }, index) => othersOf(args).map(({ keys, value }) => ({ keys: [index, ...keys], value }))),
  ).map(({ keys: [index, ...keys], value }) => ({
    kind: 'decision',
    step,
    decision: {
      calls: calls.map(({ name, args }, at) => ({ name, args: at === index ? withValue(args, keys, value) : args })),
    },
  }))
}

interface Other {
  readonly keys: readonly (string | number)[]
  readonly value: Json
}

/** Every leaf in turn, with every other value it can have. */
function othersOf(value: Json, keys: Other['keys'] = []): readonly Other[] {
  const here = (others: readonly Json[]): readonly Other[] => others.map((other) => ({ keys, value: other }))
  switch (typeof value) {
    case 'number':
      return here(distinct(value, otherNumbers(value)))
    case 'boolean':
      return here([!value])
    case 'string':
      return here(distinct(value, otherTexts(value)))
    default:
      if (value === null) return []
      if (Array.isArray(value)) {
        const list = value as readonly Json[]
        return [
          ...here(distinct(list, [[], list.slice(0, -1)])),
          ...list.flatMap((one, i) => othersOf(one, [...keys, i])),
        ]
      }
      // Dates, maps and the like, as the tape spells them: a changed one may be none.
      if (Object.hasOwn(value, '$type')) return []
      return Object.entries(value).flatMap(([key, one]) => othersOf(one as Json, [...keys, key]))
  }
}

function otherNumbers(value: number): readonly number[] {
  // Nothing, another unit, another sign, off by one, digits in another order.
  return [0, value * 100, value / 100, -value, value + 1, Number(swapped(String(Math.abs(value))))].filter(
    Number.isFinite,
  )
}

function otherTexts(value: string): readonly string[] {
  return ['', swapped(value)]
}

/** The text with two neighbours in each other's place: the last different digits, or without any the first such letters. */
function swapped(text: string): string {
  const digits = text.replace(/(\d)(?!\1)(\d)(?!.*(\d)(?!\3)\d)/s, '$2$1')
  return digits === text ? text.replace(/(\p{L})(?!\1)(\p{L})/u, '$2$1') : digits
}

function distinct<T extends Json>(recorded: Json, others: readonly T[]): readonly T[] {
  const seen = new Set([JSON.stringify(recorded)])
  return others.filter((other) => {
    const text = JSON.stringify(other)
    return !seen.has(text) && seen.add(text)
  })
}

/** Of too many, some from everywhere. */
function spread(others: readonly Other[]): readonly Other[] {
  if (others.length <= mostPerStep) return others
  return Array.from({ length: mostPerStep }, (_, i) => others[Math.floor((i * others.length) / mostPerStep)]!)
}

function withValue(value: Json, [key, ...rest]: Other['keys'], other: Json): Json {
  if (key === undefined) return other
  if (Array.isArray(value))
    return (value as readonly Json[]).map((one, i) => (i === key ? withValue(one, rest, other) : one))
  const map = value as { readonly [key: string]: Json }
  return { ...map, [key]: withValue(map[key] ?? null, rest, other) }
}

/** As a path of a patch has it. */
function asPath(key: string | number): string {
  if (typeof key === 'number') return `[${key}]`
  return /^[\p{L}_$][\p{L}\p{N}_$-]*$/u.test(key) ? `.${key}` : `[${JSON.stringify(key)}]`
}

/** The body of an answer that is JSON in one piece; other bodies have no values to change. */
function bodyOf(step: ExchangeEvent): Json | undefined {
  const encoding = step.response?.headers.find(([name]) => name === 'content-encoding')?.[1]
  try {
    return JSON.parse(Buffer.from(decodeBody(responseBytes(step), encoding)).toString('utf8')) as Json
  } catch {
    // No JSON: a page, a picture, a stream.
    return undefined
  }
}
