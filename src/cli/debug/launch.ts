import { spawn } from 'node:child_process'
import { existsSync } from 'node:fs'
import { resolve } from 'node:path'
import type { Launch } from '../../debug/index.ts'
import { HarvestError, neutralLine, shellWord } from '../../errors/index.ts'
import { configNames, inlineMapsVariable } from '../../jobs/index.ts'
import { runTask } from '../../jobs/run.ts'
import { readTape } from '../../tape/index.ts'
import type { CommandInput } from '../command.ts'
import type { FoundRun } from '../find.ts'
import { ownPath } from '../../own-files.ts'

/** How the agent of a tape is started: from a file and its export, or by the project's own Vitest. */
export function launchOf(found: FoundRun, given: CommandInput): Launch {
  const spec = given.value('module')
  return spec === undefined ? inVitest(found, given.value('agent')) : asModule(resolve(found.file), spec)
}

/** Whether there is anything to start an agent with. */
export function canLaunch(given: CommandInput): boolean {
  return given.value('module') !== undefined || configNames.some((name) => existsSync(name))
}

function asModule(tape: string, spec: string): Launch {
  const program = ownPath('cli/debug-agent')
  return (socket) => {
    const given = JSON.stringify({ tape, spec, options: {}, socket })
    const child = spawn(process.execPath, [program], {
      // What the agent prints is not an answer of ours.
      stdio: ['ignore', 2, 2],
      env: { ...process.env, VITEST_HARVEST_DEBUG: given },
    })
    const failed = new Promise<never>((_, reject) => {
      child.once('error', reject)
      child.once('close', (code, signal) => reject(gone(signal ?? `exit code ${code}`)))
    })
    failed.catch(() => {})
    return { stop: () => void child.kill('SIGKILL'), failed }
  }
}

function inVitest({ file, case: found }: FoundRun, agent: string | undefined): Launch {
  return (socket) => {
    const ended = new AbortController()
    const name = agent ?? found?.agent
    const job = {
      tape: resolve(file),
      ...(name === undefined ? {} : { agent: name }),
      task: { name: 'debug' as const, options: { socket } },
    }
    // The inspector of a thread reaches the main thread of its process: workers of Vitest have to be processes.
    const options = { vitestArguments: ['--pool=forks'], env: { [inlineMapsVariable]: '1' }, signal: ended.signal }
    const failed = runTask(job, options).then((): never => {
      throw gone('its task ended')
    })
    failed.catch(() => {})
    return { stop: () => ended.abort(), failed, explain: (error) => explained(error, file, name) }
  }
}

function gone(how: string): HarvestError {
  return new HarvestError('HARVEST_DEBUG_CHILD', {
    what: 'The process of the agent ended',
    where: { ended: how },
    fix: ["to see what it prints: npx vitest-harvest replay '<tape>'"],
  })
}

/** Which agent is missing, and how to name one. Other errors say that themselves. */
function explained(error: unknown, file: string, asked: string | undefined): unknown {
  const isUnknown = HarvestError.is(error, 'HARVEST_AGENT_UNKNOWN')
  if (!isUnknown && !HarvestError.is(error, 'HARVEST_AGENTS_UNREACHABLE')) return error
  const { detail, where } = error.facts
  const { agent, imported } = readTape(file).header
  const because =
    imported !== undefined && asked === undefined
      ? `: it was imported from ${neutralLine(imported.format, 40)}`
      : isUnknown
        ? `: the Vitest config names none called ${neutralLine(asked ?? agent, 40)}`
        : ''
  const [known = 'none'] = (isUnknown ? where?.['known'] : undefined)?.split(', ') ?? []
  return new HarvestError(
    'HARVEST_DEBUG_AGENT',
    {
      what: `No agent to run this tape with${because}`,
      ...(isUnknown && where !== undefined ? { where } : {}),
      ...(detail === undefined ? {} : { detail }),
      why: 'Agents are named in the Vitest config. Without one, the tape can be read and its code cannot be stopped.',
      fix: [
        ...(known === 'none'
          ? []
          : [`to name one of the config: npx vitest-harvest debug '<tape>' --agent ${shellWord(known)}`]),
        "to name its file and export: npx vitest-harvest debug '<tape>' --module ./src/agent.ts#agent",
      ],
    },
    { cause: error },
  )
}
