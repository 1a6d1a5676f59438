// Replays every variant in one process: node replay.child.ts PROJECT IDS RESULT
import { readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { allVariants } from './project.ts'
import type { Replayed } from './replayed.ts'
import { replayerOf } from './replayer.ts'

const [project = '', list = '', result = ''] = process.argv.slice(2)
const wanted = new Set(JSON.parse(readFileSync(list, 'utf8')) as readonly string[])

const replay = await replayerOf(project)
const replayed: Record<string, Replayed> = {}
for (const { id, agent, file } of allVariants().filter(({ id }) => wanted.has(id)))
  replayed[id] = await replay(join(project, file), join(project, `recordings/golden/${agent}.case.yaml`))
writeFileSync(result, JSON.stringify(replayed))
// What variants left open must not keep the process from its end.
process.exit(0)
