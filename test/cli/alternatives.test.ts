import { expect, it } from 'vitest'
import { alternativesOf } from '../../src/cli/forking/alternatives.ts'
import { bestAlternative, reportDecisions } from '../../src/cli/forking/critical.ts'
import { currentFlags, parseTape, serializeTape } from '../../src/tape/index.ts'
import { incidentEvents } from '../debug/incident.ts'

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
  const tried = [1, 1, 4, 4].map((step) => ({ ...alternatives[0]!, step, instead: `another at ${step}` }))
  const branch = (grade: 'ok' | 'bad') => ({ grade, compared: { outcome: { same: grade === 'bad' } } }) as never
  const reports = reportDecisions(decisions, tried, [branch('ok'), branch('bad'), branch('ok'), branch('ok')], 'bad', [
    branch('ok'),
    branch('bad'),
    branch('bad'),
    branch('bad'),
  ])
  expect(reports.map(({ step, effect }) => [step, effect?.value])).toEqual([
    [4, 1],
    [1, 0],
  ])
  const [first] = reports
  expect(first?.effect?.low).toBeLessThan(1)
  expect(first?.effect?.low).toBeGreaterThan(-1)
  expect(bestAlternative(reports, 'bad')).toEqual({ step: 4, instead: 'another at 4' })
  expect(bestAlternative(reports, 'ok')).toBeUndefined()
})
