// Over 300 lines: a name, an argument, a place and a value are looked up alike, for conditions and for decisions.
import { HarvestError, nearestWord, neutralLine, shellWord } from '../errors/index.ts'
import { ofType, typeOf } from '../json/value-types.ts'
import type { Json, Tape } from '../tape/index.ts'
import type { ToolCall } from '../providers/index.ts'
import { atomsOf } from '../rules/index.ts'
import { asValue } from '../trace/index.ts'
import { type Expectation, type Key, parseExpectation } from './expectation.ts'
import { type KnownTool, type KnownTools, knownTools, takesOtherArgs } from './known-tools.ts'

/** Runs and values that say which names there are. */
export interface Names {
  /** The run, and a good one when the user named it. */
  readonly tapes: readonly Tape[]
  /** What a case says the agent returns. */
  readonly outcome?: Json
}

/**
 * Refuses an expectation that no run could meet, because it names a tool, an argument or a place that neither the run, nor
 * the tools its models were offered, nor a good run knows, or has a value that is written in another type there: most
 * likely it is mistyped, and every fork would be graded alike.
 *
 * @returns warnings: other values of another JSON type than any that was seen there, and arguments that no call had, of tools
 *   whose schema allows any
 * @throws HarvestError `HARVEST_ORACLE_EXPECTATION` with what was meant
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

/** What no run is known to have: an unknown name, or a value of another type than was seen. No condition on it was ever met. */
export function neverSeen(expectations: readonly Expectation[], names: Names): readonly string[] {
  return expectations.flatMap((one) => {
    try {
      return requireKnownNames([one], names)
    } catch (error) {
      if (HarvestError.is(error, 'HARVEST_ORACLE_EXPECTATION')) return [error.facts.what]
      throw error
    }
  })
}

/**
 * Refuses a decision for a call that no model could decide: its tool was neither called nor offered in the run, or takes no
 * such argument. Most likely it is mistyped, and the agent would fail on it.
 *
 * @param text - as it was typed
 * @returns notes: arguments that no recorded call of the tool had, where its schema does not refuse them
 * @throws HarvestError `HARVEST_FORK_DECIDE` with the nearest name
 */
export function requireKnownCall(
  { name, args }: Pick<ToolCall, 'args' | 'name'>,
  text: string,
  tape: Tape,
): readonly string[] {
  const tools = knownTools([tape])
  const tool = tools.get(name)
  if (tool === undefined) throw undecidable('tool', name, [...tools.keys()], text)
  const known = [...tool.args.keys()]
  return Object.keys(args ?? {}).flatMap((key) => {
    if (tool.args.has(key)) return []
    if (takesOtherArgs(tool) === false || nearestWord(key, known) !== undefined)
      throw undecidable('argument', key, known, text)
    return unseenArgument(name, key, known)
  })
}

/** A call need not name all arguments there are, and of a tool without any that is known there is nothing to compare with. */
function unseenArgument(tool: string, key: string, known: readonly string[]): readonly string[] {
  if (known.length === 0) return []
  const names = neutralLine(known.join(', '), 160)
  return [`no recorded call of ${neutralLine(tool, 40)} has the argument ${neutralLine(key, 40)}; known are ${names}`]
}

function didYouMean(near: string, name: string, text: string): string {
  return `did you mean ${near}? --decide ${shellWord(text.replace(name, () => near))} instead of ${shellWord(text)}`
}

function undecidable(what: 'argument' | 'tool', name: string, known: readonly string[], text: string): HarvestError {
  const near = nearestWord(name, known)
  return new HarvestError('HARVEST_FORK_DECIDE', {
    what: `No model could decide ${neutralLine(text, 80)}: unknown ${what} ${neutralLine(name, 40)}`,
    where: { [`${what}s known`]: known.length === 0 ? 'none' : neutralLine(known.join(', '), 160) },
    why: `Its models were not offered it${what === 'tool' ? ', and the run did not call it' : ''}, so the agent would fail on it.`,
    fix: [
      ...(near === undefined ? [] : [didYouMean(near, name, text)]),
      `if the agent knows such ${what === 'tool' ? 'a tool' : 'an argument'} all the same: --any-name`,
    ],
  })
}

/** Tools that a run called or its models were offered. */
export function toolNames(tape: Tape): readonly string[] {
  return [...knownTools([tape]).keys()]
}

/** What is to be said of an argument that is not known, of a tool whose arguments are known. */
function lookAtArgument(
  one: Expectation,
  { name, tool }: { readonly name: string; readonly tool: KnownTool },
  key: string,
): readonly string[] {
  const known = [...tool.args.keys()]
  if (tool.args.has(key)) return []
  const takesOthers = takesOtherArgs(tool) ?? !tool.isCalled
  if (!takesOthers || nearestWord(key, known) !== undefined) throw unknown(one, 'argument', key, known)
  return unseenArgument(name, key, known).map((text) => `${one.option} ${neutralLine(one.text, 80)}: ${text}`)
}

function lookAtCall(one: Extract<Expectation, { readonly kind: 'call' }>, tools: KnownTools): readonly string[] {
  if (one.tool === '*') return []
  const tool = tools.get(one.tool)
  if (tool === undefined) throw unknown(one, 'tool', one.tool, [...tools.keys()])
  return Object.entries(one.args).flatMap(([key, value]) => {
    const seen = tool.args.get(key) ?? []
    return [
      ...lookAtArgument(one, { name: one.tool, tool }, key),
      ...otherType(one, key, value, seen, (other) => (other.kind === 'call' ? other.args[key] : undefined)),
    ]
  })
}

/**
 * Each call that a rule speaks of, wherever it stands in it. A name with `*` in it may be of tools that were never called; in
 * what types a value is written is the same to a rule.
 */
function lookAtRule(one: Extract<Expectation, { readonly kind: 'rule' }>, tools: KnownTools): readonly string[] {
  return atomsOf(one.rule.expression).flatMap((atom) => {
    if (!('conditions' in atom) || atom.kind === 'mark' || atom.name.includes('*')) return []
    const { name } = atom
    const tool = tools.get(name)
    if (tool === undefined) throw unknown(one, 'tool', name, [...tools.keys()])
    return atom.conditions.flatMap(({ path: [key = '', ...below] }) => {
      const warnings = lookAtArgument(one, { name, tool }, key)
      below.reduce<readonly Json[]>((here, part) => valuesBelow(one, here, part), tool.args.get(key) ?? [])
      return warnings
    })
  })
}

/** Which values of a list there are, another run may say otherwise. */
function valuesBelow(one: Expectation, here: readonly Json[], part: string): readonly Json[] {
  const next = here.flatMap((value) => valueAt(value, part))
  const isOfList = here.some((value) => typeOf(value) === 'list')
  if (here.length > 0 && next.length === 0 && !isOfList) throw unknown(one, 'argument', part, here.flatMap(keysIn))
  return next
}

/** What was seen where an expectation asks for something: `amount there: 2500`; absent: nothing was. */
export function valuesSeen(one: Expectation, names: Names): string | undefined {
  const said = (at: string, seen: readonly Json[]): readonly string[] => {
    const texts = [...new Set(seen.map((value) => neutralLine(JSON.stringify(value), 40)))].slice(0, mostValues)
    return texts.length === 0 ? [] : [`${at}: ${texts.join(', ')}`]
  }
  if (one.kind === 'rule') return undefined
  if (one.kind === 'value') {
    const here = (all: readonly Json[], key: Key): readonly Json[] => all.flatMap((value) => valueAt(value, key))
    const seen = one.path.reduce(here, knownValues(names))
    return said('there', seen)[0]
  }
  const tool = knownTools(names.tapes).get(one.tool)
  const parts = Object.keys(one.args).flatMap((key) => said(`${neutralLine(key, 40)} there`, tool?.args.get(key) ?? []))
  return parts.length === 0 ? undefined : parts.join('; ')
}

/** So many values are shown of a place. */
const mostValues = 3

function knownValues({ tapes, outcome }: Names): readonly Json[] {
  const returned = tapes.flatMap(({ close }) =>
    close?.outcome.status === 'returned' && close.outcome.value !== undefined ? [close.outcome.value] : [],
  )
  return outcome === undefined ? returned : [...returned, asValue(outcome)]
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
  const valueOf = (other: Expectation): Json | undefined => (other.kind === 'value' ? other.value : undefined)
  return otherType(one, one.path.join('.') || 'the value', one.value, here, valueOf)
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

function otherType(
  { option, text }: Expectation,
  at: string,
  value: Json | undefined,
  seen: readonly Json[],
  valueIn: (other: Expectation) => Json | undefined,
): readonly string[] {
  if (value === undefined || value === '*' || seen.length === 0) return []
  const types = [...new Set(seen.map(typeOf))]
  if (types.includes(typeOf(value))) return []
  const shown = neutralLine(JSON.stringify(seen[0]), 40)
  const said = `${option} ${neutralLine(text, 80)}: ${neutralLine(at, 40)} is a ${typeOf(value)} there, and was a ${types.join(' or a ')} in the run (${shown})`
  const meant = isInProse(value, seen)
    ? asPattern(text, value)
    : ofType(value, types).flatMap((one) =>
        respelled(text, value, one, (other) => valueIn(parseExpectation(other, option))),
      )[0]
  if (meant === undefined) return [said]
  throw new HarvestError('HARVEST_ORACLE_EXPECTATION', {
    what: `No run could meet ${said}`,
    why: 'Only a value of the same type is equal, so every run would get the same grade.',
    fix: [
      `did you mean ${neutralLine(meant, 80)}? ${option} ${shellWord(meant)}`,
      'if a right run has the other type: --any-name',
    ],
  })
}

/** A number where texts of several words were seen: no run would return it alone, with or without quotes. */
function isInProse(value: Json, seen: readonly Json[]): boolean {
  return ofType(value, ['string']).length > 0 && seen.every((one) => typeof one === 'string' && /\s/.test(one))
}

/** `answer=25` as `answer~\b25\b`; only what is returned can be asked for by a pattern. */
function asPattern(text: string, value: Json): string | undefined {
  const [, path] = /^([^=~(]+)=/s.exec(text) ?? []
  const word = String(value).replace(/[.+]/g, '\\$&')
  return path === undefined ? undefined : `${path}~${/^\w/.test(word) ? '\\b' : ''}${word}\\b`
}

/** The text with the value written otherwise, wherever that is read as what was meant. */
function respelled(
  text: string,
  value: Json,
  meant: Json,
  read: (text: string) => Json | undefined,
): readonly string[] {
  const spelled = [JSON.stringify(value), String(value)]
  return spelled.flatMap((one) => {
    const at = [...text].flatMap((_, index) => (text.startsWith(one, index) ? [index] : []))
    const others = at.map((index) => text.slice(0, index) + JSON.stringify(meant) + text.slice(index + one.length))
    return others.filter((other) => {
      try {
        return read(other) === meant
      } catch (error) {
        // Written in the place of something else it is no expectation any more.
        if (HarvestError.is(error)) return false
        throw error
      }
    })
  })
}

/** What a refusal says where the runs know nothing of that kind. */
export const noneKnown = 'none'

function unknown(
  { kind, option, text }: Expectation,
  what: string,
  name: string,
  known: readonly string[],
): HarvestError {
  const names = [...new Set(known)]
  const near = nearestWord(name, names)
  const meant = near === undefined ? undefined : text.replace(name, near)
  // `answer!=x`: what is not to be returned is for the other option to say.
  const isNegated = kind === 'value' && name === `${near}!`
  const instead =
    meant === undefined
      ? []
      : isNegated && option === '--ok'
        ? [`if a run is wrong that returns it: --bad ${shellWord(meant)}, without --ok`]
        : isNegated && option === '--bad'
          ? [`if a run is right that returns it: --ok ${shellWord(meant)}, without --bad`]
          : [`did you mean ${near}? ${option} ${shellWord(meant)}`]
  return new HarvestError('HARVEST_ORACLE_EXPECTATION', {
    // A rule may ask for the absence of what it names: each run would meet it.
    what: `${kind === 'rule' ? 'No known run decides' : 'No run could meet'} ${option} ${neutralLine(text, 80)}: unknown ${what} ${neutralLine(name, 40)}`,
    where: { at: option, [`${what}s known`]: names.length === 0 ? noneKnown : neutralLine(names.join(', '), 160) },
    why: `It is in no recorded call, offered tool or good run, so ${kind === 'rule' ? 'that part says the same of every run' : 'every run would get the same grade'}.`,
    fix: [
      ...instead,
      what === 'tool'
        ? 'if the tool was never called, or only the fixed agent has it: --any-name'
        : 'if only the fixed agent has it: --any-name',
    ],
  })
}
