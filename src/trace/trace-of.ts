import { pushedModelCall, readMcpCall } from '../providers/index.ts'
import { namedArgs } from '../tape/present-args.ts'
import type { CallEvent, ExchangeEvent, TapeEvent } from '../tape/types.ts'
import { decidedCalls, ranCalls } from './decided.ts'
import { layered } from './layers.ts'
import { type ExecutedCall, type PlacedCall, settledAt } from './placed.ts'
import type { Trace } from './types.ts'

/**
 * Reads the tool calls of a run, with their causal order.
 *
 * Counted are wrapped tools and retrievals, calls to MCP servers, and calls a model asked for that neither of those
 * accounts for, provided the run went on to answer them (or wraps no tool at all: then the decision is all there is).
 * Calls inside another tool call belong to it and are not listed; tools the provider runs itself are not either.
 *
 * Imported traces hold no model exchanges: there a call names the mark of the answer that asked for it.
 *
 * One call comes before another when it was settled before the other was issued, except that calls asked for by one
 * model response are concurrent, in any order the agent ran them.
 *
 * @param events - events of a tape or of a replay, bodies resolved; in any order
 * @see A. Mazurkiewicz, Concurrent program schemes and their interpretations (1977); P. Cartier and D. Foata,
 *   Problèmes combinatoires de commutation et réarrangements (1969), for the layers
 */
export function traceOf(events: readonly TapeEvent[]): Trace {
  return { layers: layered(placedCalls(events)) }
}

/** A run of a tape, in the shape of a tape. */
export interface RunOfTape {
  readonly tape: { readonly events: readonly TapeEvent[] }
  readonly events: readonly TapeEvent[]
}

/**
 * The same of a replay: a call that ran when it was recorded counts where it runs again. That the model hears of a result is no
 * proof: the agent may have made it up.
 */
export function traceOfRun({ tape, events }: RunOfTape): Trace {
  const recorded = () => {
    const { exchanges, executed } = partsOf(tape.events)
    return ranCalls(exchanges, executed)
  }
  return { layers: layered(placedIn(events, recorded)) }
}

/**
 * The calls of {@link traceOf} with the moments each took, and who asked for it.
 *
 * @param events - as for {@link traceOf}
 */
export function placedCalls(events: readonly TapeEvent[]): readonly PlacedCall[] {
  return placedIn(events)
}

function placedIn(events: readonly TapeEvent[], recorded?: () => ReturnType<typeof ranCalls>): readonly PlacedCall[] {
  const { exchanges, executed, wrapsTools } = partsOf(events)
  return decidedCalls(exchanges, executed, { wrapsTools, ...(recorded && { recorded }) })
}

function partsOf(events: readonly TapeEvent[]) {
  const inOrder = [...events].sort((a, b) => a.n - b.n)
  const isInside = insideTool(inOrder)
  const asks = modelMarks(inOrder)
  const steps = inOrder.filter((event): event is ExchangeEvent | CallEvent => isStep(event))
  const executed = steps.flatMap((step) => executedCall(step, asks) ?? []).filter(({ call }) => !isInside(call.n))
  const wrapsTools = steps.some(
    (step) => step.kind === 'tool' || (step.kind === 'exchange' && readMcpCall(step) !== undefined),
  )
  const exchanges = inOrder
    .flatMap((event) =>
      event.kind === 'push' ? (pushedModelCall(event) ?? []) : event.kind === 'exchange' ? [event] : [],
    )
    .filter((event) => !isInside(event.n))
  return { exchanges, executed, wrapsTools }
}

function isStep(event: TapeEvent): boolean {
  return event.kind === 'exchange' || event.kind === 'tool' || event.kind === 'retrieval'
}

function executedCall(step: ExchangeEvent | CallEvent, asks: readonly number[]): ExecutedCall | undefined {
  const { n } = step
  const site = step.site === undefined ? {} : { site: step.site }
  if (step.kind !== 'exchange') {
    const { name, args, settled, asked } = step
    // It was not seen to run. The model was asked again, as it is with the answers: by then it had settled.
    const answered = asked === undefined ? undefined : firstAfter(asks, n)
    return {
      call: { name, args: namedArgs(args), n, ...site },
      issued: n,
      settled: settled?.[0] ?? (answered === undefined ? Infinity : answered - 0.5),
      mcp: false,
      ...(asked === undefined ? {} : { askedBy: asked }),
    }
  }
  const asked = readMcpCall(step)
  if (asked === undefined) return undefined
  const { name, args } = asked
  return { call: { name, args, n, ...site }, issued: n, settled: settledAt(step), mcp: true }
}

/** Numbers of the marks that stand for model calls: imported traces name them in what those asked for. */
function modelMarks(events: readonly TapeEvent[]): readonly number[] {
  const isNamed = events.some((event) => event.kind === 'tool' && event.asked !== undefined)
  if (!isNamed) return []
  return events.flatMap((event) => (event.kind === 'mark' && event.name === 'model' ? [event.n] : []))
}

/** The first of ascending numbers that is larger. */
function firstAfter(numbers: readonly number[], n: number): number | undefined {
  let [low, high] = [0, numbers.length]
  while (low < high) {
    const middle = (low + high) >> 1
    if (numbers[middle]! > n) high = middle
    else low = middle + 1
  }
  return numbers[low]
}

/** Tells by `n` whether an event happened inside a tool or retrieval call, however deep. */
function insideTool(events: readonly TapeEvent[]): (n: number) => boolean {
  const byNumber = new Map(events.map((event) => [event.n, event]))
  const known = new Map<number, boolean>()
  // In order of `n`, and only towards smaller numbers: a parent is always known before its children.
  for (const { n, in: parentNumber } of events) {
    const parent = parentNumber === undefined || parentNumber >= n ? undefined : byNumber.get(parentNumber)
    const isTool = parent?.kind === 'tool' || parent?.kind === 'retrieval'
    known.set(n, parent !== undefined && (isTool || known.get(parent.n) === true))
  }
  return (n) => known.get(n) === true
}
