import type { Case } from '../cases/index.ts'
import type { ExpectedCall } from '../trace/index.ts'
import type { Weakening } from './weakened.ts'

interface PlacedExpectation {
  readonly call: ExpectedCall
  readonly layer: number
  readonly item: number
}

/**
 * What a baseline asserts no more: calls, arguments, values, order. What an approved update took out was changed, not weakened;
 * `*` is less whoever wrote it.
 */
export function weakerBaseline(was: Case, is: Case, isApproved: boolean): readonly Weakening[] {
  if (was.expected === undefined) return []
  if (is.expected === undefined) return [{ field: 'baseline', what: 'not asserted any more' }]
  // Of a new case there is no other baseline: only what it leaves open is reported.
  if (was.expected === is.expected) return wildcards(is)
  const before = placed(was)
  const open = placed(is)
  const pairs: [PlacedExpectation, PlacedExpectation][] = []
  const take = (one: PlacedExpectation, fits: (other: PlacedExpectation) => boolean): boolean => {
    const at = open.findIndex(fits)
    if (at !== -1) pairs.push([one, ...(open.splice(at, 1) as [PlacedExpectation])])
    return at !== -1
  }
  // The same calls first, then those of the same tool, then any that stand for all.
  const changed = before.filter((one) => !take(one, ({ call }) => key(call) === key(one.call)))
  const renamed = changed.filter((one) => !take(one, ({ call }) => call.name === one.call.name))
  const lost = renamed.filter((one) => !take(one, ({ call }) => call.name === '*'))
  const line = (item: number): Pick<Weakening, 'line'> => {
    const at = is.lines.baselineItems[item]
    return at === undefined ? {} : { line: at }
  }
  const acceptsMore = is.match?.trace === 'superset'
  return [
    ...pairs.flatMap(([one, other]) =>
      lessOf(one.call, other.call, isApproved).map((what) => ({ field: 'baseline', what, ...line(other.item) })),
    ),
    ...(isApproved && !acceptsMore
      ? []
      : lost.map(({ call }) => ({ field: 'baseline', what: `${callText(call)} is no longer expected` }))),
    ...(isApproved ? [] : lostOrder(pairs).map((what) => ({ field: 'baseline', what }))),
  ]
}

function wildcards({ expected, lines }: Case): readonly Weakening[] {
  return (expected?.layers ?? []).flatMap((layer, item) =>
    layer
      .filter(({ name, args }) => name === '*' || args === '*')
      .map((call) => ({
        field: 'baseline',
        what: `${callText(call)} accepts any ${call.name === '*' ? 'call' : 'arguments'}`,
        ...(lines.baselineItems[item] === undefined ? {} : { line: lines.baselineItems[item] }),
      })),
  )
}

function placed({ expected }: Case): PlacedExpectation[] {
  return (expected?.layers ?? []).flatMap((calls, layer) => calls.map((call) => ({ call, layer, item: layer })))
}

function lessOf(was: ExpectedCall, is: ExpectedCall, isApproved: boolean): readonly string[] {
  const change = `${callText(was)} → ${callText(is)}`
  if (was.name !== '*' && is.name === '*') return [change]
  if (was.args === '*') return []
  if (is.args === '*') return [change]
  const now = is.args
  const names = Object.keys(was.args)
  const hasLostValue = names.some(
    (name) => was.args !== '*' && was.args[name] !== undefined && Object.hasOwn(now, name) && now[name] === undefined,
  )
  const hasLostName = !isApproved && names.some((name) => !Object.hasOwn(now, name))
  return hasLostValue || hasLostName ? [change] : []
}

/** Calls one of which came before the other, and that are independent now. */
function lostOrder(pairs: readonly (readonly [PlacedExpectation, PlacedExpectation])[]): readonly string[] {
  return pairs.flatMap(([one, oneNow], at) =>
    pairs.slice(at + 1).flatMap(([other, otherNow]) => {
      if (one.layer === other.layer || oneNow.layer !== otherNow.layer) return []
      return [`the order of ${one.call.name} and ${other.call.name} is not asserted any more`]
    }),
  )
}

function key({ name, args }: ExpectedCall): string {
  if (args === '*') return `${name}(*)`
  return JSON.stringify([
    name,
    Object.keys(args)
      .sort()
      .map((one) => [one, args[one] ?? '']),
    Object.values(args).map((one) => one === undefined),
  ])
}

function callText({ name, args }: ExpectedCall): string {
  if (name === '*') return '*'
  if (args === '*') return `${name}(*)`
  const parts = Object.entries(args).map(([one, value]) =>
    value === undefined ? one : `${one}: ${JSON.stringify(value)}`,
  )
  return `${name}(${parts.join(', ')})`
}
