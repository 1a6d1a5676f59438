import { HarvestError, neutralLine, shellWord } from '../errors/index.ts'
import { firstNames } from '../errors/words.ts'
import { isCommit, sameCommit } from './commit.ts'
import type { CasePins } from './pins.ts'

/** What is true now; leave out what you did not look at. `commit: undefined` means: looked, and it is unknown. */
export interface LivePins {
  readonly commit?: string | undefined
  readonly dirty?: boolean | undefined
  readonly models?: readonly string[] | undefined
  readonly prompt?: string | undefined
  readonly tools?: string | undefined
  readonly node?: string | undefined
}

export type PinKind = 'commit' | 'dirty' | 'models' | 'prompt' | 'tools' | 'node'

/** One pin that is not what it was; an absent side is unknown. */
export interface PinChange {
  readonly kind: PinKind
  readonly recorded?: string
  readonly now?: string
}

/**
 * Compares the pins of a tape with what is true now.
 *
 * A pin the caller did not look at is not compared. A commit known on one side only is a change; unknown on both it is
 * left out here (nothing can be said), but {@link versionChanges} names it. Uncommitted changes are a change on
 * either side, even on both: two dirty trees at one commit need not be the same code.
 */
export function changedPins(pins: CasePins, live: LivePins): readonly PinChange[] {
  const changes: PinChange[] = []
  if (pins.commit !== undefined || live.commit !== undefined) {
    const same = pins.commit !== undefined && live.commit !== undefined && sameCommit(pins.commit, live.commit)
    if (!same) changes.push(change('commit', pins.commit, live.commit))
  }
  if (pins.dirty === true || live.dirty === true) {
    changes.push(change('dirty', treeState(pins.dirty), treeState(live.dirty)))
  }
  if (live.models !== undefined && !sameSet(pins.models ?? [], live.models)) {
    changes.push(change('models', list(pins.models), list(live.models)))
  }
  for (const kind of ['prompt', 'tools', 'node'] as const) {
    // So says a tape that was imported: unknown, and nothing changed.
    if (kind === 'node' && pins.node === 'unknown') continue
    if (live[kind] !== undefined && live[kind] !== pins[kind]) changes.push(change(kind, pins[kind], live[kind]))
  }
  return changes
}

/** One change as one line: `commit  4f2a9c1 → 9ab0c3d`. */
function describeChange({ kind, recorded, now }: PinChange): string {
  return `${labels[kind].padEnd(labelWidth)}  ${brief(kind, recorded)} → ${brief(kind, now)}`
}

/** All changes, one per line; empty text without one. */
export function describeChanges(changes: readonly PinChange[]): string {
  return changes.map(describeChange).join('\n')
}

/**
 * Why code of one version may not go on where a tape of another version left off; empty when it is the same.
 *
 * Named are another commit, an unknown commit on either side, uncommitted changes, and other models, prompt or tool
 * schemas where the caller knows them. The Node version is not: it is shown by {@link changedPins} only.
 */
export function versionChanges(pins: CasePins, live: LivePins): readonly PinChange[] {
  const changes = changedPins(pins, live).filter(({ kind }) => kind !== 'node')
  // changedPins says nothing about the unknown; here not knowing is a mismatch.
  return pins.commit === undefined && live.commit === undefined ? [{ kind: 'commit' }, ...changes] : changes
}

/** What is known about another version of the code, for whoever was refused. */
export interface OtherVersion {
  readonly changes: readonly PinChange[]
  /** Files that changed and that the run depends on; `undefined` when it is unknown which. */
  readonly files?: readonly string[] | undefined
  /** A command of a shell after which the recorded code is there. */
  readonly toRecordedCode?: string | undefined
  readonly caseId?: string | undefined
}

/** The refusal of a run that would go on with code of another version: HARVEST_CROSS_VERSION. */
export function crossVersion(pins: CasePins, other: OtherVersion): HarvestError {
  const { changes, files, toRecordedCode, caseId } = other
  const unknown = changes.some(
    ({ kind, recorded, now }) => kind === 'commit' && (recorded === undefined || now === undefined),
  )
  const detail = describeChanges(changes).replace(/^/gm, '  ')
  const named = files === undefined ? '' : `\n${neutralLine(`  changed     ${firstNames(files)}`, 300)}`
  const accepted = caseId === undefined ? '' : `${shellWord(caseId)} `
  return new HarvestError('HARVEST_CROSS_VERSION', {
    what: 'Unknown whether this code made the tape',
    detail: detail + named,
    why: unknown
      ? 'An unknown commit counts as another commit: a difference could come from changed code.'
      : 'A difference could come from the changed code instead of your change.',
    fix: [
      ...(pins.accepted?.dirty === true
        ? [`once the accepted code is committed: npx vitest-harvest test ${accepted}--update-recordings=pins`]
        : []),
      ...(toRecordedCode === undefined ? [] : [`to run the recorded code: ${toRecordedCode}`]),
      ...(pins.commit === undefined ? ['next time, record with createRecorder({ commit: process.env.GIT_SHA })'] : []),
      'to continue anyway, with both versions in the result: --cross-version',
    ],
  })
}

const labels: Readonly<Record<PinKind, string>> = {
  commit: 'commit',
  dirty: 'work tree',
  models: 'models',
  prompt: 'prompt',
  tools: 'tools',
  node: 'node',
}
const labelWidth = Math.max(...Object.values(labels).map((label) => label.length))

function change(kind: PinKind, recorded: string | undefined, now: string | undefined): PinChange {
  return { kind, ...(recorded === undefined ? {} : { recorded }), ...(now === undefined ? {} : { now }) }
}

function treeState(dirty: boolean | undefined): string | undefined {
  if (dirty === undefined) return undefined
  return dirty ? 'uncommitted changes' : 'clean'
}

function sameSet(some: readonly string[], others: readonly string[]): boolean {
  const a = new Set(some)
  const b = new Set(others)
  return a.size === b.size && [...a].every((id) => b.has(id))
}

function list(ids: readonly string[] | undefined): string | undefined {
  return ids === undefined ? undefined : ids.length === 0 ? 'none' : [...ids].sort().join(', ')
}

/** Hashes short enough for one line; text from a tape cannot act on the terminal. */
function brief(kind: PinKind, text: string | undefined): string {
  if (text === undefined) return 'unknown'
  if (kind === 'commit' && isCommit(text)) return text.slice(0, 10)
  if (kind === 'prompt' || kind === 'tools') return neutralLine(text, 20)
  return neutralLine(text)
}
