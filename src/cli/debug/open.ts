import { CodeSession, DebugSession } from '../../debug/index.ts'
import { readTape } from '../../tape/index.ts'
import type { CommandInput } from '../command.ts'
import { findRun } from '../find.ts'
import { readDuration, readNumber } from '../live.ts'
import { debugSpec } from '../spec/debugger.ts'
import type { SessionBudget } from './budget.ts'
import { Debugger } from './debugger.ts'
import { launchOf } from './launch.ts'

/** What a debugger is opened with beside its tape. */
export interface OpenOptions {
  readonly isJson?: boolean
  /** Port of the inspector, for an editor. */
  readonly port?: number
  /** What its lines may use together with those of all other tapes of this process. */
  readonly budget: SessionBudget
}

/**
 * Opens a tape, or the tape of a case, for debugging. Nothing of it runs.
 *
 * @throws HarvestError `HARVEST_TAPE_…`, `HARVEST_CASE_…`
 */
export function openDebugger(
  word: string,
  given: CommandInput,
  { isJson = false, port, budget }: OpenOptions,
): Debugger {
  const found = findRun(word, given.value('dir'))
  const session = new DebugSession(readTape(found.file), found.case?.rules)
  const maxMemoryMb = readNumber(given, debugSpec, 'max-memory', 0, 2 ** 20)
  const limitMs = readDuration(given, debugSpec, 'timeout')
  const options = {
    ...(port === undefined ? {} : { port }),
    ...(limitMs === undefined ? {} : { limitMs }),
    ...(maxMemoryMb === undefined ? {} : { maxMemoryMb }),
  }
  const code = new CodeSession(session.steps, launchOf(found, given), options)
  return new Debugger({ session, found, given, isJson, code, budget })
}

/** The same command line, with another agent. */
export function withAgent(given: CommandInput, agent: string | undefined): CommandInput {
  if (agent === undefined) return given
  const option = agent.includes('#') ? 'module' : 'agent'
  return { ...given, value: (name) => (name === option ? agent : name === 'module' ? undefined : given.value(name)) }
}
