import { isMap } from '../json/canonical.ts'
import { inOneSpelling } from '../providers/index.ts'
import type { Json } from '../tape/index.ts'

export interface RequestDifference {
  /** Such as `messages[2].content`; empty for the whole. */
  readonly path: string
  readonly recorded: string
  readonly live: string
}

/** The first place two JSON values differ, reading order; `undefined` when they are equal. */
export function firstDifference(
  recorded: Json | undefined,
  live: Json | undefined,
  path = '',
): RequestDifference | undefined {
  if (recorded === live) return undefined
  if (Array.isArray(recorded) && Array.isArray(live)) {
    for (let i = 0; i < Math.max(recorded.length, live.length); i++) {
      const found = firstDifference(recorded[i] as Json | undefined, live[i] as Json | undefined, `${path}[${i}]`)
      if (found) return found
    }
    return undefined
  }
  if (isMap(recorded) && isMap(live)) {
    const [before, now] = [classOf(recorded), classOf(live)]
    if (before !== now) return { path, recorded: kindOf(before), live: kindOf(now) }
    for (const key of new Set([...Object.keys(recorded), ...Object.keys(live)])) {
      const found = firstDifference(own(recorded, key), own(live, key), pathOf(path, key, recorded))
      if (found) return found
    }
    return undefined
  }
  return { path, ...excerpts(...shownValues(recorded, live)) }
}

/** The class of what was no plain object, as a tape names it. */
function classOf({ $type, class: name }: { readonly [key: string]: Json }): string | undefined {
  return $type === 'instance' && typeof name === 'string' ? name : undefined
}

function kindOf(name: string | undefined): string {
  return name === undefined ? 'a plain object' : `an instance of ${name}`
}

/** Of a value too deep for one line of a tape: itself, and what lies deeper. */
function pathOf(path: string, key: string, map: { readonly [key: string]: Json }): string {
  if (map['$type'] === 'deep' && key === 'value') return path
  const name = map['$type'] === 'deep' && key === 'rest' ? 'deeper' : key
  return path ? `${path}.${name}` : name
}

/** The first difference of two bodies: by field when both are JSON, by character otherwise. */
export function bodyDifference(recorded: string, live: string): RequestDifference | undefined {
  const [before, now] = [parse(recorded), parse(live)]
  const byField = before !== undefined && now !== undefined ? firstDifference(before, now) : undefined
  // Equal values, different texts: spelling, or more digits than a number holds.
  if (byField) return byField
  return recorded === live ? undefined : { path: '', ...excerpts(shownBody(recorded), shownBody(live)) }
}

/** Of a list that is shorter now: how many of its items are missing, and which, as far as the others are the recorded ones. */
export function missingIn(recorded: string, live: string, path: string): string | undefined {
  const name = /^[^.[]*/.exec(path)![0]
  const [before, now] = [recorded, live].map((text) => {
    const body = parse(text)
    return isMap(body) && name !== '' ? own(body, name) : body
  })
  if (!Array.isArray(before) || !Array.isArray(now) || now.length >= before.length) return undefined
  let kept = 0
  const gone = before.flatMap((item, at) => {
    if (kept === now.length || firstDifference(item as Json, now[kept] as Json)) return [`[${at}]`]
    kept++
    return []
  })
  const which = kept === now.length ? `: ${gone.slice(0, 5).join(', ')}${gone.length > 5 ? ', …' : ''}` : ''
  return `${before.length - now.length} of ${before.length} ${name || 'items'}${which}`
}

/** Without the mark of bytes that are no text, which is for us alone. */
function shownBody(text: string): string {
  return text.replace(/^\ud800(?=base64:)/, '')
}

/** Share of characters two texts have in common at their ends and beginnings: cheap, good enough to rank. */
export function closeness(a: string, b: string): number {
  const longest = Math.max(a.length, b.length)
  if (longest === 0) return 1
  const shortest = Math.min(a.length, b.length)
  let head = 0
  while (head < shortest && a.charCodeAt(head) === b.charCodeAt(head)) head++
  let tail = 0
  while (tail < shortest - head && a.charCodeAt(a.length - 1 - tail) === b.charCodeAt(b.length - 1 - tail)) tail++
  return (head + tail) / longest
}

/** Share of word pairs two texts have in common (Sørensen–Dice). */
export function likeness(a: string, b: string): number {
  if (a === b) return 1
  const [left, right] = [pairs(a), pairs(b)]
  if (left.size === 0 || right.size === 0) return 0
  let common = 0
  for (const pair of left) if (right.has(pair)) common++
  return (2 * common) / (left.size + right.size)
}

function pairs(text: string): Set<string> {
  const words = text.toLowerCase().match(/[\p{L}\p{N}]+/gu) ?? []
  return new Set(words.map((word, i) => `${word} ${words[i + 1] ?? ''}`))
}

export function parse(text: string): Json | undefined {
  try {
    return JSON.parse(text) as Json
  } catch {
    // Not JSON: the caller compares the text itself.
    return undefined
  }
}

/** The value of a request body in one spelling, where its address says that two of them are the same. */
export function parseRequest(text: string, url: string): Json | undefined {
  return spelled(parse(text), url)
}

/** A value that was read from a request, in that spelling. */
export function spelled(value: Json | undefined, url: string): Json | undefined {
  return isMap(value) ? inOneSpelling(url, value) : value
}

/** A member that the value itself has: names of members come from whoever sent it. */
export function own(map: { readonly [key: string]: Json }, key: string): Json | undefined {
  return Object.hasOwn(map, key) ? map[key] : undefined
}

/**
 * Two different values as texts that differ and are not blank: text as it is, everything else as JSON. Text is quoted where
 * it is blank, or where the other value is no text and it could be taken for that: `null`, `5`, `(absent)`.
 */
export function shownValues(one: Json | undefined, other: Json | undefined): readonly [one: string, other: string] {
  return [shown(one, typeof other !== 'string'), shown(other, typeof one !== 'string')]
}

function shown(value: Json | undefined, isMixed: boolean): string {
  if (value === undefined) return '(absent)'
  if (typeof value !== 'string') return JSON.stringify(value)
  const isDoubtful = value.trim() === '' || (isMixed && (value === '(absent)' || parse(value) !== undefined))
  return isDoubtful ? JSON.stringify(value) : value
}

const excerptLength = 160

/** Long texts are cut to the neighbourhood of their first difference. */
function excerpts(recorded: string, live: string): { readonly recorded: string; readonly live: string } {
  let at = 0
  while (at < Math.min(recorded.length, live.length) && recorded[at] === live[at]) at++
  const from = Math.max(0, at - 40)
  const cut = (text: string): string => {
    const end = from + excerptLength
    return `${from > 0 ? '…' : ''}${text.slice(from, end)}${text.length > end ? '…' : ''}`
  }
  return recorded.length <= excerptLength && live.length <= excerptLength
    ? { recorded, live }
    : { recorded: cut(recorded), live: cut(live) }
}
