import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { parseExpectation } from '../../src/blame/expectation.ts'
import { createOracle, type GradedRun } from '../../src/blame/oracle.ts'
import { waysToName } from '../../src/blame/ways-to-name.ts'
import { decodeValue, type Json, type Outcome, type Tape } from '../../src/tape/index.ts'
import { refundOf, refundRun } from './refund-run.ts'

/** What is between the quotes of the first way: the expectation to paste. */
function pasted(tape: Tape): string | undefined {
  return waysToName(tape).flatMap((way) => /--bad '([^']*)'$/.exec(way)?.[1] ?? [])[0]
}

async function gradeBy(bad: string, tape: Tape): Promise<string> {
  const outcome = tape.close?.outcome
  const run: GradedRun = {
    tape,
    outcome: {
      status: 'returned',
      value: outcome?.status === 'returned' ? decodeValue(outcome.value ?? null) : undefined,
    },
    events: tape.events,
    problems: [],
  }
  return (await createOracle({ by: 'expectations', ok: [], bad: [parseExpectation(bad, '--bad')] }).grade(run)).grade
}

function runWith(args: { readonly [key: string]: Json }, outcome: Outcome, name = 'refund'): Tape {
  return refundRun([{ calls: [{ name, args }] }, { say: 'Done.' }], { outcome })
}

describe('how to say what was wrong about a run', () => {
  test('names its last call, and what it returned', () => {
    expect(waysToName(refundOf(2500))).toEqual([
      `if what it did was bad: --bad 'refund(amount: 2500, order_id: "A-100")'`,
      "to say what would be right, such as refund(…) or answer=…: --ok '<right>'",
    ])
  })

  test('without a call names what it returned; of a run that did neither only people know it', () => {
    const silent = (outcome: Outcome) => waysToName(refundRun([{ say: 'Done.' }], { outcome }))
    expect(silent({ status: 'returned', value: { done: true, answer: 'No.' } })[0]).toBe(
      "if what it did was bad: --bad 'done=true'",
    )
    expect(silent({ status: 'threw', error: { $type: 'error', name: 'E', message: 'x' } })).toEqual([
      "to say what would be right: --ok '<right>'",
    ])
  })

  test('for every call and value, what is printed can be pasted and grades the recorded run as bad', async () => {
    const scalar = fc.oneof(
      fc.string(),
      fc.integer(),
      fc.boolean(),
      fc.constantFrom("it's", '\u001b[31m', 'a\nb', '=', '*'),
    )
    const args = fc.dictionary(fc.string(), fc.oneof(scalar, fc.array(scalar, { maxLength: 3 })), { maxKeys: 3 })
    const name = fc.oneof(fc.constantFrom('refund', 'a b', 'x(', 'never'), fc.string({ minLength: 1 }))
    let typed = 0
    await fc.assert(
      fc.asyncProperty(args, args, name, async (called, value, tool) => {
        const tape = runWith(called, { status: 'returned', value }, tool)
        const bad = pasted(tape)
        if (bad === undefined) return
        typed++
        expect(await gradeBy(bad, tape)).toBe('bad')
      }),
      { seed: 15, numRuns: 100 },
    )
    expect(typed).toBeGreaterThan(50)
  })
})
