import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { type AgentInput, loadAgent } from '../../fixtures/agents/index.ts'
import { type Provider, startProviderHere } from '../../fixtures/provider/index.ts'
import { forkTape } from '../../src/fork/index.ts'
import { openBudget } from '../../src/live/index.ts'
import { createRecorder } from '../../src/record/index.ts'
import { installReplay } from '../../src/replay/index.ts'
import { readTape, stepsOf, type Tape } from '../../src/tape/index.ts'

let provider: Provider
let dir: string
let input: AgentInput
beforeAll(async () => {
  provider = await startProviderHere()
  dir = mkdtempSync(join(tmpdir(), 'harvest-fork-sdk-'))
  const { base, h2base, tlsbase, tlsh2base } = provider
  input = { base, h2base, tlsbase, tlsh2base }
  await installReplay()
})
afterAll(async () => {
  await provider.close()
  rmSync(dir, { recursive: true, force: true })
})

async function recorded(
  name: string,
  given: AgentInput = input,
): Promise<{ agent: (input: unknown) => Promise<unknown>; tape: Tape }> {
  const agent = (await loadAgent(name, given)) as (input: unknown) => Promise<unknown>
  const recorder = createRecorder({ dir })
  await recorder.run({ agent: name, input: given }, () => agent(given)).catch(() => undefined)
  return { agent, tape: readTape(recorder.lastTape ?? '') }
}

const models = [
  'openai-chat-json-wrapped',
  'openai-chat-stream',
  'openai-responses-json',
  'openai-responses-stream',
  'anthropic-json',
  'anthropic-stream',
  'google-genai',
  'google-genai-stream',
] as const

describe.each(models)('%s', (name) => {
  let agent: (input: unknown) => Promise<unknown>
  let tape: Tape
  beforeAll(async () => {
    ;({ agent, tape } = await recorded(name))
  })

  test('takes another text for what its model said', async () => {
    const step = stepsOf(tape).findLastIndex(({ kind }) => kind === 'exchange') + 1
    const plan = {
      keep: step,
      changes: [{ step, decide: { say: 'Ask again later.' } }],
      tail: { from: 'tape' },
    } as const
    const fork = await forkTape(tape, agent, plan)
    expect(fork.problems.map(({ message }) => message)).toEqual([])
    expect(JSON.stringify(fork.outcome)).toContain('Ask again later.')
    expect((await forkTape(tape, agent, plan)).branch.text).toBe(fork.branch.text)
  })

  test('takes other calls for what its model decided, and its model goes on from there', async () => {
    const step = stepsOf(tape).findIndex(({ kind }) => kind === 'exchange') + 1
    const fork = await forkTape(tape, agent, {
      keep: step,
      changes: [{ step, decide: { calls: [{ name: 'get_weather', args: { city: 'Oslo' } }] } }],
      tail: { from: 'live', tools: 'live', budget: openBudget({}) },
    })
    expect(fork.problems.map(({ message }) => message)).toEqual([])
    expect(fork.prefix.isExact).toBe(true)
    expect(fork.outcome.status).toBe('returned')
    const asked = stepsOf(fork.branch.tape).findLast((one) => one.kind === 'exchange')
    expect(JSON.stringify(asked?.kind === 'exchange' && asked.request.body)).toContain('Oslo')
    expect(fork.spent.modelCalls).toBe(1)
  })

  test('is its parent when nothing is changed', async () => {
    for (let keep = 0; keep <= stepsOf(tape).length; keep++) {
      const fork = await forkTape(tape, agent, { keep, tail: { from: 'tape' } })
      expect(fork.problems).toEqual([])
      expect(fork.branch.ownEvents).toEqual([])
    }
  })
})
