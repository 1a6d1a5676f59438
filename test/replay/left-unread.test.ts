import { createServer, request } from 'node:http'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { request as ask } from 'undici'
import { expect, test } from 'vitest'
import { createRecorder } from '../../src/record/index.ts'
import { replayTape } from '../../src/replay/index.ts'
import { readTape, type Tape } from '../../src/tape/index.ts'
import { served } from '../support/served.ts'
import { temporaryFolder } from '../support/temporary-folder.ts'

/** More than any client takes in that nobody reads from. */
const size = 3_000_000
const server = createServer((incoming, response) => {
  if (incoming.url === '/note') return void response.end('ok')
  response.write('begin')
  setTimeout(() => response.end('x'.repeat(size)), 5)
})
const base = served(server)

const clients: Readonly<Record<string, (reads: boolean) => Promise<unknown>>> = {
  fetch: async (reads) => {
    const response = await fetch(`${base()}/large`)
    return reads ? (await response.text()).length : response.status
  },
  undici: async (reads) => {
    const { body, statusCode } = await ask(`${base()}/large`)
    return reads ? (await body.text()).length : statusCode
  },
  'node:http': (reads) =>
    new Promise((resolve, reject) => {
      const sent = request(`${base()}/large`, (response) => {
        if (!reads) return resolve(response.statusCode)
        let length = 0
        response.on('data', (piece: Buffer) => (length += piece.length)).on('end', () => resolve(length))
      })
      sent.on('error', reject).end()
    }),
}

const agent =
  (name: string, reads: boolean, isStuck = false) =>
  async (): Promise<unknown> => {
    const [read] = await Promise.all([clients[name]!(reads), sleep(50)])
    if (isStuck) await new Promise(() => undefined)
    await (await fetch(`${base()}/note`, { method: 'POST', body: 'done' })).text()
    return read
  }

async function record(run: () => Promise<unknown>): Promise<Tape> {
  const dir = temporaryFolder('left-unread')
  await createRecorder({ dir }).run({ agent: 'desk', id: 'run' }, run)
  return readTape(join(dir, 'run.tape.jsonl'))
}

test.for(Object.keys(clients))(
  '%s: an answer left unread when recorded is left so again, and nothing differs',
  async (name) => {
    const { problems, drift, outcome } = await replayTape(await record(agent(name, false)), agent(name, false))
    expect([problems, drift, outcome]).toEqual([[], [], { status: 'returned', value: 200 }])
  },
)

test.for(Object.keys(clients))(
  '%s: one that is read now is red with what the tape has of it, before the limit',
  async (name) => {
    const tape = await record(agent(name, false))
    const { problems } = await replayTape(tape, agent(name, true), { hangMs: 600_000 } as object)
    expect(problems.map(({ code }) => code)).toEqual(['HARVEST_TAPE_EXHAUSTED'])
    const { answer, bytes } = problems[0]?.facts.where ?? {}
    expect(answer).toMatch(/^step 1, GET 127\.0\.0\.1:\d+\/large$/)
    expect(Number(/^the first (\d+)$/.exec(bytes ?? '')?.[1])).toBeLessThan(size)
    expect(problems[0]?.message).toContain('The recorded agent stopped reading here')
  },
)

test.for(Object.keys(clients))(
  '%s: an agent that hangs beside one it leaves unread hangs for another reason',
  async (name) => {
    const tape = await record(agent(name, false))
    const { problems } = await replayTape(tape, agent(name, false, true), { hangMs: 300 } as object)
    expect(problems.map(({ code }) => code)).toEqual(['HARVEST_AGENT_TIMEOUT'])
  },
)
