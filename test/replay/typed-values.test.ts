import { mkdtempSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { createRecorder, mark, tool } from '../../src/record/index.ts'
import { installReplay, replayTape, verdictOf } from '../../src/replay/index.ts'
import { readTape } from '../../src/tape/index.ts'

// Made up: no scanner takes it for a real one.
const secret = 'K7fq2Zr9Xv4T' + 'n8Wb'

/** What holds a secret, or is of a type that no placeholder is of. */
const values: Readonly<Record<string, () => unknown>> = {
  'a BigInt': () => 4711n,
  'a date': () => new Date(1_700_000_000_000),
  'an address': () => new URL(`https://shop.example/${secret}`),
  'parameters of an address': () => new URLSearchParams({ ada: secret }),
  'a regular expression': () => new RegExp(`${secret}(\\d+)`, 'g'),
  'a set': () => new Set([secret]),
  'a map': () => new Map([['ada', secret]]),
  'the key of a map': () => new Map([[secret, 'ada']]),
  'an error': () => new Error(secret, { cause: secret }),
  'a buffer': () => Buffer.from(secret),
  'a typed array': () => new TextEncoder().encode(secret),
  'a typed array of longer items': () => new Uint32Array(new TextEncoder().encode(secret).buffer),
  'bytes that are no text': () => Buffer.from(`\0\xff${secret}`, 'latin1'),
  'a symbol': () => Symbol.for(secret),
  'numbers that JSON has not': () => [Number.NaN, -0, Infinity],
}

let dir: string
beforeAll(async () => {
  await installReplay()
  dir = mkdtempSync(join(tmpdir(), 'harvest-typed-'))
})
afterAll(() => rmSync(dir, { recursive: true, force: true }))

const shape = (value: unknown): string => Object.prototype.toString.call(value)

test.each(Object.entries(values))(
  '%s under a telling name leaves no secret on the tape, and replays',
  async (_, make) => {
    const read = tool('read', (_: unknown) => ({ password: make() }))
    const write = tool('write', (_: unknown) => 'ok')
    const agent = async (input: unknown): Promise<unknown> => {
      const { password } = read(input)
      write({ password })
      mark('read', { password })
      write({ is: shape(password) })
      return { api_key: password }
    }
    const failing = async (input: unknown): Promise<unknown> => {
      throw Object.assign(new Error('no'), { password: read(input).password })
    }
    for (const run of [agent, failing]) {
      const recorder = createRecorder({ dir })
      const id = `run-${Math.random().toString(36).slice(2)}`
      await recorder
        .run({ agent: 'typed', id, input: { password: make() } }, () => run({ password: make() }))
        .catch(() => {})
      const file = join(dir, `${id}.tape.jsonl`)
      const text = readFileSync(file, 'utf8')
      expect(text).not.toContain(secret)
      for (const [word] of text.matchAll(/[A-Za-z0-9+/]{12,}={0,2}/g))
        expect(Buffer.from(word, 'base64').toString('latin1')).not.toContain(secret)
      const verdict = verdictOf(await replayTape(readTape(file), run))
      expect(verdict.verdict, JSON.stringify(verdict)).toBe('same')
    }
  },
)
