/*
 * node index-forever.child.ts <recordings>: adds tapes to the inbox and lists it, over and over, until it is killed.
 * Writes the number of each round to stdout after the list was answered. Ends if the index had to be made again or
 * could not be used. Without a folder: fills the compile cache.
 */
import { writeFileSync, writeSync } from 'node:fs'
import { join } from 'node:path'
import { queryTapes } from '../../src/recordings/query-tapes.ts'
import { tapeText } from './tape-text.ts'

const [recordings] = process.argv.slice(2)
if (recordings !== undefined) writeSync(1, 'ready\n')
for (let n = 1; recordings !== undefined; n++) {
  for (const part of [1, 2, 3]) {
    const id = `run-${n}-${part}`
    writeFileSync(join(recordings, `inbox/${id}.tape.jsonl`), tapeText({ header: { id } }))
  }
  const { note } = await queryTapes(recordings)
  if (note !== undefined) throw new Error(note)
  writeSync(1, `${n}\n`)
}
