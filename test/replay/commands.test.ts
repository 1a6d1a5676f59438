import { join } from 'node:path'
import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { sameCommand, sameVariable } from '../../src/replay/commands.ts'

const here = process.cwd()
const there = '/srv/builds/41/desk'

describe('a command of a child', () => {
  test.for<[string, string[], string[], string?, string?]>([
    ['whole', [there, 'tools/sync.mjs'], [here, 'tools/sync.mjs']],
    ['as an address of a file', [`file://${there}`, 'tools/sync.mjs'], [`file://${here}`, 'tools/sync.mjs']],
    ['whole, and from the folder of the run', ['tools/sync.mjs'], [here, 'tools/sync.mjs']],
    ['in two ways from the folder of the run', ['tools/sync.mjs'], ['./tools/../tools/sync.mjs']],
    ['from the folder of the child', ['tools/sync.mjs'], ['./sync.mjs'], '.', 'tools'],
  ])('has a file of the project %s', ([, recorded, live, from = '.', to = '.']) => {
    const [before, now] = [recorded, live].map((path) => ['node', path.join('/')]) as [string[], string[]]
    expect(sameCommand({ command: before, cwd: from }, { command: now, cwd: to })).toBe(true)
  })

  test.for<[string, string, string]>([
    ['another folder of another checkout', `${there}/staging/sync.mjs`, `${here}/production/sync.mjs`],
    ['another folder of this checkout', `${here}/staging/sync.mjs`, `${here}/sync.mjs`],
    ['another folder, both written from that of the run', './staging/sync.mjs', './production/sync.mjs'],
    ['another folder, both plain', 'staging/sync.mjs', 'production/sync.mjs'],
    ['a file of the project in the place of one outside', 'tools/sync.mjs', '/opt/sync.mjs'],
    ['another file', `${there}/tools/sync.mjs`, `${here}/tools/send.mjs`],
    ['a folder in an option', `--data=${there}/acme/db`, `--data=${here}/globex/db`],
    ['an address', 'https://a.example/mcp', 'https://b.example/mcp'],
    ['a package', '@acme/tools', '@globex/tools'],
  ])('with %s is another one', ([, recorded, live]) => {
    expect(sameCommand({ command: ['node', recorded], cwd: '.' }, { command: ['node', live], cwd: '.' })).toBe(false)
  })

  test('is the same with the folders of the machine outside of the project', () => {
    const recorded = { command: ['/usr/bin/node', 'x.mjs', '--root=/data/work'], cwd: '.' }
    expect(sameCommand(recorded, { command: ['/opt/node/bin/node', 'x.mjs', '--root=/mnt/work'], cwd: '.' })).toBe(true)
    expect(sameCommand(recorded, { command: ['node', 'x.mjs', '--root=/mnt/work'], cwd: '.' })).toBe(true)
    expect(sameCommand(recorded, { command: ['node', 'x.mjs', '--root=/mnt/other'], cwd: '.' })).toBe(false)
  })

  test('is the same from any checkout, and another one with any file of the project but the recorded one', () => {
    const name = fc.stringMatching(/^[a-z]{1,6}$/)
    const file = fc.array(name, { minLength: 1, maxLength: 4 })
    fc.assert(
      fc.property(file, file, (one, other) => {
        const of = (root: string, path: readonly string[]) => ({ command: ['node', join(root, ...path)], cwd: '.' })
        expect(sameCommand(of(there, one), of(here, one))).toBe(true)
        expect(sameCommand(of(here, one), of(here, other))).toBe(one.join('/') === other.join('/'))
        // Of another checkout only the end of a path is known.
        expect(sameCommand(of(there, one), of(here, other))).toBe(`/${one.join('/')}`.endsWith(`/${other.join('/')}`))
      }),
    )
  })
})

test.for<[string, string, boolean]>([
  [`${there}/bin:$PATH`, `${here}/bin:$PATH`, true],
  [`file://${there}/a.json`, `file://${here}/a.json`, true],
  [`${there}/acme/a.json`, `${here}/globex/a.json`, false],
  ['/data/acme/db', '/mnt/acme/db', false],
  ['t-1', 't-2', false],
  ['http://a.example/x', 'http://b.example/x', false],
])('a variable of a child, recorded as %s, is the same as %s: %s', ([recorded, live, isSame]) => {
  expect(sameVariable(recorded, live)).toBe(isSame)
})
