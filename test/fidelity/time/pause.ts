import { isStep, type Moment, type Tape, type TapeEvent } from '../../../src/tape/index.ts'

/**
 * The tape of a run that paused for `ms` before the event `n`: as recorded, with all later times moved. What took minutes
 * need not be recorded for minutes.
 */
export function paused(tape: Tape, n: number, ms: number): Tape {
  const later = <T extends readonly [number, number, ...unknown[]]>(moment: T): T =>
    (moment[0] < n ? moment : [moment[0], moment[1] + ms, ...moment.slice(2)]) as unknown as T
  const maybe = (moment: Moment | undefined): Moment | undefined => moment && later(moment)
  const { close } = tape
  const moved = (event: TapeEvent): TapeEvent => {
    const at = later([event.n, event.at])[1]
    if (event.kind !== 'exchange')
      return 'settled' in event ? { ...event, at, settled: later(event.settled!) } : { ...event, at }
    const { response, error, aborted } = event
    return {
      ...event,
      at,
      ...(response && {
        response: {
          ...response,
          moment: later(response.moment),
          chunks: response.chunks.map((chunk) => later(chunk)),
          ...(response.end && { end: later(response.end) }),
        },
      }),
      ...(error && { error: { ...error, moment: later(error.moment) } }),
      ...(aborted && { aborted: maybe(aborted)! }),
    }
  }
  return {
    ...tape,
    events: tape.events.map(moved),
    ...(close && {
      close: {
        ...close,
        at: close.at + ms,
        ...(close.timers && {
          timers: close.timers.map(
            ([caller, delay, set, fired]) =>
              [
                caller,
                delay,
                set,
                fired.map(([before, at]) => [before, at.map((one) => later(one))] as const),
              ] as const,
          ),
        }),
      },
    }),
  }
}

/** The event before which an agent is to have paused. */
export function placeOf(tape: Tape, before: 'request' | 'answer', step: number): number {
  const event = tape.events.filter(isStep)[step - 1]
  if (event?.kind !== 'exchange') throw new RangeError(`step ${step} of ${tape.header.id} is no exchange`)
  const n = before === 'request' ? event.n : event.response?.moment[0]
  if (n === undefined) throw new RangeError(`step ${step} of ${tape.header.id} has no answer`)
  return n
}
