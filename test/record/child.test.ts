import { spawn } from 'node:child_process'
import { createInterface } from 'node:readline'
import { expect, test } from 'vitest'
import { createRecorder } from '../../src/record/index.ts'
import { installReplay, replayTape } from '../../src/replay/index.ts'
import { readTape } from '../../src/tape/index.ts'
import { temporaryFolder } from '../support/temporary-folder.ts'

const server = `process.stdin.on('data', (line) => {
  const { id } = JSON.parse(line)
  console.log(JSON.stringify({ jsonrpc: '2.0', id, result: process.hrtime.bigint().toString() }))
})`

/** Writes in the moment in which it starts the child, before anything else can happen. */
async function agent(): Promise<unknown> {
  const child = spawn(process.execPath, ['-e', server], { stdio: ['pipe', 'pipe', 'inherit'] })
  child.stdin.write('{"jsonrpc":"2.0","id":1,"method":"ping"}\n')
  for await (const line of createInterface(child.stdout)) {
    child.stdin.end()
    return JSON.parse(line)
  }
  throw new Error('the child said nothing')
}

test('what is written to a child in the moment it is started is on the tape', async () => {
  await installReplay()
  const tapes: string[] = []
  const recorder = createRecorder({
    dir: temporaryFolder('child'),
    onTape: (file) => tapes.push(file),
  })
  await recorder.run({ agent: 'child' }, agent)
  const tape = readTape(tapes[0]!)
  expect(tape.events.map((event) => (event.kind === 'exchange' ? event.method : event.kind))).toEqual([
    'spawn',
    'ping',
    'END',
  ])
  const { problems, comparison } = await replayTape(tape, agent)
  expect(problems).toEqual([])
  expect(comparison.outcomeEqual).toBe(true)
})
