import { spawn } from 'node:child_process'
import { once } from 'node:events'
import http from 'node:http'
import net, { type AddressInfo } from 'node:net'
import { Worker } from 'node:worker_threads'
import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest'
import { guardLoading, installReplay, replayTape } from '../../src/replay/index.ts'
import { currentFlags, parseTape, serializeTape } from '../../src/tape/index.ts'

/** A tape on which nothing happened. */
const idle = parseTape(
  serializeTape(
    {
      harvest: 1,
      id: 'idle',
      agent: 'idle',
      startedAt: '2026-01-01T00:00:00.000Z',
      recorder: 'test',
      flags: currentFlags,
      pins: { node: process.versions.node },
    },
    [],
    { n: 0, at: 1, outcome: { status: 'returned' } },
  ),
  'idle',
)
const heard: string[] = []
const database = net.createServer((socket) =>
  socket
    .on('error', () => undefined)
    .on('data', (data) => {
      heard.push(`row asked: ${String(data)}`)
      socket.write('row')
    }),
)
const web = http.createServer({ keepAliveTimeout: 120_000 }, (request, response) => {
  heard.push(`request: ${request.url}`)
  response.end('live')
})
const portOf = (server: net.Server) => (server.address() as AddressInfo).port
const codes = async (agent: () => Promise<unknown>, hangMs = 10_000) => {
  const { problems } = await replayTape(idle, agent, { hangMs } as object)
  return problems.map(({ code }) => code)
}

beforeAll(async () => {
  await installReplay()
  await once(database.listen(0, '127.0.0.1'), 'listening')
  await once(web.listen(0, '127.0.0.1'), 'listening')
})
beforeEach(() => {
  heard.length = 0
})
afterAll(() => {
  web.closeAllConnections()
  web.close()
  database.close()
})

describe('what was opened before the run carries nothing of it into the world', () => {
  test('a socket of a database pool', async () => {
    const socket = net.connect(portOf(database), '127.0.0.1')
    socket.on('error', () => undefined)
    await once(socket, 'connect')
    const query = (): Promise<unknown> => {
      socket.write('SELECT 1')
      return once(socket, 'data')
    }
    expect((await codes(query))[0]).toBe('HARVEST_ESCAPE')
    expect(heard).toEqual([])
    socket.destroy()
  })

  test('a child process', async () => {
    const child = spawn(process.execPath, ['-e', 'process.stdin.on("data", (d) => process.stdout.write(d))'])
    child.stdin.on('error', () => undefined)
    const said = (): Promise<unknown> => {
      child.stdin.write('hello\n')
      return once(child.stdout, 'data')
    }
    expect((await codes(said, 300))[0]).toBe('HARVEST_ESCAPE')
    child.kill()
  })

  test('a worker thread', async () => {
    const worker = new Worker('require("node:worker_threads").parentPort.on("message", () => {})', { eval: true })
    const told = async (): Promise<void> => worker.postMessage('hello')
    expect(await codes(told)).toEqual(['HARVEST_ESCAPE'])
    await worker.terminate()
  })

  describe('a queue whose worker belongs to no run,', () => {
    const keepAlive = new http.Agent({ keepAlive: true })
    const clients = {
      fetch: async () => (await fetch(`http://127.0.0.1:${portOf(web)}/queued`)).text(),
      'node:http': () =>
        new Promise<string>((resolve, reject) => {
          http
            .get(`http://127.0.0.1:${portOf(web)}/queued`, { agent: keepAlive }, (response) => {
              response.resume().on('end', () => resolve('live'))
            })
            .on('error', reject)
        }),
    }
    afterAll(() => keepAlive.destroy())

    test.each(Object.entries(clients))('with %s', async (_, ask) => {
      const jobs: (() => void)[] = []
      const poller = setInterval(() => jobs.shift()?.(), 2)
      const queued = (): Promise<unknown> =>
        new Promise((resolve, reject) => {
          jobs.push(() => void ask().then(resolve, reject))
        })
      // Over a connection of its own, over one from before, and over one that was let through when something else was on.
      const before = [() => undefined, ask, () => guardLoading(ask, ['socket 127.0.0.1:*'])]
      for (const [i, prepare] of before.entries()) {
        web.closeAllConnections()
        await prepare()
        heard.length = 0
        expect(await codes(queued), `${i}`).toEqual(['HARVEST_ESCAPE'])
        expect(heard).toEqual([])
      }
      clearInterval(poller)
    })
  })

  test('and once the replay is over the world is open again', async () => {
    await codes(() => Promise.resolve())
    expect(await (await fetch(`http://127.0.0.1:${portOf(web)}/after`)).text()).toBe('live')
  })
})

describe('while the modules of an agent load', () => {
  const connects = async (): Promise<string> => (await fetch(`http://127.0.0.1:${portOf(web)}/loading`)).text()

  test('the way to the world is shut', async () => {
    await expect(guardLoading(connects)).rejects.toMatchObject({ code: 'HARVEST_ESCAPE' })
    expect(heard).toEqual([])
  })

  test('what is on the list gets through', async () => {
    web.closeIdleConnections()
    expect(await guardLoading(connects, ['socket 127.0.0.1:*'])).toBe('live')
  })

  test('a module that throws for reasons of its own throws those', async () => {
    await expect(guardLoading(() => Promise.reject(new RangeError('own')))).rejects.toThrow('own')
  })
})

test('code of a worker that stands in no file is allowed by the digest that the refusal prints, and no other code is', async () => {
  const run = (code: string) => async (): Promise<number> => {
    const [exit] = (await once(new Worker(code, { eval: true }), 'exit')) as [number]
    return exit
  }
  const code = `// a program of several lines, with 'quotes'\nprocess.exit(0)\n`
  const refused = await replayTape(idle, run(code))
  const allow = /allow: \['(worker eval:[0-9a-f]{16})'\]/.exec(refused.problems[0]?.message ?? '')?.[1] ?? ''
  expect(allow).not.toBe('')
  const allowed = await replayTape(idle, run(code), { allow: [allow] })
  expect([allowed.problems, allowed.outcome, allowed.escapes]).toMatchObject([
    [],
    { value: 0 },
    [{ target: allow.slice(7), allowed: true }],
  ])
  const other = await replayTape(idle, run(`${code} `), { allow: [allow] })
  expect(other.problems.map((problem) => problem.code)).toEqual(['HARVEST_ESCAPE'])
})
