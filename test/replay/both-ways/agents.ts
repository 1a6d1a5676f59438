// Over 300 lines: one list of everything that a client of `fetch` can look at.
// Agents that look at everything a response of `fetch` shows.
import { inspect } from 'node:util'

export type Agent = (base: string) => Promise<unknown>

const post = (url: string, more: RequestInit = {}): Promise<Response> =>
  fetch(url, {
    method: 'POST',
    headers: { 'content-type': 'application/json', 'X-Agent': 'of a test' },
    body: JSON.stringify({ url: new URL(url).pathname }),
    ...more,
  })

const said = (error: unknown): string => {
  const { name, message, cause } = error as Error & { cause?: Error & { code?: string } }
  const kind = Object.getPrototypeOf(error).constructor.name as string
  return `${kind} ${name}: ${message}${cause ? ` < ${cause.constructor.name} ${cause.code ?? ''} ${cause.message}` : ''}`
}
const tried = (work: () => unknown): unknown => {
  try {
    return work() ?? 'done'
  } catch (error) {
    return said(error)
  }
}
const heard = (work: Promise<unknown>): Promise<unknown> => work.catch(said)
const text = (bytes: unknown): string => Buffer.from(bytes as Uint8Array).toString('utf8')
const turns = async (count: number): Promise<void> => {
  for (let i = 0; i < count; i++) await new Promise((resolve) => setImmediate(resolve))
}

async function shown(response: Response): Promise<unknown> {
  const { url, type, redirected, status, statusText, ok, bodyUsed, headers } = response
  const copy = response.clone()
  return {
    ...{ url, type, redirected, status, statusText, ok, bodyUsed },
    headers: [...headers],
    cookies: headers.getSetCookie(),
    body: Object.prototype.toString.call(response.body),
    own: [response, headers, response.body ?? {}].map((one) => Reflect.ownKeys(one).map(String)),
    isResponse: [response instanceof Response, Object.getPrototypeOf(response) === Response.prototype],
    names: [response.constructor.name, headers.constructor.name, response.body?.constructor.name],
    isSameEachTime: [response.headers === headers, response.body === response.body],
    changed: [
      tried(() => new Headers(headers).set('a', 'b')),
      tried(() => headers.set('a', 'b')),
      tried(() => headers.append('a', 'b')),
      tried(() => headers.delete('content-type')),
      tried(() => headers.set('no name', 'b')),
      tried(() => (headers as { set(...args: string[]): void }).set('a')),
      tried(() => Headers.prototype.set.call({}, 'a', 'b')),
      tried(() => copy.headers.set('a', 'b')),
      tried(() => copy.clone().headers.set('a', 'b')),
      tried(() => Reflect.set(response, 'url', 'elsewhere')),
    ],
    copy: [copy.url, copy.type, copy.status, copy.statusText, [...copy.headers], await copy.text()],
    made: await new Response(response.clone().body, response).text(),
    inspected: inspect(response, { depth: 1 }).replaceAll(/\[[^\]]*state[^\]]*\]/gi, ''),
  }
}

async function pieces(response: Response, many = Number.POSITIVE_INFINITY): Promise<unknown> {
  const got: string[] = []
  try {
    for await (const piece of response.body ?? []) {
      got.push(`${piece.constructor.name} ${text(piece)}`)
      if (got.length === many) break
    }
  } catch (error) {
    got.push(said(error))
  }
  return got
}

/** What a reader gets until the end. */
async function rest(reader: ReadableStreamDefaultReader<Uint8Array>): Promise<readonly string[]> {
  const got: string[] = []
  for (let next = await reader.read(); !next.done; next = await reader.read()) got.push(text(next.value))
  return got
}

export const agents: Readonly<Record<string, Agent>> = {
  async 'a response shows the same'(base) {
    const response = await post(`${base}/json?a=b#fragment`)
    const all = await shown(response)
    return [all, await response.json(), response.bodyUsed, await heard(response.text()), tried(() => response.clone())]
  },
  // A request with a fragment goes through undici.
  async 'a response shows the same without a fragment'(base) {
    const response = await post(`${base}/json`)
    return [await shown(response), await response.json(), response.bodyUsed]
  },
  async 'a refused request shows the same'(base) {
    const response = await post(`${base}/429`)
    return [await shown(response), await response.text()]
  },
  async 'an empty answer shows the same'(base) {
    const response = await post(`${base}/empty`)
    return [await shown(response), (await response.bytes()).length]
  },
  async 'every method reads the same'(base) {
    const all: unknown[] = []
    const first = await post(`${base}/json`)
    all.push(first.status, first.ok, first.url, await first.text())
    all.push(await (await post(`${base}/json`)).json())
    const blob = await (await post(`${base}/json`)).blob()
    all.push(blob.type, blob.size, await blob.text())
    all.push(text(await (await post(`${base}/json`)).arrayBuffer()))
    const form = await (await post(`${base}/form`)).formData()
    return [...all, ...form.entries()]
  },
  'an answer in gzip reads the same': (base) => encoded(base, 'gzip'),
  'an answer in brotli reads the same': (base) => encoded(base, 'br'),
  'a deflated answer reads the same': (base) => encoded(base, 'deflate'),
  async 'a stream comes in the same pieces'(base) {
    return pieces(await post(`${base}/stream`))
  },
  async 'a stream that is read late comes in the same pieces'(base) {
    const response = await post(`${base}/stream`)
    await (await post(`${base}/slow`)).text()
    return pieces(response)
  },
  async 'a stream that is read late and whole reads the same'(base) {
    const response = await post(`${base}/stream`)
    await (await post(`${base}/slow`)).text()
    return response.text()
  },
  async 'both copies of a stream read the same'(base) {
    const response = await post(`${base}/stream`)
    const copy = response.clone()
    await (await post(`${base}/slow`)).text()
    return [await pieces(copy), await pieces(response)]
  },
  async 'bytes read into a buffer are the same'(base) {
    const reader = (await post(`${base}/stream`)).body?.getReader({ mode: 'byob' })
    const got: unknown[] = []
    for (;;) {
      const { done, value } = (await reader?.read(new Uint8Array(4))) ?? { done: true, value: undefined }
      got.push([done, value?.byteLength, value && text(value)])
      if (done) return got
    }
  },
  async 'a reader that stops early ends the same'(base) {
    const response = await post(`${base}/stream`)
    return [await pieces(response, 2), response.bodyUsed, tried(() => response.clone())]
  },
  async 'a cancelled body ends the same'(base) {
    const response = await post(`${base}/stream`)
    await response.body?.cancel('enough')
    return [await heard(response.text()), response.bodyUsed]
  },
  async 'an abort before the call ends the same'(base) {
    const signal = AbortSignal.abort(new RangeError('mine'))
    return heard(post(`${base}/json`, { signal }))
  },
  async 'an abort right after the call ends the same'(base) {
    const control = new AbortController()
    const answer = heard(post(`${base}/slow`, { signal: control.signal }))
    control.abort()
    return answer
  },
  async 'an abort before the answer ends the same'(base) {
    const control = new AbortController()
    const answer = heard(post(`${base}/slow`, { signal: control.signal }))
    await (await post(`${base}/json`)).text()
    control.abort(new RangeError('mine'))
    return answer
  },
  async 'an abort in the middle of a stream ends the same'(base) {
    const control = new AbortController()
    const response = await post(`${base}/stream`, { signal: control.signal })
    const got: string[] = []
    try {
      for await (const piece of response.body ?? []) {
        got.push(text(piece))
        if (got.length === 2) control.abort()
      }
    } catch (error) {
      got.push(said(error))
    }
    return [got, response.bodyUsed]
  },
  async 'an abort of an answer nobody has read ends the same'(base) {
    const control = new AbortController()
    const response = await post(`${base}/json`, { signal: control.signal })
    await (await post(`${base}/slow`)).text()
    const copy = response.clone()
    control.abort()
    return [await heard(response.text()), await heard(copy.text())]
  },
  async 'an abort after the end changes nothing'(base) {
    const control = new AbortController()
    const response = await post(`${base}/json`, { signal: control.signal })
    const read = await response.text()
    control.abort()
    return [read, response.bodyUsed]
  },
  async 'a time-out ends the same'(base) {
    return heard(post(`${base}/never`, { signal: AbortSignal.timeout(30) }))
  },
  async 'one signal of twenty requests warns nobody'(base) {
    const warned: string[] = []
    const note = ({ name }: Error): void => void warned.push(name)
    process.on('warning', note)
    const { signal } = new AbortController()
    const all = Array.from({ length: 20 }, async () => (await post(`${base}/json`, { signal })).text())
    const got = await Promise.all(all)
    await turns(3)
    process.off('warning', note)
    return [got.length, warned]
  },
  async 'a broken answer breaks the same'(base) {
    return [await heard(post(`${base}/reset`).then((response) => response.text())), await heard(post(`${base}/gone`))]
  },
  async 'what goes out says the same'(base) {
    const headers = new Headers({ 'content-type': 'text/plain', 'x-b': '2', 'x-a': ' 1 ', range: 'bytes=0-' })
    const one = await post(`${base}/echo`, { headers, method: 'PUT', body: 'é\ud800' })
    const other = await post(`${base}/echo?`, { headers: { 'Content-Type': 'text/plain', accept: 'a/b' } })
    return [await one.json(), await other.json()]
  },
  'observers of performance see the same': (base) => observed(base, 'json'),
  'observers of performance see a refused request': (base) => observed(base, '429'),
  'observers of performance see a stream': (base) => observed(base, 'stream'),
  async 'answers that come together reach the agent in the same order'(base) {
    const order: string[] = []
    const ask = async (path: string, more?: RequestInit): Promise<void> => {
      const response = await post(`${base}/${path}`, more)
      order.push(`${path} began`)
      await response.text()
      order.push(`${path} ended`)
    }
    // A stated redirect goes through undici always.
    const slow: RequestInit = { redirect: 'follow' }
    await Promise.all([ask('json', slow), ask('429'), ask('empty', slow), ask('form')])
    return order
  },
  // Recorded whole, and given up in the replay: the tape has the answer, and the agent does not want it.
  async 'what is given up before its answer ends the same'(base) {
    const control = new AbortController()
    const answer = heard(post(`${base}/slow`, { signal: control.signal }).then((response) => response.text()))
    await (await post(`${base}/json`)).text()
    if (inReplay.is) control.abort(new RangeError('mine'))
    return answer
  },
  async 'what is given up at once ends the same'(base) {
    const control = new AbortController()
    const answer = heard(post(`${base}/slow`, { signal: control.signal }).then((response) => response.text()))
    if (inReplay.is) control.abort()
    return answer
  },
  async 'what is given up before the call ends the same'(base) {
    const signal = inReplay.is ? AbortSignal.abort(new RangeError('mine')) : null
    return heard(post(`${base}/slow`, { signal }).then((response) => response.text()))
  },
  async 'what is given up before the call by one of two signals ends the same'(base) {
    const signal = AbortSignal.any([new AbortController().signal, ...(inReplay.is ? [AbortSignal.abort()] : [])])
    return heard(post(`${base}/slow`, { signal }).then((response) => response.text()))
  },
  async 'what is given up before the call and asked again is answered the same'(base) {
    const given = inReplay.is ? await heard(post(`${base}/json`, { signal: AbortSignal.abort() })) : ''
    return [given, await (await post(`${base}/json`)).text()]
  },
  async 'a stream that is given up in the middle ends the same'(base) {
    const control = new AbortController()
    const response = await post(`${base}/stream`, { signal: control.signal })
    const got: string[] = []
    try {
      for await (const piece of response.body ?? []) {
        got.push(text(piece))
        if (inReplay.is && got.length === 2) control.abort()
      }
    } catch (error) {
      got.push(said(error))
    }
    return [got, response.bodyUsed]
  },
  async 'a stream that is given up while nothing of it is there ends the same'(base) {
    const control = new AbortController()
    const reader = (await post(`${base}/stream`, { signal: control.signal })).body!.getReader()
    const got = [text((await reader.read()).value)]
    const more = heard(reader.read().then(({ value }) => text(value)))
    if (inReplay.is) control.abort(new RangeError('mine'))
    return [...got, await more, await heard(rest(reader)), await heard(reader.closed.then(() => 'closed'))]
  },
  async 'both copies of a stream that is given up end the same'(base) {
    const control = new AbortController()
    const response = await post(`${base}/stream`, { signal: control.signal })
    const copy = response.clone()
    const first = copy.body!.getReader()
    const got = [text((await first.read()).value)]
    if (inReplay.is) control.abort()
    first.releaseLock()
    return [...got, await pieces(copy), await pieces(response)]
  },
  async 'a stream whose reader is cancelled ends the same'(base) {
    const reader = (await post(`${base}/stream`)).body!.getReader()
    const got = [text((await reader.read()).value)]
    if (inReplay.is) await reader.cancel('enough')
    return [...got, await heard(rest(reader)), await heard(reader.closed.then(() => 'closed'))]
  },
  async 'a stream that is left in the middle ends the same'(base) {
    const response = await post(`${base}/stream`)
    return [await pieces(response, inReplay.is ? 2 : undefined), response.bodyUsed, tried(() => response.clone())]
  },
  async 'a body that is cancelled ends the same'(base) {
    const response = await post(`${base}/stream`)
    if (inReplay.is) await response.body?.cancel('enough')
    return [await heard(response.text()), response.bodyUsed]
  },
}

async function encoded(base: string, encoding: string): Promise<unknown> {
  const response = await post(`${base}/${encoding}`)
  return [response.headers.get('content-encoding'), await response.text()]
}

async function observed(base: string, path: string): Promise<unknown> {
  const seen: unknown[] = []
  const observer = new PerformanceObserver((list) => {
    // Entries of what ran before may still come.
    for (const entry of list.getEntriesByType('resource')) if (entry.name === `${base}/${path}`) seen.push(facts(entry))
  })
  observer.observe({ entryTypes: ['resource'] })
  await (await post(`${base}/${path}`)).text()
  await turns(3)
  observer.disconnect()
  return seen
}

/** Whether the agents are replayed. */
export const inReplay = { is: false }

type Resource = Readonly<
  Record<'name' | 'initiatorType' | 'encodedBodySize' | 'decodedBodySize' | 'responseStatus', unknown>
>

function facts(entry: object): unknown {
  const { name, initiatorType, encodedBodySize, decodedBodySize, responseStatus } = entry as Resource
  return { name, initiatorType, encodedBodySize, decodedBodySize, responseStatus }
}
