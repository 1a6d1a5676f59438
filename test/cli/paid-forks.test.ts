import { beforeEach, expect, test, vi } from 'vitest'
import type { GradeAnswer, GradeRequest } from '../../src/blame/grade-task.ts'
import type { CommandInput } from '../../src/cli/command.ts'
import { gradedBeside } from '../../src/cli/forking/control.ts'
import { graderOf } from '../../src/cli/forking/grading.ts'
import { Purse } from '../../src/cli/forking/purse.ts'
import { HarvestError } from '../../src/errors/index.ts'

type Hear = (told: GradeAnswer) => void
const runTask = vi.hoisted(() =>
  vi.fn<(job: { task: { options: GradeRequest } }, how: { onReport: Hear }) => unknown>(),
)
vi.mock(import('../../src/jobs/run.ts'), async (original) => ({ ...(await original()), runTask: runTask as never }))

const spent = (modelCalls: number) => ({ modelCalls, inputTokens: 0, outputTokens: 0, costUsd: modelCalls })
const answer = (grades: GradeAnswer['grades']): GradeAnswer => ({
  grades,
  spent: spent(grades.length),
  most: { calls: 1, tokens: 1, costUsd: 1 },
  isPaid: true,
})
const stopped = new HarvestError('HARVEST_CLI_INTERRUPTED', { what: 'Interrupted', fix: [] })
const kase = { file: '/none/o.case.yaml', oracle: './oracle.ts#judge', expect: 'fail', lines: {} }
const parent = { tape: { header: {} }, file: '/none/t.jsonl', recordings: '/none', case: kase } as never
const given = { values: () => [], value: () => undefined, has: () => false } as unknown as CommandInput
const fork = (name: string) =>
  ({
    fork: { outcome: name, branch: name, fingerprint: name, prefix: { steps: 1, isExact: true } },
    branch: {},
  }) as never
const asked = () => runTask.mock.calls.map(([{ task }]) => task.options.forks?.length)

beforeEach(() => {
  runTask.mockReset().mockImplementation(async ({ task }) => answer((task.options.forks ?? [1]).map(() => 'ok')))
})

test('an oracle that asks a model is asked once where nothing says that it may be paid, and what that used is said', async () => {
  const purse = new Purse({}, {})
  await expect(purse.saying(() => graderOf(parent, given, purse))).rejects.toMatchObject({
    code: 'HARVEST_BUDGET_USED',
    facts: { where: { spent: expect.stringMatching(/^1 model call, \$1\.0000$/) as string } },
  })
  expect(asked()).toEqual([undefined])
})

test('forks that are the same run are graded once', async () => {
  const grader = await graderOf(parent, given, new Purse({ calls: 9 }, {}))
  expect(await grader?.grade(['a', 'b', 'a', 'a'].map(fork))).toEqual(['ok', 'ok', 'ok', 'ok'])
  expect(asked()).toEqual([undefined, 2])
})

test('no grade is asked for once the command was ended', async () => {
  const grader = await graderOf(parent, given, new Purse({ calls: 9 }, {}))
  const control = { data: { outcome: 'x', branch: 'x' }, run: {} } as never
  const beside = await gradedBeside(grader, { control, interrupted: stopped })
  expect(beside?.recorded).toBe('ungraded')
  expect(await beside?.grade([fork('a')], stopped)).toEqual([stopped])
  expect(asked()).toEqual([undefined])
})

test('grades that were given before the command was ended stand and are counted, and no other is asked for', async () => {
  const purse = new Purse({ calls: 9 }, {})
  const grader = await graderOf(parent, given, purse)
  runTask.mockImplementationOnce(async (_, { onReport }) => {
    onReport(answer(['bad']))
    throw stopped
  })
  expect(await grader?.grade(['a', 'b', 'a'].map(fork))).toEqual(['bad', stopped, 'bad'])
  expect(grader?.ended?.()).toBe(stopped)
  expect(purse.grading?.modelCalls).toBe(2)
  expect(await grader?.grade([fork('c')])).toEqual([stopped])
  expect(asked()).toEqual([undefined, 2])
})
