import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { describe, expect, test } from 'vitest'
import type { ForkSource } from '../../src/blame/index.ts'
import { type Cell, gridCells, tapesOf } from '../../src/validation/grid/cells.ts'
import type { EngineDiagnosis, Engine } from '../../src/validation/grid/diagnosis.ts'
import { blameEngine } from '../../src/validation/grid/engine.ts'
import { gatesOf } from '../../src/validation/grid/gates.ts'
import {
  cellsOfReport,
  compareWithReport,
  engineReport,
  type MeasuredCell,
  readReport,
  writeReport,
} from '../../src/validation/grid/index.ts'
import { measureCell } from '../../src/validation/grid/measure.ts'
import { measurePeeking } from '../../src/validation/grid/peeking.ts'
import { expectedOf, scoreTape } from '../../src/validation/grid/score.ts'
import { addCounts } from '../../src/validation/grid/tally.ts'

const cells = gridCells()
const signal = new AbortController().signal

describe('the grid', () => {
  test('has every family at every length, without noise and with it, each cell once', () => {
    expect(new Set(cells.map(({ id }) => id)).size).toBe(cells.length)
    const groups = new Set(cells.flatMap(({ families }) => families.map((name) => name.split('.')[0])))
    expect([...groups].sort()).toEqual(['F0', 'F1', 'F10', 'F2', 'F3', 'F4', 'F5', 'F6', 'F7', 'F8', 'F9'])
    for (const length of [20, 50, 100, 200])
      for (const subject of ['F0.dropped_message', 'F2', 'F5.and_3', 'F9', 'F10'])
        expect(cells.filter((one) => one.length === length && one.subject === subject).length).toBeGreaterThanOrEqual(2)
  })

  test('no two tapes of a cell are alike, and more tapes begin with the same ones', () => {
    const cell = cellOf('F4 n=50 slip=.01 drop>=.6')
    const shapes = (count: number): readonly string[] =>
      [...tapesOf(cell, count, 5)].map(({ planted }) => JSON.stringify(planted.model.places))
    const many = shapes(60)
    expect(new Set(many).size).toBe(60)
    expect(many.slice(0, 10)).toEqual(shapes(10))
  })

  test('a cell with a drop has tapes of that drop alone', () => {
    for (const id of ['F5.or_2 n=50 slip=.01 drop>=.6', 'F5.or_2 n=50 slip=.01 drop .4-.6'])
      for (const { truth } of tapesOf(cellOf(id), 20, 5))
        expect(truth.drop >= 0.6 ? 'drop>=.6' : truth.drop >= 0.4 ? 'drop .4-.6' : 'less').toBe(cellOf(id).band)
  })
})

describe('scoring', () => {
  const [tape] = [...tapesOf(cellOf('F4 n=20 exact'), 1, 5)]
  const about = { truth: tape!.truth, decoys: tape!.planted.decoys, isPassing: false, isExact: true }
  const right = tape!.truth.commitment
  const [decoy] = tape!.planted.decoys

  test.each([
    ['the right step, certified', said('confirmed', [right]), { outcome: 'R', isTop1: true, isFalseBlame: false }],
    ['the right step, not certified', { ...said('unresolved', []), ranking: [right] }, { outcome: 'r', isTop1: true }],
    ['a step that does nothing, certified', said('confirmed', [decoy!]), { outcome: 'F', isFalseBlame: true }],
    [
      'a step that does nothing, guessed',
      { ...said('unresolved', []), ranking: [decoy!] },
      { outcome: 'a', isTop1: false },
    ],
    ['that nothing could save it', said('never', []), { outcome: 'F', isFalseCertificate: true }],
    [
      'the right step second',
      { ...said('unresolved', []), ranking: [decoy!, right] },
      { isTop3: true, reciprocalRank: 0.5 },
    ],
  ])('%s', (_, found, wanted) => {
    expect(expectedOf(about)).toBe('step')
    expect(scoreTape(about, found)).toMatchObject(wanted)
  })

  test('a name for a run that went well is false blame', () => {
    const passing = { ...about, isPassing: true }
    expect(scoreTape(passing, said('confirmed', [right])).isFalseBlame).toBe(true)
    expect(scoreTape(passing, said('nothing', []))).toMatchObject({ isFalseBlame: false, outcome: 'R' })
  })
})

describe('the engine', () => {
  test('keeps every promise on a sample of the cells', async () => {
    const sample = cells.filter(({ length }, at) => length === 20 || (length === 50 && at % 3 === 0))
    const measured = await measure(sample, 3, blameEngine)
    expect(broken(measured)).toEqual([])
    expect(gatesOf(measured, [], 'sample').length).toBeGreaterThan(12)
  })

  // The validation itself has to be able to fail.
  const sabotaged: readonly (readonly [string, Engine, readonly string[], readonly string[]])[] = [
    [
      'names the step before the right one',
      async (source, asked) => {
        const found = await blameEngine(source, asked)
        const earlier = found.named.map((place) => Math.max(0, place - 1))
        return { ...found, named: earlier, ranking: earlier }
      },
      ['F5.single n=20 exact', 'F0.dropped_message n=50 exact'],
      ['F0 parity, top-1', 'exact tail, top-1', 'false certificates'],
    ],
    [
      'certifies its first guess',
      async (source, asked) => {
        const found = await blameEngine(source, asked)
        return { ...found, said: 'confirmed', named: found.ranking.length === 0 ? [0] : found.ranking }
      },
      ['F5.erosion n=50 slip=.01', 'F7.environment n=50 slip=.01'],
      [
        'self-correcting and gradual, right or no certificate',
        'false certificates',
        'negative controls, a step was blamed',
      ],
    ],
    [
      'has no control arm',
      flipsWithoutControl,
      ['F7.no_op_mutation n=50 slip=.03'],
      ['negative controls, a step was blamed'],
    ],
    [
      'does not run what the code draws alone',
      ({ drawAgain: _, ...source }, asked) => blameEngine(source, asked),
      ['F7.drawn first n=20 exact', 'F7.drawn any n=50 slip=.01', 'F7.drawn any n=20 quiet chance=.3'],
      [
        'false certificates',
        'false claims of any kind',
        'what code draws, not what a model answers: no answer is named',
      ],
    ],
    [
      'takes back what was shown of an answer, for some draw',
      ({ drawAgain: _, ...source }, asked) => blameEngine({ ...source, drawAgain: async () => 'ok' }, asked),
      ['F5.single n=20 exact', 'F5.single n=50 slip=.01 drop>=.6 beside a draw, same'],
      ['exact tail, top-1', 'noisy tail, certified'],
    ],
    [
      'takes ten forks at every step',
      async (source, asked) => ({ ...(await blameEngine(source, asked)), forks: 10 * source.positions.length }),
      ['F5.single n=50 exact', 'F5.single n=50 slip=.01 drop>=.6'],
      ['exact tail, forks over ceil(log2 n)', 'noisy tail, mean forks at n = 50'],
    ],
    [
      'gives intervals of half their width',
      async (source, asked) => {
        const found = await blameEngine(source, asked)
        return { ...found, intervals: found.intervals.map((one) => ({ ...one, low: (one.low + one.high) / 2 })) }
      },
      ['F5.single n=50 slip=.01 drop>=.6'],
      ['coverage of the intervals'],
    ],
  ]
  test.each(sabotaged)('an engine that %s breaks its promises', async (_, engine, ids, promises) => {
    const measured = await measure(ids.map(cellOf), 12, engine)
    expect(broken(measured)).toEqual(expect.arrayContaining([...promises]))
  })
})

describe('the interval that may be looked at any time', () => {
  test('hardly ever misses, where the interval for display does often', () => {
    const tallies = measurePeeking(60, 5)
    const [missed, of] = addCounts(tallies.map(({ everMissed }) => everMissed))
    const [missedByWilson] = addCounts(tallies.map(({ everMissedByWilson }) => everMissedByWilson))
    expect(missed / of).toBeLessThan(0.05)
    expect(missedByWilson / of).toBeGreaterThan(0.25)
  })
})

describe('the report', () => {
  test('reads as it was written, and says nothing of the machine', async () => {
    const folder = await mkdtemp(join(tmpdir(), 'harvest-validate-'))
    try {
      const file = join(folder, 'validation.json')
      const measured = await measure([cellOf('F5.and_2 n=20 exact')], 5, blameEngine)
      const peeking = measurePeeking(5, 5)
      const result = { seed: 5, tapes: 5, cells: measured, peeking, gates: gatesOf(measured, peeking, 'full') }
      await writeReport(file, { engine: engineReport(result) }, '2026-01-02')
      expect(cellsOfReport(await readReport(file))).toEqual(measured)
      const text = await readFile(file, 'utf8')
      expect(text).not.toMatch(/Ms"|hostname|\/home|\/work|linux|darwin/)
    } finally {
      await rm(folder, { recursive: true, force: true })
    }
  })

  test('one that is missing or no report is refused with what to do', async () => {
    const folder = await mkdtemp(join(tmpdir(), 'harvest-validate-'))
    try {
      const file = join(folder, 'validation.json')
      await expect(readReport(file)).rejects.toMatchObject({ code: 'HARVEST_VALIDATE_REPORT' })
      for (const text of ['{', '[]', '{"format":1,"engine":{"seed":1,"cells":[{}],"peeking":[]}}']) {
        await writeFile(file, text)
        await expect(readReport(file)).rejects.toMatchObject({ code: 'HARVEST_VALIDATE_REPORT' })
      }
    } finally {
      await rm(folder, { recursive: true, force: true })
    }
  })

  test('a figure that leaves its interval is named with its cell; the same engine changes nothing', async () => {
    const id = 'F5.single n=20 exact'
    const committed = await measure([cellOf(id)], 60, blameEngine)
    const again = await measure([cellOf(id)], 12, blameEngine)
    expect(compareWithReport(again, committed)).toMatchObject({ tapes: 12, changed: 0, departures: [], unknown: [] })

    const blind: Engine = () => Promise.resolve(said('unresolved', []))
    const { changed, departures } = compareWithReport(await measure([cellOf(id)], 12, blind), committed)
    expect(changed).toBe(12)
    expect(departures.map(({ cell, figure }) => `${cell}: ${figure}`)).toEqual([`${id}: top1`, `${id}: certified`])
  })
})

describe('the committed report', () => {
  test('holds 200 tapes of every cell of the grid, and every promise was kept', async () => {
    const committed = await readReport('recordings/validation.json')
    const reported = cellsOfReport(committed)
    expect(reported.map(({ cell }) => cell.id)).toEqual(cells.map(({ id }) => id))
    expect(reported.filter(({ tally }) => tally.tapes !== 200 || tally.outcomes.length !== 200)).toEqual([])
    expect(gatesOf(reported, committed.engine.peeking, 'full')).toEqual(committed.engine.gates)
    expect(committed.engine.gates.filter(({ isMet }) => !isMet)).toEqual([])
  })

  test('says of a sample of its tapes what blame says of them now', async () => {
    const committed = await readReport('recordings/validation.json')
    // Mutations at every place of a long run take too long for a test.
    const quick = cells.filter(({ asks, length }) => asks === 'run' || length === 20)
    const measured: MeasuredCell[] = []
    for (const cell of quick.filter((_, at) => at % 4 === 0))
      measured.push(await measureCell(cell, 3, committed.engine.seed, blameEngine))
    const { tapes, changed, departures, unknown } = compareWithReport(measured, cellsOfReport(committed))
    expect({ departures, unknown }).toEqual({ departures: [], unknown: [] })
    expect(tapes).toBeGreaterThan(200)
    // Logarithms differ in their last bit between engines, and a tie may fall the other way.
    expect(changed / tapes).toBeLessThan(0.05)
  })
})

function cellOf(id: string): Cell {
  const cell = cells.find((one) => one.id === id)
  if (cell === undefined) throw new Error(`there is no cell ${id}`)
  return cell
}

async function measure(some: readonly Cell[], tapes: number, engine: Engine): Promise<readonly MeasuredCell[]> {
  const measured: MeasuredCell[] = []
  for (const cell of some) measured.push(await measureCell(cell, tapes, 20_261_121, engine))
  return measured
}

function broken(measured: readonly MeasuredCell[]): readonly string[] {
  return gatesOf(measured, [], 'sample').flatMap(({ name, isMet }) => (isMet ? [] : [name]))
}

function said(what: EngineDiagnosis['said'], named: readonly number[]): EngineDiagnosis {
  return {
    said: what,
    named,
    ranking: named,
    intervals: [],
    forks: 1,
    columnForks: 0,
    modelCalls: 1,
    undefinedForks: 0,
  }
}

/** Flip-rates against a constant: early steps of a noisy agent look guilty, whatever is done to them. */
async function flipsWithoutControl(source: ForkSource): Promise<EngineDiagnosis> {
  const named: number[] = []
  for (const position of source.positions.keys()) {
    let flips = 0
    for (let mutant = 0; mutant < 10; mutant++) {
      const { grade } = await source.draw({ keep: position, mutated: { position, mutant }, seed: mutant }, signal)
      if (grade !== source.recorded) flips++
    }
    if (flips >= 3) named.push(position)
  }
  return said(named.length > 0 ? 'confirmed' : 'nothing', named)
}
