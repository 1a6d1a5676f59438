import { spawnSync } from 'node:child_process'
import { mkdtempSync, readdirSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { dirname, join, resolve } from 'node:path'
import { afterAll, beforeAll, describe, expect, onTestFinished, test } from 'vitest'
import { compileCache } from '../../fixtures/child/compile-cache.ts'
import { isTest, startShopProvider, withoutKey } from '../../scripts/project.ts'
import { walk } from '../../scripts/walkthrough.ts'
import { built } from '../support/built.ts'

const repository = resolve(import.meta.dirname, '../..')

describe('the packed package in an empty project, by the README', () => {
  const scratch = mkdtempSync(join(tmpdir(), 'vitest-harvest-tarball-'))
  let tarball = ''

  beforeAll(async () => {
    built('index.js')
    // The scripts are left out: `prepack` would build again under the tests that run beside this one.
    const packed = spawnSync('npm', ['pack', '--ignore-scripts', '--silent', '--pack-destination', scratch], {
      cwd: repository,
      encoding: 'utf8',
    })
    expect(packed.status, packed.stderr).toBe(0)
    tarball = join(scratch, readdirSync(scratch).find((name) => name.endsWith('.tgz')) ?? '')
  })
  afterAll(() => rmSync(scratch, { recursive: true, force: true }))

  test.for(['5', '4.1'])('Vitest %s: every step holds, word for word', { timeout: 900_000 }, async (version) => {
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
    })
    expect(blocks).toBeGreaterThan(10)
  })
})

/** Where npm finds its registry and cache on this machine. */
function npmSettings(): NodeJS.ProcessEnv {
  return Object.fromEntries(
    Object.entries(process.env).filter(([name]) =>
      /^(npm_config_(cache|cafile|userconfig|registry|globalconfig)|NODE_EXTRA_CA_CERTS)$/i.test(name),
    ),
  )
}
