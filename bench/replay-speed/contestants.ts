import { once } from 'node:events'
import { readFileSync, writeFileSync } from 'node:fs'
import { createServer } from 'node:http'
import { createRequire } from 'node:module'
import type { AddressInfo } from 'node:net'
import { join, resolve } from 'node:path'
import { text } from 'node:stream/consumers'
import { pathToFileURL } from 'node:url'
import type * as Recording from '../../src/record/index.ts'
import type * as Replaying from '../../src/replay/index.ts'
import type * as Tapes from '../../src/tape/index.ts'
import { memory } from './memory.ts'

/** Where one recording is kept, and whom it asks. */
export interface Place {
  readonly dir: string
  readonly name: string
  readonly upstream: string
}

/** One who can answer calls that were made before. */
export interface Contestant {
  record(place: Place, work: (base: string) => Promise<number>): Promise<void>
  /** Everything a test would pay: reading what was recorded, answering, and its last word. */
  replay(place: Place, work: (base: string) => Promise<number>): Promise<number>
}

/** The others by name: adapters in `bench/peers`. */
export const peers: Readonly<Record<string, { readonly title: string; readonly file: string }>> = {
  undici: { title: 'undici SnapshotAgent', file: 'http/undici.mjs' },
  polly: { title: 'Polly', file: 'http/polly.mjs' },
  nock: { title: 'nock', file: 'http/nock.mjs' },
  agentTestRecorder: { title: 'agent-test-recorder', file: 'http/agent-test-recorder.mjs' },
  aimock: { title: 'aimock', file: 'aimock/aimock.mjs' },
}

export async function contestant(name: string): Promise<Contestant> {
  if (name === 'ours') return ours()
  if (name === 'msw') return msw()
  if (name === 'memory') return memory(await ours())
  if (name === 'verified') return memory(await ours(), (await built<typeof Tapes>('library/tape')).readTape)
  const { file = '' } = peers[name] ?? {}
  const { open } = (await import(pathToFileURL(resolve(import.meta.dirname, '../peers', file)).href)) as Adapter
  const session = async (mode: 'record' | 'replay', place: Place, work: (base: string) => Promise<number>) => {
    const { base, close } = await open(mode, place)
    try {
      return await work(base)
    } finally {
      await close()
    }
  }
  return {
    record: async (place, work) => void (await session('record', place, work)),
    replay: (place, work) => session('replay', place, work),
  }
}

interface Adapter {
  open(mode: 'record' | 'replay', place: Place): Promise<{ readonly base: string; close(): Promise<unknown> }>
}

async function built<T>(door: string): Promise<T> {
  return (await import(pathToFileURL(resolve(`dist/${door}.js`)).href)) as T
}

/** The built package, as an installed one runs. */
async function ours(): Promise<Contestant> {
  const { readTape } = await built<typeof Tapes>('library/tape')
  return {
    async record({ dir, name, upstream }, work) {
      const { createRecorder } = await built<typeof Recording>('record/index')
      await createRecorder({ dir }).run({ agent: 'bench', id: name }, () => work(upstream))
    },
    async replay({ dir, name, upstream }, work) {
      const { replayTape } = await built<typeof Replaying>('replay/index')
      const { outcome, problems, drift } = await replayTape(readTape(join(dir, `${name}.tape.jsonl`)), () =>
        work(upstream),
      )
      if (problems[0]) throw problems[0]
      if (drift.length > 0 || outcome.status !== 'returned') throw new Error('the replay is not the recorded run')
      return outcome.value
    },
  }
}

/** MSW has no recorder: it is given a handler that looks the body up in a file of bodies and answers. */
async function msw(): Promise<Contestant> {
  const file = ({ dir, name }: Place): string => join(dir, `${name}.msw.json`)
  const { resolve: find } = createRequire(resolve(import.meta.dirname, '../peers/http/package.json'))
  const peer = async <T>(name: string): Promise<T> => (await import(pathToFileURL(find(name)).href)) as T
  return {
    async record(place, work) {
      const answers: Record<string, Answer> = {}
      const between = createServer((request, response) => {
        void (async () => {
          const body = await text(request)
          const { headers } = request
          const answer = await fetch(`${place.upstream}${request.url}`, {
            method: 'POST',
            headers: { 'content-type': headers['content-type'] ?? '' },
            body,
          })
          const type = answer.headers.get('content-type') ?? ''
          answers[body] = { type, body: await answer.text() }
          response.writeHead(200, { 'content-type': type }).end(answers[body].body)
        })()
      }).listen(0, '127.0.0.1')
      await once(between, 'listening')
      await work(`http://127.0.0.1:${(between.address() as AddressInfo).port}`)
      between.closeAllConnections()
      between.close()
      writeFileSync(file(place), JSON.stringify(answers))
    },
    async replay(place, work) {
      const { setupServer } = await peer<MswNode>('msw/node')
      const { http, HttpResponse } = await peer<MswCore>('msw')
      const answers = JSON.parse(readFileSync(file(place), 'utf8')) as Record<string, Answer>
      const server = setupServer(
        http.post(`${place.upstream}/v1/chat/completions`, async ({ request }) => {
          const { type, body } = answers[await request.text()] ?? { type: '', body: '' }
          return new HttpResponse(body, { headers: { 'content-type': type } })
        }),
      )
      server.listen({ onUnhandledRequest: 'error' })
      try {
        return await work(place.upstream)
      } finally {
        server.close()
      }
    },
  }
}

interface Answer {
  readonly type: string
  readonly body: string
}

interface MswNode {
  setupServer(handler: unknown): { listen(options: object): void; close(): void }
}

interface MswCore {
  readonly http: { post(url: string, answer: (info: { readonly request: Request }) => Promise<Response>): unknown }
  readonly HttpResponse: new (body: string, init: ResponseInit) => Response
}
