import { spawn, spawnSync } from 'node:child_process'
import { existsSync, mkdtempSync, readdirSync, readFileSync, rmSync, statSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { basename, dirname, join } from 'node:path'
import { DatabaseSync } from 'node:sqlite'
import { setTimeout } from 'node:timers/promises'
import { beforeAll, expect, test } from 'vitest'
import { loadCase } from '../../src/cases/index.ts'
import { filesBelow } from '../../src/recordings/files.ts'
import { sweepTemporaries } from '../../src/tape/new-file.ts'
import {
  demote,
  holdOf,
  listCases,
  promote,
  queryTapes,
  readFacts,
  removeTapes,
  writeFileAtomic,
} from '../../src/recordings/index.ts'
import { bundle } from './bundle.ts'
import { call, errorOf, put, putTape, scratch, tapeText } from './make.ts'
import { mulberry32 } from './mulberry32.ts'
import { numbered } from './numbered.ts'

/** How often each operation is killed: enough to see what is not atomic. `npm run test:explore` kills 200 times. */
const kills = Number(process.env['HARVEST_KILLS'] ?? 40)
const seed = Number(process.env['HARVEST_KILL_SEED'] ?? 20_260_304)
const random = mulberry32(seed)

const programs = mkdtempSync(join(tmpdir(), 'harvest-kill-'))
const env = { ...process.env, NODE_COMPILE_CACHE: join(programs, 'compiled') }
type Child = 'kill.child.ts' | 'index-forever.child.ts'
let bundled: Readonly<Record<Child, string>>
const childArgs = (child: Child, ...args: readonly string[]): string[] => [
  '--disable-warning=ExperimentalWarning',
  bundled[child],
  ...args,
]

beforeAll(async () => {
  const source = (child: Child): string => join(import.meta.dirname, child)
  const [kill, index] = ['kill.child.ts', 'index-forever.child.ts'] as const
  bundled = await bundle({ [kill]: source(kill), [index]: source(index) }, programs)
  for (const child of [kill, index]) spawnSync(process.execPath, childArgs(child), { env, stdio: 'inherit' })
  process.stderr.write(`kill.test.ts: seed ${seed}\n`)
  return () => rmSync(programs, { recursive: true, force: true })
})

/** Lines the child said before it was killed, which is a while after the line that is waited for. */
async function killed(args: readonly string[], line: string, ms: number): Promise<readonly string[]> {
  const child = spawn(process.execPath, args, { env, stdio: ['ignore', 'pipe', 'inherit'] })
  let said = ''
  const closed = new Promise<void>((resolve) => child.once('close', () => resolve()))
  const waited = new Promise<void>((resolve) => {
    child.stdout.setEncoding('latin1').on('data', (text: string) => {
      said += text
      if (said.includes(`${line}\n`)) resolve()
    })
  })
  await Promise.race([waited, closed])
  if (ms > 0) await setTimeout(ms)
  child.kill('SIGKILL')
  await closed
  expect(child.signalCode, `the child ended by itself; seed ${seed}`).toBe('SIGKILL')
  // The last line may be half a word.
  return said.split('\n').slice(0, -1)
}

/**
 * Two at a time: the moment of death is then also up to the other one. Goes on, at most four times as long, until enough
 * kills met what is of interest: how many do depends on how busy the machine is.
 */
async function killOften(one: () => Promise<void>, isEnough: () => boolean): Promise<void> {
  const lane = async (count: number): Promise<void> => {
    for (let n = 0; n < count || (n < 4 * count && !isEnough()); n++) await one()
  }
  await Promise.all([lane(Math.ceil(kills / 2)), lane(Math.floor(kills / 2))])
}

const hidden = (folder: string): readonly string[] =>
  (existsSync(folder) ? readdirSync(folder) : []).filter((name) => name.startsWith('.'))

const events = Array.from({ length: 40 }, (_, n) => call(n + 1, 'search', { query: `order ${n} `.repeat(100) }))

/** What is prepared before an operation, and what must hold after it was killed. */
interface Trial {
  readonly name: string
  prepare(recordings: string): void
  /**
   * Looks at what is left and tries again.
   *
   * @param done - how many rounds the child said were done
   * @returns whether the kill met something half-done
   */
  check(recordings: string, done: number): boolean
}

const promotion: Trial = {
  name: 'promote',
  prepare: (recordings) => putTape(recordings, 'inbox/run-1', { events }),
  check(recordings, done) {
    const tape = join(recordings, 'inbox/run-1.tape.jsonl')
    const text = readFileSync(tape, 'utf8')
    const golden = join(recordings, 'golden')
    const found = listCases(recordings)
    expect(found.filter(({ error }) => error !== undefined)).toEqual([])
    for (let n = 1; n <= done; n++) expect(found.map(({ id }) => id)).toContain(`case-${n}`)
    const tapes = filesBelow(golden, (name) => name.endsWith('.tape.jsonl'))
    for (const file of tapes) expect(readFileSync(file, 'utf8') === text, file).toBe(true)
    // At most the promotion that was under way has its tape and no case yet.
    const ids = new Set(found.map(({ id }) => id))
    const open = tapes.map((file) => basename(file, '.tape.jsonl')).filter((id) => !ids.has(id))
    expect(open.length).toBeLessThanOrEqual(1)
    const isHalfDone = open.length > 0 || hidden(golden).length > 0
    const next = open[0] ?? `case-${found.length + 1}`
    expect(promote({ recordings, tape, as: next }).content.id).toBe(next)
    expect(hidden(golden)).toEqual([])
    return isHalfDone
  },
}

const update: Trial = {
  name: 'update',
  prepare: (recordings) => put(recordings, 'golden/a.case.yaml', numbered(0)),
  check(recordings, done) {
    const golden = join(recordings, 'golden')
    const file = join(golden, 'a.case.yaml')
    const text = readFileSync(file, 'utf8')
    expect([numbered(done), numbered(done + 1)].includes(text), text.slice(0, 100)).toBe(true)
    expect(loadCase(file).id).toBe('a')
    const isHalfDone = hidden(golden).length > 0
    writeFileAtomic(file, numbered(-1))
    expect(readFileSync(file, 'utf8')).toBe(numbered(-1))
    sweepTemporaries(golden)
    expect(readdirSync(golden)).toEqual(['a.case.yaml'])
    return isHalfDone
  },
}

const tapes = Array.from({ length: 20 }, (_, at) => at + 1)
const isToBeHeld = (n: number): boolean => n % 4 === 0

const removal: Trial = {
  name: 'rm',
  prepare(recordings) {
    for (const n of tapes) put(recordings, `inbox/run-${n}.tape.jsonl`, tapeText())
  },
  check(recordings, done) {
    const inbox = join(recordings, 'inbox')
    const fileOf = (n: number): string => join(inbox, `run-${n}.tape.jsonl`)
    const isHalfDone = hidden(inbox).length > 0
    for (const n of tapes) {
      if (n <= done && !isToBeHeld(n)) expect(existsSync(fileOf(n)), `run-${n} was removed`).toBe(false)
      if (n <= done && isToBeHeld(n)) expect(holdOf(fileOf(n), undefined)).toMatchObject({ reason: `claim ${n}` })
      // The one it was at may be gone, or aside.
      if (isToBeHeld(n) || n > done + 1) expect(readFileSync(fileOf(n), 'utf8') === tapeText(), `run-${n}`).toBe(true)
    }
    const held = tapes.filter((n) => holdOf(fileOf(n), undefined) !== undefined)
    for (const n of held)
      expect(errorOf(() => removeTapes(recordings, [fileOf(n)])).code).toBe('HARVEST_RECORDINGS_HELD')
    removeTapes(recordings, tapes.filter((n) => !held.includes(n) && existsSync(fileOf(n))).map(fileOf))
    sweepTemporaries(inbox)
    const left = held.flatMap((n) => [`run-${n}.hold.json`, `run-${n}.tape.jsonl`])
    expect(readdirSync(inbox).sort()).toEqual(left.sort())
    return isHalfDone
  },
}

const demoted = [1, 2, 3, 4].map((n) => ({ id: `case-${n}`, text: tapeText({ header: { id: `run-${n}` }, events }) }))

const demotion: Trial = {
  name: 'demote',
  prepare(recordings) {
    for (const { id, text } of demoted) {
      put(recordings, `golden/${id}.tape.jsonl`, text)
      put(recordings, `golden/${id}.case.yaml`, `case: ${id}\nagent: refund\ntape: ${id}.tape.jsonl\nexpect: pass\n`)
    }
  },
  check(recordings, done) {
    const golden = join(recordings, 'golden')
    const inbox = join(recordings, 'inbox')
    expect(listCases(recordings).filter(({ error }) => error !== undefined)).toEqual([])
    const goldenOf = (id: string): readonly string[] => readdirSync(golden).filter((name) => name.startsWith(`${id}.`))
    let isHalfDone = hidden(inbox).length > 0
    for (const [at, { id, text }] of demoted.entries()) {
      const back = join(inbox, `run-${at + 1}.tape.jsonl`)
      const places = [back, join(golden, `${id}.tape.jsonl`)].filter((file) => existsSync(file))
      expect(places.length, id).toBeGreaterThan(0)
      for (const file of places) expect(readFileSync(file, 'utf8') === text, file).toBe(true)
      if (at < done) expect([places, goldenOf(id)]).toEqual([[back], []])
      if (at !== done) continue
      // The one it was at: gone on with where it stopped.
      isHalfDone ||= places.length === 2 || goldenOf(id).length === 1
      if (goldenOf(id).length > 0) demote(recordings, id)
      expect([readFileSync(back, 'utf8') === text, goldenOf(id), hidden(inbox)]).toEqual([true, [], []])
    }
    return isHalfDone
  },
}

const trials = [promotion, update, removal, demotion]

test(`promotion, update, removal and demotion killed together at ${kills} random places leave nothing half-made, lose nothing that was promised, and work when tried again`, {
  tags: 'thorough',
}, async () => {
  const halfDone = new Map(trials.map(({ name }) => [name, 0]))
  await killOften(
    async () => {
      const folder = dirname(scratch())
      for (const { name, prepare } of trials) prepare(join(folder, name))
      const own = Math.floor(random() * 1_000_000)
      const lines = await killed(childArgs('kill.child.ts', folder, `${own}`), 'stopped', 0)
      for (const { name, check } of trials) {
        const done = lines.filter((line) => line.startsWith(`${name} `)).length
        try {
          if (check(join(folder, name), done)) halfDone.set(name, halfDone.get(name)! + 1)
        } catch (error) {
          throw new Error(`${name}, after ${done} rounds; node test/recordings/kill.child.ts <folder> ${own}`, {
            cause: error,
          })
        }
      }
      rmSync(folder, { recursive: true })
    },
    () => [...halfDone.values()].every((count) => count > kills / 10),
  )
  for (const [name, count] of halfDone) expect(count, `kills that met a half-done ${name}`).toBeGreaterThan(kills / 10)
})

test(`an index killed at ${kills} random moments is whole, and the next list is right`, {
  tags: 'thorough',
}, async () => {
  let open = 0
  let tried = 0
  await killOften(
    async () => {
      const recordings = scratch()
      put(recordings, 'inbox/.gitkeep', '')
      // Every other one between two calls of the database: on a busy machine none of the rest may have it open.
      const isAtCall = tried++ % 2 === 0
      const [calls, ms] = [Math.floor(random() * 60), random() * 20]
      const lines = isAtCall
        ? await killed(childArgs('index-forever.child.ts', recordings, `${calls}`), 'stopped', 0)
        : await killed(childArgs('index-forever.child.ts', recordings), 'ready', ms)
      const rounds = lines.filter((line) => /^\d+$/.test(line)).length
      const file = join(recordings, 'inbox/.index/tapes.sqlite')
      // Killed while it had the database open: what it wrote last is beside it.
      if (existsSync(`${file}-wal`)) open++
      if (existsSync(file)) expect(integrityOf(file)).toBe('ok')
      const { tapes: readable, unreadable, note } = await queryTapes(recordings)
      expect(note).toBeUndefined()
      const listed = [...readable, ...unreadable].map(({ place: _, costUsd: __, ended: ___, ...facts }) => facts)
      expect(listed.length).toBeGreaterThanOrEqual(rounds * 3)
      expect(listed.sort((a, b) => (a.file < b.file ? -1 : 1))).toEqual(await truth(recordings))
      rmSync(dirname(recordings), { recursive: true })
    },
    () => open > kills / 10,
  )
  expect(open, 'kills that met an open index').toBeGreaterThan(kills / 10)
})

test('an index that several processes use at once, while tapes are written over one another, is right in the end', async () => {
  const recordings = scratch()
  put(recordings, 'inbox/.gitkeep', '')
  // Each writes the same tapes again, and lists them.
  const said = await Promise.all([1, 2, 3].map(() => killed(childArgs('index-forever.child.ts', recordings), '20', 0)))
  for (const lines of said) expect(lines.slice(0, 4)).toEqual(['ready', '1', '2', '3'])
  expect(integrityOf(join(recordings, 'inbox/.index/tapes.sqlite'))).toBe('ok')
  const { tapes: readable, unreadable, note } = await queryTapes(recordings)
  expect(note).toBeUndefined()
  const listed = [...readable, ...unreadable].map(({ place: _, costUsd: __, ended: ___, ...facts }) => facts)
  expect(listed.sort((a, b) => (a.file < b.file ? -1 : 1))).toEqual(await truth(recordings))
})

function integrityOf(file: string): unknown {
  const database = new DatabaseSync(file)
  try {
    return database.prepare('PRAGMA integrity_check').get()?.['integrity_check']
  } finally {
    database.close()
  }
}

async function truth(recordings: string): Promise<readonly object[]> {
  const files = filesBelow(recordings, (name) => name.endsWith('.tape.jsonl'))
  return Promise.all(files.map(async (file) => ({ file, ...(await readFacts(file, statSync(file).size)) })))
}
