import { neutralLine } from '../errors/index.ts'
import { isSettled, isStep } from './steps.ts'
import type { Moment, Step, TapeEvent, TapeHeader } from './types.ts'

/** A call that was under way when the recorded process ended. */
export interface OpenCall {
  /** 1-based, as people count the steps of the run. */
  readonly call: number
  /** Such as `POST https://api.openai.com/v1/responses` or `tool lookup_order`; as recorded. */
  readonly what: string
  /** When it began, ISO 8601. */
  readonly begun: string
  /**
   * Milliseconds from the last other thing on the tape to its beginning; negative: it began before that. Absent: there is
   * no other thing.
   */
  readonly afterMs?: number
}

/** Finds the calls a tape without a closing line was cut off in. Sees every event, in any order, and holds open calls alone. */
export class CutOff {
  readonly #startedAt: string
  readonly #open: (Pick<OpenCall, 'what'> & Pick<Step, 'n' | 'at'>)[] = []
  /** `n` of every step: which call it was is known at the end. */
  readonly #numbers: number[] = []
  #lastAt: number | undefined

  constructor({ startedAt }: Pick<TapeHeader, 'startedAt'>) {
    this.#startedAt = startedAt
  }

  add(event: TapeEvent): void {
    if (isStep(event)) {
      this.#numbers.push(event.n)
      if (!isSettled(event)) {
        this.#open.push({ n: event.n, at: event.at, what: nameOf(event) })
        return
      }
    }
    // What was drawn is written with the next thing that happens.
    if (event.kind !== 'draws') this.#lastAt = Math.max(this.#lastAt ?? 0, endOf(event))
  }

  /** In the order they began. */
  get calls(): readonly OpenCall[] {
    if (this.#open.length === 0) return []
    const start = Date.parse(this.#startedAt)
    const lastAt = this.#lastAt
    const call = new Map(this.#numbers.sort((one, other) => one - other).map((n, index) => [n, index + 1]))
    return this.#open
      .sort((one, other) => one.n - other.n)
      .map(({ n, at, what }) => ({
        call: call.get(n)!,
        what,
        begun: isoOf(start + at),
        ...(lastAt === undefined ? {} : { afterMs: at - lastAt }),
      }))
  }
}

/** What a tape says about time is unchecked. */
function isoOf(ms: number): string {
  return Math.abs(ms) <= 8.64e15 ? new Date(ms).toISOString() : 'at an unknown time'
}

/** The calls a tape was cut off in; none of one that was closed. */
export function openCallsOf(tape: {
  readonly header: TapeHeader
  readonly events: readonly TapeEvent[]
  readonly close?: unknown
}): readonly OpenCall[] {
  if (tape.close !== undefined) return []
  const cutOff = new CutOff(tape.header)
  for (const event of tape.events) cutOff.add(event)
  return cutOff.calls
}

/**
 * As `cut off in call 7, POST https://api.openai.com/v1/responses, begun 12:01:07, 41 s after the last event`, safe to
 * print; several are parted by `; `. `undefined` when none was open. Times are UTC.
 *
 * @param most - more are counted and not named
 */
export function cutOffText(calls: readonly OpenCall[], most = 3): string | undefined {
  if (calls.length === 0) return undefined
  const named = calls.slice(0, most).map(({ call, what, begun, afterMs }) => {
    const apart =
      afterMs === undefined ? '' : `, ${seconds(Math.abs(afterMs))} ${afterMs < 0 ? 'before' : 'after'} the last event`
    return `call ${call}, ${neutralLine(what, 120)}, begun ${clockOf(begun)}${apart}`
  })
  const more = calls.length - named.length
  return `cut off in ${[...named, ...(more > 0 ? [`and ${more} more`] : [])].join('; ')}`
}

function clockOf(begun: string): string {
  return /T(\d\d:\d\d:\d\d)/.exec(begun)?.[1] ?? begun
}

function nameOf(step: Step): string {
  if (step.kind !== 'exchange') return `${step.kind} ${step.name}`
  // What is asked stands in the body, and a query may be long.
  return `${step.method} ${step.url.split('?', 1)[0]}`
}

function endOf(event: TapeEvent): number {
  const ends: readonly (Moment | undefined)[] =
    event.kind === 'exchange'
      ? [event.response?.end, event.error?.moment, event.aborted]
      : isStep(event)
        ? [event.settled]
        : []
  return Math.max(event.at, ...ends.map((end) => end?.[1] ?? 0))
}

function seconds(ms: number): string {
  if (ms < 1000) return `${Math.round(ms)} ms`
  return ms < 10_000 ? `${(ms / 1000).toFixed(1)} s` : `${Math.round(ms / 1000)} s`
}
