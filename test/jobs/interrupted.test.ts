import { describe, expect, it } from 'vitest'
import { HarvestError } from '../../src/errors/index.ts'
import type { Job } from '../../src/jobs/index.ts'
import { endJobs, runJobs, runTask } from '../../src/jobs/run.ts'

/** What is said of jobs that Ctrl-C ends: no agent has to run for that. */
async function saidOf(start: () => Promise<unknown>): Promise<unknown> {
  const ended = start().then(
    () => undefined,
    (error: unknown) => error,
  )
  endJobs()
  const error = await ended
  if (!HarvestError.is(error, 'HARVEST_CLI_INTERRUPTED')) throw error
  return [error.facts.why, error.facts.fix]
}

const again = ['Nothing is running any more. Its runs are not kept.', ['to begin again: the same command']]
const goesOn = [
  'Nothing is running any more. Finished forks are kept, as long as the code is the same.',
  ['to go on: the same command, without --no-cache'],
]

describe('a command that Ctrl-C ended', () => {
  it.each<[string, Partial<Job>]>([
    ['doctor', { probe: 'sources' }],
    ['rerun', { mode: 'live' }],
  ])('%s says that its runs are not kept', async (_, job) => {
    expect(await saidOf(() => runJobs([{ tape: '/none.tape.jsonl', ...job }]))).toEqual(again)
  })

  it.each(['fork', 'blame', 'isolate', 'prove', 'fix', 'grade', 'chaos', 'debug'] as const)(
    'the task %s says whether its finished forks are kept, and how to go on',
    async (name) => {
      const said = await saidOf(() => runTask({ tape: '/none.tape.jsonl', task: { name, options: {} } }))
      expect(said).toEqual(name === 'chaos' || name === 'debug' ? again : goesOn)
    },
  )
})
