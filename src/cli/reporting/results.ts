import { readFileSync } from 'node:fs'
import { HarvestError, neutralLine } from '../../errors/index.ts'
import { at, isMap, listAt, mapAt, numberAt, textAt } from '../../json/canonical.ts'
import type { Json } from '../../tape/index.ts'

/** What one run of Vitest said of a case. */
export interface CaseRun {
  readonly state: 'green' | 'red' | 'unproven' | 'known bad' | 'not run'
  readonly why?: string
  readonly drift: Readonly<Record<string, number>>
  readonly pins: readonly string[]
  readonly ms?: number
}

/** One run of Vitest, from what its JSON reporter wrote. */
export interface VitestRun {
  /** Epoch milliseconds. */
  readonly startedAt: number
  readonly cases: ReadonlyMap<string, CaseRun>
}

/**
 * Reads reports of Vitest's `json` reporter: a passing run leaves no other trace.
 *
 * @returns the oldest first
 * @throws HarvestError `HARVEST_CLI_ARGUMENT` when a file is not one
 */
export function readResults(files: readonly string[]): readonly VitestRun[] {
  return files.map(readRun).sort((one, other) => one.startedAt - other.startedAt)
}

function readRun(file: string): VitestRun {
  let report: Json
  try {
    report = JSON.parse(readFileSync(file, 'utf8')) as Json
  } catch (error) {
    throw invalid(file, (error as Error).message)
  }
  if (!isMap(report) || !Array.isArray(report['testResults'])) throw invalid(file, 'it has no testResults')
  const tests = listAt(report, 'testResults').flatMap((one) => listAt(one, 'assertionResults'))
  return {
    startedAt: numberAt(report, 'startTime') ?? 0,
    cases: new Map(
      tests.flatMap((test) => {
        const told = at(at(test, 'meta'), 'harvest')
        const id = textAt(told, 'case')
        return told === undefined || id === undefined ? [] : [[id, caseRun(test, told)] as const]
      }),
    ),
  }
}

/** Names of our errors, which a message begins with. */
const ownName = /^Harvest(?:Error|Unproven): /

function caseRun(test: Json, told: Json): CaseRun {
  const status = textAt(test, 'status')
  const message = listAt(test, 'failureMessages').find((one) => typeof one === 'string')
  const ms = numberAt(test, 'duration')
  const isUnproven = textAt(told, 'code') === 'HARVEST_UNPROVEN'
  const state =
    status === 'failed'
      ? isUnproven
        ? 'unproven'
        : 'red'
      : status !== 'passed'
        ? 'not run'
        : textAt(told, 'expect') === 'fail'
          ? 'known bad'
          : 'green'
  return {
    state,
    ...(typeof message === 'string'
      ? { why: neutralLine(message.split('\n', 1)[0]?.replace(ownName, '') ?? '', 200) }
      : {}),
    drift: Object.fromEntries(
      Object.entries(mapAt(told, 'drift')).flatMap(([name, count]) =>
        typeof count === 'number' ? [[name, count]] : [],
      ),
    ),
    pins: listAt(told, 'pins').filter((one) => typeof one === 'string'),
    ...(ms === undefined ? {} : { ms }),
  }
}

function invalid(file: string, why: string): HarvestError {
  return new HarvestError('HARVEST_CLI_ARGUMENT', {
    what: "--results is not a report of Vitest's json reporter",
    where: { file: neutralLine(file, 200), problem: neutralLine(why, 200) },
    fix: ['to make one: npx vitest run --reporter=json --outputFile=results.json'],
  })
}
