// The client that the conformance suite starts, with the address of its server as the last argument: records itself.
import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { createRecorder } from '../../src/record/index.ts'
import { type Job, run } from './agents.ts'

const { MCP_CONFORMANCE_SCENARIO, MCP_CONFORMANCE_CONTEXT, CONFORMANCE_JOB, CONFORMANCE_DIR: dir = '' } = process.env
const job: Job = CONFORMANCE_JOB
  ? (JSON.parse(CONFORMANCE_JOB) as Job)
  : {
      name: MCP_CONFORMANCE_SCENARIO!,
      url: process.argv.at(-1)!,
      context: JSON.parse(MCP_CONFORMANCE_CONTEXT ?? '{}') as Record<string, string>,
    }
const id = job.name.replaceAll(/[^a-z0-9]+/gi, '-')
writeFileSync(join(dir, `${id}.job.json`), JSON.stringify(job))
const recorder = createRecorder({ dir, onWarning: ({ message }) => console.error(message) })
try {
  await recorder.run({ agent: 'conformance', id }, () => run(job))
} finally {
  recorder.flush()
}
process.exit(0)
