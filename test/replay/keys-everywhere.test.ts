import http from 'node:http'
import { mkdtempSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, describe, expect, test } from 'vitest'
import { createRecorder, tool } from '../../src/record/index.ts'
import { replayTape } from '../../src/replay/index.ts'
import { readTape } from '../../src/tape/index.ts'
import { served } from '../support/served.ts'

const key = 'AQAEAKq7fZr9Xv4Tn8WbQm2LsJ5hDpR3'
const dir = mkdtempSync(join(tmpdir(), 'harvest-keys-'))
const server = http.createServer((request, response) => {
  request.resume().on('end', () => {
    response.setHeader('content-type', 'application/json')
    const many = /^\/many\/(\d+)$/.exec(request.url ?? '')?.[1]
    const answer =
      many === undefined
        ? { data: key }
        : Array.from({ length: Number(many) }, (_, n) => ({ session_id: nthValue(n), job: n }))
    response.end(JSON.stringify(request.url === '/ok' || request.url?.startsWith('/asked') === true ? {} : answer))
  })
})
const base = served(server)
afterAll(() => rmSync(dir, { recursive: true, force: true }))

function nthValue(n: number): string {
  return `cs_test_a1Hq8Zr9Xv4Tn8Wb${n}Qm2`
}

type Ask = (key: string) => Promise<unknown>
const header =
  (name: string, shown = (given: string): string => given): Ask =>
  async (given) =>
    (await fetch(`${base()}/ok`, { headers: { [name]: shown(given) } })).json()
const query =
  (name: string): Ask =>
  async (given) =>
    (await fetch(`${base()}/asked?${name}=${encodeURIComponent(given)}`)).json()

const ways: Readonly<Record<string, Ask>> = {
  'a bearer token': header('authorization', (given) => `Bearer ${given}`),
  'a password of Basic': header('authorization', (given) => `Basic ${btoa(`api:${given}`)}`),
  'an api key': header('x-api-key'),
  'the token of a vault': header('x-vault-token'),
  'the token of the machine': header('x-aws-ec2-metadata-token'),
  'a cookie': header('cookie', (given) => `session=${given}`),
  'api_key in the query': query('api_key'),
  'access_token in the query': query('access_token'),
  'token in the query': query('token'),
  'key in the query': query('key'),
}

const call = tool('call', async ({ opts }: { opts: string }) => ({ error: `bad key ${opts}` }))
const read = tool('read', async () => ({ value: key }))

const agents: Readonly<Record<string, (ask: Ask) => () => Promise<unknown>>> = {
  'after an answer that has it': (ask) => async () => {
    const { data } = (await (await fetch(`${base()}/login`)).json()) as { data: string }
    await ask(data)
    return 'in'
  },
  'after a tool that has it': (ask) => async () => ask((await read()).value),
  'before a tool that is given it': (ask) => async () => {
    await ask(key)
    return (await call({ opts: key })).error
  },
}

async function recorded(agent: () => Promise<unknown>): Promise<string> {
  const recorder = createRecorder({ dir })
  await recorder.run({ agent: 'a' }, agent)
  recorder.flush()
  return recorder.lastTape!
}

describe.each(Object.keys(ways))('a key that is %s', (way) => {
  test.each(Object.keys(agents))(
    '%s stands nowhere on the tape, and the unchanged agent replays the same',
    async (when) => {
      const agent = agents[when]!(ways[way]!)
      const file = await recorded(agent)
      const text = readFileSync(file, 'utf8')
      expect(text).not.toContain(key)
      expect(text).not.toContain(btoa(key).slice(0, 24))
      expect((await replayTape(readTape(file), agent)).problems).toEqual([])
    },
  )
})

test('an agent that has another key than was recorded replays the same where nothing else has it', async () => {
  const agent = (given: string) => async (): Promise<unknown> => ways['a bearer token']!(given)
  const file = await recorded(agent(key))
  expect((await replayTape(readTape(file), agent('Zr9Xv4Tn8WbQm2LsJ5hDpR3AQAEAKq7f'))).problems).toEqual([])
})

const jobs = tool('jobs', async ({ count }: { count: number }) => Array.from({ length: count }, (_, n) => nthValue(n)))

test.each([600, 3_000])('of %i values that are named late, each stands nowhere on the tape', async (count) => {
  const agent = async (): Promise<unknown> => {
    const all = await jobs({ count })
    const named = (await (await fetch(`${base()}/many/${count}`)).json()) as { session_id: string }[]
    return named.filter(({ session_id: id }, n) => id !== all[n]).length
  }
  const file = await recorded(agent)
  const text = readFileSync(file, 'utf8')
  expect(Array.from({ length: count }, (_, n) => nthValue(n)).filter((one) => text.includes(one))).toEqual([])
  const tape = readTape(file)
  expect(tape.close?.incomplete).toBeUndefined()
  expect((await replayTape(tape, agent)).problems).toEqual([])
})

test('where more values are named than are looked for, the tape says so and is not complete', async () => {
  const file = await recorded(async () => (await (await fetch(`${base()}/many/9000`)).json()) !== undefined)
  expect(readTape(file).close?.incomplete).toMatch(
    /^more values were named as secret than are looked for in a run: \d+ of them/,
  )
})
