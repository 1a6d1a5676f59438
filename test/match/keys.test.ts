import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { afterEach, describe, expect, test, vi } from 'vitest'
import { standInKeys } from '../../src/replay/index.ts'
import { createRecorder } from '../../src/record/index.ts'
import {
  currentFlags,
  type ExchangeEvent,
  parseTape,
  readTape,
  regionFlag,
  serializeTape,
  tenantsFlag,
} from '../../src/tape/index.ts'
import { temporaryFolder } from '../support/temporary-folder.ts'

const header = {
  harvest: 1,
  id: 'keys',
  agent: 'a',
  startedAt: '2026-01-01T00:00:00.000Z',
  recorder: 'test',
  flags: currentFlags,
  pins: { node: process.versions.node },
}
const post = (n: number, url: string, body: object): ExchangeEvent => ({
  kind: 'exchange',
  n,
  at: n,
  via: 'undici',
  method: 'POST',
  url,
  request: { headers: [], body: JSON.stringify(body) },
})
const chat = { model: 'm', messages: [{ role: 'user', content: 'hi' }] }
const tapeOf = (...events: readonly ExchangeEvent[]) =>
  parseTape(serializeTape(header, events, { n: 9, at: 9, outcome: { status: 'returned' } }), 'keys')

afterEach(() => vi.unstubAllEnvs())

test('the keys of the providers on the tape stand in where none is set, and are taken back', () => {
  vi.stubEnv('OPENAI_API_KEY', undefined)
  vi.stubEnv('GROQ_API_KEY', undefined)
  vi.stubEnv('ANTHROPIC_API_KEY', undefined)
  const takeBack = standInKeys(tapeOf(post(0, 'https://api.groq.com/openai/v1/chat/completions', chat)))
  expect(process.env['OPENAI_API_KEY']).toBeTruthy()
  expect(process.env['GROQ_API_KEY']).toBeTruthy()
  expect(process.env['ANTHROPIC_API_KEY']).toBeUndefined()
  takeBack()
  expect(process.env['OPENAI_API_KEY']).toBeUndefined()
  expect(process.env['GROQ_API_KEY']).toBeUndefined()
})

test('what was one key when recorded gets one stand-in, and two keys two', () => {
  const names = ['OPENAI_API_KEY', 'ANTHROPIC_API_KEY', 'MISTRAL_API_KEY'] as const
  for (const name of names) vi.stubEnv(name, undefined)
  const asked = (n: number, url: string, key: string): ExchangeEvent => {
    const event = post(n, url, { ...chat, max_tokens: 9 })
    return { ...event, request: { ...event.request, headers: [['authorization', `Bearer ${key}`]] } }
  }
  const takeBack = standInKeys(
    tapeOf(
      asked(0, 'http://127.0.0.1:4000/v1/chat/completions', '[key-1]'),
      asked(1, 'http://127.0.0.1:4000/v1/messages', '[key-2]'),
      asked(2, 'https://api.mistral.ai/v1/chat/completions', '[key-1]'),
    ),
  )
  const [openai, anthropic, mistral] = names.map((name) => process.env[name])
  takeBack()
  expect(openai).toBeTruthy()
  expect(anthropic).toBeTruthy()
  expect(anthropic).not.toBe(openai)
  expect(mistral).toBe(openai)
})

test('a key that is set stays', () => {
  vi.stubEnv('OPENAI_API_KEY', 'mine')
  standInKeys(tapeOf(post(0, 'https://api.openai.com/v1/chat/completions', chat)))()
  expect(process.env['OPENAI_API_KEY']).toBe('mine')
})

test('the region of Bedrock is the recorded one', () => {
  for (const name of ['AWS_REGION', 'AWS_ACCESS_KEY_ID', 'AWS_SECRET_ACCESS_KEY']) vi.stubEnv(name, undefined)
  const url = 'https://bedrock-runtime.eu-central-1.amazonaws.com/model/m/converse'
  const body = { messages: [{ role: 'user', content: [{ text: 'hi' }] }] }
  const takeBack = standInKeys(tapeOf(post(0, url, body)))
  expect(process.env['AWS_REGION']).toBe('eu-central-1')
  takeBack()
})

test('the region of Bedrock behind a host of its own is the one that was signed for, and none where the code named it', () => {
  const names = ['AWS_REGION', 'AWS_DEFAULT_REGION']
  for (const name of [...names, 'AWS_ACCESS_KEY_ID', 'AWS_SECRET_ACCESS_KEY']) vi.stubEnv(name, undefined)
  const event = post(0, 'http://127.0.0.1:4001/model/m/converse', {
    messages: [{ role: 'user', content: [{ text: 'hi' }] }],
  })
  const headers = [['authorization', 'AWS4-HMAC-SHA256 [key-1]/eu-north-1/bedrock/aws4_request']] as const
  const tape = tapeOf({ ...event, request: { ...event.request, headers } })
  const standIns = (flags: readonly string[]) => {
    const takeBack = standInKeys({ ...tape, header: { ...tape.header, flags } })
    const set = [...names, 'AWS_ACCESS_KEY_ID'].map((name) => process.env[name])
    takeBack()
    return set
  }
  expect(standIns(currentFlags)).toEqual(['eu-north-1', 'eu-north-1', expect.any(String)])
  expect(standIns([...currentFlags, regionFlag])).toEqual([undefined, undefined, expect.any(String)])
})

test('a recorder notes that the code alone names a region where neither a variable nor a file of the machine does', async () => {
  const dir = temporaryFolder('region')
  const file = join(dir, 'config')
  writeFileSync(file, '[default]\nregion = eu-north-1\n')
  const isNoted = async () => {
    const recorder = createRecorder({ dir })
    await recorder.run({ agent: 'desk' }, async () => 1)
    return readTape(recorder.lastTape!).header.flags.includes(regionFlag)
  }
  for (const name of ['AWS_REGION', 'AWS_DEFAULT_REGION']) vi.stubEnv(name, undefined)
  vi.stubEnv('AWS_CONFIG_FILE', join(dir, 'none'))
  expect(await isNoted()).toBe(true)
  vi.stubEnv('AWS_DEFAULT_REGION', 'eu-north-1')
  expect(await isNoted()).toBe(false)
  vi.stubEnv('AWS_DEFAULT_REGION', undefined)
  vi.stubEnv('AWS_CONFIG_FILE', file)
  expect(await isNoted()).toBe(false)
})

test('a tape without model calls sets nothing', () => {
  vi.stubEnv('OPENAI_API_KEY', undefined)
  standInKeys(tapeOf(post(0, 'https://shop.test/orders', { id: 1 })))
  expect(process.env['OPENAI_API_KEY']).toBeUndefined()
})

test('organization and project of OpenAI stand in as well: a machine without them would ask for another customer', () => {
  vi.stubEnv('OPENAI_ORG_ID', undefined)
  vi.stubEnv('OPENAI_PROJECT_ID', 'of this machine')
  const { request, ...event } = post(0, 'https://api.openai.com/v1/chat/completions', chat)
  const headers = [
    ['openai-organization', 'org-tea'],
    ['openai-project', 'proj-tea'],
  ] as const
  const takeBack = standInKeys(tapeOf({ ...event, request: { ...request, headers } }))
  expect(process.env['OPENAI_ORG_ID']).toBe('org-tea')
  expect(process.env['OPENAI_PROJECT_ID']).toBe('of this machine')
  takeBack()
  expect(process.env['OPENAI_ORG_ID']).toBeUndefined()
})

test('what no variable named when it was recorded, the code has to name again', () => {
  vi.stubEnv('OPENAI_ORG_ID', undefined)
  const { request, ...event } = post(0, 'https://api.openai.com/v1/chat/completions', chat)
  const tape = tapeOf({ ...event, request: { ...request, headers: [['openai-organization', 'org-tea']] } })
  const takeBack = standInKeys({ ...tape, header: { ...tape.header, flags: [...tape.header.flags, tenantsFlag] } })
  expect(process.env['OPENAI_ORG_ID']).toBeUndefined()
  takeBack()
})

test.for([
  ['nothing', undefined, true],
  ['the variable', 'org-tea', false],
] as const)('a recorder notes whether only the code names a tenant: %s is set', async ([, value, isNoted]) => {
  vi.stubEnv('OPENAI_ORG_ID', value)
  vi.stubEnv('OPENAI_PROJECT_ID', undefined)
  const recorder = createRecorder({ dir: temporaryFolder('tenants') })
  await recorder.run({ agent: 'desk' }, async () => 1)
  expect(readTape(recorder.lastTape!).header.flags.includes(tenantsFlag)).toBe(isNoted)
})

describe('Gemini', () => {
  const names = ['GEMINI_API_KEY', 'GOOGLE_API_KEY', 'GOOGLE_GENERATIVE_AI_API_KEY']
  const url = 'https://generativelanguage.googleapis.com/v1beta/models/gemini-2.5-flash:generateContent'
  const asked = (agent: string) => {
    const event = post(0, url, { contents: [{ role: 'user', parts: [{ text: 'hi' }] }] })
    return tapeOf({ ...event, request: { ...event.request, headers: [['user-agent', agent]] } })
  }
  const standIns = (agent: string) => {
    const takeBack = standInKeys(asked(agent))
    const set = names.filter((name) => process.env[name] !== undefined)
    takeBack()
    return set
  }

  test('its SDK warns of two keys, so one stands in, and none beside one that is set', () => {
    for (const name of names) vi.stubEnv(name, undefined)
    expect(standIns('google-genai-sdk/1.30.0 gl-node/v24.1.0')).toEqual(['GEMINI_API_KEY'])
    vi.stubEnv('GOOGLE_API_KEY', 'mine')
    expect(standIns('google-genai-sdk/1.30.0 gl-node/v24.1.0')).toEqual(['GOOGLE_API_KEY'])
  })

  test('other clients read a variable of their own: all of them stand in', () => {
    for (const name of names) vi.stubEnv(name, undefined)
    expect(standIns('ai/7.0.1')).toEqual(names)
  })
})
