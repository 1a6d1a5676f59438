import Anthropic from '@anthropic-ai/sdk'
import { createOpenAI } from '@ai-sdk/openai'
import { generateText } from 'ai'
import { once } from 'node:events'
import http, { createServer } from 'node:http'
import { readdirSync } from 'node:fs'
import type { AddressInfo } from 'node:net'
import { DatabaseSync } from 'node:sqlite'
import { join } from 'node:path'
import fc from 'fast-check'
import OpenAI from 'openai'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { client, createRecorder, type RecorderOptions, retriever, tool } from '../../src/record/index.ts'
import { installReplay, type ReplayResult, replayTape } from '../../src/replay/index.ts'
import { readTape, type Tape, type TapeEvent } from '../../src/tape/index.ts'
import { temporaryFolder } from '../support/temporary-folder.ts'

const usage = { prompt_tokens: 1, completion_tokens: 1, total_tokens: 2 }
const message = { role: 'assistant', content: 'yes' }
const asks = (id: string, name: string, value: string) => ({
  id,
  type: 'function',
  function: { name, arguments: JSON.stringify({ value }) },
})
const twoTools = { ...message, content: null, tool_calls: [asks('t1', 'make', 'tea-1'), asks('t2', 'make', 'cup-2')] }
const answers: Readonly<Record<string, unknown>> = {
  '/v1/chat/completions': {
    id: 'c1',
    object: 'chat.completion',
    created: 1,
    model: 'gpt-4.1',
    choices: [{ index: 0, message, finish_reason: 'stop' }],
    usage,
  },
  '/v1/embeddings': { object: 'list', data: [{ object: 'embedding', index: 0, embedding: [1] }], model: 'e', usage },
  '/v1/messages': {
    id: 'm1',
    type: 'message',
    role: 'assistant',
    model: 'claude',
    content: [{ type: 'text', text: 'yes' }],
    stop_reason: 'end_turn',
    usage: { input_tokens: 1, output_tokens: 1 },
  },
}
const server = createServer((request, response) => {
  const asked: Buffer[] = []
  request.on('data', (piece: Buffer) => asked.push(piece))
  request.on('end', () => {
    response.setHeader('content-type', 'application/json')
    const answer = answers[request.url ?? ''] ?? {}
    const isAskedForTools = Buffer.concat(asked).includes('two tools')
    const choices = [{ index: 0, message: twoTools, finish_reason: 'tool_calls' }]
    response.end(JSON.stringify(isAskedForTools ? { ...answer, choices } : answer))
  })
})
let base = ''
beforeAll(async () => {
  await installReplay()
  await once(server.listen(0, '127.0.0.1'), 'listening')
  base = `http://127.0.0.1:${(server.address() as AddressInfo).port}`
})
afterAll(() => {
  server.close()
})

async function record(agent: () => Promise<unknown>, options: Omit<RecorderOptions, 'dir'> = {}): Promise<Tape> {
  const dir = temporaryFolder('at-once')
  const recorder = createRecorder({ ...options, dir })
  await recorder.run({ agent: 'desk', id: 'desk' }, agent)
  recorder.flush()
  const [file] = readdirSync(dir, { recursive: true, encoding: 'utf8' }).filter((name) => name.endsWith('.jsonl'))
  return readTape(join(dir, file!))
}
const codes = ({ problems }: ReplayResult): readonly string[] => problems.map(({ code }) => code)

const search = retriever('kb', async (words: string) => [words])
const approve = tool('approve', async (id: string) => ({ id }))
const note = tool('note', async (id: string) => ({ id }))
const stamp = tool('stamp', (id: string) => ({ id }))

type Ask = (content: string) => Promise<unknown>
const openai = (): OpenAI => new OpenAI({ apiKey: 'k', baseURL: `${base}/v1` })
const embed: Ask = async (input) => openai().embeddings.create({ model: 'e', input })
const send: Ask = async (body) => {
  await Promise.resolve()
  return (await fetch(`${base}/send`, { method: 'POST', body })).text()
}
const clients: Readonly<Record<string, Ask>> = {
  'the OpenAI SDK': async (content) =>
    openai().chat.completions.create({ model: 'gpt-4.1', messages: [{ role: 'user', content }] }),
  embeddings: embed,
  'the Anthropic SDK': async (content) =>
    new Anthropic({ apiKey: 'k', baseURL: base }).messages.create({
      model: 'claude',
      max_tokens: 9,
      messages: [{ role: 'user', content }],
    }),
  'the AI SDK': async (prompt) =>
    generateText({ model: createOpenAI({ apiKey: 'k', baseURL: `${base}/v1` }).chat('gpt-4.1'), prompt }),
  fetch: send,
  'node:http': async (body) => {
    await Promise.resolve()
    const request = http.request(`${base}/send`, { method: 'POST' })
    const answered = once(request, 'response')
    request.end(body)
    const [response] = (await answered) as [http.IncomingMessage]
    response.resume()
    await once(response, 'end')
  },
}

type Agent = (ask: Ask) => Promise<unknown>
const beside: Readonly<Record<string, Agent>> = {
  'a search': (ask) => Promise.all([search('tea'), ask('tea')]),
  'a tool': (ask) => Promise.all([approve('tea'), ask('tea')]),
  'a tool that is called second': (ask) => Promise.all([ask('tea'), approve('tea')]),
  'two tools': (ask) => Promise.all([approve('tea'), note('tea'), ask('tea')]),
  'two tools, one after the other': (ask) => Promise.all([approve('tea').then(() => note('tea')), ask('tea')]),
  'a tool and one that returns no promise': (ask) =>
    Promise.all([approve('tea'), Promise.resolve(stamp('tea')), ask('tea')]),
  'a tool, whatever becomes of either': (ask) => Promise.allSettled([approve('tea'), ask('tea')]),
  'a tool, after another': async (ask) => [await note('tea'), ...(await Promise.all([approve('tea'), ask('tea')]))],
  'a tool, again and again': async (ask) => {
    for (const one of ['tea', 'cups', 'pot']) await Promise.all([approve(one), ask(one)])
  },
}
const serial: Agent = async (ask) => [await approve('tea'), await ask('tea')]

describe.for(Object.entries(clients))('a request of %s made beside a call that is answered at once', ([, ask]) => {
  test.for(Object.entries(beside))('is in order beside %s', async ([, agent]) => {
    const tape = await record(() => agent(ask))
    for (let i = 0; i < 5; i++) expect(codes(await replayTape(tape, () => agent(ask)))).toEqual([])
  })

  test('may wait for the answer now', async () => {
    const tape = await record(() => beside['a tool']!(ask))
    expect(codes(await replayTape(tape, () => serial(ask)))).toEqual([])
  })

  test('is out of order where it waited for the answer when recorded', async () => {
    const tape = await record(() => serial(ask))
    expect(codes(await replayTape(tape, () => serial(ask)))).toEqual([])
    expect(codes(await replayTape(tape, () => beside['a tool']!(ask)))).toEqual(['HARVEST_ORDER'])
  })
})

test('a run that is held until it is judged has the turns as well', async () => {
  const agent = () => Promise.all([approve('tea'), send('tea')])
  const tape = await record(agent, { sample: 0, keep: { tools: ['approve'] } })
  expect(codes(await replayTape(tape, agent))).toEqual([])
})

test('a request beside a call is in order in the turn it was recorded in alone', async () => {
  const turns = async (count: number): Promise<void> => {
    for (let i = 0; i < count; i++) await Promise.resolve()
  }
  const agent = (count: number) => () => Promise.all([approve('tea'), turns(count).then(() => send('tea'))])
  const tape = await record(agent(5))
  const found = await Promise.all([1, 4, 5, 6, 9].map(async (count) => codes(await replayTape(tape, agent(count)))))
  expect(found).toEqual([['HARVEST_ORDER'], ['HARVEST_ORDER'], [], ['HARVEST_ORDER'], ['HARVEST_ORDER']])
})

test('a request in another turn than recorded is not said to have lost an `await`', async () => {
  const direct = () => Promise.all([approve('tea'), send('tea')])
  const throughHelper = () => Promise.all([approve('tea'), Promise.resolve().then(() => send('tea'))])
  const { problems } = await replayTape(await record(throughHelper), direct)
  expect(problems.map(({ code, facts }) => [code, facts.why, facts.fix?.slice(0, 2)])).toEqual([
    [
      'HARVEST_ORDER',
      expect.stringMatching(
        /^In the recording that answer came at once, .* a helper function, .* and so does a lost `await`\.$/,
      ),
      [
        'if this step needs that answer: look for a lost `await`',
        'if both were made at once before, too: no `await` is lost; the tape has another count',
      ],
    ],
  ])
})

describe('two branches of which one takes more turns of promises', () => {
  const turns = async (count: number): Promise<void> => {
    for (let i = 0; i < count; i++) await Promise.resolve()
  }
  type Call = (id: string) => unknown
  const branches = async (before: readonly number[], calls: readonly (readonly Call[])[]): Promise<unknown> =>
    Promise.all(
      ['tea-1', 'cup-2'].map(async (id, at) => {
        for (const call of calls[at]!) {
          if (before[at]! > 0) await turns(before[at]!)
          await call(id)
        }
      }),
    )
  const turnsOfBoth = fc.tuple(fc.nat(5), fc.nat(5))
  const reads: readonly Call[] = [search, embed]
  const actions: readonly Call[] = [approve, stamp, send]

  test('are the same where one model turn asked for both, or both only read', async () => {
    const calls = (of: readonly Call[]) => fc.array(fc.constantFrom(...of), { minLength: 1, maxLength: 3 })
    const both = (of: readonly Call[]) => fc.tuple(calls(of), calls(of))
    const kinds = fc.oneof(
      // Of one tool: its code makes the same calls for both, and these show whose they are.
      fc.record({ isAsked: fc.constant(true), made: calls([...reads, ...actions]).map((one) => [one, one] as const) }),
      fc.record({ isAsked: fc.constant(false), made: both(reads) }),
    )
    await fc.assert(
      fc.asyncProperty(kinds, turnsOfBoth, turnsOfBoth, async ({ isAsked, made }, before, now) => {
        const agent = (turns: readonly number[]) => async (): Promise<void> => {
          if (isAsked) await clients['the OpenAI SDK']!('two tools')
          await branches(turns, made)
        }
        const tape = await record(agent(before))
        expect(codes(await replayTape(tape, agent(now)))).toEqual([])
      }),
      { numRuns: 40, seed: 1 },
    )
  })

  test('are named by that where nothing shows that neither waits for the other', async () => {
    const agent =
      (...turns: readonly number[]) =>
      async () =>
        branches(turns, [[approve], [note]])
    const [later, first] = [await record(agent(1, 0)), await record(agent(0, 0))]
    expect(codes(await replayTape(first, agent(5, 0)))).toEqual([])
    const { problems } = await replayTape(later, agent(0, 0))
    expect(problems.map(({ code, facts }) => [code, facts.why, facts.fix?.[1]])).toEqual([
      [
        'HARVEST_ORDER',
        expect.stringMatching(
          /^In the recording step 1 came first and was answered at once, .* one `await`, .* more or less decides/,
        ),
        expect.stringContaining('make both calls before the first `await`'),
      ],
    ])
  })
})

test('a tool whose call waited for an answer that came at once still waits for it', async () => {
  const tape = await record(async () => [await approve('tea'), await note('tea')])
  expect(codes(await replayTape(tape, () => Promise.all([approve('tea'), note('tea')])))).toEqual(['HARVEST_ORDER'])
})

describe('a tape that does not tell turns', () => {
  const untold = (tape: Tape): Tape => ({
    ...tape,
    events: tape.events.map((event) => ('turns' in event ? { ...event, turns: undefined } : event) as TapeEvent),
  })

  test('may have an embedding asked for beside a search: both only read', async () => {
    const agent = () => Promise.all([search('tea'), embed('tea')])
    expect(codes(await replayTape(untold(await record(agent)), agent))).toEqual([])
  })

  test('shows no more than that the answer came first', async () => {
    const agent = () => Promise.all([approve('tea'), send('tea')])
    const { problems } = await replayTape(untold(await record(agent)), agent)
    expect(problems.map(({ code, facts }) => [code, facts.why])).toEqual([
      ['HARVEST_ORDER', 'In the recording that answer came first.'],
    ])
  })
})

describe('calls that are answered where they are made', () => {
  const begin = tool('begin', (id: string) => ({ id }))
  const write = tool('write', (id: string) => ({ id }))
  const database = new DatabaseSync(':memory:')
  database.exec('create table log (line text)')
  const store = client(database)
  const line = (text: string): unknown => store.prepare('insert into log (line) values (?)').run(text)
  const pairs: readonly (readonly [what: string, first: () => unknown, second: () => unknown])[] = [
    ['tools', () => stamp('a'), () => write('b')],
    ['statements of a database', () => line('a'), () => line('b')],
  ]
  const between: readonly (readonly [what: string, wait: () => unknown])[] = [
    ['one right after the other', () => undefined],
    ['a turn of promises apart', async () => Promise.resolve()],
    ['some turns apart', async () => Promise.resolve().then(() => undefined)],
  ]
  test.for(pairs.flatMap((pair) => between.map((gap) => [...pair, ...gap] as const)))(
    '%s that change places are red',
    async ([, first, second, , wait]) => {
      const agent =
        (...calls: readonly (() => unknown)[]) =>
        async (): Promise<string> => {
          begin('x')
          for (const call of calls) {
            call()
            const waiting = wait()
            if (waiting instanceof Promise) await waiting
          }
          return 'done'
        }
      const tape = await record(agent(first, second))
      expect(codes(await replayTape(tape, agent(first, second)))).toEqual([])
      expect(codes(await replayTape(tape, agent(second, first)))).toContain('HARVEST_ORDER')
    },
  )
})
