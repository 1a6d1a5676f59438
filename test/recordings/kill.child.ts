/*
 * node kill.child.ts <folder> <seed>: waits to be killed in the middle of four operations at once.
 *
 * Each operation is done over and over until a random one of its calls to the disk; inside of that call the next
 * operation begins. Files that are only read do not count: nobody leaves anything half done there. The innermost says `stopped` and waits. A line on stdout is written only after an operation has
 * returned: what stands there is a promise kept. Without a folder: loads what is needed, to fill the compile cache.
 */
import { createRequire, syncBuiltinESMExports } from 'node:module'
import { constants, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { demote } from '../../src/recordings/demote.ts'
import { placeHold } from '../../src/recordings/holds.ts'
import { promote } from '../../src/recordings/promote.ts'
import { removeTapes } from '../../src/recordings/removal.ts'
import { textHash, writeUpdates } from '../../src/vitest/write-updates.ts'
import { mulberry32 } from './mulberry32.ts'
import { numbered } from './numbered.ts'

const [folder, seed] = process.argv.slice(2)
if (folder === undefined) process.exit(0)

interface Operation {
  readonly name: string
  /** Calls to the disk in about two and a half rounds. */
  readonly calls: number
  readonly rounds: number
  round(recordings: string, n: number): void
}

const operations: readonly Operation[] = [
  {
    name: 'promote',
    calls: 75,
    rounds: Infinity,
    round: (recordings, n) =>
      promote({ recordings, tape: join(recordings, 'inbox/run-1.tape.jsonl'), as: `case-${n}` }),
  },
  {
    name: 'update',
    calls: 20,
    rounds: Infinity,
    round(recordings, n) {
      const file = join(recordings, 'golden/a.case.yaml')
      const { written } = writeUpdates([{ file, before: textHash(readFileSync(file, 'utf8')), text: numbered(n) }])
      if (written.length !== 1) throw new Error(`update ${n} was not written`)
    },
  },
  {
    name: 'rm',
    calls: 25,
    rounds: 20,
    round(recordings, n) {
      const file = join(recordings, `inbox/run-${n}.tape.jsonl`)
      if (n % 4 === 0) placeHold(recordings, file, `claim ${n}`)
      else removeTapes(recordings, [file])
    },
  },
  { name: 'demote', calls: 40, rounds: 4, round: (recordings, n) => demote(recordings, `case-${n}`) },
]

const fs = createRequire(import.meta.url)('node:fs') as Record<string, (...args: unknown[]) => unknown>
const { writeSync } = fs
const random = mulberry32(Number(seed))
/** Files that are open for reading. */
const read = new Set<unknown>()
/** Called at every call to the disk, before or after it. */
let atDisk = (_: 'before' | 'after'): void => {}

for (const name of [
  'openSync',
  'writeSync',
  'fsyncSync',
  'closeSync',
  'linkSync',
  'renameSync',
  'mkdirSync',
  'rmSync',
]) {
  const original = fs[name]!
  fs[name] = (...args) => {
    const isRead = isOnlyRead(name, args)
    if (!isRead) atDisk('before')
    const result = original(...args)
    if (!isRead) atDisk('after')
    else if (name === 'openSync') read.add(result)
    return result
  }
}

function isOnlyRead(name: string, [target, flags]: readonly unknown[]): boolean {
  if (name === 'closeSync') return read.delete(target)
  const { O_WRONLY, O_RDWR } = constants
  return name === 'openSync' && (typeof flags === 'number' ? (flags & (O_WRONLY | O_RDWR)) === 0 : flags === 'r')
}
syncBuiltinESMExports()
begin(
  [...operations]
    .map((operation) => ({ operation, key: random() }))
    .sort((a, b) => a.key - b.key)
    .map(({ operation }) => operation),
)

/** Begins the first of these, and the others inside of it. */
function begin([operation, ...others]: readonly Operation[]): void {
  if (operation === undefined) {
    say('stopped')
    Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0)
    return
  }
  let left = Math.floor(random() * operation.calls * 2)
  atDisk = () => {
    if (left-- > 0) return
    // Nobody comes back from here: the next operation takes over, and then the end.
    begin(others)
  }
  for (let n = 1; n <= operation.rounds; n++) {
    operation.round(join(folder!, operation.name), n)
    say(`${operation.name} ${n}`)
  }
  begin(others)
}

function say(words: string): void {
  writeSync!(1, `${words}\n`)
}
