import { beforeAll, describe, expect, it } from 'vitest'
import { Clients } from '../../src/replay/clients.ts'
import { installReplay, replayTape } from '../../src/replay/index.ts'
import type { ExchangeEvent, Tape } from '../../src/tape/index.ts'
import { chat, chatUrl, tapeOf } from './tapes.ts'

beforeAll(() => installReplay())

/** A tape whose requests came from a client. */
function madeBy(agent: string): Tape {
  const tape = tapeOf([{ body: chat('hi') }])
  const events = tape.events.map((event) => ({
    ...event,
    request: { ...(event as ExchangeEvent).request, headers: [['user-agent', agent]] as const },
  }))
  return { ...tape, events: events as readonly ExchangeEvent[] }
}

describe('another version of an SDK', () => {
  it.each([
    ['OpenAI/JS 4.1.0', 'OpenAI/JS 5.0.2', ['OpenAI/JS 4.1.0 → 5.0.2']],
    ['Agents/JavaScript 0.20.0', 'Agents/JavaScript 0.21.0', ['Agents/JavaScript 0.20.0 → 0.21.0']],
    [
      'ai/6.0.1 ai-sdk-provider-utils/5.0.81 node.js/24',
      'ai/7.0.173 ai-sdk-provider-utils/5.0.81 node.js/26',
      ['ai 6.0.1 → 7.0.173'],
    ],
    ['OpenAI/JS 4.1.0', 'OpenAI/JS 4.1.0', []],
    ['OpenAI/JS 4.1.0', 'Anthropic/JS 1.0.0', []],
    ['node', 'node', []],
  ])('%s and now %s', (recorded, now, told) => {
    const clients = new Clients(madeBy(recorded))
    clients.met([['user-agent', now]])
    expect(clients.changes).toEqual(told)
  })

  it('is named beside a request that differs, and nowhere else', async () => {
    const ask = (body: string) => async () => {
      await fetch(chatUrl, { method: 'POST', body, headers: { 'user-agent': 'OpenAI/JS 5.0.2' } }).catch(
        () => undefined,
      )
    }
    const tape = madeBy('OpenAI/JS 4.1.0')
    const { problems } = await replayTape(tape, ask('{"other":1}'))
    expect(problems[0]?.message).toMatch(/ {2}SDK +OpenAI\/JS 4\.1\.0 → 5\.0\.2 since this run was recorded\n/)
    expect((await replayTape(tape, ask(chat('hi')))).problems).toEqual([])
    const hangs = await replayTape(tape, () => new Promise(() => undefined), { hangMs: 50 } as object)
    expect(hangs.problems[0]?.message).not.toContain('SDK')
  })
})
