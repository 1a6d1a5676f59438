import { expect, test } from 'vitest'
import { parseCase } from '../../src/cases/index.ts'
import { installReplay, replayTape } from '../../src/replay/index.ts'
import { tool } from '../../src/seam/index.ts'
import { judge } from '../../src/verdict/index.ts'
import { Recording, tapeOf } from '../replay/tapes.ts'

const url = 'https://shop.test/orders'
const kase = parseCase('case: a\nagent: a\ntape: a.tape.jsonl\nexpect: pass\nbaseline: []\n', 'a.case.yaml')

test('of an agent that throws before it is done the error is told, and not only what it left out', async () => {
  await installReplay()
  const tape = tapeOf([{ method: 'GET', url }])
  const judged = async (agent: () => Promise<unknown>) => {
    const verdict = judge(kase, await replayTape(tape, agent), {})
    return verdict.because?.error ?? 'green'
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

test('under sequence the line with the call that differs is told, and the number of the call', async () => {
  await installReplay()
  const text = 'case: a\nagent: a\ntape: a.tape.jsonl\nexpect: pass\nbaseline:\n  - [a(), b()]\n  - c()\n  - d()\n'
  const recording = new Recording()
  const names = ['a', 'b', 'other', 'd']
  for (const name of names) recording.call(name, [], 1)
  const run = await replayTape(recording.tape(), async () => {
    for (const name of names) await tool(name, async () => 1)()
    return null
  })
  const verdict = judge(parseCase(text, 'a.case.yaml'), run, { trace: 'sequence' })
  expect(verdict.isGreen ? 'green' : verdict.because).toMatchObject({ line: 7, divergedAt: 'call 3 of the trace' })
})
