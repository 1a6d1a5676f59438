import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import type { OracleFunction } from '../../src/blame/oracle.ts'
import { estimateBlame, runBlame, type RunBlameOptions } from '../../src/blame/run-blame.ts'
import { claimOf, estimateIsolation, isolateRun } from '../../src/isolate/index.ts'
import { installReplay } from '../../src/replay/index.ts'
import { readTape, serializeTape, type Tape } from '../../src/tape/index.ts'
import { deskAgent, openRefunds, type Refunds, refunds } from './desk-agent.ts'

describe('a function that grades no run ok', () => {
  let desk: Refunds
  let bad: Tape
  let good: string
  /** It passes, and is of another input. */
  let thirty: string
  beforeAll(async () => {
    await installReplay()
    desk = await openRefunds()
    const right = await desk.record(refunds(25))
    good = join(desk.dir, 'good.tape.jsonl')
    writeFileSync(good, serializeTape(right.header, right.events, right.close))
    const other = await desk.record(refunds(30), 'Refund B-200.')
    thirty = join(desk.dir, 'thirty.tape.jsonl')
    writeFileSync(thirty, serializeTape(other.header, other.events, other.close))
    bad = await desk.record(refunds(2500))
  })
  afterAll(() => desk.close())

  /** Its model decides one of two wrong things. */
  const asking = (judge: OracleFunction, more: Partial<RunBlameOptions> = {}): RunBlameOptions => {
    let asked = 0
    desk.desk.decide = (messages) => refunds(asked++ % 3 === 0 ? 2500 : 2600)(messages)
    return {
      agent: 'desk',
      load: async () => deskAgent,
      judging: { by: 'function', name: './oracle.ts#isRight', judge },
      tools: 'live',
      timeoutMs: 10_000,
      limits: { forks: 100 },
      ...more,
    }
  }
  const isRight: OracleFunction = ({ value }) => JSON.stringify(value).includes(' 25 EUR')
  const unseen = ['--oracle ./oracle.ts#isRight: no run is known that it grades ok']

  it('certifies nothing of the code, be it right or wrong, as long as no run is known that it grades ok', {
    tags: 'thorough',
  }, async () => {
    for (const judge of [isRight, () => false]) {
      const { verdict, neverSeen } = await runBlame(bad, asking(judge))
      expect(verdict).toMatchObject({ kind: 'never', how: 'doubted', ok: 0 })
      expect(verdict).not.toHaveProperty('alpha')
      expect(neverSeen).toEqual(unseen)
    }
  })

  it('is believed where it grades a known run of the same question ok, and doubted where it grades that bad, too', async () => {
    const known = [{ name: 'good', file: good, passes: true }]
    const believed = await runBlame(bad, asking(isRight, { known }))
    expect(believed).toMatchObject({ verdict: { kind: 'never', how: 'certified' } })
    expect(believed).not.toHaveProperty('neverSeen')
    const doubted = await runBlame(
      bad,
      asking(() => false, { known }),
    )
    expect(doubted).toMatchObject({ verdict: { how: 'doubted' }, knownRuns: { passing: 'good' } })
  })

  it('is said to grade none ok before anything is spent, and where nothing is', async () => {
    const before: [readonly string[], number][] = []
    let forks = 0
    const hearing = (judge: OracleFunction, more: Partial<RunBlameOptions> = {}): RunBlameOptions => ({
      ...asking(judge, more),
      onProgress: (now) => (forks = now.forks),
      onUnmet: (because) => before.push([because, forks]),
    })
    for (const ask of [estimateBlame, estimateIsolation, runBlame])
      await ask(
        bad,
        hearing(() => false),
      )
    expect(before).toEqual([unseen, unseen, unseen].map((because) => [because, 0]))
    const known = [{ name: 'good', file: good, passes: true }]
    await estimateBlame(bad, hearing(isRight, { known }))
    expect(before).toHaveLength(3)
  })

  it('is doubted where it grades a run of the same question bad that passes, although one of another is good by it', {
    tags: 'thorough',
  }, async () => {
    const isThirty: OracleFunction = ({ value }) => JSON.stringify(value).includes(' 30 EUR')
    const other = { name: 'thirty', file: thirty, passes: true }
    const known = [other, { name: 'good', file: good, passes: true }]
    const contrary = ['--oracle ./oracle.ts#isRight: good passes, has the same input, and is bad by that']
    const doubted = await runBlame(bad, asking(isThirty, { known }))
    expect(doubted).toMatchObject({ verdict: { kind: 'never', how: 'doubted' }, neverSeen: contrary })
    const isolated = claimOf(await isolateRun(bad, asking(isThirty, { known })))
    expect(isolated).toMatchObject({ verdict: { kind: 'unresolved' }, neverSeen: contrary })
    const reference = readTape(thirty)
    const beside = await runBlame(bad, asking(isThirty, { known, reference }))
    expect(beside).toMatchObject({ verdict: { how: 'doubted' }, neverSeen: contrary })
    // Nothing is known of this question.
    const believed = await runBlame(bad, asking(isThirty, { known: [other] }))
    expect(believed).toMatchObject({ verdict: { kind: 'never', how: 'certified' } })
  })

  it('and one that fails as recorded and not when it is replayed: that it does not replay is said, not that it is ok', async () => {
    const ends = (input: unknown): Promise<unknown> => deskAgent(input).then(() => ({ answer: 'I refunded 25 EUR.' }))
    for (const ask of [runBlame, isolateRun]) {
      const asked = ask(bad, { ...asking(isRight), load: async () => ends })
      await expect(asked).rejects.toMatchObject({
        code: 'HARVEST_BLAME_PREFLIGHT',
        facts: { detail: 'It asks the same, and ends otherwise: the replay is graded ok.' },
      })
    }
    // Where the recorded run is good as well, there is nothing to blame.
    await expect(runBlame(bad, { ...asking(() => true), load: async () => ends })).rejects.toMatchObject({
      code: 'HARVEST_ORACLE_OK',
    })
  })

  it('points isolate to the code, and nothing of that is claimed', { tags: 'thorough' }, async () => {
    const isolated = await isolateRun(
      bad,
      asking(() => false),
    )
    expect(isolated).toMatchObject({ verdict: { kind: 'found', layers: ['code'] }, neverSeen: unseen })
    expect(claimOf(isolated).verdict).toMatchObject({ kind: 'unresolved', open: ['code'] })
    const known = [{ name: 'good', file: good, passes: true }]
    const believed = await isolateRun(bad, asking(isRight, { known }))
    expect(claimOf(believed).verdict).toEqual({ kind: 'found', layers: ['code'] })
  })
})
