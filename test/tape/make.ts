import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { onTestFinished } from 'vitest'
import type { CallEvent, Closing, ExchangeEvent, MarkEvent, TapeHeader } from '../../src/tape/index.ts'
import { currentFlags, formatVersion } from '../../src/tape/index.ts'

/** A directory that is gone after the test. */
export function scratch(): string {
  const directory = mkdtempSync(join(tmpdir(), 'harvest-tape-'))
  onTestFinished(() => rmSync(directory, { recursive: true, force: true }))
  return directory
}

/** A file in a directory of its own. */
export function fileOf(content: string | Buffer, name = 'refund.tape.jsonl'): string {
  const path = join(scratch(), name)
  writeFileSync(path, content)
  return path
}

/** The message of an error, without the directory of this run. */
export function messageOf(error: unknown): string {
  const { message } = error as Error
  return message.replaceAll(/\S*harvest-tape-\w{6}/g, 'recordings')
}

/** The error a function throws. */
export function thrownBy(run: () => unknown): unknown {
  try {
    run()
  } catch (error) {
    return error
  }
  throw new Error('nothing was thrown')
}

export const header: TapeHeader = {
  harvest: formatVersion,
  id: 'refund',
  agent: 'refund',
  input: { order: 'A-17' },
  startedAt: '2026-03-04T05:06:07.089Z',
  recorder: 'vitest-harvest/0.1.0',
  flags: currentFlags,
  pins: { node: '24.21.0', commit: '4f2a9c1' },
}

export const closing: Closing = { n: 90, at: 12.5, outcome: { status: 'returned', value: { refunded: 25 } } }

export function exchange(n: number, body: string, answer = '{"ok":true}'): ExchangeEvent {
  return {
    kind: 'exchange',
    n,
    at: n / 2,
    via: 'undici',
    method: 'POST',
    url: 'https://api.example/v1/messages',
    request: { headers: [['content-type', 'application/json']], body },
    response: {
      moment: [n + 1, n / 2 + 1],
      status: 200,
      headers: [['content-type', 'application/json']],
      chunks: [[n + 2, n / 2 + 1, answer]],
      end: [n + 3, n / 2 + 1],
    },
  }
}

export function call(n: number, name: string, args: CallEvent['args'] = {}): CallEvent {
  return { kind: 'tool', n, at: n / 2, name, args, settled: [n + 1, n / 2 + 1], result: { ok: true } }
}

export function mark(n: number, name: string): MarkEvent {
  return { kind: 'mark', n, at: n / 2, name }
}
