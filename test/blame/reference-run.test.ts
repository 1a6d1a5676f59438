import { expect, test } from 'vitest'
import { referenceOf } from '../../src/blame/reference-run.ts'
import { type CallEvent, stepsOf } from '../../src/tape/index.ts'
import { refundOf, refundRun } from './refund-run.ts'

const bad = refundOf(2500)

test('the good answer to a question is what the donor was answered to the same one', () => {
  const order = { name: 'lookup_order', args: { order_id: 'A-100' } }
  const other = { name: 'lookup_order', args: { order_id: 'B-200' }, result: { total: 70 } }
  const reference = referenceOf(
    refundRun([{ calls: [{ ...order, result: { total: 2500 } }] }, { say: 'done' }]),
    refundRun([{ calls: [other] }, { calls: [{ ...order, result: { total: 25 } }] }, { say: 'done' }], { id: 'good' }),
  )
  expect(reference.about).toBe('the answers of good')
  const recorded = stepsOf(reference.tape)[1]!
  expect(reference.answerFor(2)?.(recorded)).toEqual({ ...recorded, result: { total: 25 } })
})

test('it has no answer to another question of that tool: what was refunded then says nothing of this sum', () => {
  const reference = referenceOf(bad, refundOf(25))
  expect(reference.answerFor(5)).toBeUndefined()
  expect([reference.lacksAt(5), reference.differsAt(5)]).toEqual([true, false])
})

test('models are never answered by it, and it has no answer of a tool it never called', () => {
  const reference = referenceOf(bad, refundRun([{ say: 'no' }]))
  expect([1, 2, 3, 4, 5, 6, 7].map((step) => reference.answerFor(step))).toEqual(Array.from({ length: 7 }))
})

test('what the donor alone was asked stands behind the run, whose steps keep their numbers', () => {
  const { tape } = referenceOf(bad, refundOf(25))
  const steps = stepsOf(tape)
  expect(steps.slice(0, 6)).toEqual(stepsOf(bad))
  expect(steps.slice(6)).toMatchObject([
    { kind: 'tool', name: 'refund', args: { amount: 25 }, result: { refunded: 25 } },
  ])
  const added = steps[6] as CallEvent
  expect(added.n).toBeGreaterThan(Math.max(...bad.events.map(({ n }) => n)))
  expect(added.settled?.[0]).toBeGreaterThan(added.n)
})
