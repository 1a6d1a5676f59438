import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { Client } from '@modelcontextprotocol/sdk/client/index.js'
import { StdioClientTransport } from '@modelcontextprotocol/sdk/client/stdio.js'
import { ResultSchema } from '@modelcontextprotocol/sdk/types.js'
import { HarvestError } from '../src/errors/index.ts'
import { importRecording } from '../src/importers/index.ts'
import { installReplay, replayTape } from '../src/replay/index.ts'
import { parseTape, requestBytes, responseBytes, serializeTape, type Tape } from '../src/tape/index.ts'
import { manifestRows } from './manifest.ts'

/**
 * Replays the logs of MCP servers of a collection through the MCP client as its package has it: it greets with its own name,
 * version and capabilities, and makes the logged requests. A log is held when the replay has no problem and each answer
 * has the logged result. With `--wrong` one argument of each log is another one: every log has to fail.
 *
 *     node scripts/replay-mcp.ts ../shared/data [--wrong]
 */
const [folder = '../shared/data', ...words] = process.argv.slice(2)
const isWrong = words.includes('--wrong')

interface Request {
  readonly id?: number | string
  readonly method: string
  readonly params?: { readonly name?: string; readonly arguments?: Record<string, unknown>; readonly _meta?: unknown }
}

const counts = { held: 0, failed: 0, refused: 0, requests: 0 }
await installReplay()
for (const { file, kind } of manifestRows<{ readonly file: string; readonly kind: string }>(folder)) {
  if (kind !== 'mcp-session' || file.endsWith('.results.json')) continue
  const tape = tapeOf(file)
  if (tape !== undefined) await drive(tape, file)
}
console.log(counts)
process.exitCode = (isWrong ? counts.held : counts.failed) > 0 ? 1 : 0

function tapeOf(file: string): Tape | undefined {
  try {
    const bytes = readFileSync(join(folder, file))
    const { header, events, close } = importRecording({ file, bytes, id: 'log', agent: 'mcp' })
    return parseTape(serializeTape(header, events, close), file)
  } catch (error) {
    // Part of the collection is kept back for another check.
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return undefined
    if (!HarvestError.is(error)) throw error
    counts.refused++
    console.log(`refused ${file}: ${error.code}`)
    return undefined
  }
}

async function drive(tape: Tape, file: string): Promise<void> {
  const asked = tape.events.flatMap((event) => {
    if (event.kind !== 'exchange' || event.response === undefined) return []
    const request = JSON.parse(requestBytes(event).toString('utf8')) as Request
    const { result } = JSON.parse(responseBytes(event).toString('utf8')) as { readonly result?: unknown }
    return request.method === 'initialize' ? [] : [{ request, result }]
  })
  counts.requests += asked.length
  const { outcome, problems } = await replayTape(tape, async () => {
    const client = new Client({ name: 'agent', version: '1.0.0' })
    await client.connect(new StdioClientTransport({ command: 'server' }))
    const results: unknown[] = []
    for (const { request } of asked) results.push(await client.request(inOwnWords(request), ResultSchema))
    await client.close()
    return results
  })
  const told = asked.map(({ result }) => result)
  const isSame = outcome.status === 'returned' && JSON.stringify(outcome.value) === JSON.stringify(told)
  const isHeld = isSame && problems.length === 0
  counts[isHeld ? 'held' : 'failed']++
  if (isHeld === isWrong) console.log(`${isHeld ? 'HELD' : 'FAILED'} ${file}\n${problems.map(String).join('\n')}\n`)
}

/** A request as the agent makes it: the notes of the client that was logged are not in it. */
function inOwnWords({ method, params }: Request): { method: string; params?: Record<string, unknown> } {
  if (params === undefined) return { method }
  const { _meta: _, ...rest } = params
  const changed = isWrong && rest.arguments ? { arguments: { ...rest.arguments, wrong: true } } : {}
  return { method, params: { ...rest, ...changed } }
}
