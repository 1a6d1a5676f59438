// Every variant on every input of its world, live: node truth.child.ts PROJECT IDS RESULT
import { readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { pathToFileURL } from 'node:url'
import { subjects } from './agents/index.ts'
import { allVariants } from './project.ts'
import type { Seen } from './truth.ts'
import { type Agent, endingOf, noticed, runIn } from './world/run.ts'
import { startWorld } from './world/server.ts'

const [project = '', list = '', result = ''] = process.argv.slice(2)
const wanted = new Set(JSON.parse(readFileSync(list, 'utf8')) as readonly string[])

let stray: unknown
process.on('unhandledRejection', (error) => (stray = error))
// What agents print is not what is measured.
for (const name of ['log', 'info', 'debug'] as const) console[name] = () => undefined

await using server = await startWorld()
process.env['GATEWAY'] = server.url
const seen: Record<string, Seen> = {}
for (const { id, agent: name, file, edit } of allVariants().filter(({ id }) => wanted.has(id))) {
  const { scene } = subjects.find((subject) => subject.name === name)!
  const { agent } = (await import(pathToFileURL(join(project, file)).href)) as { agent: Agent }
  const runs: string[] = []
  const endings: string[] = []
  // A regression has to show in the recorded situation; a benign edit must not show in any.
  for (const input of edit?.isRegression ? scene.inputs.slice(0, 1) : scene.inputs) {
    stray = undefined
    const ran = await runIn(server, scene, agent, input)
    runs.push(`${noticed(ran)}${stray === undefined ? '' : '\nand left a rejection unhandled'}`)
    endings.push(endingOf(ran))
  }
  seen[id] = { runs, ending: endings[0] ?? '' }
}
writeFileSync(result, JSON.stringify(seen))
