/*
 * node service.child.ts <folder> <url> [<recorder>]: a service with three runs under way at any time, each of calls that stream their answer
 * and of wrapped tools, until it is killed. A line on stdout is a promise: `done <call>` once an answer was read to its end,
 * `in <call>` from inside a tool.
 */
import { writeSync } from 'node:fs'
import { setTimeout as sleep } from 'node:timers/promises'

const [dir = '.', url = '', door = '../../src/record/index.ts'] = process.argv.slice(2)
const { createRecorder, tool } = (await import(door)) as typeof import('../../src/record/index.ts')
const recorder = createRecorder({ dir })
const say = (line: string): void => void writeSync(1, `${line}\n`)

const look = tool('look', async ({ call }: { call: string }) => {
  say(`in ${call}`)
  await sleep(Math.random() * 10)
  return call
})

async function ask(call: string): Promise<void> {
  const body = JSON.stringify({ call, question: 'Where is my order? '.repeat(20) })
  const response = await fetch(url, { method: 'POST', headers: { 'content-type': 'application/json' }, body })
  await response.text()
  say(`done ${call}`)
}

async function runForever(lane: number): Promise<never> {
  for (let n = 0; ; n++) {
    const id = `run-${lane}-${n}`
    await recorder.run({ agent: 'service', id, input: { id } }, async () => {
      await ask(`${id}/first`)
      await Promise.all([ask(`${id}/left`), look({ call: `${id}/tool` }), ask(`${id}/right`)])
    })
    say(`over ${id}`)
  }
}

say('ready')
await Promise.all([0, 1, 2].map(runForever))
