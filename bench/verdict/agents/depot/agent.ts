// Refills a depot: its stock is in a database, its picker a program that says lines of JSON, its display behind a WebSocket.
import { spawn } from 'node:child_process'
import { join } from 'node:path'
import { createInterface } from 'node:readline'
import { DatabaseSync } from 'node:sqlite'
import { WebSocket } from 'ws'
import { client } from '../../../../src/record/index.ts'

interface Refill {
  readonly depot: string
  readonly below: number
}

const db = client(() => new DatabaseSync(':memory:'))

/** Finds what runs low, has it picked, books it, and shows it. */
export async function agent({ depot, below }: Refill): Promise<object> {
  db.exec('create table stock (depot text, sku text, pieces integer); create table log (sku text, pieces integer)')
  db.prepare('insert into stock values (?, ?, ?)').run(depot, 'tea', 3)
  const low = db.prepare('select sku, pieces from stock where depot = ? and pieces < ?').all(depot, below)
  const skus = low.map(({ sku }) => String(sku))
  const picked = skus.length > 0 ? await pick(skus) : 0
  db.exec('begin immediate')
  for (const sku of skus) {
    db.prepare('update stock set pieces = pieces + ? where sku = ?').run(picked, sku)
    db.prepare('insert into log (sku, pieces) values (?, ?)').run(sku, picked)
  }
  db.exec('commit')
  const { total } = db.prepare('select sum(pieces) as total from stock').get() ?? {}
  const shown = await show(`refilled ${skus.join(', ')}`)
  return { picked, total, shown }
}

/** Asks the picker for each of them. */
async function pick(skus: readonly string[]): Promise<number> {
  const flags = ['--mode', 'careful', '--server', 'https://wms.example/v1']
  const program = [join(import.meta.dirname, 'picker.mjs'), ...flags]
  const child = spawn(process.execPath, program, { stdio: ['pipe', 'pipe', 'ignore'] })
  const say = (line: object): void => void child.stdin.write(`${JSON.stringify(line)}\n`)
  say({ type: 'start', rule: 'Take the oldest first.' })
  let picked = 0
  for await (const text of createInterface({ input: child.stdout })) {
    const line = JSON.parse(text) as { type: string; pieces?: number }
    if (line.type === 'ready') for (const sku of skus) say({ type: 'pick', sku, pieces: 12 })
    if (line.type === 'picked') picked += line.pieces ?? 0
    if (line.type === 'picked') say({ type: 'stop', reason: 'enough' })
  }
  return picked
}

/** Tells the display, and waits until it has shown it. */
async function show(text: string): Promise<string> {
  const address = `${(process.env['GATEWAY'] ?? '').replace('http', 'ws')}/display?floor=2`
  const socket = new WebSocket(address, ['display.v2'])
  const answer = new Promise<string>((resolve, reject) => {
    socket.on('message', (data: Buffer) => resolve(data.toString('utf8')))
    socket.on('error', reject)
  })
  await new Promise<void>((resolve, reject) => {
    socket.on('open', resolve)
    socket.on('error', reject)
  })
  socket.send(JSON.stringify({ bell: false }))
  socket.send(Buffer.from([7, 1]))
  socket.send(JSON.stringify({ text }))
  const shown = await answer
  socket.close(1000, 'shown')
  await new Promise((resolve) => socket.on('close', resolve))
  return shown
}
