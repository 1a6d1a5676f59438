import { HarvestError, nearestWord, neutralLine, shellWord } from '../errors/index.ts'
import {
  type CallEvent,
  type ExchangeEvent,
  type Json,
  serializeTape,
  stepsOf,
  type Tape,
  type TapeEvent,
  wholeHeader,
} from '../tape/index.ts'
import { answerText, withBody } from './body.ts'

/** One recorded input that is to be another one. */
export interface Patch {
  /** 1-based; absent: the input the agent was called with. */
  readonly step?: number
  /**
   * Where: `input.…`; of a tool call `result.…` or `error`; of an exchange `status`, `body.…` for JSON and
   * `events[2].…` for the JSON of its third server-sent event.
   */
  readonly path: string
  readonly value: Json
}

/** What was changed, and from what. */
export interface Patched extends Patch {
  readonly before: Json | undefined
}

/**
 * The text of a tape in which some recorded inputs are others. Everything else is as it was; the digests are new.
 *
 * @throws HarvestError `HARVEST_PATCH_STEP`, `HARVEST_PATCH_PATH` when there is nothing to change at that place
 */
export function patchTape(
  tape: Tape,
  changes: readonly Patch[],
): { readonly text: string; readonly changed: readonly Patched[] } {
  const { close } = tape
  let { header } = tape
  const events: TapeEvent[] = [...tape.events]
  const changed: Patched[] = []
  for (const change of changes) {
    if (change.step === undefined) {
      const set = setInput(header.input, change)
      header = { ...header, input: set.value }
      changed.push({ ...change, before: set.before })
    } else {
      const at = events.indexOf(stepAt(tape, events, change.step))
      const set = changeStep(events[at] as CallEvent | ExchangeEvent, change)
      events[at] = set.event
      changed.push({ ...change, before: set.before })
    }
  }
  return { text: serializeTape(wholeHeader(header), events, close), changed }
}

/** The input of a run with one value changed. */
export function changeInput(input: Json | undefined, change: Patch): Json {
  return setInput(input, change).value
}

/** A step with one value of its answer changed. */
export function changeOfStep(step: CallEvent | ExchangeEvent, change: Patch): CallEvent | ExchangeEvent {
  return changeStep(step, change).event
}

function setInput(input: Json | undefined, change: Patch): Set<Json> {
  const [root, ...path] = parsePath(change)
  if (root !== 'input' || input === undefined) throw noPlace(change, input === undefined ? [] : ['input'], 0)
  return setAt(input, path, change)
}

interface ChangedStep {
  readonly event: CallEvent | ExchangeEvent
  readonly before: Json | undefined
}

function stepAt(tape: Tape, events: readonly TapeEvent[], number: number): TapeEvent {
  const steps = stepsOf({ events })
  const step = steps[number - 1]
  if (step !== undefined) return step
  throw new HarvestError('HARVEST_PATCH_STEP', {
    what: `The tape has no step ${number}`,
    where: { tape: tape.header.id, steps: steps.length === 0 ? 'none' : `1 to ${steps.length}` },
    fix: [`to see them: npx vitest-harvest show ${shellWord(tape.header.id)}`],
  })
}

function changeStep(event: CallEvent | ExchangeEvent, change: Patch): ChangedStep {
  return event.kind === 'exchange' ? changeExchange(event, change) : changeCall(event, change)
}

function changeCall(event: CallEvent, change: Patch): ChangedStep {
  const [root, ...path] = parsePath(change)
  const { result, error, ...rest } = event
  if (root === 'error' && path.length === 0) {
    const message = typeof change.value === 'string' ? change.value : JSON.stringify(change.value)
    return {
      event: { ...rest, error: { $type: 'error', class: 'Error', name: 'Error', message } },
      before: error ?? result,
    }
  }
  // A call that failed answers from now on.
  if (root === 'result' && path.length === 0)
    return { event: { ...rest, result: change.value }, before: result ?? error }
  if (root !== 'result' || result === undefined)
    throw noPlace(change, result === undefined ? ['error'] : ['result', 'error'], 0)
  const set = setAt(result, path, change)
  return { event: { ...rest, result: set.value }, before: set.before }
}

function changeExchange(event: ExchangeEvent, change: Patch): ChangedStep {
  const { response } = event
  const [root, ...path] = parsePath(change)
  if (response === undefined) throw noPlace(change, [])
  if (root === 'status' && path.length === 0 && typeof change.value !== 'number') throw noStatus(change)
  if (root === 'status' && path.length === 0 && typeof change.value === 'number')
    return { event: { ...event, response: { ...response, status: change.value } }, before: response.status }
  const { text, isStream } = answerText(event)
  if (root !== (isStream ? 'events' : 'body')) throw noPlace(change, ['status', isStream ? 'events[0]' : 'body'], 0)
  const set = isStream ? changeStream(text, path, change) : changeJson(text, path, change)
  return { event: withBody(event, set.value), before: set.before }
}

interface Set<T> {
  readonly value: T
  readonly before: Json | undefined
}

function changeJson(text: string, path: readonly Key[], change: Patch): Set<string> {
  if (path.length === 0)
    return { value: typeof change.value === 'string' ? change.value : JSON.stringify(change.value), before: text }
  const set = setAt(parseJson(text, change, 'body'), path, change)
  return { value: JSON.stringify(set.value), before: set.before }
}

/** Every `data:` line counts, from 0; what is no JSON (`[DONE]`) counts too, and cannot be changed inside. */
function changeStream(text: string, [index, ...path]: readonly Key[], change: Patch): Set<string> {
  const lines = text.split('\n')
  const data = lines.flatMap((line, at) => (line.startsWith('data:') ? [at] : []))
  const at = typeof index === 'number' ? data[index] : undefined
  if (at === undefined) throw noPlace(change, [`events[0] to events[${data.length - 1}]`])
  const set = setAt(parseJson(lines[at]?.slice('data:'.length) ?? '', change, 'event'), path, change)
  lines[at] = `data: ${JSON.stringify(set.value)}`
  return { value: lines.join('\n'), before: set.before }
}

function parseJson(text: string, change: Patch, of: 'body' | 'event'): Json {
  try {
    return JSON.parse(text) as Json
  } catch (cause) {
    throw new HarvestError(
      'HARVEST_PATCH_PATH',
      {
        what: 'Cannot set a path: the recorded value is not JSON',
        where: { path: change.path, ...(change.step === undefined ? {} : { step: `${change.step}` }) },
        fix:
          of === 'body'
            ? ["to set all of it: --set 'body=<text>'"]
            : [
                `to see its events: npx vitest-harvest show '<tape>' --step ${shellWord(change.step ?? 1)} --raw response > response.bin`,
              ],
      },
      { cause },
    )
  }
}

type Key = string | number

/** `result.items[0]["unit price"]` → its keys. */
function parsePath(change: Patch): readonly Key[] {
  return wordsOf(change).map(({ key }) => key)
}

/** A key, and from where to where it is written in the path. */
interface Word {
  readonly key: Key
  readonly from: number
  readonly to: number
}

function wordsOf(change: Patch): readonly Word[] {
  const words: Word[] = []
  const token = /\.?([^.[\]"]+)|\[(\d+)\]|\["((?:[^"\\]|\\.)*)"\]/gy
  while (token.lastIndex < change.path.length) {
    const found = token.exec(change.path)
    if (found === null) throw noPlace(change, [])
    const [whole, name, index, quoted] = found
    const key = index === undefined ? (name ?? (JSON.parse(`"${quoted ?? ''}"`) as string)) : Number(index)
    const to = token.lastIndex
    words.push({ key, from: name === undefined ? to - whole.length : to - name.length, to })
  }
  return words
}

function setAt(value: Json, path: readonly Key[], change: Patch): Set<Json> {
  const [key, ...rest] = path
  if (key === undefined) return { value: change.value, before: value }
  if (typeof value !== 'object' || value === null || !Object.hasOwn(value, key))
    throw noPlace(
      change,
      typeof value === 'object' && value !== null ? Object.keys(value) : [],
      wordsOf(change).length - path.length,
    )
  const inner = setAt((value as { readonly [key: Key]: Json })[key] ?? null, rest, change)
  const next: Json = Array.isArray(value)
    ? value.map((item: Json, at) => (at === key ? inner.value : item))
    : { ...(value as object), [key]: inner.value }
  return { value: next, before: inner.before }
}

function noStatus({ step, value, path }: Patch): HarvestError {
  const text = neutralLine(typeof value === 'string' ? value : JSON.stringify(value), 60)
  return new HarvestError('HARVEST_PATCH_PATH', {
    what: `The status of an answer is a number, not '${text}'`,
    where: { ...(step === undefined ? {} : { step: `${step}` }), path },
    fix: [`such as an error of the server: --set status=500 instead of ${shellWord(`${path}=${text}`)}`],
  })
}

/**
 * A path that leads nowhere is a typo more often than a new field.
 *
 * @param at - index of the key that is unknown; absent where this is no path
 */
function noPlace(change: Patch, known: readonly string[], at?: number): HarvestError {
  const wrong = at === undefined ? undefined : wordsOf(change)[at]
  const near = typeof wrong?.key === 'string' ? nearestWord(wrong.key, known) : undefined
  return new HarvestError('HARVEST_PATCH_PATH', {
    what: `Unknown path '${neutralLine(change.path, 120)}' in the recorded value`,
    where: {
      ...(change.step === undefined ? { of: 'the input of the run' } : { step: `${change.step}` }),
      ...(known.length === 0 ? {} : { there: neutralLine(known.join(', '), 300) }),
    },
    fix: [
      ...(near === undefined || wrong === undefined
        ? []
        : [`did you mean ${neutralLine(near, 60)}?${meant(change, wrong, near)}`]),
      ...(change.step === undefined ? ["if it is in the answer of a step: --step '<step>'"] : []),
      "to see where a value is recorded: npx vitest-harvest show '<tape|case>' --find '<value>'",
    ],
  })
}

/** ` --set 'result.total=30'`: as it is typed, with the key that was probably meant; nothing where it cannot be printed whole. */
function meant({ path, value }: Patch, { from, to }: Word, near: string): string {
  const isName = path[from] !== '['
  const text = `${path.slice(0, from)}${isName ? near : `[${JSON.stringify(near)}]`}${path.slice(to)}=${typeof value === 'string' ? value : JSON.stringify(value)}`
  return neutralLine(text, 120) === text ? ` --set ${shellWord(text)}` : ''
}
