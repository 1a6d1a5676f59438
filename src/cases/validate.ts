import { isMap, isScalar, isSeq, type Node, type Pair, type ParsedNode, Scalar, type YAMLMap, type YAMLSeq } from 'yaml'
import type { Json } from '../tape/types.ts'
import { nearestWord } from '../errors/index.ts'
import { type CaseIssue, quoted } from './issues.ts'
import type { SchemaRule } from './schema.ts'

/**
 * Holds a YAML node against a rule of the schema and adds every mistake to the list, with the place it is at.
 *
 * @param path - where the node is, such as `match.tools`
 */
export function validate(
  node: Node | null,
  rule: SchemaRule,
  path: string,
  issues: CaseIssue[],
  offset = offsetOf(node),
): void {
  const arm = rule.anyOf === undefined ? rule : rule.anyOf.find((each) => hasType(node, each))
  if (arm === undefined || !hasType(node, arm)) {
    const arms = rule.anyOf ?? [rule]
    issues.push({
      code: 'HARVEST_CASE_TYPE',
      offset,
      path,
      expected: expectation(rule),
      found: describeNode(node),
      ...quotesHint(node, arms),
    })
    return
  }
  if (isMap(node)) validateMap(node, arm, path, issues)
  else if (isSeq(node)) validateList(node, arm, path, issues)
  else if (isScalar(node)) validateScalar(node, arm, path, issues, offset)
}

/** Refuses keys that are no plain text, that stand twice, or that reach into the objects of a program; at every depth. */
export function validateKeys(node: unknown, path: string, issues: CaseIssue[]): void {
  if (isSeq(node)) {
    node.items.forEach((item, index) => validateKeys(item, `${path}[${index}]`, issues))
    return
  }
  if (isScalar(node)) validateNumber(node, path, issues)
  if (!isMap(node)) return
  const seen = new Set<string>()
  for (const { key, value } of node.items as Pair<Node | null, Node | null>[]) {
    const at = { offset: offsetOf(key), path }
    const name = keyName(key)
    if (name === undefined) {
      issues.push({
        ...at,
        code: 'HARVEST_CASE_KEY_TYPE',
        expected: 'a text as key',
        found: describeNode(key),
        hint: 'put it in quotes',
      })
    } else if (name === '<<' && (key as Scalar).type === Scalar.PLAIN) {
      issues.push({
        ...at,
        code: 'HARVEST_CASE_MERGE_KEY',
        expected: 'plain data',
        found: 'the merge key <<',
        hint: 'write the entries out',
      })
    } else if (name === '__proto__' || name === 'constructor' || name === 'prototype') {
      issues.push({ ...at, code: 'HARVEST_CASE_FORBIDDEN_KEY', expected: 'any other key', found: quoted(name) })
    } else if (seen.has(name)) {
      issues.push({
        ...at,
        code: 'HARVEST_CASE_DUPLICATE_KEY',
        expected: 'each key once',
        found: `${quoted(name)} again`,
      })
    } else {
      seen.add(name)
    }
    validateKeys(value, join(path, name ?? '?'), issues)
  }
}

/** The data of a node that was validated. Maps have no prototype: their keys come from the file. */
export function toJson(node: unknown): Json {
  if (isSeq(node)) return Object.freeze(node.items.map(toJson))
  if (isMap(node)) {
    const map = Object.create(null) as Record<string, Json>
    for (const { key, value } of node.items as Pair<Node | null, Node | null>[]) map[keyName(key) ?? ''] = toJson(value)
    return Object.freeze(map)
  }
  return isScalar(node) ? (node.value as Json) : null
}

/** Where a node begins in the text. */
export function offsetOf(node: Node | null): number {
  return node?.range?.[0] ?? 0
}

/** The text of a key; `undefined` when it is a number, a map or nothing. */
export function keyName(key: unknown): string | undefined {
  return isScalar(key) && typeof key.value === 'string' ? key.value : undefined
}

/** The pair with this key. */
export function pairOf(map: YAMLMap, name: string): Pair<ParsedNode, ParsedNode | null> | undefined {
  return (map.items as Pair<ParsedNode, ParsedNode | null>[]).find(({ key }) => keyName(key) === name)
}

function validateMap(map: YAMLMap, rule: SchemaRule, path: string, issues: CaseIssue[]): void {
  const known = Object.keys(rule.properties ?? {})
  for (const { key, value } of map.items as Pair<Node | null, Node | null>[]) {
    const name = keyName(key)
    // `validateKeys` has reported it.
    if (name === undefined) continue
    const own = known.includes(name) ? rule.properties?.[name] : undefined
    const next = own ?? rule.additionalProperties
    if (next === false) issues.push(unknownKey(name, known, path, offsetOf(key)))
    else if (next !== undefined) validate(value, next, join(path, name), issues, value?.range?.[0] ?? offsetOf(key))
  }
  for (const name of rule.required ?? []) {
    if (map.items.some(({ key }) => keyName(key) === name)) continue
    issues.push({
      code: 'HARVEST_CASE_MISSING_KEY',
      offset: offsetOf(map),
      path,
      expected: `the key "${name}"${rule.properties?.[name] === undefined ? '' : `, ${expectation(rule.properties[name])}`}`,
      found:
        map.items.length === 0
          ? 'no keys'
          : `only ${map.items
              .slice(0, 12)
              .map(({ key }) => quoted(keyName(key) ?? '?'))
              .join(', ')}`,
    })
  }
}

function validateList(list: YAMLSeq, rule: SchemaRule, path: string, issues: CaseIssue[]): void {
  const { items } = list
  if (items.length < (rule.minItems ?? 0)) {
    const expected = `${expectation(rule)}, at least ${rule.minItems}`
    issues.push({ code: 'HARVEST_CASE_VALUE', offset: offsetOf(list), path, expected, found: 'an empty list' })
  }
  if (rule.items === undefined) return
  for (const [index, item] of items.entries()) validate(item as Node | null, rule.items, `${path}[${index}]`, issues)
}

function validateScalar({ value }: Scalar, rule: SchemaRule, path: string, issues: CaseIssue[], offset: number): void {
  const wrong = (found: string, hint?: string) =>
    issues.push({
      code: path === 'case' ? 'HARVEST_CASE_ID' : path === 'tape' ? 'HARVEST_CASE_TAPE_PATH' : 'HARVEST_CASE_VALUE',
      offset,
      path,
      expected: expectation(rule),
      found,
      ...(hint === undefined ? {} : { hint }),
    })
  if (typeof value === 'number' && rule.minimum !== undefined && value < rule.minimum) wrong(`${value}`)
  if (typeof value === 'number' && rule.maximum !== undefined && value > rule.maximum) wrong(`${value}`)
  if (typeof value !== 'string') return
  if (rule.enum !== undefined && !rule.enum.includes(value)) {
    const near = nearestWord(value, rule.enum)
    wrong(quoted(value), near === undefined ? undefined : `did you mean ${near}?`)
  } else if (rule.pattern !== undefined && !new RegExp(rule.pattern, 'u').test(value)) {
    wrong(quoted(value))
  } else if (rule.minLength !== undefined && value.length < rule.minLength) {
    wrong('an empty text')
  }
}

/** JSON has no infinities, and a long whole number loses its last digits: it would be compared as another one. */
function validateNumber({ value, source = '', range }: Scalar, path: string, issues: CaseIssue[]): void {
  if (typeof value !== 'number') return
  const digits = source.replace(/^\+/, '')
  if (Number.isFinite(value) && (Number.isSafeInteger(value) || !/^-?\d+$/.test(digits) || String(value) === digits))
    return
  issues.push({
    code: 'HARVEST_CASE_NUMBER',
    offset: range?.[0] ?? 0,
    path,
    expected: 'a number that JSON can hold',
    found: quoted(source).slice(1, -1),
    hint: `as a text it goes in quotes: ${quoted(source)}`,
  })
}

function unknownKey(name: string, known: readonly string[], path: string, offset: number): CaseIssue {
  const near = nearestWord(name, known)
  return {
    code: 'HARVEST_CASE_UNKNOWN_KEY',
    offset,
    path,
    expected: `one of ${known.join(', ')}`,
    found: `the key ${quoted(name)}`,
    ...(near === undefined ? {} : { hint: `did you mean ${near}?` }),
  }
}

function hasType(node: Node | null, { type }: SchemaRule): boolean {
  if (type === undefined) return true
  switch (type) {
    case 'object':
      return isMap(node)
    case 'array':
      return isSeq(node)
    case 'number':
      return isScalar(node) && Number.isFinite(node.value)
    case 'integer':
      return isScalar(node) && Number.isInteger(node.value)
    case 'string':
    case 'boolean':
      return isScalar(node) && typeof node.value === type
  }
}

function expectation(rule: SchemaRule): string {
  if (rule.anyOf !== undefined) return rule.anyOf.map(expectation).join(', or ')
  if (rule.enum !== undefined) return `one of ${rule.enum.join(', ')}`
  if (rule.patternErrorMessage !== undefined) return rule.patternErrorMessage
  const { type } = rule
  if (type === undefined) return 'anything'
  switch (type) {
    case 'object':
      return 'a map'
    case 'array':
      return rule.items === undefined ? 'a list' : `a list of ${plural(rule.items)}`
    case 'number':
      return `a number${rangeOf(rule)}`
    case 'integer':
      return `a whole number${rangeOf(rule)}`
    case 'boolean':
      return 'true or false'
    case 'string':
      return rule.minLength === undefined ? 'a text' : 'a text that is not empty'
  }
}

function plural({ type }: SchemaRule): string {
  return type === 'string' ? 'texts' : 'entries'
}

function describeNode(node: Node | null): string {
  if (isMap(node)) return 'a map'
  if (isSeq(node)) return 'a list'
  if (!isScalar(node) || node.value === null) return 'nothing'
  const { value } = node
  if (typeof value === 'string') return `the text ${quoted(value)}`
  return typeof value === 'number' ? `the number ${quoted(node.source ?? String(value)).slice(1, -1)}` : String(value)
}

/** A commit of digits, a tag called `true`, a rule `never refund(amount: $a)`: texts that YAML reads as something else. */
function quotesHint(node: Node | null, arms: readonly SchemaRule[]): { hint?: string } {
  if (!arms.some(({ type }) => type === 'string')) return {}
  if (isMap(node)) return { hint: `a text that holds a colon goes in quotes${asQuotedText(node)}` }
  const isOther = isScalar(node) && (typeof node.value === 'number' || typeof node.value === 'boolean')
  return isOther ? { hint: `as a text it goes in quotes: ${quoted(node.source ?? '')}` } : {}
}

function asQuotedText({ items }: YAMLMap): string {
  const [pair] = items
  if (items.length !== 1 || !isScalar(pair?.key) || !isScalar(pair.value)) return ''
  const text = `${pair.key.source ?? ''}: ${pair.value.source ?? ''}`
  return text.includes("'") ? '' : `: '${quoted(text).slice(1, -1)}'`
}

function join(path: string, name: string): string {
  return path === '' ? neutralName(name) : `${path}.${neutralName(name)}`
}

function neutralName(name: string): string {
  return quoted(name).slice(1, -1)
}

function rangeOf({ minimum, maximum }: SchemaRule): string {
  if (minimum === undefined) return ''
  return maximum === undefined ? `, at least ${minimum}` : ` from ${minimum} to ${maximum}`
}
