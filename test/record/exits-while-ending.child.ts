/** node exits-while-ending.child.ts <inbox>: exits while a tape is written once more. */
import { createRecorder, tool } from '../../src/record/index.ts'

const value = 'Kq7fZr9Xv4Tn8WbQm2LsJ5hD'
const padding = 'lorem ipsum dolor sit amet, '.repeat(20_000)
const recorder = createRecorder({ dir: process.argv[2]! })
let isOver = false
void recorder.run({ agent: 'desk', id: 'exits' }, async () => {
  await tool('create', async () => ({ id: value, padding }))()
  await tool('look', async () => ({ session: value }))()
  isOver = true
})
while (!isOver) await new Promise(setImmediate)
console.log(`open: ${recorder.stats.open}`)
process.exit(0)
