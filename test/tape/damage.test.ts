import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import fc from 'fast-check'
import { expect, test } from 'vitest'
import { HarvestError } from '../../src/errors/index.ts'
import type { Tape } from '../../src/tape/index.ts'
import { parseTape, readTape, readTapeHeader, serializeTape, streamTape } from '../../src/tape/index.ts'
import { readBytes } from '../../src/tape/read.ts'
import { arbitraryTape } from './arbitrary.ts'
import { call, closing, exchange, header, mark, scratch } from './make.ts'

const small = serializeTape(
  header,
  [exchange(1, 'Where is my order? 😀'), call(10, 'lookup_order', { id: 'A-17' })],
  closing,
)
const lines = small.split('\n').slice(0, -1)
const whole = parseTape(small, 'whole')

test('a flipped bit is found at every offset, and every byte turned into another', () => {
  const clean = Buffer.from(small)
  const unseen: string[] = []
  for (let at = 0; at < clean.length; at++) {
    const changed = new Set([
      ...Array.from({ length: 8 }, (_, bit) => clean[at]! ^ (1 << bit)),
      0x00,
      0x0a,
      0x22,
      0x7d,
      0xff,
    ])
    changed.delete(clean[at]!)
    for (const byte of changed) {
      const bytes = Buffer.from(clean)
      bytes[at] = byte
      if (!isFound(() => readBytes(bytes, 'flipped'))) unseen.push(`${at}: ${clean[at]} -> ${byte}`)
    }
  }
  expect(unseen).toStrictEqual([])
})

test('for every tape, a change of one byte is found', () => {
  fc.assert(
    fc.property(arbitraryTape, fc.nat(), fc.integer({ min: 1, max: 255 }), (tape, place, change) => {
      const bytes = Buffer.from(serializeTape(tape.header, tape.events, tape.close ?? closing))
      const at = place % bytes.length
      bytes[at]! ^= change
      expect(isFound(() => readBytes(bytes, 'changed'))).toBe(true)
    }),
    { numRuns: 500 },
  )
})

test('for every length, a tape that was cut there is truncated or refused, never whole', async () => {
  const path = join(scratch(), 'cut.tape.jsonl')
  const bytes = Buffer.from(small)
  for (let length = 0; length < bytes.length - 1; length++) {
    writeFileSync(path, bytes.subarray(0, length))
    const outcome = codeOr(() => readTape(path))
    expect(outcome, `cut at ${length}`).toBe(expectedOfCut(bytes, length))
    expect(await streamedCodeOr(path), `streamed, cut at ${length}`).toBe(outcome)
    if (length <= lines[0]!.length)
      expect(codeOr(() => readTapeHeader(path))).toBe(outcome === '0 events' ? 'read' : outcome)
  }
})

test('a cut tape keeps every line before the cut', () => {
  const cut = parseTape(small.slice(0, small.lastIndexOf('{"kind":"close"') + 20), 'cut')
  expect(cut.events).toStrictEqual(whole.events)
  expect(cut.close).toBeUndefined()
})

test('zero bytes that a power failure left behind the last line are no damage', () => {
  const cut = small.slice(0, small.lastIndexOf('{"kind":"close"'))
  expect(parseTape(`${cut}${'\0'.repeat(100)}`, 'x').events).toHaveLength(2)
  expect(parseTape(`${cut}{"kind":"cl${'\0'.repeat(100)}`, 'x').events).toHaveLength(2)
})

test('a dropped, repeated, reordered or foreign line is found', () => {
  const [first, second, third, last] = lines as [string, string, string, string]
  const foreign = serializeTape(header, [mark(5, 'foreign')]).split('\n')[1]!
  const edits = {
    'dropped event': [first, third, last],
    'repeated event': [first, second, second, third, last],
    'swapped events': [first, third, second, last],
    'foreign event': [first, second, foreign, third, last],
    'event after the close': [first, second, third, last, second],
    'two closes': [first, second, third, last, last],
    'close of a shorter tape': [first, second, last],
    'header of another tape': [first.replace('"refund"', '"other"'), second, third, last],
    'no header': [second, third, last],
    'empty line': [first, '', second, third, last],
  }
  for (const [edit, made] of Object.entries(edits)) {
    expect(
      codeOr(() => parseTape(`${made.join('\n')}\n`, edit)),
      edit,
    ).toMatch(/^HARVEST_TAPE_(TAMPERED|LINE)$/)
  }
})

test('an edited answer is found, also when its own digest was left in place', () => {
  const edited = small.replace('\\"ok\\":true', '\\"ok\\":null')
  expect(edited).not.toBe(small)
  expect(codeOr(() => parseTape(edited, 'x'))).toBe('HARVEST_TAPE_TAMPERED')
})

test('spaces that change no value are found', () => {
  expect(codeOr(() => parseTape(small.replace('"kind":"tool"', '"kind": "tool"'), 'x'))).toBe('HARVEST_TAPE_TAMPERED')
})

test('for every garbage, a reader gives a tape or a HarvestError', () => {
  const pieces = fc.oneof(
    fc.constantFrom(...lines),
    fc.string(),
    fc.json(),
    fc.constantFrom('{}', '[]', '{"harvest":1}', '\0', '\r', '\ufeff'),
  )
  fc.assert(
    fc.property(fc.array(pieces), fc.constantFrom('\n', '', '\r\n'), (parts, glue) => {
      expect(codeOr(() => parseTape(parts.join(glue), 'garbage'))).toMatch(/^HARVEST_TAPE_|events$/)
    }),
    { numRuns: 500 },
  )
})

/** Damage is found when reading says so, or the tape says that it is truncated. */
function isFound(read: () => Tape): boolean {
  try {
    return read().close === undefined
  } catch (error) {
    if (HarvestError.is(error)) return true
    throw error
  }
}

function codeOr(read: () => unknown): string {
  try {
    const tape = read() as Partial<Tape>
    return tape.events === undefined ? 'read' : `${tape.events.length} events`
  } catch (error) {
    if (HarvestError.is(error)) return error.code
    throw error
  }
}

async function streamedCodeOr(path: string): Promise<string> {
  let events = 0
  try {
    for await (const item of streamTape(path)) {
      if (item.kind === 'close') return 'whole'
      events++
    }
  } catch (error) {
    if (HarvestError.is(error)) return error.code
    throw error
  }
  return `${events} events`
}

function expectedOfCut(bytes: Buffer, length: number): string {
  if (length === 0) return 'HARVEST_TAPE_EMPTY'
  const kept = bytes.subarray(0, length).toString('latin1').split('\n')
  const rest = kept.pop()!
  // A line is whole from its closing brace on, the line feed may be missing.
  const isWhole = Buffer.from(lines[kept.length] ?? '').toString('latin1') === rest
  const count = kept.length + (isWhole ? 1 : 0)
  return count === 0 ? 'HARVEST_TAPE_TRUNCATED' : `${count - 1} events`
}
