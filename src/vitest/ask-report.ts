import { existsSync } from 'node:fs'
import path from 'node:path'
import { inject, recordArtifact, type TestContext } from 'vitest'
import type { Case } from '../cases/index.ts'
import { printedPath } from '../errors/here.ts'
import { type HarvestError, neutralLine } from '../errors/index.ts'
import type { ReplayResult } from '../match/types.ts'
import { reportFile } from '../report/view/report-file.ts'
import { stepsOf } from '../tape/index.ts'
import { linkOnTheWay } from '../tape/links.ts'
import { reportArtifact } from './channel.ts'
import { toPosix } from './posix.ts'

/** What is asked now and longer than this is cut: it goes to another process, and some reporters keep it. */
const longest = 200_000

export interface RedCase {
  readonly kase: Case
  readonly error: HarvestError
  /** 1-based, in the case file. */
  readonly line: number
  readonly expected?: string
  readonly actual?: string
  /** Absent: the case is red before its replay began. */
  readonly run?: ReplayResult
}

/**
 * Has the config process write the report of a red case, and attaches it. Workers may not be allowed to write.
 *
 * @returns where it is, from where the run was started; `undefined` when none was written
 */
export async function leaveReport(red: RedCase, { task, annotate }: TestContext): Promise<string | undefined> {
  const { root, acceptedFile, settings } = inject('vitest-harvest')
  if (settings.report === false) return undefined
  const { kase, error, line, expected, actual, run } = red
  const file = reportFile(path.dirname(acceptedFile), kase.file)
  await recordArtifact(task, {
    type: reportArtifact,
    file: kase.file,
    red: {
      case: kase.id,
      verdict: error.code === 'HARVEST_UNPROVEN' ? 'unproven' : 'different',
      code: error.code,
      message: error.message,
      what: error.facts.what,
      ...(error.facts.where === undefined ? {} : { where: error.facts.where }),
      ...(error.facts.fix === undefined ? {} : { fix: error.facts.fix }),
      ...(expected === undefined ? {} : { expected }),
      ...(actual === undefined ? {} : { actual }),
      place: neutralLine(`${toPosix(path.relative(root, kase.file))}:${line}`),
      ...replayed(run),
    },
  })
  const written = path.join(root, file)
  const shown = toPosix(printedPath(written))
  // Above the limit, or where the folder cannot be written, there is no report: the summary says so, once.
  if (linkOnTheWay(root, written) !== undefined || !existsSync(written)) return undefined
  try {
    await annotate(shown, 'report', { path: written, contentType: 'text/html' })
  } catch {
    // Vitest copies it, and may not be able to. The case is red for its own reason; the report is where the summary says.
    return shown
  }
  return shown
}

function replayed(run: ReplayResult | undefined) {
  if (run === undefined) return { drift: [], escapes: [], unanswered: [], unusedSteps: undefined, steps: 0, served: 0 }
  const numbers = new Map(stepsOf(run.tape).map(({ n }, index) => [n, index + 1]))
  return {
    drift: run.drift,
    escapes: run.escapes.map(({ kind, target }) => ({ kind, target })),
    unanswered: (run.unanswered ?? []).slice(0, 20).map((one) => ({ ...one, asked: one.asked.slice(0, longest) })),
    unusedSteps: run.unused.flatMap(({ n }) => numbers.get(n) ?? []),
    steps: run.comparison.recorded,
    served: run.comparison.served,
  }
}
