import { describe, expect, it } from 'vitest'
import { blameFailedRun, type ForkSource } from '../../src/blame/index.ts'
import { curveSource, positionsOf, random, seedOf } from './sources.ts'

describe('a run that went wrong, recovered, and went wrong again', () => {
  // What lies between the two is so bad that nothing leads the search on from there.
  const rates = Array.from({ length: 60 }, (_, keep) => (keep <= 9 || (keep >= 31 && keep <= 38) ? 0.9 : 0.02))

  it('is blamed on where it was lost for good, and not only on where it was lost first', async () => {
    const last: (number | undefined)[] = []
    const both: string[] = []
    for (let run = 0; run < 40; run++) {
      const { verdict } = await blameFailedRun(curveSource(rates, seedOf('dip', run)).source)
      const positions = verdict.kind === 'confirmed' ? verdict.commitments.map(({ position }) => position) : []
      last.push(positions.at(-1))
      both.push(positions.join(','))
    }
    expect(last.filter((position) => position === 38).length).toBeGreaterThanOrEqual(39)
    expect(new Set(both)).toContain('9,38')
  })

  it('is told from one that ends well by chance now and then', async () => {
    const flat = Array.from({ length: 60 }, (_, keep) => (keep <= 9 ? 0.8 : 0.1))
    let alarms = 0
    for (let run = 0; run < 40; run++) {
      const { verdict } = await blameFailedRun(curveSource(flat, seedOf('flat', run)).source)
      if (verdict.kind === 'confirmed' && verdict.isStillRecoverable === true) alarms++
    }
    expect(alarms).toBeLessThanOrEqual(3)
  })
})

describe('an agent that says the same words each time and errs now and then', () => {
  /** Its forks are the same two texts, whatever they drew; the step that lost the run goes wrong once more at times. */
  function sameWords(cause: number, again: number, seed: number): ForkSource {
    return {
      positions: positionsOf(20),
      recorded: 'bad',
      expect: ({ keep }) => ({ modelCalls: 20 - keep }),
      draw: (spec) => {
        const isOk = spec.keep <= cause && random(seedOf(seed, JSON.stringify(spec)))() >= again
        return Promise.resolve({ grade: isOk ? 'ok' : 'bad', modelCalls: 20 - spec.keep, fingerprint: `${isOk}` })
      },
    }
  }

  it('is hardly ever blamed on the step before the right one', async () => {
    let wrong = 0
    for (let run = 0; run < 100; run++) {
      const cause = 1 + (run % 18)
      const { verdict } = await blameFailedRun(sameWords(cause, 0.2, seedOf('same words', run)))
      if (verdict.kind === 'confirmed' && verdict.commitments.at(-1)?.position !== cause) wrong++
    }
    expect(wrong).toBeLessThanOrEqual(1)
  })

  it('is hardly ever called unrecoverable for a mistake at its beginning', async () => {
    let wrong = 0
    for (let run = 0; run < 50; run++) {
      const { verdict } = await blameFailedRun(sameWords(2, 0.4, seedOf('early', run)))
      if (verdict.kind === 'never') wrong++
    }
    expect(wrong).toBe(0)
  })

  it('that never errs is certified like any other, and takes few forks', async () => {
    for (let cause = 0; cause < 20; cause++) {
      let forks = 0
      const source = sameWords(cause, 0, 1)
      const counted: ForkSource = {
        ...source,
        draw: (spec, signal) => {
          forks++
          return source.draw(spec, signal)
        },
      }
      const { verdict } = await blameFailedRun(counted)
      expect(verdict).toMatchObject({ kind: 'confirmed', commitments: [{ position: cause, how: 'certified' }] })
      expect(forks).toBeLessThanOrEqual(60)
    }
  })
})
