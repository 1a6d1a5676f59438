import { beforeAll, describe, expect, test } from 'vitest'
import { isBookkeeping } from '../../src/providers/index.ts'
import { hostDrift } from '../../src/match/address.ts'
import { installReplay, type ReplayOptions, replayTape } from '../../src/replay/index.ts'
import { stepStates } from '../../src/match/step.ts'
import { type Asked, chat, chatUrl, tapeOf } from './tapes.ts'

beforeAll(() => installReplay())

const recorded = [
  { url: chatUrl, body: chat('hi') },
  { method: 'POST', url: 'https://shop.test/refunds', body: '{"order":7}' },
]
const post = async (url: string, body: string): Promise<string> => (await fetch(url, { method: 'POST', body })).text()
const agent = async (): Promise<void> => {
  await post('https://models.test:8443/v1/chat/completions', chat('hi'))
  await post('http://localhost:4000/refunds', '{"order":7}')
}
const agentAt = async (asked: readonly { readonly url: string; readonly body: string }[]): Promise<void> => {
  for (const { url, body } of asked) await post(url, body)
}
const hosts = { 'https://api.openai.com': ['https://models.test:8443'], 'https://shop.test': ['http://127.0.0.1:4000'] }

describe('hosts that a user said to be the same', () => {
  test('are no drift in any request of a replay', async () => {
    const { problems, drift, unused } = await replayTape(tapeOf(recorded), agent, { hosts })
    expect({ problems, drift, unused }).toEqual({ problems: [], drift: [], unused: [] })
  })

  test('are no drift of a run that was recorded at the live host itself', async () => {
    const { drift: none, problems } = await replayTape(tapeOf(recorded), () => agentAt(recorded), {
      hosts: { 'https://models.test:8443': ['https://api.openai.com'], 'http://localhost:4000': ['https://shop.test'] },
    })
    expect({ none, problems }).toEqual({ none: [], problems: [] })
  })

  test('say nothing of all others', async () => {
    const { 'https://shop.test': _, ...one } = hosts
    const { drift } = await replayTape(tapeOf(recorded), agent, { hosts: one })
    expect(drift).toMatchObject([
      { class: 'destination', recorded: 'https://shop.test', live: 'http://localhost:4000' },
    ])
  })

  test('have the spellings of the recorded one', async () => {
    const parts = chat('', { messages: [{ role: 'user', content: [{ type: 'text', text: 'hi' }] }], temperature: 1 })
    const live = () => post('https://models.test:8443/v1/chat/completions', parts)
    const { drift, problems } = await replayTape(tapeOf(recorded.slice(0, 1)), live, { hosts })
    expect(problems).toEqual([])
    expect(drift).toMatchObject([{ class: 'encoding' }])
  })

  test.for<[string, unknown, RegExp]>([
    ['no map', ['https://a.test'], /expected +\{ 'https:\/\/recorded': \['https:\/\/now'\] \}/],
    ['a host with a path', { 'https://a.test/v1': ['https://b.test'] }, /scheme, host and port alone/],
    ['a name without its scheme', { 'https://a.test': ['b.test'] }, /scheme, host and port alone/],
    ['a host that is no list', { 'https://a.test': 'https://b.test' }, /a list of hosts/],
    [
      'a host that stands for two',
      { 'https://a.test': ['https://c.test'], 'https://b.test': ['https://c.test:443'] },
      /under 'https:\/\/a\.test' or under 'https:\/\/b\.test', not under both/,
    ],
  ])('are refused: %s', async ([, wrong, expected]) => {
    const attempt = replayTape(tapeOf(recorded), agent, { hosts: wrong } as ReplayOptions)
    await expect(attempt).rejects.toMatchObject({
      code: 'HARVEST_REPLAY_OPTION',
      message: expect.stringMatching(expected) as string,
    })
  })
})

test('another host is another destination for what a service is told to do, and another endpoint for all else', () => {
  const kind = (asked: Asked): string => {
    const [step] = stepStates(tapeOf([asked]))
    if (step?.event.kind !== 'exchange' || !('model' in step)) throw new Error('no exchange')
    return hostDrift(step, { method: asked.method ?? 'POST' })
  }
  expect(kind({ body: chat('hi') })).toBe('endpoint')
  expect(kind({ method: 'GET', url: 'https://shop.test/orders' })).toBe('endpoint')
  for (const method of ['POST', 'put', 'PATCH', 'DELETE'])
    expect(kind({ method, url: 'https://shop.test/orders', body: '{}' }), method).toBe('destination')
})

test('bookkeeping reaches no model, and what a later call refers to is none', () => {
  const chatHere = { dialect: 'openai-chat', url: chatUrl } as const
  expect(isBookkeeping('prompt_cache_key', chatHere)).toBe(true)
  for (const name of ['store', 'temperature', 'previous_response_id', 'seed', 'model'])
    expect(isBookkeeping(name, chatHere), name).toBe(false)
})

describe('at an address that no provider has, nothing of a question is bookkeeping', () => {
  const said = [{ role: 'user', content: 'hi' }]
  const bodies = {
    chat: { model: 'm', messages: said },
    'messages with a system prompt': { model: 'm', system: 'Be kind.', messages: said },
    'an input with instructions': { model: 'm', input: 'hi', instructions: 'Be kind.' },
    'a prompt': { model: 'm', prompt: 'hi', max_tokens: 5 },
    contents: { contents: [{ role: 'user', parts: [{ text: 'hi' }] }] },
  }
  const verdictAt = async (url: string, body: object, now: object): Promise<readonly string[]> => {
    const tape = tapeOf([{ url, body: JSON.stringify(body) }])
    const { drift } = await replayTape(tape, () => post(url, JSON.stringify(now)))
    return [...new Set(drift.map((one) => one.class))]
  }
  test.for(Object.entries(bodies))('%s', async ([, body]) => {
    const url = 'https://llm.test/gateway/llm'
    expect(await verdictAt(url, body, body)).toEqual([])
    for (const name of ['metadata', 'user', 'labels', 'service_tier', 'prompt_cache_key'])
      expect(await verdictAt(url, body, { ...body, [name]: 'tenant-b' }), name).toEqual(['params'])
  })

  test.for([
    [chatUrl, bodies.chat],
    ['https://llm.test/openai/deployments/d/chat/completions?api-version=1', bodies.chat],
    ['http://localhost:11434/api/chat', bodies.chat],
    ['https://api.anthropic.com/v1/messages', bodies['messages with a system prompt']],
    ['https://llm.test/proxy/v1/messages/?beta=true', bodies['messages with a system prompt']],
    ['https://api.openai.com/v1/responses', bodies['an input with instructions']],
    ['https://api.openai.com/v1/completions', bodies['a prompt']],
    ['https://generativelanguage.googleapis.com/v1beta/models/m:generateContent', bodies.contents],
    ['https://cloudcode-pa.googleapis.com/v1internal:streamGenerateContent', { request: bodies.contents }],
    ['https://bedrock-runtime.eu-west-1.amazonaws.com/model/m/invoke', { anthropic_version: 'x', messages: said }],
  ] as const)('and at %s what its provider keeps is', async ([url, body]) => {
    expect(await verdictAt(url, body, { ...body, metadata: { ticket: '7' } })).toEqual(['bookkeeping'])
  })
})
