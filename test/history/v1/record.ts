/*
 * Records runs of the agent beside it: `node test/history/v1/record.ts <name>` writes `<name>.tape.jsonl`, one
 * that ends with an error, and a branch. Tapes that are there are not written again: a name is a state of the recorder that was
 * released.
 */
import { existsSync, mkdtempSync, readdirSync, renameSync, rmSync, writeFileSync } from 'node:fs'
import { createServer, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { fork } from '../../../src/index.ts'
import { createRecorder } from '../../../src/record/index.ts'
import { installReplay } from '../../../src/replay/index.ts'
import { readTape, stepsOf } from '../../../src/tape/index.ts'
import { agent, type Input } from './agent.ts'

const [name = ''] = process.argv.slice(2)
const server = createServer(({ url = '/' }, response) => void answer(url, response))
await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
const base = `http://127.0.0.1:${(server.address() as AddressInfo).port}`
await record(name, { base, order: 'A-17' })
await record(`${name}-throws`, { base, order: 'A-18', fails: true })
await branch()
server.close()
server.closeAllConnections()

/** The same run, had its last tool answered otherwise. */
async function branch(): Promise<void> {
  await installReplay()
  const parent = readTape(join(import.meta.dirname, `${name}.tape.jsonl`))
  const step = stepsOf(parent).findLastIndex(({ kind }) => kind === 'tool') + 1
  const change = { path: 'result.refunded', value: 20 }
  const made = await fork(parent, { agent: (input) => agent(input as Input), step, change })
  writeFileSync(join(import.meta.dirname, `${name}-branch.tape.jsonl`), made.branch.text)
}

async function record(as: string, input: Input): Promise<void> {
  const file = join(import.meta.dirname, `${as}.tape.jsonl`)
  if (existsSync(file)) throw new Error(`${file} is there: choose another name`)
  const dir = mkdtempSync(join(tmpdir(), 'vitest-harvest-history-'))
  const recorder = createRecorder({ dir })
  await recorder.run({ agent: 'history', input }, () => agent(input)).catch((error: unknown) => console.log(String(error)))
  const [tape = ''] = readdirSync(dir).filter((one) => one.endsWith('.tape.jsonl'))
  renameSync(join(dir, tape), file)
  rmSync(dir, { recursive: true })
  console.log(file)
}

async function answer(url: string, response: ServerResponse): Promise<void> {
  response.setHeader('x-request-id', `req_${Math.random()}`)
  if (url.startsWith('/v1/')) {
    response.writeHead(200, { 'content-type': 'text/event-stream' })
    for (const content of ['Grüße 😀: ', 'it may ', 'be refunded.']) {
      response.write(`data: ${JSON.stringify({ id: 'x', model: 'gpt-x', choices: [{ delta: { content } }] })}\n\n`)
      await sleep(3)
    }
    response.end('data: [DONE]\n\n')
    return
  }
  if (url.startsWith('/slow')) await sleep(30)
  response.setHeader('content-type', 'application/json')
  // The name of the last one says that it is a secret.
  const visit = 'v7Kq2Zr9Xv4Tn8WbJh5g'
  response.end(JSON.stringify({ rate: Math.random(), ...(url.startsWith('/rates') ? { session: visit } : { id: visit }) }))
}
