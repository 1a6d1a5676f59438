import { readFileSync } from 'node:fs'
import { createContext, runInContext } from 'node:vm'
import { rolldown } from 'rolldown'
import { expect, test } from 'vitest'
import * as elsewhere from '../../src/record/elsewhere.ts'
import * as node from '../../src/record/index.ts'
import { built } from '../support/built.ts'
import manifest from '../../package.json' with { type: 'json' }

/** The file that a bundler for such a runtime takes, run in a realm that has nothing of Node. */
async function withoutNode(condition: 'workerd' | 'edge-light', program: string, said: string[]): Promise<unknown> {
  const file = built(manifest.exports['./record'][condition].replace('./dist/', ''))
  // Nothing is imported, not even for its side effects alone.
  expect(readFileSync(file, 'utf8')).not.toMatch(/\bimport\b|\brequire\b|\bprocess\b|\bBuffer\b/)
  const bundle = await rolldown({ input: file, platform: 'neutral' })
  const { output } = await bundle.generate({ format: 'iife', name: 'door' })
  await bundle.close()
  const console = { warn: (text: string) => said.push(text) }
  const context = createContext({ console, AbortController, said })
  return await runInContext(`${output[0].code}\n;(async () => JSON.stringify(await (${program})(door)))()`, context)
}

test.for(['workerd', 'edge-light'] as const)(
  'on %s an agent runs as without a recorder, which says so once',
  async (condition) => {
    const said: string[] = []
    const program = `async ({ createRecorder, tool, tools, retriever, value, bind, client, mark, message, state, runSignal }) => {
    const shop = tools({ look: async (id) => ({ id, total: 25 }) })
    const refund = tool('refund', async (amount) => ({ amount }))
    const search = retriever(async (words) => [words])
    const pool = client(() => ({ query: (text) => text }))
    const recorder = createRecorder({ dir: 'recordings/inbox' })
    const answer = await recorder.run({ agent: 'refund', id: 'one', input: 1 }, async ({ id, signal, flag, hold }) => {
      message('desk', 'worker', 1)
      state('cart', {})
      mark('planned')
      const { total } = await shop.look('A-17')
      return [id, signal.aborted, flag('x'), hold('x'), total, await refund(total), await search('a'), value('day', () => 4),
        pool.query('select'), bind((n) => n + 1)(1), mark('planned', 2), runSignal() === undefined]
    })
    recorder.flush()
    let thrown
    try { recorder.run({ agent: 'refund' }, () => { throw new Error('mine') }) } catch (error) { thrown = error.message }
    createRecorder({ enabled: false })
    return [answer, thrown, recorder.stats.runs, recorder.lastTape === undefined]
  }`
    expect(JSON.parse(String(await withoutNode(condition, program, said)))).toEqual([
      ['one', false, false, false, 25, { amount: 25 }, ['a'], 4, 'select', 2, 2, true],
      'mine',
      0,
      true,
    ])
    expect(said).toHaveLength(1)
    expect(said[0]).toMatch(/^Not supported: runs are not recorded on this runtime; the agent is not affected/)
  },
)

test('what is exported there is what is exported on Node', () => {
  expect(Object.keys(elsewhere).sort()).toEqual(Object.keys(node).sort())
  expect(Object.keys(elsewhere.createRecorder({ enabled: false })).sort()).toEqual(
    Object.keys(node.createRecorder({ enabled: false })).sort(),
  )
  expect(Object.keys(elsewhere.createRecorder({ enabled: false }).stats).sort()).toEqual(
    Object.keys(node.createRecorder({ enabled: false }).stats).sort(),
  )
})

test('the warning goes to whoever asked for it', () => {
  const heard: unknown[] = []
  elsewhere.createRecorder({ onWarning: (error) => heard.push(error.code) })
  expect(heard).toEqual(['HARVEST_RECORDING_FAILED'])
})
