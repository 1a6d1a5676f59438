import http from 'node:http'
import type { AddressInfo } from 'node:net'
import { gunzipSync, gzipSync } from 'node:zlib'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { asData } from '../../src/fork/fork-task.ts'
import { type ForkAnswer, forkTape } from '../../src/fork/index.ts'
import { createRecorder, mark, message, state, tool } from '../../src/record/index.ts'
import { installReplay, replayTape } from '../../src/replay/index.ts'
import { parseTape, type Json, readTape, type Step, type Tape } from '../../src/tape/index.ts'
import { asField, asText, type Planted, planted, stillIn } from '../privacy/planted.ts'
import { temporaryFolder } from '../support/temporary-folder.ts'

/** Everything a secret may be written in. */
const spellings: Readonly<Record<string, (one: Planted) => Json>> = {
  'a sentence': asText,
  'a field': (one) => asField(one) as Json,
  'JSON in JSON': (one) => ({ arguments: JSON.stringify(asField(one)) }),
  'a query': (one) => `/find?page=1&q=${encodeURIComponent(JSON.stringify(asField(one)))}`,
  base64: (one) => Buffer.from(JSON.stringify({ note: 'as it came', ...asField(one) })).toString('base64'),
  'escapes of JSON': (one) => JSON.stringify(asField(one)).replaceAll(one.core, escaped(one.core)),
}
/** One of each class, of those in turn. */
const secrets = planted.filter((_, at) => at % 8 === 0)
const spelled = Object.values(spellings).map((spell) => secrets.map(spell))

/** What the agent has by itself: nothing while it is recorded. */
let own: Json = 'nothing'
let ends: 'returns' | 'throws' = 'returns'
let tape: Tape
const server = http.createServer((request, response) => {
  request.resume().on('end', () => response.setHeader('content-type', 'application/json').end('{"said":"well"}'))
})
beforeAll(async () => {
  await installReplay()
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  const input = { model: `http://127.0.0.1:${(server.address() as AddressInfo).port}/v1/chat/completions`, more: null }
  const recorder = createRecorder({ dir: temporaryFolder('forked') })
  await recorder.run({ agent: 'forked', input }, async () => agent(input))
  tape = readTape(recorder.lastTape ?? '')
})
afterAll(() => void server.close())

const note = tool('note', (_: unknown): unknown => ({ noted: true }))

async function agent(input: unknown): Promise<unknown> {
  const { model, more } = input as { readonly model: string; readonly more: Json }
  const body = JSON.stringify({ model: 'm-1', messages: [{ role: 'user', content: JSON.stringify(own) }], more })
  const ask = async (sent: string | Uint8Array<ArrayBuffer>, headers: Record<string, string>): Promise<unknown> =>
    (
      await fetch(model, { method: 'POST', headers: { 'content-type': 'application/json', ...headers }, body: sent })
    ).json()
  const said = [await ask(body, {}), await ask(new Uint8Array(gzipSync(body)), { 'content-encoding': 'gzip' })]
  mark('own', own)
  message('agent', 'user', own)
  state('memory', own)
  const noted = await note(own)
  const found = { own, said, noted, map: new Map([['own', own]]), bytes: Buffer.from(JSON.stringify(own)) }
  if (ends === 'returns') return found
  const all = new AggregateError([new Error(JSON.stringify(own))], JSON.stringify(own))
  throw Object.assign(new Error(JSON.stringify(own), { cause: all }), { request: { headers: own }, found })
}

test.each(['returns', 'throws'] as const)(
  'a branch of an agent that %s, and what is kept of its fork, holds no planted secret in any spelling',
  async (how) => {
    ;[own, ends] = [spelled, how]
    const answer = ({ kind }: Step): ForkAnswer =>
      kind === 'tool'
        ? { result: own }
        : { headers: { location: `/?q=${encodeURIComponent(asText(secrets[0]!))}` }, body: own }
    const changes = [{ path: 'input.more', value: spelled }]
    const fork = await forkTape(tape, agent, { keep: 0, changes: changes as never, tail: { from: 'script', answer } })
    own = 'nothing'
    expect(fork.problems.map(({ message: text }) => text)).toEqual([])
    expect(fork.outcome.status).toBe(how === 'returns' ? 'returned' : 'threw')
    const kept = JSON.stringify(asData(fork, { seed: '', tail: { from: 'tape' } }, temporaryFolder('kept-secrets')))
    for (const [where, text] of Object.entries({ branch: fork.branch.text, kept }))
      expect(stillIn(readings(text)).map(({ id }) => `${where}: ${id}`)).toEqual([])
  },
)

const create = tool('create', (_: unknown): unknown => ({ id: made }))
const look = tool('look', (_: unknown): unknown => ({ found: true }))
const finish = tool('finish', (_: unknown): unknown => null)
let made = ''

async function desk(): Promise<unknown> {
  const { id } = (await create({})) as { readonly id: string }
  await look({ id })
  await finish({ job: id })
  return { id }
}

test.each(['the parent', 'the branch'])(
  'a value that %s holds and that gets its name in the fork is on no branch and in no kept fork, and the branch replays as same',
  async (where) => {
    const value = 'Kq7fZr9Xv4Tn8WbQm2LsJ5hD'
    made = where === 'the parent' ? value : 'job 1'
    const recorder = createRecorder({ dir: temporaryFolder('desk') })
    await recorder.run({ agent: 'desk' }, desk)
    const parent = readTape(recorder.lastTape ?? '')
    made = value
    const answers: Readonly<Record<string, Json>> = { create: { id: value }, look: { session: value }, finish: null }
    const answer = (step: Step): ForkAnswer => ({ result: answers[step.kind === 'exchange' ? '' : step.name]! })
    const keep = where === 'the parent' ? 1 : 0
    const fork = await forkTape(parent, desk, { keep, tail: { from: 'script', answer } })
    expect(fork.problems).toEqual([])
    const { branch } = fork
    const kept = JSON.stringify(asData(fork, { seed: '', tail: { from: 'tape' } }, temporaryFolder('kept-late')))
    for (const text of [branch.text, kept, JSON.stringify(branch.tape)]) expect(text).not.toContain(value)
    expect(branch.tape.close?.outcome).toEqual({ status: 'returned', value: { id: 'redacted-secret-1000001' } })
    const whole = parseTape(branch.text, recorder.lastTape!.replace(/[^/]*$/, 'branch.tape.jsonl'))
    const { problems, drift, comparison } = await replayTape(whole, desk)
    expect({ problems, drift, isSame: comparison.outcomeEqual }).toEqual({ problems: [], drift: [], isSame: true })
  },
)

function escaped(text: string): string {
  return text.replace(/\w/g, (sign) => `\\u${sign.charCodeAt(0).toString(16).padStart(4, '0')}`)
}

/** A text, what it says without escapes, and what its words of base64 say, three deep. */
function readings(text: string, depth = 3): string {
  const plain = text.replace(/\\+u([0-9a-f]{4})/gi, (_, code: string) => String.fromCharCode(Number.parseInt(code, 16)))
  const words = depth === 0 ? [] : (text.match(/[\w+/-]{24,}={0,2}/g) ?? [])
  const said = words.map((word) => readable(Buffer.from(word, 'base64'))).filter((one) => one !== '')
  return [text, plain, ...said.map((one) => readings(one, depth - 1))].join('\n')
}

function readable(bytes: Buffer): string {
  if (bytes.readUInt16BE() === 0x1f8b) return gunzipSync(bytes).toString()
  return /^[\t\n\r\x20-\x7e]{12}/.test(bytes.toString('latin1')) ? bytes.toString() : ''
}
