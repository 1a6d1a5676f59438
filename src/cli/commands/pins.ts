import { HarvestError, neutralLine } from '../../errors/index.ts'
import { acceptedPins, type History, readHistory } from '../../provenance/index.ts'
import { readTapeHeader, streamTape } from '../../tape/index.ts'
import { type CaseSummary, findCase, listCases } from '../../recordings/index.ts'
import { requireTapeFile } from '../../cases/index.ts'
import { pinsSpec } from '../spec/test.ts'
import type { Command, CommandInput } from '../command.ts'
import { exit } from '../exit.ts'
import { usage } from '../parse.ts'
import { readRetired } from '../../provenance/models.ts'
import { printCases, printDetails, printVerdict } from '../pins/print.ts'
import { judge, type StaleLimits, type PinnedCase } from '../../provenance/stale.ts'

/** Says what cases were made with, and what has changed since. */
export const pinsCommand: Command = {
  ...pinsSpec,
  async run(given, screen) {
    const recordings = given.value('dir') ?? 'recordings'
    const history = readHistory(process.cwd())
    const limits = readLimits(given, recordings, history)
    const summaries = listCases(recordings)
    const isStaleOnly = given.has('stale')
    if (isStaleOnly && summaries.length === 0) throw noCases(recordings)
    const { cases, bad } = read(summaries, history)
    const named = new Set(given.args.map((word) => findCase(recordings, word).file))
    // The newest case of an agent may be one that was not named: all are judged, then some are shown.
    const judged = [...judge(cases, limits)].filter(([{ file }]) => named.size === 0 || named.has(file))
    const badNamed = bad.filter(({ file }) => named.size === 0 || named.has(file))
    const stale = judged.filter(([, judgement]) => judgement.stale.length > 0)
    if (isStaleOnly) refuseShallow(judged.map(([one]) => one))
    const shown = isStaleOnly ? stale : judged
    const touched = new Map<string, readonly string[]>()
    if (named.size > 0 && history !== undefined)
      for (const [one] of shown) touched.set(one.file, await filesTouched(one, history))
    if (given.has('json')) {
      screen.json({
        head: history?.head ?? null,
        looked: judged.length,
        cases: shown.map(([one, judgement]) => ({
          ...one,
          ...judgement,
          ...(one.pins.commit === undefined ? {} : { since: history?.newestSince(one.pins.commit, 5) ?? [] }),
          ...(touched.has(one.file) ? { touched: touched.get(one.file) } : {}),
        })),
        unreadable: badNamed.map(({ file, error }) => ({ file, code: error.code, what: error.facts.what })),
      })
    } else {
      if (named.size > 0) printDetails(shown, history, touched, screen)
      else printCases(shown, history, screen)
      printVerdict({ looked: judged.map(([one]) => one), stale: stale.length, isStaleOnly, recordings }, screen)
      for (const { file, error } of badNamed) screen.note(`${file}: ${error.facts.what} (${error.code})`)
    }
    if (isStaleOnly && stale.length > 0) return exit.divergence
    return badNamed.length === 0 ? exit.ok : exit.usage
  },
}

function readLimits(given: CommandInput, recordings: string, history: History | undefined): StaleLimits {
  const maxCommits = numberOf(given, 'max-commits', /^(\d{1,9})$/, 'a number of commits')
  const maxAgeDays = numberOf(given, 'max-age', /^(\d{1,6})d?$/, 'a number of days, such as 90d')
  return {
    retired: readRetired(recordings, given.value('retired')),
    today: new Date().toISOString().slice(0, 10),
    ...(maxCommits === undefined ? {} : { maxCommits }),
    ...(maxAgeDays === undefined ? {} : { maxAgeDays }),
    ...(history === undefined ? {} : { headAt: history.headAt }),
  }
}

function numberOf(given: CommandInput, name: string, pattern: RegExp, wanted: string): number | undefined {
  const value = given.value(name)
  if (value === undefined) return undefined
  const [, digits] = pattern.exec(value) ?? []
  if (digits !== undefined) return Number(digits)
  throw usage(pinsCommand, 'HARVEST_CLI_OPTION', `--${name} is ${wanted}, not '${neutralLine(value, 40)}'`)
}

interface Unreadable {
  readonly file: string
  readonly error: HarvestError
}

function read(
  summaries: readonly CaseSummary[],
  history: History | undefined,
): { readonly cases: readonly PinnedCase[]; readonly bad: readonly Unreadable[] } {
  const cases: PinnedCase[] = []
  const bad: Unreadable[] = []
  for (const { file, case: loaded, error } of summaries) {
    try {
      if (error !== undefined) throw error
      if (loaded === undefined) throw new TypeError(`the case ${file} has neither content nor error`)
      const tape = requireTapeFile(loaded)
      const { harvest: format, startedAt, pins: recorded, recorder } = readTapeHeader(tape)
      // A case may have been written by hand, without pins: what its tape knows by itself still counts.
      const { commit, node } = recorded
      const made = { ...(commit === undefined ? {} : { commit }), node, recorder, ...loaded.pins }
      // Code that was accepted later is what the case goes with now.
      const pins = acceptedPins(made)
      const standing = pins.commit === undefined ? undefined : history?.standingOf(pins.commit)
      cases.push({
        id: loaded.id,
        file,
        tape,
        agent: loaded.agent,
        pins,
        ...(made.accepted === undefined ? {} : { recorded: made }),
        recordedAt: startedAt,
        format,
        ...(standing === undefined ? {} : { standing }),
      })
    } catch (failed) {
      if (!HarvestError.is(failed)) throw failed
      bad.push({ file, error: failed })
    }
  }
  return { cases, bad }
}

/** Files the steps of a case were made from that differ from the pinned commit. */
async function filesTouched({ tape, pins }: PinnedCase, history: History): Promise<readonly string[]> {
  if (pins.commit === undefined) return []
  const changed = history.changedSince(pins.commit)
  if (changed.length === 0) return []
  const sites = new Set<string>()
  for await (const line of streamTape(tape)) {
    if (line.kind !== 'close' && line.site !== undefined) sites.add(line.site.replace(/:\d+:\d+$/, ''))
  }
  const isFrom = (path: string): boolean =>
    [...sites].some((site) => site === path || path.endsWith(`/${site}`) || site.endsWith(`/${path}`))
  return changed.filter(isFrom)
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
      'promote a tape: npx vitest-harvest promote latest --as <id>',
      'or name the folder: npx vitest-harvest check --pins --stale --dir <folder>',
    ],
  })
}
