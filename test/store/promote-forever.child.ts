/*
 * Promotes the tape named on the command line again and again, each time under another id, until it is killed.
 * Writes each id to stdout, but only after `promote` has returned: an id there is a promise kept.
 */
import { createRequire, syncBuiltinESMExports } from 'node:module'
import { promote } from '../../src/store/index.ts'

const [recordings, tape] = process.argv.slice(2)
// Without arguments: only fill the compile cache, which a killed process cannot.
if (recordings === undefined || tape === undefined) process.exit(0)

const fs = createRequire(import.meta.url)('node:fs') as Record<string, (...args: unknown[]) => unknown>
const { writeSync } = fs
say('ready')
slowDown()
for (let n = 1; ; n++) {
  promote({ recordings, tape, as: `case-${n}` })
  say(`case-${n}`)
}

function say(word: string): void {
  writeSync?.(1, `${word}\n`)
}

/** A disk so slow that most of the time goes into writing: then a random moment is one in the middle of it. */
function slowDown(): void {
  const clock = new Int32Array(new SharedArrayBuffer(4))
  for (const name of ['openSync', 'writeSync', 'fsyncSync', 'linkSync', 'renameSync', 'rmSync']) {
    const original = fs[name]
    fs[name] = (...args) => {
      const result = original?.(...args)
      Atomics.wait(clock, 0, 0, 15)
      return result
    }
  }
  syncBuiltinESMExports()
}
