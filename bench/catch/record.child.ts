// Records every agent once, live, as production would: node record.child.ts PROJECT
import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { pathToFileURL } from 'node:url'
import { createRecorder } from '../../src/record/index.ts'
import { subjects } from './agents/index.ts'
import { type Agent, runIn } from './world/run.ts'
import { startWorld } from './world/server.ts'

const [project = ''] = process.argv.slice(2)
await using server = await startWorld()
process.env['GATEWAY'] = server.url
// Tests have the address of production in their environment; nobody listens there any more.
writeFileSync(join(project, 'gateway'), server.url)
const recorder = createRecorder({ dir: join(project, 'recordings/inbox') })
for (const { name, scene } of subjects) {
  const file = join(project, `bench/catch/agents/${name}/${name}-00.ts`)
  const { agent } = (await import(pathToFileURL(file).href)) as { agent: Agent }
  const recorded: Agent = (input) => recorder.run({ agent: `${name}-00`, input, id: name }, () => agent(input))
  const { outcome } = await runIn(server, scene, recorded, scene.inputs[0])
  if ('threw' in outcome) throw new Error(`${name} cannot be recorded: ${outcome.threw}`)
}
