import { existsSync, readdirSync } from 'node:fs'
import { basename, dirname, resolve } from 'node:path'
import { typedExpectations } from '../blame/expectation.ts'
import type { LiveGrading } from '../blame/live-grading.ts'
import { type NamedOracle, oracleOfCase, parseOracle } from '../blame/named-oracle.ts'
import type { Case } from '../cases/index.ts'
import { HarvestError, nearestWord, neutralLine, shellWord } from '../errors/index.ts'
import type { Json } from '../tape/index.ts'
import type { CommandInput, CommandSpec } from './command.ts'
import { findRun } from './find.ts'
import { readNumber } from './live.ts'
import { badValue } from './parse.ts'

/** `--ok` and `--bad`, read once so that what was typed wrong is reported first. */
export function readExpectations(given: CommandInput): Pick<LiveGrading, 'ok' | 'bad'> {
  const [ok, bad] = [given.values('ok'), given.values('bad')]
  typedExpectations({ ok, bad })
  return { ok, bad }
}

/** The function of the command line, or the case's own when nothing else says what a good run is. */
export function readOracle(given: CommandInput, kase: Case | undefined, command: CommandSpec): NamedOracle | undefined {
  const name = given.value('oracle')
  const isSaid = given.values('ok').length + given.values('bad').length > 0
  if (name !== undefined) return payable(readNamedOracle(name, command), given, command)
  return isSaid || kase === undefined ? undefined : payable(oracleOfCase(kase), given, command)
}

/**
 * Refuses a function that grades where nothing may be paid: whether it asks a model is known once it has.
 *
 * @throws HarvestError `HARVEST_BUDGET_USED`
 */
export function payable(
  oracle: NamedOracle | undefined,
  given: CommandInput,
  command: CommandSpec,
): NamedOracle | undefined {
  if (oracle === undefined || readNumber(given, command, 'max-cost', 0) !== 0) return oracle
  throw new HarvestError('HARVEST_BUDGET_USED', {
    what: 'An oracle that runs code is not asked with --max-cost 0',
    where: { oracle: neutralLine(oracle.name, 200) },
    why: 'It may ask a model. That is known once it has, and --max-cost 0 pays for nothing.',
    fix: [
      'to pay for grades, with a limit: --max-cost 0.50',
      `or grade by a call that is right: --ok '<call>'${given.has('oracle') ? ', without --oracle' : ''}`,
    ],
  })
}

/** What `--oracle` names, before anything is run or paid for. */
export function readNamedOracle(name: string, command: CommandSpec): NamedOracle {
  const oracle = parseOracle(name)
  if (oracle === undefined)
    throw badValue(command, 'oracle', name, 'a file and its export, such as ./src/oracle.ts#isRight')
  requireModule(oracle.file, { option: 'oracle', name, command })
  return oracle
}

/**
 * Refuses a module that is not there, before anything is run or paid for.
 *
 * @throws HarvestError `HARVEST_CLI_ARGUMENT` with the nearest file of its folder
 */
export function requireModule(
  path: string,
  { option, name, command }: { readonly option: string; readonly name: string; readonly command: CommandSpec },
): void {
  // Vite finds the ending of a file that is named without one.
  if (!/\.[cm]?[jt]sx?$/.test(path) || existsSync(path)) return
  const [folder, file] = [dirname(path), basename(path)]
  const near = existsSync(folder) ? nearestWord(file, readdirSync(folder)) : undefined
  const [before, export_] = name.split('#', 2)
  const meant = near === undefined ? undefined : `${(before ?? '').slice(0, -file.length)}${near}`
  const hints =
    meant === undefined
      ? []
      : [`did you mean: --${option} ${shellWord(export_ === undefined ? meant : `${meant}#${export_}`)}`]
  throw badValue(command, option, name, 'a file that is there', hints)
}

/** Who answers tools: the tape, the world, or functions of a module. */
export function readTools(given: CommandInput, command: CommandSpec): LiveGrading['tools'] {
  const word = given.value('tools') ?? 'tape'
  if (word === 'tape' || word === 'live') return word
  const [, file, name] = /^(.+\.[cm]?[jt]s)(?:#(.+))?$/.exec(word) ?? []
  if (file !== undefined && !existsSync(file)) throw missingTools(file)
  if (file !== undefined) return { file: resolve(file), ...(name === undefined ? {} : { export: name }) }
  throw badValue(command, 'tools', word, 'tape, live or a module such as ./test/tools.ts')
}

const usualTools = './test/tools.ts'

/** Where functions for tools are: a command that names a file which is not there does not start. */
export function toolsHere(): string {
  return existsSync(usualTools) ? usualTools : '<file>'
}

/**
 * What is said of functions of the user's own before the command that uses them: they may have to be written first.
 *
 * @param about - what they are for: `to answer unrecorded calls`
 * @param names - of those that are needed, where they are known
 */
export function withUsualTools(about: string, names?: string): string {
  const isThere = existsSync(usualTools)
  const file = isThere ? usualTools : `a file such as ${usualTools.slice(2)}`
  const needed =
    names === undefined && isThere ? '' : `, once ${file} exports ${names ?? 'a function by the name of each tool'}`
  return `${about}${isThere ? ' with your own functions' : ''}${needed}`
}

function missingTools(file: string): HarvestError {
  return new HarvestError('HARVEST_FORK_TOOLS', {
    what: 'The file of --tools is missing',
    where: { file: neutralLine(file, 200) },
    why: 'It has a function for each tool whose calls differ from the recording.',
    fix: [
      'write it, each function by the name of its tool:\n  export const refund = async ({ amount }) => ({ refunded: amount })',
    ],
  })
}

/** The same in words, for what a run used. */
export function toolsWords(given: CommandInput): 'from the tape' | 'for real' | 'from --tools' {
  const word = given.value('tools') ?? 'tape'
  return word === 'tape' ? 'from the tape' : word === 'live' ? 'for real' : 'from --tools'
}

/** A run whose answers stand in where the tape has none. */
export function readReference(given: CommandInput): Pick<LiveGrading, 'reference'> {
  const word = given.value('reference')
  return word === undefined ? {} : { reference: resolve(findRun(word, given.value('dir')).file) }
}

/** How live runs of a case are graded; `undefined`: by the case alone, with its tape for all tools. */
export function liveGradingOf(given: CommandInput, kase: Case, command: CommandSpec): Json | undefined {
  const oracle = readOracle(given, kase, command)
  const { ok, bad } = readExpectations(given)
  const isGraded = oracle !== undefined || [...ok, ...bad, ...(kase.ok ?? []), ...(kase.bad ?? [])].length > 0
  const tools = readTools(given, command)
  const reference = readReference(given)
  if (!isGraded && tools === 'tape' && reference.reference === undefined) return undefined
  const grading: LiveGrading = { isGraded, ok, bad, tools, ...reference, ...(oracle === undefined ? {} : { oracle }) }
  return JSON.parse(JSON.stringify(grading)) as Json
}
