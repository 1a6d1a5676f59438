import { beforeAll, expect, test } from 'vitest'
import { headerDrift } from '../../src/match/header-drift.ts'
import { installReplay, replayTape } from '../../src/replay/index.ts'
import type { HeaderPair, Tape } from '../../src/tape/index.ts'
import { tapeOf } from '../replay/tapes.ts'

beforeAll(() => installReplay())

test('a header that says what is asked for is drift when it changes, appears or goes', () => {
  const recorded = [
    ['anthropic-version', '2026-10-21'],
    ['openai-project', 'shop'],
  ] as const
  const live = [
    ['anthropic-version', '2027-01-01'],
    ['anthropic-beta', 'files'],
  ] as const
  expect(headerDrift(recorded, live)).toEqual([
    { class: 'headers', path: 'anthropic-beta', part: 'header anthropic-beta', recorded: '(absent)', live: 'files' },
    {
      class: 'headers',
      path: 'anthropic-version',
      part: 'header anthropic-version',
      recorded: '2026-10-21',
      live: '2027-01-01',
    },
    { class: 'credentials', path: 'openai-project', recorded: 'shop', live: '(absent)' },
  ])
})

test('headers that tell who asks are none', () => {
  const agent = (version: string) => [
    ['user-agent', `OpenAI/JS ${version}`] as const,
    ['x-stainless-os', version] as const,
  ]
  expect(headerDrift(agent('7.55.0'), agent('7.56.0'))).toEqual([])
})

test('a tape that kept no headers is not compared', () => {
  expect(headerDrift([], [['content-type', 'application/json']])).toEqual([])
})

test('a header that another tool may have left out is not compared; one that it kept is', () => {
  const kept = [['anthropic-version', '2026-10-21']] as const
  const live = [...kept, ['anthropic-beta', 'files'], ['content-type', 'application/json']] as const
  expect(headerDrift(kept, live, { isForeign: true, isWhole: true })).toEqual([])
  expect(headerDrift(kept, [['anthropic-version', '2027-01-01']], { isForeign: true })).toMatchObject([
    { class: 'headers', path: 'anthropic-version' },
  ])
})

test('another form or language of the same address is never served without a word', async () => {
  const asks = [
    ['accept', 'text/csv', 'application/json'],
    ['accept-language', 'de', 'fr'],
    ['prefer', 'return=minimal', 'return=representation'],
  ] as const
  for (const [name, recorded, live] of asks) {
    const { drift } = await replayTape(tapeWith([[name, recorded]]), () => askWith({ [name]: live }))
    expect(drift).toMatchObject([{ class: 'headers', path: name, recorded, live }])
  }
})

test('what a model call accepts is another spelling among the types in which models answer, and another question beyond them', () => {
  const classOf = (was: string | undefined, is: string | undefined): string | undefined => {
    const pairs = (value: string | undefined) => [
      ['connection', 'close'] as const,
      ...(value === undefined ? [] : [['accept', value] as const]),
    ]
    return headerDrift(pairs(was), pairs(is), { isModelCall: () => true })[0]?.class
  }
  const forms = [
    'application/json',
    'text/event-stream',
    'application/x-ndjson',
    'application/vnd.amazon.eventstream',
    'text/html, application/json;q=0.5',
  ]
  for (const was of [...forms, undefined])
    for (const is of [...forms, undefined]) expect(classOf(was, is)).toBe(was === is ? undefined : 'encoding')
  for (const other of ['text/plain', 'application/xml', 'audio/mpeg', 'application/json;q=0, text/csv'])
    for (const form of [...forms, undefined]) {
      expect(classOf(form, other)).toBe('headers')
      expect(classOf(other, form)).toBe('headers')
    }
})

test('another operation or part of the same address is another question, and not served', async () => {
  const asks = [
    ['range', 'bytes=0-99', 'bytes=100-199'],
    ['x-amz-target', 'Orders.Get', 'Orders.Cancel'],
    ['last-event-id', '7', '8'],
  ] as const
  for (const [name, recorded, live] of asks) {
    const tape = tapeWith([[name, recorded]])
    for (const headers of [{ [name]: live }, {}]) {
      const { problems } = await replayTape(tape, () => askWith(headers))
      expect(problems[0]).toMatchObject({ code: 'HARVEST_DIVERGENCE' })
    }
    expect((await replayTape(tape, () => askWith({ [name.toUpperCase()]: recorded }))).problems).toEqual([])
  }
  const { problems } = await replayTape(tapeWith([['x-amz-target', 'Orders.Get']]), () =>
    askWith({ 'x-amz-target': 'Orders.Cancel' }),
  )
  expect(problems[0]?.message).toMatch(
    / differs at headers\n +recorded +x-amz-target: Orders.Get\n +now +x-amz-target: Orders.Cancel\n/,
  )
  // A tape from elsewhere may have kept no headers at all: then nobody can know.
  const { problems: none } = await replayTape(tapeWith([]), () => askWith({ range: 'bytes=0-99' }))
  expect(none).toEqual([])
})

test('a client that writes out what a server takes for granted asks the same', () => {
  const written = [
    ['accept', '*/*'],
    ['accept-language', '*'],
  ] as const
  const silent = [['connection', 'keep-alive']] as const
  expect(headerDrift(written, silent)).toEqual([])
  expect(headerDrift(silent, written)).toEqual([])
  expect(headerDrift(silent, [['accept', 'text/csv']])).toMatchObject([{ recorded: '(absent)', live: 'text/csv' }])
})

test('what is accepted is one list in any spelling and any order of weights; that of axios is no choice, and any other is one', () => {
  const axios = 'application/json, text/plain, */*'
  const isSame = (was: string | undefined, is: string | undefined): boolean => {
    const pairs = (value: string | undefined) => [
      ['connection', 'close'] as const,
      ...(value === undefined ? [] : [['accept', value] as const]),
    ]
    return headerDrift(pairs(was), pairs(is)).length === 0 && headerDrift(pairs(is), pairs(was)).length === 0
  }
  for (const [was, is] of [
    [axios, '*/*'],
    [axios, undefined],
    [axios, 'Application/JSON,text/plain;q=1.0,*/*;Q=1'],
    ['text/csv, Application/JSON', 'text/csv,application/json'],
    ['text/csv;q=0.80, */*', '*/*, text/csv; q=0.8'],
  ])
    expect([was, is, isSame(was, is)]).toEqual([was, is, true])
  for (const [was, is] of [
    [axios, 'application/json'],
    [axios, 'text/plain, application/json, */*'],
    ['application/json, */*', 'text/csv, */*'],
    ['application/json, */*', '*/*'],
    ['text/csv, */*', undefined],
    ['text/csv, application/json', 'application/json, text/csv'],
    [axios, 'application/json, text/plain, */*;q=0.8'],
    [axios, 'application/json, text/plain;q=0, */*'],
    ['application/json, */*;q=0.8', 'application/json, */*;q=0.9'],
    ['application/json', undefined],
    ['application/json', 'application/json, text/csv'],
    ['text/csv;header=present', 'text/csv;header=absent'],
    ['text/csv;q=high', 'text/csv;q=low'],
    ['*/*;q=0', '*/*'],
  ])
    expect([was, is, isSame(was, is)]).toEqual([was, is, false])
})

test('a header the recorder was told to keep is compared', async () => {
  const tape = tapeWith([['x-region', 'tea']])
  const kept: Tape = { ...tape, header: { ...tape.header, redact: { headers: ['X-Region'] } } }
  const { drift } = await replayTape(kept, () => askWith({ 'x-region': 'coffee' }))
  expect(drift).toMatchObject([{ class: 'headers', path: 'x-region', recorded: 'tea', live: 'coffee' }])
  expect((await replayTape(kept, () => askWith({ 'x-region': 'tea' }))).drift).toEqual([])
})

test('of two tapes the older one is not said to lack what its recorder never kept', () => {
  const newer = [
    ['content-type', 'text/plain'],
    ['if-match', '"v7"'],
    ['x-tenant', 'tea'],
    ['authorization', 'Bearer [key-1]'],
  ] as const
  expect(headerDrift([newer[0]], newer)).toEqual([])
  expect(headerDrift([newer[0]], newer, { isWhole: true }).map(({ path }) => path)).toEqual(['if-match', 'x-tenant'])
  expect(headerDrift([], newer, { isWhole: true }).map(({ path }) => path)).toContain('content-type')
})

test('a credential an older recorder was told to keep is compared by its placeholder', async () => {
  const tape = tapeWith([['authorization', 'Bearer redacted-secret-1']])
  const kept: Tape = { ...tape, header: { ...tape.header, redact: { headers: ['Authorization'] } } }
  expect((await replayTape(kept, () => askWith({ authorization: 'Bearer abc' }))).drift).toEqual([])
  expect((await replayTape(kept, () => askWith({}))).drift).toMatchObject([{ class: 'credentials', live: '(absent)' }])
})

const report = 'https://shop.test/report'

function tapeWith(headers: readonly HeaderPair[]): Tape {
  const tape = tapeOf([{ method: 'GET', url: report }])
  const events = tape.events.map((event) => (event.kind === 'exchange' ? { ...event, request: { headers } } : event))
  return { ...tape, events }
}

async function askWith(headers: Readonly<Record<string, string>>): Promise<string> {
  return (await fetch(report, { headers })).text()
}
