import { canonicalJson } from '../providers/index.ts'
import {
  type CallEvent,
  type ExchangeEvent,
  responseBytes,
  type Step,
  stepsOf,
  type Tape,
  type TapeEvent,
} from '../tape/index.ts'
import { askedOf, decisionOf } from './positions.ts'

/** A run that went well, as a source of good answers. */
export interface ReferenceRun {
  /** For people. */
  readonly about: string
  /**
   * The good answer to a step of the bad run: the reference run's answer to the very same question, for the answer to another
   * one says nothing of it. `undefined` when the reference run has none.
   */
  answerFor(step: number): ((recorded: Step) => Step) | undefined
  /** Whether it has an answer to a step, and that is another one than the recorded. */
  differsAt(step: number): boolean
  /** Whether it has no answer to a step of a tool or a service: that one cannot be repaired. */
  lacksAt(step: number): boolean
  /** The bad run, followed by what the reference run alone knows an answer to. Steps keep their numbers. */
  readonly tape: Tape
}

/** Reads what a passing run of the same agent can answer. Models are never answered from it. */
export function referenceOf(tape: Tape, reference: Tape): ReferenceRun {
  const own = stepsOf(tape)
  const good = stepsOf(reference).filter((step) => decisionOf(step) === undefined)
  const byQuestion = Map.groupBy(good, askedOf)
  const foundFor = (number: number): Step | undefined => {
    const step = own[number - 1]
    if (step === undefined || decisionOf(step) !== undefined) return undefined
    const asked = askedOf(step)
    const same = byQuestion.get(asked)
    return same?.[own.slice(0, number - 1).filter((one) => askedOf(one) === asked).length] ?? same?.at(-1)
  }
  return {
    about: `the answers of ${reference.header.id}`,
    answerFor(number) {
      const found = foundFor(number)
      return found === undefined ? undefined : (recorded) => withAnswerOf(recorded, found)
    },
    differsAt(number) {
      const step = own[number - 1]
      const found = foundFor(number)
      return step !== undefined && found !== undefined && answerText(step) !== answerText(found)
    },
    lacksAt(number) {
      const step = own[number - 1]
      return step !== undefined && decisionOf(step) === undefined && foundFor(number) === undefined
    },
    tape: { ...tape, events: [...tape.events, ...onlyIn(good, own, tape.events)] },
  }
}

/** What came back, in one text without times. */
export function answerText(step: Step): string {
  if (step.kind !== 'exchange') return canonicalJson([step.result ?? null, step.error ?? null])
  if (step.response === undefined) return canonicalJson([step.error?.message ?? null])
  return `${step.response.status} ${responseBytes(step).toString('base64')}`
}

/** The question stays as it was; only what came back is the reference run's. */
function withAnswerOf(recorded: Step, good: Step): Step {
  if (recorded.kind === 'exchange') {
    if (good.kind !== 'exchange' || good.response === undefined || recorded.response === undefined) return recorded
    const { moment } = recorded.response
    const [n, at] = recorded.response.end ?? moment
    // All at once, when the recorded answer was complete.
    const chunks = good.response.chunks.map(([, , bytes]) => [n, at, bytes] as const)
    return {
      ...recorded,
      response: { ...good.response, moment, chunks, ...(good.response.end ? { end: [n, at] } : {}) },
    }
  }
  if (good.kind === 'exchange') return recorded
  const { result: _result, error: _error, ...question } = recorded
  return {
    ...question,
    ...(good.result === undefined ? {} : { result: good.result }),
    ...(good.error === undefined ? {} : { error: good.error }),
  }
}

/** Answers to questions the bad run never asked, as steps behind its last moment. */
function onlyIn(good: readonly Step[], own: readonly Step[], events: readonly TapeEvent[]): readonly TapeEvent[] {
  const asked = new Set(own.map(askedOf))
  const last = Math.max(0, ...events.map(momentsOf))
  return good
    .filter((step) => step.in === undefined && !asked.has(askedOf(step)))
    .map((step) => renumbered(step, (n) => n + last + 1))
}

function momentsOf(event: TapeEvent): number {
  if (event.kind === 'exchange') {
    const { response, error, aborted } = event
    return Math.max(
      event.n,
      response?.end?.[0] ?? 0,
      response?.chunks.at(-1)?.[0] ?? 0,
      error?.moment[0] ?? 0,
      aborted?.[0] ?? 0,
    )
  }
  return 'settled' in event ? Math.max(event.n, event.settled?.[0] ?? 0) : event.n
}

/** A step in another place among its events. */
export function renumbered<E extends CallEvent | ExchangeEvent>(step: E, to: (n: number) => number): E {
  const moved = ([n, ...rest]: readonly [number, ...unknown[]]) => [to(n), ...rest]
  const { n, in: inside } = step
  const place = { n: to(n), ...(inside === undefined ? {} : { in: to(inside) }) }
  if (step.kind !== 'exchange') {
    const { settled, yields } = step
    return {
      ...step,
      ...place,
      ...(settled && { settled: moved(settled) }),
      ...(yields && { yields: yields.map(moved) }),
    }
  }
  const { response, error } = step
  return {
    ...step,
    ...place,
    ...(response && {
      response: {
        ...response,
        moment: moved(response.moment),
        chunks: response.chunks.map(moved),
        ...(response.end && { end: moved(response.end) }),
      },
    }),
    ...(error && { error: { ...error, moment: moved(error.moment) } }),
  }
}
