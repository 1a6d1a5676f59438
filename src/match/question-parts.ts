import { isMap } from '../json/canonical.ts'
import {
  callsOf,
  canonicalJson,
  isBookkeeping,
  type ModelRequest,
  readMessage,
  resultsOf,
  toolNames,
} from '../providers/index.ts'
import type { Json } from '../tape/index.ts'
import { firstDifference, own } from './difference.ts'
import type { FoundDrift } from './matcher.ts'
import type { DriftClass } from './types.ts'

/**
 * Every part in which two requests to a model differ: one instruction, one message, one tool, one parameter each. A part
 * that differs in the same way at ten steps is the same change ten times.
 *
 * @param urls - where each was sent
 */
export function changedParts(
  recorded: ModelRequest,
  live: ModelRequest,
  urls: readonly [recorded: string, live: string],
): readonly FoundDrift[] {
  const keepsBooks = (name: string): boolean =>
    isBookkeeping(name, { dialect: recorded.dialect, url: urls[0] }) &&
    isBookkeeping(name, { dialect: live.dialect, url: urls[1] })
  // A setting or a model says nothing of the call it is for: what was accepted for one call says nothing of another.
  const scope = canonicalJson(recorded.instructions as Json)
  const settings = [
    ...changed('model', { path: 'model', part: 'model', before: recorded.model, now: live.model }),
    ...changedParams(recorded.params, live.params, keepsBooks),
  ]
  return [
    ...settings.map((found) => ({ ...found, scope })),
    ...changedInstructions(recorded.instructions, live.instructions),
    ...changedMessages(recorded.messages, live.messages),
    ...changedTools(recorded.tools, live.tools),
  ]
}

/** A part of both requests, with its names: for machines, and for people. */
interface Part {
  readonly path: string
  readonly part: string
  readonly before: Json | undefined
  readonly now: Json | undefined
  readonly isData?: true
}

/** A part that differs. One that is `null` and one that is absent differ, unless their dialect says that they are one. */
export function changed(name: DriftClass, { before, now, ...names }: Part): readonly FoundDrift[] {
  const difference = firstDifference(before, now, names.path)
  if (difference === undefined) return []
  const isSpace = (name === 'instructions' || name === 'messages' || name === 'tools') && isOnlySpace(before, now)
  const { isData, ...rest } = names
  return [
    {
      class: isSpace ? 'whitespace' : name,
      ...rest,
      ...difference,
      before,
      now,
      ...(isData && !isSpace && { isData }),
    },
  ]
}

function changedInstructions(before: readonly Json[], now: readonly Json[]): readonly FoundDrift[] {
  const part = 'system prompt'
  if (before.length !== now.length)
    return changed('instructions', { path: 'instructions', part, before: whole(before), now: whole(now) })
  return before.flatMap((one, i) =>
    changed('instructions', { path: `instructions[${i}]`, part, before: one, now: now[i] }),
  )
}

/** Of a list that is empty on one side only there is nothing to show: the prompt is absent. */
function whole(list: readonly Json[]): Json | undefined {
  return list.length === 0 ? undefined : (list as Json)
}

function changedMessages(before: readonly Json[], now: readonly Json[]): readonly FoundDrift[] {
  return Array.from({ length: Math.max(before.length, now.length) }, (_, i) => {
    // Most messages are the recorded ones at each step; naming one looks through all that went before it.
    if (canonicalJson(before[i] ?? null) === canonicalJson(now[i] ?? null)) return []
    const part = messageName(before[i], now[i], before)
    return changed('messages', { path: `messages[${i}]`, part, before: before[i], now: now[i], isData: true })
  }).flat()
}

/**
 * A change of one tool is the same change no matter which other tools stand beside it. Tools of one request that changed
 * together are one change, of all of them: they are read side by side. Names or an order that changed concern the list.
 */
function changedTools(before: readonly Json[], now: readonly Json[]): readonly FoundDrift[] {
  const names = (tools: readonly Json[]): string => JSON.stringify(tools.map((tool) => toolNames(tool)))
  if (before.length !== now.length || names(before) !== names(now))
    return changed('tools', { path: 'tools', part: 'tools', before: whole(before), now: whole(now) })
  const found = before.flatMap((one, i) => {
    const part = `tool ${toolNames(one).join(', ') || String(i + 1)}`
    return changed('tools', { path: `tools[${i}]`, part, before: one, now: now[i] })
  })
  return [...Map.groupBy(found, (one) => one.class).values()].flatMap(together)
}

/** Several changed tools as one change. */
function together(found: readonly FoundDrift[]): readonly FoundDrift[] {
  const [first, second] = found
  if (first === undefined || second === undefined) return found
  const names = found.map(({ part = '' }) => part.replace(/^tool /, ''))
  // Of one name there may be two.
  const sideBySide = (tools: readonly (Json | undefined)[]): Json =>
    new Set(names).size === names.length
      ? Object.fromEntries(names.map((name, i) => [name, tools[i] ?? null]))
      : tools.map((tool) => tool ?? null)
  return [
    {
      ...first,
      part: `tools ${names.join(', ')}`,
      before: sideBySide(found.map(({ before }) => before)),
      now: sideBySide(found.map(({ now }) => now)),
    },
  ]
}

function changedParams(
  before: ModelRequest['params'],
  now: ModelRequest['params'],
  keepsBooks: (name: string) => boolean,
): readonly FoundDrift[] {
  const names = new Set([...Object.keys(before), ...Object.keys(now)])
  return [...names].flatMap((name) =>
    changed(keepsBooks(name) ? 'bookkeeping' : 'params', {
      path: `params.${name}`,
      part: name,
      before: own(before, name),
      now: own(now, name),
    }),
  )
}

/** `user message`, `result of get_order`, `results of get_order, refund`: what of a message changed. */
function messageName(before: Json | undefined, now: Json | undefined, history: readonly Json[]): string {
  const named = changedPieces(before, now).map((piece) => pieceName(piece, history))
  const [names, tools] = [new Set(named.map(({ name }) => name)), new Set(named.map(({ tool }) => tool))]
  const isOfTools = tools.size > 1 && !tools.has(undefined)
  return isOfTools ? `results of ${[...tools].join(', ')}` : [...names].join(', ')
}

/** Messages of one piece each that stand for what changed in a message of several: results of several tools, text and an image. */
function changedPieces(before: Json | undefined, now: Json | undefined): readonly (Json | undefined)[] {
  const [was, is] = [piecesOf(before), piecesOf(now)]
  const changed = Array.from({ length: Math.max(was.length, is.length) }, (_, i) =>
    canonicalJson(was[i] ?? null) === canonicalJson(is[i] ?? null) ? [] : [was[i] ?? is[i]],
  ).flat()
  // No message of a piece differs where something else of the message does.
  return changed.length > 0 ? changed : [before ?? now]
}

function piecesOf(message: Json | undefined): readonly (Json | undefined)[] {
  if (!isMap(message)) return [message]
  for (const key of ['content', 'parts']) {
    const pieces = message[key]
    if (Array.isArray(pieces) && pieces.length > 1) return pieces.map((piece: Json) => ({ ...message, [key]: [piece] }))
  }
  return [message]
}

function pieceName(
  piece: Json | undefined,
  history: readonly Json[],
): { readonly name: string; readonly tool?: string } {
  if (!isMap(piece)) return { name: 'input' }
  const read = readMessage(piece)
  const [result] = resultsOf(read)
  if (result !== undefined) {
    const tool = result.name ?? toolOfCall(result.id, history) ?? 'a tool call'
    return { name: `result of ${tool}`, tool }
  }
  const role = [piece['role'], piece['speaker'], piece['type']].find((one) => typeof one === 'string') ?? read.role
  return { name: role === 'input' ? 'message' : `${role} message` }
}

/** The tool that a call of this id named, in an earlier message. */
function toolOfCall(id: string | undefined, history: readonly Json[]): string | undefined {
  if (id === undefined) return undefined
  return history.flatMap((message) => callsOf(readMessage(message))).find((call) => call.id === id)?.name
}

/** A text, number or shape in which two values differ. */
export interface LeafDifference {
  readonly path: string
  readonly before: Json | undefined
  readonly now: Json | undefined
}

/** Every place at which two values differ, in reading order, as deep inside as it can be seen. */
export function leafDifferences(before: Json | undefined, now: Json | undefined, path = ''): readonly LeafDifference[] {
  if (before === now) return []
  if (Array.isArray(before) && Array.isArray(now) && before.length === now.length) {
    const others = now as readonly Json[]
    return (before as readonly Json[]).flatMap((one, i) => leafDifferences(one, others[i], `${path}[${i}]`))
  }
  if (isMap(before) && isMap(now)) {
    const keys = new Set([...Object.keys(before), ...Object.keys(now)])
    return [...keys].flatMap((key) =>
      leafDifferences(own(before, key), own(now, key), path === '' ? key : `${path}.${key}`),
    )
  }
  return canonicalJson(before ?? null) === canonicalJson(now ?? null) && before !== undefined && now !== undefined
    ? []
    : [{ path, before, now }]
}

/** Whether nothing differs but white space inside of texts. */
function isOnlySpace(before: Json | undefined, now: Json | undefined): boolean {
  const leaves = leafDifferences(before, now)
  return (
    leaves.length > 0 && leaves.every((leaf) => isText(leaf.before) && squeezed(leaf.before) === squeezed(leaf.now))
  )
}

function isText(value: Json | undefined): value is string {
  return typeof value === 'string'
}

function squeezed(value: Json | undefined): string | undefined {
  return isText(value) ? value.replace(/\s+/gu, ' ').trim() : undefined
}
