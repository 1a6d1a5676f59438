// Forks one tape over and over, offline and live, and reports what is left behind.
import { getEventListeners, once } from 'node:events'
import http from 'node:http'
import type { AddressInfo } from 'node:net'
import { setTimeout as sleep } from 'node:timers/promises'
import { answerParent } from '../../fixtures/child/index.ts'
import { forkTape } from '../../src/fork/index.ts'
import { openBudget } from '../../src/live/index.ts'
import { tool } from '../../src/record/index.ts'
import { installReplay } from '../../src/replay/index.ts'
import { held, type Leftovers, leftovers } from '../support/leftovers.ts'
import { chat, chatUrl, Recording } from '../replay/tapes.ts'

const look = tool('look', async (_: { id: number }) => 'ran')

// Node's own agent holds what it knows of a connection for 5 s: that is no leak, and not to be waited for.
const client = new http.Agent({ keepAlive: true, timeout: 10 })

/** Through a client whose requests are told apart by a tag of their own. */
function status(): Promise<void> {
  return new Promise((resolve, reject) => {
    http
      .get('http://shop.test/status', { agent: client }, (response) => response.resume().on('end', resolve))
      .on('error', reject)
  })
}

async function agent(): Promise<string> {
  const signal = AbortSignal.timeout(600_000)
  const idle = setTimeout(() => undefined, 1e6)
  const answer = await (await fetch(chatUrl, { method: 'POST', body: chat('hi'), signal })).text()
  await look({ id: 1 })
  await sleep(10)
  setInterval(() => undefined, 1000)
  clearTimeout(idle)
  return answer
}

async function withStatus(): Promise<string> {
  await status()
  return agent()
}

/** Lives longer than any of the forks it can stop. */
const shared = new AbortController()

answerParent(async (runs: number): Promise<Leftovers> => {
  await installReplay()
  const server = http.createServer((_request, response) => response.end('x'.repeat(500)))
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  const baseUrl = `http://127.0.0.1:${(server.address() as AddressInfo).port}`
  const recording = new Recording()
  recording.exchange({ body: chat('hi'), answer: 'x'.repeat(2_000) })
  recording.call('look', { id: 1 }, 'seen')
  const tape = recording.tape()
  recording.exchange({ method: 'GET', url: 'http://shop.test/status', answer: 'ok' })
  const tapeWithStatus = recording.tape()
  const problems = new Set<string>()
  const note = ({ problems: all }: { readonly problems: readonly Error[] }): void => {
    for (const { message } of all) problems.add(message)
  }
  const fork = async (count: number): Promise<void> => {
    for (let i = 0; i < count; i++) {
      const changes = [{ step: 2, path: 'result', value: `other ${i}` }]
      note(await forkTape(tape, agent, { keep: 2, changes, tail: { from: 'tape' } }, { signal: shared.signal }))
      if (i % 10 > 0) continue
      note(
        await forkTape(tapeWithStatus, withStatus, {
          keep: 0,
          tail: { from: 'live', budget: openBudget({}), baseUrl },
        }),
      )
      const given = AbortSignal.timeout(1)
      await forkTape(tape, () => new Promise(() => undefined), { keep: 0, tail: { from: 'tape' } }, { signal: given })
    }
  }
  const listeners = (): number => getEventListeners(shared.signal, 'abort').length
  const idle = await held()
  await fork(runs / 4)
  const before = await held(idle, listeners)
  await fork(runs)
  const after = await held(before, listeners)
  server.closeAllConnections()
  server.close()
  return leftovers(before, after, problems)
})
