import { mkdtempSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fetch, request, SnapshotAgent } from 'undici'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { type Call, calls } from '../../fixtures/recorders/calls.ts'
import { compare } from '../../fixtures/recorders/compare.ts'
import { type Came, roundWith } from '../../fixtures/recorders/node-round.ts'
import { type Origin, startOrigin } from '../../fixtures/recorders/origin.ts'
import { importRecording } from '../../src/importers/index.ts'
import { installReplay, replayTape } from '../../src/replay/index.ts'
import { parseTape, requestBytes, serializeTape, type Tape } from '../../src/tape/index.ts'
import { exchangesOf, firstAnswer, imported, samples, url } from './samples.ts'

describe('what the SnapshotAgent of undici writes today', () => {
  const folder = mkdtempSync(join(tmpdir(), 'harvest-recorders-'))
  let origin: Origin
  beforeAll(async () => {
    await installReplay()
    origin = await startOrigin()
  })
  afterAll(async () => {
    await origin.close()
    rmSync(folder, { recursive: true })
  })

  async function recorded(name: string, ask: (agent: SnapshotAgent, call: Call) => Promise<unknown>): Promise<Tape> {
    origin.clear()
    const file = join(folder, `${name}.json`)
    const agent = new SnapshotAgent({ mode: 'record', snapshotPath: file })
    for (const call of calls) await ask(agent, call)
    await agent.saveSnapshots()
    await agent.close()
    const tape = importRecording({ file, bytes: readFileSync(file), id: name, agent: 'round' })
    return parseTape(serializeTape(tape.header, tape.events, tape.close), name)
  }

  const options = ({ method, headers }: Call) => ({ method, headers })
  const bytesOf = ({ body }: Call) => (body === undefined ? null : Buffer.from(body, 'base64'))

  it('by fetch with bytes: every call as the server heard it, and the replay serves it', async () => {
    const tape = await recorded('bytes', async (agent, call) => {
      const answer = await fetch(origin.base + call.path, { ...options(call), body: bytesOf(call), dispatcher: agent })
      await answer.arrayBuffer()
    })
    expect(tape.header.imported?.grade).toBe('replayable')
    expect(compare(tape, origin.heard, origin.base)).toEqual([])
    const { problems, comparison, outcome } = await replayTape(tape, () => roundWith('fetch', origin.base, calls))
    expect(problems).toEqual([])
    expect(comparison).toMatchObject({ recorded: calls.length + 1, served: calls.length + 1 })
    const said = origin.heard.filter(({ status }) => status !== 302)
    const served = outcome.status === 'returned' ? (outcome.value as readonly Came[]) : []
    expect(served.map(([status, , body]) => [status, body])).toEqual(
      said.map(({ status, body }) => [status, body.toString('base64')]),
    )
  })

  it('by request with texts: bytes that are no text are lost, and said to be', async () => {
    const tape = await recorded('texts', async (agent, call) => {
      const body = bytesOf(call)
      await (
        await request(origin.base + call.path, { ...options(call), body, dispatcher: agent } as object)
      ).body.text()
    })
    expect(compare(tape, origin.heard, origin.base).map(({ call, of }) => `${call} ${of}`)).toEqual([
      'POST /bytes/sent request body',
    ])
    expect(tape.header.imported?.missing).toContain('request-bytes')
  })
})

describe('bytes that undici wrote as numbers', () => {
  const snapshot = (body: string, headers: object): string =>
    JSON.stringify([
      {
        hash: 'h',
        snapshot: {
          request: { method: 'POST', url: 'https://api.example/', headers, body },
          responses: [{ statusCode: 200, headers: {}, body: 'aGk=', trailers: {} }],
        },
      },
    ])
  const asked = (body: string, headers: object): string => {
    const tape = imported(snapshot(body, headers))
    return tape.facts.missing.includes('requests') ? 'unread' : requestBytes(exchangesOf(tape)[0]!).toString()
  }

  it.each([
    // The length decides where it is told.
    ['104,105', { 'content-length': '2' }, 'hi'],
    ['104,105', { 'content-length': '7' }, '104,105'],
    ['104,105', { 'content-length': '5' }, 'unread'],
    ['5', { 'content-length': '1' }, 'unread'],
    // Else what is JSON.
    ['123,125', { 'content-type': 'application/json' }, '{}'],
    ['1,2', { 'content-type': 'application/json' }, 'unread'],
    ['7', { 'content-type': 'application/json' }, '7'],
    ['55', { 'content-type': 'application/json' }, 'unread'],
    // A list of numbers is a text as good as any.
    ['104,105', { 'content-type': 'text/csv' }, 'unread'],
    ['104,105', { 'content-type': 'application/octet-stream' }, 'hi'],
    // No bytes at all.
    ['104,256', {}, '104,256'],
    ['104,05', {}, '104,05'],
    ['104, 105', {}, '104, 105'],
  ])('%s with %j is %s', (body, headers, text) => {
    expect(asked(body, headers)).toBe(text)
  })
})

describe('what nock stores as a value', () => {
  const one = (more: object): string =>
    JSON.stringify([{ scope: 'https://api.example:443', method: 'POST', path: '/', body: '', status: 200, ...more }])
  const answer = (response: unknown, length?: number): string =>
    firstAnswer(imported(one({ response, rawHeaders: length === undefined ? {} : { 'content-length': `${length}` } })))

  it('a text is the value of JSON when the length says so, and else the body', () => {
    expect(answer('hi', 4)).toBe('"hi"')
    expect(answer('hi', 2)).toBe('hi')
    expect(answer('hi')).toBe('hi')
  })

  it('null is the value of JSON when the length says so, and else no body', () => {
    expect(answer(null, 4)).toBe('null')
    expect(exchangesOf(imported(one({ response: null })))[0]!.response!.chunks).toEqual([])
  })

  it('hex of what is no text was a request of bytes, as far as its type lets it be', () => {
    const body = Buffer.from([0xff, 0x00, 0xfe]).toString('hex')
    const sent = (more: object): Buffer =>
      requestBytes(exchangesOf(imported(one({ response: 'x', body, ...more })))[0]!)
    expect(sent({}).toString('hex')).toBe(body)
    expect(sent({ reqheaders: { 'content-type': 'text/plain' } }).toString()).toBe(body)
    expect(imported(one({ response: 'x', body })).facts.missing).toContain('request-bytes')
    expect(requestBytes(exchangesOf(imported(one({ response: 'x', body: '6869' })))[0]!).toString()).toBe('6869')
  })

  it('headers of requests are left out unless it is told to keep them', () => {
    expect(imported(one({ response: 'x' })).facts.missing).toContain('request-headers')
    expect(imported(one({ response: 'x', reqheaders: { a: 'b' } })).facts.missing).not.toContain('request-headers')
  })
})

describe('bodies that a HAR lacks', () => {
  const har = (request: object, response: object = {}, creator = 'WebInspector'): string => {
    const content = { size: 2, mimeType: 'text/plain', text: 'hi' }
    const given = {
      request: { method: 'POST', url: 'https://api.example/', headers: [], bodySize: -1, ...request },
      response: { status: 200, headers: [], content, ...response },
    }
    return JSON.stringify({ log: { version: '1.2', creator: { name: creator, version: '1' }, entries: [given] } })
  }
  const isUnread = (text: string): boolean => imported(text).facts.missing.includes('requests')

  it.each([
    ['a size', { bodySize: 256 }],
    ['a size beside an empty text', { bodySize: 256, postData: { mimeType: 'image/png', text: '' } }],
    ['the length in its headers', { headers: [{ name: 'Content-Length', value: '256' }] }],
    ['the type of a form', { headers: [{ name: 'content-type', value: 'multipart/form-data; boundary=x' }] }],
  ])('a request that had one, told by %s, makes the recording unfit for replay', (_, request) => {
    expect(isUnread(har(request))).toBe(true)
    expect(imported(har(request)).facts.grade).toBe('signature-only')
  })

  it.each([
    ['no size', {}],
    ['the size 0', { bodySize: 0, postData: { mimeType: 'application/json', params: [] } }],
    ['the length 0', { headers: [{ name: 'Content-Length', value: '0' }] }],
  ])('a request that had none, as %s tells, is replayed', (_, request) => {
    expect(isUnread(har(request))).toBe(false)
  })

  it('Polly.JS notes each body, and no text of bytes and streams', () => {
    const postData = { mimeType: 'application/json', params: [] }
    expect(isUnread(har({ bodySize: 0, postData }, {}, 'Polly.JS'))).toBe(true)
    expect(isUnread(har({ bodySize: 0 }, {}, 'Polly.JS'))).toBe(false)
    expect(isUnread(har({ bodySize: 2, postData: { ...postData, text: 'hi' } }, {}, 'Polly.JS'))).toBe(false)
  })

  const answer = (text: string, type: string, creator?: string): readonly [string, string] => {
    const headers = [{ name: 'content-type', value: type }]
    const tape = imported(har({}, { headers, content: { size: -1, text } }, creator))
    return [firstAnswer(tape), tape.facts.grade]
  }

  it('a text that was read in another charset, or badly, is not the bytes', () => {
    expect(answer('Z\ufffd\ufffdrich', 'application/json')[1]).toBe('re-drivable')
    expect(answer('Zürich', 'text/plain; charset=iso-8859-1')[1]).toBe('re-drivable')
    expect(answer('Zurich', 'text/plain; charset=iso-8859-1')[1]).toBe('replayable')
    expect(answer('Zürich', 'text/plain; charset=UTF-8')[1]).toBe('replayable')
    expect(answer('Zürich', 'application/json')[1]).toBe('replayable')
    const sent = imported(har({ postData: { mimeType: 'text/plain', text: '\ufffd' } }))
    expect(sent.facts.missing).toContain('request-bytes')
  })

  it('a stream that a browser read as windows-1252 is put right, and is not called the bytes', () => {
    const misread = new TextDecoder('windows-1252').decode(Buffer.from('data: Grüezi 日本\n\n'))
    expect(misread).toContain('GrÃ¼ezi æ—¥æœ¬')
    expect(answer(misread, 'text/event-stream')).toEqual(['data: Grüezi 日本\n\n', 're-drivable'])
    expect(answer(misread, 'text/event-stream; charset=utf-8')).toEqual([misread, 'replayable'])
    expect(answer('data: Grüezi\n\n', 'text/event-stream')).toEqual(['data: Grüezi\n\n', 're-drivable'])
  })

  it.each(['Polly.JS', 'vitest-harvest'])('%s keeps texts that are bytes, whatever is in them', (creator) => {
    expect(answer('Z\ufffdrich', 'text/plain', creator)[1]).toBe('replayable')
  })
})

describe('what VCR.py 4 kept of an answer to httpx', () => {
  const grade = (content: string, headers: Readonly<Record<string, string>>): string => {
    const request = { method: 'GET', uri: 'https://api.example/', headers: {}, body: '' }
    const listed = Object.fromEntries(Object.entries(headers).map(([name, value]) => [name, [value]]))
    const interactions = [{ request, response: { status_code: 200, headers: listed, content } }]
    return imported(JSON.stringify({ version: 1, interactions })).facts.grade
  }

  it('is the whole of a text, and of other types what their length proves', () => {
    expect(grade('{"a":"ü"}', { 'content-type': 'application/json' })).toBe('replayable')
    expect(grade('{"a":"ü"}', { 'content-type': 'application/json', 'content-encoding': 'gzip' })).toBe('replayable')
    expect(grade('PNG', { 'content-type': 'image/png', 'content-length': '3' })).toBe('replayable')
    expect(grade('PNG', { 'content-type': 'image/png', 'content-length': '9' })).toBe('re-drivable')
    expect(grade('PNG', { 'content-type': 'image/png' })).toBe('re-drivable')
    expect(grade('Zrich', { 'content-type': 'text/plain', 'content-length': '6' })).toBe('re-drivable')
    expect(grade('\u0011{}\u0003', { 'content-type': 'application/json', 'content-encoding': 'br' })).toBe(
      're-drivable',
    )
  })
})

describe('an address that WebMock told VCR for Ruby', () => {
  it('has its query in another order, and maybe less of it', () => {
    const missing = (query: string): readonly string[] =>
      imported(samples['ruby-vcr'].replace(url, `${url}${query}`)).facts.missing
    expect(missing('?a=1&b=2')).toContain('queries')
    expect(missing('?a=1')).not.toContain('queries')
  })
})
