import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { lineDiff } from '../../src/errors/line-diff.ts'
import { annotations } from '../../src/vitest/github.ts'
import { neutralLines } from '../../src/vitest/neutral-lines.ts'
import { maxSummaryBytes, stepSummary } from '../../src/vitest/step-summary.ts'
import type { CaseResult } from '../../src/vitest/summary.ts'
import { findsHostile, hostilePayloads } from '../support/hostile.ts'

const place = { file: '/p/recordings/golden/a.case.yaml', line: 4, column: 1 }
const site = { file: '/p/src/a,b:c.ts', line: 12, column: 7 }
const red = (name: string, message: string, at: { readonly site?: typeof site } = { site }): CaseResult => ({
  name,
  state: 'failed',
  report: { case: name, code: 'HARVEST_TRACE' },
  failure: { message, place, ...at },
})
const many = (count: number) => Array.from({ length: count }, (_, at) => red(`golden/${at}`, 'it differs\nhere'))
const shown = (file: string) => file.replace('/p/', '')
const page = (results: readonly CaseResult[], room = maxSummaryBytes) =>
  stepSummary({ totals: [['Recordings', '0 replayed, 1 diverged']], results, problems: [], shown }, room)

describe('annotations', () => {
  it('stand at the line of the agent, or of the case where none is known; Vitest puts them there itself', () => {
    expect(
      annotations({ unproven: [], notJudged: [], results: [red('golden/a', '100% other\ncalls')], hasErrors: false }),
    ).toEqual(['::error file=/p/src/a%2Cb%3Ac.ts,line=12,col=7,title=golden/a::100%25 other%0Acalls'])
    expect(annotations({ unproven: [], notJudged: [], results: [red('golden/a', 'x', {})], hasErrors: false })).toEqual(
      ['::error file=/p/recordings/golden/a.case.yaml,line=4,col=1,title=golden/a::x'],
    )
    expect(annotations({ unproven: [], notJudged: [], results: [red('golden/a', 'x', {})], hasErrors: true })).toEqual(
      [],
    )
  })

  it.each([9, 10, 11, 60])('of %i red cases are at most ten annotations', (count) => {
    for (const hasErrors of [true, false]) {
      const lines = annotations({ unproven: [], notJudged: [], results: many(count), hasErrors })
      expect(lines).toHaveLength(hasErrors ? Number(count > 9) : Math.min(count, 10))
      if (count > 9)
        expect(lines.at(-1)).toBe(
          `::${hasErrors ? 'warning' : 'error'} title=Recordings::and ${count - 9} more red cases: the step summary names them`,
        )
    }
  })
})

describe('the summary of a step', () => {
  it('has a block of code for each red case, with a fence longer than what is in it', () => {
    expect(page([red('golden/a', 'a ```` b\n[x](y)'), red('a `case`.case.yaml', 'x', {})])).toMatchInlineSnapshot(`
      "
      ## Recordings

      \`\`\`
      Recordings  0 replayed, 1 diverged
      \`\`\`

      ### \`\` a \`case\`.case.yaml \`\`

      \`recordings/golden/a.case.yaml:4:1\`

      \`\`\`
      x
      \`\`\`

      ### \`golden/a\`

      \`recordings/golden/a.case.yaml:4:1\`, \`src/a,b:c.ts:12:7\`

      \`\`\`\`\`
      a \`\`\`\` b
      [x](y)
      \`\`\`\`\`
      "
    `)
  })

  it('shows what an outcome was to be and what it was', () => {
    const diff = lineDiff('{\n  "refunded": 26\n}', '{\n  "refunded": 25\n}')
    const failed = { ...red('golden/a', 'another outcome'), failure: { message: 'another outcome', place, diff } }
    expect(page([failed])).toContain(
      '```diff\n- expected\n+ received\n\n  {\n-   "refunded": 26\n+   "refunded": 25\n  }\n```\n',
    )
    expect(lineDiff('', 'x')).toBe('- expected\n+ received\n\n- ""\n+ x')
    const lines = Array.from({ length: 100 }, (_, at) => `line ${at}`)
    expect(lineDiff(lines.join('\n'), lines.with(50, 'other').join('\n'))).toBe(
      '- expected\n+ received\n\n  …\n  line 48\n  line 49\n- line 50\n+ other\n  line 51\n  line 52\n  …',
    )
  })

  it.each(hostilePayloads)('makes nothing of a payload: $class', ({ text }) => {
    const failed = { ...red(text, text), failure: { message: text, diff: text, place: { ...place, file: text }, site } }
    const told = stepSummary({ totals: [['Pins', text]], results: [failed], problems: [text], shown }, maxSummaryBytes)
    expect(findsHostile(told, 'markdown')).toEqual([])
  })

  it('ends before the limit of GitHub and says so', () => {
    const long = Array.from({ length: 80 }, (_, at) => red(`golden/${at}`, `€${'x'.repeat(15_000)}`))
    const told = page(long)
    expect(Buffer.byteLength(told)).toBeLessThanOrEqual(maxSummaryBytes)
    expect(Buffer.byteLength(told)).toBeGreaterThan(maxSummaryBytes - 20_000)
    expect(told).toMatch(
      /```\n\n\d+ more are left out: GitHub shows at most 1 MiB of summary a step\. The log names them\.\n$/,
    )
    expect(page([red('golden/a', 'x'.repeat(100_000))])).toContain('… cut here: the log has all of it')
    expect(page(long, 10)).toBe('')
  })
})

describe('text of several lines', () => {
  it('for every text, holds nothing a terminal, a runner or a reader of TAP acts on, and a second pass changes nothing', () => {
    const payload = fc.constantFrom(...hostilePayloads.map(({ text }) => text))
    fc.assert(
      fc.property(fc.array(fc.oneof(payload, fc.string({ unit: 'binary' })), { maxLength: 5 }), (parts) => {
        const told = neutralLines(parts.join('\n'))
        expect(findsHostile(told)).toEqual([])
        expect(told).not.toMatch(/^(?:ok|not ok|Bail out!|1\.\.\d|TAP version|\.\.\.|---)/m)
        expect(neutralLines(told)).toBe(told)
      }),
    )
  })
})
