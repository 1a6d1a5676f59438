import fc from 'fast-check'
import { expect, test } from 'vitest'
import { NamesToFind, onlyModelNamed, readModelCall, reportedUsage } from '../../src/providers/index.ts'
import type { Json } from '../../src/tape/types.ts'
import { exchange } from './bodies.ts'

type Fields = { readonly [key: string]: Json }
type Call = { readonly name: string; readonly args: Json }

/** Texts that look like the end of an answer. */
const text = fc.oneof(
  fc.string({ unit: 'grapheme', maxLength: 20 }),
  fc.constantFrom(
    '"usage":{"prompt_tokens":1}',
    '\\"usage\\":{',
    '"},"usage":{"input_tokens":9,"output_tokens":9}}',
    '}]',
  ),
)
const count = fc.nat(10_000)
const call: fc.Arbitrary<Call> = fc.record({
  name: fc.constantFrom('refund', 'lookup', 'search', 'réfund'),
  args: fc.oneof(
    fc.record({ usage: fc.record({ prompt_tokens: count, completion_tokens: count, input_tokens: count }) }),
    fc.record({ usage: text, model: text }),
  ) as fc.Arbitrary<Json>,
})

const optional = <T>(value: fc.Arbitrary<T>): fc.Arbitrary<T | undefined> =>
  fc.option(value, { nil: undefined, freq: 3 })
const chatUsage = fc.record(
  {
    prompt_tokens: count,
    completion_tokens: count,
    total_tokens: count,
    prompt_tokens_details: fc.record({ cached_tokens: count }),
    completion_tokens_details: fc.record({ reasoning_tokens: count }),
  },
  { requiredKeys: ['prompt_tokens', 'completion_tokens'] },
) as fc.Arbitrary<Fields>
const messageUsage = fc.record(
  { input_tokens: count, output_tokens: count, cache_read_input_tokens: count, cache_creation_input_tokens: count },
  { requiredKeys: ['input_tokens', 'output_tokens'] },
) as fc.Arbitrary<Fields>

const chatAnswer = fc
  .record({ text, calls: fc.array(call, { maxLength: 2 }), usage: optional(chatUsage) })
  .map(({ text, calls, usage }): Fields => {
    const asked = calls.map(({ name, args }, i) => ({
      id: `call_${i}`,
      type: 'function',
      function: { name, arguments: JSON.stringify(args) },
    }))
    const message = { role: 'assistant', content: text, tool_calls: asked }
    return { object: 'chat.completion', model: 'm-1', choices: [{ index: 0, message }], ...(usage && { usage }) }
  })
const message = fc
  .record({ text, calls: fc.array(call, { maxLength: 2 }), usage: optional(messageUsage) })
  .map(({ text, calls, usage }): Fields => {
    const asked = calls.map(({ name, args }, i) => ({ type: 'tool_use', id: `call_${i}`, name, input: args }))
    const content = [{ type: 'text', text }, ...asked]
    return { type: 'message', role: 'assistant', model: 'm-1', content, ...(usage && { usage }) }
  })

/** What else an answer may say, before and after its usage. */
const beside = fc.record(
  {
    system_fingerprint: text,
    error: fc.record({ type: text }),
    timings: fc.record({ prompt_n: count, cache_n: count, predicted_n: count }),
    meta: fc.record({ usage: chatUsage, billed_units: fc.record({ input_tokens: count }) }),
  },
  { requiredKeys: [] },
) as fc.Arbitrary<Fields>

test('what an answer reports of its usage at its end is what reading all of the exchange finds', () => {
  const names = new NamesToFind(['refund'])
  let reported = 0
  fc.assert(
    fc.property(
      fc.oneof(
        fc.tuple(fc.constant('https://a.example/v1/chat/completions'), chatAnswer),
        fc.tuple(fc.constant('https://a.example/v1/messages?beta=true'), message),
      ),
      fc.oneof({ weight: 2, arbitrary: fc.constant<Fields>({}) }, beside),
      fc.boolean(),
      fc.boolean(),
      fc.constantFrom<Fields>({ model: 'm' }, { model: 'm', stream: false }, { max_tokens: 5, model: 'm' }),
      text,
      ([url, answer], more, isBefore, isSpaced, settings, said) => {
        const asked = { ...settings, messages: [{ role: 'user', content: said }] }
        const told = isBefore ? { ...more, ...answer } : { ...answer, ...more }
        const written = JSON.stringify(told, undefined, isSpaced ? 1 : undefined)
        const source = {
          method: 'POST',
          url,
          status: 200,
          sent: Buffer.from(JSON.stringify(asked)),
          got: Buffer.from(written),
        }
        const found = reportedUsage(source, names)
        if (found === undefined) return
        reported++
        const { request, response } = readModelCall(exchange(url, asked, written))!
        expect(found).toEqual({ model: request.model, usage: response!.usage })
        expect(response!.toolCalls.map(({ name }) => name)).not.toContain('refund')
        expect([undefined, response!.model]).toContain(onlyModelNamed(source.got))
      },
    ),
    { seed: 14, numRuns: 1_000 },
  )
  // Not by saying nothing.
  expect(reported).toBeGreaterThan(100)
})

test('the model that answered is taken from an answer that names one alone', () => {
  expect(onlyModelNamed(Buffer.from('{"model":"m-1","choices":[{"text":"a \\"model\\":\\"m-2\\""}]}'))).toBe('m-1')
  expect(onlyModelNamed(Buffer.from('{"content":[{"input":{"model":"m-2"}}],"model":"m-1"}'))).toBeUndefined()
  expect(onlyModelNamed(Buffer.from('{"model":"m\\u002d1"}'))).toBeUndefined()
  const gemini = '{"candidates":[{"args":{"model":"T"}}],"modelVersion":"gemini-3"}'
  expect(onlyModelNamed(Buffer.from(gemini))).toBeUndefined()
})

test.each([
  ['another path', { url: 'https://a.example/v1/embeddings' }],
  ['a model in the path', { url: 'https://a.example/openai/deployments/other/chat/completions' }],
  ['a refusal', { status: 429 }],
  ['no JSON', { got: Buffer.from('data: {"choices":[],"usage":{"prompt_tokens":1,"completion_tokens":2}}\n\n') }],
  ['a name that is looked for', { names: ['lookup_order'] }],
  ['a name that is written by numbers', { text: '\\u006cookup', names: ['other'] }],
  ['a name that JSON may write otherwise', { names: ['é'] }],
  ['a request that names its model later', { sent: '{"messages":[],"model":"m"}' }],
  ['an answer that stops in the middle', { cut: 3 }],
])('nothing is taken from the end of an answer where there is %s', (_, given: Partial<Given>) => {
  expect(reportedUsage(sourceOf({}), new NamesToFind([]))).toEqual({
    model: 'm',
    usage: { inputTokens: 1, outputTokens: 2 },
  })
  expect(reportedUsage(sourceOf(given), new NamesToFind(given.names ?? []))).toBeUndefined()
})

interface Given {
  readonly url: string
  readonly status: number
  readonly got: Buffer
  readonly text: string
  readonly names: readonly string[]
  readonly sent: string
  readonly cut: number
}

function sourceOf({ url, status, got, text = 'lookup_order', sent, cut = 0 }: Partial<Given>) {
  const answer = `{"choices":[{"message":{"content":"${text}"}}],"usage":{"prompt_tokens":1,"completion_tokens":2}}`
  return {
    method: 'POST',
    url: url ?? 'https://a.example/v1/chat/completions',
    status: status ?? 200,
    sent: Buffer.from(sent ?? '{"model":"m","messages":[]}'),
    got: got ?? Buffer.from(answer.slice(0, answer.length - cut)),
  }
}
