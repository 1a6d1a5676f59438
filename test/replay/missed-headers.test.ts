import { mkdirSync, writeFileSync } from 'node:fs'
import { createServer } from 'node:http'
import { dirname, join } from 'node:path'
import { pathToFileURL } from 'node:url'
import { expect, test } from 'vitest'
import { createRecorder } from '../../src/record/index.ts'
import { inexactParts, replayTape, verdictOf } from '../../src/replay/index.ts'
import { readTape, type Tape } from '../../src/tape/index.ts'
import { served } from '../support/served.ts'
import { temporaryFolder } from '../support/temporary-folder.ts'

const base = served(
  createServer((_, response) => {
    response.setHeader('x-rate-remaining', '0')
    response.setHeader('x-shard', '7')
    response.end('ok')
  }),
)

type Look = (headers: Headers) => unknown

const agent = (look: Look) => async () => {
  const seen = new Set<unknown>()
  for (const path of ['/first', '/packed']) {
    // One is answered by us, the other one by undici.
    const response = await fetch(base() + path, path === '/packed' ? { redirect: 'manual' } : {})
    seen.add(look(response.headers))
    await response.text()
  }
  if (seen.has('0')) await (await fetch(`${base()}/alarm`, { method: 'POST', body: 'low' })).text()
  return 'done'
}

async function record(look: Look, redact = {}): Promise<Tape> {
  const dir = temporaryFolder('missed-headers')
  await createRecorder({ dir, redact }).run({ agent: 'desk', id: 'run' }, agent(look))
  return readTape(join(dir, 'run.tape.jsonl'))
}

const nothing: Look = () => undefined

test.for<readonly [string, Look]>([
  ['get', (headers) => headers.get('X-Rate-Remaining')],
  ['has', (headers) => headers.has('x-rate-remaining')],
])(
  'a header that no recorder kept and the agent looks for by %s is listed, with the way to keep it',
  async ([, look]) => {
    const run = await replayTape(await record(nothing), agent(look))
    expect(verdictOf(run).verdict).toBe('same')
    expect(run.notCompared).toMatchObject([
      {
        kind: 'hidden part',
        placeholder: 'the header x-rate-remaining of an answer',
        why: "tapes have listed headers of answers alone: redact: { headers: ['x-rate-remaining'] } of the recorder keeps this one",
      },
    ])
    expect(inexactParts(run)).toEqual(['not compared: hidden part, answer.headers.x-rate-remaining'])
  },
)

test('a difference that comes of it names the header', async () => {
  const look: Look = (headers) => headers.get('x-rate-remaining')
  const { problems } = await replayTape(await record(look), agent(look))
  expect(problems.map(({ code }) => code)).toEqual(['HARVEST_UNUSED'])
  expect(problems[0]?.facts.where?.['not on tape']).toBe(
    "header x-rate-remaining of an answer; redact: { headers: ['x-rate-remaining'] } of the recorder keeps this one",
  )
  const kept = await replayTape(await record(look, { headers: ['x-rate-remaining'] }), agent(look))
  expect([kept.problems, kept.notCompared]).toEqual([[], []])
})

test('a header that tapes keep, one that is there, and headers of the agent itself are not listed', async () => {
  const tape = await record(nothing, { headers: ['x-shard'] })
  const looks: Look = (headers) => {
    new Headers().get('x-mine')
    return [headers.get('retry-after'), headers.get('x-shard'), headers.has('date')]
  }
  expect((await replayTape(tape, agent(looks))).notCompared).toEqual([])
})

test('a header that a package looks for is not listed: SDKs do so for themselves', async () => {
  const dir = temporaryFolder('missed-by-package')
  const file = join(dir, 'node_modules/an-sdk/index.mjs')
  mkdirSync(dirname(file), { recursive: true })
  writeFileSync(file, 'export const look = (headers) => headers.get("x-rate-remaining")\n')
  const { look } = (await import(/* @vite-ignore */ pathToFileURL(file).href)) as { look: Look }
  expect((await replayTape(await record(nothing), agent(look))).notCompared).toEqual([])
})
