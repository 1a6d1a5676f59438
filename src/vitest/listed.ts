import os from 'node:os'
import path from 'node:path'
import { neutralLine } from '../errors/index.ts'
import type { UninstrumentedIo } from '../match/types.ts'
import type { ListedLine } from './channel.ts'
import { toPosix } from './posix.ts'
import type { CaseResult, SummaryLine } from './summary.ts'

/** Lines of one kind that are shown. */
const shownLines = 9

/** What a run was let do around the seam, in text that is safe to print. */
export function printableListed(listed: readonly UninstrumentedIo[], root: string): readonly ListedLine[] {
  return listed.map(({ kind, by, target, site }) => ({
    kind,
    by: neutralLine(by),
    target: neutralLine(placeOf(target, root), 300),
    ...(site !== undefined && { site: neutralLine(placeOf(site, root), 300) }),
  }))
}

/** No folder of this machine: relative to the root, else by what stands for it. */
function placeOf(file: string, root: string): string {
  if (!path.isAbsolute(file)) return toPosix(file)
  const bases = [
    ['', root],
    ['$TMPDIR', os.tmpdir()],
    ['~', os.homedir()],
  ] as const
  for (const [name, base] of bases) {
    const inside = path.relative(base, file)
    if (!inside.startsWith('..') && !path.isAbsolute(inside)) return toPosix(path.join(name, inside)) || '.'
  }
  return toPosix(file)
}

const labels: Readonly<Record<UninstrumentedIo['kind'], string>> = {
  write: 'Writes',
  'add-on': 'Add-ons',
  audit: 'Audit',
}

/** What cases and hand-written tests did around the seam and were let through: each file once, with the line that did it and how many cases. */
export function listedLines(lists: readonly (readonly ListedLine[] | undefined)[]): readonly SummaryLine[] {
  return (Object.keys(labels) as UninstrumentedIo['kind'][]).flatMap((kind) => linesOf(kind, lists))
}

function linesOf(
  kind: UninstrumentedIo['kind'],
  lists: readonly (readonly ListedLine[] | undefined)[],
): readonly SummaryLine[] {
  const found = new Map<string, { readonly line: ListedLine; count: number }>()
  for (const line of lists.flatMap((list) => list ?? [])) {
    if (line.kind !== kind) continue
    const known = found.get(line.target)
    if (known === undefined) found.set(line.target, { line, count: 1 })
    else known.count++
  }
  const all = [...found.values()]
  const lines = all.slice(0, shownLines).map(({ line: { by, target, site }, count }, at): SummaryLine => {
    const place = site === undefined ? '' : `, ${site}`
    return [at === 0 ? labels[kind] : '', `${target} (${by}${place}${count > 1 ? `; ${count} cases` : ''})`]
  })
  const note: Readonly<Record<UninstrumentedIo['kind'], string>> = {
    write: 'a replay does not undo what an agent writes',
    'add-on': 'native code is out of sight of a replay',
    audit: "`confine: 'strict'` would refuse these",
  }
  if (lines.length === 0) return []
  const more = all.length > lines.length ? [['', `and ${all.length - lines.length} more`] as const] : []
  return [...lines, ...more, ['', note[kind]]]
}

/** How the cases that ran were confined: `strict: 17 of 18 cases; seam: images`. */
export function confinedLine(results: readonly CaseResult[]): readonly SummaryLine[] {
  const ran = results.filter(({ state }) => state === 'passed' || state === 'failed')
  const how = ran.map(({ report }) => report.confined).find((one) => one === 'strict' || one === 'watch')
  if (how === undefined) return []
  const count = ran.filter(({ report }) => report.confined === how).length
  const open = new Set(ran.flatMap(({ report }) => (report.confined === 'seam' ? [report.agent ?? report.case] : [])))
  const rest =
    open.size === 0
      ? ''
      : `; seam: ${[...open]
          .sort()
          .map((name) => neutralLine(name))
          .join(', ')}`
  return [['Confine', `${how}: ${count} of ${ran.length} case${ran.length === 1 ? '' : 's'}${rest}`]]
}
