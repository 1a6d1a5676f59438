import { mkdtempSync, realpathSync, rmSync } from 'node:fs'
import { createRequire } from 'node:module'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { type Canary, startCanary } from '../../fixtures/native/canary.ts'
import { buildAddOn } from '../../fixtures/native/index.ts'
import { createRecorder } from '../../src/record/index.ts'
import { promote } from '../../src/recordings/index.ts'
import { guardLoading, installReplay, replayTape } from '../../src/replay/index.ts'
import { addOnOf, isHarmless, nameOfAddOn } from '../../src/seam/add-ons.ts'
import { watchBetterSqlite } from '../../src/seam/intercept/watch-better-sqlite.ts'
import { knownAddOns } from '../../src/seam/known-add-ons.ts'
import { readTape } from '../../src/tape/index.ts'

interface Native {
  ask(port: number): number
}

const require = createRequire(import.meta.url)
const recordings = join(realpathSync(mkdtempSync(join(tmpdir(), 'harvest-native-'))), 'recordings')
const files = { client: '', fresh: '', hashes: '' }
let canary: Canary

/** An agent whose HTTP client is native code, as one written in Rust is. */
const agent = (file: string) => () => (require(file) as Native).ask(canary.port)

beforeAll(async () => {
  canary = await startCanary()
  files.client = buildAddOn(recordings, '@native/client-linux-x64-gnu')
  files.fresh = buildAddOn(recordings, 'not-loaded-yet')
  files.hashes = buildAddOn(recordings, 'bcrypt')
})
afterAll(async () => {
  await canary[Symbol.asyncDispose]()
  rmSync(join(recordings, '..'), { recursive: true, force: true })
})

function recorded(file: string): string {
  const recorder = createRecorder({ dir: join(recordings, 'inbox') })
  recorder.run({ agent: 'native' }, agent(file))
  return recorder.lastTape ?? ''
}

test('a run beside native code says so on its tape, and without a step it is promoted only by whoever says that it takes none', () => {
  const tape = recorded(files.client)
  expect(canary.count).toBe(1)
  expect(readTape(tape).close).toMatchObject({
    outcome: { status: 'returned', value: 200 },
    unrecorded: ['native add-on @native/client'],
  })
  expect(() => promote({ recordings, tape, as: 'native' })).toThrow(
    /no step[^]*native add-on @native\/client[^]*--accept-empty/,
  )
  expect(promote({ recordings, tape, as: 'native', acceptEmpty: true }).content.baseline).toEqual([])
})

test('a replay refuses native code that it does not know, where it loads and where it was loaded before, and 0 requests arrive', async () => {
  const tape = readTape(recorded(files.client))
  await installReplay()
  const before = canary.count
  const inRun = await replayTape(tape, agent(files.fresh), { allow: ['add-on @native/client'] })
  expect(inRun.problems.map(({ message }) => message)).toEqual([expect.stringContaining('add-on not-loaded-yet')])
  expect(inRun.problems[0]?.facts.where?.['at']).toMatch(/native-code\.test\.ts:\d+/)
  await expect(guardLoading(async () => require(files.fresh) as unknown)).rejects.toThrow(
    /Blocked native code during replay: add-on not-loaded-yet[^]*What it does is unknown/,
  )
  const loadedBefore = await replayTape(tape, agent(files.client))
  expect(loadedBefore.escapes).toMatchObject([{ kind: 'add-on', target: '@native/client', allowed: false }])
  expect(loadedBefore.outcome).toMatchObject({ status: 'threw', error: { code: 'HARVEST_ESCAPE' } })
  expect(canary.count).toBe(before)
})

test('native code that is allowed by name runs and is an escape that was let through; what is known to be harmless is listed', async () => {
  const tape = readTape(recorded(files.client))
  await installReplay()
  const before = canary.count
  const { problems, escapes, listed } = await replayTape(
    tape,
    () => {
      require(files.hashes)
      return agent(files.client)()
    },
    { allow: ['add-on @native/client'] },
  )
  expect({ problems, came: canary.count - before }).toEqual({ problems: [], came: 1 })
  expect(escapes).toMatchObject([{ kind: 'add-on', target: '@native/client', allowed: true }])
  expect(listed).toMatchObject([{ kind: 'add-on', target: 'bcrypt' }])
})

test('an add-on has one name on every platform', () => {
  const names = [
    '/app/node_modules/@boundaryml/baml-darwin-arm64/baml.darwin-arm64.node',
    'C:\\app\\node_modules\\@boundaryml\\baml-win32-x64-msvc\\baml.win32-x64-msvc.node',
    '/app/node_modules/@img/sharp-linuxmusl-x64/lib/sharp-linuxmusl-x64.node',
    '/app/node_modules/@libsql/linux-x64-gnu/index.node',
    '/app/node_modules/.pnpm/bcrypt@6.0.0/node_modules/bcrypt/prebuilds/linux-x64/bcrypt.glibc.node',
    '/app/node_modules/.prisma/client/libquery_engine-debian-openssl-3.0.x.so.node',
    join(process.cwd(), 'native/build/Release/mine.node'),
  ].map(nameOfAddOn)
  expect(names).toEqual([
    '@boundaryml/baml',
    '@boundaryml/baml',
    '@img/sharp',
    '@libsql',
    'bcrypt',
    '@prisma/client',
    'native/build/Release/mine.node',
  ])
})

test('only what is known and reaches no network is harmless', () => {
  const at = (name: string) => addOnOf(`/app/node_modules/${name}${name.includes('/') ? '-' : '/'}linux-x64-gnu/x.node`)
  for (const [name, { reach }] of Object.entries(knownAddOns)) {
    expect([name, at(name).name, isHarmless(at(name))]).toEqual([name, name, reach !== 'network'])
  }
  expect(isHarmless(at('constructor'))).toBe(false)
})

test('databases that better-sqlite3 may write are listed, and what it loads is native code again', async () => {
  const tape = readTape(recorded(files.client))
  await installReplay()
  // Its native class, as its JavaScript calls it; the package is too large to be here.
  const exported = {
    Database: class {
      prepare(): void {}
      exec(): void {}
      loadExtension(): void {}
    } as unknown as new (
      ...args: unknown[]
    ) => { exec(sql: string): void; loadExtension(file: string): void },
  }
  watchBetterSqlite(exported)
  const { Database } = exported
  const open = (file: string, isAnonymous: boolean, isReadOnly: boolean) =>
    new Database(file, file, isAnonymous, isReadOnly)
  const early = open('/before.db', false, false)
  const { listed, escapes } = await replayTape(
    tape,
    () => {
      open(':memory:', true, false)
      open('/read.db', false, true)
      open('/written.db', false, false).exec("attach '/other.db' as other")
      early.exec('select 1')
      early.loadExtension('/app/node_modules/sqlite-vec-linux-x64/vec0.so')
      early.loadExtension('/app/node_modules/sqlite-http/http0.so')
    },
    { allow: ['add-on @native/client'] },
  )
  expect(listed.map(({ kind, target }) => `${kind} ${target}`)).toEqual([
    // The test before loaded it.
    'add-on bcrypt',
    'write /written.db',
    `write ${join(process.cwd(), 'a file named in ATTACH')}`,
    'write /before.db',
    'add-on sqlite-vec',
  ])
  expect(escapes).toMatchObject([
    { target: '@native/client' },
    { kind: 'add-on', target: 'sqlite-http', allowed: false },
  ])
})
