import http from 'node:http'
import { mkdtempSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { gzipSync } from 'node:zlib'
import { afterAll, expect, test } from 'vitest'
import { createRecorder, mark, message, retriever, state, tool, value } from '../../src/record/index.ts'
import { replayTape } from '../../src/replay/index.ts'
import { readTape } from '../../src/tape/index.ts'
import { served } from '../support/served.ts'

const dir = mkdtempSync(join(tmpdir(), 'harvest-redaction-'))
// The first question is answered last, compressed, and the answer names somebody new.
const server = http.createServer({ keepAliveTimeout: 120_000 }, (request, response) => {
  request.resume().on('end', () => {
    const isFirst = request.url === '/first'
    response.setHeader('content-encoding', 'gzip')
    setTimeout(
      () => response.end(gzipSync(`ask carol.${isFirst ? 'first' : 'second'}@shop.test about KD-12345678`)),
      isFirst ? 60 : 5,
    )
  })
})
const base = served(server)
afterAll(() => rmSync(dir, { recursive: true, force: true }))

const ask = async (path: string, body: string): Promise<string> =>
  (await fetch(base() + path, { method: 'POST', body })).text()

async function agent(): Promise<string> {
  const [first, second] = await Promise.all([
    ask('/first', 'from alice@shop.test, customer KD-11112222'),
    ask('/second', 'from bob@shop.test, customer KD-33334444'),
  ])
  return ask('/third', `${first} and ${second}, says dora@shop.test`)
}

test('a redacted run with parallel questions, compressed answers and rules of its own replays byte for byte', async () => {
  const recorder = createRecorder({
    dir,
    redact: { rules: [{ kind: 'customer', pattern: /KD-\d{8}/g }] },
  })
  await recorder.run({ agent: 'a', id: 'redacted' }, agent)
  const text = readFileSync(recorder.lastTape!, 'utf8')
  for (const secret of ['alice@', 'bob@', 'dora@', 'carol.', 'KD-1', 'KD-3']) expect(text).not.toContain(secret)
  const { problems, comparison, drift, notCompared } = await replayTape(readTape(recorder.lastTape!), agent)
  expect(problems).toEqual([])
  expect(drift).toEqual([])
  expect(comparison.identical).toBe(3)
  // Those of its own; what came in answers came as a placeholder.
  expect(notCompared.map(({ kind }) => kind)).toEqual(['email', 'customer', 'email', 'customer', 'email'])
})

test('an address of the agent itself is said to be not compared, and is compared where it is allowed', async () => {
  const asking = (to: string, password: string) => () => ask('/second', JSON.stringify({ to, password }))
  const outcomes = []
  for (const redact of [{}, { allow: ['help@shop.test'] }]) {
    const recorder = createRecorder({ dir, redact })
    await recorder.run({ agent: 'a' }, asking('help@shop.test', 'first-word-9'))
    const tape = readTape(recorder.lastTape!)
    for (const to of ['help@shop.test', 'thief@shop.test']) {
      const { problems, notCompared } = await replayTape(tape, asking(to, 'second-word-8'))
      outcomes.push([problems.map(({ code }) => code), notCompared.map(({ kind }) => kind)])
    }
  }
  expect(outcomes).toEqual([
    [[], ['email']],
    [[], ['email']],
    [[], []],
    [['HARVEST_DIVERGENCE'], ['email']],
  ])
})

test('what a tape has redacted is compared in one spelling of its request', async () => {
  const recorder = createRecorder({ dir })
  const chat = (content: unknown): (() => Promise<string>) => {
    const body = JSON.stringify({ model: 'm', messages: [{ role: 'user', content }] })
    return () => ask('/v1/chat/completions', body)
  }
  const words = 'Write to alice@shop.test and to bob@shop.test.'
  await recorder.run({ agent: 'a', id: 'spelled' }, chat(words))
  const tape = readTape(recorder.lastTape!)
  expect(readFileSync(recorder.lastTape!, 'utf8')).not.toContain('alice@')
  const { problems, drift } = await replayTape(tape, chat([{ type: 'text', text: words }]))
  expect(problems).toEqual([])
  expect(drift).toMatchObject([{ class: 'encoding' }])
  // One address twice is another question.
  const other = await replayTape(tape, chat([{ type: 'text', text: words.replace('bob', 'alice') }]))
  expect(other.drift).toMatchObject([{ class: 'messages', policy: 'unproven' }])
})

test('an address in the query and another one in the body are numbered alike by recorder and replay', async () => {
  const agent = () => ask('/second?for=anna@shop.test', 'from berta@shop.test')
  const recorder = createRecorder({ dir })
  await recorder.run({ agent: 'a' }, agent)
  expect((await replayTape(readTape(recorder.lastTape!), agent)).problems).toEqual([])
})

test('a request that is no text and has a token in it replays with another token', async () => {
  const recorder = createRecorder({ dir })
  const asking =
    (token: string, first = 0x82) =>
    async (): Promise<void> => {
      const body = Buffer.concat([Buffer.from([first, 0xd9, token.length]), Buffer.from(token), Buffer.from([0xff])])
      await (await fetch(`${base()}/packed`, { method: 'POST', body })).text()
    }
  const [key, other] = ['a', 'b'].map((tail) => `ghp_${'aB3dE5gH7jK9mN1pQ2rS4tU6vW8xY0zAbCd'}${tail}`)
  await recorder.run({ agent: 'a', id: 'packed' }, asking(key!))
  const tape = readTape(recorder.lastTape!)
  const [body] = tape.events.flatMap((event) => (event.kind === 'exchange' ? [event.request.body] : []))
  expect(Buffer.from((body as { base64: string }).base64, 'base64').toString('latin1')).toContain(
    'redacted-github-token-1.',
  )
  for (const token of [key!, other!]) expect((await replayTape(tape, asking(token))).problems).toEqual([])
  expect((await replayTape(tape, asking(key!, 0x83))).problems).not.toEqual([])
})

test('names of marks and of those who speak are redacted, and replay; on a tape that has them as they were said, too', async () => {
  const recorder = createRecorder({ dir })
  const speaking = async (): Promise<void> => {
    mark('paid by ella@shop.test', { to: 'finn@shop.test' })
    message('ella@shop.test', 'desk DB_PASS=tr33house', { text: 'finn@shop.test' })
    message('ella@shop.test', 'gina@shop.test', {})
  }
  await recorder.run({ agent: 'a' }, speaking)
  const text = readFileSync(recorder.lastTape!, 'utf8')
  expect(text).not.toMatch(/ella@|finn@|gina@|tr33house/)
  const tape = readTape(recorder.lastTape!)
  expect((await replayTape(tape, speaking)).problems).toEqual([])
  const events = tape.events.map((event) => {
    if (event.kind === 'mark') return { ...event, name: 'paid by ella@shop.test' }
    return event.kind === 'message' && event.to.startsWith('desk')
      ? { ...event, from: 'ella@shop.test', to: 'desk DB_PASS=tr33house' }
      : event
  })
  const said = events.filter((event) => event.kind === 'mark' || event.kind === 'message').slice(0, 2)
  const before = { ...tape, events: said }
  const once = async (): Promise<void> => {
    mark('paid by ella@shop.test', { to: 'redacted-2@email.invalid' })
    message('ella@shop.test', 'desk DB_PASS=tr33house', { text: 'redacted-2@email.invalid' })
  }
  expect((await replayTape(before, once)).problems).toEqual([])
  const other = async (): Promise<void> => {
    mark('paid by hugo@shop.test', { to: 'redacted-2@email.invalid' })
    message('ella@shop.test', 'desk DB_PASS=tr33house', { text: 'redacted-2@email.invalid' })
  }
  expect((await replayTape(before, other)).problems.map(({ code }) => code)).toEqual(['HARVEST_MARKS'])
})

test.each(['at once', 'at the end'])(
  'names of wrapped functions are redacted, and replay: written %s',
  async (when) => {
    const file = join(dir, `${when.replaceAll(' ', '-')}.tape.jsonl`)
    const recorder = createRecorder({
      dir,
      ...(when === 'at the end' && { sample: 0, keep: { when: () => true } }),
    })
    const [key, other] = ['a', 'b'].map((tail) => `ghp_${'aB3dE5gH7jK9mN1pQ2rS4tU6vW8xY0zAbCd'}${tail}`)
    const calling = async (name: string): Promise<void> => {
      tool(`${name} of ella@shop.test`, (to: string) => to)('finn@shop.test')
      value(`DB_PASS=tr33house ${name}`, () => 1)
    }
    await recorder.run({ agent: 'a', id: when.replaceAll(' ', '-') }, () => calling(key!))
    recorder.flush()
    expect(readFileSync(file, 'utf8')).not.toMatch(/ghp_|ella@|finn@|tr33house/)
    const tape = readTape(file)
    expect((await replayTape(tape, () => calling(key!))).problems).toEqual([])
    expect((await replayTape(tape, () => calling(other!))).problems).toEqual([])
    const before = {
      ...tape,
      events: tape.events.map((one) => (one.kind === 'tool' ? { ...one, name: `${key} of ella@shop.test` } : one)),
    }
    const asBefore = async (): Promise<void> => {
      tool(`${key} of ella@shop.test`, (to: string) => to)('redacted-2@email.invalid')
      value('DB_PASS=redacted-secret-1 redacted-github-token-1', () => 1)
    }
    expect((await replayTape(before, asBefore)).problems).toEqual([])
  },
)

const say = tool(async function say(words: string): Promise<string> {
  return `said ${words.length}`
})
const pause = (ms: number): Promise<void> => new Promise((resolve) => setTimeout(resolve, ms))
const throwing =
  (error: () => unknown): (() => Promise<unknown>) =>
  async () => {
    await pause(1)
    throw error()
  }
const caught = async (work: () => unknown): Promise<void> => {
  try {
    await work()
  } catch {
    // The agent goes on without.
  }
}
const noCustomer = (): Error => new Error('no customer anna@shop.test')

/** What gives the agent an address it does not have, each with the steps of the run until then. */
const givers: Readonly<Record<string, () => unknown>> = {
  'a result': tool(async function find() {
    await pause(1)
    return 'anna@shop.test'
  }),
  'an error': tool('find', throwing(noCustomer)),
  'an error thrown at once': tool(function find() {
    throw noCustomer()
  }),
  'a cause': tool(
    'find',
    throwing(() => new Error('failed', { cause: noCustomer() })),
  ),
  'a property of an error': tool(
    'find',
    throwing(() => Object.assign(new Error('failed'), { for: { mail: 'anna@shop.test' } })),
  ),
  'errors of an AggregateError': tool(
    'find',
    throwing(() => new AggregateError([noCustomer()], 'failed')),
  ),
  'a thrown text': tool(
    'find',
    throwing(() => 'anna@shop.test'),
  ),
  'an error of a retriever': retriever('find', throwing(noCustomer)),
  'an error of a value': () => value('customer', throwing(noCustomer)),
  'a piece': async () => {
    const pieces = tool(async function* pieces() {
      yield 'anna@shop.test'
      yield 'end'
    })
    for await (const piece of pieces()) if (piece === 'end') break
  },
  'an error after a piece': async () => {
    const pieces = tool(async function* pieces() {
      yield 'one'
      throw noCustomer()
    })
    for await (const _ of pieces()) continue
  },
  'a call inside a tool': tool(async function find() {
    await say('to anna@shop.test')
    return 1
  }),
  'a request inside a tool': tool(async function find() {
    await ask('/second?for=berta@shop.test', 'from anna@shop.test')
    return 1
  }),
  'a mark, a message and a state inside a tool': tool(async function find() {
    mark('for berta@shop.test', { to: 'anna@shop.test' })
    message('planner', 'worker', 'ask carl@shop.test')
    state('customer', { of: 'dora@shop.test' })
    return 1
  }),
  'a call inside a call inside a tool': tool(async function find() {
    const inner = tool('find', throwing(noCustomer))
    await caught(inner)
    return 1
  }),
}

test.for(Object.entries(givers))('%s of a tape takes its numbers in a replay as well', async ([, give]) => {
  const agent = async (): Promise<void> => {
    await caught(give)
    await say('write to desk@shop.test')
  }
  const recorder = createRecorder({ dir })
  await recorder.run({ agent: 'a' }, agent)
  expect(readFileSync(recorder.lastTape!, 'utf8')).not.toContain('anna@')
  const { problems, drift } = await replayTape(readTape(recorder.lastTape!), agent)
  expect([problems, drift]).toEqual([[], []])
})

test('what a tool does inside counts in its order with a call beside it', async () => {
  const slow = tool(async function slow() {
    await pause(20)
    await say('to anna@shop.test')
    await pause(20)
    return 1
  })
  const agent = (after: number) => async (): Promise<void> => {
    const open = slow()
    await pause(after)
    await say('write to desk@shop.test')
    await open
    await say('write to shop@shop.test')
  }
  for (const after of [1, 30]) {
    const recorder = createRecorder({ dir })
    await recorder.run({ agent: 'a' }, agent(after))
    const { problems, drift } = await replayTape(readTape(recorder.lastTape!), agent(after))
    expect([problems, drift]).toEqual([[], []])
  }
})
