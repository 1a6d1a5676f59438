import { spawn } from 'node:child_process'
import { createServer, type Server } from 'node:http'
import type { AddressInfo } from 'node:net'
import path from 'node:path'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { hasTerminal } from '../cli/terminal.ts'
import { type Home, type InlineProject, openHome, type RunOptions } from './inline.ts'
import { reported, withJson } from './reports.ts'

// Twelve tools, each with one way to go wrong; `bug` says which of them does. The agent is the same in every case.
const bugs = [
  'off by one',
  'wrong field',
  'swapped operands',
  'lost await',
  'wrong default',
  'wrong unit',
  'dropped filter',
  'wrong rounding',
  'swallowed error',
  'stale cache',
  'wrong sort',
  'wrong path',
] as const
const idOf = (bug: string): string => bug.replaceAll(' ', '-')

const sources = (base: string) => ({
  'vitest.config.ts': `import { defineConfig } from 'vitest/config'
import { harvest } from 'vitest-harvest/plugin'
const tools = process.env.TOOLS === undefined ? {} : { tools: JSON.parse(process.env.TOOLS) }
export default defineConfig({ plugins: [harvest({ agents: { ${['none', ...bugs]
    .map((bug) => `'${idOf(bug)}': './src/agents.ts#${idOf(bug).replaceAll('-', '_')}'`)
    .join(', ')} }, ...tools })] })
`,
  'src/tools.ts': `import { retriever, tool } from 'vitest-harvest/record'

export const base = process.env.SHOP ?? '${base}'
const get = async (path: string): Promise<any> => (await fetch(base + path)).json()
const rates = new Map<string, number>()

export const toolsWith = (bug: string) => ({
  newest: tool('newest', async ({ count }: { count: number }) => {
    const { orders } = await get('/orders')
    return orders.slice(0, bug === 'off by one' ? count - 1 : count).map((order: any) => order.id)
  }),
  price: tool('price', async ({ id }: { id: string }) => {
    const item = await get('/items/' + id)
    return { price: bug === 'wrong field' ? item.gross : item.net }
  }),
  age: tool('age', ({ from, to }: { from: number; to: number }) => (bug === 'swapped operands' ? from - to : to - from)),
  stock: tool('stock', async ({ id }: { id: string }) => {
    const answer = get('/stock/' + id)
    return { left: bug === 'lost await' ? (answer as any).left : (await answer).left }
  }),
  quantity: tool('quantity', async ({ wanted }: { wanted?: number }) => ({ quantity: wanted ?? (bug === 'wrong default' ? 0 : 1) })),
  charge: tool('charge', async ({ eur }: { eur: number }) => ({ cents: bug === 'wrong unit' ? eur : eur * 100 })),
  open: tool('open', async () => {
    const { orders } = await get('/orders?all=1')
    return orders.filter((order: any) => bug === 'dropped filter' || order.state !== 'cancelled').length
  }),
  tax: tool('tax', async ({ net }: { net: number }) => (bug === 'wrong rounding' ? Math.floor(net * 19) : Math.round(net * 19)) / 100),
  customer: tool('customer', async ({ id }: { id: string }) => {
    const response = await fetch(base + '/customers/' + id)
    if (response.status === 404 && bug !== 'swallowed error') throw new RangeError('no customer ' + id)
    return null
  }),
  rate: tool('rate', async ({ currency }: { currency: string }) => {
    const key = bug === 'stale cache' ? 'rate' : currency
    if (!rates.has(key)) rates.set(key, (await get('/rates/' + currency)).rate)
    return rates.get(key)
  }),
  search: retriever('search', async ({ query }: { query: string }) => {
    const { hits } = await get('/search?q=' + query)
    return hits.sort((a: any, b: any) => (bug === 'wrong sort' ? a.score - b.score : b.score - a.score)).map((hit: any) => hit.id)
  }),
  refund: tool('refund', async ({ id }: { id: string }) => {
    const response = await fetch(base + (bug === 'wrong path' ? '/refund' : '/refunds'), { method: 'POST', body: JSON.stringify({ id }) })
    return response.json()
  }),
})
`,
  'src/agents.ts': `import { toolsWith } from './tools.ts'

const agent = (bug: string) => async () => {
  const tools = toolsWith(bug)
  const missing = await tools.customer({ id: 'C-9' }).catch((error: Error) => error.message)
  return {
    newest: await tools.newest({ count: 2 }), price: await tools.price({ id: 'A' }), age: tools.age({ from: 3, to: 10 }),
    stock: await tools.stock({ id: 'A' }), quantity: await tools.quantity({}), charge: await tools.charge({ eur: 25 }),
    open: await tools.open(), tax: await tools.tax({ net: 9.99 }), missing,
    rates: [await tools.rate({ currency: 'EUR' }), await tools.rate({ currency: 'USD' })],
    hits: await tools.search({ query: 'lamp' }), refund: await tools.refund({ id: 'A-1' }),
  }
}
${['none', ...bugs].map((bug) => `export const ${idOf(bug).replaceAll('-', '_')} = agent('${bug}')`).join('\n')}
`,
  'record.ts': `import { createRecorder } from 'vitest-harvest/record'
import { none } from './src/agents.ts'

const recorder = createRecorder({ dir: 'recordings/golden' })
await recorder.run({ agent: 'none', id: 'shop' }, none)
`,
})

/** Reads of the shop; what is asked otherwise is not found. */
const answers: Readonly<Record<string, unknown>> = {
  '/orders': { orders: [{ id: 'A-3' }, { id: 'A-2' }, { id: 'A-1' }] },
  '/orders?all=1': { orders: [{ state: 'open' }, { state: 'cancelled' }, { state: 'paid' }] },
  '/items/A': { net: 10, gross: 11.9 },
  '/stock/A': { left: 4 },
  '/rates/EUR': { rate: 1 },
  '/rates/USD': { rate: 1.2 },
  '/search?q=lamp': {
    hits: [
      { id: 'b', score: 1 },
      { id: 'a', score: 2 },
    ],
  },
  '/refunds': { refunded: 'A-1' },
}

let home: Home
let project: InlineProject
let shop: Server
/** Requests that really reached the shop. */
const reached: string[] = []
/** What else than when recorded the shop says now. */
let now: Readonly<Record<string, unknown>> = {}

beforeAll(async () => {
  shop = createServer(({ url = '' }, response) => {
    reached.push(url)
    const answer = now[url] ?? answers[url]
    response.writeHead(answer === undefined ? 404 : 200, { 'content-type': 'application/json' })
    response.end(JSON.stringify(answer ?? { error: 'not found' }))
  })
  await new Promise<void>((resolve) => shop.listen(0, '127.0.0.1', resolve))
  home = openHome(5)
  const cases = Object.fromEntries(
    ['none', ...bugs].map((bug) => [
      `recordings/golden/${idOf(bug)}.case.yaml`,
      `case: ${idOf(bug)}\nagent: ${idOf(bug)}\ntape: shop.tape.jsonl\nexpect: pass\nmatch: { trace: superset }\nbaseline: []\n`,
    ]),
  )
  const base = `http://127.0.0.1:${(shop.address() as AddressInfo).port}`
  project = home.project('tools', { ...sources(base), ...cases })
  expect(await node('record.ts')).toBe('')
  reached.length = 0
})
afterAll(() => {
  shop?.close()
  home?.[Symbol.dispose]()
})

function node(file: string): Promise<string> {
  const child = spawn(process.execPath, [path.join(project.folder, file)], { cwd: project.folder })
  let output = ''
  child.stdout.on('data', (text) => (output += String(text)))
  child.stderr.on('data', (text) => (output += String(text)))
  return new Promise((resolve) => child.once('close', () => resolve(output)))
}

const run = async (args: readonly string[], options: RunOptions = {}) => {
  const { code, output } = await project.run(['run', ...args, ...withJson], { bin: 'vitest-harvest', ...options })
  const tests = reported(project)
  const of = (bug: string) => tests.get(`golden/${idOf(bug)}`)
  return { code, output, red: ['none', ...bugs].filter((bug) => of(bug)?.status !== 'passed'), of }
}
const codeOf = (test: ReturnType<typeof reported> extends ReadonlyMap<string, infer Test> ? Test | undefined : never) =>
  test?.meta.harvest?.['code']

describe('twelve bugs in the bodies of tools', () => {
  it('are not seen by a replay that answers tools from the tape', async () => {
    const { code, red } = await run([])
    expect([code, red]).toEqual([0, []])
  })

  it('are all caught where the code of the tools runs, at the line of the tool, and the sound agent is green', async () => {
    const { code, output, red, of } = await run(['--tools', 'run', '--yes'])
    expect(code).toBe(1)
    expect(red).toEqual([...bugs])
    expect(reached).toEqual([])
    const codes = bugs.map((bug) => codeOf(of(bug)))
    const others: Partial<Record<(typeof bugs)[number], string>> = {
      'wrong path': 'HARVEST_DIVERGENCE',
      'lost await': 'HARVEST_NOT_AWAITED',
    }
    expect(codes).toEqual(bugs.map((bug) => others[bug] ?? 'HARVEST_RESULTS'))
    const said = (bug: string): string => of(bug)?.failureMessages.join('\n') ?? ''
    for (const bug of bugs) expect(said(bug), bug).toMatch(/at +src\/tools\.ts:\d+:\d+/)
    expect(said('wrong field')).toMatch(/differs at result\.price\s+recorded {2}10\s+now {7}11\.9/)
    expect(said('swallowed error')).toMatch(/recorded {2}threw RangeError: no customer C-9\s+now {7}returned null/)
    expect(said('stale cache')).toContain('The code of rate left out 1 recorded step')
    expect(output).toMatch(/Tools {2}code run: (?:\w+ 13(?:, )?){12} \(golden\/dropped-filter; /)
  })
})

describe('a yes to what tools do', () => {
  it('is asked for: in a pipe every case that would run tools is refused, with what they were seen to do', async () => {
    const { red, of, output } = await run(['--tools=run', 'golden/none'])
    expect([red.includes('none'), codeOf(of('none'))]).toEqual([true, 'HARVEST_TOOLS_CONSENT'])
    expect(output).toMatch(/refund: POST 127\.0\.0\.1:\d+\/refunds/)
    expect(output).toContain('charge: asked nothing that was recorded')
    expect(output).toContain('npx vitest-harvest test --tools run --yes')
  })

  it('is given by names in the config, and for no other tool', { tags: 'thorough' }, async () => {
    const names = { TOOLS: JSON.stringify({ run: ['price', 'tax'] }) }
    const { red } = await run([], { env: names })
    expect(red).toEqual(['wrong field', 'wrong rounding'])
    const refused = await run(['--tools', 'price,refund', 'golden/none'], { env: names })
    expect(codeOf(refused.of('none'))).toBe('HARVEST_TOOLS_CONSENT')
    expect(refused.of('none')?.failureMessages.join('')).toContain("tools: { run: ['refund'] }")
  })

  it('is not given by a case, which says for itself whether its tools run', { tags: 'thorough' }, async () => {
    const file = 'recordings/golden/wrong-unit.case.yaml'
    const text = project.read(file)
    project.write(file, `${text}tools: { run: [charge] }\n`)
    try {
      const refused = await run(['golden/wrong-unit'])
      expect(codeOf(refused.of('wrong unit'))).toBe('HARVEST_TOOLS_CONSENT')
      const ran = await run(['golden/wrong-unit', '--yes'])
      expect(codeOf(ran.of('wrong unit'))).toBe('HARVEST_RESULTS')
      project.write(file, `${text}tools: serve\n`)
      const served = await run(['golden/wrong-unit', '--tools', 'run', '--yes'])
      expect(served.code).toBe(0)
    } finally {
      project.write(file, text)
    }
  })

  it.runIf(hasTerminal)('is asked for at a terminal, once, and no is no', { tags: 'thorough' }, async () => {
    const answered = async (answer: string) => {
      const words = [process.execPath, project.bin('vitest-harvest'), 'run', '--tools', 'run', 'golden/none']
      const { PATH = '', HOME = '' } = process.env
      const child = spawn('script', ['-qec', words.map((word) => `'${word}'`).join(' '), '/dev/null'], {
        cwd: project.folder,
        env: { PATH, HOME, TERM: 'xterm', NO_COLOR: '1' },
      })
      let output = ''
      let questions = 0
      child.stdout.on('data', (text) => {
        output += String(text)
        if (!String(text).includes('[y/N]')) return
        questions++
        child.stdin.write(`${answer}\n`)
      })
      const code = await new Promise((resolve) => child.once('close', resolve))
      return { code, output, questions }
    }
    const yes = await answered('y')
    expect(yes).toMatchObject({ code: 0, questions: 1 })
    expect(yes.output).toMatch(/The code of 12 tools is to run:\s+age: asked nothing that was recorded/)
    const no = await answered('n')
    expect([no.code, no.questions]).toEqual([1, 1])
    expect(no.output).toContain('HARVEST_TOOLS_CONSENT')
  })

  it('is not needed where a flag says that tools are answered from the tape', { tags: 'thorough' }, async () => {
    const { code } = await run(['--tools', 'serve'], { env: { TOOLS: '"run"' } })
    expect(code).toBe(0)
  })
})

it('in an integration lane the tools ask the named server, and what it answers now is compared', {
  tags: 'thorough',
}, async () => {
  const { port } = shop.address() as AddressInfo
  now = { '/rates/USD': { rate: 1.3 } }
  const lane = { TOOLS: JSON.stringify({ run: ['*'], live: [`http://127.0.0.1:${port}`] }) }
  const { red, of } = await run(['golden/none'], { env: lane })
  expect(red.includes('none')).toBe(true)
  expect(of('none')?.failureMessages.join('')).toMatch(
    /code of rate[^]*differs at result\s+recorded {2}1\.2\s+now {7}1\.3/,
  )
  expect(reached).toContain('/rates/USD')
  now = {}
  expect((await run(['golden/none'], { env: lane })).code).toBe(0)
})
