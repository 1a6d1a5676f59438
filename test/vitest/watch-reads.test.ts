import {
  lstatSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  statSync,
  utimesSync,
  writeFileSync,
  existsSync,
} from 'node:fs'
import { readFile, stat } from 'node:fs/promises'
import { createRequire, type ModuleHooks } from 'node:module'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { beforeEach, describe, expect, it, onTestFinished, vi } from 'vitest'
import { changedVariables, readVariables } from '../../src/jobs/run-reads.ts'
import { watchReads } from '../../src/vitest/watch-reads.ts'

let root = ''
/** What runs returned: a read by a promise ends before its folder goes. */
let returned: unknown[] = []
beforeEach(() => {
  root = mkdtempSync(join(tmpdir(), 'harvest-reads-'))
  returned = []
  onTestFinished(async () => {
    await Promise.all(returned)
    vi.unstubAllEnvs()
    rmSync(root, { recursive: true, force: true })
  })
})
/** A file that was there before. */
function file(name: string, text: string): string {
  const path = join(root, name)
  mkdirSync(join(path, '..'), { recursive: true })
  writeFileSync(path, text)
  utimesSync(path, 1, 1)
  utimesSync(join(path, '..'), 1, 1)
  return path
}
/** What is not as it was once `change` was made, of what `run` read. */
function changed(run: () => unknown, change: () => void): readonly string[] {
  const before = watchReads(root)
  returned.push(run())
  const reads = before.reads()
  change()
  return watchReads(root).changedSince(reads)
}
const variables = (run: () => unknown) =>
  changed(run, () => {
    vi.stubEnv('HARVEST_FLAG', 'on')
    vi.stubEnv('HARVEST_OTHER', 'x')
  })

describe('what runs read besides their code', () => {
  it('is as it was while nothing of it changes, and holds no value', () => {
    vi.stubEnv('HARVEST_FLAG', 'a value nobody should see')
    const path = file('notes.txt', 'a text nobody should see')
    const watch = watchReads(root)
    expect([process.env['HARVEST_FLAG'], readFileSync(path, 'utf8')]).toHaveLength(2)
    const reads = watch.reads()
    expect(reads).toMatchObject({ set: ['HARVEST_FLAG'], unset: [] })
    expect(JSON.stringify(reads)).not.toContain('nobody')
    expect(watchReads(root).changedSince(reads)).toEqual([])
    expect(watchReads(root).reads().values).not.toBe(reads.values)
  })

  it.each<[string, () => unknown]>([
    ['by its name', () => process.env['HARVEST_FLAG'] === 'on'],
    ['whether it is there', () => 'HARVEST_FLAG' in process.env],
    ['as a property of its own', () => Object.hasOwn(process.env, 'HARVEST_FLAG')],
    ['taken out of all of them', () => ({ ...process.env })['HARVEST_FLAG']],
    [
      'through the module of Node',
      () => (createRequire(import.meta.url)('node:process') as NodeJS.Process).env['HARVEST_FLAG'],
    ],
    ['as Vite names it', () => (import.meta.env as Record<string, unknown>)['HARVEST_FLAG']],
  ])('is a variable that was not set, read %s', (_, run) => {
    expect(variables(run).join()).toMatch(/HARVEST_FLAG \(was unset, is set\)|names of the environment/)
  })

  it.each([
    ['other', 'environment variable HARVEST_FLAG (another value)'],
    [undefined, 'environment variable HARVEST_FLAG (was set, is unset)'],
  ])('is the value of a variable, which is %s now', (value, said) => {
    vi.stubEnv('HARVEST_FLAG', 'on')
    expect(
      changed(
        () => process.env['HARVEST_FLAG'],
        () => vi.stubEnv('HARVEST_FLAG', value),
      ),
    ).toEqual([said])
  })

  it('is not another key of who replays what was made with it, where its name or its look is that of a key', () => {
    const now = { OPENAI_API_KEY: 'sk-one', ROUTE_KEY: 'eu', SERVICE: 'AKIAIOSFODNN7EXAMPLE eu' }
    const other = { OPENAI_API_KEY: 'sk-two', ROUTE_KEY: 'us', SERVICE: 'AKIAIOSFODNN7EXAMPLE us' }
    const set = (values: Readonly<Record<string, string | undefined>>): void =>
      void Object.entries(values).map(([name, value]) => vi.stubEnv(name, value))
    set(now)
    const watch = watchReads(root)
    expect(Object.keys(now).map((name) => process.env[name])).toEqual(Object.values(now))
    const reads = watch.reads()
    expect(reads.keys).toEqual(['OPENAI_API_KEY'])
    const since = (
      values: Readonly<Record<string, string | undefined>>,
      isFree?: (name: string, isNamed: boolean) => boolean,
    ) => {
      set({ ...now, ...values })
      return watchReads(root).changedSince(reads, isFree)
    }
    // A hint is one of 256: where two values share one, all variables that may have another value are named.
    const changed = (name: string): unknown[] => [
      expect.stringMatching(
        new RegExp(
          `^(?:environment variable|one or more of the environment variables)\\b.* ${name}\\b.*\\(another value\\)$`,
        ),
      ),
    ]
    const { OPENAI_API_KEY } = other
    expect(since({ OPENAI_API_KEY })).toEqual(changed('OPENAI_API_KEY'))
    expect(since({ OPENAI_API_KEY }, (_, isNamed) => isNamed)).toEqual([])
    expect(since({ OPENAI_API_KEY }, () => false)).toEqual(changed('OPENAI_API_KEY'))
    expect(since({ OPENAI_API_KEY: '' }, () => true)).toEqual(changed('OPENAI_API_KEY'))
    expect(since({ OPENAI_API_KEY: undefined }, () => true)).toEqual([
      'environment variable OPENAI_API_KEY (was set, is unset)',
    ])
    for (const name of ['ROUTE_KEY', 'SERVICE'] as const)
      expect(since({ OPENAI_API_KEY, [name]: other[name] }, () => true)).toEqual(changed(name))
  })

  it('is not another value of what is sent as a key then and today, as long as nothing else changed', () => {
    const now = { GATEWAY: 'sk-test-one', MODE: 'a' }
    const by = { salt: 'a salt', names: Object.keys(now), isListed: false }
    const reads = { ...readVariables(now, by, { sentKeys: ['GATEWAY', 'UNREAD'] }), files: {} }
    expect(reads.sentKeys).toEqual(['GATEWAY'])
    const rotated = { ...now, GATEWAY: 'sk-test-two' }
    const another = (name: string) => [`environment variable ${name} (another value)`]
    expect(changedVariables(reads, rotated)).toEqual(another('GATEWAY'))
    expect(changedVariables(reads, rotated, () => true)).toEqual([])
    expect(changedVariables(reads, rotated, () => false)).toEqual(another('GATEWAY'))
    expect(changedVariables(reads, { ...rotated, MODE: 'b' }, () => true)).toEqual(another('MODE'))
    const { plain: _, ...earlier } = reads
    expect(changedVariables(earlier, rotated, () => true)).not.toEqual([])
  })

  it('is a key that another variable had, for who replays, too', () => {
    const now = { CRM_KEY: 'sk-one', SHOP_KEY: 'sk-two' }
    const by = { salt: 'a salt', names: Object.keys(now), isListed: false }
    const reads = {
      ...readVariables(now, by, { isKey: (name) => name === 'CRM_KEY', sentKeys: ['SHOP_KEY'] }),
      files: {},
    }
    const free = (one: Readonly<Record<string, string>>) => changedVariables(reads, one, () => true)
    expect(free(now)).toEqual([])
    expect(free({ CRM_KEY: 'sk-three', SHOP_KEY: 'sk-four' })).toEqual([])
    expect(free({ CRM_KEY: 'sk-two', SHOP_KEY: 'sk-one' })).toEqual(
      ['CRM_KEY', 'SHOP_KEY'].map((name) => `environment variable ${name} (another value)`),
    )
    expect(free({ CRM_KEY: 'sk-three', SHOP_KEY: 'sk-one' })).toEqual(['environment variable SHOP_KEY (another value)'])
    const { keyHints: _, ...earlier } = reads
    expect(changedVariables(earlier, { CRM_KEY: 'sk-two', SHOP_KEY: 'sk-one' }, () => true)).toEqual([])
  })

  it('of several variables names those with another value, and without their hints all of them', () => {
    const now = { HARVEST_KEY: 'k', HARVEST_MODE: 'a', HARVEST_REGION: 'eu' }
    const reads = { ...readVariables(now, { salt: 'a salt', names: Object.keys(now), isListed: false }), files: {} }
    expect(changedVariables(reads, now)).toEqual([])
    expect(changedVariables(reads, { ...now, HARVEST_MODE: 'b' })).toEqual([
      'environment variable HARVEST_MODE (another value)',
    ])
    expect(changedVariables(reads, { HARVEST_MODE: 'b', HARVEST_REGION: 'eu' })).toEqual([
      'environment variable HARVEST_KEY (was set, is unset)',
      'environment variable HARVEST_MODE (another value)',
    ])
    const { hints: _, ...earlier } = reads
    expect(changedVariables(earlier, { ...now, HARVEST_MODE: 'b' })).toEqual([
      'one or more of the environment variables HARVEST_KEY, HARVEST_MODE, HARVEST_REGION (another value)',
    ])
  })

  it('is no variable that nothing asked for, and no value of those that were listed alone', () => {
    expect(variables(() => process.env['HARVEST_SOMETHING'])).toEqual([])
    vi.stubEnv('HARVEST_FLAG', 'on')
    const list = () => Object.keys(process.env).filter((name) => name.startsWith('DEBUG_'))
    expect(changed(list, () => vi.stubEnv('HARVEST_FLAG', 'off'))).toEqual([])
    expect(
      changed(
        () => ({ ...process.env }),
        () => vi.stubEnv('HARVEST_FLAG', 'on'),
      ),
    ).toHaveLength(1)
  })

  it.each<[string, (path: string) => unknown, string]>([
    ['read', (path) => readFileSync(path, 'utf8'), 'notes.txt'],
    ['read by a promise', (path) => readFile(path, 'utf8'), 'notes.txt'],
    ['loaded as JSON', (path) => createRequire(import.meta.url)(path) as unknown, 'notes.json'],
  ])('is a file that was %s, and has another text now', (_, run, name) => {
    const path = file(name, '"one"')
    expect(
      changed(
        () => run(path),
        () => file(name, '"two"'),
      ),
    ).toEqual([name])
    expect(
      changed(
        () => 1,
        () => file(name, '"three"'),
      ),
    ).toEqual([])
  })

  it('is that a file was not there, and which were in a folder', () => {
    const path = join(root, 'local.json')
    expect(
      changed(
        () => existsSync(path),
        () => file('local.json', '{}'),
      ),
    ).toEqual(['local.json'])
    file('tools/one.txt', '')
    expect(
      changed(
        () => readdirSync(join(root, 'tools')),
        () => file('tools/two.txt', ''),
      ),
    ).toEqual(['tools'])
  })

  it.each<[string, (path: string) => unknown]>([
    ['size', (path) => statSync(path).size],
    ['time', (path) => lstatSync(path).mtimeMs],
    ['size, asked by a promise', (path) => stat(path)],
  ])('is the %s of a file that was asked for', (_, run) => {
    const path = file('notes.txt', 'one')
    expect(
      changed(
        () => run(path),
        () => writeFileSync(path, 'three'),
      ),
    ).toEqual(['notes.txt'])
    expect(
      changed(
        () => existsSync(path),
        () => writeFileSync(path, 'five and more'),
      ),
    ).toEqual([])
  })

  it('is a file that was loaded through a hook of the loader that belongs to what runs the agent', () => {
    const path = file('notes.json', '"one"')
    // A hook that lies in a package that runs agents here and nowhere else.
    const hook = file(
      'node_modules/vite/hook.cjs',
      "module.exports = require('node:module').registerHooks({ load: (url, context, next) => next(url, context) })",
    )
    const hooks = createRequire(import.meta.url)(hook) as ModuleHooks
    onTestFinished(() => hooks.deregister())
    expect(
      changed(
        () => createRequire(import.meta.url)(path) as unknown,
        () => file('notes.json', '"two"'),
      ),
    ).toEqual(['notes.json'])
  })

  it.each([
    ['time zone', { timeZone: 'Pacific/Chatham' }],
    ['locale', { locale: 'ta-IN' }],
  ])('is the %s of the machine, which code asks for without reading anything', (name, other) => {
    onTestFinished(() => void vi.restoreAllMocks())
    const options = new Intl.DateTimeFormat().resolvedOptions()
    expect(
      changed(
        () => new Date(0).getTimezoneOffset(),
        () => vi.spyOn(Intl.DateTimeFormat.prototype, 'resolvedOptions').mockReturnValue({ ...options, ...other }),
      ),
    ).toEqual([`the ${name}`])
  })

  it('is no file that a run has written itself', () => {
    const path = join(root, 'state.json')
    const run = () => {
      writeFileSync(path, '1')
      return readFileSync(path, 'utf8')
    }
    expect(changed(run, () => rmSync(path))).toEqual([])
  })
})
