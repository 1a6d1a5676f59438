import { canonicalJson } from '../json/canonical.ts'
import { readRpc } from '../providers/rpc.ts'
import type { ToolCall } from '../providers/types.ts'
import type { Json, Step } from '../tape/index.ts'
import { answerValues, askedValues, decoded, valuesIn, valuesOf, wordsOf } from './independence.ts'

/**
 * Tells which steps of one model turn serve different calls. A model that asks for several tools at once says that these are
 * independent. It says nothing of what else the agent's own code does between them, such as a check of the customer before a
 * refund: that may have waited for it. So a step beside the tools themselves serves a call where the tape proves it, and
 * keeps its place where it does not:
 *
 * - It is asked with no value that another call alone has. And
 * - its answer went into the result of its call alone, by itself or through what was asked next: it is the first to say a value
 *   of it. Or it is asked with a value that its call alone has, and the other call is one of the same tool, with such a step of
 *   its own: one code made both.
 */
export class TurnCalls {
  readonly #calls: readonly ToolCall[]
  /** The place of the call in the list that a step serves, as far as it shows. */
  readonly #served = new Map<Step, number>()
  /** Of these, the tools that the model asked for, and steps whose answers went into the result of their call. */
  readonly #proven = new Set<Step>()
  /** What a protocol needs to connect is no action. */
  readonly #protocol: ReadonlySet<Step>
  /** Forms of the steps that name a value of their call, by the place of that. */
  readonly #forms: readonly ReadonlySet<string>[]
  readonly #formOf = new Map<Step, string>()

  /**
   * `steps` are those between this turn and the next that are inside of no other, `results` what the next question to the
   * model has of each call; absent where it has nothing.
   */
  constructor(calls: readonly ToolCall[], steps: readonly Step[], results: readonly (Json | undefined)[]) {
    this.#calls = calls
    const tools = new Map(steps.map((step) => [step, toolOf(step)]))
    this.#protocol = new Set(steps.filter((step) => tools.get(step) === 'protocol'))
    for (const [step, call] of byName(calls, tools)) this.#prove(step, call)
    const asked = ownValues(calls.map(({ args }) => valuesIn(args)))
    const known = new Set(calls.flatMap(({ args }) => valuesIn(args)))
    const told = ownValues(results.map(valuesSaid))
    const forms = calls.map(() => new Set<string>())
    const said = new Map<string, number>()
    for (const step of steps)
      for (const value of new Set(answerValues(step))) said.set(value, (said.get(value) ?? 0) + 1)
    const isNews = (value: string): boolean => !known.has(value) && said.get(value) === 1
    // What a step was answered went into those behind it.
    for (const step of steps.toReversed()) {
      if (this.#served.has(step) || this.#protocol.has(step)) continue
      const values = askedValues(step)
      const shown = callsWith(
        values.flatMap((value) => [value, ...wordsOf(value)]),
        asked,
      )
      const reached = this.#reached(answerValues(step).filter(isNews), told)
      const [call, another] = new Set([...shown, ...reached])
      if (call === undefined || another !== undefined) continue
      if (reached.length > 0) this.#prove(step, call)
      if (callsWith(values, asked).length === 0) continue
      this.#served.set(step, call)
      this.#formOf.set(step, formOf(step, tools.get(step), asked[call]!))
      forms[call]!.add(this.#formOf.get(step)!)
    }
    this.#forms = forms
  }

  /** Whether two steps of the turn serve different calls, as far as the tape proves it. */
  areIndependent(a: Step, b: Step): boolean {
    if (this.#protocol.has(a) || this.#protocol.has(b)) return true
    // What began before the turn serves none of its calls.
    const [one, other] = [this.#served.get(a), this.#served.get(b)]
    if (one === undefined || other === undefined || one === other) return false
    return this.#isSure(a, one, other) && this.#isSure(b, other, one)
  }

  #isSure(step: Step, call: number, other: number): boolean {
    const isOfOneTool = this.#calls[call]?.name === this.#calls[other]?.name
    return this.#proven.has(step) || (isOfOneTool && this.#forms[other]?.has(this.#formOf.get(step)!) === true)
  }

  #prove(step: Step, call: number): void {
    this.#served.set(step, call)
    this.#proven.add(step)
  }

  /** The calls into whose results `values` went, or into what was asked for these. */
  #reached(values: readonly string[], told: readonly ReadonlySet<string>[]): readonly number[] {
    const used = [...this.#proven].filter((step) => askedValues(step).some((value) => values.includes(value)))
    return [...callsWith(values, told), ...used.map((step) => this.#served.get(step)!)]
  }
}

/** What the same code asks for another call in the same way. */
function formOf(step: Step, tool: Tool, own: ReadonlySet<string>): string {
  if (tool !== undefined && tool !== 'protocol') return JSON.stringify([step.kind, tool.name])
  if (step.kind !== 'exchange') return JSON.stringify([step.kind])
  if (!URL.canParse(step.url)) return JSON.stringify([step.method, step.url])
  const { origin, pathname, searchParams } = new URL(step.url)
  const path = pathname.split('/').map((part) => (own.has(decoded(part)) ? null : part))
  return JSON.stringify([step.method, origin, path, [...searchParams.keys()]])
}

/** Each tool that the model named, with the call it is: that with its arguments, or else the first of its name that is left. */
function byName(calls: readonly ToolCall[], tools: ReadonlyMap<Step, Tool>): ReadonlyMap<Step, number> {
  const found = new Map<Step, number>()
  const left = new Set(calls.keys())
  for (const isSame of [sameArguments, () => true]) {
    for (const [step, tool] of tools) {
      if (tool === undefined || tool === 'protocol' || found.has(step)) continue
      const call = [...left].find((at) => calls[at]?.name === tool.name && isSame(calls[at]?.args, tool.args))
      if (call === undefined) continue
      left.delete(call)
      found.set(step, call)
    }
  }
  return found
}

function sameArguments(asked: Json | undefined, made: Json): boolean {
  return asked !== undefined && canonicalJson(asked) === canonicalJson(made)
}

/** The tool that a step is a call of; `protocol`: a message of MCP that calls no tool. */
type Tool = { readonly name: string; readonly args: Json } | 'protocol' | undefined

function toolOf(step: Step): Tool {
  if (step.kind !== 'exchange') return step.kind === 'value' ? undefined : step
  const rpc = readRpc(step)
  return rpc && (rpc.tool ?? 'protocol')
}

/** Of each list, the values that no other list has. */
function ownValues(lists: readonly (readonly string[])[]): readonly ReadonlySet<string>[] {
  const all = lists.map((values) => new Set(values))
  return all.map(
    (own, at) => new Set([...own].filter((value) => all.every((other, i) => i === at || !other.has(value)))),
  )
}

function callsWith(found: readonly string[], values: readonly ReadonlySet<string>[]): readonly number[] {
  return [...values.keys()].filter((at) => found.some((value) => values[at]?.has(value)))
}

/** Results are texts, most of them of JSON. */
function valuesSaid(result: Json | undefined): readonly string[] {
  return typeof result === 'string' ? valuesOf(result) : valuesIn(result).flatMap(valuesOf)
}
