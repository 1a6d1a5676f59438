import { mkdtempSync, readdirSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, onTestFinished, test } from 'vitest'
import type { HarvestError } from '../../src/errors/index.ts'
import { createRecorder, type FinishedRun, mark, type RecorderOptions, tool } from '../../src/record/index.ts'
import { readTape } from '../../src/tape/index.ts'
import { type Model, startModel } from './model.ts'

let model: Model
beforeAll(async () => {
  model = await startModel()
})
afterAll(() => model.close())

type When = NonNullable<NonNullable<RecorderOptions['keep']>['when']>

/** No run is kept by chance: what is kept is kept for what happened in it. */
function recording(when: When, more: RecorderOptions = {}) {
  const dir = mkdtempSync(join(tmpdir(), 'harvest-watch-'))
  onTestFinished(() => rmSync(dir, { recursive: true, force: true }))
  const warnings: HarvestError[] = []
  const recorder = createRecorder({
    dir,
    sample: 1e-9,
    keep: { when },
    onWarning: (error) => warnings.push(error),
    ...more,
  })
  const kept = (): Readonly<Record<string, unknown>> => {
    recorder.flush()
    const ids = readdirSync(dir).map((name) => name.replace('.tape.jsonl', ''))
    return Object.fromEntries(
      ids.sort().map((id) => [id, readTape(join(dir, `${id}.tape.jsonl`)).close?.kept?.map(({ detail }) => detail)]),
    )
  }
  return { recorder, warnings, kept }
}

const refund = tool('refund', async ({ amount, fails }: { amount: number; to?: string; fails?: boolean }) => {
  if (fails === true) throw new RangeError('too much')
  return { refunded: amount }
})

describe('a recorder keeps a run', () => {
  test.for<[string | string[], readonly string[]]>([
    ['refund(amount > 100)', ['large', 'many']],
    ['refund() fails with "too much"', ['failed']],
    ['refund() returns (refunded=20)', ['many', 'small']],
    ['refund(to="jane@example.com")', ['small']],
    ['at least 2 refund()', ['many']],
    ['run returns (mood=angry)', ['angry']],
    ['mark planned(budget > 5)', ['angry']],
    [
      ['refund(amount > 100)', 'mark planned()'],
      ['angry', 'large', 'many'],
    ],
  ])('in which %j happens, by what happened before anything was redacted', async ([when, ids]) => {
    const { recorder, kept, warnings } = recording(when)
    const run = (id: string, fn: () => unknown): unknown => recorder.run({ agent: 'desk', id }, fn)
    await run('small', () => refund({ amount: 20, to: 'jane@example.com' }))
    await run('large', () => refund({ amount: 150 }))
    await run('many', () => Promise.all([refund({ amount: 20 }), refund({ amount: 150 })]))
    await run('failed', () => refund({ amount: 1, fails: true }).catch(() => 'ok'))
    await run('angry', async () => {
      mark('planned', { budget: 6 })
      return { mood: 'angry' }
    })
    expect(Object.keys(kept())).toEqual(ids)
    // What the rule says is redacted on the tape as well.
    expect(JSON.stringify(kept())).not.toContain('jane@')
    expect(warnings).toEqual([])
  })

  test('whose model asked for a call that nothing wraps, and was answered', async () => {
    const { recorder, kept } = recording('refund(amount > 100)')
    const ask = (amount: number): unknown =>
      recorder.run({ agent: 'desk', id: `asked-${amount}` }, () => model.ask({ tools: ['refund'], args: { amount } }))
    await ask(20)
    await ask(150)
    expect(kept()).toEqual({ 'asked-150': ['refund(amount > 100)'] })
  })

  test('of which a function says so, by true or by a reason', async () => {
    const seen: FinishedRun[] = []
    const { recorder, kept } = recording([
      (run) => {
        seen.push(run)
        return (run.result as { mood?: string } | undefined)?.mood === 'angry'
      },
      function tooMuch({ calls }) {
        return calls.some(({ args }) => (args as { amount: number }).amount > 100) && 'more than 100'
      },
    ])
    await recorder.run({ agent: 'desk', id: 'a', input: { from: 'jane@example.com' } }, () => refund({ amount: 150 }))
    recorder.run({ agent: 'desk', id: 'b' }, () => ({ mood: 'angry' }))
    recorder.run({ agent: 'desk', id: 'c' }, () => ({ mood: 'calm' }))
    expect(kept()).toEqual({ a: ['more than 100'], b: ['a function'] })
    expect(seen[0]).toEqual({
      id: 'a',
      agent: 'desk',
      input: { from: 'jane@example.com' },
      result: { refunded: 150 },
      durationMs: expect.any(Number),
      calls: [{ name: 'refund', args: { amount: 150 }, result: { refunded: 150 } }],
    })
  })

  test('when a function fails or makes a promise, and says so once', () => {
    const { recorder, kept, warnings } = recording([
      function broken() {
        throw new TypeError('no such order')
      },
    ])
    for (const id of ['a', 'b']) expect(recorder.run({ agent: 'desk', id }, () => 1)).toBe(1)
    expect(kept()).toEqual({ a: ['broken: failed'], b: ['broken: failed'] })
    expect(warnings.map(({ code }) => code)).toEqual(['HARVEST_RECORDER_WATCH'])
    const promising = recording((() => Promise.resolve(false)) as never)
    promising.recorder.run({ agent: 'desk', id: 'a' }, () => 1)
    expect(promising.warnings[0]?.facts.where?.['error']).toContain('got a promise')
  })

  test('when a function promises and the promise fails, and the process goes on', async () => {
    const unheard: unknown[] = []
    const hear = (error: unknown): void => void unheard.push(error)
    process.on('unhandledRejection', hear)
    onTestFinished(() => void process.off('unhandledRejection', hear))
    const failing = (): never => Promise.reject(new Error('late')) as never
    const { recorder, warnings } = recording(failing, { sample: 1, onTape: failing, onBudget: failing })
    recorder.run({ agent: 'desk', id: 'a' }, () => 1)
    recording(failing, { onWarning: failing }).recorder.run({ agent: 'desk', id: 'b' }, () => 1)
    await new Promise((resolve) => setTimeout(resolve, 10))
    expect(unheard).toEqual([])
    expect(warnings.map(({ code, facts }) => [code, facts.why ?? facts.where?.['error']])).toEqual([
      ['HARVEST_RECORDER_WATCH', expect.stringContaining('got a promise')],
      ['HARVEST_RECORDING_FAILED', expect.stringContaining('late')],
    ])
  })

  test('and no warning quotes a secret of the run', async () => {
    const { recorder, warnings } = recording(
      Object.assign(
        () => {
          throw new TypeError('password=tr33house-77 of ada@shop.example')
        },
        { prototype: undefined },
      ),
    )
    recorder.run({ agent: 'desk', id: 'a' }, () => 1)
    expect(warnings).toHaveLength(1)
    expect(warnings[0]?.message).toContain('A function of keep.when failed')
    expect(warnings[0]?.message).not.toMatch(/tr33house|ada@/)
    expect(JSON.stringify(warnings[0])).not.toMatch(/tr33house|ada@/)
  })

  test('that chance keeps with the same reasons, and the retention of a run that stood out', async () => {
    const { recorder, kept } = recording('refund(amount > 100)', { sample: 1, retention: {} })
    await recorder.run({ agent: 'desk', id: 'a' }, () => refund({ amount: 150 }))
    await recorder.run({ agent: 'desk', id: 'b' }, () => refund({ amount: 20 }))
    expect(kept()).toEqual({ a: ['refund(amount > 100)'], b: undefined })
  })
})

describe('what a recorder is to keep runs by', () => {
  test.for([
    ['refund(amount >', 'HARVEST_RULE_SYNTAX'],
    ['refund(note ~ /(?=x)/)', 'HARVEST_RULE_PATTERN'],
    [7, 'HARVEST_RECORDER_OPTION'],
    [[], 'HARVEST_RECORDER_OPTION'],
    ['', 'HARVEST_RECORDER_OPTION'],
  ] as const)('is read when it is made: %j is %s', ([when, code]) => {
    expect(() => createRecorder({ keep: { when: when as never } })).toThrow(expect.objectContaining({ code }))
  })
})
