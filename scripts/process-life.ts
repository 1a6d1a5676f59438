// node scripts/process-life.ts [<runs>]: records so many runs (100) of a service whose process fetches keys, a file and tokens once, stops
// what it asked, and promotes and replays each in a process of its own. Ends with 1 when any differs, or anything is asked.
import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { mkdtempSync, realpathSync, rmSync } from 'node:fs'
import { type AddressInfo, createServer, type Socket } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { loadService, serverOfCaches } from '../fixtures/service/with-caches.ts'
import { createRecorder } from '../src/record/index.ts'
import { keepShared, promote } from '../src/recordings/index.ts'
import { guardLoading, installReplay, replayTape } from '../src/replay/index.ts'
import { readTape } from '../src/tape/index.ts'

const [first = '100', ...rest] = process.argv.slice(2)
if (first === 'record') await record(...(rest as [string, string, string]))
else if (first === 'replay') await replay(...(rest as [string, string, string]))
else await tryAll(Number(first))

async function record(base: string, recordings: string, runs: string): Promise<void> {
  const recorder = createRecorder({ dir: join(recordings, 'inbox') })
  const service = await loadService(base)
  for (let i = 0; i < Number(runs); i++) {
    if (i % 7 === 3) await service.renew()
    await recorder.run({ agent: 'desk', id: `order-${i}`, input: i }, () => service.desk(i))
  }
  recorder.flush()
  process.exit(0)
}

/** Promotes a run as the command does, and replays its case with what is kept beside it. */
async function replay(base: string, recordings: string, id: string): Promise<void> {
  await installReplay()
  const replayed = async (file: string) => {
    const tape = readTape(file)
    const service = await guardLoading(() => loadService(base), [], tape)
    const run = await replayTape(tape, (input) => service.desk(input))
    const [problem] = run.problems
    if (problem !== undefined || !run.comparison.outcomeEqual) throw problem ?? new Error(`${id} ends otherwise`)
    return run
  }
  const tape = join(recordings, 'inbox', `${id}.tape.jsonl`)
  const { shared = [] } = await replayed(tape)
  promote({ recordings, tape, as: id, rescan: false })
  keepShared(recordings, shared)
  await replayed(join(recordings, 'golden', `${id}.tape.jsonl`))
  process.exit(0)
}

async function tryAll(runs: number): Promise<void> {
  const recordings = join(realpathSync(mkdtempSync(join(tmpdir(), 'harvest-life-'))), 'recordings')
  const server = serverOfCaches(new Map()).listen(0, '127.0.0.1')
  await once(server, 'listening')
  const { port } = server.address() as AddressInfo
  const base = `http://127.0.0.1:${port}`
  const recorded = await child('record', base, recordings, `${runs}`)
  server.closeAllConnections()
  server.close()
  await once(server, 'close')
  let reached = 0
  const canary = createServer((socket: Socket) => {
    reached += 1
    socket.destroy()
  }).listen(port, '127.0.0.1')
  await once(canary, 'listening')
  let held = 0
  for (let i = 0; i < runs; i += 4) {
    const ids = Array.from({ length: Math.min(4, runs - i) }, (_, at) => `order-${i + at}`)
    const results = await Promise.all(ids.map((id) => child('replay', base, recordings, id)))
    held += results.filter(({ code }) => code === 0).length
    for (const { code, text } of results) if (code !== 0) console.log(text)
  }
  canary.close()
  rmSync(join(recordings, '..'), { recursive: true, force: true })
  console.log(`${held} of ${runs} runs promote and replay in a process of their own; ${reached} connections`)
  process.exit(recorded.code === 0 && held === runs && reached === 0 ? 0 : 1)
}

async function child(...words: string[]): Promise<{ readonly code: number | null; readonly text: string }> {
  const started = spawn(process.execPath, [import.meta.filename, ...words], { stdio: ['ignore', 'pipe', 'pipe'] })
  let text = ''
  for (const stream of [started.stdout, started.stderr])
    stream.setEncoding('utf8').on('data', (piece: string) => (text += piece))
  const [code] = (await once(started, 'close')) as [number | null]
  return { code, text }
}
