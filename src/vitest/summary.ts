import { neutralLine } from '../errors/index.ts'
import type { CaseReport } from './channel.ts'

/** One case of a run, as Vitest judged it. */
export interface CaseResult {
  readonly state: 'passed' | 'failed' | 'skipped' | 'pending'
  readonly report: CaseReport
}

/** The few lines printed below a run: label → text, in this order. Empty when no case ran. */
export function summarise(results: readonly CaseResult[]): readonly (readonly [label: string, text: string])[] {
  const ran = results.filter(({ state }) => state === 'passed' || state === 'failed')
  if (ran.length === 0) return []
  const lines: [string, string][] = [['Recordings', counts(ran)]]
  const drifted = ran.filter(({ report }) => Object.keys(report.drift ?? {}).length > 0)
  if (drifted.length > 0) lines.push(['Drift', `${driftCounts(drifted)} (${plural(drifted.length, 'case')})`])
  const moved = ran.filter(({ report }) => (report.pins ?? []).length > 0)
  if (moved.length > 0) lines.push(['Pins', pinLine(moved)])
  const escapes = ran.reduce((sum, { report }) => sum + (report.escapes ?? 0), 0)
  lines.push(['Escapes', String(escapes)])
  return lines
}

function counts(ran: readonly CaseResult[]): string {
  const knownBad = ran.filter(({ state, report }) => state === 'passed' && report.expect === 'fail').length
  const updated = ran.filter(({ report }) => report.updated !== undefined).length
  const failed = ran.filter(({ state }) => state === 'failed').length
  const replayed = ran.length - failed - knownBad
  const parts = [
    `${replayed} replayed`,
    ...(knownBad > 0 ? [`${knownBad} known bad reproduced`] : []),
    ...(failed > 0 ? [`${failed} failed`] : []),
    ...(updated > 0 ? [`${updated} updated`] : []),
  ]
  return parts.join(', ')
}

function driftCounts(drifted: readonly CaseResult[]): string {
  const total = new Map<string, number>()
  for (const { report } of drifted) {
    for (const [name, count] of Object.entries(report.drift ?? {})) total.set(name, (total.get(name) ?? 0) + count)
  }
  return [...total].map(([name, count]) => `${neutralLine(name)} ${count}`).join(', ')
}

/** All alike (one commit for the whole set) is the usual thing: then the change itself, otherwise only how many. */
function pinLine(moved: readonly CaseResult[]): string {
  const described = new Set(moved.map(({ report }) => (report.pins ?? []).join('; ')))
  const [only] = described
  const what = described.size === 1 && only !== undefined ? neutralLine(only) : 'differ from what was recorded'
  return `${what} (${plural(moved.length, 'case')})`
}

function plural(count: number, noun: string): string {
  return `${count} ${noun}${count === 1 ? '' : 's'}`
}
