import { mkdtempSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { byteReportRows } from '../../src/cli/byte-report.ts'
import { DebugSession } from '../../src/debug/index.ts'
import { verdictOf } from '../../src/replay/run-verdict.ts'
import { createRecorder, state, tool } from '../../src/record/index.ts'
import { installReplay, type ReplayResult, replayTape } from '../../src/replay/index.ts'
import { readTape, type StateEvent, type Tape } from '../../src/tape/index.ts'
import type { Replayed } from '../../src/cli/replaying.ts'

const look = tool('look', async (id: number) => ({ id, text: `row ${id}` }))

interface Memory {
  readonly rows: { readonly id: number; readonly text: string }[]
  total: number
}

/** Looks at rows, and leaves what it remembers behind each. */
function agentOf(change: (memory: Memory, turn: number) => void = () => {}, rows = 12) {
  return async (): Promise<number> => {
    const memory: Memory = { rows: [], total: 0 }
    for (let turn = 1; turn <= rows; turn++) {
      memory.rows.push(await look(turn))
      memory.total += turn
      change(memory, turn)
      state('memory', memory)
      state('rows', memory.rows, { every: 5 })
      state('phase', turn < 8 ? 'looks' : 'knows all', { change: 0.5, activity: 5 })
    }
    return memory.rows.length
  }
}

let dir: string
let file: string
let tape: Tape

beforeAll(async () => {
  await installReplay()
  dir = mkdtempSync(join(tmpdir(), 'harvest-states-'))
  const recorder = createRecorder({ dir })
  await recorder.run({ agent: 'rows', id: 'rows' }, agentOf())
  file = recorder.lastTape ?? ''
  tape = readTape(file)
})

afterAll(() => rmSync(dir, { recursive: true, force: true }))

const snapshots = (name: string): readonly StateEvent[] =>
  tape.events.filter((event): event is StateEvent => event.kind === 'state' && event.name === name)
const codes = ({ problems }: ReplayResult): readonly string[] => problems.map(({ code }) => code)

describe('a snapshot', () => {
  it('is the value at the call, whatever becomes of the object', () => {
    const memory = snapshots('memory')
    expect(memory.map(({ call }) => call)).toEqual(Array.from({ length: 12 }, (_, i) => i + 1))
    expect(memory[1]?.data).toEqual({
      rows: [
        { id: 1, text: 'row 1' },
        { id: 2, text: 'row 2' },
      ],
      total: 3,
    })
    expect(memory.at(-1)?.data).toMatchObject({ total: 78 })
  })

  it('is written as what is new since the one before', () => {
    const lines = readFileSync(file, 'utf8')
      .split('\n')
      .filter((line) => line.includes('"name":"memory"'))
    expect(lines.at(-1)).toContain('"like":{')
    expect(lines.at(-1)?.length).toBeLessThan(JSON.stringify(snapshots('memory').at(-1)?.data).length)
  })

  it('is left by the first call, and then where interval, change or activity say so', () => {
    expect(snapshots('rows').map(({ call, thinned }) => [call, thinned])).toEqual([
      [1, true],
      [6, true],
      [11, true],
    ])
    // The first, five steps later, and where it became another one.
    expect(snapshots('phase').map(({ call }) => call)).toEqual([1, 6, 8])
  })

  it('is refused with a limit that is no number', () => {
    expect(() => state('cart', {}, { every: 0 })).toThrow(expect.objectContaining({ code: 'HARVEST_WRAP_ARGUMENT' }))
    expect(() => state('cart', {}, { often: 1 } as never)).toThrow(/HARVEST_WRAP_ARGUMENT/)
  })

  it('is shown by the debugger at each step, and what differs between two', () => {
    const session = new DebugSession(tape)
    expect(session.inspect(3).state.find(({ name }) => name === 'memory')?.data).toMatchObject({ total: 3 })
    expect(session.diff(3, 4).values.filter(({ of, path }) => of === 'state' && path === 'memory/total')).toEqual([
      { of: 'state', path: 'memory/total', before: 3, after: 6 },
    ])
    expect(session.find('mark memory(total > 70)')).toEqual([12])
  })
})

describe('a replay', () => {
  it('in which every snapshot is as recorded is the same, and says how many were compared', async () => {
    const result = await replayTape(tape, agentOf())
    expect(codes(result)).toEqual([])
    const recorded = tape.events.filter(({ kind }) => kind === 'state').length
    expect(result.comparison.states).toEqual({ recorded, same: recorded, other: 0 })
    const rows = byteReportRows(tape, {
      report: { ...result, comparison: result.comparison },
      ended: {},
    } as never as Replayed)
    expect(rows).toContainEqual({ what: 'states', recorded: `${recorded}`, replayed: `${recorded}`, isEqual: true })
  })

  it('in which one is another one is different, by its path', async () => {
    const result = await replayTape(
      tape,
      agentOf((memory, turn) => void (turn === 7 && (memory.total += 1))),
    )
    expect(codes(result)).toEqual(['HARVEST_STATES'])
    expect(verdictOf(result)).toMatchObject({ verdict: 'different' })
    expect(result.drift[0]).toMatchObject({
      class: 'states',
      policy: 'fail',
      path: 'memory.total',
      part: 'state 7, memory',
      recorded: '28',
      live: '29',
      stepNumber: 7,
    })
    expect(result.problems[0]?.message).toContain('The agent was in another state than expected: 6 changed')
  })

  it('that stops earlier names the state that was another one by then', async () => {
    const result = await replayTape(
      tape,
      agentOf((memory, turn) => {
        if (turn === 2) memory.total = 0
        if (turn === 3) throw new Error('lost')
      }),
    )
    expect(codes(result)).toContain('HARVEST_STATES')
    const reported = await replayTape(
      tape,
      agentOf((memory) => void (memory.total = 0)),
      { drift: { states: 'report' } },
    )
    expect(codes(reported)).toEqual([])
    expect(reported.comparison.states?.other).toBeGreaterThan(0)
  })

  it('that leaves a snapshot more or one less is different', async () => {
    const more = await replayTape(tape, async () => {
      const rows = await agentOf()()
      state('memory', { rows })
      // A call of a thinned name may leave none.
      state('rows', [])
      return rows
    })
    expect(more.drift.map(({ part, recorded }) => [part, recorded])).toEqual([['state 13, memory', '(absent)']])
    const less = await replayTape(tape, async () => {
      for (let turn = 1; turn <= 12; turn++) await look(turn)
      return 12
    })
    expect(codes(less)).toEqual(['HARVEST_STATES'])
    expect(less.problems[0]?.message).toContain('18 missing')
  })
})
