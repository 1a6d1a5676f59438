import { describe, expect, it } from 'vitest'
import { gradeAsk } from '../../src/blame/prove-judge.ts'
import { parseCase } from '../../src/cases/index.ts'
import { offTape } from '../../src/live/off-tape.ts'
import type { Json, TapeEvent } from '../../src/tape/index.ts'
import type { MatchOptions } from '../../src/trace/index.ts'
import { refundRun, type ToolTurn } from './refund-run.ts'

type Args = { readonly [key: string]: Json }

const look: ToolTurn = { name: 'lookup_order', args: { order_id: 'A-100' }, result: { total: 25 } }
const told = { order_id: 'A-100', amount: 25, text: 'Refund completed' }
const recorded = refundRun([
  { calls: [look] },
  { calls: [{ name: 'notify', args: told, result: 'sent' }] },
  { say: 'Done.' },
])
const kase = parseCase('case: refund\nagent: desk\ntape: a.tape.jsonl\nexpect: pass\npins: {}\n', 'refund.case.yaml')

/** Grades an ask whose last calls are made, and of which one is refused: the tape has no answer to it. */
async function graded(calls: readonly ToolTurn[], match: MatchOptions = {}, open: readonly string[] = []) {
  const refused = calls.at(-1)!
  const run = refundRun([{ calls: [look] }, { calls }])
  const last = run.events.findLast((event) => event.kind === 'tool')!
  const events = run.events.map((event): TapeEvent => {
    if (event.kind !== 'tool' || (event.n !== last.n && !open.includes(event.name))) return event
    const { settled: _settled, result: _result, ...rest } = event
    return rest
  })
  const problem = offTape(recorded, `${refused.name}(${JSON.stringify(refused.args)})`, undefined)
  const fork = { problems: [{ code: problem.code, message: problem.message }] } as never
  const judge = { tape: recorded, case: kase, match, keep: 0, events: recorded.events }
  return gradeAsk(fork, { events, problems: [problem] }, judge)
}
const notify = (args: Args): ToolTurn => ({ name: 'notify', args: { ...told, ...args } })

describe('an ask that is refused an answer', () => {
  it.each<[what: string, call: ToolTurn]>([
    ['another number', notify({ amount: 2500 })],
    ['another id', notify({ order_id: 'A-101' })],
    ['an argument more', notify({ urgent: true })],
    ['a tool that the case does not call', { name: 'delete_order', args: { order_id: 'A-100' } }],
  ])('is bad by %s', async (_, call) => {
    expect(await graded([call])).toMatchObject({
      grade: 'bad',
      because: expect.stringMatching(/^A call that the case does not make: \w+\(/) as string,
    })
  })

  it.each(['Refund done', '返金が完了しました。', 'We refunded the order.', '25 €', ''])(
    'is no judgement where it words a text otherwise: %s',
    async (text) => {
      expect(await graded([notify({ text })])).toMatchObject({ grade: 'ungraded' })
    },
  )

  it('is none where the case takes other calls, or does not look at what differs', async () => {
    const other = [notify({ amount: 2500 })]
    for (const match of [
      { trace: 'superset' },
      { args: 'ignore' },
      { tools: { notify: 'keys' } },
      { tools: { notify: { args: ['order_id'] } } },
    ] as const)
      expect(await graded(other, match), JSON.stringify(match)).toMatchObject({ grade: 'ungraded' })
    expect(await graded([notify({ text: 'Refund done' })], { args: 'exact' })).toMatchObject({ grade: 'bad' })
  })

  it('is judged by that call, and not by those beside it that are still open', async () => {
    const beside: ToolTurn = { name: 'lookup_order', args: { order_id: 'A-100' } }
    const both = [beside, { name: 'delete_order', args: { order_id: 'A-100' } }]
    expect(await graded(both, {}, ['lookup_order'])).toMatchObject({ grade: 'bad' })
  })
})
