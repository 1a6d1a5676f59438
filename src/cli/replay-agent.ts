import { writeFileSync } from 'node:fs'
import { HarvestError } from '../errors/index.ts'
import {
  type GreenEntries,
  guardLoading,
  installReplay,
  type ReplayOptions,
  replayTape,
  standInKeys,
} from '../replay/index.ts'
import { isOwnStray, type Stray, unhandled } from '../playback/problems.ts'
import { readTape } from '../tape/index.ts'
import { reportOf } from '../replay/program.ts'
import { loadAgent } from './load-agent.ts'
import { type FailedReport, type ReplayChildReport, variables } from './report.ts'

/*
 * The program `replay --module` starts: takes over the world before the agent's code is loaded, replays the tape
 * and writes the report. A process of its own, because what the agent loads and patches must not meet what we do.
 */
const report = take('report')
try {
  const tape = readTape(take('tape'))
  const options = JSON.parse(take('options')) as ReplayOptions
  const accepted = new Map(JSON.parse(take('accepted')) as GreenEntries)
  const spec = take('agent')
  await installReplay()
  standInKeys(tape)
  const agent = await guardLoading(() => loadAgent(spec), options.allow, tape)
  const strays: Stray[] = []
  process.on('uncaughtException', (error) => strays.push({ kind: 'threw', error }))
  process.on('unhandledRejection', (error) => strays.push({ kind: 'rejected', error }))
  const run = await replayTape(tape, agent, { ...options, late: true } as ReplayOptions)
  const news = strays.filter(isOwnStray).map((stray) => unhandled({ tape: tape.header.id }, stray, tape))
  write(reportOf({ ...run, problems: [...run.problems, ...news] }, accepted))
} catch (error) {
  if (!HarvestError.is(error)) throw error
  write({ failed: { code: error.code, facts: error.facts } })
}
// What the agent left open has no part in the run any more.
process.exit()

function write(what: ReplayChildReport | FailedReport): void {
  writeFileSync(report, JSON.stringify(what))
}

/** Programs the agent starts must not think that they are this one. */
function take(name: keyof typeof variables): string {
  const variable = variables[name]
  const value = process.env[variable]
  delete process.env[variable]
  if (value === undefined)
    throw new TypeError(`${variable} is not set: this file is started by npx vitest-harvest replay`)
  return value
}
