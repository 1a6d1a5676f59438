import { type JsonMap } from '../json/canonical.ts'
import { sameJson } from '../json/same.ts'
import { HarvestError } from '../errors/index.ts'
import { canonicalJson } from '../providers/index.ts'
import type { Json } from '../tape/types.ts'
import { argsByKey } from './args.ts'
import {
  type ArgsMode,
  type ArgsRule,
  argsModes,
  type ExpectedCall,
  type MatchOptions,
  type TraceCall,
  type TraceMode,
  traceModes,
} from './types.ts'

/** Match options, checked and ready to use. */
export interface ArgsMatcher {
  readonly mode: TraceMode
  /** Whether an expected call stands for this one. */
  accepts(expected: ExpectedCall, actual: TraceCall): boolean
  /** How arguments of a tool are compared. */
  ruleFor(name: string): CompiledArgsRule
}

/** How one tool's arguments are compared. */
export type CompiledArgsRule =
  | { readonly mode: ArgsMode; readonly keys?: ReadonlySet<string> }
  | { readonly mode: 'custom'; readonly test: (expected: Json, actual: Json) => boolean }

/**
 * Checks match options once, where they come in.
 *
 * @throws HarvestError `HARVEST_MATCH_MODE` for a mode there is not
 */
export function createMatcher(options: MatchOptions): ArgsMatcher {
  const mode = knownMode('trace', options.trace ?? 'causal', traceModes)
  const base: CompiledArgsRule = { mode: knownMode('args', options.args ?? 'keys', argsModes) }
  const rules = new Map(Object.entries(options.tools ?? {}).map(([name, rule]) => [name, ruleOf(name, rule, base)]))
  const ruleFor = (name: string): CompiledArgsRule => rules.get(name) ?? base
  return { mode, ruleFor, accepts: (expected, actual) => accepts(expected, actual, ruleFor(actual.name)) }
}

function ruleOf(name: string, rule: ArgsRule, base: { readonly mode: ArgsMode }): CompiledArgsRule {
  if (typeof rule === 'function') return { mode: 'custom', test: rule }
  const args: unknown = typeof rule === 'string' ? rule : (rule as { args?: unknown } | null)?.args
  if (typeof args === 'string') return { mode: knownMode(`tools.${name}.args`, args, argsModes) }
  if (isKeyList(args)) return { mode: base.mode, keys: new Set(args) }
  throw new HarvestError('HARVEST_MATCH_MODE', {
    what: `Invalid argument rule for tool '${name}'`,
    where: { option: `match.tools.${name}`, found: JSON.stringify(rule) ?? 'nothing', known: argsModes.join(', ') },
    fix: ['name a mode:   { args: exact }', 'or the keys that count:   { args: [query] }'],
  })
}

function isKeyList(args: unknown): args is readonly string[] {
  return Array.isArray(args) && args.every((key) => typeof key === 'string')
}

function knownMode<T extends string>(option: string, mode: string, modes: readonly T[]): T {
  const known = modes.find((candidate) => candidate === mode)
  if (known !== undefined) return known
  throw new HarvestError('HARVEST_MATCH_MODE', {
    what: `Unknown match mode '${mode}'`,
    where: { option: `match.${option}`, known: modes.join(', ') },
    fix: [`write one of: ${modes.join(', ')}`],
  })
}

/** `*` in the place of a call: any one call. */
export function isAnyCall({ name, args }: ExpectedCall): boolean {
  return name === '*' && args === '*'
}

function accepts(expected: ExpectedCall, actual: TraceCall, rule: CompiledArgsRule): boolean {
  if (isAnyCall(expected)) return true
  if (expected.name !== actual.name) return false
  if (expected.args === '*' || rule.mode === 'ignore') return true
  const found = argsByKey(actual.args)
  if (rule.mode === 'custom') return rule.test(spelledOut(expected.args), found)
  const wanted = counted(Object.keys(expected.args), rule)
  const given = counted(Object.keys(found), rule)
  const agrees = (key: string): boolean => {
    const value = expected.args === '*' ? undefined : expected.args[key]
    return Object.hasOwn(found, key) && (value === undefined || sameJson(value, found[key] as Json))
  }
  const has = (key: string): boolean => expected.args !== '*' && Object.hasOwn(expected.args, key)
  switch (rule.mode) {
    // They differ in what a baseline spells out: values under `exact`, keys under `keys`. What is spelled out counts.
    case 'keys':
    case 'exact':
      return wanted.length === given.length && wanted.every(agrees)
    case 'subset':
      return given.every((key) => has(key) && agrees(key))
    case 'superset':
      return wanted.every(agrees)
  }
}

/** The keys that count under a rule. */
export function counted(keys: readonly string[], rule: CompiledArgsRule): readonly string[] {
  if (rule.mode === 'custom' || rule.keys === undefined) return keys
  const { keys: counting } = rule
  return keys.filter((key) => counting.has(key))
}

/** Expected arguments as data for a function of the user's: `*` where only the key counts. */
function spelledOut(args: { readonly [key: string]: Json | undefined }): JsonMap {
  return Object.fromEntries(Object.entries(args).map(([key, value]) => [key, value === undefined ? '*' : value]))
}

/**
 * A text two calls share only if they are the same to the rules: name, keys that count, and values when asked for.
 * `undefined` when the expected call is a wildcard.
 */
export function signature(
  call: ExpectedCall | TraceCall,
  matcher: ArgsMatcher,
  withValues: boolean,
): string | undefined {
  const rule = matcher.ruleFor(call.name)
  if (call.args === '*' && !('n' in call)) return undefined
  if (rule.mode === 'ignore') return `${call.name} `
  const args = 'n' in call ? argsByKey(call.args) : (call.args as { readonly [key: string]: Json | undefined })
  const members = [...counted(Object.keys(args), rule)].sort().map((key) => {
    const value = withValues ? args[key] : undefined
    return value === undefined ? JSON.stringify(key) : `${JSON.stringify(key)}:${canonicalJson(value)}`
  })
  return `${call.name} ${members.join(',')}`
}
