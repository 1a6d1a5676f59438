// Every variant once, live: node truth.child.ts PROJECT IDS RESULT
import { readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { pathToFileURL } from 'node:url'
import { allVariants, subjectOf } from './project.ts'
import { type Wire, wireOf } from './wire.ts'
import { routeTo } from './world/network.ts'
import type { Listener } from './world/seen.ts'
import { startServer } from './world/server.ts'
import type { Deed } from './world/types.ts'

const [project = '', list = '', result = ''] = process.argv.slice(2)
const wanted = new Set(JSON.parse(readFileSync(list, 'utf8')) as readonly string[])

process.env['BENCH_LIVE'] = '1'
// What agents print is not what is measured, and what they leave behind is on the wire or nowhere.
for (const name of ['log', 'info', 'debug', 'warn', 'error'] as const) console[name] = () => undefined
process.on('unhandledRejection', () => undefined)
process.setMaxListeners(0)

await using server = await startServer()
routeTo(server.port)
process.env['GATEWAY'] = `http://127.0.0.1:${server.port}`
const seen: Record<string, Wire> = {}
const listener: Listener = {}
;(globalThis as { benchListener?: Listener }).benchListener = listener
for (const { id, agent: name, file } of allVariants().filter(({ id }) => wanted.has(id))) {
  const { open, input } = subjectOf(name)
  const deeds: Deed[] = []
  listener.hear = (deed) => void deeds.push(deed)
  server.enter(open(), deeds)
  const ending: { returned?: unknown; threw?: string } = {}
  try {
    const { agent } = (await import(pathToFileURL(join(project, file)).href)) as {
      agent: (input: unknown) => Promise<unknown>
    }
    ending.returned = await agent(structuredClone(input))
  } catch (error) {
    ending.threw = (error as Error).message
  }
  // What it did not wait for is seen as well.
  await sleep(3)
  seen[id] = wireOf([...deeds, { kind: 'ending', ...ending }])
}
writeFileSync(result, JSON.stringify(seen))
