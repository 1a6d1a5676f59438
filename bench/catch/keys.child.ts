// How many changed questions unproven variants have: node keys.child.ts PROJECT WANTED RESULT
import { readFileSync, writeFileSync } from 'node:fs'
import { replayerOf } from '../verdict/replayer.ts'

const [project = '', list = '', result = ''] = process.argv.slice(2)
const wanted = JSON.parse(readFileSync(list, 'utf8')) as readonly { id: string; file: string; case: string }[]

const replay = await replayerOf(project)
const keys: Record<string, number> = {}
for (const { id, file, case: caseFile } of wanted) keys[id] = (await replay(file, caseFile)).keys.length
writeFileSync(result, JSON.stringify(keys))
// What variants left open must not keep the process from its end.
process.exit(0)
