import { once } from 'node:events'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { join } from 'node:path'
import Anthropic from '@anthropic-ai/sdk'
import OpenAI from 'openai'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { parseCase } from '../../src/cases/index.ts'
import { createRecorder } from '../../src/record/index.ts'
import { installReplay, replayTape } from '../../src/replay/index.ts'
import { readTape, type Tape } from '../../src/tape/index.ts'
import { judge } from '../../src/verdict/index.ts'
import { temporaryFolder } from '../support/temporary-folder.ts'

const text = 'yes'
const server = createServer((request, response) => {
  request.resume().on('end', () => {
    const choices = [{ index: 0, message: { role: 'assistant', content: text }, finish_reason: 'stop' }]
    const content = [{ type: 'text', text }]
    response.setHeader('content-type', 'application/json')
    response.end(JSON.stringify({ id: 'a', type: 'message', role: 'assistant', model: 'm', choices, content }))
  })
})
let base = ''
beforeAll(async () => {
  await installReplay()
  await once(server.listen(0, '127.0.0.1'), 'listening')
  base = `http://127.0.0.1:${(server.address() as AddressInfo).port}`
})
afterAll(() => void server.close())

const options = () => ({ apiKey: 'none', baseURL: base, maxRetries: 0 })
type Ask = (content: string, system?: string) => Promise<unknown>
const openai: Ask = async (content, system) => {
  const { choices } = await new OpenAI(options()).chat.completions.create({
    model: 'm',
    messages: [
      ...(system === undefined ? [] : [{ role: 'system' as const, content: system }]),
      { role: 'user', content },
    ],
  })
  return choices[0]?.message.content
}
const anthropic: Ask = async (content, system) => {
  const asked = { model: 'm', max_tokens: 9, messages: [{ role: 'user' as const, content }] }
  const answer = await new Anthropic(options()).messages.create({ ...asked, ...(system !== undefined && { system }) })
  return answer.content[0]
}

describe.each([
  ['openai', openai],
  ['@anthropic-ai/sdk', anthropic],
])('with %s, of several differences', (_, ask) => {
  const rule = 'Never refund without a person.'
  /** Two questions with the same rule, of which one can be lost, and a request between them. */
  const agent =
    (lost: number, returned: string, body = 'order 7') =>
    async (): Promise<string> => {
      await ask('Which order?', lost === 1 ? undefined : rule)
      await fetch(`${base}/orders`, { method: 'POST', body })
      await ask('Refund it?', lost === 2 ? undefined : rule)
      return returned
    }
  const baseline = 'case: a\nagent: desk\ntape: a.tape.jsonl\nexpect: pass\nbaseline: []\n'
  async function because(...now: Parameters<typeof agent>) {
    const dir = temporaryFolder('first-cause')
    await createRecorder({ dir }).run({ agent: 'desk', id: 'a' }, agent(3, 'asked a person'))
    const tape: Tape = readTape(join(dir, 'a.tape.jsonl'))
    return judge(parseCase(baseline, 'a.case.yaml'), await replayTape(tape, agent(...now)), {}).because?.error
  }

  test.each([1, 3])('a rule that the model lost at step %i leads, and the other return value follows', async (step) => {
    const error = await because(step === 1 ? 1 : 2, 'refunded')
    expect(error?.code).toBe('HARVEST_OUTCOME')
    const { message = '' } = error ?? {}
    expect(message).toMatch(
      new RegExp(`^The system prompt changed at step ${step}, and then the agent acted differently\\n`),
    )
    expect(message).toMatch(
      /First, what the model was asked changed:\n {2}system prompt .*Never refund.*\n\nThen: The agent returned a different value than recorded\n/,
    )
    // To undo the first cause stands before accepting what follows from it.
    expect(message).toMatch(
      /\n\n→ if that was not meant: change it back(?: at test\/verdict\/first-cause\.test\.ts:[\d:]+)?\n→ /,
    )
  })

  test('a request of another step is behind a rule that was lost before it, and leads where it comes first', async () => {
    const error = await because(1, 'refunded', 'order 8')
    expect(error?.message).toMatch(/^The system prompt changed at step 1, [^]*\nThen: No recorded response matches/)
    const other = await because(2, 'refunded', 'order 8')
    expect(other?.message).toMatch(/^No recorded response matches/)
  })

  test('a rule that was lost, and nothing else, is unproven', async () => {
    expect((await because(2, 'asked a person'))?.code).toBe('HARVEST_UNPROVEN')
  })
})
