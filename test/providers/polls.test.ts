import { describe, expect, test } from 'vitest'
import { CallsOnce } from '../../src/providers/counted.ts'
import { isModelCall, readModelCall } from '../../src/providers/index.ts'
import type { ModelCall } from '../../src/providers/index.ts'
import type { Json } from '../../src/tape/types.ts'
import { exchange } from './bodies.ts'

const openai = 'https://api.openai.com/v1'

function poll(url: string, answer: Json | string, n = 1): ModelCall | undefined {
  const { request: _, ...event } = exchange(url, {}, answer)
  const look = { ...event, n, method: 'GET', request: { headers: [] } }
  const isCall = isModelCall(look)
  const call = readModelCall(look)
  expect(isCall).toBe(call !== undefined)
  return call
}

const run = { id: 'run_1', object: 'thread.run', model: 'm-5', status: 'in_progress', usage: null }
const message = (role: string, run_id: string | null, created_at: number, value: string): Json => {
  const content = [{ type: 'text', text: { value, annotations: [] } }]
  return { id: `msg_${value}`, object: 'thread.message', role, run_id, created_at, status: 'completed', content }
}
const list = (...data: readonly Json[]): Json => ({ object: 'list', data, has_more: false })

describe('a GET', () => {
  test.each([
    ['OpenAI', `${openai}/threads/thread_1/runs/run_1`],
    ['Azure', 'https://me.openai.azure.com/openai/threads/thread_1/runs/run_1?api-version=2024-05-01-preview'],
  ])('of a run of %s says what became of it', (_, url) => {
    expect(poll(url, { ...run, status: 'incomplete', incomplete_details: { reason: 'max_prompt_tokens' } })).toEqual({
      n: 1,
      moreOf: 'run_1',
      keptAs: 'run_1',
      isPoll: true,
      request: { dialect: 'openai-assistants', model: '', instructions: [], messages: [], tools: [], params: {} },
      response: { model: 'm-5', text: '', toolCalls: [], finish: 'max_prompt_tokens', unknownEvents: 0 },
    })
    const failed = { ...run, status: 'failed', last_error: { code: 'server_error', message: 'Sorry.' } }
    expect(poll(url, failed)?.response).toMatchObject({ finish: 'failed', error: 'server_error' })
    expect(poll(url, { ...run, status: 'expired' })?.response).toMatchObject({ finish: 'expired' })
  })

  test('of the runs of a thread says what became of the newest', () => {
    const older = { ...run, id: 'run_0', created_at: 1, status: 'completed' }
    const newer = { ...run, created_at: 2 }
    for (const runs of [list(newer, older), list(older, newer)])
      expect(poll(`${openai}/threads/thread_1/runs`, runs)).toMatchObject({
        moreOf: 'run_1',
        response: { finish: 'in_progress' },
      })
  })

  test('of the messages of a thread says what its last run said, in the order it was said', () => {
    const url = `${openai}/threads/thread_1/messages`
    const said = [
      message('user', null, 1, 'Hi'),
      message('assistant', 'run_0', 2, 'Hello.'),
      message('user', null, 3, 'Where is it?'),
      message('assistant', 'run_1', 4, 'Let me look.'),
      message('assistant', 'run_1', 4, 'On its way.'),
    ]
    for (const data of [said, said.toReversed()])
      expect(poll(`${url}?order=x`, list(...data))).toMatchObject({
        moreOf: 'run_1',
        response: { text: 'Let me look.\n\nOn its way.' },
      })
    expect(poll(`${url}/msg_1`, said[1]!)).toMatchObject({ moreOf: 'run_0', response: { text: 'Hello.' } })
  })

  test('of what nobody has said yet is no model call', () => {
    const url = `${openai}/threads/thread_1/messages`
    expect(poll(url, list())).toBeUndefined()
    expect(poll(url, list(message('user', null, 1, 'Hi')))).toBeUndefined()
    expect(poll(`${openai}/threads/thread_1/runs/run_1/steps`, list())).toBeUndefined()
  })

  test('of an interaction and of a prediction says what came of it', () => {
    const google = 'https://generativelanguage.googleapis.com/v1beta/interactions/i1'
    const steps = [{ type: 'model_output', content: [{ type: 'text', text: 'Done.' }] }]
    expect(poll(google, { object: 'interaction', id: 'i1', status: 'completed', steps })).toMatchObject({
      moreOf: 'i1',
      request: { dialect: 'gemini-interactions' },
      response: { text: 'Done.', finish: 'completed' },
    })
    const urls = { get: 'https://api.replicate.com/v1/predictions/p1' }
    expect(poll(urls.get, { id: 'p1', urls, status: 'succeeded', output: ['Do', 'ne.'] })).toMatchObject({
      moreOf: 'p1',
      request: { dialect: 'replicate' },
      response: { text: 'Done.', finish: 'succeeded' },
    })
    const failed = { id: 'p1', urls, status: 'failed', output: null, error: 'Out of memory.' }
    expect(poll(urls.get, failed)).toMatchObject({ moreOf: 'p1', response: { finish: 'failed', error: 'error' } })
  })

  test('of other things at such addresses is no model call', () => {
    const others: readonly (readonly [string, Json | string])[] = [
      [`${openai}/threads/thread_1`, { id: 'thread_1', object: 'thread' }],
      [`${openai}/threads/thread_1/runs/run_1`, { error: { type: 'not_found' } }],
      [`${openai}/threads/thread_1/runs/run_2`, run],
      [`${openai}/responses/resp_1/input_items`, list({ type: 'message', content: [] })],
      ['https://api.typeform.com/forms/f/responses/r1', { id: 'r1', output: [], status: 'completed' }],
      ['https://discord.com/api/interactions/i1', { id: 'i1', status: 'completed' }],
      ['https://match.test/predictions/p1', { id: 'p1', status: 'succeeded', output: 'home' }],
      ['https://match.test/predictions/p1', '<html>'],
    ]
    for (const [url, answer] of others) expect(poll(url, answer), url).toBeUndefined()
  })

  test('streamed again from the middle says what its end says', () => {
    const answer = { id: 'resp_1', object: 'response', model: 'm-5', status: 'completed' }
    const output = [{ type: 'message', content: [{ type: 'output_text', text: 'Done.' }] }]
    const end = `data: ${JSON.stringify({ type: 'response.completed', response: { ...answer, output } })}\n\n`
    const piece = `data: ${JSON.stringify({ type: 'response.output_text.delta', delta: 'ne.' })}\n\n`
    expect(poll(`${openai}/responses/resp_1?stream=true&starting_after=3`, piece + end)).toMatchObject({
      moreOf: 'resp_1',
      response: { text: 'Done.', finish: 'completed' },
    })
  })
})

describe('the model calls of a run, counted', () => {
  const call = (n: number, about: Partial<ModelCall>, inputTokens?: number): ModelCall => ({
    n,
    request: { dialect: 'openai-responses', model: 'm', instructions: [], messages: [], tools: [], params: {} },
    response: {
      text: '',
      toolCalls: [],
      unknownEvents: 0,
      ...(inputTokens === undefined ? {} : { usage: { inputTokens } }),
    },
    ...about,
  })
  const counted = (...calls: readonly ModelCall[]): unknown => {
    const once = new CallsOnce()
    for (const one of calls) once.add(one)
    return once.all.map(({ n, response }) => [n, response?.usage?.inputTokens])
  }

  test('have what polls told last, once', () => {
    const polled = (n: number, tokens?: number): ModelCall =>
      call(n, { moreOf: 'r', keptAs: 'r', isPoll: true }, tokens)
    expect(counted(call(1, { keptAs: 'r' }), polled(2), polled(3, 7), polled(4, 7))).toEqual([[1, 7]])
    expect(counted(call(1, { keptAs: 'r' }), polled(2))).toEqual([[1, undefined]])
    expect(counted(polled(2, 7), polled(3, 7))).toEqual([[2, 7]])
  })

  test('are two where a run went on, with the tokens of both at the first', () => {
    const first = call(1, { keptAs: 'run' })
    expect(counted(first, call(2, { moreOf: 'run', keptAs: 'run' }, 9))).toEqual([
      [1, 9],
      [2, 0],
    ])
    expect(counted(first, call(2, { moreOf: 'run', keptAs: 'run' }))).toEqual([
      [1, undefined],
      [2, undefined],
    ])
  })

  test('stay apart where a mock gives all answers one id', () => {
    const same = { keptAs: 'resp_1' }
    expect(counted(call(1, same, 5), call(2, same, 5))).toEqual([
      [1, 5],
      [2, 5],
    ])
  })
})
