import { expect, it } from 'vitest'
import { alternativesOf } from '../../src/cli/forking/alternatives.ts'
import { bestAlternative, printDecisions, reportDecisions } from '../../src/cli/forking/critical.ts'
import { currentFlags, parseTape, serializeTape } from '../../src/tape/index.ts'
import { together } from '../../src/cli/forking/branches.ts'
import { printBranches } from '../../src/cli/forking/print.ts'
import { incidentEvents } from '../debug/incident.ts'
import { mulberry32 } from '../recordings/mulberry32.ts'

const events = incidentEvents()
const header = {
  harvest: 1,
  id: 'refund-100x',
  agent: 'refund',
  startedAt: '2026-01-02T03:04:05.000Z',
  recorder: 'vitest-harvest/0.1.0',
  flags: currentFlags,
  pins: { node: '24.21.0' },
}
const close = { n: 1_000, at: 1_000, outcome: { status: 'returned' as const, value: 'done' } }
const tape = parseTape(serializeTape(header, events, close), 'refund-100x')
const alternatives = alternativesOf(tape, { from: 'tape' }, undefined, 1)
const at = (step: number): readonly string[] => alternatives.flatMap((one) => (one.step === step ? [one.instead] : []))

it('a decision is tried with each value its argument could have had, of those the run knew by then', () => {
  // 25 is the total of the order, which a tool had answered.
  expect(at(6)).toContain('refund(order_id: "A-100", amount: 25)')
  expect(at(6)).not.toContain('refund(order_id: "A-100", amount: 2500)')
})

it('of calls made side by side each is left out alone', () => {
  expect(at(1).slice(0, 2)).toEqual(['without lookup_order(order_id: "A-100")', 'without refund_policy(country: "DE")'])
})

it('decisions stand in the order of their effect, beside runs that keep them, and the best alternative is named', () => {
  const decisions = [1, 4].map((step) => ({ step, decided: `decision ${step}` }))
  const branch = (grade: 'ok' | 'bad') => ({ grade, compared: { outcome: { same: grade === 'bad' } } }) as never
  /** At step 1 luck makes every second run good, with its decision and with another. */
  const reportOf = (each: number) => {
    const tried = [1, 4].flatMap((step) => times(each, { ...alternatives[0]!, step, instead: `another at ${step}` }))
    const byLuck = times(each / 2, [branch('ok'), branch('bad')]).flat()
    const controls = [...byLuck, ...times(each, branch('bad'))]
    return reportDecisions(decisions, tried, [...byLuck, ...times(each, branch('ok'))], 'bad', controls)
  }
  const reports = reportOf(12)
  expect(reports.map(({ step, effect }) => [step, effect?.value])).toEqual([
    [4, 1],
    [1, 0],
  ])
  const [first] = reports
  expect(first?.effect?.low).toBeLessThan(1)
  expect(first?.effect?.low).toBeGreaterThan(-1)
  const best = { step: 4, instead: 'another at 4' }
  expect(bestAlternative(reports, { recorded: 'bad', takesAnyOther: false })).toEqual(best)
  // Of so few runs all may be good by chance.
  expect(bestAlternative(reportOf(2), { recorded: 'bad', takesAnyOther: false })).toBeUndefined()
  expect(bestAlternative(reports, { recorded: 'ok', takesAnyOther: false })).toBeUndefined()
  // Where nobody said what is good, doing nothing would be best.
  expect(bestAlternative(reports, { recorded: 'bad', takesAnyOther: true })).toBeUndefined()
})

const graded = (grade: 'ok' | 'bad') => ({ grade, compared: { outcome: { same: grade === 'bad' } } }) as never
const times = <T>(count: number, one: T): readonly T[] => Array.from({ length: count }, () => one)

const offTape = { problems: [{ code: 'HARVEST_NOT_RECORDED' }] } as never

/** Alternatives of one step, of which some come out well, or tell nothing, beside runs that keep its decision. */
function decided(good: number, bad: number, kept?: { readonly good: number; readonly bad: number }, lost = 0) {
  const tried = times(good + bad + lost, { ...alternatives[0]!, step: 1, instead: 'another' })
  const branches = [...times(good, graded('ok')), ...times(bad, graded('bad')), ...times(lost, offTape)]
  const controls = kept === undefined ? [] : [...times(kept.good, graded('ok')), ...times(kept.bad, graded('bad'))]
  const decisions = reportDecisions([{ step: 1, decided: 'a call' }], tried, branches, 'bad', controls)
  const lines: string[] = []
  const line = (text = ''): void => void lines.push(text)
  printDecisions(
    decisions,
    { grader: { by: '--ok x', recorded: 'bad', takesAnyOther: false } },
    { line, note: line, json: () => {}, paint: (_, text) => text, progress: () => {} },
  )
  return { report: decisions[0], lines }
}

it('a step of live runs is critical only where chance rarely makes its effect, and both rates have their interval', () => {
  const shown = decided(7, 1, { good: 0, bad: 8 })
  expect(shown.report?.verdict).toBe('critical')
  expect(shown.report?.effect?.low).toBeGreaterThan(0)
  expect(shown.lines).toContain(
    '  of the alternatives 7 of 8 (95 %: 52.9 % – 97.8 %) get another grade; with the decision kept, sampled in pairs, 0 of 8 (95 %: 0.0 % – 32.4 %)',
  )
  // Three of eight beside none of eight: chance makes that, too.
  for (const { report, lines } of [decided(3, 5, { good: 0, bad: 8 }), decided(7, 0, { good: 4, bad: 3 })]) {
    expect(report?.verdict).toBe('open')
    expect(lines).toEqual(
      expect.arrayContaining(['\ncritical: none shown', 'not shown: 1', 'nothing could be judged: none']),
    )
  }
})

it('of ten steps that do nothing at all, one is called critical in less than 5 of 100 runs of the command', () => {
  const random = mulberry32(7)
  const steps = times(10, 0).map((_, index) => index + 1)
  const ended = () => graded(random() < 0.4 ? 'ok' : 'bad')
  const commands = times(200, 0).map(() => {
    const tried = steps.flatMap((step) => times(20, { ...alternatives[0]!, step, instead: 'another' }))
    const decisions = steps.map((step) => ({ step, decided: 'a call' }))
    return reportDecisions(decisions, tried, tried.map(ended), 'bad', tried.map(ended))
  })
  const wrong = commands.filter((reports) => reports.some(({ verdict }) => verdict === 'critical'))
  expect(wrong.length).toBeLessThan(10)
})

it('a step of whose live runs more than a fifth tell nothing is unknown, unless the others show it whatever those did', () => {
  const kept = { good: 0, bad: 8 }
  const unknown = decided(0, 1, kept, 7)
  expect(unknown.report?.verdict).toBe('unknown')
  expect(unknown.report).not.toHaveProperty('effect')
  expect(unknown.lines).toEqual(
    expect.arrayContaining([
      'step 1  unknown, judged 1 of 8',
      'no judged alternative changes the grade: none',
      'unknown, as more than a fifth of the runs tell nothing: 1',
      'nothing could be judged: none',
    ]),
  )
  const verdicts = [decided(0, 8, kept, 2), decided(2, 1, kept, 5), decided(20, 0, { good: 0, bad: 26 }, 6)]
  expect(verdicts.map(({ report }) => report?.verdict)).toEqual(['same', 'unknown', 'critical'])
})

it('alternatives of a tape end the same each time: they are counted, without an interval', () => {
  const { report, lines } = decided(1, 0)
  expect(report).toMatchObject({ verdict: 'critical', effect: { value: 1 } })
  expect(report?.effect).not.toHaveProperty('low')
  expect(lines.join('\n')).not.toContain('95 %')
  expect(lines).toContain('  1 of 1 alternatives get another grade')
})

it('each run behind a live tail is a draw of its own, equal or not, and equal runs of a tape are one', () => {
  const run = (from: 'live' | 'tape') => ({
    request: { tail: { from } },
    compared: { outcome: { same: true } },
    fork: { fingerprint: 'one', spent: { modelCalls: 1, inputTokens: 1, outputTokens: 1 } },
    isReused: false,
  })
  const sum = (from: 'live' | 'tape') => together(times(10, run(from) as never))
  expect(sum('live').interval?.low).toBeCloseTo(0.722, 3)
  expect(sum('tape')).not.toHaveProperty('interval')
})

it('seeds that come out as two runs are each a draw of what the code draws, and none is said to be unable to end otherwise', () => {
  const run = (seed: number, same: boolean) => ({
    seed: `${seed}`,
    request: { keep: 1, seed: `${seed}`, tail: { from: 'tape' } },
    compared: { outcome: { same }, trace: { same: true } },
    fork: {
      fingerprint: `${same}`,
      outcome: { status: 'returned', value: same },
      spent: { modelCalls: 0, inputTokens: 0, outputTokens: 0 },
      isInert: true,
    },
    problems: [],
    isReused: false,
  })
  const said = (ends: readonly boolean[]) => {
    const lines: string[] = []
    const screen = { line: (text = '') => void lines.push(text), paint: (_: string, text: string) => text }
    const branches = ends.map((same, at) => run(at + 1, same)) as never
    printBranches(branches, together(branches), undefined, screen as never)
    return lines.join('\n')
  }
  const chance = said([true, false, true, false, true, false])
  expect(chance).toContain('3 of 6 (95 %: 18.8 % – 81.2 %) end as recorded; 2 distinct runs')
  expect(said([true, true, true])).toContain('3 of 3 end as recorded; all are the same run, which counts once')
  for (const text of [chance, said([true]), said([false])]) {
    expect(text).toContain('another seed changes only what the code draws itself')
    expect(text).not.toContain('could not end otherwise')
  }
})
