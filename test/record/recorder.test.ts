import fs, { mkdtempSync, readdirSync, rmSync, symlinkSync, writeFileSync } from 'node:fs'
import { syncBuiltinESMExports } from 'node:module'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { afterAll, beforeAll, describe, expect, onTestFinished, test } from 'vitest'
import { type Provider, startProvider } from '../../fixtures/provider/index.ts'
import type { HarvestError } from '../../src/errors/index.ts'
import { createRecorder, mark, message, retriever, tool, value, type RecorderOptions } from '../../src/record/index.ts'
import { type CallEvent, decodeValue, readTape, type Tape } from '../../src/tape/index.ts'

let provider: Provider
beforeAll(async () => {
  provider = await startProvider()
})
afterAll(() => provider.close())

function folder(): string {
  const dir = mkdtempSync(join(tmpdir(), 'harvest-recorder-'))
  onTestFinished(() => rmSync(dir, { recursive: true, force: true }))
  return dir
}

function recording(options: RecorderOptions = {}) {
  const warnings: HarvestError[] = []
  const dir = options.dir ?? folder()
  const recorder = createRecorder({ onWarning: (error) => warnings.push(error), ...options, dir })
  return { recorder, warnings, dir, tape: (): Tape => readTape(recorder.lastTape ?? '') }
}

const callsOf = ({ events }: Tape): readonly CallEvent[] =>
  events.filter(
    (event): event is CallEvent => event.kind === 'tool' || event.kind === 'retrieval' || event.kind === 'value',
  )

describe('whatever happens to the tape, the agent gets its answer', () => {
  const expectUntouched = async (options: RecorderOptions, prepare: (dir: string) => void = () => undefined) => {
    const { recorder, warnings, dir } = recording(options)
    prepare(dir)
    const add = tool('add', (a: number, b: number) => a + b)
    const answer = await recorder.run({ agent: 'sum', id: 'sum' }, async () => {
      const response = await fetch(`${provider.base}/tool/x`)
      return [response.status, add(1, 2), await sleep(1, 'slept')]
    })
    expect(answer).toEqual([200, 3, 'slept'])
    return { recorder, warnings, dir }
  }

  test.for<[string, (dir: string) => string, (dir: string) => void]>([
    ['the folder is a file', (dir) => join(dir, 'taken'), (dir) => writeFileSync(dir, '')],
    ['the folder cannot be made', () => '/dev/null/folder', () => undefined],
    ['the tape exists', (dir) => dir, (dir) => writeFileSync(join(dir, 'sum.tape.jsonl'), 'another tape\n')],
    ['the tape is a broken link', (dir) => dir, (dir) => symlinkSync('/dev/full', join(dir, 'sum.tape.jsonl'))],
  ])('%s: one warning, no tape', async ([, dir, prepare]) => {
    const { recorder, warnings } = await expectUntouched({ dir: dir(folder()) }, prepare)
    expect(warnings.map(({ code }) => code)).toEqual(['HARVEST_RECORDING_FAILED'])
    expect(recorder.lastTape).toBeUndefined()
  })

  test.each([
    ['null', null],
    [
      'with an id that throws',
      {
        agent: 'sum',
        get id() {
          throw new Error('id')
        },
      },
    ],
  ])('its options cannot be read, %s: one warning, and the run is counted as one that is not recorded', (_, about) => {
    for (const enabled of [true, false]) {
      const { recorder, warnings } = recording({ enabled })
      expect(recorder.run(about as never, () => 3)).toBe(3)
      expect(warnings.map(({ code }) => code)).toEqual(enabled ? ['HARVEST_RECORDING_FAILED'] : [])
      const counts = enabled ? { runs: 1, unrecorded: 1, failures: 1 } : { runs: 0, unrecorded: 0, failures: 0 }
      expect(recorder.stats).toMatchObject({ ...counts, open: 0, kept: 0 })
    }
  })

  test('the disk fills up: the tape says that it is incomplete, or has no last line', async () => {
    const { recorder, warnings, tape } = recording({ dir: folder() })
    const answer = recorder.run({ agent: 'x' }, () => {
      mark('before')
      const restore = fillDisk()
      mark('lost')
      mark('lost too')
      restore()
      return 'answer'
    })
    expect(answer).toBe('answer')
    expect(
      warnings.map(({ message }) =>
        message.replaceAll(/\S*harvest-recorder-\w+/g, 'inbox').replaceAll(/[0-9a-z]{26}/g, '<id>'),
      ),
    ).toMatchInlineSnapshot(`
        [
          "A run could not be recorded completely; the agent is not affected

          run   <id>
          tape  inbox/<id>.tape.jsonl

        The recorder could not write a tape: ENOSPC: no space left on device, write: The disk is full. The lines written before stay readable.
        → check that the folder exists, is writable and has space
        (HARVEST_RECORDING_FAILED)",
        ]
      `)
    expect(tape().events).toMatchObject([{ kind: 'mark', name: 'before' }])
    expect(tape().close?.incomplete).toContain('ENOSPC')
  })

  test('callbacks that throw are nobody’s problem', async () => {
    const onTape = () => {
      throw new Error('onTape')
    }
    const onWarning = () => {
      throw new Error('onWarning')
    }
    const { recorder } = recording({ onTape, onWarning })
    expect(recorder.run({ agent: 'x' }, () => 1)).toBe(1)
    expect(await recorder.run({ agent: 'x' }, async () => 2)).toBe(2)
  })

  test('an id that is no file name is made one', () => {
    const { recorder, warnings, dir } = recording()
    recorder.run({ agent: 'x', id: '../../ticket: 5/6' }, () => 1)
    expect(warnings).toEqual([])
    expect(readdirSync(dir)).toEqual([expect.stringMatching(/^-\.\.-ticket--5-6-[0-9a-f]{12}\.tape\.jsonl$/)])
    expect(readTape(recorder.lastTape!).header.id).toBe('../../ticket: 5/6')
  })

  test('values that cannot be read are recorded as that', () => {
    const { recorder, warnings, tape } = recording()
    const trap = Object.defineProperty({}, 'x', {
      enumerable: true,
      get: () => {
        throw new Error('no')
      },
    })
    const { proxy, revoke } = Proxy.revocable({}, {})
    revoke()
    const show = tool('show', (_: object) => proxy)
    expect(recorder.run({ agent: 'x', input: trap }, () => show(trap))).toBe(proxy)
    expect(warnings).toEqual([])
    expect(tape().close?.incomplete).toBeUndefined()
  })

  test('an unknown option is refused when the recorder is made', () => {
    expect(() => createRecorder({ folder: 'x' } as RecorderOptions)).toThrowErrorMatchingInlineSnapshot(`
      [HarvestError: Unknown option 'folder' of createRecorder

        options  enabled, dir, commit, dirty, packages, redact, sample, decide, hold, bodies, tapes, keep, budget, prices, retention, onTape, onWarning, onBudget

      → remove it, or correct the spelling
      (HARVEST_RECORDER_OPTION)]
    `)
  })
})

/** Makes every write fail as on a full disk until it is called off. */
function fillDisk(): () => void {
  const { writeSync } = fs
  const full = () => {
    throw Object.assign(new Error('ENOSPC: no space left on device, write'), { code: 'ENOSPC' })
  }
  fs.writeSync = full
  syncBuiltinESMExports()
  return () => {
    fs.writeSync = writeSync
    syncBuiltinESMExports()
  }
}

describe('a run gives exactly what the agent gives', () => {
  test('values, thrown things, promises, thenables and streams', async () => {
    const { recorder } = recording()
    const run = <T>(fn: () => T): T => recorder.run({ agent: 'x' }, fn)
    expect(run(() => undefined)).toBeUndefined()
    const same = { a: 1 }
    expect(run(() => same)).toBe(same)
    expect(() =>
      run(() => {
        throw 'a text'
      }),
    ).toThrow('a text')
    await expect(
      run(async () => {
        throw undefined
      }),
    ).rejects.toBeUndefined()
    const thenable = { then: (fulfil: (value: number) => void) => fulfil(5) }
    expect(await run(() => thenable)).toBe(5)
    class Lazy extends Promise<number> {
      extra = 'kept'
    }
    const lazy = Lazy.resolve(6) as Lazy
    expect(run(() => lazy)).toBe(lazy)
    const stream = new ReadableStream()
    expect(run(() => stream)).toBe(stream)
    const generator = (async function* () {
      yield 1
    })()
    const read: number[] = []
    for await (const one of run(() => generator)) read.push(one)
    expect(read).toEqual([1])
  })

  test('a rejection nobody handles stays one', async () => {
    const { recorder } = recording()
    const unhandled = new Promise((resolve) => {
      const others = process.listeners('unhandledRejection')
      process.removeAllListeners('unhandledRejection')
      process.once('unhandledRejection', (reason) => {
        for (const other of others) process.on('unhandledRejection', other)
        resolve(reason)
      })
    })
    void recorder.run({ agent: 'x' }, () => Promise.reject(new Error('lost')))
    expect(await unhandled).toMatchObject({ message: 'lost' })
  })

  test('a run inside a run belongs to it; a run begun in the context of one that was answered is its own', async () => {
    const { recorder, dir } = recording()
    const later = Promise.withResolvers<void>()
    let background: Promise<string> | undefined
    await recorder.run({ agent: 'outer', id: 'outer' }, async () => {
      recorder.run({ agent: 'inner', id: 'inner' }, () => mark('inside'))
      background = later.promise.then(() => recorder.run({ agent: 'next', id: 'next' }, () => (mark('next'), 'done')))
    })
    later.resolve()
    expect(await background).toBe('done')
    expect(readdirSync(dir).sort()).toEqual(['next.tape.jsonl', 'outer.tape.jsonl'])
    const marks = (id: string) =>
      readTape(join(dir, `${id}.tape.jsonl`)).events.map((event) => event.kind === 'mark' && event.name)
    expect([marks('outer'), marks('next')]).toEqual([['inside'], ['next']])
  })

  test('what a run does after its answer changes nothing', async () => {
    const { recorder, warnings, tape } = recording()
    let late: Promise<unknown> | undefined
    const slow = tool('slow', () => sleep(20, 'slow'))
    await recorder.run({ agent: 'x' }, async () => {
      late = Promise.all([slow(), fetch(`${provider.base}/~late~lat20/tool/late`).then((response) => response.text())])
    })
    expect(await late).toEqual(['slow', expect.stringContaining('late')])
    expect(warnings).toEqual([])
    const recorded = tape()
    expect(recorded.close?.incomplete).toBeUndefined()
    expect(callsOf(recorded)).toMatchObject([{ name: 'slow' }])
    expect(callsOf(recorded)[0]?.settled).toBeUndefined()
    expect(recorded.events.filter(({ kind }) => kind === 'exchange')).toMatchObject([{ method: 'GET' }])
  })
})

describe('tools', () => {
  test('every way a tool can answer is on the tape, and the agent sees the same object', async () => {
    const { recorder, tape } = recording()
    const seen: unknown[] = []
    await recorder.run({ agent: 'x' }, async () => {
      const answer = { paid: 25 }
      seen.push(tool('sync', () => answer)() === answer)
      seen.push((await tool('async', async () => answer)()) === answer)
      try {
        tool('throws', () => {
          throw new TypeError('no')
        })()
      } catch (error) {
        seen.push((error as Error).name)
      }
      await tool('rejects', async () => {
        throw 'text'
      })().catch((error: unknown) => seen.push(error))
      seen.push(await tool('thenable', () => ({ then: (fulfil: (value: number) => void) => fulfil(7) }))())
      for await (const piece of tool('generates', async function* () {
        yield 1
        yield 2
      })())
        seen.push(piece)
      for await (const piece of tool('breaks', async function* () {
        yield 3
        yield 4
      })()) {
        seen.push(piece)
        break
      }
      void tool('never read', async function* () {
        yield 5
      })()
      const stream = tool('streams', () => ReadableStream.from(['a', 'b']))()
      seen.push(stream instanceof ReadableStream)
      for await (const piece of stream) seen.push(piece)
      void tool('never settles', () => new Promise(() => undefined))()
      seen.push(
        retriever('search', (query: string) => [query])('tea'),
        value('limit', () => 5),
      )
      message('a', 'b', 'hello')
    })
    expect(seen).toEqual([true, true, 'TypeError', 'text', 7, 1, 2, 3, true, 'a', 'b', ['tea'], 5])
    const said = callsOf(tape()).map(({ name, sync, settled, result, error, yields }) => ({
      name,
      sync,
      settled: settled !== undefined,
      ...(result === undefined ? {} : { result: decodeValue(result) }),
      ...(error === undefined ? {} : { error: decodeValue(error) }),
      ...(yields === undefined ? {} : { yields: yields.map(([, , piece]) => decodeValue(piece)) }),
    }))
    expect(said).toEqual([
      { name: 'sync', sync: true, settled: true, result: { paid: 25 } },
      { name: 'async', settled: true, result: { paid: 25 } },
      { name: 'throws', sync: true, settled: true, error: expect.objectContaining({ message: 'no' }) },
      { name: 'rejects', settled: true, error: 'text' },
      { name: 'thenable', settled: true, result: 7 },
      { name: 'generates', settled: true, yields: [1, 2] },
      { name: 'breaks', settled: true, yields: [3] },
      { name: 'never read', settled: false, yields: [] },
      { name: 'streams', settled: true, yields: ['a', 'b'] },
      { name: 'never settles', settled: false },
      { name: 'search', sync: true, settled: true, result: ['tea'] },
      { name: 'limit', sync: true, settled: true, result: 5 },
    ])
  })

  test('what an async generator asks of the world happened inside it', async () => {
    const { recorder, tape } = recording()
    await recorder.run({ agent: 'x' }, async () => {
      const pages = tool('pages', async function* () {
        yield (await fetch(`${provider.base}/tool/page`)).status
      })
      for await (const _ of pages());
    })
    const [call] = callsOf(tape())
    expect(tape().events.find(({ kind }) => kind === 'exchange')).toMatchObject({ in: call?.n })
  })
})

test('requests outside any run are counted, failures are none', async () => {
  const { recorder } = recording()
  const before = recorder.stats.outsideRuns
  await fetch(`${provider.base}/tool/outside`)
  expect(recorder.stats).toMatchObject({ outsideRuns: before + 1, failures: 0 })
})
