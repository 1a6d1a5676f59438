import { mkdirSync, mkdtempSync, realpathSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { onTestFinished } from 'vitest'
import { HarvestError } from '../../src/errors/index.ts'
import type { ExchangeEvent } from '../../src/tape/index.ts'
import { type TapeParts, tapeText } from './tape-text.ts'

export { call, type TapeParts, tapeText } from './tape-text.ts'

/** A recordings folder that is gone after the test. */
export function scratch(): string {
  const root = realpathSync(mkdtempSync(join(tmpdir(), 'harvest-store-')))
  onTestFinished(() => rmSync(root, { recursive: true, force: true }))
  return join(root, 'recordings')
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
