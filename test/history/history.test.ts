import { readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { readTape, readTapeHeader, streamTape } from '../../src/tape/index.ts'

/*
 * Tapes written by released versions. They are never written again: a version that cannot read one of them has
 * broken the promise that a tape replays for ever.
 */
const directory = import.meta.dirname
const tapes = readdirSync(directory).filter((name) => name.endsWith('.tape.jsonl'))

test.each(tapes)('%s reads as it did when it was written', async (name) => {
  const path = join(directory, name)
  const { source, ...tape } = readTape(path)
  expect(source).toBe(path)
  const expected: unknown = JSON.parse(readFileSync(path.replace('.tape.jsonl', '.expected.json'), 'utf8'))
  expect(tape).toStrictEqual(expected)
  expect(readTapeHeader(path)).toStrictEqual(tape.header)
  const streamed: { n: number }[] = []
  for await (const item of streamTape(path)) streamed.push(item)
  expect(streamed.toSorted((a, b) => a.n - b.n)).toStrictEqual([...tape.events, ...(tape.close === undefined ? [] : [tape.close])])
})

test('there is a whole tape, a truncated one and a branch of every format version', () => {
  expect(tapes).toStrictEqual(['v1-branch.tape.jsonl', 'v1-truncated.tape.jsonl', 'v1.tape.jsonl'])
})
