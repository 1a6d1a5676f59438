import type { Mutation } from './mutations.ts'
import type { Random } from './random.ts'
import { type Asked, asked, type AskedOptions } from './request.ts'

type Make = (random: Random) => readonly [recorded: AskedOptions, asked: AskedOptions]

function http(name: string, differs: Mutation['differs'], make: Make): Mutation {
  return {
    name,
    differs,
    pair(random): readonly [Asked, Asked] {
      const [before, now] = make(random)
      return [asked(before), asked(now)]
    },
  }
}

/** Requests to tools and services that are no models. */
export const httpMutations: readonly Mutation[] = [
  http('the path', 'kept', (random) => {
    const n = random.int(10, 99_999)
    const body = JSON.stringify({ amount: random.int(1, 900), note: random.id(5) })
    const [before, now] = random.pick([
      [`/orders/${n}/refund`, `/orders/${n + 1}/refund`],
      [`/orders/${n}/refund`, `/orders/${n}/charge`],
      [`/orders/${n}/refund`, `/orders/${n}/refund/`],
      [`/files/${n}%2Frefund`, `/files/${n}/refund`],
      [`/orders/a${n}/refund`, `/orders/A${n}/refund`],
    ])
    return [
      { path: before ?? '', body },
      { path: now ?? '', body },
    ]
  }),
  http('the query', 'kept', (random) => {
    const n = random.int(10, 99_999)
    const [before, now] = random.pick([
      [`/orders?page=${n}`, `/orders?page=${n + 1}`],
      [`/orders?after=c${n}`, `/orders`],
      [`/orders?id=${n}&id=${n + 1}`, `/orders?id=${n + 1}&id=${n}`],
      [`/orders?q=a${n}`, `/orders?q=A${n}`],
      [`/orders?q=${n}`, `/orders?q=${n}&dry=`],
      [`/orders?q=${n}%26dry%3D1`, `/orders?q=${n}&dry=1`],
    ])
    return [
      { method: 'GET', path: before ?? '' },
      { method: 'GET', path: now ?? '' },
    ]
  }),
  http('the query in another order', 'nowhere', (random) => {
    const [n, m] = [random.int(10, 99_999), random.int(10, 99_999)]
    return [
      { method: 'GET', path: `/orders?page=${n}&from=${m}` },
      { method: 'GET', path: `/orders?from=${m}&page=${n}` },
    ]
  }),
  http('the method', 'kept', (random) => {
    const path = `/orders/${random.int(10, 99_999)}`
    const [before, now] = random.pick([
      ['GET', 'DELETE'],
      ['PUT', 'POST'],
      ['PATCH', 'PUT'],
    ])
    const body = before === 'GET' ? {} : { body: JSON.stringify({ state: random.id(4) }) }
    return [
      { method: before ?? '', path, ...body },
      { method: now ?? '', path, ...body },
    ]
  }),
  http('the host', 'kept', (random) => {
    const made = { path: '/charge', body: JSON.stringify({ amount: random.int(1, 900), id: random.id(8) }) }
    const [before, now] = random.pick([
      ['first', 'second'],
      ['second', 'first'],
      ['first', 'unknown'],
    ] as const)
    return [
      { ...made, host: before },
      { ...made, host: now },
    ]
  }),
  http('one field of a JSON body', 'kept', (random) => {
    const order = { id: `A-${random.int(10, 99_999)}`, amount: random.int(1, 900), tags: ['a', 'b'], note: null }
    const changed = random.pick<Record<string, unknown>>([
      { ...order, amount: order.amount + 1 },
      { ...order, amount: String(order.amount) },
      { ...order, amount: -order.amount },
      { ...order, tags: ['b', 'a'] },
      { ...order, tags: ['a'] },
      { ...order, note: '' },
      { id: order.id, amount: order.amount, tags: order.tags },
      { ...order, ['constructor']: 'x' },
      JSON.parse(`{"__proto__":1,${JSON.stringify(order).slice(1)}`) as Record<string, unknown>,
    ])
    return [
      { path: '/refunds', body: JSON.stringify(order) },
      { path: '/refunds', body: JSON.stringify(changed) },
    ]
  }),
  http('one field of a form', 'kept', (random) => {
    const [order, amount] = [random.int(10, 99_999), random.int(1, 900)]
    const headers = { 'content-type': 'application/x-www-form-urlencoded' }
    return [
      { path: '/form', headers, body: `order=${order}&amount=${amount}` },
      { path: '/form', headers, body: random.pick([`order=${order}&amount=${amount + 1}`, `order=${order}`]) },
    ]
  }),
  http('one part of a multipart body', 'kept', (random) => {
    const [order, file] = [`${random.int(10, 99_999)}`, random.id(40)]
    return [multipart({ order, file }, random), multipart({ order, file: otherLetter(file, random) }, random)]
  }),
  http('another boundary of a multipart body', 'nowhere', (random) => {
    const parts = { order: `${random.int(10, 99_999)}`, file: random.id(40) }
    return [multipart(parts, random), multipart(parts, random)]
  }),
  http('one byte of a binary body', 'kept', (random) => {
    const bytes = Uint8Array.from({ length: random.int(8, 200) }, () => random.int(0, 255))
    const other = Uint8Array.from(bytes)
    const at = random.int(0, bytes.length - 1)
    other[at] = (bytes[at] ?? 0) ^ random.pick([1, 128])
    return [
      { path: '/upload', body: bytes },
      { path: '/upload', body: other },
    ]
  }),
  http('a header that says what is wanted', 'kept', (random) => {
    const made = { method: 'GET', path: `/report/${random.int(10, 99_999)}` }
    const [name, before, now] = random.pick([
      ['accept', 'text/csv', 'application/json'],
      ['accept-language', 'de', 'fr'],
      ['range', 'bytes=0-99', 'bytes=100-199'],
      ['x-amz-target', 'Orders.Get', 'Orders.Cancel'],
      ['anthropic-beta', 'files-1', 'files-2'],
      ['openai-project', 'shop', 'bank'],
      ['prefer', 'return=minimal', 'return=representation'],
      ['last-event-id', '7', '8'],
    ])
    return [
      { ...made, headers: { [name ?? '']: before ?? '' } },
      { ...made, headers: { [name ?? '']: now ?? '' } },
    ]
  }),
  http('the conversation a provider keeps', 'kept', (random) => {
    const body = { model: 'invented-large-1', input: 'And now?', previous_response_id: `resp_${random.id(12)}` }
    const other = { ...body, previous_response_id: otherLetter(body.previous_response_id, random) }
    return [
      { path: '/v1/responses', body: JSON.stringify(body) },
      { path: '/v1/responses', body: JSON.stringify(other) },
    ]
  }),
  http('a text to embed', 'kept', (random) => {
    const input = `Order ${random.int(10, 99_999)} of ${random.id(5)}`
    const body = { model: 'invented-embed-1', input }
    return [
      { path: '/v1/embeddings', body: JSON.stringify(body) },
      { path: '/v1/embeddings', body: JSON.stringify({ ...body, input: otherLetter(input, random) }) },
    ]
  }),
  http('an address, card or key in a body', 'not kept', (random) => {
    const order = random.int(10, 99_999)
    const [before, now] = random.pick<readonly [object, object]>([
      [{ to: `${random.id(6)}@teahouse.example` }, { to: `${random.id(6)}@teahouse.example` }],
      [{ card: card(random) }, { card: card(random) }],
      [{ password: random.id(12) }, { password: random.id(12) }],
    ])
    return [
      { path: '/send', body: JSON.stringify({ order, ...before }) },
      { path: '/send', body: JSON.stringify({ order, ...now }) },
    ]
  }),
  http('a value of a query that looks like a key', 'not kept', (random) => {
    const [name, order] = [random.pick(['token', 'key', 'code']), random.int(10, 99_999)]
    return [
      { method: 'GET', path: `/pages?order=${order}&${name}=${random.id(20)}7` },
      { method: 'GET', path: `/pages?order=${order}&${name}=${random.id(20)}7` },
    ]
  }),
  http('a header nobody knows', 'not kept', (random) => {
    const made = { method: 'GET', path: `/balance/${random.int(10, 99_999)}` }
    const name = random.pick(['x-shop-id', 'authorization', 'cookie'])
    return [
      { ...made, headers: { [name]: 'a1' } },
      { ...made, headers: { [name]: 'b2' } },
    ]
  }),
]

function multipart(parts: Readonly<Record<string, string>>, random: Random): AskedOptions {
  const boundary = `----form-${random.id(16)}`
  const body = Object.entries(parts).map(
    ([name, value]) => `--${boundary}\r\ncontent-disposition: form-data; name="${name}"\r\n\r\n${value}\r\n`,
  )
  return {
    path: '/files',
    headers: { 'content-type': `multipart/form-data; boundary=${boundary}` },
    body: `${body.join('')}--${boundary}--\r\n`,
    says: JSON.stringify(parts),
  }
}

/** A number whose last digit fits the others, as those of cards do. */
function card(random: Random): string {
  const digits = `4${random.int(1e6, 9e6)}${random.int(1e6, 9e6)}`
  const sum = [...digits].reduce((total, digit, i) => {
    const twice = Number(digit) * (i % 2 === 0 ? 2 : 1)
    return total + (twice > 9 ? twice - 9 : twice)
  }, 0)
  return `${digits}${(10 - (sum % 10)) % 10}`
}

function otherLetter(text: string, random: Random): string {
  const at = random.int(text.length - 5, text.length - 1)
  return `${text.slice(0, at)}${text[at] === 'x' ? 'y' : 'x'}${text.slice(at + 1)}`
}
