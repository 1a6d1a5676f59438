import { randomUUID } from 'node:crypto'
import { once } from 'node:events'
import { createServer, type ServerResponse } from 'node:http'
import net from 'node:net'
import { setTimeout as sleep } from 'node:timers/promises'
import Anthropic from '@anthropic-ai/sdk'
import OpenAI from 'openai'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { parseExpectation } from '../../src/blame/expectation.ts'
import { forkSourceOf, type ForkSourceOptions } from '../../src/blame/fork-source.ts'
import { createOracle } from '../../src/blame/oracle.ts'
import { openBudget, runLive } from '../../src/live/index.ts'
import { keptWaiting, unreachedIn } from '../../src/live/unreached.ts'
import { forkTape } from '../../src/fork/index.ts'
import { createRecorder, tool } from '../../src/record/index.ts'
import { installReplay } from '../../src/replay/index.ts'
import {
  type CallEvent,
  decodeBytes,
  encodeBytes,
  type ExchangeEvent,
  readTape,
  type RecordedResponse,
  type Step,
  type Tape,
} from '../../src/tape/index.ts'
import { served } from '../support/served.ts'
import { temporaryFolder } from '../support/temporary-folder.ts'

const dir = temporaryFolder('outage')
beforeAll(installReplay)

/** Grades `bad` what is graded at all. */
const oracle = createOracle({ by: 'expectations', ok: [parseExpectation('.=other', '--ok')], bad: [] })

/** Records a run of an agent, and gives what forks it from its beginning, each time once. */
async function forksOf(agent: () => Promise<unknown>, more: Partial<ForkSourceOptions> = {}) {
  const recorder = createRecorder({ dir })
  const run = Promise.resolve(recorder.run({ agent: 'asker', input: {} }, () => agent()))
  // An agent that is to throw is a run as well.
  await run.catch((error: Error) => expect(error.message).toBe('no answer'))
  const options = { load: async () => agent, oracle, budget: openBudget({}), timeoutMs: 20_000, ...more }
  const source = await forkSourceOf(readTape(recorder.lastTape ?? ''), options)
  return async () => {
    const { grade, because } = await source.draw({ keep: 0, seed: 0 }, new AbortController().signal)
    return { grade, because }
  }
}
/** The same for runs that are not forked: why one has no grade. */
async function rerunsOf(agent: () => Promise<unknown>): Promise<() => Promise<string | undefined>> {
  const recorder = createRecorder({ dir })
  await recorder.run({ agent: 'asker', input: {} }, () => agent())
  const tape = readTape(recorder.lastTape ?? '')
  return async () => {
    const options = { signal: AbortSignal.timeout(20_000), budget: openBudget({}), tools: 'live' } as const
    const { events, comparison } = await runLive(tape, agent, options)
    return unreachedIn(events, tape.events, comparison.outcomeEqual === true)?.because
  }
}
const textOf = ({ grade, because }: { readonly grade: string; readonly because: string | undefined }): string =>
  because === undefined ? grade : `${grade}: ${because}`

describe('a run whose provider fails in its middle', () => {
  /** How often the long question is refused before it is answered. */
  let refusals = 0
  let drop = false
  let said = ''
  const base = served(
    createServer((request, response) => {
      let body = ''
      request.on('data', (chunk) => (body += chunk))
      request.on('end', () => {
        const isLong = body.includes('The long story')
        if (isLong && refusals-- > 0) {
          if (drop) return void request.socket.destroy()
          response.statusCode = 429
          return void response.end('{"error":{"message":"slow down"}}')
        }
        response.setHeader('content-type', 'application/json')
        const content = `${said} ${isLong ? 'yes' : 'no'}`
        response.end(
          JSON.stringify({
            id: 'c',
            object: 'chat.completion',
            model: 'm',
            choices: [{ index: 0, message: { role: 'assistant', content } }],
          }),
        )
      })
    }),
  )
  const ask = async (content: string): Promise<string | undefined> => {
    const answer = await fetch(`${base()}/v1/chat/completions`, {
      method: 'POST',
      headers: { 'content-type': 'application/json' },
      body: JSON.stringify({ model: 'm', messages: [{ role: 'user', content }] }),
    }).catch(() => undefined)
    if (answer?.ok !== true) return undefined
    const { choices } = (await answer.json()) as { choices: { message: { content: string } }[] }
    return choices[0]!.message.content
  }
  /** Tries twice, and then asks something shorter. */
  const agent = async (): Promise<string | undefined> =>
    (await ask('The long story')) ?? (await ask('The long story')) ?? (await ask('In short?'))

  const record = async (failures: number): Promise<Tape> => {
    refusals = failures
    drop = false
    said = 'recorded'
    const recorder = createRecorder({ dir })
    await recorder.run({ agent: 'asker', input: {} }, agent)
    return readTape(recorder.lastTape ?? '')
  }
  const draw = async (tape: Tape, failures: number, isDropped = false) => {
    const source = await forkSourceOf(tape, {
      load: async () => agent,
      oracle,
      budget: openBudget({}),
      timeoutMs: 20_000,
    })
    refusals = failures
    drop = isDropped
    // What ends as recorded is graded by that.
    said = 'now'
    const { grade, because } = await source.draw({ keep: 0, seed: 0 }, new AbortController().signal)
    return { grade, because }
  }

  test('has no grade where the agent asked something else instead', async () => {
    const tape = await record(0)
    expect(await draw(tape, 2)).toEqual({ grade: 'ungraded', because: 'A model answered with status 429' })
    const { grade, because } = await draw(tape, 2, true)
    expect(grade).toBe('ungraded')
    expect(because).toMatch(/^A model could not be reached/)
  })

  test('is graded where it was answered when it asked again', async () => {
    expect(await draw(await record(0), 1)).toEqual({ grade: 'bad', because: undefined })
  })

  test('has no grade where the recorded one asked again, and was answered', async () => {
    expect(await draw(await record(1), 2)).toMatchObject({ grade: 'ungraded' })
  })

  test('is graded where it failed like that when it was recorded', async () => {
    expect(await draw(await record(2), 2)).toEqual({ grade: 'bad', because: undefined })
  })

  test.each<[string, string, (response: RecordedResponse) => object]>([
    ['a refusal', 'now no', (response) => ({ response: { ...response, status: 503 } })],
    ['a lost connection', 'now no', ({ moment }) => ({ response: undefined, error: { message: 'reset', moment } })],
    ['a message of which nothing comes', '', (response) => ({ response: withText(response, '') })],
  ])('is graded where the failure is the change that is tried: %s', async (_, ends, change) => {
    const tape = await record(0)
    said = 'now'
    const failed = (step: Step): Step => {
      if (step.kind !== 'exchange' || step.response === undefined) throw new TypeError('no answer to change')
      return { ...step, ...change(step.response) } as Step
    }
    const tail = { from: 'live', budget: openBudget({}) } as const
    const run = await forkTape(tape, agent, { keep: 1, changes: [{ step: 1, rewrite: failed, always: true }], tail })
    expect(unreachedIn(run.events, tape.events, false)).toBeUndefined()
    expect(run.outcome).toEqual({ status: 'returned', value: ends })
    // An agent that waits for something else after it has not been kept waiting by a model.
    const events = run.events.filter(({ kind }) => kind === 'exchange').slice(0, 1)
    expect(events).toHaveLength(1)
    expect(keptWaiting({ tape, events })).toBeUndefined()
  })

  test('is graded where that failure is about what got its name as a secret later', async () => {
    const value = 'Kq7fZr9Xv4Tn8WbQm2LsJ5hD'
    const logIn = tool('log_in', async (_: object) => 'in')
    const naming = async (): Promise<string | undefined> => {
      const answer = (await ask(`The job ${value}`)) ?? (await ask('In short?'))
      await logIn(said === 'now' ? { session: value } : {})
      return answer
    }
    said = 'recorded'
    const recorder = createRecorder({ dir })
    await recorder.run({ agent: 'asker', input: {} }, naming)
    const tape = readTape(recorder.lastTape ?? '')
    said = 'now'
    const failed = (step: Step): Step =>
      ({ ...step, response: { ...(step as ExchangeEvent).response!, status: 503 } }) as Step
    const tail = { from: 'live', budget: openBudget({}), tools: 'live' } as const
    const run = await forkTape(tape, naming, { keep: 1, changes: [{ step: 1, rewrite: failed }], tail })
    expect(JSON.stringify(run.events)).not.toContain(value)
    expect(unreachedIn(run.events, tape.events, false)).toBeUndefined()
    expect(run.outcome).toEqual({ status: 'returned', value: 'now no' })
  })
})

/** A whole answer of a chat model with another text. */
function withText(response: RecordedResponse, text: string): RecordedResponse {
  const [[n, at] = [0, 0]] = response.chunks
  const body = JSON.parse(response.chunks.map(([, , bytes]) => decodeBytes(bytes).toString()).join(''))
  Object.assign(body.choices[0], { message: { ...body.choices[0].message, content: text }, finish_reason: 'stop' })
  return { ...response, chunks: [[n, at, encodeBytes(Buffer.from(JSON.stringify(body)))]] }
}

describe('a run whose last question failed when it was recorded', () => {
  type Fault = 503 | 400 | 401 | 'credit' | 'reset' | 'silence' | undefined
  /** By the number of answers before. */
  let faults: readonly Fault[] = []
  let ids = 0
  const base = served(
    createServer((request, response) => {
      let body = ''
      request.on('data', (chunk) => (body += chunk))
      request.on('end', () => {
        const fault = faults[body.split('"assistant"').length - 1]
        if (fault === 'silence') return
        if (fault === 'reset') return void request.socket.destroy()
        if (fault !== undefined) {
          response.statusCode = fault === 'credit' ? 400 : fault
          return void response.end(JSON.stringify({ error: { message: `no: ${fault === 'credit' ? 'pay' : fault}` } }))
        }
        response.setHeader('content-type', 'application/json')
        const message = { role: 'assistant', content: `answer ${ids++}` }
        const choices = [{ index: 0, message, finish_reason: 'stop' }]
        response.end(JSON.stringify({ id: 'c', object: 'chat.completion', model: 'm', choices }))
      })
    }),
  )
  /** Asks twice, and says the same whenever it has no second answer. */
  const agent = async (isLeft = false): Promise<string> => {
    const messages: object[] = [{ role: 'user', content: 'Well?' }]
    for (let turn = 0; turn < 2; turn++) {
      const asked = fetch(`${base()}/v1/chat/completions`, {
        method: 'POST',
        headers: { 'content-type': 'application/json' },
        body: JSON.stringify({ model: 'm', messages }),
        ...(isLeft ? {} : { signal: AbortSignal.timeout(400) }),
      }).catch(() => undefined)
      const answer = await (isLeft ? Promise.race([asked, sleep(400, undefined)]) : asked)
      if (answer?.ok !== true) return 'failed'
      const { choices } = (await answer.json()) as { choices: { message: object }[] }
      messages.push(choices[0]!.message)
    }
    return 'answered'
  }
  const draw = async (then: readonly Fault[], now: readonly Fault[], asked: () => Promise<unknown> = () => agent()) => {
    faults = then
    const again = await forksOf(asked)
    faults = now
    return textOf(await again())
  }
  const thrown = async (): Promise<string> => {
    if ((await agent()) === 'failed') throw new Error('no answer')
    return 'answered'
  }

  test.each<[Fault, readonly Fault[], string]>([
    [400, ['credit', 'credit'], 'A model answered with status 400'],
    [400, [503, 503], 'A model answered with status 503'],
    [400, [401, 401], 'A model answered with status 401'],
    [400, ['reset', 'reset'], 'A model could not be reached'],
    [400, [undefined, 503], 'A model answered with status 503'],
    [503, [503, 503], 'A model answered with status 503'],
    [503, ['reset', 'reset'], 'A model could not be reached'],
    ['silence', ['silence', 'silence'], 'A model had not answered when the agent gave it up'],
    ['silence', [503, 503], 'A model answered with status 503'],
  ])('has no grade where another one fails, though it ends as it did then: %s, then %j', async (then, now, because) => {
    expect(await draw([undefined, then], now)).toContain(`ungraded: ${because}`)
    expect(await draw([undefined, then], now, thrown)).toContain(`ungraded: ${because}`)
  })

  test.each<Fault>([400, 503, 'reset', 'silence'])(
    'is graded where it fails again, at the same place: %s',
    async (fault) => {
      expect(await draw([undefined, fault], [undefined, fault])).toBe('bad')
      expect(await draw([undefined, fault], [undefined, fault], thrown)).toBe('bad')
    },
  )

  test('is graded where it leaves a question open again, at the same place, and not where one before stays open', async () => {
    const leaving = async (): Promise<string> => agent(true)
    expect(await draw([undefined, 'silence'], [undefined, 'silence'], leaving)).toBe('bad')
    expect(await draw([undefined, 'silence'], ['silence', 'silence'], leaving)).toBe(
      'ungraded: A model had not answered when the agent gave it up',
    )
  })
})

describe('a run whose provider fails in the middle of an answer', () => {
  type Way =
    | 'an error in the stream'
    | 'a connection that breaks'
    | 'no end'
    | 'no answer'
    | 'a refusal'
    | 'a page of a gateway'
    | 'no reason for its end'
    | 'an end by the provider'
    | 'an end that no provider documents'
    | 'an error beside the answer'
    | 'an answer from a cache'
    | 'an answer that says nothing'
    | 'an answer that is no stream'
    | 'a whole answer'
  let way: Way = 'a whole answer'
  let word = ''
  let reason = ''
  let refusal = 'no credit'
  let hit: [name: string, value: string] = ['x-cache', 'MISS, HIT']
  const base = served(
    createServer((request, response) => {
      request.resume().on('end', () => {
        if (way === 'no answer') return
        if (way === 'a refusal') response.statusCode = 400
        if (way === 'a refusal')
          return void response.end(JSON.stringify({ error: { message: refusal, type: 'invalid_request_error' } }))
        if (way === 'a page of a gateway') return void response.end('<html>Bad gateway</html>')
        if (way === 'an answer that is no stream') return void response.end(whole(request.url === '/v1/messages'))
        response.setHeader('content-type', 'text/event-stream')
        response.setHeader('x-cache', 'MISS')
        if (way === 'an answer from a cache') response.setHeader(...hit)
        if (request.url === '/v1/messages') anthropic(response)
        else openai(response)
      })
    }),
  )
  const event = (value: object, name?: string): string =>
    `${name === undefined ? '' : `event: ${name}\n`}data: ${JSON.stringify(value)}\n\n`

  function ended(response: ServerResponse, begun: string, error: string, end: string): void {
    response.write(begun)
    // What was sent has to be read before it is over.
    setTimeout(() => {
      if (way === 'a connection that breaks') response.destroy()
      else if (way === 'no end') response.end()
      else response.end(way === 'an error in the stream' ? error : end)
    }, 20)
  }
  function openai(response: ServerResponse): void {
    const chunk = { id: 'c', object: 'chat.completion.chunk', created: 1, model: 'm' }
    const of = (delta: object, finish: string | null): string =>
      event({ ...chunk, choices: [{ index: 0, delta, finish_reason: finish }] })
    const error = event({ error: { message: 'something', type: 'server_error' } })
    const failed = { index: 0, delta: {}, finish_reason: 'stop', error: { code: 502, message: 'something' } }
    const ends: Partial<Record<Way, string>> = {
      'no reason for its end': '',
      'an end by the provider': of({}, 'error'),
      'an end that no provider documents': of({}, reason),
      'an error beside the answer': event({ ...chunk, choices: [failed] }),
    }
    ended(
      response,
      of(way === 'an answer that says nothing' ? { role: 'assistant' } : { role: 'assistant', content: 'It' }, null),
      error,
      `${ends[way] ?? of({}, 'stop')}data: [DONE]\n\n`,
    )
  }
  function anthropic(response: ServerResponse): void {
    const usage = { input_tokens: 1, output_tokens: 1 }
    const message = { id: 'm', type: 'message', role: 'assistant', model: 'm', content: [], stop_reason: null, usage }
    const begun = [
      event({ type: 'message_start', message }, 'message_start'),
      event(
        { type: 'content_block_start', index: 0, content_block: { type: 'text', text: '' } },
        'content_block_start',
      ),
      event(
        {
          type: 'content_block_delta',
          index: 0,
          delta: { type: 'text_delta', text: way === 'an answer that says nothing' ? '' : 'It' },
        },
        'content_block_delta',
      ),
    ].join('')
    const error = event({ type: 'error', error: { type: 'overloaded_error', message: 'something' } }, 'error')
    const end = [
      event({ type: 'content_block_stop', index: 0 }, 'content_block_stop'),
      event({ type: 'message_delta', delta: { stop_reason: 'end_turn' }, usage }, 'message_delta'),
      event({ type: 'message_stop' }, 'message_stop'),
    ].join('')
    ended(response, begun, error, end)
  }

  function whole(isAnthropic: boolean): string {
    const message = { role: 'assistant', content: 'It' }
    return JSON.stringify(
      isAnthropic
        ? {
            id: 'm',
            type: 'message',
            role: 'assistant',
            model: 'm',
            content: [{ type: 'text', text: 'It' }],
            stop_reason: 'end_turn',
            usage: {},
          }
        : {
            id: 'c',
            object: 'chat.completion',
            created: 1,
            model: 'm',
            choices: [{ index: 0, message, finish_reason: 'stop' }],
          },
    )
  }

  const messages = [{ role: 'user' as const, content: 'Well?' }]
  const agents = {
    openai: async () => {
      const client = new OpenAI({ apiKey: 'k', baseURL: `${base()}/v1`, maxRetries: 0, timeout: 4_000 })
      let text = ''
      for await (const { choices } of await client.chat.completions.create({ model: 'm', messages, stream: true }))
        text += choices[0]?.delta.content ?? ''
      return text
    },
    anthropic: async () => {
      const client = new Anthropic({ apiKey: 'k', baseURL: base(), maxRetries: 0, timeout: 4_000 })
      return client.messages.stream({ model: 'm', max_tokens: 9, messages }).finalText()
    },
  }
  const grade = async (
    client: keyof typeof agents,
    now: Way,
    then: Way = 'a whole answer',
    between = (): unknown => 0,
  ) => {
    // It does without its model, as agents do that may not fail.
    const agent = async (): Promise<string> => (await agents[client]().catch(() => 'someone else will')) + word
    way = then
    word = 'then'
    const recorder = createRecorder({ dir })
    await recorder.run({ agent: 'asker', input: {} }, agent)
    const source = await forkSourceOf(readTape(recorder.lastTape ?? ''), {
      load: async () => agent,
      oracle,
      budget: openBudget({}),
      timeoutMs: 20_000,
    })
    between()
    way = now
    // What ends as recorded is graded by that.
    word = 'now'
    const draw = await source.draw({ keep: 0, seed: 0 }, new AbortController().signal)
    const { grade: given, because, said } = draw
    return { grade: given, because, ...(said === undefined ? {} : { said }) }
  }
  const torn = 'A model broke off its answer: '

  test.each([
    ['openai', 'an error in the stream', `${torn}server_error`],
    ['anthropic', 'an error in the stream', `${torn}overloaded_error`],
    ['openai', 'a connection that breaks', expect.stringContaining(torn)],
    ['anthropic', 'a connection that breaks', expect.stringContaining(torn)],
    ['openai', 'no end', `${torn}it has no end`],
    ['anthropic', 'no end', `${torn}it has no end`],
    ['openai', 'a page of a gateway', `${torn}it has no end`],
    ['anthropic', 'a page of a gateway', `${torn}it has no end`],
    ['openai', 'an end by the provider', `${torn}it ended with error`],
    ['openai', 'an error beside the answer', `${torn}http_502`],
    ['openai', 'an answer that says nothing', `${torn}it says nothing`],
    ['anthropic', 'an answer that says nothing', `${torn}it says nothing`],
    ['openai', 'an answer that is no stream', `${torn}it is no stream`],
    ['anthropic', 'an answer that is no stream', `${torn}it is no stream`],
  ] as const)('has no grade: %s, %s', async (client, now, because) => {
    expect(await grade(client, now)).toEqual({ grade: 'ungraded', because })
  })

  test.each(['insufficient_system_resource', 'network_error', 'abort', 'other'])(
    'has no grade where its answer ends for a reason that is not the model’s own: %s',
    async (said) => {
      reason = said
      const now = 'an end that no provider documents'
      expect(await grade('openai', now)).toEqual({ grade: 'ungraded', because: `${torn}it ended with ${said}` })
    },
  )

  test.each(['openai', 'anthropic'] as const)(
    'has no grade where a gateway says that it gave an answer again: %s',
    async (client) => {
      const because = 'A model answered from a cache'
      const graded = await grade(client, 'an answer from a cache')
      expect(graded).toEqual({ grade: 'ungraded', because, said: 'x-cache: MISS, HIT' })
    },
  )

  test.each([
    ['cf-aig-cache-status', 'HIT'],
    ['x-litellm-cache-hit', 'True'],
    ['x-cached', 'true'],
    ['x-bt-cached', 'HIT'],
    ['x-cache-status', 'STALE'],
    ['cache-status', 'origin; fwd=miss, edge; hit; ttl=30'],
  ])('each header that gateways say it by is known: %s: %s', async (...said) => {
    hit = said
    expect(await grade('openai', 'an answer from a cache')).toMatchObject({ grade: 'ungraded', said: said.join(': ') })
  })

  test.each([
    ['x-cache-status', 'EXPIRED'],
    ['x-litellm-cache-hit', 'False'],
    ['cache-control', 'private, max-age=0, stale-while-revalidate=60, stale-if-error=300'],
    ['cache-status', 'edge; fwd=stale; fwd-status=200'],
  ])('an answer that is no one’s copy is graded: %s: %s', async (...said) => {
    hit = said
    expect(await grade('openai', 'an answer from a cache')).toEqual({ grade: 'bad', because: undefined })
  })

  test('is graded where a server that stands in for the provider has reasons of its own', async () => {
    reason = 'done'
    const now = 'an end that no provider documents'
    expect(await grade('openai', now, now)).toEqual({ grade: 'bad', because: undefined })
  })

  test.each(['openai', 'anthropic'] as const)(
    'has no grade where no answer begins until the client gives up: %s',
    async (client) => {
      expect(await grade(client, 'no answer')).toEqual({
        grade: 'ungraded',
        because: 'A model had not answered when the agent gave it up',
      })
    },
  )

  test.each(['openai', 'anthropic'] as const)(
    'has no grade where a request is refused that was not when recorded: %s',
    async (client) => {
      expect(await grade(client, 'a refusal')).toEqual({
        grade: 'ungraded',
        because: 'A model answered with status 400',
        said: 'no credit',
      })
    },
  )

  test.each(['no answer', 'a refusal', 'an answer that says nothing', 'an answer that is no stream'] as const)(
    'is graded where the same happened when it was recorded: %s',
    async (now) => {
      expect(await grade('openai', now, now)).toEqual({ grade: 'bad', because: undefined })
    },
  )

  test('has no grade where it is refused in other words than when it was recorded', async () => {
    refusal = 'Invalid temperature: 9'
    const graded = await grade('openai', 'a refusal', 'a refusal', () => (refusal = 'no credit'))
    expect(graded).toEqual({ grade: 'ungraded', because: 'A model answered with status 400', said: 'no credit' })
  })

  test('is graded where a stand-in for the provider leaves the reason for its end out', async () => {
    expect(await grade('openai', 'no reason for its end')).toEqual({ grade: 'bad', because: undefined })
  })
})

describe('a run whose model answers whole, and says nothing', () => {
  const said = { index: 0, message: { role: 'assistant', content: 'It' }, finish_reason: 'stop' }
  const saying = (content: string | null, finish: string | null, more: object = {}) => ({
    choices: [{ ...said, message: { ...said.message, content, ...more }, finish_reason: finish }],
  })
  let answer: object = { choices: [said] }
  let counter = 0
  const base = served(
    createServer((request, response) => {
      request.resume().on('end', () => {
        response.setHeader('content-type', 'application/json')
        response.end(JSON.stringify({ id: `c${counter++}`, object: 'chat.completion', model: 'm', ...answer }))
      })
    }),
  )
  const grade = async (then: object, now: object): Promise<string> => {
    let word = 'then'
    const agent = async (): Promise<string> => {
      const client = new OpenAI({ apiKey: 'k', baseURL: `${base()}/v1`, maxRetries: 0 })
      const { choices } = await client.chat.completions.create({
        model: 'm',
        messages: [{ role: 'user', content: '?' }],
      })
      return (choices[0]?.message.content?.trim() || 'someone else will') + word
    }
    answer = then
    const draw = await forksOf(agent)
    answer = now
    word = 'now'
    return textOf(await draw())
  }
  const torn = 'ungraded: A model broke off its answer: '

  test.each([
    ['a text that is empty', saying('', 'stop'), 'it says nothing'],
    ['a text of spaces', saying(' \n\t', 'stop'), 'it says nothing'],
    ['calls without one', saying(null, 'tool_calls', { tool_calls: [] }), 'it says nothing'],
    ['a filter that took all', saying('', 'content_filter'), 'it says nothing'],
    ['an end that is open', saying('I', null), 'it has no end'],
    ['a failure beside its choice', { ...saying('I', 'stop'), base_resp: { status_code: 1002 } }, 'base_resp_1002'],
  ])('has no grade: %s', async (_, now, because) => {
    expect(await grade({ choices: [said] }, now)).toBe(torn + because)
  })

  test.each([
    ['a limit that came before its first word', saying('', 'length')],
    ['a refusal', saying(null, 'stop', { refusal: 'I cannot.' })],
    ['no failure beside its choice', { ...saying('I', 'stop'), base_resp: { status_code: 0 } }],
    ['no word of its end', { choices: [{ index: 0, message: { role: 'assistant', content: 'I' } }] }],
  ])('is graded: %s', async (_, now) => {
    expect(await grade({ choices: [said] }, now)).toBe('bad')
  })

  test('is graded where it said nothing, or had no end, when it was recorded', async () => {
    expect(await grade(saying(null, 'tool_calls', { tool_calls: [] }), saying(' ', 'stop'))).toBe('bad')
    expect(await grade(saying('It', null), saying('I', null))).toBe('bad')
  })
})

describe('a run whose tools run for real', () => {
  let isDown = false
  let isRefused = false
  const base = served(
    createServer((request, response) => {
      request.resume().on('end', () => {
        if (request.method === 'GET') {
          if (isDown) return void request.socket.destroy()
          response.statusCode = isRefused ? 404 : 200
          return void response.end('25')
        }
        response.setHeader('content-type', 'application/json')
        const choices = [{ index: 0, message: { role: 'assistant', content: 'no' }, finish_reason: 'stop' }]
        response.end(JSON.stringify({ id: 'c', object: 'chat.completion', model: 'm', choices }))
      })
    }),
  )
  const agent = async (): Promise<string> => {
    const order = await fetch(`${base()}/orders/1`).then(
      async (answer) => `${answer.status}`,
      () => 'down',
    )
    const body = JSON.stringify({ model: 'm', messages: [{ role: 'user', content: order }] })
    const headers = { 'content-type': 'application/json' }
    await (await fetch(`${base()}/v1/chat/completions`, { method: 'POST', headers, body })).text()
    return order
  }
  const draw = (isDownThen: boolean) => {
    isDown = isDownThen
    return forksOf(agent, { tools: 'live' })
  }

  test('has no grade where a service is down that answered when it was recorded', async () => {
    const again = await draw(false)
    isDown = true
    const { grade, because } = await again()
    expect([grade, because]).toEqual(['ungraded', expect.stringMatching(/^A service could not be reached: /)])
  })

  test('is graded where a service refuses, or was down when it was recorded, too', async () => {
    const again = await draw(false)
    isRefused = true
    expect(await again()).toEqual({ grade: 'bad', because: undefined })
    isRefused = false
    expect(await (await draw(true))()).toEqual({ grade: 'bad', because: undefined })
  })
})

describe('a run whose tools ask a service', () => {
  type Mode = 'up' | 503 | 429 | 401 | 403 | 'silent'
  let mode: Mode = 'up'
  const base = served(
    createServer((request, response) => {
      request.resume().on('end', () => {
        if (mode === 'silent') return
        response.statusCode = mode === 'up' || request.url === '/shops/1' ? 200 : mode
        response.end('25')
      })
    }),
  )
  /** Nobody is told that it failed. */
  const look = tool('look', async (left: 'given up' | 'open') => {
    const answer = fetch(`${base()}/orders/1`, left === 'open' ? {} : { signal: AbortSignal.timeout(300) })
    if (left === 'open') return void answer.catch(() => undefined)
    return answer.then(
      async (one) => (one.ok ? one.text() : 'none'),
      () => 'none',
    )
  })

  test.each<[Mode, string]>([
    [503, 'A service answered with status 503'],
    [429, 'A service answered with status 429'],
    [401, 'A service answered with status 401'],
    [403, 'A service answered with status 403'],
    ['silent', 'A service had not answered when the agent gave it up'],
  ])('has no grade where that is down and its tool says nothing of it: %s', async (now, because) => {
    mode = 'up'
    const [forked, rerun] = [
      await forksOf(() => look('given up'), { tools: 'live' }),
      await rerunsOf(() => look('given up')),
    ]
    mode = now
    expect(await forked()).toEqual({ grade: 'ungraded', because })
    expect(await rerun()).toBe(because)
    // As it was recorded.
    expect(await (await forksOf(() => look('given up'), { tools: 'live' }))()).toEqual({
      grade: 'bad',
      because: undefined,
    })
    expect(await (await rerunsOf(() => look('given up')))()).toBeUndefined()
  })

  test('is graded where a service that knows who asks does not allow what is asked', async () => {
    const agent = async () => {
      await (await fetch(`${base()}/shops/1`)).text()
      return look('given up')
    }
    mode = 'up'
    const [forked, rerun] = [await forksOf(agent, { tools: 'live' }), await rerunsOf(agent)]
    mode = 403
    expect(await forked()).toEqual({ grade: 'bad', because: undefined })
    expect(await rerun()).toBeUndefined()
  })

  test('is graded where the run is over before the service answers what nobody waits for', async () => {
    mode = 'up'
    const [forked, rerun] = [await forksOf(() => look('open'), { tools: 'live' }), await rerunsOf(() => look('open'))]
    mode = 'silent'
    expect(await forked()).toEqual({ grade: 'bad', because: undefined })
    expect(await rerun()).toBeUndefined()
  })
})

describe('a run whose wrapped functions run for real', () => {
  let fault: Error | undefined
  const base = served(
    createServer((request, response) => {
      request.resume().on('end', () => {
        response.setHeader('content-type', 'application/json')
        const choices = [{ index: 0, message: { role: 'assistant', content: 'no' }, finish_reason: 'stop' }]
        response.end(JSON.stringify({ id: 'c', object: 'chat.completion', model: 'm', choices }))
      })
    }),
  )
  const look = tool('look', async () => {
    if (fault !== undefined) throw fault
    return 25
  })
  /** Asks its model, and has a total or none. */
  const agent = async (): Promise<string> => {
    const body = JSON.stringify({ model: 'm', messages: [{ role: 'user', content: 'Well?' }] })
    const headers = { 'content-type': 'application/json' }
    await (await fetch(`${base()}/v1/chat/completions`, { method: 'POST', headers, body })).text()
    return await look().then(
      (total) => `${total}`,
      () => 'a person looks',
    )
  }
  const down = Object.assign(new Error('connect ECONNREFUSED 10.0.0.7:5432'), { code: 'ECONNREFUSED' })
  const grade = async (then: Error | undefined, now: Error) => {
    fault = then
    const again = await forksOf(agent, { tools: 'live' })
    fault = now
    return textOf(await again())
  }

  test.each<[string, Error]>([
    ['its own error', down],
    ['the cause of one', new TypeError('no total', { cause: down })],
    ['one of several', new AggregateError([down])],
  ])('has no grade where one finds its database down: %s', async (_, error) => {
    expect(await grade(undefined, error)).toMatch(/^ungraded: A service could not be reached: (?:connect |no |ECONN)/)
  })

  test('is graded where the database was down when it was recorded, or the error is about something else', async () => {
    expect(await grade(down, down)).toBe('bad')
    expect(await grade(undefined, new RangeError('no such order'))).toBe('bad')
  })
})

describe('a run whose wrapped functions open sockets of their own', () => {
  const store = createStore()
  /** As a tool that may not fail: it says nothing of what it did not reach. */
  const look = (attempts: number) =>
    tool('look', async () => {
      for (let left = attempts; left > 0; left--) {
        const total = await askStore(store.port)
        if (total !== undefined) return total
        store.isOpen = true
      }
      return 'none'
    })()
  const grade = async (attempts: number, isOpenThen = true): Promise<string> => {
    store.isOpen = isOpenThen
    const agent = async () => look(attempts)
    const again = await forksOf(agent, { tools: 'live', allow: ['socket *'] })
    store.isOpen = false
    return textOf(await again())
  }

  test('has no grade where one finds its store down and keeps it to itself', async () => {
    expect(await grade(1)).toMatch(/^ungraded: A service could not be reached: .*(?:ECONNRESET|reset)/)
  })

  test('has no grade where one that lost its store was asked about what got its name as a secret later', async () => {
    const value = 'Kq7fZr9Xv4Tn8WbQm2LsJ5hD'
    const find = tool('find', async (_: object) => (await askStore(store.port)) ?? 'none')
    const logIn = tool('log_in', async (_: object) => 'in')
    const agent = async () => {
      const found = await find({ job: value })
      await logIn(store.isOpen ? {} : { session: value })
      return found
    }
    store.isOpen = true
    const again = await forksOf(agent, { tools: 'live', allow: ['socket *'] })
    store.isOpen = false
    expect(textOf(await again())).toMatch(/^ungraded: A service could not be reached/)
  })

  test('is graded where it asks once more, and is answered', async () => {
    expect(await grade(2)).toBe('bad')
  })

  test('is graded where the lost store is the change that is tried', async () => {
    store.isOpen = true
    const agent = async () => look(1).catch(() => 'none')
    const recorder = createRecorder({ dir })
    await recorder.run({ agent: 'asker', input: {} }, agent)
    const tape = readTape(recorder.lastTape ?? '')
    const lost = { $type: 'error', name: 'Error', message: 'refused', code: 'ECONNREFUSED' }
    const failed = ({ result: _, ...step }: CallEvent): Step => ({ ...step, error: lost }) as Step
    const tail = { from: 'live', budget: openBudget({}), tools: 'live' } as const
    const changes = [{ step: 1, rewrite: failed as (step: Step) => Step }]
    const run = await forkTape(tape, agent, { keep: 1, changes, tail })
    expect(run.outcome).toEqual({ status: 'returned', value: 'none' })
    expect(JSON.stringify(run.events)).toContain('ECONNREFUSED')
    expect(unreachedIn(run.events, tape.events, false)).toBeUndefined()
  })
})

/** A store without a protocol that the seam knows: it says 25, or hangs up. */
function createStore(): { isOpen: boolean; port: number } {
  const store = { isOpen: true, port: 0 }
  const server = net.createServer((socket) => {
    if (store.isOpen) socket.end('25')
    else socket.resetAndDestroy()
  })
  beforeAll(async () => {
    await once(server.listen(0, '127.0.0.1'), 'listening')
    store.port = (server.address() as net.AddressInfo).port
  })
  afterAll(() => void server.close())
  return store
}

async function askStore(port: number): Promise<string | undefined> {
  const socket = net.connect(port, '127.0.0.1')
  let said = ''
  try {
    for await (const chunk of socket) said += String(chunk)
    return said
  } catch {
    // As such tools do.
    return undefined
  }
}

describe('a run that asks two models at once and takes the first answer', () => {
  let slow = 'two'
  let isPrimaryDown = false
  /** How many are not answered at all. */
  let drop = 0
  /** The slow one says so. */
  let isRefused = false
  /** No two answers are the same, so that questions behind them are not. */
  let answers = 100
  const base = served(
    createServer((request, response) => {
      let body = ''
      request.on('data', (chunk) => (body += chunk))
      request.on('end', () => {
        const { model } = JSON.parse(body) as { model: string }
        if (isRefused && model === slow) {
          response.statusCode = 401
          return void response.end()
        }
        if (model === slow || drop-- > 0) return
        if (isPrimaryDown && model === 'one') {
          response.statusCode = 503
          return void response.end()
        }
        response.setHeader('content-type', 'application/json')
        const choices = [{ index: 0, message: { role: 'assistant', content: model }, finish_reason: 'stop' }]
        response.end(JSON.stringify({ id: `c${answers++}`, object: 'chat.completion', model, choices }))
      })
    }),
  )
  const ask = async (model: string, signal: AbortSignal, said: string): Promise<string> => {
    const messages = [{ role: 'user', content: said }]
    const headers = { 'content-type': 'application/json' }
    const body = JSON.stringify({ model, messages })
    const answer = await fetch(`${base()}/v1/chat/completions`, { method: 'POST', headers, body, signal })
    if (!answer.ok) throw new Error(`status ${answer.status}`)
    return `${said} ${await answer.text()}`
  }
  const graded = (agent: () => Promise<unknown>) => forksOf(agent, { isCrossVersion: true })

  test('is graded, whichever answers first', async () => {
    const hedging = async (): Promise<string> => {
      const given = new AbortController()
      const both = ['one', 'two'].map((model) => ask(model, given.signal, 'Well?'))
      const first = await Promise.any(both)
      given.abort()
      await Promise.allSettled(both)
      return `${first} ${slow}`
    }
    slow = 'two'
    const again = await graded(hedging)
    expect(await again()).toEqual({ grade: 'bad', because: undefined })
    slow = 'one'
    expect(await again()).toEqual({ grade: 'bad', because: undefined })
  })

  test('has no grade by the calls that it made on the answer of another one, and the tape lacks', async () => {
    const refund = tool('refund', async ({ amount }: { readonly amount: number }) => `${amount}`)
    const agent = async (): Promise<string> => {
      const { signal } = new AbortController()
      const said = await ask('one', AbortSignal.timeout(300), 'Well?').catch(() => ask('two', signal, 'Well?'))
      return refund({ amount: said.includes('"content":"two"') ? 25 : 2500 })
    }
    const byCalls = createOracle({ by: 'expectations', ok: [parseExpectation('refund(amount: 25)', '--ok')], bad: [] })
    isPrimaryDown = false
    slow = ''
    const again = await forksOf(agent, { isCrossVersion: true, oracle: byCalls })
    slow = 'one'
    expect(await again()).toEqual({
      grade: 'ungraded',
      because: 'A model had not answered when the agent gave it up',
    })
  })

  test('has no grade where one that is asked something else answers beside one that is given up', async () => {
    isPrimaryDown = false
    slow = ''
    const beside = async (): Promise<string> => {
      const decided = ask('two', AbortSignal.timeout(300), 'Well?').catch(() => 'someone else will')
      const kind = ask('one', new AbortController().signal, 'What kind?')
      return (await Promise.all([decided, kind])).join()
    }
    const again = await graded(beside)
    slow = 'two'
    expect(await again()).toEqual({
      grade: 'ungraded',
      because: 'A model had not answered when the agent gave it up',
    })
  })

  test('is graded where a model asked beside the one that answers is down as it was when recorded', async () => {
    slow = ''
    isPrimaryDown = true
    const beside = async (): Promise<string> => {
      const { signal } = new AbortController()
      const [said] = await Promise.all([ask('two', signal, 'Well?'), ask('one', signal, 'What kind?').catch(() => '')])
      return said
    }
    const forked = await graded(beside)
    expect(await forked()).toEqual({ grade: 'bad', because: undefined })
    const behind = async (): Promise<string> => {
      const { signal } = new AbortController()
      const said = await ask('two', signal, 'Well?')
      await ask('one', signal, 'What kind?').catch(() => '')
      return said
    }
    const forkedBehind = await graded(behind)
    expect(await forkedBehind()).toEqual({ grade: 'bad', because: undefined })
  })

  test('has no grade for what is new where one fails as it did and another one fails now', async () => {
    isPrimaryDown = true
    slow = ''
    const both = async (): Promise<string> => {
      const { signal } = new AbortController()
      const decided = await ask('two', signal, 'Well?').catch(() => 'someone else will')
      await ask('one', signal, 'What kind?').catch(() => '')
      return decided
    }
    const again = await graded(both)
    slow = 'two'
    isRefused = true
    expect(await again()).toEqual({ grade: 'ungraded', because: 'A model answered with status 401' })
    isRefused = false
  })

  test('is graded where the first one is down as it was when recorded, and another one answers', async () => {
    slow = ''
    isPrimaryDown = true
    const steady = async (): Promise<string> => {
      const { signal } = new AbortController()
      let said = 'Well?'
      for (let turn = 0; turn < 2; turn++) {
        const now = said
        said = await ask('one', signal, now).catch(() => ask('two', signal, now))
      }
      return said
    }
    const forked = await graded(steady)
    expect((await forked()).grade).toBe('bad')
  })

  test.each<[string, () => Promise<string>]>([
    [
      'once it was given up',
      () => ask('one', AbortSignal.timeout(300), 'Well?').catch(() => ask('two', signal, 'Well?')),
    ],
    [
      'once it was left open',
      async () => {
        const first = await Promise.race([ask('one', signal, 'Well?'), sleep(300)])
        return first ?? (await ask('two', signal, 'Well?'))
      },
    ],
    [
      'beside it, and was not asked when recorded',
      async () => {
        const given = new AbortController()
        const later = async () => (await sleep(200), ask('two', signal, 'Well?'))
        const first = await Promise.race([ask('one', given.signal, 'Well?').catch(() => never), later()])
        given.abort()
        return first
      },
    ],
  ])('has no grade where another one answers for one that is silent: %s', async (_, agent) => {
    slow = ''
    isPrimaryDown = false
    const again = await graded(agent)
    const rerun = await rerunsOf(agent)
    slow = 'one'
    const because = 'A model had not answered when the agent gave it up'
    expect(await again()).toEqual({ grade: 'ungraded', because })
    expect(await rerun()).toBe(because)
  })
  test('has no grade where one of several that were asked the same is silent, and is graded where it is asked again', async () => {
    slow = ''
    isPrimaryDown = false
    const vote = async (): Promise<number> => {
      const votes = ['one', 'one', 'one'].map((model) =>
        ask(model, AbortSignal.timeout(300), 'Well?').catch(() =>
          slow === 'once' ? ask(model, signal, 'Well?') : 'none',
        ),
      )
      return (await Promise.all(votes)).length
    }
    const again = await graded(vote)
    drop = 1
    expect(await again()).toEqual({ grade: 'ungraded', because: 'A model had not answered when the agent gave it up' })
    slow = 'once'
    drop = 1
    expect((await again()).grade).toBe('bad')
  })
  const { signal } = new AbortController()
  const never = new Promise<never>(() => {})

  test('has no grade where another one answers what was answered by one that is down now, and once before', async () => {
    slow = ''
    const turns = async (): Promise<string> => {
      let said = 'Well?'
      for (let turn = 0; turn < 3; turn++) {
        const now = said
        said = await ask('one', signal, now).catch(() => ask('two', signal, now))
        isPrimaryDown = isDownLater
      }
      return said
    }
    let isDownLater = false
    isPrimaryDown = true
    const forked = await graded(turns)
    isPrimaryDown = true
    expect((await forked()).grade).toBe('bad')
    isPrimaryDown = true
    isDownLater = true
    expect(await forked()).toEqual({ grade: 'ungraded', because: 'A model answered with status 503' })
  })
})

describe('a cache in front of a model that says so in no header', () => {
  let idOf: (asked: string) => string = () => ''
  const base = served(
    createServer((request, response) => {
      const body: Buffer[] = []
      request.on('data', (bytes: Buffer) => body.push(bytes))
      request.on('end', () => {
        const id = idOf(Buffer.concat(body).toString())
        const isOfOpenai = request.url === '/v1/chat/completions'
        const choices = [{ index: 0, message: { role: 'assistant', content: 'It' }, finish_reason: 'stop' }]
        const said = {
          type: 'message',
          role: 'assistant',
          content: [{ type: 'text', text: 'It' }],
          stop_reason: 'end_turn',
        }
        response.setHeader('content-type', 'application/json')
        response.end(
          JSON.stringify({
            ...(isOfOpenai ? { object: 'chat.completion', choices } : { ...said, usage: {} }),
            id,
            model: 'm',
          }),
        )
      })
    }),
  )
  const asked = { model: 'm', max_tokens: 9 }
  const agents = {
    openai: async (content: string) => {
      const client = new OpenAI({ apiKey: 'k', baseURL: `${base()}/v1`, maxRetries: 0 })
      const { choices } = await client.chat.completions.create({ ...asked, messages: [{ role: 'user', content }] })
      return choices[0]?.message.content
    },
    anthropic: async (content: string) => {
      const client = new Anthropic({ apiKey: 'k', baseURL: base(), maxRetries: 0 })
      const { content: said } = await client.messages.create({ ...asked, messages: [{ role: 'user', content }] })
      return said.length
    },
  }
  async function draws(client: keyof typeof agents, then: typeof idOf, now: typeof idOf) {
    idOf = then
    const ask = await forksOf(async () => {
      await agents[client]('The first one?')
      return agents[client]('Two?')
    })
    idOf = now
    return [textOf(await ask()), textOf(await ask()), textOf(await ask())]
  }
  const drawn = (): string => `chatcmpl-${randomUUID()}`
  const kept = (): typeof idOf => {
    const ids = new Map<string, string>()
    return (text) => {
      ids.set(text, ids.get(text) ?? drawn())
      return ids.get(text)!
    }
  }
  const again: unknown = expect.stringMatching(/^ungraded: A model answered from a cache$/)

  test.each(['openai', 'anthropic'] as const)('what it gives again has no grade: %s', async (client) => {
    expect(await draws(client, drawn, kept())).toEqual(['bad', again, again])
    const cache = kept()
    expect(await draws(client, cache, cache)).toEqual([again, again, again])
    expect(await draws(client, drawn, drawn)).toEqual(['bad', 'bad', 'bad'])
  })

  test.each([
    ['one for all answers', () => 'chatcmpl-B9MHDbslfkBeAs8l4bebGdFOJ6PeG'],
    ['words', (text: string) => `chatcmpl-the-answer-to-${text.includes('Two?') ? 'the-second' : 'the-first'}`],
    ['a number of the question', (text: string) => `chatcmpl-${text.length}`],
    ['none', () => ''],
  ])('a server that stands in for a provider is graded, whose answers have as an id %s', async (_, idOf) => {
    expect(await draws('openai', idOf, idOf)).toEqual(['bad', 'bad', 'bad'])
  })
})
