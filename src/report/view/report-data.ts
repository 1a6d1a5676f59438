import type { Case } from '../../cases/index.ts'
import { diffJson } from '../diff/json.ts'
import type { Opened } from '../diff/facts.ts'
import { version } from '../../version.ts'
import { runView } from './run-view.ts'
import { cutTexts, maxCharacters, Texts } from './texts.ts'
import type { ReportBlame, ReportData, ReportForks, ReportRed } from './types.ts'

/** What a report is made of. */
export interface ReportSources {
  readonly run: Opened
  readonly case?: Case
  readonly other?: Opened
  readonly blame?: ReportBlame
  /** Newest first. */
  readonly forks?: (texts: Texts) => readonly ReportForks[]
  readonly replay?: (texts: Texts) => ReportRed
  /** Keep every text whole, however large the report is. */
  readonly isFull?: boolean
  /** ISO 8601. */
  readonly madeAt: string
}

/** The view model of a report. */
export function reportData({
  run,
  case: found,
  other,
  blame,
  forks,
  replay,
  isFull,
  madeAt,
}: ReportSources): ReportData {
  const texts = new Texts()
  const view = runView(run, texts, found)
  const [latest, ...more] = forks?.(texts) ?? []
  const parts = {
    run: view,
    ...(other === undefined ? {} : { other: runView(other, texts), diff: diffJson(run, other) }),
    ...(blame === undefined ? {} : { blame }),
    ...(latest === undefined ? {} : { forks: latest }),
    ...(more.length === 0 ? {} : { moreForks: more }),
    ...(replay === undefined ? {} : { replay: replay(texts) }),
  }
  const size = texts.all.reduce((sum, text) => sum + text.length, 0)
  const held = isFull === true || size <= maxCharacters ? { texts: texts.all } : cutTexts(texts.all)
  return { v: 1, kind: 'run', ...held, ...parts, made: { by: `vitest-harvest/${version}`, at: madeAt } }
}
