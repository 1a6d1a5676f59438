import { idOfAnswer, readModelCall } from '../providers/index.ts'
import type { ExchangeEvent, TapeEvent } from '../tape/index.ts'
import { isGiven } from './given.ts'

/** Answers that were asked for real, in this process or in one whose runs it counts, by their ids. */
const heard = new Map<string, WeakRef<ExchangeEvent>>()

/**
 * An answer of a model that was given before, to another run that counts or to the recorded one: a cache stands in between
 * that says so in no header. Asked many times, such a model answered once.
 *
 * A server whose recorded answers share an id gives its answers none, and neither does one that counts them.
 *
 * @param events - of the run
 * @param recorded - of the run it is compared with
 */
export function givenAgainIn(events: readonly TapeEvent[], recorded: readonly TapeEvent[]): GivenAgain | undefined {
  const before = answersIn(recorded).map(({ id }) => id)
  if (new Set(before).size < before.length) return undefined
  const ofTape = new Set(recorded)
  let again: GivenAgain | undefined
  for (const answer of answersIn(events.filter((event) => !ofTape.has(event) && !isGiven(event)))) {
    const first = heard.get(answer.id)
    if (before.includes(answer.id) || (first !== undefined && first.deref() !== answer.event)) again ??= answer
    if (first === undefined) heard.set(answer.id, new WeakRef(answer.event))
  }
  return again
}

/** Answers of an earlier session that count beside those of this one. */
export function noteAnswers(events: readonly TapeEvent[]): void {
  for (const { event, id } of answersIn(events)) if (!heard.has(id)) heard.set(id, new WeakRef(event))
}

export interface GivenAgain {
  readonly event: ExchangeEvent
  /** Of the answer. */
  readonly id: string
}

/** Whole answers to questions of their own: what is looked at again has the same id. */
function answersIn(events: readonly TapeEvent[]): readonly GivenAgain[] {
  return events.flatMap((event) => {
    if (event.kind !== 'exchange' || event.response?.end === undefined) return []
    const call = readModelCall(event)
    const id = call === undefined || call.moreOf !== undefined ? undefined : idOfAnswer(event)
    return id !== undefined && isDrawn(id) ? { event, id } : []
  })
}

/** Whether an id is drawn by chance, as providers do: a counter and words come again. */
function isDrawn(id: string): boolean {
  const drawn = id.replace(/^[a-z]+[-_]/i, '').replace(/[-_.]/g, '')
  const digits = drawn.replace(/\D/g, '').length
  return drawn.length >= 20 && digits > 0 && (digits >= 3 || /[a-z][A-Z]|[A-Z][a-z]/.test(drawn))
}
