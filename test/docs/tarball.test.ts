import { spawnSync } from 'node:child_process'
import { mkdirSync, mkdtempSync, readdirSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { dirname, join, resolve } from 'node:path'
import { afterAll, beforeAll, describe, expect, onTestFinished, test } from 'vitest'
import { compileCache } from '../../fixtures/child/compile-cache.ts'
import { isTest, startShopProvider, withoutKey } from '../../scripts/project.ts'
import { run, walk } from '../../scripts/walkthrough.ts'
import { built } from '../support/built.ts'
import { warmLine } from '../support/warm-line.ts'
import { walkIncidents } from './incidents.ts'

const repository = resolve(import.meta.dirname, '../..')

describe('the packed package in an empty project, by the README', () => {
  const scratch = mkdtempSync(join(tmpdir(), 'vitest-harvest-tarball-'))
  let tarball = ''

  beforeAll(() => {
    built('index.js')
    // `npm test` has packed it. The scripts are left out: `prepack` would build again under the tests that run beside this one.
    const { HARVEST_TEST_INSTALLED: installed } = process.env
    const folder = installed === undefined ? scratch : resolve(installed, '../..')
    if (installed === undefined) pack(folder)
    tarball = join(folder, readdirSync(folder).find((name) => name.endsWith('.tgz')) ?? '')
  })
  afterAll(() => rmSync(scratch, { recursive: true, force: true }))

  test('Vitest 5: every step holds, word for word', { tags: 'thorough' }, () => holds('5'))
  test('Vitest 5: behind them the demo and the incidents hold', { tags: 'thorough' }, () => holds('5', true))
  test('Vitest 4.1: every step holds, word for word', { tags: 'thorough' }, () => holds('4.1'))

  async function holds(version: string, isWhole = false): Promise<void> {
    const isCold = version === '5' || process.env['HARVEST_EVERY_LANE'] === '1'
    const dir = mkdtempSync(join(scratch, `vitest-${version}-`))
    const { PATH = '', HOME = '' } = process.env
    // Each reader meets it for the first time: it makes its mistake once.
    const provider = await startShopProvider()
    onTestFinished(() => provider.close())
    const npm = npmSettings()
    const env = {
      ...npm,
      HOME,
      // Node of this very test run first: the reader has one the package supports.
      PATH: [dirname(process.execPath), PATH].join(':'),
      OPENAI_BASE_URL: provider.url,
      OPENAI_API_KEY: 'sk-not-a-key',
      NO_COLOR: '1',
      ...compileCache,
    }
    const blocks = await walk(join(repository, 'README.md'), {
      dir,
      env,
      environmentOf: (command) => (isTest(command) ? withoutKey(env) : undefined),
      rewrite: (command) =>
        command.startsWith('npm install')
          ? command
              .replace(/^npm install/, 'npm install --no-audit --no-fund --prefer-offline')
              .replace(/ vitest(?= |$)/, ` vitest@${version}`)
              .replace(/ vitest-harvest(?= |$)/, ` ${tarball}`)
          : command,
      // Each in a process of its own on one Vitest, and by `npm run test:lanes` on all.
      start: isCold ? () => undefined : (command, environment) => typeWarm(command, dir, environment),
    })
    expect(blocks).toBeGreaterThan(10)

    // In a folder of its own below the packages that were installed: one install is enough for all.
    const installed = { ...npm, HOME, PATH: [join(dir, 'node_modules/.bin'), env.PATH].join(':'), ...compileCache }
    // What the steps say does not depend on Vitest's version, and the README leads to green, red and blame on each:
    // `npm run test:lanes` plays them on all.
    if (!isWhole && process.env['HARVEST_EVERY_LANE'] !== '1') return
    await playDemo(dir, installed)
    await walkIncidents(dir, { ...installed, NO_COLOR: '1' })
  }
})

/**
 * The demo, without a key or a provider, which plays each of its lines itself; then each of its lines again, in order, and
 * each that it says comes next.
 */
async function playDemo(home: string, env: NodeJS.ProcessEnv): Promise<void> {
  const dir = join(home, 'demo')
  mkdirSync(dir)
  const options = { dir, env: { ...env, HARVEST_ALLOW_CI_UPDATE: '1', NO_COLOR: '1' } }
  const type = (command: string) => {
    const line = command.replaceAll(/(^| )npx /g, '$1')
    return typeWarm(line, dir, options.env, home) ?? run(line, options)
  }
  // The first in a process of its own, and so what it starts.
  const played = await run('vitest-harvest demo', options)
  expect(played.code, played.text).toBe(0)
  expect(played.text).toMatch(
    /1 known bad reproduced[^]*with the fix: +green[^]*1 replayed[^]*recorded +25\n +now +2500/,
  )
  const lines = [...played.text.matchAll(/^\$ (.*)/gm)].map(([, command = '']) => command)
  const next = [...played.text.matchAll(/^→ [^:]*: (.*)/gm)].map(([, command = '']) => command)
  expect([lines.length, next.length]).toEqual([11, 4])
  const codes: number[] = []
  for (const command of [...lines, ...next]) codes.push((await type(command)).code)
  // Red where the bug is put back.
  expect(codes).toEqual([...lines, ...next].map((_, at) => (at === 9 ? 1 : 0)))
  const again = await type('npx vitest-harvest demo')
  expect([again.code, again.text]).toEqual([2, expect.stringContaining('HARVEST_DEMO_FILES')])
}

function pack(folder: string): void {
  const { status, stderr } = spawnSync('npm', ['pack', '--ignore-scripts', '--silent', '--pack-destination', folder], {
    cwd: repository,
    encoding: 'utf8',
  })
  expect(status, stderr).toBe(0)
}

/** Where others ran before, if it can: with what is installed in `home`. */
function typeWarm(command: string, dir: string, env: NodeJS.ProcessEnv, home = dir): ReturnType<typeof warmLine> {
  const modules = join(home, 'node_modules')
  const programs = {
    vitest: join(modules, 'vitest/vitest.mjs'),
    'vitest-harvest': join(modules, 'vitest-harvest/dist/bin.js'),
  }
  return warmLine(command.replace(/^npx /, ''), { dir, env, programs })
}

/** Where npm finds its registry and cache on this machine. */
function npmSettings(): NodeJS.ProcessEnv {
  return Object.fromEntries(
    Object.entries(process.env).filter(([name]) =>
      /^(npm_config_(cache|cafile|userconfig|registry|globalconfig)|NODE_EXTRA_CA_CERTS)$/i.test(name),
    ),
  )
}
