/** node killed-rewrite.child.ts <inbox>: is killed when its tape was written once more, and has not taken the place of the first one. */
import fs from 'node:fs'
import { syncBuiltinESMExports } from 'node:module'
import { createRecorder, tool } from '../../src/record/index.ts'

fs.renameSync = () => process.kill(process.pid, 'SIGKILL')
syncBuiltinESMExports()
const value = 'Kq7fZr9Xv4Tn8WbQm2LsJ5hD'
await createRecorder({ dir: process.argv[2]! }).run(
  { agent: 'desk', id: 'killed', input: { about: 'Ada' } },
  async () => {
    await tool('create', async () => ({ id: value }))()
    await tool('look', async () => ({ session: value }))()
  },
)
