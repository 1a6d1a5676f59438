import { execFile } from 'node:child_process'
import { globSync, mkdirSync, statSync } from 'node:fs'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { join, resolve } from 'node:path'
import { promisify } from 'node:util'
import type { Bar, Table } from '../kit/contract.ts'

const recorders = ['ours', 'nock', 'agent-test-recorder', 'undici', 'polly'] as const

/** Records the same 300 calls with each recorder, one process each, and looks at what is on the disk then. */
export async function sizesOnDisk(scratch: string, peers: string): Promise<{ table: Table; bar: Bar }> {
  const server = createServer((request, response) => {
    const body: Buffer[] = []
    request.on('data', (chunk: Buffer) => body.push(chunk))
    request.on('end', () => {
      const { n } = JSON.parse(Buffer.concat(body).toString()) as { n: number }
      response.writeHead(200, { 'content-type': 'application/json' })
      response.end(JSON.stringify(answerTo(n)))
    })
  })
  await new Promise<void>((done) => server.listen(0, '127.0.0.1', done))
  const { port } = server.address() as AddressInfo
  const sizes = new Map<string, number>()
  try {
    for (const name of recorders) {
      const dir = join(scratch, `size-${name}`)
      mkdirSync(dir)
      const adapter = name === 'ours' ? '' : join(peers, `${name}.mjs`)
      const child = resolve(import.meta.dirname, 'size.child.ts')
      await promisify(execFile)(process.execPath, [child, dir, `http://127.0.0.1:${port}`, adapter])
      const files = globSync('**/*', { cwd: dir }).map((file) => statSync(join(dir, file)))
      sizes.set(
        name,
        files.reduce((sum, file) => sum + (file.isFile() ? file.size : 0), 0),
      )
    }
  } finally {
    server.closeAllConnections()
    server.close()
  }
  const bytesOf = (name: string) => sizes.get(name) ?? Number.NaN
  return {
    table: {
      title: '300 model calls on the disk',
      columns: ['', 'KB', '÷ nock'],
      rows: recorders.map((name) => [
        name,
        (bytesOf(name) / 1024).toFixed(0),
        (bytesOf(name) / bytesOf('nock')).toFixed(2),
      ]),
    },
    bar: { what: 'bytes of 300 calls ÷ nock', value: bytesOf('ours') / bytesOf('nock'), limit: { atMost: 1 } },
  }
}

function answerTo(n: number): object {
  const content = `The order ${n} was shipped on Monday and is on its way; the carrier says it arrives within two days.`
  return {
    id: `chatcmpl-${n}`,
    object: 'chat.completion',
    created: 1_795_270_199,
    model: 'gpt-5',
    choices: [{ index: 0, finish_reason: 'stop', message: { role: 'assistant', content } }],
    usage: { prompt_tokens: 60, completion_tokens: 24, total_tokens: 84 },
  }
}
