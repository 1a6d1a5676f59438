// node record-server.ts <folder of the suite>: records the client of the suite in each of its server scenarios, against a server of the official SDK.
import { once } from 'node:events'
import { writeFileSync } from 'node:fs'
import type { AddressInfo } from 'node:net'
import { join } from 'node:path'
import { createRecorder } from '../../src/record/index.ts'
import { type Job, run } from './agents.ts'
import { serveEverything } from './server.ts'
import { loadSuite } from './suite.ts'

const [folder = ''] = process.argv.slice(2)
const { CONFORMANCE_DIR: dir = '' } = process.env
const suite = await loadSuite(folder)
const server = serveEverything()
await once(server, 'listening')
// The suite asks of a server that it refuses other hosts than this one.
const url = `http://localhost:${(server.address() as AddressInfo).port}/mcp`
const recorder = createRecorder({ dir, onWarning: ({ message }) => console.error(message) })
let failures = 0
const { log } = console
for (const scenario of suite.names()) {
  const job: Job = { name: `server/${scenario}`, url, scenario }
  const id = `server-${scenario}`
  console.log = () => undefined
  const { checks } = (await recorder.run({ agent: 'conformance', id }, () => run(job, suite))) as Awaited<
    ReturnType<typeof suite.run>
  >
  console.log = log
  writeFileSync(join(dir, `${id}.job.json`), JSON.stringify(job))
  const failed = checks.filter(({ status }) => status === 'FAILURE')
  if (failed.length > 0) failures += 1
  log(`${failed.length === 0 ? 'passes' : 'is not passed'}  ${job.name}`, ...failed.map((one) => one.id))
}
recorder.flush()
process.exit(failures === 0 ? 0 : 1)
