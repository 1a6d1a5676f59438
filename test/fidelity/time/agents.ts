import { pbkdf2 } from 'node:crypto'
import { Readable } from 'node:stream'
import { scheduler, setInterval as every, setTimeout as sleep } from 'node:timers/promises'
import { promisify } from 'node:util'
import { createGzip, gzip } from 'node:zlib'
import Anthropic from '@anthropic-ai/sdk'
import { createOpenAI } from '@ai-sdk/openai'
import { generateText } from 'ai'
import axios from 'axios'
import got from 'got'
import { complete, openai } from '../scenarios/streams.ts'
import type { Place } from '../scenarios/scenario.ts'

/** What of an agent is other code in the replay than in the recording; absent: nothing. */
export interface TimeChange {
  readonly ms?: number
  readonly isSerial?: boolean
}

/** One way in which an agent and time meet. */
export interface TimeAgent {
  readonly run: (place: Place, change: TimeChange) => Promise<unknown>
  /** Wide pauses put into the tape after it was recorded: before the request or the first byte of the answer of a step. */
  readonly pause?: { readonly before: 'request' | 'answer'; readonly step: number; readonly ms: number }
  /** The code that is replayed, where that is another one. */
  readonly change?: TimeChange
  /** Comes out otherwise on a tape that has no timers: of recorders before 0.2, or of a run with too many. */
  readonly needsTimers?: true
}

const minute = 60_000
/** A program that works: no timer fires meanwhile, and nothing is seen of it. */
function work(ms: number): void {
  const end = process.hrtime.bigint() + BigInt(ms) * 1_000_000n
  while (process.hrtime.bigint() < end);
}

const ask = async (place: Place, ms: number, init?: RequestInit): Promise<string> =>
  (await fetch(`${place.faulty(`lat${ms}`)}/tool/after-${ms}`, init)).text()

/** Gives up after `limitMs`, as clients do that set a timer of their own. */
async function within(place: Place, ms: number, limitMs: number): Promise<string> {
  const controller = new AbortController()
  const limit = setTimeout(() => controller.abort(new Error('it took too long')), limitMs)
  return await ask(place, ms, { signal: controller.signal }).finally(() => clearTimeout(limit))
}

declare const WebAssembly: { readonly compile: (bytes: Uint8Array) => Promise<unknown> }

/** Work on other threads, of which nothing is seen on the tape: 0.1 to 1 s. */
const toils = {
  pbkdf2: async () => await promisify(pbkdf2)('password', 'salt', 400_000, 64, 'sha512'),
  'crypto.subtle': async () => {
    const key = await crypto.subtle.importKey('raw', Buffer.from('password'), 'PBKDF2', false, ['deriveBits'])
    const how = { name: 'PBKDF2', hash: 'SHA-512', salt: Buffer.from('salt'), iterations: 400_000 }
    return await crypto.subtle.deriveBits(how, key, 512)
  },
  gzip: async () => await promisify(gzip)(noise(8_000_000)),
  'a stream of gzip': async () => {
    const zipped = Readable.from([noise(4_000_000), noise(4_000_000)]).pipe(createGzip())
    for await (const piece of zipped) if (!Buffer.isBuffer(piece)) throw new Error('not bytes')
  },
  'WebAssembly.compile': async () => await WebAssembly.compile(bigModule()),
} satisfies Record<string, () => Promise<unknown>>

/** A module of 5,000 functions. */
function bigModule(): Buffer<ArrayBuffer> {
  const number = (value: number): number[] => (value < 0x80 ? [value] : [(value & 0x7f) | 0x80, ...number(value >>> 7)])
  const part = (id: number, bytes: Buffer): Buffer => Buffer.concat([Buffer.from([id, ...number(bytes.length)]), bytes])
  const [count, steps] = [5_000, Array.from({ length: 1_000 }, () => [0x41, 1, 0x1a]).flat()]
  const body = Buffer.from([0, ...steps, 0x0b])
  const code = Buffer.concat([Buffer.from(number(body.length)), body])
  return Buffer.concat([
    Buffer.from([0, 0x61, 0x73, 0x6d, 1, 0, 0, 0]),
    part(1, Buffer.from([1, 0x60, 0, 0])),
    part(3, Buffer.from([...number(count), ...Array.from({ length: count }, () => 0)])),
    part(10, Buffer.concat([Buffer.from(number(count)), ...Array.from({ length: count }, () => code)])),
  ])
}

/** Bytes that are hard to compress, the same each time. */
function noise(length: number): Buffer {
  const bytes = Buffer.alloc(length)
  for (let at = 0, last = 42; at < length; at++) bytes[at] = last = (last * 1_103_515_245 + 12_345) & 0x7fffffff
  return bytes
}

const failing = async (asked: Promise<unknown>): Promise<unknown> => asked.catch((error: Error) => error.message)

async function ticksWhile(everyMs: number, asked: Promise<unknown>): Promise<number> {
  let ticks = 0
  const timer = setInterval(() => ticks++, everyMs)
  await asked
  clearInterval(timer)
  return ticks
}

/** A model call of each client with its own time limit. */
const clients = {
  openai: (place, limitMs) => complete(openai(place, 'lat40', { timeout: limitMs, maxRetries: 0 })),
  anthropic: async (place, limitMs) => {
    const client = new Anthropic({ apiKey: 'key', baseURL: place.faulty('lat40'), timeout: limitMs, maxRetries: 0 })
    return (await client.messages.create({ model: 'm', max_tokens: 9, messages: [{ role: 'user', content: 'x' }] }))
      .content
  },
  'the AI SDK': async (place, limitMs) => {
    const model = createOpenAI({ apiKey: 'key', baseURL: `${place.faulty('lat40')}/v1` }).chat('m')
    return (await generateText({ model, prompt: 'x', maxRetries: 0, abortSignal: AbortSignal.timeout(limitMs) })).text
  },
  axios: async (place, limitMs) =>
    (await axios.get<unknown>(`${place.faulty('lat40')}/tool/a`, { timeout: limitMs })).data,
  'axios with a signal': async (place, limitMs) =>
    (await axios.get<unknown>(`${place.faulty('lat40')}/tool/a`, { signal: AbortSignal.timeout(limitMs) })).data,
  got: (place, limitMs) => got(`${place.faulty('lat40')}/tool/a`, { timeout: { request: limitMs } }).text(),
  fetch: (place, limitMs) => ask(place, 40, { signal: AbortSignal.timeout(limitMs) }),
} satisfies Record<string, (place: Place, limitMs: number) => Promise<unknown>>

function ofClients(
  name: (client: string) => string,
  agent: (call: (place: Place, limitMs: number) => Promise<unknown>) => TimeAgent,
): Readonly<Record<string, TimeAgent>> {
  return Object.fromEntries(Object.entries(clients).map(([client, call]) => [name(client), agent(call)]))
}

/** Each is recorded with real timers and has to come out the same in a replay. */
export const timeAgents: Readonly<Record<string, TimeAgent>> = {
  ...ofClients(
    (client) => `${client}: seven seconds of work, then a call with a time limit of five`,
    (call) => ({
      run: async (place) => {
        await ask(place, 20)
        work(30)
        return await call(place, 5_000)
      },
      pause: { before: 'request', step: 2, ms: 7_000 },
    }),
  ),
  ...ofClients(
    (client) => `${client}: two calls eleven minutes apart, each with a time limit of ten`,
    (call) => ({
      run: async (place) => [await call(place, 10 * minute), await call(place, 10 * minute)],
      pause: { before: 'request', step: 2, ms: 11 * minute },
    }),
  ),
  ...ofClients(
    (client) => `${client}: a machine that slept for eleven minutes under a time limit of ten`,
    (call) => ({
      run: async (place) => [await ask(place, 20), await call(place, 10 * minute)],
      pause: { before: 'answer', step: 2, ms: 11 * minute },
      needsTimers: true,
    }),
  ),
  'an unreferenced timer after the last answer': {
    run: async (place) => {
      await ask(place, 20)
      await new Promise((done) => setTimeout(done, 60).unref())
      return 'waited'
    },
  },
  'an unreferenced timer that is set longer now': {
    run: async (place, { ms = 30 }) => {
      await ask(place, 20)
      await new Promise((done) => setTimeout(done, ms).unref())
      return 'waited'
    },
    change: { ms: 5_000 },
  },
  'an interval of 20 during an answer of 310': { run: (place) => ticksWhile(20, ask(place, 310)), needsTimers: true },
  'an interval of 5 during an answer of 1000': { run: (place) => ticksWhile(5, ask(place, 1000)), needsTimers: true },
  'an interval of 100 during an answer of 1002': {
    run: (place) => ticksWhile(100, ask(place, 1002)),
    needsTimers: true,
  },
  'an interval read as an iterable during an answer of 200': {
    run: async (place) => {
      let [ticks, isOver] = [0, false]
      const asked = ask(place, 200).then(() => (isOver = true))
      for await (const _ of every(15)) {
        if (isOver) break
        ticks++
      }
      await asked
      return ticks
    },
    needsTimers: true,
  },
  'seven seconds of work before a call that the agent itself limits to five': {
    run: async (place) => {
      await ask(place, 20)
      work(30)
      return await within(place, 40, 5_000)
    },
    pause: { before: 'request', step: 2, ms: 7_000 },
  },
  'work of 150 between AbortSignal.timeout(100) and the call': {
    run: async (place) => {
      await ask(place, 20)
      const signal = AbortSignal.timeout(100)
      work(150)
      return await failing(ask(place, 40, { signal }))
    },
  },
  ...Object.fromEntries(
    Object.entries(toils).map(([name, toil]): [string, TimeAgent] => [
      `${name} before the next question, beside an answer of 3000`,
      {
        run: async (place) => {
          const order: string[] = []
          const heard = (name: string): void => void order.push(name)
          const slow = ask(place, 3_000).then(() => heard('slow'))
          await ask(place, 5).then(() => heard('first'))
          await toil()
          await ask(place, 6).then(() => heard('second'))
          await slow
          return order
        },
      },
    ]),
  ),
  'a flag that is set after 80, during work of 150': {
    run: async (place) => {
      let isSlow = false
      await ask(place, 5)
      setTimeout(() => (isSlow = true), 80)
      work(150)
      await ask(place, 40)
      return isSlow
    },
    needsTimers: true,
  },
  // A busy machine may wake a process so late that an answer overtakes a timer that was due before it, and a tape without
  // timers cannot say so: far apart, they cannot change places.
  'a wait of 80 that is over before an answer of 1000': {
    run: (place) => Promise.race([ask(place, 1000), sleep(80, 'waited')]),
  },
  'an answer of 60 that comes before a wait of 2000 is over': {
    run: (place) => Promise.race([ask(place, 60), scheduler.wait(2000).then(() => 'waited')]),
  },
  // Its reason stands on the tape as an error of the connection: which of the two came first, only the timer says.
  'a limit of 60 on an answer of 200': { run: (place) => failing(within(place, 200, 60)), needsTimers: true },
  'a flag that is set after 100 during an answer of 1000': {
    run: async (place) => {
      let isSlow = false
      setTimeout(() => (isSlow = true), 100)
      await ask(place, 1000)
      return isSlow
    },
  },
  'back-off of 30 and 60': {
    run: async (place) => {
      const seen: number[] = []
      for (let wait = 30; wait < 100; wait *= 2) {
        seen.push((await fetch(`${place.faulty('429x2')}/tool/again`)).status)
        await sleep(wait)
      }
      return seen
    },
  },
  'polls every 40 until 200 have passed': {
    run: async (place) => {
      let polls = 0
      for (const start = Date.now(); Date.now() - start < 200; polls++) await sleep(40)
      await ask(place, 5)
      return polls
    },
  },
  'a limit that is nearly reached, set late': {
    run: async (place) => {
      // The tape has no event until the first request, which is later than the timer.
      work(40)
      const waited = sleep(60, 'waited')
      return await Promise.race([ask(place, 45), waited])
    },
    needsTimers: true,
  },
  'calls made at once when recorded and one after the other now': {
    run: async (place, { isSerial }) => {
      const calls = [() => within(place, 150, 10 * minute), () => ask(place, 30), () => ask(place, 31)]
      if (!isSerial) return await Promise.all(calls.map((call) => call()))
      const answers: string[] = []
      for (const call of calls) answers.push(await call())
      return answers
    },
    change: { isSerial: true },
  },
  'model calls made at once when recorded and one after the other now': {
    run: async (place, { isSerial }) => {
      const calls = Object.values(clients).map((call) => () => call(place, 10 * minute))
      if (!isSerial) return await Promise.all(calls.map((call) => call()))
      const answers: unknown[] = []
      for (const call of calls) answers.push(await call())
      return answers
    },
    change: { isSerial: true },
  },
}
