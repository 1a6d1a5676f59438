// Replays every variant in one process: node replay.child.ts PROJECT IDS RESULT
import { readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { pathToFileURL } from 'node:url'
import { allVariants } from './project.ts'
import type { Replayed } from './replayed.ts'
import { keysOf, type Product, verdictByHand, verdictOfCase } from './verdict-of.ts'

const [project = '', list = '', result = ''] = process.argv.slice(2)
const wanted = new Set(JSON.parse(readFileSync(list, 'utf8')) as readonly string[])

const { installReplay, replayTape, standInKeys } =
  await dist<typeof import('../../src/replay/index.ts')>('replay/index.js')
await installReplay()
const { readTape } = await dist<typeof import('../../src/tape/index.ts')>('tape/index.js')
const { loadCase, requireTapeFile } = await dist<typeof import('../../src/cases/index.ts')>('cases/index.js')
const { judge } = await dist<typeof import('../../src/vitest/verdict.ts')>('vitest/verdict.js')
const { driftPolicy } = await dist<typeof import('../../src/replay/drift-policy.ts')>('replay/drift-policy.js')
const product: Product = { judge, policyOf: driftPolicy }

for (const name of ['log', 'info', 'debug', 'warn', 'error'] as const) console[name] = () => undefined
process.on('unhandledRejection', () => undefined)
process.setMaxListeners(0)
process.env['GATEWAY'] = readFileSync(join(project, 'gateway'), 'utf8')

const replayed: Record<string, Replayed> = {}
for (const { id, agent: name, file } of allVariants().filter(({ id }) => wanted.has(id))) {
  const kase = loadCase(join(project, `recordings/golden/${name}.case.yaml`))
  const tape = readTape(requireTapeFile(kase))
  const takeBack = standInKeys(tape)
  const limit = new AbortController()
  const timer = setTimeout(() => limit.abort(new Error('the time of this variant is over')), 15_000)
  const startedAt = performance.now()
  try {
    const { agent } = (await import(pathToFileURL(join(project, file)).href)) as {
      agent: (input: unknown) => Promise<unknown>
    }
    const run = await replayTape(tape, agent, { signal: limit.signal })
    const ms = performance.now() - startedAt
    replayed[id] = {
      case: verdictOfCase(product, kase, run),
      hand: verdictByHand(product, run),
      keys: keysOf(product, run),
      ms,
    }
  } catch (error) {
    const judged = { verdict: 'different' as const, code: 'thrown', what: String(error) }
    replayed[id] = { case: judged, hand: judged, keys: [], ms: performance.now() - startedAt }
  } finally {
    clearTimeout(timer)
    takeBack()
  }
}
writeFileSync(result, JSON.stringify(replayed))
// What variants left open must not keep the process from its end.
process.exit(0)

function dist<T>(part: string): Promise<T> {
  return import(pathToFileURL(join(project, 'node_modules/vitest-harvest/dist', part)).href) as Promise<T>
}
