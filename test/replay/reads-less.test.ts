import { createServer, type ServerResponse } from 'node:http'
import { once } from 'node:events'
import type { AddressInfo } from 'node:net'
import { join } from 'node:path'
import zlib from 'node:zlib'
import OpenAI from 'openai'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { createRecorder, tools } from '../../src/record/index.ts'
import { replayTape } from '../../src/replay/index.ts'
import type { ReplayOptions, ReplayResult } from '../../src/match/types.ts'
import { readTape, type Tape } from '../../src/tape/index.ts'
import { served } from '../support/served.ts'
import { temporaryFolder } from '../support/temporary-folder.ts'

const words = ['Refund', ' of', ' 25', ' EUR']
const wait = (ms: number): Promise<void> => new Promise((resolve) => setTimeout(resolve, ms))

/** Says a word, and the next one only some time later: whoever stops reading is heard in between. */
const server = createServer((request, response) => {
  request.resume().on('end', () => {
    void (async () => {
      response.setHeader('content-type', 'text/event-stream')
      for (const content of words) {
        response.write(`data: ${JSON.stringify({ id: 'c-1', choices: [{ index: 0, delta: { content } }] })}\n\n`)
        await wait(50)
      }
      response.end('data: [DONE]\n\n')
    })()
  })
})
const base = served(server)

async function listening(
  answer: (response: ServerResponse) => void,
): Promise<{ readonly url: string } & AsyncDisposable> {
  const own = createServer((request, response) => void request.resume().on('end', () => answer(response)))
  await once(own.listen(0, '127.0.0.1'), 'listening')
  const url = `http://127.0.0.1:${(own.address() as AddressInfo).port}/`
  return { url, [Symbol.asyncDispose]: async () => own.close().closeAllConnections() }
}

const desk = tools({
  note: async () => 'noted',
  feed: async function* () {
    for (const word of words) {
      await wait(5)
      yield word
    }
  },
})

/** Each reads an answer that comes in pieces, to its end or not. */
const readers = {
  'a loop over a stream of the SDK': async (isWhole: boolean) => {
    const client = new OpenAI({ apiKey: 'none', baseURL: base(), maxRetries: 0 })
    const messages = [{ role: 'user', content: 'How much?' }] as const
    const stream = await client.chat.completions.create({ model: 'gpt-5', stream: true, messages: [...messages] })
    for await (const _ of stream) if (!isWhole) break
  },
  'a loop over a body': async (isWhole: boolean) => {
    const { body } = await fetch(base(), { method: 'POST', body: '{}' })
    for await (const _ of body ?? []) if (!isWhole) break
  },
  'a body that is cancelled': async (isWhole: boolean) => {
    const response = await fetch(base(), { method: 'POST', body: '{}' })
    await (isWhole ? response.text() : response.body?.cancel())
  },
  'a request that is aborted': async (isWhole: boolean) => {
    const control = new AbortController()
    const response = await fetch(base(), { method: 'POST', body: '{}', signal: control.signal })
    if (isWhole) await response.text()
    else control.abort()
  },
  'a loop over the pieces of a tool': async (isWhole: boolean) => {
    for await (const _ of desk.feed()) if (!isWhole) break
  },
} as const
const names = Object.keys(readers) as readonly (keyof typeof readers)[]

const agent = (name: keyof typeof readers, isWhole: boolean) => async (): Promise<unknown> => {
  await readers[name](isWhole)
  return desk.note()
}

async function record(run: () => Promise<unknown>): Promise<Tape> {
  const dir = temporaryFolder('reads')
  await createRecorder({ dir }).run({ agent: 'desk', id: 'run' }, run)
  return readTape(join(dir, 'run.tape.jsonl'))
}

const replay = (tape: Tape, run: () => Promise<unknown>, options: ReplayOptions = {}): Promise<ReplayResult> =>
  replayTape(tape, run, { ...options, hangMs: 1_500 } as ReplayOptions)

describe('an agent that stops reading an answer', () => {
  test.for(names)('%s: is listed when it read on to the end when recorded', async (name) => {
    const tape = await record(agent(name, true))
    const same = await replay(tape, agent(name, true))
    expect([same.problems, same.drift]).toEqual([[], []])
    const { problems, drift } = await replay(tape, agent(name, false))
    expect(problems).toEqual([])
    expect(drift).toMatchObject([{ class: 'awaits', policy: 'report', stepNumber: 1, path: 'end of the answer' }])
    expect(drift[0]?.recorded).toMatch(/^read to its end, [45] pieces$/)
    expect(drift[0]?.live).toMatch(/^given up after [01] of [45] pieces$/)
    const strict = await replay(tape, agent(name, false), { drift: { awaits: 'fail' } })
    expect(strict.problems.map(({ message }) => message)).toEqual([
      expect.stringMatching(/^The agent waits for less or more than when this run was recorded: step 1, /),
    ])
  })

  test.for(['gzip', 'deflate', 'br', 'zstd'] as const)(
    'of %s, at its last word: is the same, with the check sum behind it or not',
    async (coding) => {
      const packer = {
        gzip: zlib.createGzip,
        deflate: zlib.createDeflate,
        br: zlib.createBrotliCompress,
        zstd: zlib.createZstdCompress,
      }
      await using packed = await listening((response) => {
        response.setHeader('content-encoding', coding)
        const stream = packer[coding]()
        stream.pipe(response)
        void (async () => {
          for (const word of words) {
            stream.write(word)
            await new Promise<void>((done) => stream.flush(done))
            await wait(20)
          }
          stream.end()
        })()
      })
      const reads = (last?: string) => async (): Promise<unknown> => {
        const decoder = new TextDecoder()
        for await (const piece of (await fetch(packed.url)).body!)
          if (last !== undefined && decoder.decode(piece).includes(last)) break
        return desk.note()
      }
      const tape = await record(reads())
      const atLastWord = await replay(tape, reads('EUR'))
      expect([atLastWord.problems, atLastWord.drift]).toEqual([[], []])
      const before = await replay(tape, reads('25'))
      expect(before.drift).toMatchObject([{ class: 'awaits', path: 'end of the answer' }])
    },
  )

  test.for(names)('%s: is red when it did so when recorded, and reads on now', async (name) => {
    const tape = await record(agent(name, false))
    const same = await replay(tape, agent(name, false))
    expect([same.problems, same.drift]).toEqual([[], []])
    const { problems } = await replay(tape, agent(name, true))
    expect(problems.map(({ code, message }) => [code, message.split('\n')[0]])).toEqual([
      ['HARVEST_TAPE_EXHAUSTED', 'The agent reads an answer further than it did when recorded'],
    ])
    expect(problems[0]?.message).toMatch(/\banswer +step 1, [^]*\brecorded +[0-2] pieces?\n/)
    expect(problems[0]?.facts.where?.['at']).toMatch(/^test\/replay\/reads-less\.test\.ts:\d+:\d+$/)
  })
})

describe('an agent that gives up a stream at the event that says it is done', () => {
  /** The connection stays open for some time behind the last event. */
  const lingering = createServer((request, response) => {
    request.resume().on('end', () => {
      response.setHeader('content-type', 'text/event-stream')
      const delta = { role: 'assistant', content: 'Refund of 25 EUR' }
      response.write(
        `data: ${JSON.stringify({ id: 'c-1', choices: [{ index: 0, delta, finish_reason: 'stop' }] })}\n\n`,
      )
      response.write('data: [DONE]\n\n')
      setTimeout(() => response.end(), 400)
    })
  })
  let url = ''
  beforeAll(async () => {
    await once(lingering.listen(0, '127.0.0.1'), 'listening')
    url = `http://127.0.0.1:${(lingering.address() as AddressInfo).port}/v1/chat/completions`
  })
  afterAll(() => {
    lingering.close()
  })

  const ask = (stream: boolean): Promise<Response> => {
    const messages = [{ role: 'user', content: 'How much?' }]
    return fetch(url, { method: 'POST', body: JSON.stringify({ model: 'gpt-5', messages, ...(stream && { stream }) }) })
  }
  const untilDone = async (): Promise<void> => {
    let text = ''
    const decoder = new TextDecoder()
    // Leaving the loop cancels the body, as SDKs do.
    for await (const piece of (await ask(true)).body ?? [])
      if ((text += decoder.decode(piece as Uint8Array)).includes('[DONE]')) break
  }

  test('had the whole answer: one that reads to the end, or asks for it whole, is the same', async () => {
    const tape = await record(untilDone as () => Promise<unknown>)
    const [step] = tape.events
    expect(step).toMatchObject({ kind: 'exchange', response: { end: [expect.any(Number), expect.any(Number)] } })
    expect(step).not.toHaveProperty('aborted')
    for (const run of [untilDone, async () => (await ask(true)).text(), async () => (await ask(false)).json()]) {
      const { problems, drift } = await replay(tape, run as () => Promise<unknown>)
      expect([problems, drift]).toEqual([[], []])
    }
  })
})
