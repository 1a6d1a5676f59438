import { request } from 'node:http'
import { connect } from 'node:net'
import fc from 'fast-check'
import { describe, expect, it, onTestFinished } from 'vitest'
import { type ServedPages, servePages } from '../../src/cli/reporting/serve.ts'

// Ten thousand: HARVEST_OPEN_RUNS=10000.
const numRuns = Number(process.env['HARVEST_OPEN_RUNS'] ?? 500)

interface Answer {
  readonly status: number
  readonly headers: Readonly<Record<string, unknown>>
  readonly text: string
}

async function served(): Promise<ServedPages & { readonly asked: string[] }> {
  const asked: string[] = []
  const pages = await servePages((path) => {
    asked.push(path)
    return path === '' ? '<!doctype html>yes' : path === 'run/1' ? 'a run' : undefined
  }, 0)
  onTestFinished(pages.close)
  return { ...pages, asked }
}

function ask(
  url: string,
  headers: Readonly<Record<string, string>> = {},
  method = 'GET',
  path?: string,
): Promise<Answer> {
  const { port, pathname } = new URL(url)
  return new Promise((answered, reject) => {
    const sent = request({ host: '127.0.0.1', port, path: path ?? pathname, method, headers }, (response) => {
      const parts: Buffer[] = []
      response.on('data', (part: Buffer) => parts.push(part))
      response.on('end', () =>
        answered({
          status: response.statusCode ?? 0,
          headers: response.headers,
          text: Buffer.concat(parts).toString(),
        }),
      )
    })
    sent.on('error', reject).end()
  })
}

describe('pages on 127.0.0.1', () => {
  it('answer to the link that was printed, with what keeps other sites out', async () => {
    const { url } = await served()
    const { status, headers, text } = await ask(url)
    expect({ status, text }).toEqual({ status: 200, text: '<!doctype html>yes' })
    expect(headers).toMatchObject({
      'cache-control': 'no-store',
      'x-content-type-options': 'nosniff',
      'referrer-policy': 'no-referrer',
      'cross-origin-opener-policy': 'same-origin',
      'cross-origin-resource-policy': 'same-origin',
      'content-security-policy': "frame-ancestors 'none'",
    })
    expect(new URL(url).hostname).toBe('127.0.0.1')
    expect(new URL(url).pathname).toMatch(/^\/[\w-]{32}\/$/)
  })

  it.each<
    [why: string, status: number, headers?: Record<string, string>, method?: string, path?: (own: string) => string]
  >([
    ['no secret', 403, {}, 'GET', () => '/'],
    ['another secret', 403, {}, 'GET', (own) => own.replace(/.\/$/, '!/')],
    ['a longer secret', 403, {}, 'GET', (own) => own.replace(/\/$/, 'x/')],
    ['localhost as the host', 421, { host: 'localhost' }],
    ['a name of somebody else', 421, { host: 'evil.example' }],
    ['the address without its port', 421, { host: '127.0.0.1' }],
    ['another origin', 403, { origin: 'http://evil.example' }],
    ['a page without an origin', 403, { origin: 'null' }],
    ['another port of this machine', 403, { 'sec-fetch-site': 'same-site' }],
    ['another site', 403, { 'sec-fetch-site': 'cross-site' }],
    ['a POST', 405, {}, 'POST'],
    ['a DELETE', 405, {}, 'DELETE'],
    ['a path that climbs', 404, {}, 'GET', (own) => `${own}../../etc/passwd`],
    ['a path with a bad escape', 404, {}, 'GET', (own) => `${own}%zz`],
  ])('refuse %s', async (_, status, headers = {}, method = 'GET', path = (own) => own) => {
    const { url, asked } = await served()
    const { pathname } = new URL(url)
    expect((await ask(url, headers, method, path(pathname))).status).toBe(status)
    expect(asked.filter((one) => one === '')).toEqual([])
  })

  it('answer a HEAD without a body, and a page of their own origin', async () => {
    const { url } = await served()
    expect(await ask(url, {}, 'HEAD')).toMatchObject({ status: 200, text: '' })
    expect((await ask(url, { origin: url.replace(/\/[^/]*\/$/, ''), 'sec-fetch-site': 'same-origin' })).status).toBe(
      200,
    )
    expect(await ask(`${url}run/1`)).toMatchObject({ status: 200, text: 'a run' })
  })

  it('lead from an address that is good once, whoever sends there, to the page behind the secret', async () => {
    const { url, once } = await served()
    const address = once('run/1')
    expect(address).not.toContain(new URL(url).pathname)
    expect((await ask(address, { host: 'localhost' })).status).toBe(421)
    const { status, text } = await ask(address, { 'sec-fetch-site': 'cross-site' })
    expect({ status, leads: text.includes(`content="0;url=${new URL(url).pathname}run/1"`) }).toEqual({
      status: 200,
      leads: true,
    })
    expect((await ask(address)).status).toBe(403)
  })

  it('stand whatever is sent, and give no page without the secret', async () => {
    const { url, asked } = await served()
    const { port } = new URL(url)
    const raw = (bytes: Buffer): Promise<string> =>
      new Promise((done) => {
        const socket = connect(Number(port), '127.0.0.1', () => socket.end(bytes))
        let text = ''
        socket.on('data', (part) => (text += part.toString('latin1')))
        socket.on('error', () => done(text))
        socket.on('close', () => done(text))
      })
    const path = fc.string({ unit: 'binary', maxLength: 40 })
    const line = fc.tuple(
      fc.constantFrom('GET', 'HEAD', 'POST', 'OPTIONS', '%'),
      path,
      fc.constantFrom(`127.0.0.1:${port}`, 'x', ''),
    )
    const message = fc.oneof(
      line.map(([method, target, host]) =>
        Buffer.from(`${method} /${target} HTTP/1.1\r\nHost: ${host}\r\nConnection: close\r\n\r\n`),
      ),
      fc.uint8Array({ maxLength: 60 }).map((bytes) => Buffer.from(bytes)),
    )
    await fc.assert(
      fc.asyncProperty(message, async (bytes) => {
        expect(await raw(bytes)).not.toMatch(/^HTTP\/1\.1 200/)
      }),
      { numRuns },
    )
    expect(asked).toEqual([])
    expect((await ask(url)).status).toBe(200)
  })
})
