import { createHash } from 'node:crypto'
import { isList, isMap, type JsonMap } from '../json/canonical.ts'
import { canonicalJson, type ModelRequest } from '../providers/index.ts'
import type { Json } from '../tape/index.ts'
import { bodyDifference, own, parseRequest } from './difference.ts'
import type { FoundDrift } from './matcher.ts'
import { formsBeside } from './media.ts'
import { changed } from './question-parts.ts'

/** One of two requests that are compared. */
interface Side {
  readonly url: string
  readonly bodyText: string
  readonly asked: ModelRequest
}

/**
 * What differs in two bodies and is no difference of their parts: where the instructions stand between the messages, under
 * which fields the parts stand, and what no reader of the dialect takes.
 *
 * @param parts - the differences of the parts
 */
export function changedBeside(
  [recorded, live]: readonly [recorded: Side, live: Side],
  parts: readonly FoundDrift[],
): readonly FoundDrift[] {
  const difference = bodyDifference(recorded.bodyText, live.bodyText)
  if (!difference) return []
  const whole = (): readonly FoundDrift[] =>
    parts.length > 0
      ? []
      : [{ class: 'params', part: 'form', ...difference, id: digestOf(recorded.bodyText, live.bodyText) }]
  const [before, now] = [recorded, live].map(({ url, bodyText }) => parseRequest(bodyText, url))
  if (before === undefined || now === undefined) {
    const forms = formsBeside(recorded.bodyText, live.bodyText)
    const found = forms && changed('params', { path: 'body', part: 'form', before: forms[0], now: forms[1] })
    return found === undefined || found.length === 0 ? whole() : found
  }
  if (canonicalJson(before) === canonicalJson(now))
    return parts.length > 0 ? [] : [{ class: 'encoding', part: 'body', ...difference }]
  const [was, is] = [placesIn(before, recorded.asked), placesIn(now, live.asked)]
  const found = [...movedInstructions(was, is), ...otherForm(was, is, recorded.asked)]
  return found.length > 0 ? found : whole()
}

/** Excerpts do not tell two bodies apart. */
function digestOf(...bodies: readonly string[]): string {
  return createHash('sha256').update(JSON.stringify(bodies)).digest('base64url')
}

/** A part of a body: in which field it stands, and where it is an instruction, behind how many messages. */
interface Place {
  readonly field: string
  readonly isInList: boolean
  readonly behind: number
  readonly value: Json
}

const kinds = ['instructions', 'messages', 'tools', 'model'] as const

type Places = Readonly<Record<(typeof kinds)[number], Place[]>> & { readonly rest: Json | undefined }

/** Where the parts of a request stand in its body, and what is left of that without them. */
function placesIn(body: Json, { instructions, messages, tools, model, params }: ModelRequest): Places {
  const found = { instructions: [], messages: [], tools: [], model: [] } as Record<(typeof kinds)[number], Place[]>
  const texts = (values: readonly Json[]): ReadonlySet<string> => new Set(values.map((value) => canonicalJson(value)))
  const parts = {
    instructions: texts(instructions),
    tools: texts(tools),
    messages: texts(messages.flatMap((message) => [message, ...wrapped(message)])),
    model: texts(model === '' ? [] : [model]),
  }
  const takes = (value: Json, field: string, behind: number, isInList: boolean): boolean => {
    const text = canonicalJson(value)
    const kind = (['instructions', 'tools', 'messages', 'model'] as const).find((name) => parts[name].has(text))
    if (kind !== undefined) found[kind].push({ field, isInList, behind, value })
    return kind !== undefined
  }
  /** What is left; `undefined` where nothing is. */
  const left = (value: Json, field: string, settings: Json | undefined): Json | undefined => {
    if (isList(value)) {
      const before = found.instructions.length
      const rest = value.flatMap((item, i): readonly Json[] => {
        const behind = i - (found.instructions.length - before)
        return takes(item, field, behind, true) ? [] : present(left(item, field, undefined))
      })
      return rest.length === 0 ? undefined : rest
    }
    if (!isMap(value)) return value
    const names = Object.keys(value).sort()
    const rest = names.flatMap((name) => {
      const member = own(value, name) as Json
      const path = field === '' ? name : `${field}.${name}`
      const inside = isMap(settings) ? own(settings, name) : undefined
      // What is among the settings is compared there.
      if (isEqual(inside, member) || isEqual(own(params, name), member) || takes(member, path, 0, false)) return []
      return present(left(member, path, inside)).map((one) => [name, one] as const)
    })
    return rest.length === 0 ? undefined : (Object.fromEntries(rest) as JsonMap)
  }
  const rest = left(body, '', params)
  return { ...found, rest }
}

/** What stands in a body by itself, and is read as a message around it: a prompt, and what a tool answers. */
function wrapped(message: Json): readonly Json[] {
  if (!isMap(message)) return []
  const { type, text, parts } = message
  const reply = isList(parts) && isMap(parts[0]) ? parts[0]['functionResponse'] : undefined
  return [...(type === 'prompt' ? present(text) : []), ...present(reply)]
}

function present(value: Json | undefined): readonly Json[] {
  return value === undefined ? [] : [value]
}

function isEqual(one: Json | undefined, other: Json | undefined): boolean {
  return one !== undefined && other !== undefined && canonicalJson(one) === canonicalJson(other)
}

function movedInstructions({ instructions: before }: Places, { instructions: now }: Places): readonly FoundDrift[] {
  const isMoved =
    before.length === now.length
      ? before.some((one, i) => isElsewhere(one, now[i]!))
      : !isSameSet(headless(before), headless(now))
  if (!isMoved) return []
  const shown = (places: readonly Place[]): Json =>
    places.map((place) => ({ place: nameOf(place), instruction: place.value }))
  const part = 'place of the system prompt'
  return changed('instructions', { path: 'instructions', part, before: shown(before), now: shown(now) })
}

/** A prompt before all messages that was a text of its own, and is a message now, is another prompt and no more. */
function isElsewhere(one: Place, other: Place): boolean {
  const isRewritten = one.behind === 0 && other.behind === 0 && isMap(one.value) !== isMap(other.value)
  return nameOf(one) !== nameOf(other) && !isRewritten
}

/** Of prompts that are more or fewer now: where they stand behind messages, before all of which is where a prompt belongs. */
function headless(places: readonly Place[]): readonly string[] {
  const names = places.map((place) => (place.behind === 0 ? 'head' : nameOf(place)))
  return names.length === 0 ? ['head'] : names
}

function isSameSet(one: readonly string[], other: readonly string[]): boolean {
  return canonicalJson([...new Set(one)].sort()) === canonicalJson([...new Set(other)].sort())
}

function nameOf({ field, isInList, behind }: Place): string {
  if (!isInList) return field
  return behind === 0 ? `${field}, first` : `${field}, behind message ${behind}`
}

function otherForm(before: Places, now: Places, { instructions }: ModelRequest): readonly FoundDrift[] {
  const fields = (places: readonly Place[]): Json =>
    places.map(({ field, isInList }) => (isInList ? `${field}[]` : field))
  const isOther = (kind: 'messages' | 'tools' | 'model'): boolean => {
    const [was, is] = [before[kind], now[kind]]
    if (was.length === is.length) return !isEqual(fields(was), fields(is))
    const names = (places: readonly Place[]): readonly string[] => places.map(({ field }) => field)
    // Of what is absent the difference of the parts says all.
    return was.length > 0 && is.length > 0 && !isSameSet(names(was), names(is))
  }
  const others = (['messages', 'tools', 'model'] as const).filter((kind) => isOther(kind))
  const shown = (places: Places): Json => ({
    ...Object.fromEntries(others.map((kind) => [kind, fields(places[kind])])),
    ...(places.rest === undefined ? {} : { rest: places.rest }),
  })
  const found = changed('params', { path: 'body', part: 'form', before: shown(before), now: shown(now) })
  // As of a setting: what was accepted for one call says nothing of another.
  return found.map((one) => ({ ...one, scope: canonicalJson(instructions as Json) }))
}
