import { describe, expect, it, test } from 'vitest'
import { type WhatIfRow, rowLines } from '../../src/cli/debug/forks.ts'
import { isAnswered, tellBeside } from '../../src/cli/forking/beside.ts'
import { type BranchSummary, together } from '../../src/cli/forking/branches.ts'

interface Run {
  readonly grade?: 'bad' | 'ok'
  /** It ends as recorded; absent: it was not judged. */
  readonly same?: boolean
}

const spent = { modelCalls: 0, inputTokens: 0, outputTokens: 0, costUsd: 0 }
const branch = ({ grade, same }: Run, at: number) =>
  ({
    seed: `${at}`,
    request: { tail: { from: 'live' } },
    fork: { fingerprint: `${at}`, spent },
    problems: [],
    ...(same === undefined ? {} : { compared: { outcome: { same } } }),
    ...(grade === undefined ? {} : { grade }),
  }) as unknown as BranchSummary
const many = (count: number, run: Run): readonly Run[] => Array.from({ length: count }, () => run)

function rowOf(changed: readonly Run[], controls: readonly Run[]): WhatIfRow {
  const branches = changed.map(branch)
  const sum = together(branches)
  return { change: 'a', sum, beside: tellBeside(sum, controls.map(branch)), branches }
}

/** Each column as one text: cells fold, so that the rest of one may stand on the next line. */
function columns(row: WhatIfRow): Readonly<Record<string, string>> {
  const [titles = '', ...lines] = rowLines([row], true).filter((line) => !line.includes('model call'))
  const starts = [...titles.matchAll(/(?<=^| {2})\S/g)].map(({ index }) => index)
  const cell = (line: string, at: number): string => line.slice(starts[at], starts[at + 1]).trim()
  return Object.fromEntries(
    starts.map((_, at) => [
      cell(titles, at),
      lines
        .map((line) => cell(line, at))
        .join(' ')
        .trim(),
    ]),
  )
}

describe('what a row says of runs with the change and without', () => {
  it('is the grade of both where runs are graded, with the chance of these two numbers', () => {
    // Without the change each run ends as recorded, which is bad.
    const recorded = many(16, { grade: 'bad', same: true })
    const none = rowOf(many(16, { grade: 'bad', same: false }), recorded)
    expect(columns(none)).toMatchObject({
      ok: '0 of 16 (95 %: 0.0 % – 19.4 %)',
      'ok unchanged': '0 of 16 (95 %: 0.0 % – 19.4 %), chance 1.0',
      'as recorded': '0 of 16',
    })
    expect(none.beside).toMatchObject({ compares: 'ok', chance: 1, asRecorded: 16, grades: { bad: 16 } })
    const all = rowOf(many(6, { grade: 'ok', same: false }), recorded.slice(0, 6))
    expect(columns(all)).toMatchObject({
      ok: '6 of 6 (95 %: 61.0 % – 100.0 %)',
      'ok unchanged': '0 of 6 (95 %: 0.0 % – 39.0 %), chance 0.0022',
    })
  })

  it('is whether both end as recorded where nothing grades them', () => {
    const row = rowOf(many(6, { same: false }), many(6, { same: true }))
    expect(columns(row)).toMatchObject({
      'as recorded': '0 of 6',
      unchanged: '6 of 6 (95 %: 61.0 % – 100.0 %), chance 0.0022',
    })
    expect(row.beside).toMatchObject({ compares: 'as recorded' })
  })

  it('is the grade also where no run with the change could be judged: then nothing is compared', () => {
    const row = rowOf(many(6, {}), many(6, { grade: 'ok', same: true }))
    expect(columns(row)).toMatchObject({ ok: 'undecided', 'ok unchanged': '6 of 6 (95 %: 61.0 % – 100.0 %)' })
    expect(row.beside).toMatchObject({ compares: 'ok', chance: null })
  })

  it('is no answer where too few runs without the change could be judged', () => {
    const [judged, lost] = [many(6, { grade: 'ok', same: true }), many(6, {})]
    const answered = (row: WhatIfRow) => isAnswered(row.sum, row.beside, true)
    expect([rowOf(judged, judged), rowOf(judged, lost)].map(answered)).toEqual([true, false])
    expect(columns(rowOf(judged, lost))).toMatchObject({ 'ok unchanged': 'undecided' })
  })
})

test('a run that asks no model ends the same each time: its rate has no interval', () => {
  const row = rowOf(many(8, { grade: 'bad', same: true }), [])
  const [, line = ''] = rowLines([row], false)
  expect(line.split(/ {2,}/).slice(0, 3)).toEqual(['a', '0 of 8', '8 of 8'])
})
