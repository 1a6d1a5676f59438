// Tries every way out in a replay of its own, in a process shut as it was asked for.
import { readdirSync } from 'node:fs'
import { answerParent } from '../../../fixtures/child/answer.ts'
import { installReplay, replayTape } from '../../../src/replay/index.ts'
import { type Confinement, confine } from '../../../src/seam/intercept/index.ts'
import { readTape } from '../../../src/tape/index.ts'
import type { Canary } from './ways.ts'

export interface WayReport {
  readonly name: string
  readonly escapes: readonly { readonly kind: string; readonly target: string; readonly site?: string }[]
  readonly problems: readonly string[]
  readonly listed: readonly { readonly kind: string; readonly target: string; readonly site?: string }[]
  /** What appeared in the folder, or was gone from it. */
  readonly touched: readonly string[]
  readonly ended: string
}

export interface WaysJob {
  readonly tape: string
  readonly canary: Canary
  readonly confinement: Confinement
}

// After a refused attempt a client may still complain to nobody; the verdict is in the replay's result.
process.on('uncaughtException', () => undefined)
process.on('unhandledRejection', () => undefined)

answerParent(async ({ tape: file, canary, confinement }: WaysJob) => {
  await installReplay()
  const isEnforced = confine(confinement)
  // As in a worker of Vitest: agents are loaded when the replay is there.
  const { ways } = await import('./ways.ts')
  const tape = readTape(file)
  const reports: WayReport[] = []
  for (const [name, { go }] of Object.entries(ways)) {
    const before = readdirSync(canary.folder)
    const options = { hangMs: 1_000 } as object
    const { outcome, problems, escapes, listed } = await replayTape(tape, async () => void (await go(canary)), options)
    // What was refused has arrived nowhere even a little later.
    await new Promise((resolve) => setTimeout(resolve, 20))
    const after = readdirSync(canary.folder)
    reports.push({
      name,
      escapes,
      listed,
      problems: problems.map(({ code }) => code),
      touched: [...after.filter((one) => !before.includes(one)), ...before.filter((one) => !after.includes(one))],
      ended: outcome.status === 'threw' ? String((outcome.error as Error).message).split('\n', 1)[0]! : 'returned',
    })
  }
  return { isEnforced, reports }
})
