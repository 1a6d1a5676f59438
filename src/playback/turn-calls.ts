import { canonicalJson } from '../json/canonical.ts'
import { readRpc } from '../providers/rpc.ts'
import type { ToolCall } from '../providers/types.ts'
import type { Json, Step } from '../tape/index.ts'
import { askedValues, valuesIn } from './independence.ts'

/**
 * Tells which steps of one model turn serve different calls. A model that asks for several tools at once says that these are
 * independent. It says nothing of the requests that the code of one tool makes: their order is that of the code.
 *
 * A step serves a call if it has the name of its tool, or else if it is asked with a value that the arguments of this call
 * have, and those of no other. What shows neither may serve a call of its own only where there are enough calls for each.
 */
export class TurnCalls {
  /** The place of the call in the list; `undefined` where the step does not show it. */
  readonly #served: ReadonlyMap<Step, number | undefined>
  readonly #isOneForEach: boolean
  /** What a protocol needs to connect is no action. */
  readonly #protocol: ReadonlySet<Step>

  /** `steps` are those between this turn and the next that are inside of no other. */
  constructor(calls: readonly ToolCall[], steps: readonly Step[]) {
    const tools = new Map(steps.map((step) => [step, toolOf(step)]))
    const named = byName(calls, tools)
    this.#protocol = new Set(steps.filter((step) => tools.get(step) === 'protocol'))
    const others = steps.filter((step) => !named.has(step) && !this.#protocol.has(step))
    const values = ownValues(calls)
    this.#served = new Map([...named, ...others.map((step) => [step, byValues(step, values)] as const)])
    this.#isOneForEach = others.length <= calls.length - named.size
  }

  /** Whether two steps of the turn serve different calls, as far as the tape shows. */
  areIndependent(a: Step, b: Step): boolean {
    if (this.#protocol.has(a) || this.#protocol.has(b)) return true
    // What began before the turn serves none of its calls.
    if (!this.#served.has(a) || !this.#served.has(b)) return false
    const [one, other] = [this.#served.get(a), this.#served.get(b)]
    return one === undefined || other === undefined ? this.#isOneForEach : one !== other
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

/** Of each call, the values of its arguments that no other call has. */
function ownValues(calls: readonly ToolCall[]): readonly ReadonlySet<string>[] {
  const all = calls.map(({ args }) => new Set(valuesIn(args)))
  return all.map(
    (own, at) => new Set([...own].filter((value) => all.every((other, i) => i === at || !other.has(value)))),
  )
}

function byValues(step: Step, values: readonly ReadonlySet<string>[]): number | undefined {
  const asked = askedValues(step)
  const served = [...values.keys()].filter((at) => asked.some((value) => values[at]?.has(value)))
  const [call, another] = served
  return another === undefined ? call : undefined
}
