import { afterAll, beforeAll, expect, it } from 'vitest'
import { describeLanes, type Home, onLane, openHome } from './inline.ts'
import { config, golden, orderExchange } from './refund.ts'
import { reported, type ReportedTest, withJson } from './reports.ts'

// Agents that reach the order service by `fetch`, after a timer, and by `node:http`.
const agents = `import { request } from 'node:http'
const url = 'http://127.0.0.1:45998/orders'
const init = { method: 'POST', headers: { 'content-type': 'application/json' } }
const refunded = (text: string) => ({ refunded: JSON.parse(text).amount })
export async function byFetch(order: object) {
  return refunded(await (await fetch(url, { ...init, body: JSON.stringify(order) })).text())
}
export async function afterTimer(order: object) {
  await new Promise((resolve) => setTimeout(resolve, 20))
  if (Date.now() < 1e12) throw new Error('not the recorded time')
  return byFetch(order)
}
export function byHttp(order: object) {
  return new Promise((resolve, reject) => {
    const asked = request(url, init, (answer) => {
      let text = ''
      answer.on('data', (chunk) => (text += chunk)).on('end', () => resolve(refunded(text)))
    })
    asked.on('error', reject).end(JSON.stringify(order))
  })
}
`

const names = ['fetch', 'timer', 'http'] as const

const hand = `import { replay } from 'vitest-harvest/vitest'
import { expect, it } from 'vitest'
import { byFetch, afterTimer, byHttp } from './agents.ts'
it.each(Object.entries({ fetch: byFetch, timer: afterTimer, http: byHttp }))('by hand %s', async (name, agent) => {
  const run = await replay(\`recordings/golden/\${name}.tape.jsonl\`, (input) => agent(input as object))
  expect(run.outcome).toEqual({ status: 'returned', value: { refunded: 25 } })
})
`

const mockServer = `import { http, HttpResponse } from 'msw'
import { setupServer } from 'msw/node'
const server = setupServer(http.post('http://127.0.0.1:45998/orders', () => HttpResponse.json({ amount: 99 })))
server.listen()
`

const setUps: Readonly<Record<string, string>> = {
  'a stub of fetch': `import { vi } from 'vitest'
vi.stubGlobal('fetch', vi.fn(async () => Response.json({ amount: 99 })))
`,
  'a fetch that refuses': `globalThis.fetch = async () => { throw new Error('no network in tests') }
`,
  MSW: mockServer,
  'a stub before each test': `import { beforeEach, vi } from 'vitest'
beforeEach(() => void vi.stubGlobal('fetch', vi.fn(async () => Response.json({ amount: 99 }))))
`,
  'a fetch that hands on': `const real = globalThis.fetch
globalThis.fetch = async (...args) => real(...args)
`,
  'fake timers': `import { vi } from 'vitest'
vi.useFakeTimers({ now: 0 })
`,
  'fake timers that advance': `import { beforeEach, vi } from 'vitest'
beforeEach(() => void vi.useFakeTimers({ shouldAdvanceTime: true, now: 0 }))
`,
}

/** The others are for thorough runs. */
const most = ['a stub of fetch', 'MSW', 'fake timers']
const thorough = { tags: 'thorough' } as const

/** Those that put up something else than what Vitest has for it. */
const withoutVitest = ['a fetch that refuses', 'a fetch that hands on']

/** What keeps a test by hand from its tape, because it is there before the test file. */
const before = ['a stub of fetch', 'a fetch that refuses', 'MSW']

describeLanes('set-up files under Vitest %i', (lane) => {
  const once = onLane(lane, 5)
  let home: Home
  beforeAll(() => {
    home = openHome(lane, ['msw'])
  })
  afterAll(() => home[Symbol.dispose]())

  const exchanges = (via: 'undici' | 'http') => [{ ...orderExchange, via } as typeof orderExchange]
  const files = (setUp: string): Readonly<Record<string, string>> => ({
    'vitest.config.ts': config(
      '',
      `setupFiles: ['./set-up.ts'], include: ['src/*.test.ts']`,
      names.map((name) => `${name}: './src/agents.ts#${agentOf[name]}'`).join(', '),
    ),
    'src/refund.ts': 'export const refundAgent = () => 0\n',
    'src/agents.ts': agents,
    'src/hand.test.ts': hand,
    'set-up.ts': setUp,
    ...Object.assign(
      {},
      ...names.map((name) =>
        golden(name, 'baseline: []\n', { agent: name, events: exchanges(name === 'http' ? 'http' : 'undici') }),
      ),
    ),
  })

  const runs = new Map<string, Promise<ReadonlyMap<string, ReportedTest>>>()
  /** What came of all tests under a set-up file; several tests look at the same run. */
  const run = (setUp: string): Promise<ReadonlyMap<string, ReportedTest>> => {
    const begun = runs.get(setUp)
    if (begun !== undefined) return begun
    const project = home.project(`set-up-${runs.size}`, files(setUp))
    const run = project.run(['run', ...withJson]).then(() => reported(project))
    runs.set(setUp, run)
    return run
  }
  const green = (tests: ReadonlyMap<string, ReportedTest>): readonly string[] =>
    [...tests]
      .filter(([, { status }]) => status === 'passed')
      .map(([name]) => name)
      .sort()
  const cases = names.map((name) => `golden/${name}`)
  const byHand = names.map((name) => `by hand ${name}`)

  for (const [name, setUp] of Object.entries(setUps)) {
    const each = withoutVitest.includes(name) ? once : it
    const options = most.includes(name) ? {} : thorough
    each(`under ${name}, the cases of the plugin are replayed as ever`, options, async () => {
      const tests = await run(setUp)
      expect(green(tests)).toEqual(expect.arrayContaining(cases.toSorted()))
      // What was not put up for good before the replay came, it answers above in a test by hand too.
      if (!before.includes(name)) expect(green(tests)).toEqual([...byHand, ...cases].toSorted())
    })
  }

  it('a mock that was there before a replay by hand is named, with the line that put it up', async () => {
    const stub = await run(setUps['a stub of fetch'] ?? '')
    const message = stub.get('by hand fetch')?.failureMessages.join('\n') ?? ''
    expect(message).toContain("A mock answers the agent's `fetch` instead of the tape")
    expect(message).toMatch(/mock +set-up\.ts:2/)
    expect(message).toContain(`→ make \`import 'vitest-harvest/vitest'\` the first line of set-up.ts`)
    expect(message).toContain('(HARVEST_MOCKED)')
    const server = await run(mockServer)
    const refused = server.get('by hand http')?.failureMessages.join('\n') ?? ''
    expect(refused).toContain(`A mock answers the agent's HTTP requests instead of the tape`)
    expect(refused).toMatch(/mock +set-up\.ts:4/)
  })

  once('what the message advises makes it green', { tags: 'thorough' }, async () => {
    for (const name of before) {
      const tests = await run(`import 'vitest-harvest/vitest'\n${setUps[name]}`)
      expect(green(tests)).toEqual([...byHand, ...cases].toSorted())
    }
  })

  for (const [when, { setUp, test }] of Object.entries(mockedTests))
    it(`tests without a replay are answered by MSW that ${when}`, when.includes('while') ? {} : thorough, async () => {
      const project = home.project(`mocked-${when.replaceAll(/\W/g, '-')}`, {
        ...files(setUp),
        'src/mocked.test.ts': test,
      })
      await project.run(['run', ...withJson])
      expect(green(reported(project))).toEqual([...byHand, ...cases, 'mocked 1', 'mocked 2'].toSorted())
    })

  it('fake timers in the module of an agent stop neither it nor the cases after it', async () => {
    const project = home.project('faking-agent', {
      ...files(''),
      'src/agents.ts': `import { vi } from 'vitest'\nvi.useFakeTimers({ now: 0 })\n${agents}`,
    })
    await project.run(['run', ...withJson])
    expect(green(reported(project))).toEqual([...byHand, ...cases].toSorted())
  })
})

// Tests that no replay touches: what their mock server does not answer is refused by the address, which is closed.
// MSW hears of what is called on the module `node:http`.
const mocked = `import node from 'node:http'
import { expect, it } from 'vitest'
import { replay } from 'vitest-harvest/vitest'
import { byFetch, byHttp } from './agents.ts'
const asked = () => new Promise((resolve, reject) => {
  const request = node.request('http://127.0.0.1:45998/orders', { method: 'POST' }, (answer) => {
    let text = ''
    answer.on('data', (chunk) => (text += chunk)).on('end', () => resolve(JSON.parse(text)))
  })
  request.on('error', reject).end('{}')
})
const expectMock = async () => expect([await byFetch({}), await asked()]).toEqual([{ refunded: 99 }, { amount: 99 }])
it('mocked 1', expectMock)
it('mocked 2', async () => {
  const run = await replay('recordings/golden/http.tape.jsonl', (input) => byHttp(input as object))
  expect(run.outcome).toEqual({ status: 'returned', value: { refunded: 25 } })
  await expectMock()
})
`

const mockedTests: Readonly<Record<string, { readonly setUp: string; readonly test: string }>> = {
  'listens in a set-up file behind our import': {
    setUp: `import 'vitest-harvest/vitest'\n${mockServer}`,
    test: mocked,
  },
  'listens while the tests run': {
    setUp: `import 'vitest-harvest/vitest'
import { afterAll, beforeAll } from 'vitest'
${mockServer.replace('server.listen()', "beforeAll(() => server.listen({ onUnhandledRequest: 'error' }))")}afterAll(() => server.close())
`,
    test: mocked,
  },
  'a test starts': { setUp: '', test: `${mockServer}${mocked}` },
}

const agentOf = { fetch: 'byFetch', timer: 'afterTimer', http: 'byHttp' } as const
