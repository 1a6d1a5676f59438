import { canonicalJson } from '../json/canonical.ts'
import { readRpc } from '../providers/rpc.ts'
import type { ToolCall } from '../providers/types.ts'
import type { Json, Step } from '../tape/index.ts'
import { answerValues, askedValues, valuesIn, valuesOf } from './independence.ts'

/**
 * Tells which steps of one model turn serve different calls. A model that asks for several tools at once says that these are
 * independent. It says nothing of the requests that the code of one tool makes: their order is that of the code.
 *
 * A step serves a call if it has the name of its tool, or else if it is asked with a value that the arguments of this call
 * have, and those of no other, or is answered with a value that the result of this call has, and that of no other. What shows
 * none of these may be what the code does before or after all calls, such as a check: it keeps its place.
 */
export class TurnCalls {
  /** The place of the call in the list; `undefined` where the step does not show it. */
  readonly #served: ReadonlyMap<Step, number | undefined>
  /** What a protocol needs to connect is no action. */
  readonly #protocol: ReadonlySet<Step>

  /**
   * `steps` are those between this turn and the next that are inside of no other, `results` what the next question to the
   * model has of each call; absent where it has nothing.
   */
  constructor(calls: readonly ToolCall[], steps: readonly Step[], results: readonly (Json | undefined)[]) {
    const tools = new Map(steps.map((step) => [step, toolOf(step)]))
    const named = byName(calls, tools)
    this.#protocol = new Set(steps.filter((step) => tools.get(step) === 'protocol'))
    const others = steps.filter((step) => !named.has(step) && !this.#protocol.has(step))
    const asked = ownValues(calls.map(({ args }) => valuesIn(args)))
    const told = ownValues(results.map(valuesSaid))
    const served = (step: Step): number | undefined => {
      const by = callsWith(askedValues(step), asked)
      // What names several calls serves none of them alone.
      return by.length > 0 ? only(by) : only(callsWith(answerValues(step), told))
    }
    this.#served = new Map([...named, ...others.map((step) => [step, served(step)] as const)])
  }

  /** Whether two steps of the turn serve different calls, as far as the tape shows. */
  areIndependent(a: Step, b: Step): boolean {
    if (this.#protocol.has(a) || this.#protocol.has(b)) return true
    // What began before the turn serves none of its calls.
    if (!this.#served.has(a) || !this.#served.has(b)) return false
    const [one, other] = [this.#served.get(a), this.#served.get(b)]
    return one !== undefined && other !== undefined && one !== other
  }
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

function only([call, another]: readonly number[]): number | undefined {
  return another === undefined ? call : undefined
}

/** Results are texts, most of them of JSON. */
function valuesSaid(result: Json | undefined): readonly string[] {
  return typeof result === 'string' ? valuesOf(result) : valuesIn(result).flatMap(valuesOf)
}
