import {
  type CallEvent,
  type Closing,
  currentFlags,
  formatVersion,
  type Json,
  serializeTape,
  type TapeEvent,
  type TapeHeader,
} from '../../src/tape/index.ts'

/** What a tape is made of; everything has a value that is fine. */
export interface TapeParts {
  readonly header?: Partial<TapeHeader>
  readonly events?: readonly TapeEvent[]
  /** `null`: the tape is truncated. */
  readonly close?: Partial<Closing> | null
}

export function tapeText({
  header,
  events = [call(1, 'lookup_order', { order_id: 'A-17' })],
  close = {},
}: TapeParts = {}): string {
  const head: TapeHeader = {
    harvest: formatVersion,
    id: 'run-1',
    agent: 'refund',
    startedAt: '2026-03-04T05:06:07.089Z',
    recorder: 'vitest-harvest/0.1.0',
    flags: currentFlags,
    pins: { node: '24.21.0', commit: '4f2a9c1' },
    ...header,
  }
  const last: Closing = { n: 90, at: 12.5, outcome: { status: 'returned', value: { refunded: 25 } }, ...close }
  return serializeTape(head, events, close === null ? undefined : last)
}

export function call(n: number, name: string, args: Json): CallEvent {
  return { kind: 'tool', n, at: n, name, args, settled: [n + 1, n + 1], result: 'ok' }
}
