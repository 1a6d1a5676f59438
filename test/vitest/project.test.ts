import { afterEach, expect, it, vi } from 'vitest'
import { jobsVariable } from '../../src/jobs/job.ts'
import { parseOptions } from '../../src/vitest/options.ts'
import { keepOwnLists, recordingsProjects } from '../../src/vitest/project.ts'

afterEach(() => void vi.unstubAllEnvs())

function listsOfRun(): object {
  const settings = parseOptions({ agents: { refund: './a.ts' } })
  const [project] = recordingsProjects(settings, () => [], '/')
  const config = { test: { ...project?.test } }
  keepOwnLists(config, settings)
  return config.test
}

it('a run for a command has its jobs alone: it collects no cases, and asks git nothing', () => {
  expect(listsOfRun()).toMatchObject({
    include: ['recordings/**/*.case.{yaml,yml}'],
    globalSetup: [expect.stringContaining('vitest/global-setup')],
    runner: expect.stringContaining('vitest/runner'),
  })
  vi.stubEnv(jobsVariable, '/tmp/jobs/jobs.json')
  const jobs = listsOfRun()
  expect(jobs).toMatchObject({ include: ['/tmp/jobs/agents.harvest-jobs.mjs'], globalSetup: [] })
  expect(jobs).not.toHaveProperty('runner')
})
