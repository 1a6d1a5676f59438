import { dirname, join } from 'node:path'
import { pathToFileURL } from 'node:url'
import { loadCase, requireTapeFile } from '../../src/cases/index.ts'
import { driftPolicy } from '../../src/match/drift-policy.ts'
import { judge } from '../../src/verdict/index.ts'
import type { Replayed } from './replayed.ts'
import { keysOf, type Product, verdictByHand, verdictOfCase } from './verdict-of.ts'

/** Replays an agent from a file against a case, in this process. */
export type Replayer = (file: string, caseFile: string) => Promise<Replayed>

/** Sets this process up to replay with what a project has installed; its result is judged by the sources. What the agents print is dropped. */
export async function replayerOf(project: string): Promise<Replayer> {
  const { installReplay, replayTape, standInKeys } =
    await dist<typeof import('../../src/replay/index.ts')>('replay/index.js')
  await installReplay()
  const { readTape } = await dist<typeof import('../../src/library/tape.ts')>('library/tape.js')
  const product: Product = { judge, policyOf: driftPolicy }
  for (const name of ['log', 'info', 'debug', 'warn', 'error'] as const) console[name] = () => undefined
  process.on('unhandledRejection', () => undefined)
  process.setMaxListeners(0)

  return async (file, caseFile) => {
    // In the place of the agent it is an edit of, as in a project: what it starts lies where it lay.
    process.chdir(dirname(file))
    const kase = loadCase(caseFile)
    const tape = readTape(requireTapeFile(kase))
    const takeBack = standInKeys(tape)
    const limit = new AbortController()
    const timer = setTimeout(() => limit.abort(new Error('the time of this variant is over')), 15_000)
    const startedAt = performance.now()
    try {
      const { agent } = (await import(pathToFileURL(file).href)) as { agent: (input: unknown) => Promise<unknown> }
      const run = await replayTape(tape, agent, { signal: limit.signal })
      const ms = performance.now() - startedAt
      return {
        case: verdictOfCase(product, kase, run),
        hand: verdictByHand(product, run),
        keys: keysOf(product, run),
        ms,
      }
    } catch (error) {
      const judged = { verdict: 'different' as const, code: 'thrown', what: String(error) }
      return { case: judged, hand: judged, keys: [], ms: performance.now() - startedAt }
    } finally {
      clearTimeout(timer)
      takeBack()
    }
  }

  function dist<T>(part: string): Promise<T> {
    return import(pathToFileURL(join(project, 'node_modules/vitest-harvest/dist', part)).href) as Promise<T>
  }
}
