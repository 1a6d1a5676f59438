import { describe, expect, it } from 'vitest'
import { Counter } from '../../src/blame/curve.ts'
import { withDrawn } from '../../src/blame/drawn.ts'
import { decidedBy, firstOf } from '../../src/blame/first-step.ts'
import { positionsOf } from '../../src/blame/positions.ts'
import type { StepReport } from '../../src/blame/report.ts'
import type { ForkResult } from '../../src/fork/index.ts'
import { stepsOf, type Tape } from '../../src/tape/index.ts'
import { refundOf, refundRun } from './refund-run.ts'

const recorded = refundOf(2500)
const positions = positionsOf(recorded, 'live')

/** A fork that ended as another tape, its first steps kept. */
function first(other: Tape, keep: number): string {
  const kept = positions.slice(0, keep).reduce((sum, { all }) => sum + all.length, 0)
  const result = { ...other, prefix: { steps: kept } } as unknown as ForkResult
  const position = positions[keep]
  if (position === undefined) throw new TypeError(`no position ${keep}`)
  return firstOf(result, position, stepsOf(recorded))
}

/** The run of {@link refundOf}, with an answer of its tool. */
const answered = (amount: number, result: object): Tape =>
  refundRun([
    {
      calls: [
        { name: 'lookup_order', args: { order_id: 'A-100' }, result: { order_id: 'A-100', total: 25, paid: true } },
        { name: 'refund_policy', args: { country: 'DE' }, result: { country: 'DE', days: 30 } },
      ],
    },
    { calls: [{ name: 'refund', args: { order_id: 'A-100', amount }, result: result as never }] },
    { say: 'done' },
  ])

describe('the first position that a fork resampled', () => {
  it('is the same where a model decided the same, whatever it said beside that', () => {
    expect(first(refundOf(2500), 2)).toBe('same')
    expect(first(refundOf(25), 2)).toBe('answer')
    expect(first(refundRun([]), 0)).toBe('question')
  })

  it('of a tool is another answer, or another question', () => {
    expect(first(answered(2500, { refunded: 2500 }), 3)).toBe('same')
    expect(first(answered(2500, { refunded: 1 }), 3)).toBe('answer')
    expect(first(answered(25, { refunded: 25 }), 3)).toBe('question')
  })

  it('decisions are the calls that models ask for, and words where they ask for none', () => {
    const decided = (tape: Tape, steps: number) => decidedBy({ ...tape, prefix: { steps } } as unknown as ForkResult)
    expect(decided(answered(2500, {}), 0)).toBe(decided(recorded, 0))
    expect(decided(refundOf(25), 0)).not.toBe(decided(recorded, 0))
    const last = stepsOf(recorded).length - 1
    expect(decided(answered(2500, {}), last)).not.toBe(decided(recorded, last))
  })
})

describe('what is confirmed of a position', () => {
  const steps = (isExogenous: boolean, firsts: object): readonly StepReport[] => [
    { position: 0, steps: [1], label: 'x', isExogenous, resampled: { ok: 1, failed: 1, first: firsts } } as never,
  ]
  const marked = (isExogenous: boolean, firsts: object): boolean => {
    const verdict = { kind: 'confirmed', commitments: [{ position: 0 }] } as never
    const { commitments } = withDrawn(verdict, steps(isExogenous, firsts)) as never as {
      commitments: { isDrawn?: true }[]
    }
    return commitments[0]?.isDrawn === true
  }

  it('is of what was drawn where no fork had another answer, and one had the same', () => {
    expect(marked(false, { answer: 0, question: 0, same: 9 })).toBe(true)
    expect(marked(false, { answer: 1, question: 0, same: 8 })).toBe(false)
    expect(marked(false, { answer: 0, question: 1, same: 8 })).toBe(false)
    expect(marked(true, { answer: 0, question: 4, same: 5 })).toBe(true)
    expect(marked(true, { answer: 0, question: 9, same: 0 })).toBe(false)
  })

  it('that is only thought likely is of what was drawn, too', () => {
    const verdict = { kind: 'unresolved', likeliest: { position: 0, chance: 1 } } as never
    const likely = (firsts: object) => withDrawn(verdict, steps(false, firsts))
    expect(likely({ answer: 0, question: 0, same: 9 })).toMatchObject({ likeliest: { isDrawn: true } })
    expect(likely({ answer: 1, question: 0, same: 8 })).toBe(verdict)
  })

  it('is not known where a fork did not say', () => {
    const counter = new Counter()
    const draw = { grade: 'ok', modelCalls: 0, fingerprint: 'a' } as const
    counter.add({ ...draw, first: 'same', decided: 'a' })
    counter.add({ ...draw, first: 'answer', decided: 'b' })
    counter.add({ ...draw, grade: 'ungraded' })
    expect(counter.tally).toMatchObject({ decisions: 2, first: { answer: 1, question: 0, same: 1 } })
    counter.add(draw)
    expect(counter.tally).not.toHaveProperty('first')
  })
})
