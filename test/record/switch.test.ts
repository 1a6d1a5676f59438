import { execFile } from 'node:child_process'
import { mkdtempSync, readdirSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { promisify } from 'node:util'
import { afterAll, beforeAll, describe, expect, onTestFinished, test, vi } from 'vitest'
import { createRecorder, isSampled, mark, type RecorderOptions, tool } from '../../src/record/index.ts'
import { startOrigin } from './origin.ts'

const child = fileURLToPath(new URL('./off.child.ts', import.meta.url))

async function listens(env: Record<string, string>, ...args: readonly string[]): Promise<Record<string, unknown>> {
  const dir = mkdtempSync(join(tmpdir(), 'harvest-off-'))
  onTestFinished(() => rmSync(dir, { recursive: true, force: true }))
  const { VITEST_HARVEST_RECORD: _, ...rest } = process.env
  const { stdout } = await promisify(execFile)(process.execPath, [child, dir, ...args], { env: { ...rest, ...env } })
  return { ...(JSON.parse(stdout) as Record<string, unknown>), files: readdirSync(dir) }
}

describe('a recorder that is off', () => {
  test('by its option or by the environment, which wins, calls its function and touches nothing', async () => {
    const off = await listens({}, 'false')
    expect(off).toMatchObject({
      subscribed: [],
      patched: [false, false, false, false],
      answer: ['r', false, false, 2],
      aborted: false,
      files: [],
      stats: { runs: 0, kept: 0, outsideRuns: 0 },
    })
    expect(await listens({ VITEST_HARVEST_RECORD: 'off' }, 'true')).toEqual(off)
  })

  test('is another than one that is on', async () => {
    const on = await listens({ VITEST_HARVEST_RECORD: 'on' })
    expect(on).toMatchObject({ answer: ['r', true, true, 2], files: ['r.tape.jsonl'], stats: { runs: 1, kept: 1 } })
    expect((on['subscribed'] as string[]).length).toBe(4)
  })

  test('still refuses options and switches that mean nothing', () => {
    expect(() => createRecorder({ enabled: false, sample: 2 })).toThrow(/Invalid option 'sample' of createRecorder/)
    expect(() => createRecorder({ enabled: 'no' as never })).toThrow(/Invalid option 'enabled' of createRecorder/)
    vi.stubEnv('VITEST_HARVEST_RECORD', 'of')
    onTestFinished(() => void vi.unstubAllEnvs())
    let said = ''
    try {
      createRecorder()
    } catch (error) {
      said = String(error)
    }
    expect(said).toMatchInlineSnapshot(`
      "HarvestError: Invalid value of the environment variable VITEST_HARVEST_RECORD

        given   "of"
        wanted  off or on

      → VITEST_HARVEST_RECORD=off
      → or unset it: unset VITEST_HARVEST_RECORD
      (HARVEST_RECORDER_OPTION)"
    `)
  })
})

describe("decide: 'start'", () => {
  let origin: Awaited<ReturnType<typeof startOrigin>>
  beforeAll(async () => {
    origin = await startOrigin()
  })
  afterAll(() => origin.close())

  function recording(options: RecorderOptions) {
    const dir = mkdtempSync(join(tmpdir(), 'harvest-start-'))
    onTestFinished(() => rmSync(dir, { recursive: true, force: true }))
    return { dir, recorder: createRecorder({ dir, decide: 'start', ...options }) }
  }

  test('a run that is not drawn is not listened to, and its requests are nobody’s', async () => {
    const { recorder, dir } = recording({ sample: 0 })
    const before = recorder.stats.outsideRuns
    const add = tool('add', async (n: number) => n + 1)
    const answer = await recorder.run({ agent: 'a', id: 'r' }, async ({ id, flag, hold, usage, signal }) => {
      mark('began')
      await (await fetch(`${origin.base}/bytes?10`)).text()
      expect([id, flag('x'), hold('y'), recorder.flag('z'), usage, signal.aborted]).toEqual([
        'r',
        false,
        false,
        false,
        undefined,
        false,
      ])
      expect(recorder.run({ agent: 'b' }, ({ id: inner }) => inner)).toBe('r')
      return add(1)
    })
    expect(answer).toBe(2)
    expect(recorder.stats).toMatchObject({ runs: 1, notSampled: 1, open: 0, flagsTooLate: 3, outsideRuns: before })
    expect(readdirSync(dir)).toEqual([])
    await (await fetch(`${origin.base}/bytes?10`)).text()
    expect(recorder.stats.outsideRuns).toBe(before + 1)
  })

  test('what is drawn is what chance draws at the end', () => {
    const { recorder, dir } = recording({ sample: 0.3 })
    const ids = Array.from({ length: 60 }, (_, n) => `run-${n}`)
    for (const id of ids) recorder.run({ agent: 'a', id }, () => 1)
    const drawn = ids.filter((id) => isSampled(id, 0.3)).map((id) => `${id}.tape.jsonl`)
    expect(readdirSync(dir).toSorted()).toEqual(drawn.toSorted())
    expect(recorder.stats).toMatchObject({ runs: 60, kept: drawn.length, notSampled: 60 - drawn.length })
  })

  test('a run gives exactly what its function gives, and what begins after it in its context is a run of its own', async () => {
    const { recorder } = recording({ sample: 0 })
    expect(() =>
      recorder.run({ agent: 'a' }, () => {
        throw new TypeError('mine')
      }),
    ).toThrow('mine')
    await expect(recorder.run({ agent: 'a' }, async () => Promise.reject(new Error('later')))).rejects.toThrow('later')
    let later: Promise<unknown> = Promise.resolve()
    await recorder.run({ agent: 'a' }, async () => {
      later = new Promise((resolve) => setTimeout(() => resolve(recorder.run({ agent: 'b' }, () => 1)), 5))
      await Promise.resolve()
    })
    await later
    expect(recorder.stats).toMatchObject({ runs: 4, notSampled: 4 })
  })

  test.each([
    [{ sample: 0.1, keep: { errors: true } }, 'keep'],
    [{ sample: 0.1, keep: {} }, 'keep'],
    [{}, 'decide'],
    [{ sample: 0.1, decide: 'begin' as never }, 'decide'],
  ] as const)('%j is refused', (options, name) => {
    expect(() => recording(options)).toThrow(`Invalid option '${name}' of createRecorder`)
  })
})

test.each([
  { hold: { megabytes: 0 } },
  { hold: { size: 1 } },
  { bodies: { maxMegabytes: 1000 } },
  { bodies: 8 },
  { tapes: { maxMegabytes: Number.NaN } },
])('a limit that cannot be is refused: %j', (options) => {
  expect(() => createRecorder(options as never)).toThrow(/(Invalid|Unknown) option '.*' of createRecorder/)
})
