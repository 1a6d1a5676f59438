import { existsSync, mkdtempSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join, resolve } from 'node:path'
import { foldersBelow } from '../../errors/above.ts'
import { printedPath } from '../../errors/here.ts'
import { HarvestError, shellWord } from '../../errors/index.ts'
import { testSpec } from '../spec/test.ts'
import type { Command } from '../command.ts'
import type { ProgramRunOptions } from '../../jobs/program.ts'
import type { Screen } from '../../report/output.ts'
import { noNetworkVariable } from '../../playback/allow.ts'
import { toTheConfig } from '../../jobs/run.ts'
import { casesCalled, listCases, nameOfFile, nearestCase } from '../../recordings/index.ts'
import { deletedCase } from '../deleted-case.ts'
import { proveCases } from '../proving/prove.ts'
import { withoutNetwork } from '../no-network.ts'
import { runVitest } from '../vitest.ts'

const noNetwork = '--no-network'

/** Runs the project's Vitest in a process of its own, with the flags of this package. */
export const testCommand: Command = {
  ...testSpec,
  async run({ rest = [] }, screen) {
    const isShut = rest.includes(noNetwork)
    if (rest.includes('--prove')) {
      if (isShut) throw asksModels()
      return proveCases(rest, screen)
    }
    const before = isShut ? await withoutNetwork() : []
    const words = rest.filter((word) => word !== '--json' && word !== noNetwork)
    const asked = words.map((word, at) => (words[at - 1]?.startsWith('-') === true ? word : wholePath(word)))
    const code = await (rest.includes('--json') ? reported(asked, screen, before) : vitest(asked, 'inherit', before))
    for (const step of [...toOtherFolder(words, code), ...toPackages(words, code)]) screen.note(`→ ${step}`)
    // What follows an option may be its value.
    const names = words.filter((_, at) => words[at - 1]?.startsWith('-') !== true)
    if (code !== 0) for (const word of names) await noteNoCase(word, screen)
    return code
  },
}

/** Vitest looks for parts of paths, and compares them with paths below each package: the file of a case is one file. */
function wholePath(word: string): string {
  const [, file = ''] = /^(.+\.case\.ya?ml)(?::\d+)?$/.exec(word) ?? []
  return file !== '' && existsSync(file) ? resolve(word) : word
}

/** Vitest runs without a config, too: below the project it finds no case, and may be green for that. */
function toOtherFolder(words: readonly string[], code: number): readonly string[] {
  const isNamed = words.some((word) => /^(?:-[cr]|--(?:config|root))(?:=|$)/.test(word))
  return isNamed || (code === 0 && existsSync('recordings')) ? [] : toTheConfig()
}

/** `recordings` is the project of a root that has cases; those of packages have the name of the package in front. */
function toPackages(words: readonly string[], code: number): readonly string[] {
  const isAsked = words.some((word, at) =>
    /^--project=recordings$/i.test(words[at - 1] === '--project' ? `--project=${word}` : word),
  )
  if (code === 0 || !isAsked) return []
  return foldersBelow(['recordings']).map(
    (folder) => `to run the cases of a package: npx vitest-harvest test ${shellWord(`${join(folder, 'recordings')}`)}`,
  )
}

/** Vitest looks for parts of paths: what no file of a case has is a case that was renamed, deleted or mistyped. */
async function noteNoCase(word: string, screen: Screen): Promise<void> {
  if (!/^\w[\w./-]*$/.test(word) || existsSync(word)) return
  const cases = listCases('recordings')
  if (cases.length === 0 || cases.some(({ file }) => file.includes(word))) return
  const [named] = casesCalled('recordings', word)
  if (named !== undefined) {
    screen.note(`The case ${word} is in a file of another name: ${printedPath(named.file)}`)
    return screen.note(`→ did you mean: ${shellWord(nameOfFile(named.file))} instead of ${shellWord(word)}`)
  }
  const deleted = await deletedCase(word)
  const near = nearestCase(word, cases)
  if (deleted === undefined && near === undefined) return
  screen.note(`No case is called ${word}${deleted === undefined ? '' : `: deleted in ${deleted.in}`}`)
  screen.note(`→ ${deleted?.step ?? `did you mean: ${shellWord(near ?? '')} instead of ${shellWord(word)}`}`)
}

/** The answer of Vitest alone on stdout; all else it prints goes to stderr. */
async function reported(words: readonly string[], screen: Screen, before: readonly string[]): Promise<number> {
  const folder = mkdtempSync(join(tmpdir(), 'harvest-test-'))
  const file = join(folder, 'report.json')
  try {
    const code = await vitest([...words, '--reporter=json', `--outputFile.json=${file}`], 'stderr', before)
    if (!existsSync(file)) throw noReport(code)
    screen.json(JSON.parse(readFileSync(file, 'utf8')))
    return code
  } finally {
    rmSync(folder, { recursive: true, force: true })
  }
}

async function vitest(
  words: readonly string[],
  output: ProgramRunOptions['output'],
  before: readonly string[],
): Promise<number> {
  const shut = before.length > 0 ? { [noNetworkVariable]: '1' } : {}
  const { code } = await runVitest(words, output, shut, before)
  return code
}

function asksModels(): HarvestError {
  return new HarvestError('HARVEST_CLI_OPTION', {
    what: '--prove and --no-network exclude each other',
    why: 'A proof calls the live model.',
    fix: [
      'to ask the model: npx vitest-harvest test --prove',
      'to run without a network: npx vitest-harvest test --no-network',
    ],
  })
}

function noReport(code: number): HarvestError {
  return new HarvestError('HARVEST_CLI_NO_REPORT', {
    what: 'Vitest ended before it could report',
    where: { vitest: `exit code ${code}` },
    why: 'It rejected its arguments or its config; stderr names the cause.',
    fix: ['without --json: npx vitest-harvest test'],
  })
}
