// node memory.child.ts FILE TAPES: imports a file, or those of a FILE.list, as `harvest import` does; prints calls and the memory of the process.
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { importRecordings } from '../../src/importers/index.ts'
import { createTapeWriter } from '../../src/tape/index.ts'

const [path = '', folder = ''] = process.argv.slice(2)
let [calls, count] = [0, 0]
for (const file of path.endsWith('.list') ? readFileSync(path, 'utf8').split('\n') : [path]) {
  const { tapes } = importRecordings({ file, bytes: readFileSync(file), id: 'bench', agent: 'bench' })
  for (const { header, events, close, facts } of tapes) {
    using writer = createTapeWriter({ path: join(folder, `${count++}.tape.jsonl`), header })
    for (const event of events) writer.append(event)
    writer.close(close)
    calls += facts.exchanges
  }
}
console.log(JSON.stringify({ calls, rss: process.resourceUsage().maxRSS * 1024 }))
