import { canonicalJson } from '../providers/index.ts'
import type { JsonMap } from '../json/canonical.ts'
import type { CallEvent, Json, TapeHeader } from '../tape/index.ts'
import { positionsOf } from '../trace/index.ts'
import type { Expression } from '../rules/index.ts'
import { type Expectation, isOfCall } from './expectation.ts'

/** Conditions that no good run can meet together. */
export interface Contradiction {
  readonly one: Expectation
  readonly other: Expectation
}

/**
 * A condition of a good run that makes a run bad, or a rule against the calls that other conditions ask for. Not all of them are
 * found: what a pattern matches, or a rule leaves open, is seen by runs alone.
 */
export function contradictionIn(ok: readonly Expectation[], bad: readonly Expectation[]): Contradiction | undefined {
  for (const one of ok) {
    const other = bad.find((wrong) => implies(one, wrong))
    if (other !== undefined) return { one, other }
  }
  for (const other of ok) {
    if (other.kind !== 'rule' || !isLimit(other.rule.expression)) continue
    const asked: { readonly one: Expectation; readonly call: AskedCall }[] = []
    for (const one of ok) {
      const call = leastCall(one)
      // What one call may be, two of these conditions ask for together.
      if (call === undefined || asked.some((known) => mayBeOne(known.call, call))) continue
      asked.push({ one, call })
      if (!other.holds(runOf(asked.map((each) => each.call)))) return { one, other }
    }
  }
  return undefined
}

/** Whether each run that meets the one meets the other as well. */
function implies(one: Expectation, other: Expectation): boolean {
  if (one.kind === 'value') {
    if (other.kind !== 'value' || one.value === undefined || isOpen(one.value)) return false
    // A pattern reads all of a value, and what was returned may hold more than what is asked for.
    const isWhole = typeof one.value !== 'object' && canonicalJson([...one.path]) === canonicalJson([...other.path])
    if (other.value === undefined && !isWhole) return false
    return other.fits(one.path.reduceRight<Json>(around, one.value))
  }
  const call = leastCall(one)
  if (call === undefined || !isOfCall(other) || other.kind === 'value') return false
  return other.kind === 'call' ? other.isAmong([{ n: 1, ...call }]) : other.holds(runOf([call]))
}

/** A call with no more arguments than a condition asks for. */
interface AskedCall {
  readonly name: string
  readonly args: JsonMap
}

/** The call that a condition asks for, with no more than that; `undefined`: it asks for no single one. */
function leastCall(one: Expectation): AskedCall | undefined {
  if (one.kind === 'call') return one.tool === '*' ? undefined : callOf(one.tool, one.args)
  if (one.kind === 'value' || !one.isOfCall) return undefined
  const { expression } = one.rule
  if (expression.type !== 'atom' || expression.atom.kind !== 'call') return undefined
  const { name, conditions } = expression.atom
  const args: { [key: string]: Json } = {}
  for (const { path, ...condition } of conditions) {
    const [key = ''] = path
    if (path.length !== 1 || condition.op !== '=' || !('literal' in condition.value)) return undefined
    args[key] = condition.value.literal
  }
  return name.includes('*') ? undefined : callOf(name, args)
}

function callOf(name: string, args: { readonly [key: string]: Json | undefined }): AskedCall {
  const said = Object.entries(args).filter((entry): entry is [string, Json] => entry[1] !== undefined)
  return { name, args: Object.fromEntries(said) }
}

/** A run of nothing but these calls, each of them made and not answered. */
function runOf(calls: readonly AskedCall[]): ReturnType<typeof positionsOf> {
  const events = calls.map(({ name, args }, at): CallEvent => ({ kind: 'tool', n: at + 1, at: 0, name, args }))
  const header = { agent: '' } as TapeHeader
  const outcome = { status: 'returned' } as const
  return positionsOf({
    header,
    events,
    close: { kind: 'close', n: events.length + 1, at: 0, events: events.length, outcome },
  })
}

/** Whether more calls never make it true again: `never refund()`, `at most 1 refund()`. */
function isLimit(expression: Expression): boolean {
  if (expression.type === 'never') return expression.operand.type === 'atom'
  if (expression.type !== 'count' || expression.within !== undefined) return false
  return expression.bound === 'most' && expression.operand.type === 'atom'
}

function mayBeOne(one: AskedCall, other: AskedCall): boolean {
  const isSame = ([key, value]: readonly [string, Json]): boolean =>
    !Object.hasOwn(other.args, key) || canonicalJson(value) === canonicalJson(other.args[key] ?? null)
  return one.name === other.name && Object.entries(one.args).every(isSame)
}

function around(inner: Json, key: string | number): Json {
  return typeof key === 'string' ? { [key]: inner } : [...Array.from({ length: key }, () => null), inner]
}

/** `*` is anything. */
function isOpen(value: Json): boolean {
  return JSON.stringify(value).includes('"*"')
}
