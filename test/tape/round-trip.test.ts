import * as nodeFs from 'node:fs'
import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import fc from 'fast-check'
import { expect, test } from 'vitest'
import type { TapeClose, TapeEvent } from '../../src/tape/index.ts'
import {
  createTapeWriter,
  parseTape,
  readTape,
  readTapeHeader,
  serializeTape,
  streamTape,
} from '../../src/tape/index.ts'
import { arbitraryTape, asRead } from './arbitrary.ts'
import { call, closing, exchange, fileOf, header, mark, scratch } from './make.ts'

test('for every tape, reading what was written gives the same tape', () => {
  fc.assert(
    fc.property(arbitraryTape, (tape) => {
      const { source, digest, ...read } = parseTape(serializeTape(tape.header, tape.events, tape.close), 'generated')
      expect(read).toStrictEqual(asRead(tape))
      expect([source, digest.length]).toStrictEqual(['generated', 22])
    }),
    { numRuns: 300 },
  )
})

test('for every tape, the file a writer makes is the text it serializes to', () => {
  const directory = scratch()
  let made = 0
  fc.assert(
    fc.property(arbitraryTape, (tape) => {
      const path = join(directory, `${made++}.tape.jsonl`)
      {
        using writer = createTapeWriter({ path, header: tape.header })
        for (const event of tape.events) writer.append(event)
        if (tape.close !== undefined) writer.close(tape.close)
      }
      const { source, ...read } = readTape(path)
      const { source: _, ...parsed } = parseTape(serializeTape(tape.header, tape.events, tape.close), 'generated')
      expect(read).toStrictEqual(parsed)
      expect(source).toBe(path)
      expect(readTapeHeader(path)).toStrictEqual(tape.header)
    }),
    { numRuns: 100 },
  )
})

test('for every tape, events appended together are one write, and the tape reads as if each came alone', () => {
  const directory = scratch()
  let made = 0
  // Longer than the memory lines are made in, one by its bytes alone, one by its characters; short ones around them.
  const long = [exchange(3, '€'.repeat(30_000), '🦊'), exchange(4, 'x'.repeat(70_000))]
  fc.assert(
    fc.property(arbitraryTape, fc.array(fc.integer({ min: 1, max: 4 }), { minLength: 1 }), (tape, sizes) => {
      const path = join(directory, `${made++}.tape.jsonl`)
      let writes = 0
      const counting = {
        ...nodeFs,
        writeSync: ((...given: Parameters<typeof nodeFs.writeSync>) => {
          writes++
          return nodeFs.writeSync(...given)
        }) as typeof nodeFs.writeSync,
      }
      using writer = createTapeWriter({ path, header: tape.header }, counting)
      let groups = 0
      for (let at = 0; at < tape.events.length; groups++) {
        const size = sizes[groups % sizes.length]!
        writer.append(...tape.events.slice(at, at + size))
        at += size
      }
      expect(writes).toBe(groups + 1)
      if (tape.close !== undefined) writer.close(tape.close)
      const { source, digest, ...read } = readTape(path)
      expect(read).toStrictEqual(asRead(tape))
    }),
    { numRuns: 100, examples: [[{ header, events: [mark(1, 'a'), ...long, mark(9, 'b')], close: closing }, [4]]] },
  )
})

test('for every tape, streaming gives the events in the order they were written', async () => {
  const directory = scratch()
  let made = 0
  await fc.assert(
    fc.asyncProperty(arbitraryTape, async (tape) => {
      const path = join(directory, `${made++}.tape.jsonl`)
      writeFileSync(path, serializeTape(tape.header, tape.events, tape.close))
      const { events, close } = asRead({ ...tape, events: [] })
      expect(events).toStrictEqual([])
      const streamed = await collect(path)
      expect(streamed).toStrictEqual([
        ...tape.events,
        ...(close === undefined ? [] : [{ ...close, events: tape.events.length }]),
      ])
    }),
    { numRuns: 100 },
  )
})

test('lines longer than a read stream whole', async () => {
  const long = Array.from({ length: 5 }, (_, at) =>
    exchange(at * 10, `${at}`.repeat(700_000 + at), 'ä'.repeat(300_001)),
  )
  const path = fileOf(serializeTape(header, long, closing))
  expect((await collect(path)).slice(0, -1)).toStrictEqual(long)
})

test('events are told in the order they began, whatever order they ended in', () => {
  const events = [call(20, 'second'), mark(30, 'third'), call(10, 'first')]
  const tape = parseTape(serializeTape(header, events, closing), 'x')
  expect(tape.events.map(({ n }) => n)).toStrictEqual([10, 20, 30])
})

test('a tape without its last line feed is whole', async () => {
  const text = serializeTape(header, [mark(1, 'a')], closing).slice(0, -1)
  expect(parseTape(text, 'x').close).toBeDefined()
  expect(await collect(fileOf(text))).toHaveLength(2)
})

test('a tape of one line, its header, is truncated and loads', async () => {
  const text = serializeTape(header, [])
  expect(parseTape(text, 'x')).toMatchObject({ header, events: [] })
  expect(parseTape(text.trimEnd(), 'x')).toMatchObject({ header, events: [] })
  expect(await collect(fileOf(text.trimEnd()))).toStrictEqual([])
  expect(readTapeHeader(fileOf(text.trimEnd()))).toStrictEqual(header)
})

async function collect(path: string): Promise<(TapeEvent | TapeClose)[]> {
  const items: (TapeEvent | TapeClose)[] = []
  for await (const item of streamTape(path)) items.push(item)
  return items
}
