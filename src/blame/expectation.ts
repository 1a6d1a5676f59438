import { HarvestError, neutralLine } from '../errors/index.ts'
import { isList, isMap } from '../json/canonical.ts'
import type { Json } from '../tape/types.ts'
import { matchOutcome, parseCall, type TraceCall } from '../trace/index.ts'
import { createMatcher } from '../trace/matcher.ts'
import { type CompiledRule, compileRule, isTrueOfRun, type RunPosition } from '../rules/index.ts'

/** One thing a run may be asked for: by what it returned, by a tool call it made, or by a rule about it. */
export type Expectation =
  | {
      readonly kind: 'value'
      readonly text: string
      /** As it was asked for: `--ok`. */
      readonly option: string
      /** Keys down to the value; none: the value itself. */
      readonly path: readonly Key[]
      /** What should be there; absent when only a text of it is looked at. */
      readonly value?: Json
      /** Whether the value a run returned fits. */
      fits(value: Json): boolean
    }
  | {
      readonly kind: 'call'
      readonly text: string
      readonly option: string
      /** `*` is any tool. */
      readonly tool: string
      /** Arguments by key, as far as they are asked for; the value of one may be any. */
      readonly args: { readonly [key: string]: Json | undefined }
      /** Whether one of the calls fits. */
      isAmong(calls: readonly TraceCall[]): boolean
    }
  | {
      readonly kind: 'rule'
      readonly text: string
      readonly option: string
      readonly rule: CompiledRule
      /** Whether it asks for one call: a run is graded by it as soon as the call is made. */
      readonly isOfCall: boolean
      /** Whether it is true of a run that ended. */
      holds(run: readonly RunPosition[]): boolean
    }

/**
 * Reads an expectation as someone types it.
 *
 * - `refunded=25`, `order.items[0].price=10`: the value there, by structure (as `outcome:` of a case: maps may hold more,
 *   `*` is anything); a value is JSON, or else text. `.` in place of a path is the value itself
 * - `answer~25 EUR`: the text there has a match of this regular expression
 * - `refund(amount: 25)`: a call of this tool was made with at least these arguments; `refund(*)`: with any
 * - `at most 1 refund()`, `refund(amount > 100)`, `model says "sorry"`: a rule, true of the run
 *
 * @param option - what to call it in the error, such as `--ok`
 * @throws HarvestError `HARVEST_ORACLE_EXPECTATION` when it is not one of them
 */
export function parseExpectation(text: string, option: string): Expectation {
  const rule = ruleIn(text)
  const twice = rule && argumentAskedTwice(rule)
  if (twice !== undefined) throw wrong(text, option, `No call has two values of one argument: ${twice}.`)
  if (rule !== undefined)
    return { kind: 'rule', text, option, rule, isOfCall: isOneCall(rule), holds: (run) => isTrueOfRun(rule, run) }
  const [, path, sign, rest = ''] = /^([^=~(]+)([=~])(.*)$/s.exec(text) ?? []
  if (path !== undefined && sign === '=') return expectValue(text, option, keysOf(path, text, option), jsonOrText(rest))
  if (path !== undefined) return expectText(text, option, keysOf(path, text, option), patternOf(rest, text, option))
  if (text.includes('(')) return expectCall(text, option)
  throw wrong(text, option)
}

/**
 * What `--ok` and `--bad` ask for, in their order.
 *
 * @throws HarvestError as {@link parseExpectation}
 */
export function typedExpectations({ ok, bad }: { readonly ok: readonly string[]; readonly bad: readonly string[] }): {
  readonly ok: readonly Expectation[]
  readonly bad: readonly Expectation[]
  readonly all: readonly Expectation[]
} {
  const [good, wrong] = [
    ok.map((text) => parseExpectation(text, '--ok')),
    bad.map((text) => parseExpectation(text, '--bad')),
  ]
  return { ok: good, bad: wrong, all: [...good, ...wrong] }
}

/** Whether one run may return what both ask for; of anything but values that is not known. */
export function canMeetBoth(one: Expectation, two: Expectation): boolean {
  if (one.kind !== 'value' || two.kind !== 'value' || one.value === undefined || two.value === undefined) return true
  const [outer, inner] = one.path.length <= two.path.length ? [one, two] : [two, one]
  if (outer.path.some((key, at) => key !== inner.path[at])) return true
  const there = valueAt(outer.value as Json, inner.path.slice(outer.path.length))
  return there === undefined || fitBoth(there, inner.value as Json)
}

function fitBoth(one: Json, two: Json): boolean {
  if (isMap(one) && isMap(two))
    return Object.entries(one).every(([key, value]) => !Object.hasOwn(two, key) || fitBoth(value, two[key] as Json))
  if (isList(one) && isList(two)) return one.length === two.length && one.every((item, at) => fitBoth(item, two[at]!))
  return matchOutcome(one, two).equal || matchOutcome(two, one).equal
}

/**
 * A text that reads as a rule and as nothing older: `refund(amount: 25)` and `lookup_order()` are calls of a baseline,
 * `refunded=25` is a value.
 */
function ruleIn(text: string): CompiledRule | undefined {
  const isValue = /^[^=~(<>!"\s]+\s*[=~]/.test(text)
  const isCall = /^\s*(?:"|[^\s("]+\()/.test(text) && isBaselineCall(text)
  if (isValue || isCall) return undefined
  try {
    return compileRule(text)
  } catch (error) {
    // No rule either: what it was meant to be, its own reader says.
    if (HarvestError.is(error)) return undefined
    throw error
  }
}

/** `refund(amount=25)`: once such a call was made, nothing that follows takes it back. */
function isOneCall({ expression }: CompiledRule): boolean {
  return expression.type === 'atom' && expression.atom.kind === 'call' && expression.atom.phase === undefined
}

/** `refund(amount: 25, amount: 30)`: an argument that is to have two values at once. */
function argumentAskedTwice({ expression }: CompiledRule): string | undefined {
  if (expression.type !== 'atom' || expression.atom.kind !== 'call') return undefined
  const values = new Map<string, unknown>()
  for (const condition of expression.atom.conditions) {
    if (condition.op !== '=' || !('literal' in condition.value)) continue
    const [key, { literal }] = [condition.path.join('.'), condition.value]
    if (values.has(key) && values.get(key) !== literal) return key
    values.set(key, literal)
  }
  return undefined
}

/** Whether an expectation asks for a call that is made, and for nothing else. */
export function isOfCall(one: Expectation): boolean {
  return one.kind === 'call' || (one.kind === 'rule' && one.isOfCall)
}

function isBaselineCall(text: string): boolean {
  try {
    parseCall(text)
    return true
  } catch (error) {
    if (HarvestError.is(error)) return false
    throw error
  }
}

function expectValue(text: string, option: string, keys: readonly Key[], value: Json): Expectation {
  return {
    kind: 'value',
    text,
    option,
    path: keys,
    value,
    fits(returned) {
      const found = valueAt(returned, keys)
      return found !== undefined && matchOutcome(value, found).equal
    },
  }
}

function expectText(text: string, option: string, keys: readonly Key[], pattern: RegExp): Expectation {
  return {
    kind: 'value',
    text,
    option,
    path: keys,
    fits(returned) {
      const found = valueAt(returned, keys)
      return found !== undefined && pattern.test(typeof found === 'string' ? found : JSON.stringify(found))
    },
  }
}

function expectCall(text: string, option: string): Expectation {
  const expected = readCall(text, option)
  const matcher = createMatcher({ args: 'superset' })
  const { name: tool, args } = expected
  return {
    kind: 'call',
    text,
    option,
    tool,
    args: args === '*' ? {} : args,
    isAmong: (calls) => calls.some((call) => matcher.accepts(expected, call)),
  }
}

function readCall(text: string, option: string): ReturnType<typeof parseCall> {
  try {
    return parseCall(text, option)
  } catch (error) {
    // It speaks of a baseline, where calls are written alike.
    if (!HarvestError.is(error)) throw error
    const { column = '', wanted = '' } = error.facts.where ?? {}
    throw wrong(text, option, `In column ${column} there should be ${wanted}.`)
  }
}

export type Key = string | number

/** `order.items[0].price` → its keys; `.` → none. */
function keysOf(path: string, text: string, option: string): readonly Key[] {
  const trimmed = path.trim()
  if (trimmed === '.') return []
  if (!/^[^.[\]]+(?:\.[^.[\]]+|\[\d+\])*$/.test(trimmed)) throw wrong(text, option)
  return [...trimmed.matchAll(/\[(\d+)\]|[^.[\]]+/g)].map(([key, index]) => (index === undefined ? key : Number(index)))
}

function valueAt(value: Json, keys: readonly Key[]): Json | undefined {
  let at: Json | undefined = value
  for (const key of keys) {
    if (typeof at !== 'object' || at === null || !Object.hasOwn(at, key)) return undefined
    at = (at as { readonly [key: string]: Json })[key]
  }
  return at
}

/** `30` is a number, `"30"` and `thirty` are texts. */
function jsonOrText(word: string): Json {
  try {
    return JSON.parse(word) as Json
  } catch {
    // A word is rarely quoted twice in a shell: what is not JSON is meant as text.
    return word
  }
}

function patternOf(source: string, text: string, option: string): RegExp {
  try {
    return new RegExp(source, 'u')
  } catch (cause) {
    throw wrong(text, option, (cause as Error).message)
  }
}

function wrong(text: string, option: string, why?: string): HarvestError {
  return new HarvestError('HARVEST_ORACLE_EXPECTATION', {
    what: 'Invalid expectation of a run',
    where: {
      at: option,
      text: neutralLine(text),
      'returned value': "refunded=25 or 'answer~25 EUR'",
      'tool call': "'refund(amount: 25)' or 'refund(*)'",
      rule: "'at most 1 refund()'",
    },
    ...(why === undefined ? {} : { why: neutralLine(why, 200) }),
    fix: [
      'write it in one of these forms, with the names of your run',
      "to see which tools the run calls and what it returns: npx vitest-harvest show '<tape>'",
    ],
  })
}
