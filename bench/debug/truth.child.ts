// Replays a tape with the agent's code telling what it does: what the debugger is held against.
import { readFileSync } from 'node:fs'
import { registerHooks } from 'node:module'
import { fileURLToPath } from 'node:url'
import { answerParent } from '../../fixtures/child/answer.ts'
import { replayTape } from '../../src/replay/index.ts'
import type { RunSettings } from '../../src/replay/run.ts'
import { readTape } from '../../src/tape/index.ts'
import { instrument } from './instrument.ts'
import type { Truth } from './truth.ts'

answerParent(async ({ tape }: { readonly tape: string }): Promise<{ truth: readonly Truth[]; comparison: string }> => {
  const truth: Truth[] = []
  const tell =
    (kind: 'statement' | 'await') =>
    (
      line: number,
      end: number,
      name: string,
      names: readonly string[],
      read: (name: string) => unknown,
      came?: unknown,
    ) => {
      const locals = names.flatMap((local) => {
        try {
          return [[local, JSON.stringify(read(local))] as const]
        } catch {
          // Its line has not run, or it is no data.
          return []
        }
      })
      truth.push({ kind, line, end, in: name, locals })
      return came
    }
  Object.assign(globalThis, { __seen: tell('statement'), __came: tell('await') })
  registerHooks({
    load(url, context, next) {
      if (!/\/fixtures\/agents\/|\/bench\/debug\/sdk-agent/.test(url)) return next(url, context)
      const file = fileURLToPath(url)
      return { format: 'module-typescript', source: instrument(file, readFileSync(file, 'utf8')), shortCircuit: true }
    },
  })
  const { agent } = await import('./sdk-agent.ts')
  const settings: RunSettings = {
    before: (burst) => void truth.push({ kind: 'answers', places: burst.map(({ n }) => n) }),
  }
  const { comparison } = await replayTape(readTape(tape), agent as never, settings)
  return { truth, comparison: JSON.stringify(comparison) }
})
