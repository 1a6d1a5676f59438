import type { Judging } from '../../src/blame/oracle.ts'
import { isolateRun, type IsolatedRun } from '../../src/isolate/index.ts'
import { installReplay } from '../../src/replay/index.ts'
import { replayTape } from '../../src/replay/replay.ts'
import type { Tape } from '../../src/tape/index.ts'
import { recordRun } from '../../src/validation/harness/record.ts'
import { type Asked, refundAgent, type Refunded, type Sdk } from './agent.ts'
import { type Incident, type Luck, recorded } from './incident.ts'
import { openModel } from './server.ts'

/** Where incidents happen: a model on loopback, and the SDK that asks it. */
export interface Scene {
  record(incident: Incident): Promise<RecordedIncident>
  close(): Promise<void>
}

export interface RecordedIncident {
  readonly incident: Incident
  readonly tape: Tape
  /** Runs the agent again with models, tools and clock of now: what it refunds. */
  naive(luck: Luck): Promise<boolean>
  /** Replays the tape: whether it fails as recorded. */
  replay(): Promise<boolean>
  isolate(limits: { readonly costUsd: number; readonly forks?: number }): Promise<IsolatedRun>
}

export async function openScene(folder: string): Promise<Scene> {
  await installReplay()
  const { default: Sdk } = (await import('openai')) as { readonly default: Sdk }
  const model = await openModel()
  return {
    close: () => model.close(),
    async record(incident) {
      const hour = Math.floor(Date.now() / 3_600_000) % 24
      const input: Asked = { base: model.add(incident, hour), order: 'A-100', hour }
      const agent = refundAgent(Sdk, incident, recorded)
      const tape = await recordRun(folder, { agent: 'refund', id: incident.id, input }, () => agent(input))
      const isRight = (value: unknown): boolean => (value as Refunded | undefined)?.refunded === incident.total
      const judging: Judging = { by: 'function', name: 'the refund', judge: ({ value }) => isRight(value) }
      let runs = 0
      const load = (): Promise<(given: unknown) => unknown> => {
        const now = refundAgent(Sdk, incident, `${incident.id}/${runs++}`)
        return Promise.resolve((given) => now(given as Asked))
      }
      return {
        incident,
        tape,
        // Another time of day: nothing of that night is left but the customer.
        async naive(luck) {
          const later = (hour + 12) % 24
          const base = model.add({ ...incident, id: `${incident.id}-${luck}` }, later)
          return !isRight(await refundAgent(Sdk, incident, luck)({ ...input, base, hour: later }))
        },
        async replay() {
          const { outcome, problems } = await replayTape(tape, await load())
          return problems.length === 0 && outcome.status === 'returned' && !isRight(outcome.value)
        },
        isolate: (limits) =>
          isolateRun(tape, { agent: 'refund', load, judging, tools: 'live', limits, timeoutMs: 60_000, parallel: 8 }),
      }
    },
  }
}
