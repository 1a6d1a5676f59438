import { readFileSync } from 'node:fs'
import path from 'node:path'
import { type JobList, jobModuleName, jobsVariable } from '../jobs/job.ts'
import type { AgentEntry } from './options.ts'
import { toPosix } from './posix.ts'

/** The one test file of a run that a command asked for, or `undefined` in an ordinary run. */
export function jobModule(env: Readonly<Record<string, string | undefined>> = process.env): string | undefined {
  const list = env[jobsVariable]
  return list === undefined || list === '' ? undefined : toPosix(path.join(path.dirname(list), jobModuleName))
}

/** Reads what a command asked for. */
export function readJobs(file: string): JobList {
  return JSON.parse(readFileSync(file, 'utf8')) as JobList
}

/** The tapes and cases that the jobs of a command are about; none where there is no command. */
export function filesOfJobs(env: Readonly<Record<string, string | undefined>> = process.env): readonly string[] {
  const list = env[jobsVariable]
  if (list === undefined || list === '') return []
  return readJobs(list).jobs.flatMap(({ tape, case: subject }) =>
    subject === undefined ? [tape] : [subject.file, tape],
  )
}

/** The test file that runs jobs: all agents of the config, each loaded when a job needs it. */
export function generateJobModule(agents: readonly AgentEntry[], runtime: string): string {
  return [
    'import { test } from "vitest";',
    `import { runJobs } from ${quote(toPosix(runtime))};`,
    // Through Vitest, as the agents are: with aliases and types. The path is only known when a task asks for it.
    `test("jobs", { timeout: 0, retry: 0 }, (context) => runJobs(${linksTo(agents)}, context, (file) => import(/* @vite-ignore */ file)));`,
  ].join('\n')
}

/** The module that links to all agents, for workers that collect the cases themselves. */
export function generateAgentsModule(agents: readonly AgentEntry[]): string {
  return `export const links = ${linksTo(agents)};`
}

function linksTo(agents: readonly AgentEntry[]): string {
  return `[${agents.map(linkTo).join(', ')}]`
}

/** The {@link AgentLink} of an agent, as code. */
export function linkTo(agent: AgentEntry): string {
  return `{ name: ${quote(agent.name)}, export: ${quote(agent.export)}, load: () => import(${quote(agent.module)}) }`
}

function quote(text: string): string {
  return JSON.stringify(text)
}
