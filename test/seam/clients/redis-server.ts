import { createServer, type Socket } from 'node:net'
import { type Listening, listening } from './both.ts'

type Value = string | Map<string, string> | string[]
type Reply = string | number | bigint | null | Error | readonly Reply[] | { readonly simple: string }

const ok = { simple: 'OK' } as const
const bulk = (value: string): string => `$${value.length}\r\n${value}\r\n`

/** As much of Redis as the tests ask: RESP 2 and 3, bytes as latin1. */
export function redisServer(): Promise<Listening> {
  const data = new Map<string, Value>()
  const hash = (key: string): Map<string, string> => {
    const value = data.get(key) ?? new Map<string, string>()
    if (!(value instanceof Map)) throw new Error('WRONGTYPE Operation against a key holding the wrong kind of value')
    data.set(key, value)
    return value
  }
  const list = (key: string): string[] => {
    const value = data.get(key) ?? []
    if (!Array.isArray(value)) throw new Error('WRONGTYPE Operation against a key holding the wrong kind of value')
    data.set(key, value)
    return value
  }
  const commands: Readonly<Record<string, (args: readonly string[]) => Reply>> = {
    PING: () => ({ simple: 'PONG' }),
    CLIENT: () => ok,
    SELECT: () => ok,
    INFO: () => 'redis_version:7.0.0\r\nloading:0\r\n',
    WATCH: () => ok,
    SET: ([key = '', value = '']) => (data.set(key, value), ok),
    GET: ([key = '']) => {
      const value = data.get(key) ?? null
      if (value !== null && typeof value !== 'string')
        throw new Error('WRONGTYPE Operation against a key holding the wrong kind of value')
      return value
    },
    MGET: (keys) => keys.map((key) => (data.get(key) as string | undefined) ?? null),
    DEL: (keys) => keys.filter((key) => data.delete(key)).length,
    INCRBY: ([key = '', by = '']) => {
      const value = BigInt((data.get(key) as string | undefined) ?? 0) + BigInt(by)
      data.set(key, `${value}`)
      return value
    },
    HSET: ([key = '', ...pairs]) => {
      for (let i = 0; i < pairs.length; i += 2) hash(key).set(pairs[i] ?? '', pairs[i + 1] ?? '')
      return pairs.length / 2
    },
    HGETALL: ([key = '']) => [...hash(key)].flat(),
    RPUSH: ([key = '', ...values]) => list(key).push(...values),
    LRANGE: ([key = '']) => list(key),
    SCAN: () => ['0', [...data.keys()].sort()],
    TYPE: ([key = '']) => ({ simple: typeof data.get(key) === 'string' ? 'string' : 'none' }),
    EVAL: ([script = '']) => `ran ${script}`,
    PUBLISH: () => 0,
  }
  return listening(createServer((socket) => serve(socket, commands)))
}

function serve(socket: Socket, commands: Readonly<Record<string, (args: readonly string[]) => Reply>>): void {
  let text = ''
  let queued: (() => Reply)[] | undefined
  const run = (words: readonly string[]): Reply => {
    const [name = '', ...args] = words
    const command = commands[name.toUpperCase()]
    try {
      return command ? command(args) : new Error(`ERR unknown command '${name}'`)
    } catch (error) {
      return error as Error
    }
  }
  const answer = (words: readonly string[]): Reply => {
    const name = words[0]?.toUpperCase()
    if (name === 'MULTI') {
      queued = []
      return ok
    }
    if (name === 'EXEC') {
      const all = queued ?? []
      queued = undefined
      return all.map((one) => one())
    }
    if (!queued) return run(words)
    queued.push(() => run(words))
    return { simple: 'QUEUED' }
  }
  socket.on('error', () => undefined)
  socket.on('data', (bytes) => {
    text += (bytes as Buffer).toString('latin1')
    for (let taken = take(text); taken !== undefined; taken = take(text)) {
      text = text.slice(taken.end)
      socket.write(
        Buffer.from(
          taken.words[0]?.toUpperCase() === 'HELLO' ? hello(taken.words[1]) : spelled(answer(taken.words)),
          'latin1',
        ),
      )
    }
  })
}

function hello(version = '2'): string {
  const fields = ['server', 'redis', 'version', '7.0.0', 'proto']
  return `${version === '3' ? '%3' : '*6'}\r\n${fields.map(bulk).join('')}:${version}\r\n`
}

function spelled(reply: Reply): string {
  if (reply === null) return '$-1\r\n'
  if (typeof reply === 'string') return bulk(reply)
  if (typeof reply === 'number' || typeof reply === 'bigint') return `:${reply}\r\n`
  if (reply instanceof Error) return `-${reply.message}\r\n`
  return 'simple' in reply ? `+${reply.simple}\r\n` : `*${reply.length}\r\n${reply.map(spelled).join('')}`
}

function take(text: string): { readonly words: readonly string[]; readonly end: number } | undefined {
  const head = /^\*(\d+)\r\n/.exec(text)
  if (!head) return undefined
  let end = head[0].length
  const words: string[] = []
  for (let i = 0; i < Number(head[1]); i++) {
    const length = /^\$(\d+)\r\n/.exec(text.slice(end, end + 16))
    if (!length) return undefined
    const from = end + length[0].length
    const to = from + Number(length[1])
    if (text.length < to + 2) return undefined
    words.push(text.slice(from, to))
    end = to + 2
  }
  return { words, end }
}
