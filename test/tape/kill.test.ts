import { spawn, spawnSync } from 'node:child_process'
import { join } from 'node:path'
import { setTimeout } from 'node:timers/promises'
import { expect, test } from 'vitest'
import { killOften } from '../../bench/kill/kill.ts'
import { readTape } from '../../src/tape/index.ts'
import { scratch } from './make.ts'

/** Enough to see an event that is lost; `npm run test:explore` kills 200 times. */
const kills = Number(process.env['HARVEST_KILLS'] ?? 60)
const args = ['--disable-warning=ExperimentalWarning', join(import.meta.dirname, 'append-forever.ts')]

test(`a recorder killed at ${kills} random moments loses no event it had appended`, async () => {
  const directory = scratch()
  const paths = Array.from({ length: kills }, (_, at) => join(directory, `${at}.tape.jsonl`))
  const env = { ...process.env, NODE_COMPILE_CACHE: join(directory, 'cache') }
  spawnSync(process.execPath, [...args], { env })
  let promised = 0
  const killOne = async (path: string): Promise<void> => {
    const acknowledged = await appendUntilKilled(path, env)
    const numbers = readTape(path).events.map(({ n }) => n)
    expect(numbers).toStrictEqual(Array.from({ length: numbers.length }, (_, at) => at + 1))
    expect(numbers.length).toBeGreaterThanOrEqual(acknowledged)
    promised += acknowledged
  }
  // Two at a time: the moment of death is then also up to the other one.
  await Promise.all(
    [0, 1].map(async (lane) => {
      for (const path of paths.filter((_, at) => at % 2 === lane)) await killOne(path)
    }),
  )
  expect(promised).toBeGreaterThan(kills)
})

test('a service killed with calls under way names each of them with its request, and has every answer it had read', {
  timeout: 300_000,
}, async () => {
  // bench/kill does this a thousand times.
  const { faults, promises, openCalls } = await killOften({ scratch: scratch(), kills: 6, lanes: 2 })
  expect(faults).toEqual([])
  expect(promises).toBeGreaterThan(0)
  expect(openCalls).toBeGreaterThan(0)
})

/** How many events the child said it had appended. */
async function appendUntilKilled(path: string, env: NodeJS.ProcessEnv): Promise<number> {
  const child = spawn(process.execPath, [...args, path], { env, stdio: ['ignore', 'pipe', 'inherit'] })
  let said = ''
  child.stdout.setEncoding('latin1')
  child.stdout.on('data', (text: string) => {
    said += text
  })
  const closed = new Promise((resolve) => child.once('close', resolve))
  await Promise.race([new Promise((resolve) => child.stdout.once('data', resolve)), closed])
  await setTimeout(Math.random() * 20)
  child.kill('SIGKILL')
  await closed
  // The last line may be half a number.
  return Number(said.slice(0, said.lastIndexOf('\n')).split('\n').at(-1))
}
