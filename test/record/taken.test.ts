import { mkdtempSync, readdirSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import fc from 'fast-check'
import { expect, onTestFinished, test, vi } from 'vitest'
import type { HarvestError } from '../../src/errors/index.ts'
import { createRecorder } from '../../src/record/index.ts'
import { readTape } from '../../src/tape/index.ts'
import { fileNameOf } from '../../src/tape/file-name.ts'

test.each([
  ['written as it goes', {}],
  ['held until it is over', { sample: 0, keep: { errors: true } }],
])('a run id used twice is named as the cause, not the disk: a run %s', async (_, options) => {
  const dir = mkdtempSync(join(tmpdir(), 'harvest-taken-'))
  onTestFinished(() => rmSync(dir, { recursive: true, force: true }))
  const warnings: HarvestError[] = []
  const recorder = createRecorder({ dir, ...options, onWarning: (error) => warnings.push(error) })
  for (const error of [new Error('one'), new Error('two')])
    await expect(recorder.run({ agent: 'shop', id: 'ticket-7' }, () => Promise.reject(error))).rejects.toBe(error)
  await vi.waitFor(() => expect(warnings.map(({ code }) => code)).toEqual(['HARVEST_RECORDING_FAILED']), 30_000)
  expect(warnings[0]?.message).toContain('A tape with this id exists already')
  expect(warnings[0]?.facts.fix?.[0]).toMatch(/^give each run an id of its own/)
  expect(warnings[0]?.message).not.toContain('space')
})

test('runs whose ids look alike in the name of a file have a tape each', async () => {
  const dir = mkdtempSync(join(tmpdir(), 'harvest-taken-'))
  onTestFinished(() => rmSync(dir, { recursive: true, force: true }))
  const warnings: HarvestError[] = []
  const recorder = createRecorder({ dir, onWarning: (error) => warnings.push(error) })
  const ids = [
    '客户一',
    '客户二',
    'order/1',
    'order 1',
    'order:1',
    'order-1',
    `${'long '.repeat(40)}1`,
    `${'long '.repeat(40)}2`,
  ]
  for (const id of ids) await recorder.run({ agent: 'shop', id }, () => Promise.resolve(id))
  const tapes = readdirSync(dir).filter((name) => name.endsWith('.tape.jsonl'))
  expect(tapes).toContain('order-1.tape.jsonl')
  expect(tapes.map((name) => readTape(join(dir, name)).header.id).sort()).toEqual([...ids].sort())
  expect(warnings).toEqual([])
})

test('two ids never share a name, and no name leaves its folder', () => {
  fc.assert(
    fc.property(
      fc.string({ unit: 'binary', minLength: 1 }),
      fc.string({ unit: 'binary', minLength: 1 }),
      (one, other) => {
        expect(fileNameOf(one)).toMatch(/^(?!\.)[\w.~-]{1,133}$/)
        expect(fileNameOf(one) === fileNameOf(other)).toBe(one === other)
      },
    ),
    {
      examples: [
        ['a/b', 'a:b'],
        ['.', '..'],
        ['../x', '-x'],
        ['order-1', 'order/1'],
      ],
    },
  )
})
