// Records every agent once, live, as production would: node record.child.ts PROJECT
import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { pathToFileURL } from 'node:url'
import { subjects } from './agents/index.ts'
import { routeTo } from './world/network.ts'
import { startServer } from './world/server.ts'

const [project = ''] = process.argv.slice(2)
const { createRecorder } = (await import(
  pathToFileURL(join(project, 'node_modules/vitest-harvest/dist/record/index.js')).href
)) as typeof import('../../src/record/index.ts')

await using server = await startServer()
routeTo(server.port)
// Tests have the address of production in their environment; nobody listens there any more.
process.env['GATEWAY'] = `http://127.0.0.1:${server.port}`
writeFileSync(join(project, 'gateway'), process.env['GATEWAY'])
const recorder = createRecorder({ dir: join(project, 'recordings/inbox') })
for (const { name, open, input } of subjects) {
  const file = join(project, `bench/verdict/agents/${name}-000/agent.ts`)
  const { agent } = (await import(pathToFileURL(file).href)) as { agent: (input: unknown) => Promise<unknown> }
  server.enter(open(), [])
  await recorder.run({ agent: `${name}-000`, input, id: name }, () => agent(input))
}
