import { resolve } from 'node:path'
import { parseExpectation } from '../../blame/expectation.ts'
import type { FixRequest } from '../../blame/fix-task.ts'
import { type NamedOracle, oracleOfCase, parseOracle } from '../../blame/named-oracle.ts'
import type { Case } from '../../cases/index.ts'
import { neutralLine } from '../../errors/index.ts'
import { forksFolder } from '../../recordings/index.ts'
import type { CommandInput } from '../command.ts'
import { findRun } from '../find.ts'
import { readWhole } from '../live.ts'
import { usage } from '../parse.ts'
import { fixSpec } from '../spec/fix.ts'

/** What the process of the agent is asked for. */
export function readFixRequest(given: CommandInput, kase: Case, tapeFile: string, recordings: string): FixRequest {
  const [ok, bad] = [given.values('ok'), given.values('bad')]
  for (const [option, texts] of [['--ok', ok] as const, ['--bad', bad] as const])
    for (const text of texts) parseExpectation(text, option)
  const oracle = readOracle(given, kase, ok.length + bad.length > 0)
  const reference = given.value('reference')
  const baseUrl = given.value('model-server')
  if (baseUrl !== undefined && !URL.canParse(baseUrl))
    throw usage(fixSpec, 'HARVEST_CLI_ARGUMENT', `--model-server is a URL, not ${neutralLine(baseUrl, 60)}`)
  return {
    ok,
    bad,
    tools: readTools(given),
    runs: readWhole(given, fixSpec, 'runs') ?? 3,
    isLive: given.has('live'),
    folder: resolve(forksFolder(recordings, tapeFile)),
    isFresh: given.has('no-cache'),
    ...(oracle === undefined ? {} : { oracle }),
    ...(reference === undefined ? {} : { reference: resolve(findRun(reference, recordings).file) }),
    ...(baseUrl === undefined ? {} : { baseUrl }),
  }
}

function readOracle(given: CommandInput, kase: Case, isTold: boolean): NamedOracle | undefined {
  const name = given.value('oracle')
  if (name === undefined) return isTold ? undefined : oracleOfCase(kase)
  const oracle = parseOracle(name)
  if (oracle !== undefined) return oracle
  throw usage(
    fixSpec,
    'HARVEST_CLI_ARGUMENT',
    `--oracle is a file and its export, such as ./src/oracle.ts#isRight, not ${neutralLine(name, 60)}`,
  )
}

function readTools(given: CommandInput): FixRequest['tools'] {
  const word = given.value('tools') ?? 'tape'
  if (word === 'tape' || word === 'live') return word
  const [, file, name] = /^(.+\.[cm]?[jt]s)(?:#(.+))?$/.exec(word) ?? []
  if (file !== undefined) return { file: resolve(file), ...(name === undefined ? {} : { export: name }) }
  throw usage(
    fixSpec,
    'HARVEST_CLI_ARGUMENT',
    `--tools is tape, live or a module such as ./test/tools.ts, not ${neutralLine(word, 60)}`,
  )
}
