import { reportData } from '../../src/report/view/report-data.ts'
import type { GoldenData, ReportData } from '../../src/report/view/types.ts'
import { deskBlame, deskTape, opened, tapeOf } from './desk.ts'

/* Reports in the states a page can have, for tests in a browser and for the pictures of the documents. */

export const madeAt = '2026-03-04T05:06:07.000Z'

export const whole = reportData({
  run: opened(deskTape()),
  other: opened(deskTape(false)),
  blame: deskBlame,
  forks: (texts) => [
    {
      keep: 6,
      gradedBy: 'refunded=25',
      judged: 2,
      asRecorded: 1,
      grades: { ok: 1, bad: 1 },
      interval: { low: 0.09, high: 0.91 },
      changed: [],
      tail: 'models are asked, tools answer from the tape',
      branches: ['ok', 'bad'].map((grade, index) => ({
        seed: `${index + 1}`,
        grade,
        outcome: texts.add(`returned {"refunded":${grade === 'ok' ? 25 : 2500}}`),
        first: {
          step: 7,
          before: texts.add('2500 EUR'),
          after: texts.add(`${grade === 'ok' ? '25.00' : '2,500'} EUR`),
        },
        trace: grade === 'bad',
      })),
    },
  ],
  madeAt,
})
export const bare = reportData({ run: opened(deskTape(false)), madeAt })
export const red: ReportData = {
  ...bare,
  texts: [...bare.texts, '{"amount":25}', '{"amount":30}', 'The whole message'],
  replay: {
    case: 'golden/refund-broken-item',
    verdict: 'different',
    code: 'HARVEST_DIVERGENCE',
    title: 'The agent called refund with arguments that are not on the tape',
    class: 'arguments',
    path: 'args.amount',
    nearest: 8,
    servedSteps: [1, 2, 3, 4, 5, 6, 7],
    served: 7,
    steps: 9,
    recorded: bare.texts.length,
    now: bare.texts.length + 1,
    site: 'src/desk.ts:40:3',
    place: 'recordings/golden/refund-broken-item.case.yaml:12',
    drift: [],
    escapes: [],
    fix: ['to see the recorded steps: npx vitest-harvest show desk-good'],
    message: bare.texts.length + 2,
    only: [{ kind: 'tool', name: 'refund', t: bare.texts.length + 1 }],
  },
}
export const imported = reportData({
  run: opened(
    tapeOf({
      header: {
        agent: 'elsewhere',
        imported: { format: 'otlp', grade: 'signature-only', missing: ['timings', 'start', 'outcome'] },
      },
      events: [{ kind: 'tool', n: 1, at: 1, name: 'lookup', args: {}, settled: [2, 2] }],
      close: { outcome: { status: 'unknown' } },
    }),
  ),
  madeAt,
})
export const golden: GoldenData = {
  v: 1,
  kind: 'golden',
  at: madeAt,
  commit: '4f2a9c1',
  last: 'last run 2026-03-04 05:06:07 UTC',
  cases: (['green', 'red', 'unproven', 'known bad', 'not run', 'broken'] as const).map((state, index) => ({
    id: `refund/case-${index}`,
    agent: 'refund',
    models: ['gpt-5'],
    state,
    drift: state === 'unproven' ? { instructions: 1 } : {},
    pins: '4f2a9c1, the code here',
    runs: 'ggrgk',
    ms: 12 + index,
  })),
  made: { by: 'vitest-harvest', at: madeAt },
}

/** The first page of `open`. */
export const inbox: GoldenData = {
  ...golden,
  inbox: {
    tapes: ['returned', 'truncated'].map((outcome, index) => ({
      id: `desk-${index + 1}`,
      agent: 'desk',
      startedAt: madeAt,
      outcome,
      steps: 12 - index,
      session: 'S-1',
      report: `run/${index}`,
      ...(index === 1 ? { branchOf: 'desk-1' } : { costUsd: 0.0031 }),
    })),
    total: 2,
    more: 0,
    filters: [
      { name: 'text', takes: '<text>', about: 'With this text' },
      { name: 'model', takes: '<id>', about: 'Where this model was called' },
    ],
    asked: [['text', 'A-100']],
  },
}
