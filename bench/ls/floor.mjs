// What a command does with the files, and nothing else of it: the floor of `commands.ts`. Plain JavaScript, for to strip types
// takes longer than `show`.
import { closeSync, lstatSync, openSync, readdirSync, readSync } from 'node:fs'

const [command] = process.argv.slice(2)
const inbox = 'recordings/inbox/'
const golden = 'recordings/golden/'
const room = Buffer.allocUnsafeSlow(64 * 1024)

const headRoom = Buffer.allocUnsafeSlow(4 * 1024)

const cases = []
const tapes = []
for (const folder of [golden, inbox])
  for (const { name } of readdirSync(folder, { withFileTypes: true }))
    if (name.endsWith('.tape.jsonl')) tapes.push(folder + name)
    else if (name.endsWith('.case.yaml')) cases.push(folder + name)

if (command === 'check') await parseAll(tapes.filter((tape) => tape.startsWith(golden)))
else {
  for (const file of cases) read(file)
  if (command === 'first') for (const file of tapes.filter((tape) => tape.startsWith(golden))) readHead(file)
  if (command === 'ls') await listAll()
}

async function listAll() {
  for (const tape of tapes) lstatSync(tape)
  const { DatabaseSync } = await import('node:sqlite')
  const database = new DatabaseSync(`${inbox}.index/tapes.sqlite`, { readOnly: true })
  const rows = database.prepare(
    'SELECT facts, ended, sum, tape.* FROM tape JOIN detail ON detail.tape = tape.id ORDER BY started',
  )
  for (const { facts, ended } of rows.iterate()) {
    JSON.parse(facts)
    if (ended !== null) JSON.parse(ended)
  }
}

async function parseAll(files) {
  const { hash } = await import('node:crypto')
  const { parse } = await import('yaml')
  for (const file of files)
    for (const line of read(file).split('\n')) {
      if (line === '') continue
      JSON.parse(line)
      hash('sha256', line)
    }
  for (const file of cases) parse(read(file))
}

function read(file) {
  const descriptor = openSync(file)
  const text = room.toString('utf8', 0, readSync(descriptor, room, 0, room.length, 0))
  closeSync(descriptor)
  return text
}

/** Whose run a tape is stands in its first line. */
function readHead(file) {
  const descriptor = openSync(file)
  headRoom.subarray(0, readSync(descriptor, headRoom, 0, headRoom.length, 0)).includes('run-004242')
  closeSync(descriptor)
}
