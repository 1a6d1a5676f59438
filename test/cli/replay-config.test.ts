import http from 'node:http'
import type { AddressInfo } from 'node:net'
import { join } from 'node:path'
import { pathToFileURL } from 'node:url'
import { copyFileSync, mkdirSync, rmSync, writeFileSync } from 'node:fs'
import { afterAll, beforeAll, expect, it } from 'vitest'
import { createRecorder } from '../../src/record/index.ts'
import type { RunVerdict } from '../../src/replay/index.ts'
import { warmHarvest as harvest } from './harvest.ts'
import { project } from './project.ts'

const server = http.createServer((request, response) => {
  request.resume()
  request.on('end', () => {
    response.setHeader('content-type', 'application/json')
    const message = { role: 'assistant', content: 'Hello.' }
    response.end(JSON.stringify({ object: 'chat.completion', choices: [{ index: 0, finish_reason: 'stop', message }] }))
  })
})

/** Asks a model; `PROMPT` is another system prompt. */
const greeter = `export async function greeter({ base }) {
  const system = process.env.PROMPT ?? 'Greet.'
  const messages = [{ role: 'system', content: system }, { role: 'user', content: 'Ada' }]
  const headers = { 'content-type': 'application/json' }
  const body = JSON.stringify({ model: 'm', messages })
  return (await (await fetch(base + '/v1/chat/completions', { method: 'POST', headers, body })).json()).choices[0].message
}
`

let cwd = ''
let tape = ''
beforeAll(async () => {
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  cwd = project({ 'src/greeter.js': greeter })
  const { greeter: agent } = (await import(pathToFileURL(join(cwd, 'src/greeter.js')).href)) as {
    readonly greeter: (input: { readonly base: string }) => Promise<unknown>
  }
  const recorder = createRecorder({ dir: join(cwd, 'recordings/inbox') })
  const input = { base: `http://127.0.0.1:${(server.address() as AddressInfo).port}` }
  await recorder.run({ agent: 'greeter', input }, () => agent(input))
  tape = recorder.lastTape!
})
afterAll(() => {
  server.close()
  rmSync(cwd, { recursive: true, force: true })
})

const config = (...plugins: readonly string[]): void => configIn('', ...plugins)
const configIn = (folder: string, ...plugins: readonly string[]): void =>
  writeFileSync(
    join(cwd, folder, 'vitest.config.ts'),
    `import { harvest } from 'vitest-harvest/plugin'
export default { plugins: [${plugins.map((options) => `harvest(${options})`).join(', ')}] }
`,
  )

async function judged(file = tape): Promise<readonly unknown[]> {
  const module = ['--module', './src/greeter.js#greeter']
  const { code, stdout, stderr } = await harvest(['replay', file, ...module, '--json'], {
    cwd,
    env: { PROMPT: 'Do not greet.' },
  })
  const told = stdout === '' ? {} : (JSON.parse(stdout) as { readonly verdict?: { readonly verdict: string } })
  return [code, told.verdict?.verdict, /HARVEST_OPTION/.exec(stdout + stderr)?.[0]]
}

it('replay --module judges by the policies of the Vitest config', { tags: 'thorough' }, async () => {
  const unproven = [1, 'unproven', undefined]
  expect(await judged()).toEqual(unproven)
  config(`{ agents: {}, drift: { instructions: 'report' } }`)
  expect(await judged()).toEqual([0, 'same', undefined])
  config(`{ agents: {}, drift: { instructions: 'fail' } }`)
  expect(await judged()).toEqual([1, 'different', undefined])
  // That of the plugin whose recordings the tape is among.
  config(`{ agents: {}, drift: 'report', recordings: 'others' }`, `{ agents: {} }`)
  expect(await judged()).toEqual(unproven)
})

it('replay --module judges a tape of a package by the policies of its package', { tags: 'thorough' }, async () => {
  const inbox = join(cwd, 'packages/a/recordings/inbox')
  mkdirSync(inbox, { recursive: true })
  const own = join(inbox, 'own.tape.jsonl')
  copyFileSync(tape, own)
  config(`{ agents: {}, drift: 'report' }`)
  expect(await judged(own)).toEqual([0, 'same', undefined])
  configIn('packages/a', '{ agents: {} }')
  expect(await judged(own)).toEqual([1, 'unproven', undefined])
  expect(await judged()).toEqual([0, 'same', undefined])
})

it.each([
  ['by itself', ['--module', './src/greeter.js#greeter']],
  ['in Vitest', []],
])('replay %s counts what was accepted for as long as the config says', { tags: 'thorough' }, async (_, module) => {
  const agents = `agents: { greeter: './src/greeter.js#greeter' }`
  const replayed = async (limit: string): Promise<readonly unknown[]> => {
    config(`{ ${agents}, ${limit} }`)
    const { code, stdout } = await harvest(['replay', tape, ...module, '--json'], {
      cwd,
      env: { PROMPT: 'Do not greet.' },
    })
    const { verdict } = JSON.parse(stdout) as { readonly verdict: RunVerdict }
    return [code, verdict.verdict, ...verdict.unproven.map(({ key, words }) => ({ key, words }))]
  }
  const [, , asked] = await replayed('')
  const { key, words } = asked as { readonly key: string; readonly words: string }
  const entry = { key, what: 'instructions', was: 'x', now: 'y', words, by: 'Ada', at: '2026-01-02T00:00:00.000Z' }
  const file = join(cwd, 'recordings/accepted.yaml')
  writeFileSync(file, `accepted:\n  - ${JSON.stringify(entry)}\n`)
  try {
    expect(await replayed('')).toEqual([0, 'same'])
    expect(await replayed('accepted: { maxDays: 1 }')).toEqual([1, 'unproven', asked])
    expect(await replayed('accepted: { maxDays: 100_000 }')).toEqual([0, 'same'])
  } finally {
    rmSync(file)
  }
})

it('replay --module refuses options of the config that it cannot know', async () => {
  writeFileSync(join(cwd, 'vitest.config.ts'), 'throw new Error("no config today")\n')
  expect(await judged()).toEqual([2, undefined, 'HARVEST_OPTION'])
  config(`{ agents: {}, drift: 'report', recordings: 'a' }`, `{ agents: {}, recordings: 'b' }`)
  expect(await judged()).toEqual([2, undefined, 'HARVEST_OPTION'])
})
