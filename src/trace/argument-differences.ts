import { isList, isMap } from '../json/canonical.ts'
import { sameJson } from '../json/same.ts'
import type { Json } from '../tape/types.ts'
import { argsByKey } from './args.ts'
import { counted, type ArgsMatcher } from './matcher.ts'
import type { ExpectedCall, TraceCall } from './types.ts'

/** Lines about one call. */
const maxLines = 6
/** Characters of a value shown. */
const maxLength = 60

/** How a call's arguments differ from the expected ones, key by key: `+` new, `-` gone, `~` changed. */
export function describeArguments(expected: ExpectedCall, actual: TraceCall, matcher: ArgsMatcher): readonly string[] {
  const rule = matcher.ruleFor(actual.name)
  const args = expected.args === '*' ? {} : expected.args
  const given = argsByKey(actual.args)
  const lines: string[] = []
  for (const key of [...counted(Object.keys(args), rule)].sort()) {
    const wanted = args[key]
    if (!Object.hasOwn(given, key)) {
      if (rule.mode !== 'subset') lines.push(`- ${key}`)
    } else if (wanted !== undefined) lines.push(...changes(key, wanted, given[key] ?? null))
  }
  for (const key of [...counted(Object.keys(given), rule)].sort()) {
    if (!Object.hasOwn(args, key) && rule.mode !== 'superset') lines.push(`+ ${key}: ${excerpt(given[key] ?? null)}`)
  }
  if (rule.mode === 'custom') lines.unshift(`refused by the function for '${actual.name}'`)
  if (lines.length <= maxLines) return lines
  return [...lines.slice(0, maxLines), `… ${lines.length - maxLines} more`]
}

/** Where two values part, as paths. */
function changes(path: string, wanted: Json, given: Json): readonly string[] {
  if (sameJson(wanted, given)) return []
  if (isMap(wanted) && isMap(given)) {
    const keys = [...new Set([...Object.keys(wanted), ...Object.keys(given)])].sort()
    return keys.flatMap((key) => {
      const place = `${path}.${key}`
      if (!Object.hasOwn(given, key)) return [`- ${place}`]
      if (!Object.hasOwn(wanted, key)) return [`+ ${place}: ${excerpt(given[key] ?? null)}`]
      return changes(place, wanted[key] ?? null, given[key] ?? null)
    })
  }
  if (isList(wanted) && isList(given) && wanted.length === given.length) {
    return wanted.flatMap((value, index) => changes(`${path}[${index}]`, value, given[index] ?? null))
  }
  const from = typeof wanted === 'string' && typeof given === 'string' ? parting(wanted, given) : 0
  return [`~ ${path}: ${excerpt(wanted, from)} → ${excerpt(given, from)}`]
}

/** Where to begin showing two long texts, so that what differs is seen. */
function parting(a: string, b: string): number {
  if (a.length <= maxLength && b.length <= maxLength) return 0
  let same = 0
  while (same < a.length && a[same] === b[same]) same++
  return same > 20 ? same - 12 : 0
}

function excerpt(value: Json, from = 0): string {
  const text = JSON.stringify(typeof value === 'string' && from > 0 ? `…${value.slice(from)}` : value)
  return text.length > maxLength ? `${text.slice(0, maxLength - 1)}…` : text
}
