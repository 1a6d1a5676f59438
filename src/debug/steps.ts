import { type DescribedStep, describeStep, signature } from '../report/describe.ts'
import { overlaps } from '../report/overlaps.ts'
import { type ModelCall, readModelCall } from '../providers/index.ts'
import { type Moment, type Step, stepsOf, type Tape } from '../tape/index.ts'

/** A step as the debugger holds it. What takes reading is read when someone looks. */
export interface DebugStep {
  /** 1-based. */
  readonly number: number
  readonly event: Step
  /** Numbers of steps of the same level that were under way at the same time: the nearest four. */
  readonly during: readonly number[]
  /** Number of the tool call this happened inside of. */
  readonly inside?: number
  /** The moment its answer was complete; absent when it never was. */
  readonly answered?: Moment
}

/** The steps of a tape, numbered as people count them. */
export function debugSteps(tape: Tape): readonly DebugStep[] {
  const events = stepsOf(tape)
  const numbers = new Map(events.map(({ n }, index) => [n, index + 1]))
  const together = overlaps(
    events.map((event) => ({ n: event.n, end: answeredAt(event)?.[0] ?? Infinity, level: event.in ?? 0 })),
  )
  return events.map((event, index) => {
    const inside = event.in === undefined ? undefined : numbers.get(event.in)
    const answered = answeredAt(event)
    return {
      number: index + 1,
      event,
      during: (together[index]?.near ?? []).map((other) => other + 1).sort((a, b) => a - b),
      ...(inside === undefined ? {} : { inside }),
      ...(answered === undefined ? {} : { answered }),
    }
  })
}

function answeredAt(event: Step): Moment | undefined {
  if (event.kind !== 'exchange') return event.settled ?? (event.sync === true ? [event.n, event.at] : undefined)
  const { response, error, aborted } = event
  const [n, atMs] = response?.chunks.at(-1) ?? []
  const torn = n === undefined || atMs === undefined ? response?.moment : ([n, atMs] as const)
  return response?.end ?? error?.moment ?? aborted ?? torn
}

const described = new WeakMap<Step, DescribedStep>()

/** What a step was, in words; read once. */
export function wordsOf({ event }: DebugStep): DescribedStep {
  const words = described.get(event) ?? describeStep(event)
  described.set(event, words)
  return words
}

/** The model call a step was. */
export function modelCallOf({ event }: DebugStep): ModelCall | undefined {
  return event.kind === 'exchange' ? readModelCall(event) : undefined
}

/** What a step did, as one would write it: a call, the calls a model asked for, or what it said. Not yet neutral. */
export function callText(step: DebugStep): string {
  const { event } = step
  if (event.kind !== 'exchange') return signature({ name: event.name, args: event.args })
  const { kind, name, toolCalls, answer, asked, error, isPoll } = wordsOf(step)
  if (kind === 'model') {
    if (isPoll === true) return 'looks at an answer'
    return toolCalls.length > 0 ? toolCalls.join(' ∥ ') : (answer ?? error ?? 'no answer was recorded')
  }
  return kind === 'mcp' ? `${name}(${asked ?? ''})` : name
}

/** The error of a step, when it ended with one. */
export function failureOf(step: DebugStep): string | undefined {
  return wordsOf(step).error
}
