// `npm test`: every gate, all of them even when one fails. The build and the install come first, then the tests, and beside
// them what only looks at files, one after the other: tests often wait, and so leave time for it. The last line is
// `N passed, N failed`, where N counts the tests Vitest ran and the gates. A gate that looked at fewer things than its floor
// has failed: green must not mean "looked at nothing".
//
// It leaves out tests with the tag `thorough`. `npm run test:all`, which is `node scripts/test.ts --all`, runs them as well.
import { spawn } from 'node:child_process'
import { globSync, mkdtempSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join, resolve } from 'node:path'

interface Gate {
  readonly name: string
  readonly command: readonly string[]
  /** What it must have looked at, and at how many of them at least. */
  readonly floor: readonly [count: number, of: string]
  /** How many it looked at, from what it printed. */
  readonly seen: (output: string) => number
  /** Print what it says while it runs. */
  readonly live?: true
}

interface VitestReport {
  readonly numPassedTests: number
  readonly numFailedTests: number
  readonly testResults: readonly {
    readonly assertionResults: readonly {
      readonly status: string
      readonly ancestorTitles: readonly string[]
      readonly tags: readonly string[]
    }[]
  }[]
}

const given = process.argv.slice(2)
const isAll = given.includes('--all')
if (given.length > Number(isAll)) throw new RangeError(`invalid arguments: ${given.join(' ')}; --all is the only one`)

const scratch = mkdtempSync(join(tmpdir(), 'vitest-harvest-test-'))
process.on('exit', () => rmSync(scratch, { recursive: true, force: true }))
const reportFile = join(scratch, 'vitest.json')
/** Programs that tests start hundreds of times compile their modules once per run: a third less work for `harvest`. */
const compiled = join(scratch, 'compiled')
/** The package as a user has it: packed and installed once, for the tests that attack it. */
const installed = join(scratch, 'installed')
/**
 * `tsc` and the linter are written in Go: collecting garbage less often takes a tenth to a fifth of their work away, for
 * more memory; the tests run beside one of them at a time.
 */
const collectSeldom = { GOGC: '400' }
const linted = ['src', 'test', 'fixtures', 'scripts', 'bench', 'vitest.config.ts']

/** What the tests need. */
const first: readonly Gate[] = [
  {
    name: 'build',
    command: ['node', '--run', 'build'],
    floor: [180, 'modules written'],
    seen: () => globSync('dist/**/*.js').length,
  },
  {
    name: 'install',
    command: ['node', 'scripts/install-packed.ts', installed],
    floor: [1, 'package installed'],
    seen: (output) => numberIn(output, /installed (\d+) package/),
  },
]

/** What only looks at files. */
const looks: readonly Gate[] = [
  {
    name: 'format',
    command: ['biome', 'ci', '--colors=off'],
    floor: [350, 'files'],
    seen: (output) => numberIn(output, /Checked (\d+) files/),
  },
  {
    name: 'types',
    // One checker: four, as by default, each check what files have in common. The other cores have tests to run.
    command: ['tsc', '-p', 'tsconfig.json', '--listFiles', '--checkers', '1'],
    floor: [330, 'files of ours'],
    seen: (output) => output.split('\n').filter((line) => isOurs(line.trim())).length,
  },
  {
    name: 'page types',
    command: ['tsc', '-p', 'src/report/page', '--listFiles'],
    floor: [40, 'files of ours'],
    seen: (output) => output.split('\n').filter((line) => isOurs(line.trim())).length,
  },
  {
    name: 'lint',
    command: ['oxlint', '--type-aware', '--deny-warnings', ...globSync(linted)],
    floor: [350, 'files'],
    seen: (output) => numberIn(output, /on (\d+) files/),
  },
  {
    name: 'dead code',
    command: ['node', '--run', 'check:dead'],
    floor: [350, 'files'],
    seen: (output) => numberIn(output, /looked at (\d+) files/),
  },
  {
    name: 'api',
    command: ['node', '--run', 'check:api'],
    floor: [7, 'entry points'],
    seen: (output) => numberIn(output, /looked at (\d+) entry points/),
  },
  {
    name: 'package',
    command: ['node', '--run', 'check:package'],
    floor: [250, 'files packed'],
    seen: (output) => numberIn(output, /looked at (\d+) files/),
  },
]

const tests: Gate = {
  name: 'tests',
  command: [
    ...['vitest', 'run', '--reporter=default', '--reporter=json', `--outputFile.json=${reportFile}`],
    ...(isAll ? [] : ['--tags-filter=!thorough']),
  ],
  floor: [8_000, 'tests'],
  seen: () => vitestReport().numPassedTests + vitestReport().numFailedTests,
  live: true,
}

const verdicts = [...(await inTurn(first)), ...(await Promise.all([inTurn(looks), inTurn([tests])])).flat()]
// What gates found stands behind what the tests print, not somewhere in it.
for (const { found } of verdicts) process.stdout.write(found)
const passed = verdicts.filter(({ ok }) => ok).length
const failed = verdicts.length - passed
const { numPassedTests, numFailedTests } = vitestReport()
console.log(['', 'gates', ...verdicts.map(({ line }) => line), ''].join('\n'))
if (!isAll) console.log(`${leftOut().length} thorough tests were left to npm run test:all\n`)
console.log(`${passed + numPassedTests} passed, ${failed + numFailedTests} failed`)
process.exitCode = failed === 0 ? 0 : 1

interface Verdict {
  readonly ok: boolean
  readonly line: string
  /** What a gate that failed printed, unless it was heard live. */
  readonly found: string
}

async function inTurn(gates: readonly Gate[]): Promise<readonly Verdict[]> {
  const verdicts: Verdict[] = []
  for (const gate of gates) verdicts.push(await run(gate))
  return verdicts
}

async function run({ name, command, floor, seen, live }: Gate): Promise<Verdict> {
  const startedAt = performance.now()
  console.log(`… ${name}`)
  const { code, output } = await execute(command, live === true, name !== 'build')
  const seconds = ((performance.now() - startedAt) / 1000).toFixed(1)
  const [least, of] = floor
  const count = seen(output)
  const complaints = [
    ...(code === 0 ? [] : [`exit ${code}`]),
    ...(count >= least ? [] : [`looked at too little: ${count} of at least ${least} ${of}`]),
    ...(name === 'tests' ? skipped() : []),
  ]
  const ok = complaints.length === 0
  const detail = ok ? `${count} ${of}` : complaints.join('; ')
  const line = `${ok ? '✓' : '✗'} ${name.padEnd(10)} ${detail} (${seconds} s)`
  console.log(line)
  return { ok, line, found: ok || live === true ? '' : output }
}

/** A suite that needs what this machine does not have says so in its title. */
function skipped(): string[] {
  const notRun = skippedTests().filter((one) => !isLeftOut(one))
  const suites = new Set(notRun.map(({ ancestorTitles }) => ancestorTitles.join(' > ')))
  return notRun.length === 0 ? [] : [`${notRun.length} test(s) skipped: ${[...suites].join(', ')}`]
}

/** Tests that are not for this command. */
function leftOut(): readonly SkippedTest[] {
  return skippedTests().filter(isLeftOut)
}

function isLeftOut({ tags }: SkippedTest): boolean {
  return !isAll && tags.includes('thorough')
}

type SkippedTest = VitestReport['testResults'][number]['assertionResults'][number]

function skippedTests(): readonly SkippedTest[] {
  return vitestReport()
    .testResults.flatMap((file) => file.assertionResults)
    .filter(({ status }) => status !== 'passed' && status !== 'failed')
}

async function execute(
  command: readonly string[],
  live: boolean,
  isBuilt: boolean,
): Promise<{ code: number | null; output: string }> {
  const [program = '', ...args] = command
  const child = spawn(program, args, {
    stdio: ['ignore', live ? 'inherit' : 'pipe', live ? 'inherit' : 'pipe'],
    env: {
      ...process.env,
      ...(live ? {} : collectSeldom),
      NODE_COMPILE_CACHE: compiled,
      ...(isBuilt
        ? { HARVEST_TEST_BUILT: '1', HARVEST_TEST_INSTALLED: join(installed, 'node_modules/vitest-harvest') }
        : {}),
    },
  })
  const chunks: Buffer[] = []
  for (const stream of [child.stdout, child.stderr]) stream?.on('data', (chunk: Buffer) => chunks.push(chunk))
  const code = await new Promise<number | null>((settle) => {
    child.once('error', (error) => {
      chunks.push(Buffer.from(`${program}: ${error.message}\n`))
      settle(127)
    })
    child.once('close', settle)
  })
  return { code, output: Buffer.concat(chunks).toString() }
}

function numberIn(output: string, pattern: RegExp): number {
  return Number(pattern.exec(output)?.[1] ?? 0)
}

function isOurs(file: string): boolean {
  return file.startsWith(resolve('.')) && !file.includes('node_modules')
}

function vitestReport(): VitestReport {
  try {
    return JSON.parse(readFileSync(reportFile, 'utf8')) as VitestReport
  } catch {
    // Vitest died before it could report: its gate has failed, and no test is known to have run.
    return { numPassedTests: 0, numFailedTests: 0, testResults: [] }
  }
}
