// 300 fetch calls, in a process of its own: node calls.ts WHO PROVIDER FOLDER [ADAPTER]
// WHO is `bare`, `armed` (a recorder that is told of no run), `lines` (the same, see lines.ts), `ours`, or another recorder, whose adapter stands in bench/peers.
import { readdirSync, statSync } from 'node:fs'
import { join, resolve } from 'node:path'
import type { createRecorder } from '../../src/record/index.ts'
import { ask, callCount } from './agent.ts'
import { type Heard, Lines } from './lines.ts'

/** What it took to make the calls and to have them on disk. */
export interface CallFigures {
  readonly wallMs: number
  readonly cpuMs: number
  readonly bytes: number
}

interface Session {
  readonly base: string
  close(): Promise<unknown>
}
interface Adapter {
  open(mode: 'record', options: { dir: string; name: string; upstream: string }): Promise<Session>
}
type Work = (base: string, heard?: Heard) => Promise<void>

const [who = 'bare', provider = '', dir = '', adapter = ''] = process.argv.slice(2)
const record = await recording()

async function recording(): Promise<(name: string, work: Work) => Promise<unknown>> {
  if (who === 'bare') return (_name, work) => work(provider)
  if (who === 'ours' || who === 'armed' || who === 'lines') {
    const door = (await import(resolve(import.meta.dirname, '../../dist/record/index.js'))) as {
      createRecorder: typeof createRecorder
    }
    const recorder = door.createRecorder({ dir })
    if (who === 'armed') return (_name, work) => work(provider)
    if (who === 'lines')
      return async (name, work) => {
        const lines = new Lines(dir, name)
        await work(provider, lines.say)
        lines.close()
      }
    return (name, work) => recorder.run({ agent: 'bench', id: name }, () => work(provider))
  }
  const { open } = (await import(adapter)) as Adapter
  return async (name, work) => {
    const session = await open('record', { dir, name, upstream: provider })
    await work(session.base)
    await session.close()
  }
}

async function calls(base: string, heard?: Heard): Promise<void> {
  for (let call = 0; call < callCount; call++) {
    const content = `Question ${call}: where is order ${4000 + call}, and what was paid for it?`
    await ask(base, { model: 'gpt-invented-1', messages: [{ role: 'user', content }] }, heard)
  }
}

process.on('message', (name: string) => void measure(name).then((figures) => process.send?.(figures)))
process.on('disconnect', () => process.exit())
process.send?.('ready')

async function measure(name: string): Promise<CallFigures> {
  const before = sizeOf(dir)
  const cpu = process.cpuUsage()
  const begin = performance.now()
  await record(name, calls)
  const wallMs = performance.now() - begin
  const { user, system } = process.cpuUsage(cpu)
  return { wallMs, cpuMs: (user + system) / 1_000, bytes: sizeOf(dir) - before }
}

function sizeOf(folder: string): number {
  return readdirSync(folder, { recursive: true, withFileTypes: true })
    .filter((entry) => entry.isFile())
    .reduce((sum, entry) => sum + statSync(join(entry.parentPath, entry.name)).size, 0)
}
