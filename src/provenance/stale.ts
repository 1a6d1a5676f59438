import { neutralLine } from '../errors/index.ts'
import type { CasePins, CommitPosition } from './index.ts'
import { formatVersion } from '../tape/index.ts'
import { counted } from '../errors/words.ts'
import type { Retired } from './models.ts'

/** A case with what it was made with. */
export interface PinnedCase {
  readonly id: string
  /** Path of the case file. */
  readonly file: string
  readonly tape: string
  readonly agent: string
  /** Those of the code that was accepted last, or else of the recording. */
  readonly pins: CasePins
  /** Those of the recording; absent: nothing was accepted since. */
  readonly recorded?: CasePins
  /** When the tape was recorded, ISO 8601. */
  readonly recordedAt: string
  /** Format version of the tape. */
  readonly format: number
  /** Where the pinned commit stands; absent when the case pins none, or there is no repository to ask. */
  readonly standing?: CommitPosition
}

/** How far behind a case may be. */
export interface StaleLimits {
  readonly maxCommits?: number
  readonly maxAgeDays?: number
  readonly retired: Retired
  /** Committer date of HEAD, ISO 8601; absent outside a repository. */
  readonly headAt?: string
  /** Today, ISO 8601. */
  readonly today: string
}

/** What is to be said about a case: why it is stale, and what is only a hint. */
export interface Judgement {
  readonly stale: readonly string[]
  readonly hints: readonly string[]
}

/** Judges every case; each is compared with the newest of its agent, where that is newer than it for certain. */
export function judge(cases: readonly PinnedCase[], limits: StaleLimits): ReadonlyMap<PinnedCase, Judgement> {
  const newest = new Map([...Map.groupBy(cases, ({ agent }) => agent)].map(([agent, all]) => [agent, newestOf(all)]))
  return new Map(
    cases.map((one) => {
      const newer = newest.get(one.agent)
      const last = newer !== undefined && isNewer(newer, one) ? newer : undefined
      return [
        one,
        {
          stale: [
            ...commitReasons(one, limits),
            ...modelReasons(one, limits),
            ...(one.format < formatVersion
              ? [`its tape has format ${one.format}, written today is ${formatVersion}`]
              : []),
            ...(last === undefined ? [] : hashReasons(one, last)),
          ],
          hints: [
            ...(one.pins.dirty === true
              ? [`it was ${one.recorded === undefined ? 'made' : 'accepted'} with uncommitted changes`]
              : []),
            ...modelHints(one, limits),
            ...(last === undefined ? [] : newerModels(one, last)),
          ],
        },
      ]
    }),
  )
}

/**
 * One case for all of an agent, so that no two call each other older: that with the fewest commits behind HEAD, and of
 * these, or where no commit can be counted, the one recorded last. A recording off the line of HEAD may be of any code.
 */
function newestOf(cases: readonly PinnedCase[]): PinnedCase {
  return cases.reduce((last, one) => (isAhead(one, last) ? one : last))
}

function isAhead(one: PinnedCase, other: PinnedCase): boolean {
  const [mine = Infinity, theirs = Infinity] = [commitsBehind(one), commitsBehind(other)]
  return mine === theirs ? one.recordedAt > other.recordedAt : mine < theirs
}

/** What was accepted has the pins of a later day than its recording, which commits alone can date. */
function isNewer(one: PinnedCase, other: PinnedCase): boolean {
  const [mine, theirs] = [commitsBehind(one), commitsBehind(other)]
  if (mine !== undefined && theirs !== undefined && mine !== theirs) return mine < theirs
  return other.recorded === undefined && one.recordedAt > other.recordedAt
}

function commitsBehind({ standing }: PinnedCase): number | undefined {
  return standing?.state === 'ancestor' ? standing.commits : undefined
}

function commitReasons(
  { pins, standing, recordedAt }: PinnedCase,
  { maxCommits, maxAgeDays, headAt }: StaleLimits,
): string[] {
  const { commit } = pins
  const name = commit === undefined ? '' : neutralLine(commit.slice(0, 10), 10)
  const days = standing?.state === 'ancestor' ? standing.daysBehind : daysBetween(recordedAt, headAt)
  const tooOld =
    maxAgeDays !== undefined && days !== undefined && days > maxAgeDays
      ? [`${counted(days, 'day')} behind HEAD, at most ${maxAgeDays} allowed`]
      : []
  switch (standing?.state) {
    case 'ancestor': {
      const { commits } = standing
      const isFar = maxCommits !== undefined && commits > maxCommits
      return [...(isFar ? [`${counted(commits, 'commit')} behind HEAD, at most ${maxCommits} allowed`] : []), ...tooOld]
    }
    case 'elsewhere':
      return [`commit ${name} is not an ancestor of HEAD`, ...tooOld]
    case 'missing':
      return [`commit ${name} is not in this repository`, ...tooOld]
    case 'shallow':
    case undefined:
      return [
        ...(maxCommits === undefined || standing !== undefined
          ? []
          : ['how many commits it is behind is unknown: the case pins no commit']),
        ...tooOld,
      ]
  }
}

function daysBetween(from: string, to: string | undefined): number | undefined {
  return to === undefined ? undefined : Math.max(0, Math.floor((Date.parse(to) - Date.parse(from)) / 86_400_000))
}

function modelReasons({ pins }: PinnedCase, { retired, today }: StaleLimits): string[] {
  return (pins.models ?? []).flatMap((model) => {
    const day = retired.get(model)
    if (day === undefined || day > today) return []
    return [`model ${neutralLine(model, 60)} is retired${day === '' ? '' : ` since ${day}`}`]
  })
}

function modelHints({ pins }: PinnedCase, { retired, today }: StaleLimits): string[] {
  return (pins.models ?? []).flatMap((model) => {
    const day = retired.get(model) ?? ''
    return day > today ? [`model ${neutralLine(model, 60)} retires on ${day}`] : []
  })
}

function hashReasons({ pins }: PinnedCase, last: PinnedCase): string[] {
  return (['prompt', 'tools'] as const).flatMap((name) => {
    const [mine, theirs] = [pins[name], last.pins[name]]
    if (mine === undefined || theirs === undefined || mine === theirs) return []
    return [`${name} not as in ${neutralLine(last.id, 60)}, the newest case of this agent`]
  })
}

function newerModels({ pins }: PinnedCase, last: PinnedCase): string[] {
  const mine = new Set(pins.models ?? [])
  const others = (last.pins.models ?? []).filter((model) => !mine.has(model))
  if (others.length === 0) return []
  return [`${neutralLine(last.id, 60)}, the newest case of this agent, uses ${neutralLine(others.join(', '), 80)}`]
}
