import { beforeAll, expect, test } from 'vitest'
import { ExpectedRequest } from '../../src/replay/expected.ts'
import { installReplay, replayTape } from '../../src/replay/index.ts'
import { ReplayRun } from '../../src/replay/run.ts'
import { type HeaderPair, headersFlag, type Tape } from '../../src/tape/index.ts'
import { chat, chatUrl, tapeOf } from './tapes.ts'

beforeAll(() => installReplay())

const json = { 'content-type': 'application/json' }
const post = async (body: string, headers: Readonly<Record<string, string>> = json, url = chatUrl): Promise<string> =>
  (await fetch(url, { method: 'POST', headers, body })).text()
const here = /test\/replay\/expected\.test\.ts:\d+/
const [first, second] = [chat('Where is order 17?'), chat('And order 18?')]

test('the second of two equal requests made at once, of which the tape has one, is named with its line', async () => {
  const { problems } = await replayTape(tapeOf([{ body: first }]), () => Promise.allSettled([post(first), post(first)]))
  expect(problems.map(({ message }) => message)).toEqual([expect.stringMatching(here)])
})

test('of three equal requests made at once, of which the tape has two in turn, two are named with their lines', async () => {
  const tape = tapeOf([{ body: first }, { body: first }])
  const { problems } = await replayTape(tape, () => Promise.allSettled([post(first), post(first), post(first)]))
  expect(problems.map(({ message }) => message)).toEqual([expect.stringMatching(here), expect.stringMatching(here)])
})

test('of three recorded requests made in reverse, two are named with their lines', async () => {
  const bodies = [1, 2, 3].map((n) => chat(`Where is order ${n}?`))
  const { problems } = await replayTape(tapeOf(bodies.map((body) => ({ body }))), () =>
    Promise.allSettled(bodies.toReversed().map((body) => post(body))),
  )
  const named = expect.stringMatching(here) as string
  expect(problems.map(({ message }) => message)).toEqual([named, named])
})

test('a recorded request that is made before its turn is named with its line', async () => {
  const tape = tapeOf([{ body: first }, { body: second }])
  const { problems } = await replayTape(tape, () => Promise.allSettled([post(second), post(first)]))
  expect(problems.map(({ message }) => message)).toEqual([expect.stringMatching(here)])
})

test.for([
  ['with another header', { ...json, 'OpenAI-Beta': 'assistants=v3' }],
  ['that lacks one, stated as Headers,', new Headers(json)],
] as const)('a recorded request %s is named with its line', async ([, changed]) => {
  const tape = withHeaders(tapeOf([{ body: first }]), [
    ['content-type', 'application/json'],
    ['openai-beta', 'assistants=v2'],
  ])
  const { drift } = await replayTape(tape, async () => {
    await fetch(chatUrl, { method: 'POST', headers: changed, body: first })
  })
  expect(drift).toMatchObject([{ class: 'headers', path: 'openai-beta', site: expect.stringMatching(here) as string }])
})

test('of requests with the same headers, the first that has another is named with its line', async () => {
  const bodies = [1, 2, 3, 4].map((n) => chat(`Where is order ${n}?`))
  const stated = { ...json, authorization: 'Bearer a', 'openai-beta': 'assistants=v2' }
  const recorded = withHeaders(tapeOf(bodies.map((body) => ({ body }))), [
    ['content-type', 'application/json'],
    ['authorization', 'Bearer [key-1]'],
    ['openai-beta', 'assistants=v2'],
  ])
  const tape = { ...recorded, header: { ...recorded.header, flags: [...recorded.header.flags, headersFlag] } }
  for (const [name, value] of [
    ['openai-beta', 'assistants=v3'],
    ['authorization', 'Basic YTpi'],
  ] as const) {
    const { drift } = await replayTape(tape, async () => {
      for (const body of bodies) await post(body, body === bodies[3] ? { ...stated, [name]: value } : stated)
    })
    expect(drift).toMatchObject([{ path: name, stepNumber: 4, site: expect.stringMatching(here) as string }])
  }
})

test('a recorded request with another key of idempotency is named with its line', async () => {
  const url = 'https://shop.test/refunds'
  const asked = { url, body: '{"order":17}' }
  const tape = withHeaders(tapeOf([asked, asked]), [
    ['content-type', 'application/json'],
    ['idempotency-key', 'k-1'],
  ])
  const { problems } = await replayTape(tape, async () => {
    await post(asked.body, { ...json, 'idempotency-key': 'a' }, url)
    await post(asked.body, { ...json, 'idempotency-key': 'b' }, url).catch(() => undefined)
  })
  expect(problems[0]?.message).toMatch(here)
})

test('a request that a recorded answer leads to, and the tape does not have, is named with the line of the call', async () => {
  const tape = tapeOf([{ body: first }])
  const events = tape.events.map((event) =>
    event.kind === 'exchange' && event.response
      ? { ...event, response: { ...event.response, status: 307, headers: [['location', '/elsewhere'] as const] } }
      : event,
  )
  const { problems } = await replayTape({ ...tape, events }, () => post(first).catch(() => undefined))
  expect(problems.map(({ message }) => message)).toEqual([expect.stringMatching(here)])
})

test('a new value gets a number that is on the tape of no answer before it, expected or not', async () => {
  const answer = JSON.stringify({ ok: true, to: 'redacted-1@email.invalid' })
  const recorded = chat('Write to redacted-2@email.invalid as well.')
  const tape = tapeOf([{ body: first, answer }, { body: second }, { body: recorded }])
  const { problems, drift, comparison } = await replayTape(tape, async () => {
    await post(first)
    await post(second)
    await post(recorded.replace('redacted-2@email.invalid', 'ben@shop.test'))
  })
  expect([problems, drift, comparison.identical]).toEqual([[], [], 3])
})

test('only the one recorded request that is next is expected, and once', () => {
  const run = new ReplayRun(tapeOf([{ body: first }, { body: second }]), {}, () => undefined)
  const expected = new ExpectedRequest(run)
  const stated = (text: string, url = chatUrl) => ({
    via: 'undici' as const,
    method: 'POST',
    url,
    text,
    headers: () => [...Object.entries(json)],
  })
  expect(expected.find(stated(`${first} `))).toBeUndefined()
  expect(expected.find(stated(first, `${chatUrl}?a=b`))).toBeUndefined()
  expect(expected.find(stated(second))).toBeUndefined()
  expect(expected.find(stated(first))).toBeDefined()
  expect(expected.find(stated(first))).toBeUndefined()
})

function withHeaders(tape: Tape, headers: readonly HeaderPair[]): Tape {
  const events = tape.events.map((event) =>
    event.kind === 'exchange' ? { ...event, request: { ...event.request, headers } } : event,
  )
  return { ...tape, events }
}
