// `npm run test:explore`: the properties of the tests with random seeds, round after round, and what depends on chance in
// itself more often: places of death, orders of arrival, runs at once. A find is printed with its counterexample as an entry for
// `examples`; put it there, and mend the cause.
//
//     node scripts/explore.ts [rounds, default 5] [seed of the first round] [test files, default all of these]
import { spawnSync } from 'node:child_process'
import { randomInt } from 'node:crypto'
import { globSync, readFileSync } from 'node:fs'

/** How often, where the outcome of one time is chance; the last is how many times as many values a slow property tries. */
const more = {
  HARVEST_KILLS: '200',
  HARVEST_ORDER_RUNS: '1000',
  HARVEST_RUNS_AT_ONCE: '200',
  HARVEST_PROPERTY_TIMES: '5',
}
const [roundsText = '5', first, ...named] = process.argv.slice(2)
const rounds = wholeNumber('rounds', roundsText)
const files = named.length > 0 ? named : globSync('test/**/*.test.ts').filter(hasChance).sort()
console.log(`${rounds} rounds of ${files.length} files`)

const finds: number[] = []
for (let round = 0; round < rounds; round++) {
  const seed = round === 0 && first !== undefined ? wholeNumber('seed', first) : randomInt(2 ** 31)
  console.log(`\nround ${round + 1}: seed ${seed}`)
  const { status } = spawnSync(
    process.execPath,
    ['node_modules/vitest/vitest.mjs', 'run', ...files, '--typecheck.enabled=false', '--silent=passed-only'],
    {
      stdio: 'inherit',
      env: { ...process.env, ...more, HARVEST_PROPERTY_SEED: `${seed}`, HARVEST_KILL_SEED: `${seed}` },
    },
  )
  if (status !== 0) finds.push(seed)
}

for (const seed of finds) console.log(`red with seed ${seed}; to see it again: npm run test:explore 1 ${seed}`)
console.log(`${rounds - finds.length} of ${rounds} rounds green`)
process.exitCode = finds.length === 0 ? 0 : 1

function hasChance(file: string): boolean {
  return /from 'fast-check'|HARVEST_(?:KILLS|ORDER_RUNS|RUNS_AT_ONCE)/.test(readFileSync(file, 'utf8'))
}

function wholeNumber(name: string, text: string): number {
  if (!/^\d{1,10}$/.test(text)) throw new RangeError(`${name}: expected a whole number, got ${text}`)
  return Number(text)
}
