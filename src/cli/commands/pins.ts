import { printedPath } from '../../errors/here.ts'
import { HarvestError, neutralLine } from '../../errors/index.ts'
import { type CommitLine, type History, readHistory } from '../../provenance/index.ts'
import type { PinnedCase } from '../../provenance/stale.ts'
import { filesTouched, findCase, type PinLimits, readPins } from '../../recordings/index.ts'
import { neutralLines } from '../../report/output.ts'
import { pinsSpec } from '../spec/test.ts'
import type { Command, CommandInput } from '../command.ts'
import { exit } from '../exit.ts'
import { badValue } from '../parse.ts'
import { printCases, printDetails, printVerdict } from '../pins/print.ts'

/** Says what cases were made with, and what has changed since. */
export const pinsCommand: Command = {
  ...pinsSpec,
  async run(given, screen) {
    const recordings = given.value('dir') ?? 'recordings'
    const history = await readHistory(process.cwd())
    const limits = readLimits(given)
    const isStaleOnly = given.has('stale')
    const { cases, unreadable } = await readPins(recordings, limits, history)
    if (isStaleOnly && cases.length + unreadable.length === 0) throw noCases(recordings)
    const named = new Set(given.args.map((word) => findCase(recordings, word).file))
    // The newest case of an agent may be one that was not named: all are judged, then some are shown.
    const judged = cases.filter(({ file }) => named.size === 0 || named.has(file))
    const badNamed = unreadable.filter(({ file }) => named.size === 0 || named.has(file))
    const stale = judged.filter((one) => one.stale.length > 0)
    if (isStaleOnly) refuseShallow(judged)
    const shown = isStaleOnly ? stale : judged
    const since = await newestSince(shown, history)
    const touched = new Map<string, readonly string[]>()
    if (named.size > 0 && history !== undefined)
      for (const one of shown) touched.set(one.file, await filesTouched(one, history))
    if (given.has('json')) {
      screen.json({
        head: history?.head ?? null,
        looked: judged.length,
        cases: shown.map((one) => ({
          ...one,
          ...(one.pins.commit === undefined ? {} : { since: since.get(one.pins.commit) ?? [] }),
          ...(touched.has(one.file) ? { touched: touched.get(one.file) } : {}),
        })),
        unreadable: badNamed.map(({ file, error }) => ({ file, code: error.code, what: error.facts.what })),
      })
    } else {
      if (named.size > 0) printDetails(shown, since, touched, screen)
      else printCases(shown, since, screen)
      printVerdict({ looked: judged, stale: stale.length, isStaleOnly, recordings }, screen)
      for (const { file, error } of badNamed)
        screen.note(`${printedPath(file)}: ${neutralLines(error.message.trimEnd())}`)
    }
    if (isStaleOnly && stale.length > 0) return exit.divergence
    return badNamed.length === 0 ? exit.ok : exit.usage
  },
}

/** The newest commits since each pinned one. */
async function newestSince(
  cases: readonly PinnedCase[],
  history: History | undefined,
): Promise<ReadonlyMap<string, readonly CommitLine[]>> {
  const found = new Map<string, readonly CommitLine[]>()
  for (const commit of new Set(cases.flatMap(({ pins }) => pins.commit ?? [])))
    found.set(commit, (await history?.newestSince(commit, 5)) ?? [])
  return found
}

/** How far behind a case may be, as options say it. */
export function readLimits(given: CommandInput): PinLimits {
  const maxCommits = numberOf(given, 'max-commits', /^(\d{1,9})$/, 'a number of commits')
  const maxAgeDays = numberOf(given, 'max-age', /^(\d{1,6})d?$/, 'a number of days, such as 90d')
  return {
    retired: (given.value('retired') ?? '').split(','),
    ...(maxCommits === undefined ? {} : { maxCommits }),
    ...(maxAgeDays === undefined ? {} : { maxAgeDays }),
  }
}

function numberOf(given: CommandInput, name: string, pattern: RegExp, wanted: string): number | undefined {
  const value = given.value(name)
  if (value === undefined) return undefined
  const [, digits] = pattern.exec(value) ?? []
  if (digits !== undefined) return Number(digits)
  throw badValue(pinsCommand, name, value, wanted)
}

/** A gate that cannot see the commits it is to judge by must not be green. */
function refuseShallow(cases: readonly PinnedCase[]): void {
  const unseen = cases.filter(({ standing }) => standing?.state === 'shallow')
  if (unseen.length === 0) return
  throw new HarvestError('HARVEST_GIT_SHALLOW', {
    what: 'This clone lacks the commits of the cases',
    where: { cases: unseen.map(({ id }) => neutralLine(id, 60)).join('\n') },
    why: 'CI services clone only the last commit by default.',
    fix: ['in GitHub Actions: actions/checkout with fetch-depth: 0', 'by hand: git fetch --unshallow'],
  })
}

function noCases(recordings: string): HarvestError {
  return new HarvestError('HARVEST_NO_CASES', {
    what: 'No case was checked, so the check fails',
    where: { recordings },
    why: 'A check of an empty folder would always pass.',
    fix: [
      "promote a tape: npx vitest-harvest promote latest --as '<id>'",
      "or name the folder: npx vitest-harvest check --pins --stale --dir '<folder>'",
    ],
  })
}
