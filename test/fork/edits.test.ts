import { gzipSync } from 'node:zlib'
import { describe, expect, it } from 'vitest'
import { type AnswerEdit, editAnswer } from '../../src/fork/edits.ts'
import { type CallEvent, type ExchangeEvent, encodeBytes, type Json, responseBytes } from '../../src/tape/index.ts'

function service(body: string, more: { readonly type?: string; readonly isGzip?: true } = {}): ExchangeEvent {
  const bytes = more.isGzip ? gzipSync(body) : Buffer.from(body)
  const headers = [
    ['content-type', more.type ?? 'application/json'],
    ['content-length', `${bytes.length}`],
    ...(more.isGzip ? [['content-encoding', 'gzip'] as const] : []),
  ] as const
  return {
    kind: 'exchange',
    n: 1,
    at: 0,
    via: 'undici',
    method: 'GET',
    url: 'https://shop.example/orders/1',
    request: { headers: [] },
    response: { moment: [2, 1], status: 200, headers, chunks: [[3, 1, encodeBytes(bytes)]], end: [4, 1] },
  }
}

const call = (result: Json): CallEvent => ({ kind: 'tool', n: 1, at: 0, name: 't', args: {}, settled: [2, 1], result })
const bodyOf = (event: ExchangeEvent, edit: AnswerEdit): string =>
  Buffer.from(responseBytes(editAnswer(event, edit, 3) as ExchangeEvent)).toString('utf8')
const resultOf = (result: Json, edit: AnswerEdit): Json | undefined =>
  (editAnswer(call(result), edit, 3) as CallEvent).result

describe('the answer of a step becomes another one', () => {
  it('as a whole, with the length it then has, and without the compression it had', () => {
    const edited = editAnswer(service('{"total":25}', { isGzip: true }), { text: '{"total":2500}' }, 1) as ExchangeEvent
    expect(Buffer.from(responseBytes(edited)).toString('utf8')).toBe('{"total":2500}')
    expect(edited.response?.headers).toEqual([
      ['content-type', 'application/json'],
      ['content-length', '14'],
    ])
  })

  it('by a JSON patch, of a body and of a result', () => {
    const patch = [{ op: 'replace', path: '/total', value: 30 }] as const
    expect(bodyOf(service('{"total":25,"currency":"EUR"}', { isGzip: true }), { patch })).toBe(
      '{"total":30,"currency":"EUR"}',
    )
    expect(resultOf({ total: 25 }, { patch })).toEqual({ total: 30 })
  })

  it('by a JSON patch of the events of a stream, whose other lines stay byte for byte', () => {
    const stream = 'event: a\ndata: {"x":1}\n\ndata:  {"x": 2}\n\ndata: [DONE]\n\n'
    const patch = [{ op: 'replace', path: '/0/x', value: 9 }] as const
    expect(bodyOf(service(stream, { type: 'text/event-stream' }), { patch })).toBe(stream.replace('{"x":1}', '{"x":9}'))
  })

  it('by a text, everywhere it stands, and nothing in it is a pattern', () => {
    expect(bodyOf(service('{"a":"$1","b":"$1"}'), { replace: '$1', with: '$&' })).toBe('{"a":"$&","b":"$&"}')
    expect(resultOf('Paid 25 EUR', { replace: '25', with: '30' })).toBe('Paid 30 EUR')
  })

  it('by an expression, with its groups', () => {
    expect(bodyOf(service('{"total":25}'), { match: '"total":(\\d+)', flags: '', with: '"total":$100' })).toBe(
      '{"total":2500}',
    )
    expect(resultOf({ total: 25, list: [25] }, { match: '25', flags: 'g', with: '3' })).toEqual({ total: 3, list: [3] })
  })

  it('a call that failed has a result from now on', () => {
    const { result: _, ...rest } = call(1)
    const failed: CallEvent = { ...rest, error: { $type: 'error', name: 'Error', message: 'no' } }
    expect(editAnswer(failed, { text: '{"total":1}' }, 1)).toMatchObject({ result: { total: 1 } })
    expect(editAnswer(failed, { text: '1' }, 1)).not.toHaveProperty('error')
  })

  it('an edit that finds nothing is refused: the fork would be told as if it had been made', () => {
    expect(() => bodyOf(service('{"total":25}'), { replace: '26', with: '1' })).toThrowErrorMatchingInlineSnapshot(`
      [HarvestError: The edit changes nothing in the answer of this step

        step    3
        looked  26

      → to see it: npx vitest-harvest show '<tape>' --step 3 --raw response > response.bin
      (HARVEST_FORK_EDIT)]
    `)
    expect(() => resultOf({ total: 25 }, { match: 'x', flags: '', with: 'y' })).toThrow(/HARVEST_FORK_EDIT/)
  })

  it('of a stream it says that texts come in pieces', () => {
    const stream = service('data: {"delta":"I re"}\n\ndata: {"delta":"funded"}\n\n', { type: 'text/event-stream' })
    expect(() => bodyOf(stream, { replace: 'refunded', with: 'kept' })).toThrow(/in pieces/)
    expect(() => bodyOf(stream, { patch: [{ op: 'remove', path: '/1' }] })).toThrow(/not added or removed/)
  })

  it('what has to be JSON stays JSON', () => {
    expect(() => resultOf({ total: 25 }, { replace: '25', with: 'x' })).toThrow(/not JSON/)
    expect(() => bodyOf(service('no json'), { patch: [] })).toThrow(/not JSON/)
  })

  it('a request that never got an answer has none to edit', () => {
    const { response: _, ...open } = service('')
    expect(() => editAnswer(open, { text: 'x' }, 1)).toThrow(/no answer/)
  })
})
