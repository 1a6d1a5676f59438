import { parseJson } from '../json/canonical.ts'
import type { Usage } from '../providers/index.ts'
import { bodiesOf } from '../report/one-step.ts'
import { type Draw, type HeaderPair, isStartKnown, isTimed, type Json, type Tape } from '../tape/index.ts'
import type { ContextWindow } from './context.ts'
import { logprobsOf, type TokenProbability } from './logprobs.ts'
import { callText, type DebugStep, modelCallOf, wordsOf } from './steps.ts'

/** The parts of a step one can look at. */
export const inspectParts = ['context', 'args', 'result', 'clock', 'state', 'reads', 'raw', 'logprobs'] as const
export type InspectPart = (typeof inspectParts)[number]

/** When a step was. */
export interface StepClock {
  /** Milliseconds since the run began; absent: an import has no times. */
  readonly atMs?: number
  /** The moment the agent's clock showed, ISO 8601; absent: an import did not know when the run began. */
  readonly time?: string
  /** Absent: no answer was recorded. */
  readonly tookMs?: number
}

/** Data the application left, as it was at a step. */
export interface LeftState {
  readonly name: string
  readonly data: Json
  /** The step before which it was left; absent: after the last one. */
  readonly beforeStep?: number
  readonly atMs: number
}

/** What a step was, whole. */
export interface InspectedStep {
  readonly step: number
  readonly kind: string
  readonly name: string
  readonly call: string
  /** `file:line:column` of the agent's code. */
  readonly site?: string
  readonly inside?: number
  readonly during: readonly number[]
  readonly context?: ContextWindow
  readonly args?: Json
  readonly result?: Json
  readonly error?: string
  readonly reasoning?: string
  readonly decided?: readonly { readonly name: string; readonly args: Json }[]
  readonly said?: string
  readonly usage?: Usage
  readonly clock: StepClock
  readonly state: readonly LeftState[]
  /** Clock, random and id values the agent read since the step before. */
  readonly reads: readonly StepRead[]
  readonly logprobs?: readonly TokenProbability[]
}

export interface StepRead {
  readonly kind: Draw[0]
  readonly caller: string
  readonly value: Json
}

/** Headers and bodies of a step as they travelled. */
export interface RawStep {
  readonly method: string
  readonly url: string
  readonly status?: number
  readonly requestHeaders: readonly HeaderPair[]
  readonly request?: Json
  readonly responseHeaders?: readonly HeaderPair[]
  readonly response?: Json
}

/** Everything about one step that the tape holds, without the bodies. */
export function inspectStep(
  tape: Tape,
  steps: readonly DebugStep[],
  number: number,
  context: ContextWindow | undefined,
): InspectedStep {
  const step = steps[number - 1]
  if (step === undefined) throw new RangeError(`there is no step ${number}`)
  const { event, inside, during } = step
  const { kind, name, site, error, reasoning, answer, asked, tookMs } = wordsOf(step)
  const model = modelCallOf(step)?.response
  const logprobs = event.kind === 'exchange' ? logprobsOf(event) : []
  const values =
    event.kind === 'exchange'
      ? kind === 'model'
        ? {}
        : { ...valueOf('args', asked), ...valueOf('result', answer) }
      : {
          args: event.args,
          ...(event.result === undefined ? {} : { result: event.result }),
          ...(event.yields === undefined ? {} : { result: event.yields.map(([, , value]) => value) }),
        }
  return {
    step: number,
    kind,
    name,
    call: callText(step),
    ...(site === undefined ? {} : { site }),
    ...(inside === undefined ? {} : { inside }),
    during,
    ...(context === undefined ? {} : { context }),
    ...values,
    ...(error === undefined ? {} : { error }),
    ...(reasoning === undefined ? {} : { reasoning }),
    ...(kind === 'model'
      ? { decided: (model?.toolCalls ?? []).map((call) => ({ name: call.name, args: call.args })) }
      : {}),
    ...(kind === 'model' && answer !== undefined ? { said: answer } : {}),
    ...(model?.usage === undefined ? {} : { usage: model.usage }),
    clock: clockOf(tape, event.at, tookMs),
    state: stateAt(tape, steps, number),
    reads: readsBefore(tape, steps, number),
    ...(logprobs.length === 0 ? {} : { logprobs }),
  }
}

function valueOf(key: 'args' | 'result', text: string | undefined): { readonly [key: string]: Json } {
  return text === undefined ? {} : { [key]: parseJson(text) ?? text }
}

/** The bodies of an exchange; `undefined` for a wrapped call, which has values and no bytes. */
export function rawStep({ event }: DebugStep): RawStep | undefined {
  if (event.kind !== 'exchange') return undefined
  const { method, url, request, response } = event
  return {
    method,
    url,
    requestHeaders: request.headers,
    ...(response === undefined ? {} : { status: response.status, responseHeaders: response.headers }),
    ...bodiesOf(event),
  }
}

function clockOf({ header }: Tape, atMs: number, tookMs: number | undefined): StepClock {
  if (!isTimed(header)) return {}
  return {
    atMs,
    ...(isStartKnown(header) ? { time: new Date(Date.parse(header.startedAt) + atMs).toISOString() } : {}),
    ...(tookMs === undefined ? {} : { tookMs }),
  }
}

/** The newest snapshot of each `state`, and the newest data of each mark, that was left before this step was answered. */
function stateAt({ events }: Tape, steps: readonly DebugStep[], number: number): readonly LeftState[] {
  const until = steps[number - 1]?.answered?.[0] ?? Infinity
  const newest = new Map<string, LeftState>()
  for (const event of events) {
    if ((event.kind !== 'mark' && event.kind !== 'state') || event.n > until) continue
    const next = steps.find((step) => step.event.n > event.n)
    newest.set(event.name, {
      name: event.name,
      data: event.data ?? null,
      ...(next === undefined ? {} : { beforeStep: next.number }),
      atMs: event.at,
    })
  }
  return [...newest.values()]
}

function readsBefore({ events }: Tape, steps: readonly DebugStep[], number: number): readonly StepRead[] {
  const [from, to] = [steps[number - 2]?.event.n ?? -1, steps[number - 1]?.event.n ?? Infinity]
  return events.flatMap((event) =>
    event.kind === 'draws' && event.n > from && event.n <= to
      ? event.draws.map(([kind, caller, value]) => ({ kind, caller, value }))
      : [],
  )
}
