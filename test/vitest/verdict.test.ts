import { expect, test } from 'vitest'
import { parseCase } from '../../src/cases/index.ts'
import { installReplay, replayTape } from '../../src/replay/index.ts'
import { judge } from '../../src/vitest/verdict.ts'
import { tapeOf } from '../replay/tapes.ts'

const url = 'https://shop.test/orders'
const kase = parseCase('case: a\nagent: a\ntape: a.tape.jsonl\nexpect: pass\nbaseline: []\n', 'a.case.yaml')

test('of an agent that throws before it is done the error is told, and not only what it left out', async () => {
  await installReplay()
  const tape = tapeOf([{ method: 'GET', url }])
  const judged = async (agent: () => Promise<unknown>) => {
    const verdict = judge(kase, await replayTape(tape, agent), {})
    return verdict.isGreen ? 'green' : verdict.because.error
  }
  const broken = async () => {
    throw new RangeError('no such order')
  }
  expect(await judged(broken)).toMatchObject({
    code: 'HARVEST_OUTCOME_KIND',
    message: expect.stringContaining('threw RangeError: no such order'),
    cause: expect.any(RangeError),
  })
  expect(await judged(async () => 'done')).toMatchObject({ code: 'HARVEST_UNUSED' })
  expect(await judged(() => fetch(`${url}/7`))).toMatchObject({ code: 'HARVEST_DIVERGENCE' })
})
