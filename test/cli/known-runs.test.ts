import { mkdirSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, it } from 'vitest'
import { knownRuns } from '../../src/cli/known-runs.ts'
import { serializeTape, type TapeHeader } from '../../src/tape/index.ts'
import { refundOf } from '../blame/refund-run.ts'
import { temporaryFolder } from '../support/temporary-folder.ts'

it('runs that may be good are cases that pass, those of the same input first, then tapes of the inbox that were asked the same', () => {
  const recordings = temporaryFolder('recordings')
  for (const part of ['inbox', 'golden']) mkdirSync(join(recordings, part))
  const asked = refundOf(2500)
  const write = (path: string, header: Partial<TapeHeader> = {}): void => {
    const { events, close } = refundOf(25)
    writeFileSync(join(recordings, `${path}.tape.jsonl`), serializeTape({ ...asked.header, ...header }, events, close))
  }
  const [first, last] = ['2026-01-01T00:00:00.000Z', '2026-01-02T00:00:00.000Z']
  for (const [id, input, expects] of [
    ['a-other', { text: 'Hello.' }, 'pass'],
    ['b-same', asked.header.input, 'pass'],
    ['c-bad', asked.header.input, 'fail'],
  ] as const) {
    write(`golden/${id}`, input === undefined ? {} : { input })
    const text = `case: ${id}\nagent: ${asked.header.agent}\ntape: ${id}.tape.jsonl\nexpect: ${expects}\n`
    writeFileSync(join(recordings, `golden/${id}.case.yaml`), text)
  }
  write('inbox/fresh', { startedAt: first })
  write('inbox/later', { startedAt: last })
  write('inbox/of-other-input', { input: { text: 'Hello.' } })
  write('inbox/of-other-agent', { agent: 'another' })
  // By its name alone the case would be found.
  write('inbox/b-same', { startedAt: first })
  writeFileSync(join(recordings, 'inbox/unreadable.tape.jsonl'), 'no tape')
  const known = knownRuns(asked.header, recordings, asked)
  expect(known.map(({ name, passes }) => [name, passes])).toEqual([
    ['b-same', true],
    ['a-other', true],
    ['later', false],
    ...known.slice(3).map(({ name }) => [name, false]),
  ])
  expect(new Set(known.slice(3).map(({ name }) => name))).toEqual(
    new Set(['fresh', join(recordings, 'inbox/b-same.tape.jsonl')]),
  )
})
