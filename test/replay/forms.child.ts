// Records agents in one form of their answers, or replays their tapes with the other one. A process does one or the other.
import type { AgentInput } from '../../fixtures/agents/types.ts'
import { answerParent } from '../../fixtures/child/answer.ts'
import { createRecorder } from '../../src/record/index.ts'
import { installReplay, replayTape } from '../../src/replay/index.ts'
import type { ReplayOptions } from '../../src/match/types.ts'
import { readTape } from '../../src/tape/index.ts'
import { type Form, formedAgents, type Heard } from './forms.agents.ts'

export interface FormsJob {
  readonly form: Form
  readonly record?: { readonly dir: string; readonly input: AgentInput }
  /** Tapes by the name of their agent. */
  readonly replay?: Readonly<Record<string, string>>
  readonly options?: ReplayOptions
}

export interface FormsDone {
  readonly heard?: Heard
  readonly tape?: string
  readonly problems?: readonly string[]
  readonly transcoded?: readonly unknown[]
  readonly drift?: readonly string[]
}

answerParent(async ({ form, record, replay = {}, options }: FormsJob): Promise<Readonly<Record<string, FormsDone>>> => {
  const done: Record<string, FormsDone> = {}
  if (record !== undefined) {
    const recorder = createRecorder({ dir: record.dir })
    for (const [name, agent] of Object.entries(formedAgents)) {
      const heard = await recorder.run({ agent: name, input: record.input }, () => agent(record.input, form))
      done[name] = { heard, ...(recorder.lastTape === undefined ? {} : { tape: recorder.lastTape }) }
    }
    return done
  }
  await installReplay()
  for (const [name, tape] of Object.entries(replay)) {
    const { outcome, problems, transcoded, drift } = await replayTape(
      readTape(tape),
      (input) => formedAgents[name]?.(input as AgentInput, form),
      options,
    )
    done[name] = {
      ...(outcome.status === 'returned' && outcome.value !== undefined ? { heard: outcome.value } : {}),
      problems: problems.map(({ code, message }) => `${code} ${message}`),
      transcoded,
      drift: drift.map((one) => `${one.class} ${one.path}: ${one.recorded} → ${one.live}`),
    }
  }
  return done
})
