import { createServer, type IncomingMessage } from 'node:http'
import type { AddressInfo } from 'node:net'
import { runInNewContext } from 'node:vm'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { callerPackage } from '../../src/seam/caller.ts'
import { installInterceptors, type LiveRequest, type Responder } from '../../src/seam/intercept/index.ts'
import { isNodes, plainFetch } from '../../src/seam/intercept/plain-fetch.ts'
import { seamState } from '../../src/seam/source.ts'

const nodes = globalThis.fetch
const seen: { readonly headers: readonly (readonly [string, string])[]; readonly body: string }[] = []
const server = createServer((request, response) => {
  void textOf(request).then((body) => {
    const { rawHeaders } = request
    const headers = rawHeaders.flatMap((name, i) =>
      i % 2 ? [] : [[name.toLowerCase(), rawHeaders[i + 1] ?? ''] as const],
    )
    seen.push({ headers, body })
    response.end('ok')
  })
})
let url = ''

beforeAll(async () => {
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  url = `http://127.0.0.1:${(server.address() as AddressInfo).port}/v1`
  installInterceptors()
})
afterAll(() => void server.close())

const json = { 'content-type': 'application/json' }
const post = { method: 'POST', headers: json, body: '{"a":"é\ud800"}' }
const class_ = new (class {
  method = 'POST'
  headers = json
  body = 'of a class'
})()

/** Calls whose body is kept back, and calls that come close. */
const calls: readonly (readonly [name: string, isKept: boolean, args: () => Parameters<typeof fetch>])[] = [
  ['a text with its type', true, () => [url, post]],
  ['a URL', true, () => [new URL(url), { ...post, method: 'PUT' }]],
  [
    'Headers and a signal',
    true,
    () => [url, { ...post, headers: new Headers(json), signal: new AbortController().signal }],
  ],
  ['no type', false, () => [url, { ...post, headers: { accept: 'a/b' } }]],
  ['a length of its own', false, () => [url, { ...post, headers: { ...json, 'Content-Length': '13' } }]],
  ['a method in small letters', false, () => [url, { ...post, method: 'post' }]],
  ['a method without a length', false, () => [url, { ...post, method: 'PATCH' }]],
  ['bytes', false, () => [url, { ...post, body: Buffer.from('bytes') }]],
  ['an empty text', false, () => [url, { ...post, body: '' }]],
  ['a form', false, () => [url, { method: 'POST', body: new URLSearchParams({ a: 'b' }) }]],
  ['a request', false, () => [new Request(url, post)]],
  ['pairs', false, () => [url, { ...post, headers: Object.entries(json) }]],
  ['an object of a class', false, () => [url, class_]],
  ['a getter', false, () => [url, Object.defineProperty({ ...post }, 'body', { get: () => 'got', enumerable: true })]],
  ['a hidden setting', false, () => [url, Object.defineProperty({ ...post }, 'redirect', { value: 'error' })]],
  ['a setting nobody knows', false, () => [url, { ...post, next: { revalidate: 1 } } as RequestInit]],
  ['a request that outlives its page', false, () => [url, { ...post, keepalive: true }]],
]

describe('a request a replay answers', () => {
  it.each(calls)('is heard as it would have been sent: %s', async (_name, isKept, args) => {
    seen.length = 0
    await (await fetch(...args())).text()
    const { heard, responder } = listener()
    await seamState().runs.run(responder, async () => (await fetch(...args())).text())
    const sent = seen[0]?.headers.filter(([name]) => !['host', 'connection', 'transfer-encoding'].includes(name))
    expect(heard[0]?.body.toString('utf8')).toBe(seen[0]?.body)
    expect(heard[0]?.headers).toEqual(expect.arrayContaining(sent ?? []))
    expect(plainFetch(args()) !== undefined).toBe(isKept)
  })

  it.each([
    [307, 'POST', post.body],
    [303, 'GET', ''],
    [302, 'GET', ''],
  ])('after a redirect of status %i is a %s with the body that goes with it', async (status, method, body) => {
    const { heard, responder } = listener(status)
    await seamState().runs.run(responder, async () => (await fetch(url, post)).text())
    expect(heard).toHaveLength(2)
    expect(heard[1]?.method).toBe(method)
    expect(heard[1]?.body).toEqual(Buffer.from(body))
  })

  it('reads the clock in the name of whoever wrote a getter among its headers', async () => {
    const { responder, readers } = listener()
    const headers = Object.defineProperty({ ...json }, 'x-at', { get: () => String(Date.now()), enumerable: true })
    await seamState().runs.run(responder, async () => (await fetch(url, { ...post, headers })).text())
    expect(readers).toContain('app')
    readers.clear()
    await seamState().runs.run(responder, async () => (await fetch(url, post)).text())
    expect([...readers]).toEqual(['node'])
  })
})

describe('the fetch of this Node', () => {
  it('is told from one that was put over it, and from that of another context', () => {
    expect(isNodes(nodes)).toBe(true)
    const over: typeof fetch = (...args) => nodes(...args)
    expect(isNodes(over)).toBe(false)
    expect(isNodes(new Proxy(nodes, {}))).toBe(false)
    expect(isNodes(runInNewContext(`(${Function.prototype.toString.call(nodes)})`))).toBe(false)
  })
})

/** A run that hears requests, and answers the first with `status`. */
function listener(status = 200): {
  readonly heard: readonly LiveRequest[]
  readonly responder: Responder
  readonly readers: Set<string>
} {
  const heard: LiveRequest[] = []
  const readers = new Set<string>()
  const responder: Partial<Responder> = {
    mode: 'replay',
    over: false,
    pending: 0,
    draw(_kind, caller, real) {
      readers.add(callerPackage(caller))
      return real()
    },
    exchange(live, sink) {
      const isFirst = heard.push(live) === 1
      setImmediate(() => {
        sink.head(isFirst ? status : 200, '', isFirst && status !== 200 ? [['location', '/elsewhere']] : [])
        sink.end()
      })
      return { abort: () => undefined }
    },
  }
  return { heard, readers, responder: responder as Responder }
}

async function textOf(request: IncomingMessage): Promise<string> {
  const chunks: Buffer[] = []
  for await (const chunk of request) chunks.push(chunk as Buffer)
  return Buffer.concat(chunks).toString('utf8')
}
