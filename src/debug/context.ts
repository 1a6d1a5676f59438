import { diffArrays } from 'diff/lib/diff/array.js'
import { canonicalJson, parseJson, textAt } from '../json/canonical.ts'
import { callsOf, type ModelCall, readMessage, resultsOf, textOf, toolNames } from '../providers/index.ts'
import type { Json } from '../tape/index.ts'
import { type DebugStep, modelCallOf, wordsOf } from './steps.ts'

/** One message of what a model saw. */
export interface ContextPart {
  /** `system`, `user`, `assistant`, `tool`, or the word of its dialect. */
  readonly role: string
  /** What it says; tool calls as `name(arguments)`. As recorded. */
  readonly text: string
  /** Its share of the request's tokens, by its characters; absent when the provider counted none. */
  readonly tokens?: number
  /** No earlier request of the conversation had it at this place. */
  readonly isNew: boolean
  /** Numbers of the steps that answered what it says. */
  readonly from: readonly number[]
  /** It stands word for word in the input of the run. */
  readonly isInput?: true
}

/** What a model saw. */
export interface ContextWindow {
  /** The model step. */
  readonly step: number
  readonly parts: readonly ContextPart[]
  /** Tools on offer. */
  readonly tools: { readonly names: readonly string[]; readonly tokens?: number }
  /** All tokens of the request, as the provider counted them. */
  readonly tokens?: number
  /** The request of the same conversation before it. */
  readonly before?: number
  /** How many messages the request before it had that this one does not. */
  readonly gone: number
}

/** Two context windows, part by part. */
export interface ContextDifference {
  readonly from: number
  readonly to: number
  readonly same: number
  readonly gone: readonly ContextPart[]
  readonly fresh: readonly ContextPart[]
  readonly tokens: readonly [number | null, number | null]
}

interface Part {
  readonly role: string
  readonly text: string
  readonly key: string
  readonly results: readonly Json[]
  readonly callIds: readonly string[]
}

/** How far back the request before is looked for. */
const lookBack = 50

/** The context windows of a run, each read when someone looks. */
export class Contexts {
  readonly #steps: readonly DebugStep[]
  readonly #input: string
  readonly #parts = new Map<number, readonly Part[]>()
  #answers: ReadonlyMap<string, readonly number[]> | undefined
  #askers: ReadonlyMap<string, number> | undefined

  constructor(steps: readonly DebugStep[], input: Json | undefined) {
    this.#steps = steps
    this.#input = input === undefined ? '' : JSON.stringify(input)
  }

  /** What the model saw at this step, or, at another one, what it saw last. */
  at(number: number): ContextWindow | undefined {
    const step = this.#steps.slice(0, number).findLast((one) => isQuestion(modelCallOf(one)))
    const call = step && modelCallOf(step)
    if (step === undefined || call === undefined) return undefined
    const parts = this.#partsOf(step, call)
    const before = this.#before(step, parts)
    const { fresh, gone } = before === undefined ? { fresh: new Set(parts), gone: 0 } : changes(before.parts, parts)
    const tools = call.request.tools.flatMap(toolNames)
    const offered = tools.length === 0 ? 0 : JSON.stringify(call.request.tools).length
    const total = call.response?.usage?.inputTokens
    const shares = total === undefined ? undefined : shareOut(total, [...parts.map(({ text }) => text.length), offered])
    return {
      step: step.number,
      parts: parts.map((part, index) => ({
        role: part.role,
        text: part.text,
        isNew: fresh.has(part),
        from: this.#origins(part, step.number),
        ...(part.text !== '' && this.#input.includes(JSON.stringify(part.text).slice(1, -1))
          ? { isInput: true as const }
          : {}),
        ...(shares === undefined ? {} : { tokens: shares[index] ?? 0 }),
      })),
      tools: { names: tools, ...(shares === undefined ? {} : { tokens: shares.at(-1) ?? 0 }) },
      ...(total === undefined ? {} : { tokens: total }),
      ...(before === undefined ? {} : { before: before.number }),
      gone,
    }
  }

  /** What is new and what is gone between the windows of two steps. */
  between(from: number, to: number): ContextDifference | undefined {
    const [one, other] = [this.at(from), this.at(to)]
    if (one === undefined || other === undefined) return undefined
    const key = ({ role, text }: ContextPart): string => `${role} ${text}`
    const runs = diffArrays(one.parts.map(key), other.parts.map(key))
    const [gone, fresh]: [ContextPart[], ContextPart[]] = [[], []]
    let [i, j, same] = [0, 0, 0]
    for (const { added, removed, value } of runs) {
      if (removed) gone.push(...one.parts.slice(i, (i += value.length)))
      else if (added) fresh.push(...other.parts.slice(j, (j += value.length)))
      else [i, j, same] = [i + value.length, j + value.length, same + value.length]
    }
    return { from: one.step, to: other.step, same, gone, fresh, tokens: [one.tokens ?? null, other.tokens ?? null] }
  }

  #partsOf({ number }: DebugStep, { request }: ModelCall): readonly Part[] {
    const known = this.#parts.get(number)
    if (known !== undefined) return known
    const parts = [
      ...request.instructions.map((message) => ({ ...readPart(message), role: 'system' })),
      ...request.messages.map((message) => readPart(message)),
    ]
    // Windows of a long run would fill the memory with what the tape holds already.
    if (this.#parts.size > 2 * lookBack) this.#parts.clear()
    this.#parts.set(number, parts)
    return parts
  }

  /** The last request before that begins alike: agents that run side by side have a conversation each. */
  #before(step: DebugStep, parts: readonly Part[]): { number: number; parts: readonly Part[] } | undefined {
    let best: { number: number; parts: readonly Part[] } | undefined
    let most = 0
    let looked = 0
    for (let index = step.number - 2; index >= 0 && looked < lookBack; index--) {
      const other = this.#steps[index]
      const call = other && modelCallOf(other)
      if (other === undefined || call === undefined || !isQuestion(call)) continue
      looked++
      const theirs = this.#partsOf(other, call)
      const alike = theirs.findIndex(({ key }, at) => key !== parts[at]?.key)
      const length = alike === -1 ? theirs.length : alike
      if (length <= most) continue
      best = { number: other.number, parts: theirs }
      most = length
      // Nothing can begin more alike than all of it.
      if (length === theirs.length) break
    }
    return best
  }

  #origins(part: Part, before: number): readonly number[] {
    const results = part.results.map((result) =>
      this.#answersBy(canonicalJson(result)).findLast((number) => number < before),
    )
    const asked = part.callIds.map((id) => this.#askedBy(id))
    const said = part.results.length === 0 && part.role !== 'system' && part.role !== 'user'
    const spoken =
      said && asked.length === 0 ? this.#answersBy(part.text.trim()).findLast((number) => number < before) : undefined
    const found = [...results, ...asked, spoken].filter((number) => number !== undefined && number < before)
    return [...new Set(found as number[])].sort((a, b) => a - b)
  }

  #answersBy(key: string): readonly number[] {
    this.#answers ??= answersOf(this.#steps)
    return this.#answers.get(key) ?? []
  }

  #askedBy(id: string): number | undefined {
    this.#askers ??= new Map(
      this.#steps.flatMap((step) =>
        (modelCallOf(step)?.response?.toolCalls ?? []).flatMap((call): [string, number][] =>
          call.id === undefined ? [] : [[call.id, step.number]],
        ),
      ),
    )
    return this.#askers.get(id)
  }
}

function isQuestion(call: ModelCall | undefined): boolean {
  return call !== undefined && call.isPoll !== true
}

/** Numbers of the steps by what they answered: tools by their value, models by their words. */
function answersOf(steps: readonly DebugStep[]): ReadonlyMap<string, readonly number[]> {
  const found = new Map<string, number[]>()
  for (const step of steps) {
    const { kind, answer, error } = wordsOf(step)
    const text = answer ?? error
    if (text === undefined || kind === 'http' || kind === 'rpc') continue
    const value = kind === 'model' ? undefined : valueIn(text)
    const key = value === undefined ? text.trim() : canonicalJson(value)
    const numbers = found.get(key)
    if (numbers === undefined) found.set(key, [step.number])
    else numbers.push(step.number)
  }
  return found
}

/** What a text holds as a value: agents send JSON to models as text. */
function valueIn(text: string): Json {
  return parseJson(text) ?? text
}

function readPart(message: Json): Part {
  const read = readMessage(message)
  const [results, calls] = [resultsOf(read), callsOf(read)]
  const type = textAt(message, 'type')?.replace(/_call(_output)?$/, '')
  const said = read.role
  const role = results.length > 0 ? 'tool' : calls.length > 0 && said === type ? 'assistant' : said
  const words = textOf(message)
  const text =
    results.length > 0
      ? results.map(({ result }) => textOf(result) || JSON.stringify(result)).join('\n')
      : [
          ...(words === '' ? [] : [words]),
          ...calls.map(({ name, args }) => `${name}(${typeof args === 'string' ? args : JSON.stringify(args ?? {})})`),
        ].join(' ')
  return {
    role,
    text: text === '' ? JSON.stringify(message) : text,
    key: JSON.stringify(message),
    results: results.map(({ result }) => {
      const content = textOf(result)
      return content === '' ? result : valueIn(content)
    }),
    callIds: calls.flatMap(({ id }) => (id === undefined ? [] : [id])),
  }
}

function changes(before: readonly Part[], parts: readonly Part[]): { fresh: ReadonlySet<Part>; gone: number } {
  const fresh = new Set<Part>()
  let gone = 0
  let next = 0
  for (const { added, removed, value } of diffArrays(
    before.map(({ key }) => key),
    parts.map(({ key }) => key),
  )) {
    if (removed) gone += value.length
    else {
      if (added) for (const part of parts.slice(next, next + value.length)) fresh.add(part)
      next += value.length
    }
  }
  return { fresh, gone }
}

/** Whole numbers in proportion to the weights, their sum exact: the largest remainders are rounded up. */
export function shareOut(total: number, weights: readonly number[]): readonly number[] {
  const sum = weights.reduce((all, one) => all + one, 0)
  if (sum === 0) return weights.map((_, index) => (index === 0 ? total : 0))
  const exact = weights.map((weight) => (weight / sum) * total)
  const shares = exact.map(Math.floor)
  const left = total - shares.reduce((all, one) => all + one, 0)
  const order = exact.map((value, index) => [value - Math.floor(value), index] as const).sort((a, b) => b[0] - a[0])
  for (const [, index] of order.slice(0, left)) shares[index] = (shares[index] ?? 0) + 1
  return shares
}
