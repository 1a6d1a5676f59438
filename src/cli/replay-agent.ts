import { writeFileSync } from 'node:fs'
import { resolve } from 'node:path'
import { pathToFileURL } from 'node:url'
import { HarvestError, neutralLine } from '../errors/index.ts'
import { guardLoading, installReplay, type ReplayOptions, replayTape, standInKeys } from '../replay/index.ts'
import { readTape } from '../tape/index.ts'
import { reportOf } from '../replay/program.ts'
import { type FailedReport, type ReplayChildReport, variables } from './report.ts'

/*
 * The program `replay --module` starts: takes over the world before the agent's code is loaded, replays the tape
 * and writes the report. A process of its own, because what the agent loads and patches must not meet what we do.
 */
const report = take('report')
try {
  const tape = readTape(take('tape'))
  const options = JSON.parse(take('options')) as ReplayOptions
  const accepted = new Set(JSON.parse(take('accepted')) as readonly string[])
  const spec = take('agent')
  await installReplay()
  standInKeys(tape)
  const run = await replayTape(tape, await guardLoading(() => loadAgent(spec), options.allow, tape), options)
  write(reportOf(run, accepted))
} catch (error) {
  if (!HarvestError.is(error)) throw error
  write({ failed: { code: error.code, facts: error.facts } })
}
// Whatever the agent left open has no part in the run any more.
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

type Agent = (input: unknown) => unknown

async function loadAgent(spec: string): Promise<Agent> {
  const [file = '', name = 'default'] = spec.split('#', 2)
  const module = await load(resolve(file), spec)
  const agent = module[name]
  if (typeof agent === 'function') return agent as Agent
  const functions = Object.keys(module).filter((key) => typeof module[key] === 'function')
  throw new HarvestError('HARVEST_CLI_AGENT', {
    what: `${neutralLine(file)} exports no function '${neutralLine(name)}'`,
    where: { agent: neutralLine(spec), exports: functions.join(', ') || 'no function' },
    fix: functions.map((one) => `--module ${file}#${one}`),
  })
}

async function load(file: string, spec: string): Promise<Readonly<Record<string, unknown>>> {
  try {
    return (await import(pathToFileURL(file).href)) as Readonly<Record<string, unknown>>
  } catch (cause) {
    throw new HarvestError(
      'HARVEST_CLI_AGENT',
      {
        what: 'The agent could not be loaded',
        where: { agent: neutralLine(spec), file },
        detail: reasonOf(cause),
        fix: ['name the file and its export: --module ./src/refund-agent.ts#refundAgent'],
      },
      { cause },
    )
  }
}

/** Message and the frames in the user's files; those of Node and of this package say nothing to them. */
function reasonOf(cause: unknown): string {
  if (!(cause instanceof Error)) return String(cause)
  const lines = (cause.stack ?? cause.message).split('\n')
  return lines.filter((line) => !/^\s+at .*(?:node:|\/cli\/replay-agent\.js)/.test(line)).join('\n')
}
