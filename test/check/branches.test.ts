import { mkdirSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { gzipSync } from 'node:zlib'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { inspect } from '../../src/check/inspect.ts'
import { workTree } from '../../src/check/snapshot.ts'
import {
  branchFlag,
  encodeBytes,
  type ExchangeEvent,
  parseTape,
  serializeTape,
  type TapeHeader,
} from '../../src/tape/index.ts'
import { temporaryFolder } from '../support/temporary-folder.ts'
import { closing, exchange, header } from '../tape/make.ts'

const secret = 'hunter2-Zq81-vT40'
const said = JSON.stringify({ password: secret, note: 'what the customer wrote in the morning' })
const before = process.cwd()
const golden = 'recordings/golden'
beforeAll(() => {
  process.chdir(temporaryFolder('check-branches'))
  mkdirSync(golden, { recursive: true })
})
afterAll(() => process.chdir(before))

const packed: ExchangeEvent = exchange(5, '{"said":"well"}')
const branches: readonly (readonly [string, Partial<TapeHeader>, ExchangeEvent])[] = [
  ['its changed input', { input: JSON.parse(said) as never }, exchange(5, '{}')],
  ['its own question', {}, exchange(5, said)],
  ['a word of base64', {}, exchange(5, JSON.stringify({ word: Buffer.from(said).toString('base64') }))],
  [
    'its own packed answer',
    {},
    {
      ...packed,
      response: {
        ...packed.response!,
        headers: [['content-encoding', 'gzip']],
        chunks: [[2, 1, encodeBytes(gzipSync(said))]],
      },
    },
  ],
]

test.each(branches)('check finds a secret of a branch in %s, with its parent beside it and without', (_, more, own) => {
  const parent = serializeTape(header, [exchange(1, '{"said":"well"}')], closing)
  const { digest } = parseTape(parent, 'refund.tape.jsonl')
  const text = serializeTape(
    {
      ...header,
      id: 'branch',
      flags: [...header.flags, branchFlag],
      parent: { id: header.id, file: 'refund.tape.jsonl', digest, events: 1, before: 5, keep: 1 },
      ...more,
    },
    [own],
    closing,
  )
  writeFileSync(join(golden, 'refund.tape.jsonl'), parent)
  writeFileSync(join(golden, 'branch.tape.jsonl'), text)
  const look = () =>
    inspect(workTree({ files: [] }), { maxSize: 1_000_000, allow: [], progress: () => undefined }).filter(
      ({ file, code }) => file.endsWith('branch.tape.jsonl') && code !== 'HARVEST_TAPE_OBSOLETE',
    )
  expect(look().map(({ code }) => code)).toEqual(['HARVEST_CHECK_SECRET'])
  rmSync(join(golden, 'refund.tape.jsonl'))
  expect(look().map(({ code }) => code)).toContain('HARVEST_TAPE_PARENT')
})
