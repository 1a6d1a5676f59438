/*
 * node index-forever.child.ts <recordings> [calls]: adds tapes to the inbox and lists it, over and over, until it is killed.
 * Writes the number of each round to stdout after the list was answered. Before so many `calls` of the database it says
 * `stopped` and waits. Ends if the index had to be made again or could not be used; that others held it for longer than a
 * list waits, as on a busy machine, is no such thing. Without a folder: fills the compile cache.
 */
import { writeFileSync, writeSync } from 'node:fs'
import { join } from 'node:path'
import { DatabaseSync, StatementSync } from 'node:sqlite'
import { queryTapes } from '../../src/recordings/query-tapes.ts'
import { tapeText } from './tape-text.ts'

const [recordings, calls] = process.argv.slice(2)
if (calls !== undefined) stopAfter(Number(calls))
if (recordings !== undefined) writeSync(1, 'ready\n')
for (let n = 1; recordings !== undefined; n++) {
  for (const part of [1, 2, 3]) {
    const id = `run-${n}-${part}`
    writeFileSync(join(recordings, `inbox/${id}.tape.jsonl`), tapeText({ header: { id } }))
  }
  const { note } = await queryTapes(recordings)
  if (note !== undefined && !note.includes('database is locked')) throw new Error(note)
  writeSync(1, `${n}\n`)
}

function stopAfter(left: number): void {
  const count = (holder: object, name: string) => {
    const original = Reflect.get(holder, name) as (...args: unknown[]) => unknown
    Reflect.set(holder, name, function (this: unknown, ...args: unknown[]): unknown {
      if (left-- === 0) {
        writeSync(1, 'stopped\n')
        Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0)
      }
      return Reflect.apply(original, this, args)
    })
  }
  count(DatabaseSync.prototype, 'exec')
  for (const name of ['run', 'get', 'all']) count(StatementSync.prototype, name)
}
