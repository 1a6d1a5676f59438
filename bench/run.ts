// npm run bench -- [NAME…] [--quick]: measures, prints, and renews bench/results, bench/RESULTS.md and the claims in docs/benchmarks.md.
// With --quick a small share is measured and nothing is written.
import { spawnSync } from 'node:child_process'
import { existsSync, globSync, mkdirSync, mkdtempSync, readFileSync, renameSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { basename, dirname, join } from 'node:path'
import { parseArgs } from 'node:util'
import { holds, type KeptResult } from './kit/contract.ts'
import { promises, renderResults, markdown, section, withClaims } from './kit/report.ts'

const help = `npm run bench -- [NAME…] [--quick]

Measures what the documents claim, compared with the alternatives, and renews bench/RESULTS.md and the figures in docs/benchmarks.md.

  NAME     a folder of bench/; default: all of them, one after the other
  --quick  a small share of each, in five minutes together; nothing is written
  --keep   with --quick: write anyway, marked as a small share
`

const here = import.meta.dirname
const known = globSync('*/bench.ts', { cwd: here })
  .map((file) => dirname(file))
  .sort()

const { values, positionals } = parseArgs({
  allowPositionals: true,
  options: {
    quick: { type: 'boolean', default: false },
    keep: { type: 'boolean', default: false },
    help: { type: 'boolean', short: 'h', default: false },
  },
})
if (values.help) {
  console.log(`${help}\nbenches: ${known.join(', ')}`)
  process.exit(0)
}
const unknown = positionals.filter((name) => !known.includes(name))
if (unknown.length > 0) {
  console.error(`No bench called ${unknown.join(', ')}. There are: ${known.join(', ')}`)
  process.exit(2)
}

build()
const results: KeptResult[] = []
const broken: string[] = []
for (const name of positionals.length > 0 ? positionals : known) {
  const begin = performance.now()
  const result = measure(name)
  const seconds = Math.round((performance.now() - begin) / 1_000)
  if (result === undefined) broken.push(name)
  else {
    results.push(result)
    console.log(`${section(result).join('\n')}\n(${seconds} s)\n`)
    if (!values.quick || values.keep) keep(result)
  }
}
const table = promises(results)
if (table.rows.length > 0) console.log(markdown(table).join('\n'))

const missed = results.flatMap(({ name, bars }) =>
  bars.filter((bar) => !holds(bar) && bar.shortfall === undefined).map(({ what }) => `${name}: ${what}`),
)
if (broken.length > 0) console.log(`\ndid not finish: ${broken.join(', ')}`)
if (missed.length > 0) console.log(`\nnot kept, and not explained:\n${missed.map((each) => `  ${each}`).join('\n')}`)
process.exitCode = broken.length + missed.length > 0 ? 1 : 0

/** Commands and production doors are measured as they are shipped. */
function build(): void {
  const { status } = spawnSync('npm', ['run', '--silent', 'build'], { stdio: 'inherit', cwd: dirname(here) })
  if (status !== 0) throw new Error('the package does not build')
}

function measure(name: string): KeptResult | undefined {
  const dir = mkdtempSync(join(tmpdir(), 'vitest-harvest-bench-'))
  const file = join(dir, 'result.json')
  console.log(`… ${name}`)
  try {
    const args = ['--expose-gc', join(here, 'kit/child.ts'), name, file, ...(values.quick ? ['--quick'] : [])]
    const { status } = spawnSync(process.execPath, args, { stdio: 'inherit', cwd: dirname(here) })
    if (status !== 0 || !existsSync(file)) return undefined
    return JSON.parse(readFileSync(file, 'utf8')) as KeptResult
  } finally {
    rmSync(dir, { recursive: true, force: true })
  }
}

/** One result takes the place of the one before; the page is written from all that are kept. */
function keep(result: KeptResult): void {
  const folder = join(here, 'results')
  mkdirSync(folder, { recursive: true })
  replace(join(folder, `${result.name}.json`), `${JSON.stringify(result, null, 2)}\n`)
  const all = globSync('*.json', { cwd: folder })
    .filter((file) => known.includes(basename(file, '.json')))
    .sort()
    .map((file) => JSON.parse(readFileSync(join(folder, file), 'utf8')) as KeptResult)
  replace(join(here, 'RESULTS.md'), renderResults(all))
  const page = join(here, '../docs/benchmarks.md')
  replace(page, withClaims(readFileSync(page, 'utf8'), all))
}

function replace(file: string, text: string): void {
  writeFileSync(`${file}.new`, text)
  renameSync(`${file}.new`, file)
}
