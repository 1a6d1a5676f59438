import { execFileSync, spawnSync } from 'node:child_process'
import { mkdtempSync, rmSync, statSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { dirname, join, relative, resolve } from 'node:path'
import { fileURLToPath } from 'node:url'
import { describe, expect, it } from 'vitest'
import { linkTree } from '../scripts/link-tree.ts'
import { built } from './support/built.ts'

// Asks a fresh Node what it loads for a door: ESM and CommonJS, static and dynamic. The sources say which rooms these are,
// the built files what is read from the disk.
const ask = `
  const { registerHooks } = require('node:module')
  const loaded = []
  registerHooks({ load: (url, context, next) => (loaded.push(url), next(url, context)) })
  import(process.argv[1]).then((door) => {
    if (process.argv[2]) door.createRecorder(eval('(' + process.argv[2] + ')'))
    console.log(JSON.stringify(loaded))
  })
`

function loadedBy(door: string, options = '', from = resolve('src')): string[] {
  const args = ['-e', ask, resolve(from, door), options]
  const urls = JSON.parse(execFileSync(process.execPath, args, { encoding: 'utf8' })) as string[]
  return urls.map((url) => (url.startsWith('file:') ? relative(from, fileURLToPath(url)) : url))
}

describe('what production loads for vitest-harvest/record', () => {
  const loaded = loadedBy('record/index.ts')
  const ours = loaded.filter((url) => !url.startsWith('node:'))

  it('is only the floor: errors, tape, wire, privacy, seam, record', () => {
    const rooms = new Set(ours.map((file) => (file.includes('/') ? file.split('/')[0] : file)))
    expect([...rooms].sort()).toEqual([
      'errors',
      'own-files.ts',
      'privacy',
      'record',
      'seam',
      'tape',
      'version.ts',
      'wire',
    ])
  })

  it('is no package: no interceptors, no YAML, no git, no Vitest', () => {
    expect(ours.filter((file) => file.includes('node_modules'))).toEqual([])
  })

  it('is this many modules, and a change of the number is a decision', () => {
    expect(ours.length).toBe(206)
  })

  it.each(['{}', '{ sample: 0.1, keep: { errors: true, timeoutMs: 5 }, retention: {} }'])(
    'is no more with a recorder made with %s',
    (options) => {
      expect(loadedBy('record/index.ts', options)).toEqual(loaded)
    },
  )

  it.each([
    '{ budget: { calls: { soft: 5 } } }',
    '{ prices: {} }',
    "{ keep: { tools: ['refund'] } }",
    '{ keep: { outliers: { tokens: 0.9 } } }',
  ])('is the meter and the readers of provider dialects besides, once, with %s', (options) => {
    const more = loadedBy('record/index.ts', options).filter((url) => !loaded.includes(url))
    expect(more.filter((url) => !/^(providers|json|wire)\//.test(url))).toEqual(['record/usage.ts'])
    expect(more.length).toBe(60)
  })

  it('is refused at start-up where the meter is not there, as in a bundle', () => {
    const dir = mkdtempSync(join(tmpdir(), 'harvest-bundle-'))
    try {
      linkTree('dist', dir)
      rmSync(join(dir, 'record/usage.js'))
      writeFileSync(join(dir, 'package.json'), '{ "type": "module" }')
      const make = (options: string) =>
        spawnSync(process.execPath, ['-e', ask, join(dir, 'record/index.js'), options], { encoding: 'utf8' })
      expect(make('{ sample: 0.5 }').status).toBe(0)
      const refused = make('{ budget: { calls: { soft: 5 } } }')
      expect(refused.status).toBe(1)
      expect(refused.stderr).toContain("keep the package out of the bundle: external: ['vitest-harvest']")
      expect(refused.stderr).toContain('HARVEST_RECORDER_METER')
    } finally {
      rmSync(dir, { recursive: true, force: true })
    }
  })

  it('nor does vitest-harvest load what draws faults, before somebody asks for them', () => {
    expect(loadedBy('index.ts').filter((url) => url.includes('fast-check') || url.startsWith('faults/'))).toEqual([])
  })

  it('the root is this many modules: tapes and errors; each function loads its part', () => {
    const ours = loadedBy('index.ts').filter((url) => !url.startsWith('node:'))
    expect([...new Set(ours.map((url) => url.split('/')[0]))].sort()).toEqual([
      'errors',
      'index.ts',
      'library',
      'own-files.ts',
      'tape',
    ])
    expect(ours.length).toBe(43)
  })

  it('vitest-harvest/tape runs no agent: it loads tapes, model calls and traces', () => {
    const rooms = loadedBy('library/tape.ts').filter((url) => !/^node:|node_modules/.test(url))
    expect([...new Set(rooms.map((url) => url.split('/')[0]))].sort()).toEqual([
      'errors',
      'json',
      'library',
      'providers',
      'tape',
      'trace',
      'wire',
    ])
  })

  it('nor does vitest-harvest/register load more than the floor', () => {
    const beyond = loadedBy('record/register.ts').filter(
      (url) =>
        !url.startsWith('node:') && !/^(errors|tape|wire|privacy|seam|record)\/|^(?:version|own-files)\.ts$/.test(url),
    )
    expect(beyond).toEqual([])
  })
})

describe('what is read from the disk', () => {
  it.each([
    ['record/index.js', 30, 441_600],
    ['index.js', 10, 77_200],
    ['library/tape.js', 15, 220_000],
  ])('for %s is at most %i files and %i bytes', (door, files, bytes) => {
    const dist = dirname(built('bin.js'))
    const read = loadedBy(door, '', dist).filter((url) => !url.startsWith('node:'))
    expect(read.filter((file) => file.startsWith('..') && !file.includes('node_modules'))).toEqual([])
    const ours = read.filter((file) => !file.startsWith('..'))
    expect(ours).toContain(door)
    expect(ours.length).toBeLessThanOrEqual(files)
    expect(ours.reduce((sum, file) => sum + statSync(join(dist, file)).size, 0)).toBeLessThanOrEqual(bytes)
  })
})
