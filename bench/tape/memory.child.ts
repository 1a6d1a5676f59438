// node --expose-gc memory.child.ts stream|whole TAPE: prints the live memory at its highest, and that of the process.
import { readTape, streamTape } from '../../src/tape/index.ts'

const [mode, path = ''] = process.argv.slice(2)
let live = 0
look()
const before = live
if (mode === 'stream') {
  let line = 0
  for await (const _ of streamTape(path)) if (line++ % 100 === 0) look()
} else {
  const tape = readTape(path)
  look()
  if (tape.close === undefined) throw new Error('the tape is cut')
}
console.log(JSON.stringify({ live: live - before, rss: process.resourceUsage().maxRSS * 1024 }))

function look(): void {
  globalThis.gc?.()
  const { heapUsed, external } = process.memoryUsage()
  live = Math.max(live, heapUsed + external)
}
