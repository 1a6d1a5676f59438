import type { TestProject } from 'vitest/node'
import { HarvestError } from '../errors/index.ts'
import { type GitState, gitState } from '../provenance/git.ts'

/** Asks git once per run, and again before a re-run, which commit the code is at. Only when a case is queued. */
export default async function setup(project: TestProject): Promise<void> {
  const refresh = async () => project.provide('vitest-harvest/git', await readGit(project.config.root))
  await refresh()
  project.onTestsRerun(refresh)
}

async function readGit(folder: string): Promise<GitState | null> {
  try {
    return (await gitState(folder)) ?? null
  } catch (error) {
    // A replay does not depend on git. What is lost is the line that says whether the code changed since.
    if (HarvestError.is(error, 'HARVEST_GIT_UNREADABLE')) return null
    throw error
  }
}
