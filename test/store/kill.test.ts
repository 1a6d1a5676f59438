import { spawn, spawnSync } from 'node:child_process'
import { existsSync, readdirSync, readFileSync } from 'node:fs'
import { basename, join } from 'node:path'
import { setTimeout } from 'node:timers/promises'
import { expect, test } from 'vitest'
import { listCases, promote } from '../../src/store/index.ts'
import { call, putTape, scratch } from './make.ts'

const kills = 40
const args = ['--disable-warning=ExperimentalWarning', join(import.meta.dirname, 'promote-forever.child.ts')]
// Large enough to be on its way for a while.
const events = Array.from({ length: 400 }, (_, n) => call(n + 1, 'search', { query: `order ${n} `.repeat(200) }))

test('a promotion killed at 40 random moments leaves nothing half-made, and a second try works', {
  timeout: 300_000,
}, async () => {
  const cache = { ...process.env, NODE_COMPILE_CACHE: join(scratch(), '../cache') }
  spawnSync(process.execPath, args, { env: cache })
  const span = await timeOfTwo(cache)
  let interrupted = 0
  const killOne = async (): Promise<void> => {
    const recordings = scratch()
    const tape = putTape(recordings, 'inbox/run-1', { events })
    const text = readFileSync(tape, 'utf8')
    const promised = await promoteUntilKilled(recordings, tape, cache, Math.random() * span)
    const golden = join(recordings, 'golden')
    const found = listCases(recordings)
    expect(found.filter(({ error }) => error !== undefined)).toEqual([])
    expect(promised.filter((id) => !found.some((each) => each.id === id))).toEqual([])
    const tapes = existsSync(golden) ? readdirSync(golden).filter((name) => name.endsWith('.tape.jsonl')) : []
    for (const name of tapes) expect(readFileSync(join(golden, name), 'utf8') === text, name).toBe(true)
    // At most the promotion that was under way has its tape and no case yet.
    const ids = new Set(found.map(({ id }) => id))
    const open = tapes.map((name) => basename(name, '.tape.jsonl')).filter((id) => !ids.has(id))
    expect(open.length).toBeLessThanOrEqual(1)
    const next = open[0] ?? `case-${found.length + 1}`
    if (readdirSync(existsSync(golden) ? golden : recordings).some((name) => name.endsWith('.tmp')) || open.length > 0)
      interrupted++
    expect(promote({ recordings, tape, as: next }).content.id).toBe(next)
    expect(readdirSync(golden).filter((name) => name.startsWith('.'))).toEqual([])
  }
  // Two at a time: the moment of death is then also up to the other one.
  const lane = async (): Promise<void> => {
    for (let n = 0; n < kills / 2; n++) await killOne()
  }
  await Promise.all([lane(), lane()])
  expect(interrupted, 'kills that met a promotion half-way').toBeGreaterThan(0)
})

/** The ids the child said it had promoted. */
async function promoteUntilKilled(
  recordings: string,
  tape: string,
  env: NodeJS.ProcessEnv,
  ms: number,
): Promise<readonly string[]> {
  const child = spawn(process.execPath, [...args, recordings, tape], { env, stdio: ['ignore', 'pipe', 'inherit'] })
  let said = ''
  child.stdout.setEncoding('latin1')
  child.stdout.on('data', (text: string) => {
    said += text
  })
  const closed = new Promise((resolve) => child.once('close', resolve))
  await Promise.race([new Promise((resolve) => child.stdout.once('data', resolve)), closed])
  await setTimeout(ms)
  child.kill('SIGKILL')
  await closed
  // The first line is `ready`, the last one may be half an id.
  return said.split('\n').slice(1, -1)
}

/** Milliseconds two promotions take on this machine today: kills in this span meet them at every moment. */
async function timeOfTwo(env: NodeJS.ProcessEnv): Promise<number> {
  const recordings = scratch()
  const child = spawn(process.execPath, [...args, recordings, putTape(recordings, 'inbox/run-1', { events })], {
    env,
    stdio: ['ignore', 'pipe', 'inherit'],
  })
  const closed = new Promise((resolve) => child.once('close', resolve))
  let begun = 0
  for await (const said of child.stdout.setEncoding('latin1')) {
    if (String(said).includes('ready')) begun = performance.now()
    if (String(said).includes('case-2')) break
  }
  child.kill('SIGKILL')
  await closed
  return performance.now() - begun
}
