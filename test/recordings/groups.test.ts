import { basename } from 'node:path'
import { describe, expect, test } from 'vitest'
import { groupTapes, type TapeGroups } from '../../src/recordings/index.ts'
import { call, put, putTape, scratch } from './make.ts'
import { modelCall } from './model-call.ts'

const on = (day: number) => ({ startedAt: `2026-03-0${day}T05:06:07.089Z` })
const threw = (name: string) => ({
  outcome: { status: 'threw' as const, error: { $type: 'Error', name, message: 'x' } },
})

function recordings(): string {
  const folder = scratch()
  const refund = [modelCall(1, { tools: ['lookup'] }), modelCall(20, { tools: ['refund'] }), modelCall(40)]
  putTape(folder, 'inbox/a1', { header: { id: 'a1', ...on(1) }, events: refund })
  // Asked once more for the same, and in another order within one answer: the same decisions.
  const again = [
    modelCall(1, { tools: ['lookup'] }),
    modelCall(20, { tools: ['lookup'] }),
    modelCall(40, { tools: ['refund'] }),
  ]
  putTape(folder, 'inbox/a2', { header: { id: 'a2', ...on(2) }, events: again })
  putTape(folder, 'inbox/b1', {
    header: { id: 'b1', ...on(3) },
    events: [modelCall(1, { tools: ['lookup', 'policy'] })],
  })
  putTape(folder, 'inbox/b2', {
    header: { id: 'b2', ...on(4) },
    events: [modelCall(1, { tools: ['policy', 'lookup'] })],
  })
  putTape(folder, 'inbox/b3', {
    header: { id: 'b3', ...on(5) },
    events: [modelCall(1, { tools: ['policy', 'lookup'] })],
  })
  putTape(folder, 'inbox/late', { header: { id: 'late', ...on(6) }, events: refund, close: threw('TypeError') })
  putTape(folder, 'inbox/other', { header: { id: 'other', agent: 'search', ...on(7) }, events: refund })
  putTape(folder, 'inbox/cut', { header: { id: 'cut', ...on(8) }, events: refund, close: null })
  putTape(folder, 'inbox/tools', {
    header: { id: 'tools', ...on(9) },
    events: [call(1, 'search', {}), call(5, 'refund', {})],
  })
  return folder
}

const said = ({ groups }: TapeGroups) =>
  groups.map(({ count, agent, decisions, ending, newest }) => [
    count,
    agent,
    decisions.join(' → '),
    ending,
    basename(newest.file, '.tape.jsonl'),
  ])

describe('groups of runs', () => {
  test('are of one agent, with the same decisions in the same order and the same ending, the largest first', async () => {
    const folder = recordings()
    const expected = [
      [3, 'refund', 'lookup ∥ policy', 'returned', 'b3'],
      [2, 'refund', 'lookup → refund', 'returned', 'a2'],
      [1, 'refund', 'search → refund', 'returned', 'tools'],
      [1, 'refund', 'lookup → refund', 'truncated', 'cut'],
      [1, 'search', 'lookup → refund', 'returned', 'other'],
      [1, 'refund', 'lookup → refund', 'threw TypeError', 'late'],
    ]
    // First without an index, then by it.
    expect(said(await groupTapes(folder))).toEqual(expected)
    const found = await groupTapes(folder)
    expect(said(found)).toEqual(expected)
    expect(found.groups[0]).toMatchObject({
      first: Date.parse(on(3).startedAt),
      last: Date.parse(on(5).startedAt),
    })
    expect(found.total).toBe(9)
  })

  test('are of what a filter leaves, and a limit counts them', async () => {
    const folder = recordings()
    expect(said(await groupTapes(folder, { filter: { outcome: 'threw' } }))).toEqual([
      [1, 'refund', 'lookup → refund', 'threw TypeError', 'late'],
    ])
    const some = await groupTapes(folder, { limit: 2 })
    expect([some.groups.length, some.more]).toEqual([2, 4])
    expect(said(await groupTapes(folder, { filter: { agent: 'nobody' } }))).toEqual([])
  })

  test('hold a tape that was written since, and none that is gone or no tape', async () => {
    const folder = recordings()
    await groupTapes(folder)
    putTape(folder, 'inbox/a3', {
      header: { id: 'a3', ...on(9) },
      events: [modelCall(1, { tools: ['lookup', 'policy'] })],
    })
    put(folder, 'inbox/noise.tape.jsonl', 'not a tape\n')
    const found = await groupTapes(folder)
    expect(said(found)[0]).toEqual([4, 'refund', 'lookup ∥ policy', 'returned', 'a3'])
    expect(found.unreadable.map(({ file }) => basename(file))).toEqual(['noise.tape.jsonl'])
  })
})
