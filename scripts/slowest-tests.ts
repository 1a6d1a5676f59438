// Makes test/support/slowest.json, the order in which test files start, from a report of Vitest:
//
//     npx vitest run --reporter=json --outputFile=report.json && node scripts/slowest-tests.ts report.json
import { readFileSync, writeFileSync } from 'node:fs'
import { relative } from 'node:path'

interface Report {
  readonly testResults: readonly { readonly name: string; readonly startTime: number; readonly endTime: number }[]
}

/** Seconds a test file takes at least to be listed. Where all others start makes no difference. */
const least = 5

const [file] = process.argv.slice(2)
if (file === undefined) throw new RangeError('name the JSON report of a whole run of Vitest')
const { testResults } = JSON.parse(readFileSync(file, 'utf8')) as Report
const slow = testResults
  .map(({ name, startTime, endTime }) => ({ name: relative('.', name), seconds: (endTime - startTime) / 1000 }))
  .filter(({ seconds }) => seconds >= least)
  .toSorted((a, b) => b.seconds - a.seconds)
writeFileSync(
  'test/support/slowest.json',
  `${JSON.stringify(
    slow.map(({ name }) => name),
    undefined,
    2,
  )}\n`,
)
console.log(`${slow.length} of ${testResults.length} test files take ${least} s or more`)
