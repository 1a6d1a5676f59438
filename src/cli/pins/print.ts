import { stepsElsewhere } from '../../errors/above.ts'
import { printedPath } from '../../errors/here.ts'
import { neutralLine } from '../../errors/index.ts'
import type { CommitLine } from '../../provenance/index.ts'
import { foldText, terminalWidth } from '../../report/fold.ts'
import { counted } from '../../errors/words.ts'
import { type Screen, table } from '../../report/output.ts'
import type { Judgement, PinnedCase } from '../../provenance/stale.ts'

/** The newest commits since each pinned one. */
type Since = ReadonlyMap<string, readonly CommitLine[]>
type Judged = readonly (PinnedCase & Judgement)[]

/** Newest commits named per pinned commit; the rest is counted. */
const named = 3

/** Prints one line per case, then what there is to say about each, then what was committed since. */
export function printCases(judged: Judged, since: Since, screen: Screen): void {
  if (judged.length === 0) return
  const head = ['case', 'agent', 'commit', 'since', 'models', 'prompt', 'tools']
  const rows = judged.map((one) => {
    const { id, agent, pins } = one
    return [
      neutralLine(id, 24),
      neutralLine(agent, 16),
      shortCommit(pins.commit),
      standingText(one),
      neutralLine((pins.models ?? []).join(', ') || 'none', 24),
      shortHash(pins.prompt),
      shortHash(pins.tools),
    ]
  })
  screen.line(table([head.map((text) => screen.paint('dim', text)), ...rows]))
  printRemarks(judged, screen)
  printHistory(judged, since, screen)
  printMakers(judged, screen)
}

/** Prints every pin of some cases. */
export function printDetails(
  judged: Judged,
  since: Since,
  touched: ReadonlyMap<string, readonly string[]>,
  screen: Screen,
): void {
  for (const [index, one] of judged.entries()) {
    const { id, agent, file, pins, recordedAt } = one
    if (index > 0) screen.line()
    screen.line(`${screen.paint('bold', neutralLine(id, 60))}  ${printedPath(file)}`)
    const fact = (label: string, text: string, paint = (row: string): string => row): void => {
      for (const [row, part] of foldText(text, { width: terminalWidth() - 12 }).entries())
        screen.line(`  ${screen.paint('dim', (row === 0 ? label : '').padEnd(8))}  ${paint(part)}`)
    }
    const dirty = pins.dirty === true ? ', with uncommitted changes' : ''
    fact('agent', agent)
    fact('recorded', recordedAt)
    if (one.recorded !== undefined) fact('made at', one.recorded.commit ?? 'unknown')
    fact(
      one.recorded === undefined ? 'commit' : 'accepted',
      pins.commit === undefined ? 'unknown' : `${pins.commit}${dirty}`,
    )
    if (pins.commit !== undefined) fact('since', standingText(one))
    for (const line of sinceLines(one, since)) fact('', line)
    const files = touched.get(file) ?? []
    if (files.length > 0) fact('files', `changed since: ${files.join(', ')}`)
    fact('models', (pins.models ?? []).join(', ') || 'none')
    fact('prompt', pins.prompt ?? 'none')
    fact('tools', pins.tools ?? 'none')
    fact('made by', makerOf(one))
    for (const reason of one.stale) fact('stale', reason, (row) => screen.paint('red', row))
    for (const hint of one.hints) fact('hint', hint)
  }
}

function printRemarks(judged: Judged, screen: Screen): void {
  const remarks = judged.flatMap(({ id, stale, hints }) => [
    ...stale.map((reason) => [screen.paint('red', 'stale'), neutralLine(id, 24), reason]),
    ...hints.map((hint) => [screen.paint('yellow', 'hint'), neutralLine(id, 24), hint]),
  ])
  if (remarks.length === 0) return
  screen.line()
  screen.line(table(remarks))
}

function printHistory(judged: Judged, since: Since, screen: Screen): void {
  const byCommit = new Map(judged.flatMap((one) => (one.pins.commit === undefined ? [] : [[one.pins.commit, one]])))
  for (const [commit, one] of byCommit) {
    const lines = sinceLines(one, since)
    if (lines.length === 0) continue
    screen.line()
    screen.line(screen.paint('dim', `since ${shortCommit(commit)}`))
    for (const line of lines) screen.line(`  ${neutralLine(line, terminalWidth() - 2)}`)
  }
}

/** The newest commits since one, and how many more there are. Subjects are foreign text. */
function sinceLines({ pins: { commit = '' }, standing }: PinnedCase, since: Since): readonly string[] {
  if (standing?.state !== 'ancestor' || standing.commits === 0) return []
  const lines = (since.get(commit) ?? [])
    .slice(0, named)
    .map(({ commit: hash, subject }) => `${hash.slice(0, 10)}  ${subject}`)
  const more = standing.commits - lines.length
  return more > 0 ? [...lines, `… and ${counted(more, 'commit')} before`] : lines
}

/** Recorder and Node are the same for nearly all: reported once per pair. */
function printMakers(judged: Judged, screen: Screen): void {
  screen.line()
  for (const [maker, list] of Map.groupBy(judged, makerOf))
    screen.line(`made by ${neutralLine(maker, 60)}: ${counted(list.length, 'case')}`)
}

function makerOf({ pins: { recorder = 'unknown recorder', node } }: PinnedCase): string {
  return `${recorder}, ${node === undefined ? 'unknown node' : `node ${node}`}`
}

/** How a gate ended, in one line. */
export function printVerdict(
  {
    looked,
    stale,
    isStaleOnly,
    recordings,
  }: {
    readonly looked: readonly PinnedCase[]
    readonly stale: number
    readonly isStaleOnly: boolean
    readonly recordings: string
  },
  screen: Screen,
): void {
  if (looked.length === 0) return screen.note(noCases(recordings))
  const unknown = looked.filter(({ standing }) => standing === undefined || standing.state === 'shallow').length
  const unjudged = unknown === 0 ? '' : `; ${unknown} without a commit that is known here`
  if (!isStaleOnly && stale === 0) return
  const count = counted(looked.length, 'case')
  if (stale > 0) screen.line()
  screen.line(`${stale === 0 ? 'no case is stale' : `${stale} stale`}: ${count} looked at${unjudged}`)
}

function standingText({ pins, standing }: PinnedCase): string {
  if (pins.commit === undefined) return 'unknown'
  switch (standing?.state) {
    case 'ancestor':
      if (standing.commits === 0) return 'HEAD'
      return `${counted(standing.commits, 'commit')}${standing.daysBehind === 0 ? '' : `, ${standing.daysBehind}d`}`
    case 'elsewhere':
      return 'not an ancestor'
    case 'missing':
      return 'not here'
    case 'shallow':
      return 'shallow clone'
    case undefined:
      return 'no repository'
  }
}

function shortCommit(commit: string | undefined): string {
  return commit === undefined ? '–' : neutralLine(commit.slice(0, 10), 10)
}

function shortHash(hash: string | undefined): string {
  return hash === undefined ? '–' : neutralLine(hash.replace(/^sha256-/, '').slice(0, 6), 6)
}

/** What is said of a golden set without a case. */
export function noCases(recordings: string): string {
  const steps = [...stepsElsewhere(recordings), "to promote a tape: npx vitest-harvest promote latest --as '<id>'"]
  return [`no cases in ${recordings}`, ...steps].join('\n→ ')
}
