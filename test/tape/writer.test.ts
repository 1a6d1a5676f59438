import * as nodeFs from 'node:fs'
import { existsSync, mkdirSync, readdirSync, readFileSync, statSync, writeFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { expect, test } from 'vitest'
import { HarvestError } from '../../src/errors/index.ts'
import type { TapeEvent, TapeWriter } from '../../src/tape/index.ts'
import { createTapeWriter, readTape, serializeTape, temporaryName } from '../../src/tape/index.ts'
import type { WriterDisk } from '../../src/tape/writer.ts'
import { call, closing, exchange, header, mark, messageOf, scratch, thrownBy } from './make.ts'

const events: readonly TapeEvent[] = [
  mark(1, 'start'),
  exchange(10, 'Where is my order?'),
  call(20, 'lookup_order'),
  mark(30, 'end'),
]
const whole = serializeTape(header, events, closing)

test('the header is on disk when the tape is opened, and each event when append returns', () => {
  const path = join(scratch(), 'refund.tape.jsonl')
  using writer = createTapeWriter({ path, header })
  expect(readTape(path)).toMatchObject({ header, events: [] })
  writer.append(mark(1, 'start'))
  expect(readTape(path).events).toHaveLength(1)
  expect(writer).toMatchObject({ path, bytes: statSync(path).size })
})

test('a tape is for its owner only, and so is the directory made for it', () => {
  const path = join(scratch(), 'inbox', 'today', 'refund.tape.jsonl')
  createTapeWriter({ path, header }).close(closing)
  expect(statSync(path).mode & 0o777).toBe(0o600)
  expect(statSync(dirname(path)).mode & 0o777).toBe(0o700)
})

test('a tape that exists is never overwritten', () => {
  const path = join(scratch(), 'refund.tape.jsonl')
  writeFileSync(path, 'evidence')
  expect(messageOf(thrownBy(() => createTapeWriter({ path, header })))).toMatchInlineSnapshot(`
    "The recorder could not open a tape

      tape   recordings/refund.tape.jsonl
      error  EEXIST: file already exists, recordings/refund.tape.jsonl'

    A tape with this id exists already; a tape is never overwritten.
    (HARVEST_TAPE_WRITE)"
  `)
  expect(readFileSync(path, 'utf8')).toBe('evidence')
})

test('where no directory can be made, the recorder hears why', () => {
  const path = join(scratch(), 'file')
  writeFileSync(path, '')
  const error = thrownBy(() => createTapeWriter({ path: join(path, 'inbox', 'refund.tape.jsonl'), header }))
  expect(HarvestError.is(error, 'HARVEST_TAPE_WRITE')).toBe(true)
  expect((error as Error).cause).toMatchObject({ code: 'ENOTDIR' })
})

test('a tape left without a close is truncated', () => {
  const path = join(scratch(), 'refund.tape.jsonl')
  {
    using writer = createTapeWriter({ path, header })
    writer.append(mark(1, 'start'))
  }
  expect(readTape(path)).toMatchObject({ events: [{ n: 1 }] })
  expect(readTape(path).close).toBeUndefined()
})

test('after the close nothing is written', () => {
  const path = join(scratch(), 'refund.tape.jsonl')
  const writer = createTapeWriter({ path, header })
  writer.close(closing)
  const before = readFileSync(path, 'utf8')
  expect(messageOf(thrownBy(() => writer.append(mark(1, 'late'))))).toMatchInlineSnapshot(`
    "The recorder could not write a tape

      tape   recordings/refund.tape.jsonl
      error  the tape is closed

    (HARVEST_TAPE_WRITE)"
  `)
  expect(() => writer.close(closing)).toThrow(/the tape is closed/)
  writer[Symbol.dispose]()
  expect(readFileSync(path, 'utf8')).toBe(before)
})

test('bytes that the disk takes in small parts all arrive', () => {
  const path = join(scratch(), 'refund.tape.jsonl')
  write(path, { ...nodeFs, writeSync: shortWrites })
  expect(readFileSync(path, 'utf8')).toBe(whole)
})

test('for every call that fails, once or for good, the tape keeps the lines before and takes those after', () => {
  const directory = scratch()
  for (const code of ['ENOSPC', 'EIO', 'EMFILE']) {
    for (const goodFor of ['once', 'ever'] as const) {
      for (let at = 1; ; at++) {
        const path = join(directory, `${code}-${goodFor}-${at}.tape.jsonl`)
        const disk = failingDisk(code, at, goodFor)
        const { appended, failures } = write(path, disk)
        if (disk.calls() < at) break
        if (failures === 0) continue
        if (!existsSync(path)) {
          expect(appended).toStrictEqual([])
          continue
        }
        const read = readTape(path).events.map(({ n }) => n)
        // A disk that fails for good may have taken a line and not its line feed: an event more, never one less.
        if (goodFor === 'ever') read.length = Math.min(read.length, appended.length)
        expect(read, `${code} ${goodFor} at call ${at}`).toStrictEqual(appended)
      }
    }
  }
})

test('of events appended together whose write fails half way none is on the tape, and those after are', () => {
  const path = join(scratch(), 'refund.tape.jsonl')
  let isFull = false
  const writeSync = ((fd: number, bytes: Buffer, offset: number, length: number, position: number) => {
    if (isFull && offset > 0) throw Object.assign(new Error('ENOSPC: made to fail'), { code: 'ENOSPC' })
    // The first event arrives whole, the second one in part.
    return nodeFs.writeSync(fd, bytes, offset, isFull ? length - 40 : length, position)
  }) as typeof nodeFs.writeSync
  using writer = createTapeWriter({ path, header }, { ...nodeFs, writeSync })
  writer.append(mark(1, 'start'))
  isFull = true
  expect(() => writer.append(mark(2, 'lost'), exchange(10, 'Where is my order?'))).toThrow(HarvestError)
  isFull = false
  writer.append(mark(3, 'after'), exchange(20, 'Where is my order?'))
  writer.close(closing)
  expect(readTape(path).events.map(({ n }) => n)).toStrictEqual([1, 3, 20])
})

test('an event no reader would take leaves those appended with it before on the tape', () => {
  const path = join(scratch(), 'refund.tape.jsonl')
  using writer = createTapeWriter({ path, header })
  const reference = { ...exchange(10, ''), request: { headers: [], body: { like: 1, head: 0, text: '', tail: 0 } } }
  expect(() => writer.append(mark(1, 'start'), reference, mark(2, 'never'))).toThrow(HarvestError)
  writer.close(closing)
  expect(readTape(path).events).toStrictEqual([mark(1, 'start')])
})

test('a tape whose header cannot be written leaves no file behind', () => {
  const directory = scratch()
  const path = join(directory, 'refund.tape.jsonl')
  const disk: WriterDisk = {
    ...nodeFs,
    writeSync: () => {
      throw Object.assign(new Error('ENOSPC: no space left on device, write'), { code: 'ENOSPC' })
    },
  }
  expect(messageOf(thrownBy(() => createTapeWriter({ path, header }, disk)))).toMatchInlineSnapshot(`
    "The recorder could not write a tape

      tape   recordings/refund.tape.jsonl
      error  ENOSPC: no space left on device, write

    The disk is full. The lines written before stay readable.
    (HARVEST_TAPE_WRITE)"
  `)
  expect(readdirSync(directory)).toStrictEqual([])
})

test('a tape has its name once its header is written: who is killed before that leaves none without', () => {
  const directory = scratch()
  const path = join(directory, 'refund.tape.jsonl')
  const seen: (readonly string[])[] = []
  const disk: WriterDisk = {
    ...nodeFs,
    writeSync: ((...given: Parameters<typeof nodeFs.writeSync>) => {
      seen.push(readdirSync(directory))
      return nodeFs.writeSync(...given)
    }) as typeof nodeFs.writeSync,
  }
  using writer = createTapeWriter({ path, header }, disk)
  expect(seen).toHaveLength(1)
  expect(seen[0]!.map((name) => temporaryName.test(name))).toEqual([true])
  expect(readdirSync(directory)).toEqual(['refund.tape.jsonl'])
  writer.append(...events)
  expect(readTape(path).events).toHaveLength(events.length)
})

test.each(['EPERM', 'ENOTSUP', 'ENOSYS'])(
  'a file system without hard links (%s) has tapes, one of each name',
  (code) => {
    const directory = scratch()
    const path = join(directory, 'refund.tape.jsonl')
    const linkSync = (): never => {
      throw Object.assign(new Error(`${code}: link`), { code })
    }
    createTapeWriter({ path, header }, { ...nodeFs, linkSync }).close(closing)
    expect(thrownBy(() => createTapeWriter({ path, header }, { ...nodeFs, linkSync }))).toMatchObject({
      cause: { code: 'EEXIST' },
    })
    expect(readdirSync(directory)).toEqual(['refund.tape.jsonl'])
  },
)

test('what no reader would take, no writer writes', () => {
  const path = join(scratch(), 'refund.tape.jsonl')
  using writer = createTapeWriter({ path, header })
  let deep: unknown = 1
  for (let level = 0; level < 300; level++) deep = [deep]
  const polluted: unknown = JSON.parse('{"__proto__":{"admin":true}}')
  for (const data of [deep, polluted]) {
    expect(() => writer.append({ ...mark(1, 'x'), data } as TapeEvent)).toThrow(/nested deeper|called __proto__/)
  }
  const cycle: Record<string, unknown> = {}
  cycle['self'] = cycle
  expect(() => writer.append({ ...mark(1, 'x'), data: cycle } as unknown as TapeEvent)).toThrow(/circular/)
  const reference = { ...exchange(2, ''), request: { headers: [], body: { like: 1, head: 0, text: '', tail: 0 } } }
  expect(() => writer.append(reference)).toThrow(/pass it in full/)
  writer.append(mark(2, 'sound'))
  expect(readTape(path).events).toHaveLength(1)
})

function rewrite(writer: TapeWriter, written: readonly TapeEvent[]): void {
  const lines = [{ header, bytes: 1 }, ...written.map((event) => ({ event, bytes: 1 }))]
  expect([...writer.rewrite(lines)]).toHaveLength(lines.length)
}

test('a tape that is written once more has one line for each step, and goes on from there', () => {
  const path = join(scratch(), 'refund.tape.jsonl')
  using writer = createTapeWriter({ path, header })
  writer.append({ part: 'begun', event: exchange(10, 'Where is my order?') })
  writer.append(...events.slice(0, 3))
  rewrite(writer, events.slice(0, 3))
  expect(writer.bytes).toBe(statSync(path).size)
  expect(statSync(path).mode & 0o777).toBe(0o600)
  writer.append(events[3]!)
  writer.close(closing)
  writer.closeAgain({ ...closing, late: [{ kind: 'request', name: 'GET shop.example/orders' }] })
  expect(readFileSync(path, 'utf8').split('\n').slice(0, -2)).toEqual(whole.split('\n').slice(0, -2))
  expect(readTape(path).close?.late).toHaveLength(1)
  expect(readdirSync(dirname(path))).toEqual(['refund.tape.jsonl'])
})

test('for every call that fails while a tape is written once more, it has the lines from before or those after, takes more, and nothing is left beside it', () => {
  let tried = 0
  const sound = failingDisk('EIO', Number.POSITIVE_INFINITY, 'once')
  createTapeWriter({ path: join(scratch(), 'sound.tape.jsonl'), header }, sound).append(...events.slice(0, 3))
  const opening = sound.calls()
  for (let at = 1; ; at++) {
    const path = join(scratch(), 'refund.tape.jsonl')
    // What fails before belongs to other tests.
    const disk = failingDisk('EIO', at + opening, 'once')
    using writer = createTapeWriter({ path, header }, disk)
    writer.append(...events.slice(0, 3))
    let isRewritten = true
    try {
      rewrite(writer, events.slice(1, 3))
    } catch {
      isRewritten = false
    }
    if (disk.calls() < at + opening) break
    tried++
    writer.append(events[3]!)
    expect(readTape(path).events).toHaveLength(isRewritten ? 3 : 4)
    expect(readdirSync(dirname(path))).toEqual(['refund.tape.jsonl'])
  }
  expect(tried).toBeGreaterThan(8)
})

test('a tape that has another name by now is not written once more under the old one', () => {
  const path = join(scratch(), 'refund.tape.jsonl')
  using writer = createTapeWriter({ path, header })
  writer.append(...events)
  nodeFs.renameSync(path, `${path}.moved`)
  expect(
    HarvestError.is(
      thrownBy(() => rewrite(writer, events)),
      'HARVEST_TAPE_WRITE',
    ),
  ).toBe(true)
  writer.close(closing)
  expect(existsSync(path)).toBe(false)
  expect(readTape(`${path}.moved`).close).toBeDefined()
})

test('two writers of one tape: exactly one wins', () => {
  const path = join(scratch(), 'refund.tape.jsonl')
  const made = Array.from({ length: 10 }, () => {
    try {
      return createTapeWriter({ path, header })
    } catch (error) {
      return HarvestError.is(error, 'HARVEST_TAPE_WRITE') ? undefined : error
    }
  })
  expect(made.filter((writer) => writer !== undefined)).toHaveLength(1)
  for (const writer of made as ({ close(close: typeof closing): void } | undefined)[]) writer?.close(closing)
})

/** Writes the events, going on after every failure as a recorder does. */
function write(path: string, disk: WriterDisk): { appended: readonly number[]; failures: number } {
  const appended: number[] = []
  let failures = 0
  const attempt = (deed: () => void): void => {
    try {
      deed()
    } catch (error) {
      if (!HarvestError.is(error, 'HARVEST_TAPE_WRITE')) throw error
      failures++
    }
  }
  let writer: ReturnType<typeof createTapeWriter> | undefined
  attempt(() => {
    mkdirSync(dirname(path), { recursive: true })
    writer = createTapeWriter({ path, header }, disk)
  })
  for (const event of events) {
    attempt(() => {
      if (writer === undefined) return
      writer.append(event)
      appended.push(event.n)
    })
  }
  attempt(() => writer?.close(closing))
  return { appended, failures }
}

const shortWrites = ((fd: number, bytes: Buffer, offset: number, length: number, position: number) =>
  nodeFs.writeSync(fd, bytes, offset, Math.min(7, length), position)) as typeof nodeFs.writeSync

/** A disk that takes lines in two parts, and whose n-th call fails, alone or with all after it. */
function failingDisk(code: string, at: number, goodFor: 'once' | 'ever'): WriterDisk & { calls(): number } {
  let calls = 0
  const failing = <F extends (...given: never[]) => unknown>(call: F): F =>
    ((...given: Parameters<F>) => {
      calls++
      if (calls === at || (goodFor === 'ever' && calls > at))
        throw Object.assign(new Error(`${code}: made to fail`), { code })
      return call(...given)
    }) as F
  const half = ((fd: number, bytes: Buffer, offset: number, length: number, position: number) =>
    nodeFs.writeSync(fd, bytes, offset, Math.ceil(length / 2), position)) as typeof nodeFs.writeSync
  return {
    mkdirSync: failing(nodeFs.mkdirSync as (...given: never[]) => unknown) as typeof nodeFs.mkdirSync,
    openSync: failing(nodeFs.openSync),
    readSync: nodeFs.readSync,
    writeSync: failing(half as (...given: never[]) => unknown) as typeof nodeFs.writeSync,
    ftruncateSync: failing(nodeFs.ftruncateSync),
    fstatSync: nodeFs.fstatSync,
    closeSync: nodeFs.closeSync,
    linkSync: failing(nodeFs.linkSync),
    lstatSync: nodeFs.lstatSync,
    renameSync: failing(nodeFs.renameSync),
    unlinkSync: nodeFs.unlinkSync,
    calls: () => calls,
  }
}

test.each([0, 40])('a tape that another process cut off to %i bytes is not closed as a whole one', (length) => {
  for (const isWrittenOn of length === 0 ? [true, false] : [false]) {
    const path = join(scratch(), 'run.tape.jsonl')
    const writer = createTapeWriter({ path, header })
    writer.append(mark(1, 'before'))
    nodeFs.truncateSync(path, length)
    // What follows stands behind zeros, and the file is as long as it would be.
    if (isWrittenOn) writer.append(mark(10, 'after'))
    expect(messageOf(thrownBy(() => writer.close(closing)))).toContain('was cut off during')
  }
})

test('a folder that cannot be made is an error at once, also where the system never says no', () => {
  const path = '/proc/harvest/inbox/run.tape.jsonl'
  expect(() => createTapeWriter({ path, header })).toThrow(/HARVEST_TAPE_WRITE/)
})
