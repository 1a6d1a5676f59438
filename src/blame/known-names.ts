import { HarvestError, nearestWord, neutralLine, shellWord } from '../errors/index.ts'
import type { Json, Tape } from '../tape/index.ts'
import { argsByKey } from '../trace/args.ts'
import { traceOf } from '../trace/index.ts'
import type { Expectation, Key } from './expectation.ts'
import { offeredTools } from './offered-tools.ts'

/** Runs and values that say which names there are. */
export interface Names {
  /** The run, and a good one when the user named it. */
  readonly tapes: readonly Tape[]
  /** What a case says the agent returns. */
  readonly outcome?: Json
}

/**
 * Refuses an expectation that no run could meet, because it names a tool, an argument or a place that neither the run, nor
 * the tools its models were offered, nor a good run knows: most likely it is mistyped, and every fork would be graded alike.
 *
 * @returns warnings: values of another JSON type than any that was seen there
 * @throws HarvestError `HARVEST_ORACLE_EXPECTATION` with the nearest name
 */
export function requireKnownNames(expectations: readonly Expectation[], names: Names): readonly string[] {
  const tools = knownTools(names.tapes)
  const values = knownValues(names)
  return expectations.flatMap((one) => {
    switch (one.kind) {
      case 'call':
        return lookAtCall(one, tools)
      case 'rule':
        return lookAtRule(one, tools)
      case 'value':
        return lookAtValue(one, values)
    }
  })
}

/** Tools that a run called or its models were offered. */
export function toolNames(tape: Tape): readonly string[] {
  return [...knownTools([tape]).keys()]
}

/** Of each tool: its arguments with the values they were seen with; absent keys: its schema is not known. */
type KnownTools = ReadonlyMap<string, { readonly args: Map<string, Json[]>; isListed: boolean }>

function knownTools(tapes: readonly Tape[]): KnownTools {
  const known = new Map<string, { readonly args: Map<string, Json[]>; isListed: boolean }>()
  const toolOf = (name: string) => {
    const tool = known.get(name) ?? { args: new Map<string, Json[]>(), isListed: false }
    known.set(name, tool)
    return tool
  }
  for (const { events } of tapes) {
    for (const { name, keys } of offeredTools(events)) {
      const tool = toolOf(name)
      tool.isListed ||= keys !== undefined
      for (const key of keys ?? []) if (!tool.args.has(key)) tool.args.set(key, [])
    }
    for (const { name, args } of traceOf(events).layers.flat()) {
      const tool = toolOf(name)
      tool.isListed = true
      for (const [key, value] of Object.entries(argsByKey(args)))
        tool.args.set(key, [...(tool.args.get(key) ?? []), value])
    }
    for (const event of events) if (event.kind === 'tool') toolOf(event.name)
  }
  return known
}

function lookAtCall(one: Extract<Expectation, { readonly kind: 'call' }>, tools: KnownTools): readonly string[] {
  if (one.tool === '*') return []
  const tool = tools.get(one.tool)
  if (tool === undefined) throw unknown(one, 'tool', one.tool, [...tools.keys()])
  return Object.entries(one.args).flatMap(([key, value]) => {
    const seen = tool.args.get(key)
    if (seen === undefined && tool.isListed) throw unknown(one, 'argument', key, [...tool.args.keys()])
    return otherType(one, key, value, seen ?? [])
  })
}

/** A name with `*` in it may be of tools that were never called. */
function lookAtRule(one: Extract<Expectation, { readonly kind: 'rule' }>, tools: KnownTools): readonly string[] {
  const name = one.rule.tools.find((tool) => !tool.includes('*') && !tools.has(tool))
  if (name !== undefined) throw unknown(one, 'tool', name, [...tools.keys()])
  return []
}

function knownValues({ tapes, outcome }: Names): readonly Json[] {
  const returned = tapes.flatMap(({ close }) =>
    close?.outcome.status === 'returned' && close.outcome.value !== undefined ? [close.outcome.value] : [],
  )
  return outcome === undefined ? returned : [...returned, outcome]
}

function lookAtValue(
  one: Extract<Expectation, { readonly kind: 'value' }>,
  values: readonly Json[],
): readonly string[] {
  // A run that threw returned nothing one could know a place of.
  if (values.length === 0) return []
  let here: readonly Json[] = values
  for (const key of one.path) {
    const next = here.flatMap((value) => valueAt(value, key))
    if (next.length === 0) throw unknown(one, 'place', String(key), here.flatMap(keysIn))
    here = next
  }
  return otherType(one, one.path.join('.') || 'the value', one.value, here)
}

/** Of a list every item is like its first ones: which of them there is, another run may say otherwise. */
function valueAt(value: Json, key: Key): readonly Json[] {
  if (typeof value !== 'object' || value === null) return []
  if (Array.isArray(value)) return typeof key === 'number' ? (value as readonly Json[]) : []
  const found = Object.hasOwn(value, key) ? (value as { readonly [key: string]: Json })[key] : undefined
  return found === undefined ? [] : [found]
}

function keysIn(value: Json): readonly string[] {
  return typeof value === 'object' && value !== null && !Array.isArray(value) ? Object.keys(value) : []
}

function otherType({ option, text }: Expectation, at: string, value: Json | undefined, seen: readonly Json[]) {
  if (value === undefined || value === '*' || seen.length === 0) return []
  const types = [...new Set(seen.map(typeOf))]
  if (types.includes(typeOf(value))) return []
  const shown = neutralLine(JSON.stringify(seen[0]), 40)
  return [
    `${option} ${neutralLine(text, 80)}: ${neutralLine(at, 40)} is a ${typeOf(value)} there, and was a ${types.join(' or a ')} in the run (${shown})`,
  ]
}

function typeOf(value: Json): string {
  if (value === null) return 'null'
  return Array.isArray(value) ? 'list' : typeof value === 'object' ? 'map' : typeof value
}

function unknown({ option, text }: Expectation, what: string, name: string, known: readonly string[]): HarvestError {
  const names = [...new Set(known)]
  const near = nearestWord(name, names)
  const meant = near === undefined ? undefined : text.replace(name, near)
  return new HarvestError('HARVEST_ORACLE_EXPECTATION', {
    what: `No run could meet ${option} ${neutralLine(text, 80)}: unknown ${what} ${neutralLine(name, 40)}`,
    where: { at: option, [`${what}s known`]: names.length === 0 ? 'none' : neutralLine(names.join(', '), 160) },
    why: 'It is in no recorded call, offered tool or good run, so every run would get the same grade.',
    fix: [
      ...(meant === undefined ? [] : [`did you mean ${near}? ${option} ${shellWord(meant)}`]),
      what === 'tool'
        ? 'if the tool was never called, or only the fixed agent has it: --any-name'
        : 'if only the fixed agent has it: --any-name',
    ],
  })
}
