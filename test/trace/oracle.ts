/**
 * A second opinion on when a run equals its baseline: written from the documentation alone, with exhaustive search
 * where the code under test is clever. Shares no line with it.
 */
import type { Json } from '../../src/tape/types.ts'
import type { ExpectedCall, ExpectedTrace, MatchOptions, Trace, TraceCall } from '../../src/trace/index.ts'

export function shouldBeEqual(expected: ExpectedTrace, actual: Trace, options: MatchOptions): boolean {
  const wanted = expected.layers.flat()
  const made = actual.layers.flat()
  const ok = (e: ExpectedCall, a: TraceCall): boolean => standsFor(e, a, options)
  switch (options.trace ?? 'causal') {
    case 'causal':
      return (
        sameShape(expected, actual) &&
        expected.layers.every((layer, i) => canPlaceAll(layer, actual.layers[i] ?? [], ok))
      )
    case 'strict':
      return sameShape(expected, actual) && wanted.every((call, i) => ok(call, made[i] as TraceCall))
    case 'sequence': {
      const inTime = [...made].sort((a, b) => a.n - b.n)
      return wanted.length === inTime.length && wanted.every((call, i) => ok(call, inTime[i] as TraceCall))
    }
    case 'unordered':
      return wanted.length === made.length && canPlaceAll(wanted, made, ok)
    case 'superset':
      return canPlaceAll(wanted, made, ok)
    case 'subset':
      return canPlaceAll(made, wanted, (a, e) => ok(e, a))
  }
}

function sameShape(expected: ExpectedTrace, actual: Trace): boolean {
  return expected.layers.map((layer) => layer.length).join() === actual.layers.map((layer) => layer.length).join()
}

/** Whether every item of the left can have a place of its own on the right: tries all ways. */
function canPlaceAll<L, R>(left: readonly L[], right: readonly R[], ok: (l: L, r: R) => boolean): boolean {
  const [first, ...others] = left
  if (first === undefined) return true
  return right.some(
    (place, i) => ok(first, place) && canPlaceAll(others, [...right.slice(0, i), ...right.slice(i + 1)], ok),
  )
}

function standsFor(e: ExpectedCall, a: TraceCall, options: MatchOptions): boolean {
  if (e.args === '*') return e.name === '*' || e.name === a.name
  if (e.name !== a.name) return false
  const own = options.tools?.[a.name]
  const plain = Array.isArray(a.args) ? Object.fromEntries(a.args.map((v: Json, i) => [`$${i + 1}`, v])) : a.args
  const given = new Map(Object.entries(plain as object)) as Map<string, Json>
  const wanted = new Map(Object.entries(e.args)) as Map<string, Json | undefined>
  if (typeof own === 'function') {
    return own(
      Object.fromEntries([...wanted].map(([k, v]) => [k, v ?? (v === null ? null : '*')])),
      Object.fromEntries(given),
    )
  }
  const args = own === undefined ? undefined : typeof own === 'string' ? own : own.args
  const mode = typeof args === 'string' ? args : (options.args ?? 'keys')
  if (Array.isArray(args)) {
    for (const key of [...given.keys()]) if (!args.includes(key)) given.delete(key)
    for (const key of [...wanted.keys()]) if (!args.includes(key)) wanted.delete(key)
  }
  if (mode === 'ignore') return true
  const all = new Set([...given.keys(), ...wanted.keys()])
  for (const key of all) {
    if (!wanted.has(key)) {
      // An argument nobody expected.
      if (mode !== 'superset') return false
    } else if (!given.has(key)) {
      // An expected argument that is not there.
      if (mode !== 'subset') return false
    } else if (wanted.get(key) !== undefined && text(wanted.get(key) as Json) !== text(given.get(key) as Json))
      return false
  }
  return true
}

/** A spelling of JSON in which equal values are equal texts. */
function text(value: Json): string {
  if (Array.isArray(value)) return `[${value.map((item: Json) => text(item)).join()}]`
  if (typeof value !== 'object' || value === null) return JSON.stringify(value)
  const entries = Object.entries(value as { [key: string]: Json }).map(([k, v]) => `${JSON.stringify(k)}=${text(v)}`)
  return `{${entries.sort().join()}}`
}
