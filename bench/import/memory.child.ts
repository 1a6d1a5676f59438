// node memory.child.ts FILE FOLDER: imports one recording as `harvest import` does; prints calls and the memory of the process.
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { importRecordings } from '../../src/importers/index.ts'
import { createTapeWriter } from '../../src/tape/index.ts'

const [file = '', folder = ''] = process.argv.slice(2)
const { tapes } = importRecordings({ file, bytes: readFileSync(file), id: 'bench', agent: 'bench' })
let calls = 0
for (const { header, events, close, facts } of tapes) {
  using writer = createTapeWriter({ path: join(folder, `${facts.format}.tape.jsonl`), header })
  for (const event of events) writer.append(event)
  writer.close(close)
  calls += facts.exchanges
}
console.log(JSON.stringify({ calls, rss: process.resourceUsage().maxRSS * 1024 }))
