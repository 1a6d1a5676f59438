import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import {
  blameFailedRun,
  type BlameOptions,
  type ForkSource,
  type Grade,
  type BlameVerdict,
} from '../../src/blame/index.ts'
import { confirmCommitment, confirmNever } from '../../src/blame/confirm.ts'
import { openInquiry } from '../../src/blame/settings.ts'
import { cliff, curveSource, type Plant, plantedSource, random, seedOf } from './sources.ts'

/** Blames so many runs, each with a curve of its own. */
async function runs(name: string, count: number, curve: (at: () => number) => number[], options: BlameOptions = {}) {
  const verdicts: { rates: number[]; verdict: BlameVerdict; forks: number }[] = []
  for (let run = 0; run < count; run++) {
    const rates = curve(random(seedOf(name, run)))
    const { made, source } = curveSource(rates, seedOf(name, run, 'forks'))
    const { verdict } = await blameFailedRun(source, { parallel: 1, ...options })
    verdicts.push({ rates, verdict, forks: made.length })
  }
  return verdicts
}

function named(verdict: BlameVerdict): number | undefined {
  return verdict.kind === 'confirmed' ? verdict.commitments.at(-1)?.position : undefined
}

/** The position behind which the curve is clearly lower for the last time. */
function lastDrop(rates: readonly number[]): number {
  return rates.findLastIndex((rate, i) => rate > (rates[i + 1] ?? 0) + 0.1)
}

/** Ends well less often after every second step; what is lost at each is the same. */
const coarse = Array.from({ length: 21 }, (_, keep) => (keep < 2 ? 1 : 0.95 * (1 - Math.floor(keep / 2) / 10)))

const mean = (values: readonly number[]): number => values.reduce((sum, one) => sum + one, 0) / values.length

describe('a failed run with a noisy tail', () => {
  it.each([
    // Shape, steps, rates, forks at once; at least this share right, at most so many forks on average.
    // A dozen of them look behind the position found, for a run that recovered there.
    [50, 0.9, 0.02, 1, 1, 50],
    [50, 0.7, 0.1, 1, 0.95, 110],
    [50, 0.9, 0.02, 8, 1, 65],
    [200, 0.9, 0.02, 1, 1, 52],
    [200, 0.7, 0.1, 8, 0.95, 145],
  ])(
    'of %i steps, falling from %d to %d (%i at once), is blamed on the right step',
    async (steps, high, low, parallel, share, most) => {
      const all = await runs(`${steps}/${high}`, 40, (at) => cliff(steps, Math.floor(at() * steps), high, low), {
        parallel,
      })
      const right = all.filter(({ rates, verdict }) => named(verdict) === lastDrop(rates))
      const wrong = all.filter(
        ({ rates, verdict }) => verdict.kind === 'confirmed' && named(verdict) !== lastDrop(rates),
      )
      expect(right.length / all.length).toBeGreaterThanOrEqual(share)
      expect(wrong).toHaveLength(0)
      expect(mean(all.map(({ forks }) => forks))).toBeLessThan(most)
    },
  )

  it('that could not be saved from its beginning is no step at all', async () => {
    const all = await runs('never', 20, () => Array<number>(30).fill(0.01))
    for (const { verdict } of all) {
      expect(verdict).toMatchObject({ kind: 'never', how: 'certified' })
      if (verdict.kind === 'never') expect(verdict.rate?.high).toBeLessThan(0.2)
    }
  })

  it('of an agent that seldom gets through is not called hopeless for that, when a late step lost it', async () => {
    const all = await runs('late', 12, (at) => {
      const position = 85 + Math.floor(at() * 14)
      return Array.from({ length: 100 }, (_, keep) => (keep > position ? 0 : 0.97 ** (100 - keep)))
    })
    expect(all.filter(({ verdict }) => verdict.kind === 'never')).toHaveLength(0)
  })

  it('whose chances decline step by step names none, and says between which steps, and what ended it', async () => {
    const all = await runs('gradual', 12, () => Array.from({ length: 50 }, (_, keep) => 0.9 * (1 - keep / 50)), {
      limits: { forks: 200 },
    })
    for (const { verdict } of all) {
      expect(['unresolved', 'diffuse']).toContain(verdict.kind)
      if (verdict.kind !== 'unresolved') continue
      expect(verdict.stoppedBy).toBe('forks')
      expect(verdict.range.from).toBeLessThanOrEqual(verdict.range.to)
      expect(verdict.forksNeeded).toBeGreaterThan(0)
    }
  })

  it('with a small effect alone is given up early, unless a number of forks is named; nothing is claimed', async () => {
    const small = (at: () => number) => cliff(30, Math.floor(at() * 29), 0.2, 0)
    const early = await runs('small', 30, small, { limits: { costUsd: 1000 } })
    const late = await runs('small', 30, small, { limits: { forks: 400 } })
    for (const { rates, verdict } of early) {
      if (verdict.kind === 'confirmed') expect(named(verdict)).toBe(lastDrop(rates))
      else expect(verdict).toMatchObject({ kind: 'unresolved', stoppedBy: 'smallEffect' })
    }
    expect(mean(early.map(({ forks }) => forks))).toBeLessThan(120)
    expect(mean(late.map(({ forks }) => forks))).toBeGreaterThan(250)
  })

  it('whose one drop is smaller than the minimum effect names none, and says where it is', async () => {
    const all = await runs('too small', 12, () => cliff(3, 1, 0.5, 0), { tau: 0.9, limits: { forks: 400 } })
    const open = all.map(({ verdict }) => verdict).filter(({ kind }) => kind === 'diffuse' || kind === 'unresolved')
    for (const verdict of open) expect(verdict).toMatchObject({ smaller: 1 })
    expect([open.length > 0, all.filter(({ verdict }) => verdict.kind === 'confirmed')]).toEqual([true, []])
  })

  it('with a drop of .4 is not given up', async () => {
    const all = await runs('not given up', 30, (at) => cliff(30, Math.floor(at() * 29), 0.4, 0), {
      limits: { costUsd: 1000 },
    })
    const right = all.filter(({ rates, verdict }) => named(verdict) === lastDrop(rates))
    expect(right.length).toBeGreaterThanOrEqual(27)
    expect(mean(all.map(({ forks }) => forks))).toBeLessThan(120)
  })

  it('names no step where chance behind the last one saves runs, and names the last one where it does not', async () => {
    const own = async (kept: number) => {
      const found: (number | undefined)[] = []
      for (let run = 0; run < 20; run++) {
        const { source } = curveSource([...cliff(10, 9, 0.6, 0), kept], seedOf('own chance', kept, run))
        const positions = source.positions.slice(0, 10)
        const { verdict } = await blameFailedRun({ ...source, positions, drawsLast: true })
        found.push(named(verdict))
      }
      return found
    }
    expect(await own(0.6)).toEqual(new Array(20).fill(undefined))
    expect((await own(0)).filter((position) => position === 9).length).toBeGreaterThanOrEqual(18)
  })

  it('is named where the last step takes most of the chance, and what the agent draws behind it still saves some runs', async () => {
    const verdicts: BlameVerdict[] = []
    for (let run = 0; run < 20; run++) {
      const { source } = curveSource([...cliff(10, 9, 0.9, 0), 0.4], seedOf('some chance left', run))
      const positions = source.positions.slice(0, 10)
      const { verdict } = await blameFailedRun({ ...source, positions, drawsLast: true })
      verdicts.push(verdict)
    }
    const last = verdicts.filter((verdict) => named(verdict) === 9)
    expect(last.length).toBeGreaterThanOrEqual(18)
    const open = last.filter((verdict) => 'isStillRecoverable' in verdict && verdict.isStillRecoverable === true)
    expect(open.length).toBeGreaterThan(10)
  })

  it('is not certified by luck: where a step takes half of tau, a test certifies it less often than its alpha', async () => {
    let certified = 0
    const tests = 400
    for (let run = 0; run < tests; run++) {
      const { source } = curveSource([0.6, 0.5], seedOf('half of tau', run))
      const result = await confirmCommitment(openInquiry(source, {}), 0, 0.025, {
        note: () => undefined,
        isFar: () => false,
      })
      if (typeof result === 'object') certified++
    }
    // One that is asked for any difference at all certifies 30 of them.
    expect(certified / tests).toBeLessThan(0.025)
  })

  it('is not called hopeless too soon: where a quarter of forks saves it, a test says so less often than its alpha', async () => {
    let never = 0
    const tests = 400
    for (let run = 0; run < tests; run++) {
      const { source } = curveSource(cliff(12, 3, 0.25, 0), seedOf('too soon', run))
      const result = await confirmNever(openInquiry(source, {}), 0.025, () => undefined)
      if (typeof result === 'object') never++
    }
    // One that stops as soon as some rate is ruled out says so of a third of them.
    expect(never / tests).toBeLessThan(0.025)
  })

  it('that recovered and was lost again is blamed on the later step', async () => {
    const all = await runs('recover', 20, (at) => {
      const [first, second] = [5 + Math.floor(at() * 10), 25 + Math.floor(at() * 20)]
      return Array.from({ length: 50 }, (_, keep) =>
        keep > second ? 0.02 : keep > first && keep <= first + 6 ? 0.3 : 0.8,
      )
    })
    const right = all.filter(({ rates, verdict }) => named(verdict) === lastDrop(rates))
    expect(right.length).toBeGreaterThanOrEqual(19)
  })

  it('that was lost in two steps is blamed on both, in their order', async () => {
    const { source } = curveSource(
      Array.from({ length: 40 }, (_, keep) => (keep <= 9 ? 0.95 : keep <= 29 ? 0.4 : 0.01)),
      3,
    )
    const { verdict } = await blameFailedRun(source)
    expect(verdict).toMatchObject({ kind: 'confirmed', commitments: [{ position: 9 }, { position: 29 }] })
  })

  it('is claimed with the pairs, the error and the evidence that the claim rests on', async () => {
    const { source } = curveSource(cliff(12, 5, 0.9, 0.02), 1)
    const { curve, isDeterministic, verdict } = await blameFailedRun(source, { parallel: 1 })
    expect(isDeterministic).toBe(false)
    if (verdict.kind !== 'confirmed') throw new Error(verdict.kind)
    const [commitment] = verdict.commitments
    expect(commitment).toMatchObject({ position: 5, how: 'certified' })
    expect(commitment?.alpha).toBeCloseTo(0.0375, 12)
    expect(commitment?.evidence).toBeGreaterThanOrEqual(1 / 0.0375)
    expect(commitment?.difference).toBeGreaterThanOrEqual(0.2)
    expect(commitment?.resampled.forks).toBe(commitment?.kept.forks)
    // Fresh: the forks that found it are not among the pairs.
    expect(curve[5]?.ok).toBeGreaterThan(commitment?.resampled.ok ?? 0)
  })

  it('is held against the recorded run itself at the last step', async () => {
    const { source } = curveSource(cliff(10, 9, 0.9, 0), 2)
    const { verdict } = await blameFailedRun(source)
    expect(verdict).toMatchObject({ kind: 'confirmed', commitments: [{ position: 9, kept: { ok: 0, forks: 0 } }] })
  })

  it('is not certified to be lost from its beginning where what cannot be graded may be what ends well', async () => {
    // A fifth of them would end well, and not one of these can be graded.
    const lost = (each: number) => {
      let made = 0
      return curveSource(cliff(6, 5, 0, 0), 3, () => (++made % each === 0 ? 'ungraded' : undefined))
    }
    const { verdict } = await blameFailedRun(lost(6).source)
    expect(verdict.kind).not.toBe('never')
    // A few of many do not hide that the others fail.
    const few = await blameFailedRun(lost(15).source)
    expect(few.verdict).toMatchObject({ kind: 'never', how: 'certified', ok: 0, lost: expect.any(Number) as number })
    expect(few.verdict.kind === 'never' && few.verdict.rate!.high).toBeLessThan(0.2)
  })

  it.each(['undefined', 'ungraded'] as const)(
    'is given no verdict when more than a fifth of the forks are %s',
    async (grade) => {
      const { source } = curveSource(cliff(20, 8, 0.9, 0.05), 4, ({ keep, seed }) =>
        keep % 2 === 0 && seed % 2 === 0 ? grade : undefined,
      )
      const { verdict } = await blameFailedRun(source)
      expect(verdict).toMatchObject({ kind: 'undecidable' })
      if (verdict.kind !== 'undecidable') return
      expect(verdict[grade]).toBeGreaterThan(verdict.forks / 5)
      expect(verdict.positions.every((keep) => keep % 2 === 0)).toBe(true)
    },
  )

  it.each([
    [2 / 3, 'undecidable'],
    [1 / 6, 'unresolved'],
  ] as const)(
    'is told how few of the forks that a limit allowed tell something: %d without a grade',
    async (share, kind) => {
      let made = 0
      const { source } = curveSource(cliff(8, 4, 0.6, 0.3), 4, () =>
        Math.floor(++made * share) > Math.floor((made - 1) * share) ? 'ungraded' : undefined,
      )
      const { verdict } = await blameFailedRun(source, { limits: { forks: 9 }, parallel: 1 })
      expect(verdict).toMatchObject({ kind })
      expect(verdict).not.toHaveProperty(kind === 'undecidable' ? 'likeliest' : 'ungraded')
    },
  )

  it('is blamed all the same when the forks of a step never tell anything', async () => {
    const { made, source } = curveSource(cliff(40, 18, 0.97, 0.01), 6, ({ keep }) =>
      keep === 17 ? 'undefined' : undefined,
    )
    const { verdict } = await blameFailedRun(source, { parallel: 1 })
    expect(verdict).toMatchObject({ kind: 'confirmed', commitments: [{ position: 18 }] })
    expect(made.filter(({ keep }) => keep === 17)).toHaveLength(2)
  })

  it('is given no verdict when what remains to be told lies with forks that never tell anything', async () => {
    const { made, source } = curveSource(cliff(40, 18, 0.97, 0.01), 6, ({ keep }) =>
      keep === 19 ? 'undefined' : undefined,
    )
    const { verdict } = await blameFailedRun(source, { parallel: 1 })
    expect(verdict).toMatchObject({ kind: 'undecidable', undefined: 2 })
    if (verdict.kind === 'undecidable') expect(verdict.positions).toContain(19)
    expect(made.length).toBeLessThan(100)
  })

  it('counts crashes and timeouts as failures, and leaves out the few forks that tell nothing', async () => {
    const odd: readonly Grade[] = ['crash', 'timeout', 'bad']
    const { source } = curveSource(cliff(20, 8, 1, 0), 4, ({ keep, seed }) =>
      seed % 9 === 8 ? 'undefined' : keep > 8 ? odd[seed % 3] : 'ok',
    )
    const { verdict } = await blameFailedRun(source)
    expect(verdict).toMatchObject({ kind: 'confirmed', commitments: [{ position: 8, difference: 1 }] })
  })

  it('that ends in a block of steps names the one of them that decided', async () => {
    const rates = cliff(6, 3, 0.9, 0.02)
    const { source } = curveSource(rates, 7)
    const blocks: ForkSource = {
      ...source,
      splits: true,
      positions: source.positions.map((one, i) => (i === 3 ? { ...one, steps: [4, 5, 6] } : one)),
      async draw(spec, signal) {
        const draw = await source.draw(spec, signal)
        // Drawn anew alone, step 5 saves the run; its neighbours do not.
        return spec.only === undefined || spec.only.includes(5) ? draw : { ...draw, grade: 'bad' }
      },
    }
    const { verdict } = await blameFailedRun(blocks)
    if (verdict.kind !== 'confirmed') throw new Error(verdict.kind)
    const members = verdict.commitments[0]?.members?.map(({ isConfirmed, step }) => [step, isConfirmed])
    expect(members).toEqual([
      [4, false],
      [5, true],
      [6, false],
    ])
  })

  it('is blamed within limits, and says what is likely still needed', async () => {
    const { made, source } = curveSource(cliff(50, 20, 0.7, 0.1), 9)
    const { verdict } = await blameFailedRun(source, { limits: { costUsd: 5 } })
    expect(verdict).toMatchObject({ kind: 'unresolved', stoppedBy: 'costUsd' })
    expect(made.reduce((sum, { keep }) => sum + 0.01 * (50 - keep), 0)).toBeLessThanOrEqual(5)
    if (verdict.kind === 'unresolved') expect(verdict.forksNeeded).toBeGreaterThan(10)
  })
})

const archetypes: readonly (readonly [string, Omit<Plant, 'count'>])[] = [
  ['single', { facts: [4], fails: (holds) => holds(4) }],
  ['AND', { facts: [2, 9], fails: (holds) => holds(2) && holds(9) }],
  ['OR', { facts: [2, 9], fails: (holds) => holds(2) || holds(9) }],
  ['two of three', { facts: [1, 5, 9], fails: (holds) => Number(holds(1)) + Number(holds(5)) + Number(holds(9)) >= 2 }],
  ['XOR', { facts: [3], fails: (holds) => holds(3) !== holds(8) }],
  [
    'parity of three',
    { facts: [1, 5, 9], fails: (holds) => (Number(holds(1)) + Number(holds(5)) + Number(holds(9))) % 2 === 1 },
  ],
  ['echo', { facts: [1], fails: (holds) => holds(1), outside: [1, 4, 8] }],
  ['preemption', { facts: [2, 9], fails: (holds) => holds(2) || (holds(9) && !holds(2)) }],
  ['the first step', { facts: [0], fails: (holds) => holds(0) }],
  ['the last step', { facts: [11], fails: (holds) => holds(11) }],
  ['never', { facts: [], fails: () => true }],
]

describe('a failed run with a deterministic tail', () => {
  /** The last step that is lost, by trying every number of kept steps. */
  async function truth(plant: Omit<Plant, 'count'>, count: number): Promise<number | 'never'> {
    const { source } = plantedSource({ ...plant, count }, 1)
    const signal = new AbortController().signal
    const ends: boolean[] = []
    for (let keep = 0; keep < count; keep++) ends.push((await source.draw({ keep, seed: 0 }, signal)).grade === 'ok')
    ends.push(false)
    const last = ends.findLastIndex((isOk, i) => isOk && ends[i + 1] === false)
    return last === -1 ? 'never' : last
  }

  it.each(archetypes)('%s: is blamed exactly as trying every step does', async (_, plant) => {
    const { source } = plantedSource({ ...plant, count: 12 }, 1)
    const { isDeterministic, verdict } = await blameFailedRun(source, { tail: 'deterministic', sweep: true })
    expect(isDeterministic).toBe(true)
    expect(named(verdict) ?? verdict.kind).toBe(await truth(plant, 12))
    expect(verdict).toMatchObject({ unseen: 0 })
  })

  it.each(archetypes.filter(([name]) => name !== 'parity of three'))(
    '%s: needs no more than four forks beside those of bisection',
    async (_, plant) => {
      for (const steps of [12, 50, 200]) {
        const { made, source } = plantedSource({ ...plant, count: steps }, 1)
        const { verdict } = await blameFailedRun(source, { tail: 'deterministic' })
        expect(made.length).toBeLessThanOrEqual(Math.ceil(Math.log2(steps)) + 4)
        expect(named(verdict) ?? verdict.kind).toBe(await truth(plant, steps))
      }
    },
  )

  it('for every curve: what is named is a step behind which the run fails, and looking everywhere, the last one', async () => {
    const curves = fc.array(fc.boolean(), { minLength: 1, maxLength: 40 })
    await fc.assert(
      fc.asyncProperty(curves, fc.boolean(), async (ends, sweep) => {
        const { source } = curveSource(ends.map(Number), 1)
        const { verdict } = await blameFailedRun(source, { tail: 'deterministic', sweep })
        if (verdict.kind === 'confirmed') {
          for (const { position } of verdict.commitments) {
            expect([ends[position], ends[position + 1] ?? false]).toEqual([true, false])
          }
        } else expect([verdict.kind, ends[0]]).toEqual(['never', false])
        if (sweep) expect(named(verdict) ?? -1).toBe(ends.lastIndexOf(true))
        const isMonotone = ends.every((isOk, i) => isOk || ends[i + 1] !== true)
        if (isMonotone) expect(named(verdict) ?? -1).toBe(ends.lastIndexOf(true))
      }),
    )
  })

  it('has no interval and no error, and says how many steps nobody looked at', async () => {
    const { source } = plantedSource({ count: 50, facts: [30], fails: (holds) => holds(30) }, 1)
    const { verdict } = await blameFailedRun(source, { tail: 'deterministic' })
    expect(verdict).toEqual({
      kind: 'confirmed',
      commitments: [
        {
          position: 30,
          how: 'exact',
          resampled: { ok: 1, forks: 1 },
          kept: { ok: 0, forks: 1 },
          difference: 1,
        },
      ],
      unseen: expect.any(Number) as number,
    })
    if (verdict.kind === 'confirmed') expect(verdict.unseen).toBeGreaterThan(0)
  })

  it('that was declared needs no fork to find out', async () => {
    const { made, source } = plantedSource({ count: 64, facts: [10], fails: (holds) => holds(10) }, 1)
    await blameFailedRun(source, { tail: 'deterministic' })
    expect(made.every(({ seed }) => seed === 0)).toBe(true)
  })

  it('is never believed of an agent that says the same each time: nothing it comes to is exact', async () => {
    const verdicts: BlameVerdict[] = []
    for (const [number, rates] of [
      coarse,
      cliff(20, 7, 0.3, 0),
      cliff(20, 7, 1, 0),
      Array<number>(20).fill(0),
    ].entries()) {
      const { source } = curveSource(rates, number)
      const quiet: ForkSource = {
        ...source,
        async draw(spec, signal) {
          const draw = await source.draw(spec, signal)
          return { ...draw, fingerprint: `the same, ${draw.grade}` }
        },
      }
      const { isDeterministic, verdict } = await blameFailedRun(quiet)
      expect(isDeterministic).toBe(false)
      verdicts.push(verdict)
    }
    expect(JSON.stringify(verdicts)).not.toContain('exact')
    expect(verdicts[2]).toMatchObject({ kind: 'confirmed', commitments: [{ position: 7, how: 'certified' }] })
    expect(verdicts[3]).toMatchObject({ kind: 'never', how: 'certified' })
  })
})

describe('a failed run whose tools answer from the tape', () => {
  /** Every third step is a model's; what lies between answers from the tape. */
  const taped = (source: ForkSource): ForkSource => ({
    ...source,
    positions: source.positions.map((position, at) => (at % 3 === 0 ? position : { ...position, resampled: [] })),
  })

  it('is one experiment whether such a step is kept or not: no fork is made of it, and none is named', async () => {
    for (let run = 0; run < 20; run++) {
      // The rates of a tool are those of the model behind it: as it is, and not as luck has it.
      const decider = 3 * (run % 10)
      const { made, source } = curveSource(cliff(30, decider, 0.7, 0.05), seedOf('taped', run))
      const { curve, verdict } = await blameFailedRun(taped(source))
      expect(made.filter(({ keep }) => keep % 3 !== 0 && keep < 28)).toEqual([])
      expect(named(verdict)).toBe(decider)
      expect(curve).toHaveLength(30)
      expect(curve.filter((tally, at) => at % 3 !== 0 && tally.ok + tally.failed > 0)).toEqual([])
    }
  })

  it('without a model anywhere is the recorded run whatever is drawn: no step, and nothing was spent', async () => {
    const { made, source } = curveSource(Array<number>(5).fill(0), 1)
    const positions = source.positions.map((position) => ({ ...position, resampled: [] }))
    const { verdict } = await blameFailedRun({ ...source, positions })
    expect(verdict).toEqual({ kind: 'never', how: 'exact', ok: 0, forks: 0 })
    expect(made).toEqual([])
  })
})

describe('blame of a run', () => {
  it('that did not fail is refused', async () => {
    const { source } = curveSource([0.5, 0.5], 1)
    await expect(blameFailedRun({ ...source, recorded: 'ok' })).rejects.toThrowErrorMatchingInlineSnapshot(`
      [HarvestError: Nothing to blame: the oracle does not grade the recorded run \`bad\`

        graded  ok

      Blame looks for the step that, resampled, would have saved a failed run.
      → describe a good end with --ok, so that the recorded run is graded \`bad\`
      → or ask which step a good run depends on: npx vitest-harvest blame '<id>' --mutate
      (HARVEST_BLAME_NOT_FAILED)]
    `)
  })

  it('without steps is refused', async () => {
    const { source } = curveSource([], 1)
    await expect(blameFailedRun(source)).rejects.toMatchObject({ code: 'HARVEST_BLAME_NO_STEPS' })
  })

  it.each([
    { delta: 0 },
    { delta: 0.5 },
    { tau: 1 },
    { maxTries: 0 },
    { maxPairs: 1.5 },
    { tail: 'determinstic' as 'deterministic' },
  ])('refuses %o', async (options) => {
    const { source } = curveSource([0.5], 1)
    await expect(blameFailedRun(source, options)).rejects.toMatchObject({ code: 'HARVEST_BLAME_OPTION' })
  })
})
