import { spawn } from 'node:child_process'
import { existsSync, mkdirSync, readdirSync, rmSync } from 'node:fs'
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { isSettled, readTape, requestBytes, type Step, stepsOf, type Tape } from '../../src/tape/index.ts'
import { openCallsOf } from '../../src/tape/cut-off.ts'

export interface Killed {
  readonly kills: number
  readonly tapes: number
  /** Answers and runs that were told to be there. */
  readonly promises: number
  /** Calls that were under way, and that the tape names. */
  readonly openCalls: number
  /** Of those, answers of which pieces had been written. */
  readonly withPieces: number
  /** What was not as it should be: empty. */
  readonly faults: readonly string[]
}

/** Kills a recorded service over and over and reads what it left. */
export async function killOften({
  scratch,
  kills,
  lanes,
  door,
  onKill = () => undefined,
}: {
  readonly scratch: string
  readonly kills: number
  /** Processes at once. */
  readonly lanes: number
  /** The module with the recorder; default: the sources. */
  readonly door?: string
  readonly onKill?: (count: number) => void
}): Promise<Killed> {
  const asked = new Map<string, Set<string>>()
  const model = await startModel((service, call) => asked.get(service)?.add(call))
  const total = { kills: 0, tapes: 0, promises: 0, openCalls: 0, withPieces: 0, faults: [] as string[] }
  const one = async (n: number): Promise<void> => {
    const dir = join(scratch, `${n}`)
    mkdirSync(dir)
    const heard = new Set<string>()
    asked.set(`${n}`, heard)
    const said = await liveAndDie([dir, `${model.url}/${n}`, ...(door === undefined ? [] : [door])])
    // What left before the kill may still be on its way.
    await sleep(20)
    const found = inspect(dir, said, heard)
    for (const key of ['tapes', 'promises', 'openCalls', 'withPieces'] as const) total[key] += found[key]
    for (const fault of found.faults) total.faults.push(`kill ${n}: ${fault}`)
    asked.delete(`${n}`)
    rmSync(dir, { recursive: true })
    onKill(++total.kills)
  }
  let next = 0
  const lane = async (): Promise<void> => {
    while (next < kills) await one(next++)
  }
  await Promise.all(Array.from({ length: lanes }, lane))
  model.close()
  return total
}

/** Streams each answer in pieces, some fast and some slowly. */
async function startModel(
  heard: (service: string, call: string) => void,
): Promise<{ readonly url: string; close(): void }> {
  const answer = async (request: IncomingMessage, response: ServerResponse): Promise<void> => {
    response.on('error', () => undefined)
    let body = ''
    try {
      for await (const chunk of request) body += String(chunk)
    } catch {
      // Cut off before all of it was here: nobody heard it.
      return
    }
    heard((request.url ?? '').slice(1), (JSON.parse(body) as { call: string }).call)
    response.writeHead(200, { 'content-type': 'text/event-stream' })
    const pauseMs = Math.random() < 0.5 ? 0 : 8
    for (let n = 0; n < 12 && !response.destroyed; n++) {
      response.write(
        `data: ${JSON.stringify({ choices: [{ index: 0, delta: { content: 'your order will come ' } }] })}\n\n`,
      )
      if (pauseMs > 0) await sleep(pauseMs)
    }
    response.end('data: [DONE]\n\n')
  }
  const server = createServer((request, response) => void answer(request, response))
  await new Promise<void>((ready) => server.listen(0, '127.0.0.1', ready))
  const { port } = server.address() as AddressInfo
  return {
    url: `http://127.0.0.1:${port}`,
    close() {
      server.closeAllConnections()
      server.close()
    },
  }
}

async function liveAndDie(given: readonly string[]): Promise<readonly string[]> {
  const args = ['--disable-warning=ExperimentalWarning', join(import.meta.dirname, 'service.child.ts'), ...given]
  // One in five dies while it starts, the others when something has been done.
  const awaited = Math.random() < 0.2 ? 'ready' : 'done'
  const child = spawn(process.execPath, args, { stdio: ['ignore', 'pipe', 'inherit'] })
  let said = ''
  const closed = new Promise<void>((resolve) => child.once('close', () => resolve()))
  const ready = new Promise<void>((resolve) => {
    child.stdout.setEncoding('latin1').on('data', (text: string) => {
      said += text
      if (said.includes(awaited)) resolve()
    })
  })
  await Promise.race([ready, closed])
  await sleep(Math.random() * 250)
  child.kill('SIGKILL')
  await closed
  // The last line may be half a word.
  return said.split('\n').slice(0, -1)
}

function inspect(dir: string, said: readonly string[], asked: ReadonlySet<string>): Omit<Killed, 'kills'> {
  const faults: string[] = []
  const tapes = new Map<string, Tape>()
  // What has no name yet is no tape.
  const names = existsSync(dir) ? readdirSync(dir).filter((name) => name.endsWith('.tape.jsonl')) : []
  for (const name of names) {
    try {
      const tape = readTape(join(dir, name))
      tapes.set(tape.header.id, tape)
    } catch (error) {
      faults.push(`${name} does not open: ${(error as Error).message}`)
    }
  }
  const steps = new Map(
    [...tapes.values()].flatMap((tape) => stepsOf(tape).map((step) => [callOf(step), step] as const)),
  )
  let promises = 0
  for (const line of said) {
    const [word, call = ''] = line.split(' ')
    const step = steps.get(call)
    if (word === 'ready') continue
    promises++
    if (word === 'over' && tapes.get(call)?.close === undefined) faults.push(`${call} was over, and has no last line`)
    if (word === 'in' && step === undefined) faults.push(`${call} was called, and is not on the tape`)
    if (word === 'done' && (step === undefined || !isSettled(step)))
      faults.push(`${call} was answered, and the answer is lost`)
  }
  for (const call of asked) if (!steps.has(call)) faults.push(`${call} was asked, and is not on the tape`)
  let [openCalls, withPieces] = [0, 0]
  for (const [id, tape] of tapes) {
    const open = tape.close === undefined ? stepsOf(tape).filter((step) => !isSettled(step)) : []
    const named = openCallsOf(tape)
    openCalls += open.length
    withPieces += open.filter((step) => step.kind === 'exchange' && (step.response?.chunks.length ?? 0) > 0).length
    if (named.length !== open.length) faults.push(`${id} names ${named.length} of ${open.length} open calls`)
    for (const step of open) if (callOf(step) === '') faults.push(`${id} has an open call without its request`)
  }
  return { tapes: tapes.size, promises, openCalls, withPieces, faults }
}

/** The call a step is, by its request. */
function callOf(step: Step): string {
  if (step.kind !== 'exchange') return String((step.args as { readonly call?: unknown }).call ?? '')
  const body = requestBytes(step).toString('utf8')
  return body === '' ? '' : (JSON.parse(body) as { call: string }).call
}
