import { spawn } from 'node:child_process'
import { mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, expect, onTestFinished, test } from 'vitest'
import { compileCache } from '../../fixtures/child/compile-cache.ts'
import { type Provider, startProvider } from '../../fixtures/provider/index.ts'
import type { ProgramReport } from '../../src/replay/program.ts'
import { readTape } from '../../src/tape/index.ts'

// Whole programs, recorded and replayed by `--import`: what they print and how they end is part of the run.
let provider: Provider
beforeAll(async () => {
  provider = await startProvider()
})
afterAll(() => provider.close())

const hooks = {
  record: new URL('../../src/record/register.ts', import.meta.url).href,
  replay: new URL('../../src/replay/register.ts', import.meta.url).href,
}

interface Ended {
  readonly code: number | null
  readonly signal: string | null
  readonly stdout: string
  readonly stderr: string
}

function run(hook: keyof typeof hooks, file: string, env: Record<string, string>, stopAt?: string): Promise<Ended> {
  const child = spawn(process.execPath, ['--import', hooks[hook], file], {
    env: { PATH: '', BASE: provider.base, ...compileCache, ...env },
  })
  const said = { stdout: '', stderr: '' }
  for (const name of ['stdout', 'stderr'] as const) {
    child[name].setEncoding('utf8').on('data', (text: string) => {
      said[name] += text
      if (stopAt && said[name].includes(stopAt)) child.kill('SIGTERM')
    })
  }
  return new Promise((resolve) => child.on('close', (code, signal) => resolve({ code, signal, ...said })))
}

async function recordAndReplay(
  name: string,
  source: string,
  { stopAt, base = provider.base }: { stopAt?: string; base?: string } = {},
) {
  const dir = mkdtempSync(join(tmpdir(), 'harvest-program-'))
  onTestFinished(() => rmSync(dir, { recursive: true, force: true }))
  const file = join(dir, name)
  writeFileSync(file, source)
  const tapes = join(dir, 'tapes')
  const recorded = await run('record', file, { VITEST_HARVEST_DIR: tapes, VITEST_HARVEST_ID: 'program' }, stopAt)
  expect(readdirSync(tapes), recorded.stderr).toEqual(['program.tape.jsonl'])
  const path = join(tapes, 'program.tape.jsonl')
  const tape = readTape(path)
  if (stopAt) return { recorded, tape }
  const reportPath = join(dir, 'report.json')
  const replayed = await run('replay', file, {
    BASE: base,
    VITEST_HARVEST_TAPE: path,
    VITEST_HARVEST_REPORT: reportPath,
    REPLAYED: '1',
  })
  const report = JSON.parse(readFileSync(reportPath, 'utf8')) as ProgramReport
  return { recorded, tape, replayed, report }
}

const call = `
const response = await fetch(process.env.BASE + '/tool/dice')
console.log(await response.text(), Date.now(), Math.random())
`

const programs: Readonly<Record<string, readonly [file: string, source: string, code: number]>> = {
  'a module': ['app.mjs', call, 0],
  'a TypeScript module': ['app.ts', `const answer: number = 1\n${call}`, 0],
  'a CommonJS file': ['app.cjs', `void (async () => {${call}})()`, 0],
  'a program that sets its exit code': ['app.mjs', `${call}\nprocess.exitCode = 3`, 3],
  'a program that exits in the middle': ['app.mjs', `${call}\nprocess.exit(4)\nconsole.log('never')`, 4],
  'a program that throws': ['app.mjs', `${call}\nthrow new Error('broken')`, 1],
  'a program with a rejection nobody handles': [
    'app.mjs',
    `${call}\nPromise.reject(new Error('lost'))\nsetTimeout(() => console.log('never'), 50)`,
    1,
  ],
  'a program that writes to stderr': ['app.mjs', `${call}\nconsole.error('careful')`, 0],
  'a program that waits': [
    'app.mjs',
    `${call}\nawait new Promise((resolve) => setTimeout(resolve, 200))\nconsole.log('waited')`,
    0,
  ],
}

test.for(Object.keys(programs))('%s ends as it did, having said the same', async (name) => {
  const [file, source, code] = programs[name]!
  const { recorded, tape, replayed, report } = await recordAndReplay(file, source)
  expect(recorded).toMatchObject({ code, signal: null })
  expect(tape.close?.outcome).toMatchObject({ status: 'exited', code, stdout: recorded.stdout })
  expect(report?.problems).toEqual([])
  expect(report?.outcomeDiffers).toEqual([])
  expect(replayed).toMatchObject({ code, stdout: recorded.stdout })
  expect(report?.comparison).toMatchObject({ recorded: 1, served: 1, identical: 1 })
})

test('a program ended by a signal leaves a tape without a last line, with all that happened before', async () => {
  const { recorded, tape } = await recordAndReplay(
    'app.mjs',
    `${call}\nconsole.log('ready')\nsetInterval(() => undefined, 1000)`,
    { stopAt: 'ready' },
  )
  expect(recorded.signal).toBe('SIGTERM')
  expect(tape.close).toBeUndefined()
  expect(tape.events).toContainEqual(expect.objectContaining({ kind: 'exchange', method: 'GET' }))
})

test('a program that does something else says so in its report', async () => {
  const source = `const response = await fetch(process.env.BASE + '/tool/' + (process.env.REPLAYED ? 'other' : 'dice')).catch((error) => error)
console.log(response.status ?? String(response))`
  const { report } = await recordAndReplay('app.mjs', source)
  expect(report?.problems.map(({ code }) => code)).toEqual(['HARVEST_DIVERGENCE'])
  expect(report?.outcomeDiffers).toEqual(['stdout'])
})

test('a Node program that the recorded one starts is no run of its own', async () => {
  const dir = mkdtempSync(join(tmpdir(), 'harvest-program-'))
  onTestFinished(() => rmSync(dir, { recursive: true, force: true }))
  const file = join(dir, 'parent.mjs')
  writeFileSync(
    file,
    `import { spawn } from 'node:child_process'
const child = spawn(process.execPath, ['-e', 'console.log("child", process.env.NODE_OPTIONS ?? "plain")'], { stdio: 'inherit' })
await new Promise((resolve) => child.on('close', resolve))`,
  )
  const env = { NODE_OPTIONS: `--no-deprecation --import=${hooks.record}`, VITEST_HARVEST_DIR: join(dir, 'tapes') }
  const child = spawn(process.execPath, [file], { env: { PATH: '', ...env, VITEST_HARVEST_ID: 'parent' } })
  let said = ''
  for (const stream of [child.stdout, child.stderr])
    stream.setEncoding('utf8').on('data', (text: string) => (said += text))
  await new Promise((resolve) => child.on('close', resolve))
  expect(said).toBe('child --no-deprecation\n')
  expect(readdirSync(env.VITEST_HARVEST_DIR)).toEqual(['parent.tape.jsonl'])
})
