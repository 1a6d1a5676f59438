import { reportData } from '../../src/report/view/report-data.ts'
import type { GoldenData, ReportData, ReportRed } from '../../src/report/view/types.ts'
import { deskBlame, deskTape, opened } from './desk.ts'

/** Texts that would be more than text in a page that trusts them. */
export const evil = [
  '</script><script>document.title="owned"</script>',
  '<img src=x onerror="document.title=\'owned\'">',
  '<!--<script>',
  '\u202egnp.exe\u202c',
  '\u001b[31mred\u001b[0m',
  '\u2028alert(1)',
  'javascript:alert(1)',
  // Spelled apart: it is no template here.
  '$' + '{process.env}',
  '"><svg onload=document.title="owned">',
  ']]>',
  '&lt;b&gt;',
  "$&$1$`$'",
]

/** A report whose every text and name attacks it. */
export function hostileDesk(): ReportData {
  const data = reportData({
    run: opened(deskTape()),
    other: opened(deskTape(false)),
    blame: deskBlame,
    forks: (texts) => [
      {
        keep: 6,
        gradedBy: evil[0]!,
        judged: 1,
        asRecorded: 0,
        changed: [evil[1]!],
        tail: evil[8]!,
        branches: [
          {
            seed: evil[3]!,
            grade: 'ok',
            file: evil[8]!,
            outcome: texts.add(evil[1]!),
            first: { step: 7, before: texts.add(evil[0]!), after: texts.add(evil[8]!) },
          },
        ],
      },
    ],
    replay: (texts) => red(texts.add(evil[0]!), texts.add(evil[1]!)),
    madeAt: '2026-03-04T05:06:07.000Z',
  })
  return spoilt(data, 0) as ReportData
}

/** The golden set, or the first page of `open`, with names that attack it. */
export function hostileLists(of: GoldenData): GoldenData {
  return spoilt(of, 0) as GoldenData
}

function red(recorded: number, now: number): ReportRed {
  return {
    case: evil[1]!,
    verdict: 'different',
    code: 'HARVEST_DIVERGENCE',
    title: evil[0]!,
    class: 'messages',
    path: evil[2]!,
    nearest: 7,
    servedSteps: [1, 2],
    served: 2,
    steps: 10,
    recorded,
    now,
    site: evil[6]!,
    place: evil[8]!,
    drift: [{ class: 'model', step: 1, path: evil[3]!, words: recorded }],
    escapes: [evil[1]!],
    fix: [evil[8]!],
    message: now,
    only: [{ kind: 'exchange', name: evil[1]!, t: now }],
  }
}

/** Fields that hold a word of ours. */
const ours = /^(?:kind|role|v|how|verdict|r|grade|state|commitment|tail|class|code)$/

/** Every text with an attack behind it. */
function spoilt(value: unknown, depth: number, key = ''): unknown {
  if (typeof value === 'string')
    return ours.test(key) ? value : `${value}\n${evil[(value.length + depth) % evil.length]}`
  if (Array.isArray(value)) return value.map((one, index) => spoilt(one, depth + index, key))
  if (typeof value !== 'object' || value === null) return value
  return Object.fromEntries(
    Object.entries(value).map(([name, member], index) => [name, spoilt(member, depth + index, name)]),
  )
}
