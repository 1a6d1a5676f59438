// `npm run test:fuzz`: every command of the package, packed and installed, on mutated tapes and cases. Nothing may hang, crash, start a program, open a socket
// or touch a file beside the project. A find is printed with the number of its mutant.
//
//     node scripts/fuzz-commands.ts [mutants, default 10000] [first mutant, default 0] [share, default 1]
//
// With a share of 4 each mutant meets every fourth command line, the next one those beside them.
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fuzzCommands } from '../test/hostile/fuzz.ts'
import { built } from '../test/support/built.ts'
import { installPacked } from './install-packed.ts'

const [mutants = 10_000, first = 0, share = 1] = process.argv.slice(2).map(Number)
if (![mutants, first, share].every(Number.isSafeInteger)) throw new RangeError('expected whole numbers')
// What is packed is what is built.
built('cli/main.js')
const folder = mkdtempSync(join(tmpdir(), 'harvest-fuzzed-'))
process.on('exit', () => rmSync(folder, { recursive: true, force: true }))
const main = join(installPacked(folder), 'dist/cli/main.js')
const begin = performance.now()
const { finds, lines } = await fuzzCommands({
  main,
  first,
  mutants,
  hangMs: 5_000,
  share,
  onFind: ({ line, what }) => console.log(`${line}\n  ${what.split('\n').slice(0, 6).join('\n  ')}`),
  onProgress: (line, count) => {
    if (count % 5_000 === 0) console.error(`${count} lines, at mutant ${line}`)
  },
})
const seconds = Math.round((performance.now() - begin) / 1000)
console.log(`${mutants} mutants, ${lines} command lines, ${seconds} s: ${finds.length} finds`)
process.exitCode = finds.length === 0 ? 0 : 1
