import { mkdtempSync, rmSync } from 'node:fs'
import { type AddressInfo, createServer, type Server, type Socket } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { createRecorder } from '../../../src/record/index.ts'
import { installReplay, type ReplayResult, replayTape } from '../../../src/replay/index.ts'
import { readTape, type Tape } from '../../../src/tape/index.ts'

export interface Both {
  readonly recorded: unknown
  readonly tape: Tape
  readonly warnings: readonly string[]
}

/** Records an agent once. */
export async function recorded(agent: () => unknown): Promise<Both> {
  const dir = mkdtempSync(join(tmpdir(), 'harvest-clients-'))
  try {
    let file = ''
    const warnings: string[] = []
    const recorder = createRecorder({
      dir,
      onTape: (path) => (file = path),
      onWarning: ({ message }) => warnings.push(message),
    })
    const value = await recorder.run({ agent: 'asks', id: 'asks' }, async () => agent())
    recorder.flush()
    return { recorded: value, tape: readTape(file), warnings }
  } finally {
    rmSync(dir, { recursive: true })
  }
}

/** Replays it with a client that would reach the canary: nobody may. */
export async function replayed(
  tape: Tape,
  agent: (port: number) => unknown,
): Promise<ReplayResult & { readonly reached: number }> {
  await installReplay()
  await using canary = await listening(createServer((socket) => socket.destroy()))
  const result = await replayTape(tape, async () => agent(canary.port))
  return { ...result, reached: canary.reached }
}

export interface Listening extends AsyncDisposable {
  readonly port: number
  readonly reached: number
}

export async function listening(server: Server): Promise<Listening> {
  const sockets = new Set<Socket>()
  let reached = 0
  server.on('connection', (socket: Socket) => {
    reached++
    sockets.add(socket.on('close', () => sockets.delete(socket)))
  })
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  return {
    port: (server.address() as AddressInfo).port,
    get reached() {
      return reached
    },
    async [Symbol.asyncDispose]() {
      for (const socket of sockets) socket.destroy()
      await new Promise((resolve) => server.close(resolve))
    },
  }
}
