import { execFile, execFileSync } from 'node:child_process'
import { mkdirSync, readFileSync, symlinkSync, writeFileSync } from 'node:fs'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { dirname, join, resolve } from 'node:path'
import { promisify } from 'node:util'
import { installPackage } from '../../scripts/project.ts'
import { readTape, serializeTape, type Tape } from '../../src/tape/index.ts'
import {
  agent,
  handConfig,
  handModel,
  handTests,
  leastModel,
  leastTest,
  orderOf,
  ourConfig,
  recordOnce,
} from './sources.ts'

const repository = resolve(import.meta.dirname, '../..')
const perFolder = 100

/** A case and its tape, as recording and promoting made them. */
export interface Recorded {
  readonly tape: Tape
  readonly caseText: string
}

/** Lays a folder out in which projects find the built package, Vitest and the SDK. */
export async function openHome(folder: string): Promise<void> {
  await installPackage(folder)
  const { dependencies } = JSON.parse(readFileSync(join(repository, 'package.json'), 'utf8')) as {
    dependencies: object
  }
  for (const name of [...Object.keys(dependencies), 'vitest', 'vite', 'openai']) {
    const at = join(folder, 'node_modules', name)
    mkdirSync(dirname(at), { recursive: true })
    symlinkSync(join(repository, 'node_modules', name), at, 'junction')
  }
}

/** Records one run and promotes it, with the commands a user has. */
export async function recordCase(home: string): Promise<Recorded> {
  const folder = join(home, 'recording')
  write(folder, { 'src/refund-agent.ts': agent, 'record.ts': recordOnce, 'vitest.config.ts': ourConfig(false) })
  const server = createServer((request, response) => {
    const body: Buffer[] = []
    request.on('data', (chunk: Buffer) => body.push(chunk))
    request.on('end', () => {
      response.writeHead(200, { 'content-type': 'application/json' })
      response.end(JSON.stringify(decide(Buffer.concat(body).toString())))
    })
  })
  await new Promise<void>((done) => server.listen(0, '127.0.0.1', done))
  const { port } = server.address() as AddressInfo
  // The tape names the address; a replay does not need it.
  const env = { ...process.env, OPENAI_BASE_URL: `http://127.0.0.1:${port}/v1` }
  try {
    await promisify(execFile)(process.execPath, ['record.ts'], { cwd: folder, env })
  } finally {
    server.close()
  }
  const harvest = join(home, 'node_modules/vitest-harvest/dist/cli/main.js')
  const id = caseId(0)
  execFileSync(process.execPath, [harvest, 'promote', 'latest', '--as', id, '--tag', 'golden'], { cwd: folder, env })
  const golden = join(folder, 'recordings/golden')
  return {
    tape: readTape(join(golden, `${id}.tape.jsonl`)),
    caseText: readFileSync(join(golden, `${id}.case.yaml`), 'utf8'),
  }
}

function decide(body: string): object {
  const { messages } = JSON.parse(body) as { messages: { role: string }[] }
  const order_id = orderOf(0)
  const isFirst = !messages.some(({ role }) => role === 'tool')
  const call = isFirst
    ? { name: 'lookup_order', arguments: JSON.stringify({ order_id }) }
    : { name: 'refund', arguments: JSON.stringify({ order_id, amount: 25 }) }
  const tool = { id: isFirst ? 'call_0' : 'call_1', type: 'function', function: call }
  const message = { role: 'assistant', content: null, tool_calls: [tool] }
  return {
    id: isFirst ? 'chatcmpl-0' : 'chatcmpl-1',
    object: 'chat.completion',
    created: 1_795_270_199,
    model: 'gpt-5',
    choices: [{ index: 0, finish_reason: 'tool_calls', message }],
    usage: { prompt_tokens: 90, completion_tokens: 15, total_tokens: 105 },
  }
}

/** A project of ours with this many cases, a hundred to a folder of the golden set. */
export function makeOurs(folder: string, recorded: Recorded, count: number, isShared = false): void {
  write(folder, { 'src/refund-agent.ts': agent, 'vitest.config.ts': ourConfig(isShared) })
  for (const { n, tape, caseText } of copiesOf(recorded, count)) {
    write(join(folder, 'recordings/golden', groupOf(n)), {
      [`${caseId(n)}.case.yaml`]: caseText,
      [`${caseId(n)}.tape.jsonl`]: tape,
    })
  }
}

/** As many tests that do the least any replay of these tapes does. */
export function makeLeast(folder: string, recorded: Recorded, count: number, isShared = false): void {
  write(folder, {
    'src/refund-agent.ts': agent,
    'vitest.config.ts': handConfig(false, []),
    'test/model.ts': leastModel(isShared),
  })
  for (const { n, tape } of copiesOf(recorded, count)) {
    const name = `${caseId(n)}.tape.jsonl`
    write(join(folder, 'test', groupOf(n)), {
      [`${caseId(n)}.test.ts`]: leastTest(caseId(n), `./${name}`),
      [name]: tape,
    })
  }
}

/** The recording told of other orders, as it comes out of production, where nobody sets the address of the model. */
function* copiesOf(
  { tape, caseText }: Recorded,
  count: number,
): Generator<{ n: number; tape: string; caseText: string }> {
  const tapeText = JSON.stringify([tape.header, tape.events, tape.close]).replaceAll(
    /http:\/\/127\.0\.0\.1:\d+/g,
    'https://api.openai.com',
  )
  for (let n = 0; n < count; n++) {
    const named = (text: string): string => text.replaceAll(orderOf(0), orderOf(n)).replaceAll(caseId(0), caseId(n))
    const [header, events, close] = JSON.parse(named(tapeText)) as [Tape['header'], Tape['events'], Tape['close']]
    yield { n, tape: serializeTape({ ...header, id: caseId(n) }, events, close), caseText: named(caseText) }
  }
}

/** The hand-written suite with as many tests, this many to a file. */
export function makeHand(folder: string, count: number, perFile: number, isolate = false): void {
  write(folder, { 'src/refund-agent.ts': agent, 'vitest.config.ts': handConfig(isolate), 'test/model.ts': handModel })
  for (let first = 0; first < count; first += perFile) {
    const numbers = Array.from({ length: Math.min(perFile, count - first) }, (_, index) => first + index)
    write(join(folder, 'test', groupOf(first)), { [`${caseId(first)}.test.ts`]: handTests(numbers) })
  }
}

function groupOf(n: number): string {
  return `group-${`${Math.floor(n / perFolder)}`.padStart(3, '0')}`
}

/** Where a case of ours lies. */
export function caseFile(folder: string, n: number): string {
  return join(folder, 'recordings/golden', groupOf(n), `${caseId(n)}.case.yaml`)
}

/** Where a hand-written test lies, with one to a file. */
export function handFile(folder: string, n: number): string {
  return join(folder, 'test', groupOf(n), `${caseId(n)}.test.ts`)
}

function caseId(n: number): string {
  return `refund-${`${n}`.padStart(6, '0')}`
}

function write(folder: string, files: Readonly<Record<string, string>>): void {
  mkdirSync(folder, { recursive: true })
  for (const [file, text] of Object.entries(files)) {
    mkdirSync(dirname(join(folder, file)), { recursive: true })
    writeFileSync(join(folder, file), text)
  }
}
