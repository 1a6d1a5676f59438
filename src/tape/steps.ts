import { decodeBytes } from './bytes.ts'
import type { ExchangeEvent, Step, TapeEvent } from './types.ts'

/** Whether an event is a step: an exchange, or a call of a tool, retriever or named value. */
export function isStep(event: TapeEvent): event is Step {
  const { kind } = event
  return kind === 'exchange' || kind === 'tool' || kind === 'retrieval' || kind === 'value'
}

/** The steps of a tape in the order they were issued. The 1-based number people count by is the index here plus 1. */
export function stepsOf(tape: { readonly events: readonly TapeEvent[] }): readonly Step[] {
  return tape.events.filter(isStep)
}

/** Whether a step got its answer, its error or was given up: a step of a truncated run may still be open. */
export function isSettled(step: Step): boolean {
  if (step.kind !== 'exchange') return step.settled !== undefined || step.sync === true
  return (
    step.response?.end !== undefined || step.error !== undefined || step.aborted !== undefined || step.oneWay === true
  )
}

/** The request body as bytes; empty without one. */
export function requestBytes({ n, request }: ExchangeEvent): Buffer {
  const { body } = request
  if (body === undefined) return Buffer.alloc(0)
  if (typeof body === 'object' && 'like' in body) {
    throw new TypeError(
      `the request body of event ${n} is a reference to event ${body.like}: read the tape with readTape`,
    )
  }
  return decodeBytes(body)
}

/** The response body as bytes, all chunks together; empty without one. */
export function responseBytes({ response }: ExchangeEvent): Buffer {
  return Buffer.concat((response?.chunks ?? []).map(([, , bytes]) => decodeBytes(bytes)))
}

/** How the reason of a tape begins that could not be written once more without values that got their name late. */
export const unclearedReason = 'a value that got its name late may stand in clear'

/** How many bodies of an exchange could not be searched for secrets, and are not on its tape. */
export function unsearchedIn({ request, response }: ExchangeEvent): number {
  return (request.unsearched ? 1 : 0) + (response?.unsearched ? 1 : 0)
}

/** Why a tape is incomplete that lacks nothing but bodies that could not be searched. */
export function unsearchedReason(bodies: number): string {
  return `${bodies} ${bodies === 1 ? 'body' : 'bodies'} could not be searched for secrets, and ${bodies === 1 ? 'is' : 'are'} not kept`
}
