import { HarvestError, neutralLine, shellWord } from './index.ts'

/** Which run passed which of its limits. */
export interface PassedBudget {
  readonly run: string
  readonly agent: string
  readonly of: string
  readonly limit: number
  readonly used: number
}

/** What the signal of the run is aborted with, and what every later tool call throws. */
export function budgetSpent({ run, agent, of, limit, used }: PassedBudget): HarvestError {
  return new HarvestError('HARVEST_BUDGET', {
    what: 'The run exceeded its budget',
    where: { run: neutralLine(run), agent: neutralLine(agent), limit: `${of} ${limit}`, used: `${used}` },
    why: "At the hard limit the run's signal is aborted and wrapped tools are refused.",
    // A replay has to say the same, wherever its tape lies by then: the folder is no part of it.
    fix: [
      `to see what the run did: npx vitest-harvest show ${shellWord(run)}`,
      `to raise the limit, in createRecorder(): budget: { ${of}: { hard: … } }`,
    ],
  })
}
