import { execFileSync, spawnSync } from 'node:child_process'
import { globSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { dirname, join, resolve } from 'node:path'
import { stripVTControlCharacters } from 'node:util'
import fc from 'fast-check'
import { parseAst } from 'rolldown/parseAst'
import { describe, expect, it } from 'vitest'
import usingContext from '../scripts/build-using.ts'
import { completeLock, type Lock } from '../scripts/complete-lock.ts'
import { built } from './support/built.ts'
import { slowest } from './support/slowest-first.ts'

const files = execFileSync('git', ['ls-files', '-z', '--cached', '--others', '--exclude-standard'], {
  encoding: 'utf8',
})
  .split('\0')
  .filter((file) => file !== '')

describe('the repository', () => {
  it('has files to check', () => {
    expect(files).toEqual(expect.arrayContaining(['package.json', 'package-lock.json', 'src/errors/index.ts']))
    expect(files.length).toBeGreaterThan(100)
  })

  it.each([
    ['the host of a registry', /\bregistry\.(?:npmjs|yarnpkg|npmmirror)\.|\bnpm\.pkg\.github\.|\/-\/[\w.-]+\.tgz\b/],
    ['a path of somebody’s machine', /(?<![\w.$}])\/(?:work|root|Users\/\w+)\/\w/],
  ])('names nowhere %s', (_, pattern) => {
    const named = files.flatMap((file) => {
      const found = pattern.exec(contentOf(file))
      return found === null ? [] : [`${file}: ${found[0]}`]
    })
    expect(named).toEqual([])
  })
})

/** What git calls the variables of one repository, but for settings, and those of its commit. */
const repositoryNames = execFileSync('git', ['rev-parse', '--local-env-vars'], { encoding: 'utf8' })
  .trim()
  .split('\n')
  .filter((name) => !name.startsWith('GIT_CONFIG'))
  .concat('GIT_PREFIX', 'GIT_AUTHOR_NAME', 'GIT_AUTHOR_DATE')

const apart = runApart()

it('a test that makes a temporary folder removes it', () => {
  expect(contentOf('vitest.config.ts')).toContain("'./test/support/leave-nothing.ts']")
  const makers = files.filter(
    (file) => /^(?:test|fixtures|bench)\/.*\.ts$/.test(file) && /\bmkdtemp(?:Sync)?\([^)]/.test(contentOf(file)),
  )
  expect(makers.length).toBeGreaterThan(50)
  expect(makers.filter((file) => !/\brm(?:Sync)?\(|\bremove\w*\(/.test(contentOf(file)))).toEqual([])
})

describe('the properties of the tests', () => {
  const tests = files.filter((file) => /^(?:test|fixtures)\/.*\.ts$/.test(file))
  const setup = 'test/support/fixed-seeds.ts'

  it('have one fixed seed, which every project of the tests sets up', () => {
    expect(contentOf('vitest.config.ts')).toContain(`setupFiles: ['./${setup}', `)
    expect(fc.readConfigureGlobal().seed).toBe(Number(process.env['HARVEST_PROPERTY_SEED'] ?? 20_260_304))
  })

  it('run nowhere without it: only test files run properties, and none draws a seed of its own', () => {
    const run = /\bfc\.(?:assert|check|sample|statistics)\(/
    const drawn = /\bseed: *[^,}\n]*(?:Date\.now|Math\.random|random|performance)|resetConfigureGlobal/
    const wrong = tests.filter((file) => {
      const text = contentOf(file)
      return (run.test(text) && !file.endsWith('.test.ts')) || (drawn.test(text) && file !== 'test/repository.test.ts')
    })
    expect(wrong).toEqual([])
  })

  it('a file that changes the seed is red, and a counterexample is printed as it is kept', () => {
    expect(apart.printed).toContain('this file left the properties with the seed undefined, not with')
    expect(apart.printed).toContain('examples: [[100]],')
    expect(apart.status).toBe(1)
  })
})

describe('the tests, started by a hook of git', () => {
  it('see nothing of its repository, neither in a test nor in a program that one starts', () => {
    expect(repositoryNames).toEqual(expect.arrayContaining(['GIT_DIR', 'GIT_INDEX_FILE', 'GIT_AUTHOR_NAME']))
    expect(apart.printed).toMatch(/✓ .*hook\.test\.ts \(2 tests\)/)
  })
})

describe('the list of the slowest tests', () => {
  it('names test files that are there, each once', () => {
    expect(slowest.filter((file) => !files.includes(file))).toEqual([])
    expect(new Set(slowest).size).toBe(slowest.length)
  })
})

describe('the lock', () => {
  const read = () => JSON.parse(readFileSync('package-lock.json', 'utf8')) as Lock

  it('holds the binaries of every platform, so that `npm ci` accepts it on each', () => {
    expect(completeLock(read())).toEqual([])
  })

  it('installs Vitest 5 for us and Vitest 4.1 for its lane', () => {
    const { packages } = read()
    expect(packages['node_modules/vitest']?.version).toMatch(/^5\./)
    expect(packages['lanes/vitest-4/node_modules/vitest']?.version).toMatch(/^4\.1\./)
  })

  it('lost a platform: completing the lock puts its binary back, by version and without an address', () => {
    const lock = read()
    const whole = Object.keys(lock.packages)
    const binary = whole.find((path) => path.endsWith('/@biomejs/cli-darwin-arm64'))!
    delete lock.packages[binary]
    expect(completeLock(lock)).toEqual(['@biomejs/cli-darwin-arm64'])
    expect(Object.keys(lock.packages)).toHaveLength(whole.length)
    expect(Object.entries(lock.packages).find(([path]) => path.endsWith('/@biomejs/cli-darwin-arm64'))?.[1]).toEqual({
      version: '2.6.8',
      dev: true,
      optional: true,
      os: ['darwin'],
      cpu: ['arm64'],
    })
  })
})

function contentOf(file: string): string {
  try {
    return readFileSync(file, 'utf8')
  } catch (error) {
    // Deleted in the work tree and not yet in the index.
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return ''
    throw error
  }
}

/** One run of this repository's own Vitest, as a hook of git would start it, over tests of what its config sets up. */
function runApart(): { readonly status: number | null; readonly printed: string } {
  const folder = mkdtempSync('test/.apart-')
  try {
    const property = 'fc.assert(fc.property(fc.nat(), (n) => n < 100), { numRuns: 1_000 })'
    const head = "import fc from 'fast-check'\nimport { test } from 'vitest'\n"
    writeFileSync(`${folder}/changes.test.ts`, `${head}test('x', () => fc.resetConfigureGlobal())\n`)
    writeFileSync(`${folder}/fails.test.ts`, `${head}test('x', () => ${property})\n`)
    const seen = `Object.keys(process.env).filter((name) => ${JSON.stringify(repositoryNames)}.includes(name))`
    const program = `execFileSync(process.execPath, ['-p', ${JSON.stringify(seen)}], { encoding: 'utf8' }).trim()`
    writeFileSync(
      `${folder}/hook.test.ts`,
      `import { execFileSync } from 'node:child_process'
import { expect, test } from 'vitest'
test('here', () => expect(${seen}).toEqual([]))
test('in a program', () => expect(${program}).toBe('[]'))
`,
    )
    const args = ['node_modules/vitest/vitest.mjs', 'run', folder, '--typecheck.enabled=false', '--reporter=default']
    const env = Object.fromEntries(Object.entries(process.env).filter(([name]) => !name.startsWith('VITEST')))
    for (const name of repositoryNames) env[name] = resolve(folder, 'elsewhere')
    const { stdout, stderr, status } = spawnSync(process.execPath, args, { encoding: 'utf8', env })
    return { status, printed: stripVTControlCharacters(stdout + stderr) }
  } finally {
    rmSync(folder, { recursive: true, force: true })
  }
}

describe('the code that is installed', () => {
  it('holds no `using`, which Node 22 cannot read', () => {
    const dist = dirname(built('bin.js'))
    const files = globSync('**/*.js', { cwd: dist })
    expect(files.length).toBeGreaterThan(100)
    const wrong = files.filter((file) => {
      const code = readFileSync(join(dist, file), 'utf8')
      return code.includes('using') && usesUsing(parseAst(code))
    })
    expect(wrong).toEqual([])
    expect(usesUsing(parseAst('function f(x) { using held = x }'))).toBe(true)
  })

  it('releases in the place of `using`, last first, also behind what was thrown', () => {
    const released: string[] = []
    const resource = (name: string) => ({ [Symbol.dispose]: () => void released.push(name) })
    const context = usingContext()
    expect(context.u(null)).toBe(null)
    context.u(resource('first'))
    context.u(resource('second'))
    context.e = new Error('thrown')
    expect(() => context.d()).toThrow('thrown')
    expect(released).toEqual(['second', 'first'])
    const failing = usingContext()
    failing.u(resource('third'))
    failing.u({
      [Symbol.dispose]() {
        throw new Error('not released')
      },
    })
    expect(() => failing.d()).toThrow('not released')
    expect(released).toEqual(['second', 'first', 'third'])
  })
})

/** Whether a syntax tree declares something with `using`. */
function usesUsing(node: unknown): boolean {
  if (typeof node !== 'object' || node === null) return false
  const { type, kind } = node as { readonly type?: unknown; readonly kind?: unknown }
  if (type === 'VariableDeclaration' && /using/.test(String(kind))) return true
  return Object.values(node).some((child) => usesUsing(child))
}
