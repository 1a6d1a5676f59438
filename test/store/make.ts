import { mkdirSync, mkdtempSync, realpathSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { onTestFinished } from 'vitest'
import { HarvestError } from '../../src/errors/index.ts'
import {
  type CallEvent,
  type Closing,
  currentFlags,
  type ExchangeEvent,
  formatVersion,
  type Json,
  serializeTape,
  type TapeEvent,
  type TapeHeader,
} from '../../src/tape/index.ts'

/** A recordings folder that is gone after the test. */
export function scratch(): string {
  const root = realpathSync(mkdtempSync(join(tmpdir(), 'harvest-store-')))
  onTestFinished(() => rmSync(root, { recursive: true, force: true }))
  return join(root, 'recordings')
}

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

/** Writes a tape below the recordings and gives its path. */
export function putTape(recordings: string, name: string, parts: TapeParts = {}): string {
  return put(recordings, `${name}.tape.jsonl`, tapeText(parts))
}

/** Writes a file below the recordings and gives its path. */
export function put(recordings: string, name: string, content: string | Buffer): string {
  const path = join(recordings, name)
  mkdirSync(dirname(path), { recursive: true })
  writeFileSync(path, content)
  return path
}

export function call(n: number, name: string, args: Json): CallEvent {
  return { kind: 'tool', n, at: n, name, args, settled: [n + 1, n + 1], result: 'ok' }
}

/** A request to a model provider, and its answer in pieces. */
export function exchange(n: number, request: string, pieces: readonly string[]): ExchangeEvent {
  return {
    kind: 'exchange',
    n,
    at: n,
    via: 'undici',
    method: 'POST',
    url: 'https://api.example/v1/chat/completions',
    request: { headers: [['content-type', 'application/json']], body: request },
    response: {
      moment: [n + 1, n + 1],
      status: 200,
      headers: [['content-type', 'text/event-stream']],
      chunks: pieces.map((piece, index) => [n + 2 + index, n + 2, piece]),
      end: [n + 20, n + 3],
    },
  }
}

/** The error a call throws; fails when it throws none, or not one of ours. */
export function errorOf(run: () => unknown): HarvestError {
  let result: unknown
  try {
    result = run()
  } catch (error) {
    if (HarvestError.is(error)) return error
    throw error
  }
  throw new Error(`nothing was thrown, but returned: ${JSON.stringify(result)}`)
}

/** The message of an error, without the folder of this run. */
export function messageOf(run: () => unknown): string {
  return errorOf(run).message.replaceAll(/\S*harvest-store-\w{6}/g, '<root>')
}
