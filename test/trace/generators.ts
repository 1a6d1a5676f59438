import fc from 'fast-check'
import type { Json } from '../../src/tape/types.ts'
import {
  type ArgsMode,
  type ArgsRule,
  argsModes,
  type ExpectedCall,
  type ExpectedTrace,
  type MatchOptions,
  type Trace,
  type TraceMode,
} from '../../src/trace/index.ts'

/** A call without its number: numbers are given when a trace is made of it. */
export interface Call {
  readonly name: string
  readonly args: { readonly [key: string]: Json }
}
export type Layers = readonly (readonly Call[])[]

export function traceFrom(layers: Layers): Trace {
  let n = 0
  return {
    layers: layers.filter((layer) => layer.length > 0).map((layer) => layer.map((call) => ({ ...call, n: ++n }))),
  }
}

const names = ['search', 'lookup', 'refund'] as const
const keys = ['a', 'b', 'c'] as const
const value: fc.Arbitrary<Json> = fc.constantFrom<Json>(1, 2, 'x', null, { k: 1 }, [1])

export const call: fc.Arbitrary<Call> = fc.record({
  name: fc.constantFrom(...names),
  args: fc
    .uniqueArray(fc.tuple(fc.constantFrom(...keys), value), { maxLength: 3, selector: ([key]) => key })
    .map((entries) => Object.fromEntries(entries)),
})

/** Up to seven calls in up to four layers: the oracle tries all pairings. */
export const layers: fc.Arbitrary<Layers> = fc
  .array(fc.array(call, { minLength: 1, maxLength: 3 }), { minLength: 1, maxLength: 4 })
  .map((all) => {
    let room = 7
    return all
      .map((layer) => layer.slice(0, Math.max(0, (room -= layer.length) + layer.length)))
      .filter((layer) => layer.length > 0)
  })

/** How one expected call is spelled. */
type Spelling = 'any call' | 'any arguments' | 'keys' | 'values' | 'mixed'

export function spell({ name, args }: Call, how: Spelling): ExpectedCall {
  switch (how) {
    case 'any call':
      return { name: '*', args: '*' }
    case 'any arguments':
      return { name, args: '*' }
    case 'keys':
      return { name, args: Object.fromEntries(Object.keys(args).map((key) => [key, undefined])) }
    case 'values':
      return { name, args }
    case 'mixed':
      return {
        name,
        args: Object.fromEntries(Object.entries(args).map(([key, given], i) => [key, i % 2 === 0 ? given : undefined])),
      }
  }
}

/** Mostly one way throughout, as baselines are written; sometimes call by call. */
export const spellings: fc.Arbitrary<readonly Spelling[]> = fc.oneof(
  { weight: 4, arbitrary: fc.constantFrom<Spelling>('keys', 'values').map((how) => [how]) },
  {
    weight: 3,
    arbitrary: fc.array(
      fc.constantFrom<Spelling>('keys', 'keys', 'values', 'values', 'mixed', 'any arguments', 'any call'),
      { minLength: 1, maxLength: 7 },
    ),
  },
)

export function expectedFrom(all: Layers, how: readonly Spelling[]): ExpectedTrace {
  let i = 0
  return { layers: all.map((layer) => layer.map((one) => spell(one, how[i++ % how.length] ?? 'keys'))) }
}

const sameA = (expected: Json, actual: Json): boolean =>
  JSON.stringify((expected as { a?: Json }).a) === JSON.stringify((actual as { a?: Json }).a)
const rule: fc.Arbitrary<ArgsRule> = fc.oneof(
  fc.constantFrom<ArgsRule>(...argsModes),
  fc.constantFrom<ArgsMode>(...argsModes).map((args) => ({ args })),
  fc.subarray([...keys]).map((args) => ({ args })),
  fc.constantFrom<ArgsRule>(
    sameA,
    () => true,
    () => false,
  ),
)

export function options(trace: TraceMode): fc.Arbitrary<MatchOptions & { readonly args: ArgsMode }> {
  const tools = fc.oneof(
    { weight: 2, arbitrary: fc.constant({}) },
    { weight: 1, arbitrary: fc.dictionary(fc.constantFrom(...names), rule, { maxKeys: 2 }) },
  )
  return fc.record({ trace: fc.constant(trace), args: fc.constantFrom(...argsModes), tools })
}

/** A change of a run: where and how, as numbers that are read modulo what is there. */
export interface Edit {
  readonly kind: (typeof edits)[number]
  readonly where: number
  readonly which: number
  readonly call: Call
}
const edits = [
  'permute layers',
  'permute all',
  'drop',
  'add',
  'move later',
  'swap layers',
  'split layer',
  'merge layers',
  'rename',
  'add key',
  'remove key',
  'change value',
  'repeat',
] as const
export const edit: fc.Arbitrary<Edit> = fc.record({
  kind: fc.constantFrom(...edits),
  where: fc.nat(20),
  which: fc.nat(20),
  call,
})

/** The layers of a run after an edit; some edits are benign in some modes, the oracle knows. */
export function apply(all: Layers, { kind, where, which, call: other }: Edit): Layers {
  const copy = all.map((layer) => [...layer])
  const at = where % Math.max(1, copy.length)
  const layer = copy[at]
  if (layer === undefined) return kind === 'add' ? [[other]] : copy
  const index = which % layer.length
  const chosen = layer[index] as Call
  const change = (args: { readonly [key: string]: Json }, name = chosen.name): Layers => {
    layer[index] = { name, args }
    return copy
  }
  const next = copy[at + 1]
  switch (kind) {
    case 'permute layers':
      return copy.map((one) => rotate(one, which))
    case 'permute all':
      return reshape(rotate(copy.flat().reverse(), which), copy)
    case 'drop':
      layer.splice(index, 1)
      break
    case 'add':
      layer.splice(index, 0, other)
      break
    case 'repeat':
      copy.splice(at, 0, [chosen])
      break
    case 'move later':
      layer.splice(index, 1)
      if (next === undefined) copy.push([chosen])
      else next.push(chosen)
      break
    case 'swap layers':
      if (next !== undefined) copy.splice(at, 2, next, layer)
      break
    case 'split layer':
      copy.splice(at, 1, layer.slice(0, index), layer.slice(index))
      break
    case 'merge layers':
      if (next !== undefined) copy.splice(at, 2, [...layer, ...next])
      break
    case 'rename':
      return change(chosen.args, other.name)
    case 'add key':
      return change({ ...chosen.args, ...other.args })
    case 'remove key':
      return change(Object.fromEntries(Object.entries(chosen.args).slice(1)))
    case 'change value':
      return change(
        Object.fromEntries(Object.keys(chosen.args).map((key, i) => [key, Object.values(other.args)[i] ?? 'changed'])),
      )
  }
  return copy.filter((one) => one.length > 0)
}

function rotate<T>(items: readonly T[], by: number): T[] {
  const cut = by % Math.max(1, items.length)
  return [...items.slice(cut), ...items.slice(0, cut)]
}

function reshape(calls: readonly Call[], like: Layers): Layers {
  let from = 0
  return like.map((layer) => calls.slice(from, (from += layer.length)))
}
