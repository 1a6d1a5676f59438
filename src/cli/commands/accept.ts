import { basename } from 'node:path'
import { acceptedFileName } from '../../cases/accepted-name.ts'
import { HarvestError, neutralLine, shellWord } from '../../errors/index.ts'
import { isPlaceholder } from '../../errors/placeholder.ts'
import { findCase } from '../../recordings/index.ts'
import { acceptChanges, acceptedBefore, type AcceptReport, acceptVariable } from '../../replay/accept-request.ts'
import { acceptSpec } from '../spec/test.ts'
import type { Command, CommandInput } from '../command.ts'
import { printDifferent } from '../different-cases.ts'
import { exit } from '../exit.ts'
import { dirOption } from '../named-tape.ts'
import { usage } from '../parse.ts'
import { type Screen, table } from '../../report/output.ts'
import { askedQuestions, caseFilters, caseNamed } from '../asked-questions.ts'

/** Accepts changed questions to models: from then on the recorded answers stand for them. */
export const acceptCommand: Command = {
  ...acceptSpec,
  async run(given, screen) {
    const isList = given.has('list')
    const reason = given.value('reason')?.trim() ?? ''
    if (isList && reason !== '')
      throw usage(acceptCommand, 'HARVEST_CLI_ARGUMENT', '--list accepts nothing: leave out --reason', [
        'to list them: the same command, without --reason',
        'to accept them: the same command, without --list',
      ])
    if (!isList && (reason === '' || isPlaceholder(reason)))
      throw usage(acceptCommand, 'HARVEST_CLI_ARGUMENT', needsReason(reason), [
        'to list the changes: --list, without --reason',
        "with one: --reason '<text>'",
      ])
    const keys = given.values('change')
    const recordings = given.value('dir') ?? 'recordings'
    const files = given.args.map((name) => findCase(recordings, name).file)
    const report = await run(
      { keys, files, withData: given.has('data') || files.length > 0, reason, isList },
      given,
      screen,
    )
    const missing = keys.filter(
      (key) => ![...report.unproven, ...report.accepted].some(({ question }) => question.key === key),
    )
    if (missing.length > 0) throw unknownKeys(missing)
    if (given.has('json')) screen.json(report)
    else print(report, { isList, recordings }, screen)
    return report.verdict === 'same' ? exit.ok : exit.divergence
  },
}

function needsReason(given: string): string {
  return given === '' ? 'accept needs --reason "…"' : `accept needs a reason: ${given} stands for your own words`
}

interface Wanted {
  readonly keys: readonly string[]
  readonly files: readonly string[]
  readonly withData: boolean
  readonly reason: string
  readonly isList: boolean
}

async function run(
  { keys, files, withData, reason, isList }: Wanted,
  given: CommandInput,
  screen: Screen,
): Promise<AcceptReport> {
  screen.progress('replaying')
  try {
    // Hand-written tests are only run where a change is named: other tests have nothing to do with cases.
    const filters = files.length === 0 && keys.length > 0 ? [] : caseFilters(files, given.value('dir'))
    const mode = isList ? ['--update-recordings=none'] : ['--update-recordings=questions', '--reason', reason]
    const request = isList ? {} : { [acceptVariable]: JSON.stringify({ withData, ...(keys.length > 0 && { keys }) }) }
    const report = await askedQuestions([...filters, ...mode], files, request)
    if (report.refused !== undefined) throw refused(report.refused)
    return report
  } finally {
    if (!given.has('json')) screen.progress('')
  }
}

function print(
  { verdict, unproven, accepted, different, written }: AcceptReport,
  { isList, recordings }: { readonly isList: boolean; readonly recordings: string },
  screen: Screen,
): void {
  const rows = (changes: AcceptReport['unproven'], state: string): string[][] =>
    changes.map((change) => {
      const { key, part, words, isData } = change.question
      const names = change.names.map((name) => neutralLine(name, 60)).join(', ')
      return [key, state, `${part}${isData ? ' (data)' : ''}`, neutralLine(words, 100), names + acceptedBefore(change)]
    })
  const lines = [...rows(accepted, 'accepted'), ...rows(unproven, 'unproven')]
  if (lines.length > 0) screen.line(table(lines))
  else screen.line('no question to a model changed')
  const said = 'an acceptance covers changed questions only'
  printDifferent(different, { said, recordings }, (text) => screen.line(text))
  for (const file of written) screen.line(`wrote ${neutralLine(file, 300)}`)
  screen.line(`verdict: ${verdict}`)
  // A change of one case is written into the case, pins and all.
  if (written.some((file) => basename(file) === acceptedFileName))
    screen.line('→ to renew the pins of these cases: npx vitest-harvest test --update-recordings=pins')
  // Accepted, a known-bad case stays as bad as it was recorded.
  for (const name of isList ? [] : new Set(accepted.flatMap(({ names }) => names)))
    if (caseNamed(recordings, name)?.case?.expect === 'fail')
      screen.line(`→ if the change is its fix: npx vitest-harvest fix ${shellWord(name)}${dirOption(recordings)}`)
  const open = unproven.filter(({ names }) => names.some((name) => !different.includes(name)))
  const ofData = open.filter(({ question }) => question.isData)
  if (isList && open[0] !== undefined) screen.line(`to accept one: ${acceptText(open.slice(0, 1), recordings)}`)
  if (ofData.length === 0) return
  if (!isList) screen.line(`changes of data are accepted by their key: ${acceptText(ofData, recordings)}`)
  else if (ofData.length < open.length)
    screen.line(
      `accept --reason "…" alone leaves changes of data unproven; to accept all: ${acceptText(open, recordings)}`,
    )
}

function acceptText(changes: AcceptReport['unproven'], recordings: string): string {
  const keys = changes.slice(0, shownKeys).map(({ question: { key } }) => key)
  return `${acceptChanges(keys)}${dirOption(recordings)}`
}

/** Keys that fit into one command. */
const shownKeys = 9

function unknownKeys(keys: readonly string[]): HarvestError {
  return new HarvestError('HARVEST_ACCEPT_UNKNOWN', {
    what: `No case and no test has the change ${neutralLine(keys.join(', '), 200)}`,
    why: 'The key of a change is a digest of both questions, so it changes with every edit.',
    fix: ['to list the changes: npx vitest-harvest accept --list'],
  })
}

function refused(because: string): HarvestError {
  return new HarvestError('HARVEST_ACCEPT_REFUSED', {
    what: 'Nothing was accepted: changes are not accepted in CI or by coding agents',
    where: { because },
    fix: ['run it on a developer machine', 'to allow it anyway: HARVEST_ALLOW_CI_UPDATE=1'],
  })
}
