import { spawn } from 'node:child_process'
import { randomUUID } from 'node:crypto'
import http from 'node:http'
import { connect } from 'node:net'
import { setTimeout as sleep } from 'node:timers/promises'

/** What one run does: when it is recorded, and what its developer made of it until it is replayed. */
export interface Run {
  record(base: string, outside: string): Promise<unknown>
  /** @param outside - a server that is no part of the run and marks what it answers with `x-outside: yes` */
  replay(base: string, outside: string): Promise<unknown>
}

/** Invented secrets in the shapes of real ones. */
export const secrets = {
  header: 'sk-proj-Zq3vT8mN1cX5rLw9KdYb2HfJ7sPgEa4u',
  body: 'AKIAQ7WZ3MNB5XKD2LRT',
  email: 'greta.holm@teahouse.example',
} as const

/** What a check falsifies. Both are of one length. */
export const edited = { original: 'the-original-answer', falsified: 'the-falsified-answe' } as const

/** All runs, by the name a check knows them by. Those that may hang a recorder come last. */
export const runs: Readonly<Record<string, Run>> = {
  json: same(async (base) => (await post(base, { user: 'json please' })).text()),
  system: changed(
    (base) => ask(base, { user: 'hello there', system: 'You sell tea.' }),
    (base) => ask(base, { user: 'hello there', system: 'You sell coffee.' }),
  ),
  tools: changed(
    (base) => ask(base, { user: 'what is the weather', tool: 'Weather of a city' }),
    (base) => ask(base, { user: 'what is the weather', tool: 'Weather of a town' }),
  ),
  user: changed(
    (base) => ask(base, { user: 'I am user 7' }),
    (base) => ask(base, { user: 'I am user 8' }),
  ),
  twoOrders: changed(
    (base) => twoOrders(base, ['order 12', 'order 123']),
    (base) => twoOrders(base, ['order 123', 'order 12']),
  ),
  oneOrder: changed(
    (base) => ask(base, { user: 'What about order 45' }),
    (base) => ask(base, { user: 'What about order 456' }),
  ),
  swapped: changed(
    (base) => inTurn(base, ['reserve it', 'charge it']),
    (base) => inTurn(base, ['charge it', 'reserve it']),
  ),
  missing: changed(
    (base) => inTurn(base, ['book it', 'pay it']),
    (base) => inTurn(base, ['book it']),
  ),
  extra: changed(
    (base) => inTurn(base, ['open it', 'close it']),
    (base) => inTurn(base, ['open it', 'close it', 'close it']),
  ),
  thrice: same((base) => inTurn(base, ['throw the dice', 'throw the dice', 'throw the dice'])),
  parallel: same(threeAtOnce),
  secrets: same(async (base) => {
    const user = `I am ${secrets.email}, my key is ${secrets.body}, say: fine`
    return ask(base, { user }, { authorization: `Bearer ${secrets.header}` })
  }),
  escapes: changed((base) => ask(base, { user: 'stay at home' }), escape),
  edited: same((base) => ask(base, { user: `say: ${edited.original.replaceAll('-', ' ')}` })),
  clock: same(async (base) => {
    const moment = [new Date().toISOString(), Date.now(), Math.random(), randomUUID(), crypto.randomUUID()]
    return [moment, await ask(base, { user: `now is ${moment.join(' ')}` })]
  }),
  busy: same(triesAgain),
  pieces: same(async (base) => pieces(await post(base, { user: 'pieces please', stream: true }))),
  leaves: same(leavesEarly),
  loses: same(losesConnection),
}

function same(run: Run['record']): Run {
  return { record: run, replay: run }
}

function changed(record: Run['record'], replay: Run['replay']): Run {
  return { record, replay }
}

interface Prompt {
  readonly user: string
  readonly system?: string
  readonly tool?: string
  readonly stream?: boolean
}

function post(
  base: string,
  { user, system, tool, stream }: Prompt,
  headers: Readonly<Record<string, string>> = {},
  signal?: AbortSignal,
): Promise<Response> {
  const messages = [
    ...(system === undefined ? [] : [{ role: 'system', content: system }]),
    { role: 'user', content: user },
  ]
  const parameters = { type: 'object', properties: { city: { type: 'string' } } }
  const tools = [{ type: 'function', function: { name: 'get_weather', description: tool, parameters } }]
  return fetch(`${base}/v1/chat/completions`, {
    method: 'POST',
    headers: { 'content-type': 'application/json', ...headers },
    body: JSON.stringify({
      model: 'invented',
      messages,
      ...(tool === undefined ? {} : { tools }),
      ...(stream === undefined ? {} : { stream }),
    }),
    ...(signal ? { signal } : {}),
  })
}

async function ask(base: string, prompt: Prompt, headers?: Readonly<Record<string, string>>): Promise<string> {
  const response = await post(base, prompt, headers)
  const text = await response.text()
  if (!response.ok) throw new Error(`${response.status} ${text}`)
  const { choices } = JSON.parse(text) as { choices: readonly { message: { content: string } }[] }
  return choices[0]?.message.content ?? ''
}

async function inTurn(base: string, users: readonly string[]): Promise<readonly string[]> {
  const answers: string[] = []
  for (const user of users) answers.push(await ask(base, { user }))
  return answers
}

/** Both at once, so that their order means nothing. */
async function twoOrders(base: string, orders: readonly string[]): Promise<unknown> {
  const answers = orders.map(async (order) => [order, await ask(base, { user: `What about ${order}` })] as const)
  return Object.fromEntries((await Promise.all(answers)).sort())
}

/** Who came back when; the slowest is asked first. */
async function threeAtOnce(base: string): Promise<readonly string[]> {
  const arrived: string[] = []
  const calls = [360, 180, 5].map(async (ms) => {
    await ask(base, { user: `wait ${ms}` })
    arrived.push(`after ${ms}`)
  })
  await Promise.all(calls)
  return arrived
}

async function triesAgain(base: string): Promise<readonly unknown[]> {
  const seen: unknown[] = []
  for (let turn = 0; turn < 4; turn++) {
    const response = await post(base, { user: 'busy, say: welcome' })
    seen.push(response.status, response.headers.get('retry-after'))
    if (response.ok) return [...seen, JSON.parse(await response.text()).choices[0].message.content]
    await response.text()
    await sleep(20)
  }
  return seen
}

async function pieces(response: Response): Promise<readonly string[]> {
  const decoder = new TextDecoder()
  const seen: string[] = []
  for await (const piece of response.body ?? []) seen.push(decoder.decode(piece))
  return seen
}

async function leavesEarly(base: string): Promise<unknown> {
  const controller = new AbortController()
  const seen: string[] = []
  const decoder = new TextDecoder()
  try {
    const response = await post(base, { user: 'pieces, I will leave', stream: true }, {}, controller.signal)
    for await (const piece of response.body ?? []) {
      seen.push(decoder.decode(piece))
      controller.abort()
    }
    return { seen, ended: 'well' }
  } catch (error) {
    return { seen, ended: (error as Error).name }
  }
}

async function losesConnection(base: string): Promise<unknown> {
  const seen: string[] = []
  const decoder = new TextDecoder()
  try {
    const response = await post(base, { user: 'lose it', stream: true })
    for await (const piece of response.body ?? []) seen.push(decoder.decode(piece))
    return { seen, ended: 'well' }
  } catch (error) {
    return { seen, ended: (error as Error).name, message: (error as Error).message }
  }
}

/** Three ways out that the recorded run did not take. What gets through is named. */
async function escape(base: string, outside: string): Promise<readonly string[]> {
  await ask(base, { user: 'stay at home' })
  const { hostname, port } = new URL(outside)
  const ways = {
    'node:http': () => emitted(http.get({ hostname, port, path: '/' }), 'response'),
    socket: () => emitted(connect(Number(port), hostname), 'connect'),
    'child process': () => emitted(spawn(process.execPath, ['-e', '0']), 'exit'),
  }
  const through: string[] = []
  for (const [name, way] of Object.entries(ways)) {
    try {
      const came = await way()
      // A mocker may answer instead of the world; that is no way out.
      if (!(came instanceof http.IncomingMessage) || came.headers['x-outside'] === 'yes') through.push(name)
      if (came instanceof http.IncomingMessage) came.resume()
    } catch {
      // Blocked, as it should be.
    }
  }
  return through
}

function emitted(
  emitter: { on(event: string, listener: (value: unknown) => void): unknown },
  event: string,
): Promise<unknown> {
  return new Promise((resolve, reject) => {
    emitter.on(event, resolve)
    emitter.on('error', reject)
  })
}
