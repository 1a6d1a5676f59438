import { canonicalJson, isMap, parseJson } from '../json/canonical.ts'
import type { Json, Tape } from '../tape/index.ts'
import type { ContextPart, Contexts } from './context.ts'
import { callText, type DebugStep, modelCallOf, wordsOf } from './steps.ts'

/** Where a value is found in a step. */
export interface ValuePlace {
  /** Number of the step; 0: the input of the run. */
  readonly step: number
  /** `input`, what a step `asks`, what it `answers`, or `outcome`. */
  readonly where: 'input' | 'asks' | 'answers' | 'outcome'
  /** Path in the value: `items/0/price`; empty: the whole of it, or a text around it. */
  readonly path: string
  /** The text the value stands in, as recorded. */
  readonly text: string
  /** What the step did. */
  readonly call: string
  /** Of a request to a model: the earlier steps whose answers brought the value into it. */
  readonly from: readonly number[]
}

/**
 * Every place of a run that holds a value, in order: the first one is where it appeared, the requests behind it are where
 * it went. A request to a model counts where the value is new in it.
 *
 * @param value - a number, or a text that stands alone or in a longer one
 */
export function locateValue(
  value: Json,
  tape: Tape,
  steps: readonly DebugStep[],
  contexts: Contexts,
): readonly ValuePlace[] {
  const places: ValuePlace[] = []
  const add = (
    step: number,
    where: ValuePlace['where'],
    json: Json | undefined,
    call: string,
    from: readonly number[] = [],
  ): void => {
    const found = json === undefined ? undefined : pathTo(value, json)
    if (found !== undefined) places.push({ step, where, ...found, call, from })
  }
  add(0, 'input', tape.header.input, '')
  for (const step of steps) {
    const call = callText(step)
    const { kind, asked, answer, error, toolCalls } = wordsOf(step)
    if (kind === 'model') {
      const fresh = (contexts.at(step.number)?.parts ?? []).filter(
        ({ isNew, text }) => isNew && pathTo(value, valueOf(text)) !== undefined,
      )
      const [first] = fresh
      if (first !== undefined) add(step.number, 'asks', valueOf(first.text), call, origins(fresh, step.number))
      const decided = modelCallOf(step)?.response?.toolCalls.map(({ name, args }) => ({ [name]: args }) as Json) ?? []
      add(step.number, 'answers', toolCalls.length > 0 ? (decided as Json) : (answer ?? error), call)
    } else {
      add(step.number, 'asks', step.event.kind === 'exchange' ? valueOf(asked ?? '') : step.event.args, call)
      add(
        step.number,
        'answers',
        step.event.kind === 'exchange' ? valueOf(answer ?? error ?? '') : (step.event.result ?? step.event.error),
        call,
      )
    }
  }
  const outcome = tape.close?.outcome
  if (outcome?.status === 'returned') add(steps.length, 'outcome', outcome.value, '')
  else if (outcome?.status === 'threw') add(steps.length, 'outcome', outcome.error, '')
  return places
}

function origins(parts: readonly ContextPart[], before: number): readonly number[] {
  return [...new Set(parts.flatMap(({ from }) => from))].filter((step) => step < before).sort((a, b) => a - b)
}

function valueOf(text: string): Json {
  return parseJson(text) ?? text
}

/** The first place in a value that is the one looked for, or a text that holds it as a word. */
function pathTo(wanted: Json, value: Json, path = ''): { readonly path: string; readonly text: string } | undefined {
  if (isSame(wanted, value)) return { path, text: typeof value === 'string' ? value : JSON.stringify(value) }
  if (typeof value === 'string') {
    const inner = /^\s*[[{]/.test(value) ? parseJson(value) : undefined
    if (inner !== undefined) return pathTo(wanted, inner, path)
    return holds(value, wanted) ? { path, text: value } : undefined
  }
  const members: readonly (readonly [string, Json])[] = Array.isArray(value)
    ? (value as readonly Json[]).map((one, index) => [`${index}`, one] as const)
    : isMap(value)
      ? Object.entries(value)
      : []
  for (const [key, member] of members) {
    const found = pathTo(wanted, member, path === '' ? key : `${path}/${key}`)
    if (found !== undefined) return found
  }
  return undefined
}

/** Models change the type of ids: 7 and "7" are one value. */
function isSame(wanted: Json, value: Json): boolean {
  if (typeof wanted === 'object' && wanted !== null) return canonicalJson(wanted) === canonicalJson(value)
  return typeof value !== 'object' && String(wanted) === String(value)
}

/** Whether a text holds a value as a word of its own: 25 is not in 2500. */
function holds(text: string, wanted: Json): boolean {
  if (typeof wanted === 'object') return false
  const word = String(wanted)
  for (let at = text.indexOf(word); word !== '' && at !== -1; at = text.indexOf(word, at + 1)) {
    const [before = '', after = ''] = [text[at - 1], text[at + word.length]]
    const isApart = (beside: string, edge: string | undefined): boolean =>
      !/[\p{L}\p{N}]/u.test(beside) || !/[\p{L}\p{N}]/u.test(edge ?? '')
    // A decimal goes on behind its point.
    const isNumber =
      /^\d/.test(word) &&
      (/\d[.,]$/.test(text.slice(Math.max(0, at - 2), at)) || /^[.,]\d/.test(text.slice(at + word.length)))
    if (isApart(before, word[0]) && isApart(after, word.at(-1)) && !isNumber) return true
  }
  return false
}
