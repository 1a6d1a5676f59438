import { mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { gunzipSync } from 'node:zlib'
import { afterAll, beforeAll, describe, expect, it, onTestFinished } from 'vitest'
import { parseExpectation } from '../../src/blame/expectation.ts'
import type { OracleFunction } from '../../src/blame/oracle.ts'
import { runBlame, type RunBlameOptions } from '../../src/blame/run-blame.ts'
import { installReplay } from '../../src/replay/index.ts'
import type { Tape } from '../../src/tape/index.ts'
import { deskAgent, openRefunds, type Refunds, refunds } from './desk-agent.ts'

describe('forks of an earlier session', () => {
  let desk: Refunds
  let bad: Tape
  beforeAll(async () => {
    await installReplay()
    desk = await openRefunds()
    bad = await desk.record(refunds(2500))
  })
  afterAll(() => desk.close())

  /** What the code finds where no watch sees it. */
  let mode = 'a'
  let turn = 0
  /** Says now and then what is right, also where too much was refunded. */
  const saying: Refunds['desk']['decide'] = (messages) => {
    const said = refunds(2500)(messages)
    return typeof said === 'string' && turn++ % 3 > 0 ? 'I refunded 25 EUR.' : said
  }
  type Answer = Awaited<ReturnType<typeof deskAgent>>
  const session = (
    work: (answer: Answer) => Answer,
    folder?: string,
    more: Partial<RunBlameOptions> = {},
    decide = saying,
  ) => {
    const dir = folder ?? mkdtempSync(join(tmpdir(), 'harvest-rechecked-'))
    if (folder === undefined) onTestFinished(() => rmSync(dir, { recursive: true, force: true }))
    const said = { setAside: 0, unchecked: 0, keyless: 0, ofOtherModels: 0, rechecked: 0, regraded: 0, gradedThen: 0 }
    const run = async () => {
      const asked = desk.desk.asked.length
      desk.desk.decide = decide
      const blamed = await runBlame(bad, {
        agent: 'desk',
        load: async () => async (input: unknown) => work(await deskAgent(input)),
        judging: { by: 'expectations', ok: [parseExpectation('answer="I refunded 25 EUR."', '--ok')], bad: [] },
        timeoutMs: 10_000,
        limits: { forks: 60 },
        parallel: 1,
        cacheFile: join(dir, '.forks/blame.jsonl'),
        ran: { code: 'code' },
        surroundings: {
          reads: () => ({ salt: '', set: [], unset: [], values: '', files: {} }),
          changedSince: () => [],
        },
        onSetAside: (setAside, unchecked, keyless, ofOtherModels) =>
          Object.assign(said, { setAside, unchecked, keyless, ofOtherModels }),
        onRegraded: (regraded, gradedThen) => Object.assign(said, { regraded, gradedThen }),
        onRecheck: (rechecked) => Object.assign(said, { rechecked }),
        ...more,
      })
      return { ...blamed, ...said, calls: desk.desk.asked.length - asked }
    }
    return { dir, run }
  }

  const kept = (answer: Answer): Answer => answer
  const byMode = (answer: Answer): Answer => (mode === 'b' ? { answer: 'I refunded 2500 EUR.' } : answer)

  it('count without a call where the code still does what it did', async () => {
    const first = session(kept)
    const { spent, verdict } = await first.run()
    expect(spent.forks).toBeGreaterThan(5)
    expect(await session(kept, first.dir).run()).toMatchObject({
      verdict,
      reused: { forks: spent.forks },
      rechecked: spent.forks,
      setAside: 0,
      unchecked: 0,
      calls: 0,
    })
  })

  it('do not count where other models answered them than answer now, with --cross-version too', {
    tags: 'thorough',
  }, async () => {
    onTestFinished(() => void delete desk.desk.answeredBy)
    const first = session(kept, undefined, { limits: { forks: 4 } })
    expect((await first.run()).models).toEqual(['gpt-4o'])
    desk.desk.answeredBy = 'gpt-next'
    const over = { isCrossVersion: true, limits: { forks: 8 } }
    await expect(session(kept, first.dir, over).run()).rejects.toMatchObject({
      code: 'HARVEST_CROSS_VERSION',
      facts: {
        what: 'Other models answered the cached forks',
        where: { forks: '4', before: 'gpt-4o', now: 'gpt-next' },
      },
    })
    const anew = await session(kept, first.dir, over).run()
    expect(anew).toMatchObject({ models: ['gpt-next'], reused: { forks: 0 }, spent: { forks: 8 } })
    expect(await session(kept, first.dir, over).run()).toMatchObject({ reused: { forks: 8 } })
    // Without it only models of the tape answer.
    delete desk.desk.answeredBy
    const back = await session(kept, first.dir).run()
    expect(back).toMatchObject({ reused: { forks: 0 }, models: ['gpt-4o'] })
    expect(back.ofOtherModels).toBeGreaterThanOrEqual(8)
  })

  it('are refused where the code ends otherwise with their answers, though nothing it reads was seen to change', {
    tags: 'thorough',
  }, async () => {
    mode = 'a'
    const first = session(byMode)
    const { spent } = await first.run()
    mode = 'b'
    const asked = desk.desk.asked.length
    await expect(session(byMode, first.dir).run()).rejects.toMatchObject({
      code: 'HARVEST_CROSS_VERSION',
      facts: { what: 'The cached forks end otherwise today', where: { forks: `${spent.forks}` } },
    })
    expect(desk.desk.asked).toHaveLength(asked)
    const over = await session(byMode, first.dir, { isCrossVersion: true }).run()
    expect(over).toMatchObject({ reused: { forks: 0 }, setAside: spent.forks, verdict: { kind: 'never' } })
    // And they do not come back.
    mode = 'a'
    await expect(session(byMode, first.dir).run()).rejects.toMatchObject({
      facts: { where: { forks: `${over.spent.forks}` } },
    })
  })

  it('are refused where the code sends another header, whose value is on no tape', async () => {
    const sending = (headers: Record<string, string>): Partial<RunBlameOptions> => ({
      load: async () => (input) => deskAgent(input, 'gpt-4o', (args) => args, headers),
    })
    const first = session(kept, undefined, sending({ 'x-variant': 'careful' }))
    const { spent } = await first.run()
    const asked = desk.desk.asked.length
    await expect(session(kept, first.dir, sending({ 'x-variant': 'hasty' })).run()).rejects.toMatchObject({
      code: 'HARVEST_CROSS_VERSION',
      facts: {
        what: 'The cached forks send other headers today',
        where: { forks: `${spent.forks}`, headers: 'x-variant' },
      },
    })
    expect(desk.desk.asked).toHaveLength(asked)
    const all = readdirSync(join(first.dir, '.forks')).map((name) => readFileSync(join(first.dir, '.forks', name)))
    const text = all.map((bytes) => (bytes[0] === 0x1f ? gunzipSync(bytes) : bytes).toString('utf8')).join()
    expect(text).toContain('x-variant')
    expect(text).not.toContain('careful')
    const lost = session(kept, first.dir, sending({ 'x-variant': 'careful' }))
    for (const [key, why] of [
      ['missing', /missing or damaged/],
      ['A'.repeat(43), /another key/],
    ] as const) {
      rmSync(join(first.dir, '.forks', 'headers.key'), { force: true })
      if (key !== 'missing') writeFileSync(join(first.dir, '.forks', 'headers.key'), key)
      await expect(lost.run()).rejects.toMatchObject({
        code: 'HARVEST_CROSS_VERSION',
        facts: {
          what: 'The headers of the cached forks cannot be compared with those of today',
          why: expect.stringMatching(why) as string,
        },
      })
    }
    expect(desk.desk.asked).toHaveLength(asked)
    const over = await session(kept, first.dir, {
      ...sending({ 'x-variant': 'careful' }),
      isCrossVersion: true,
    }).run()
    expect(over).toMatchObject({ reused: { forks: 0 }, setAside: 0, unchecked: 0, keyless: spent.forks })
    expect(await lost.run()).toMatchObject({ reused: { forks: over.spent.forks }, calls: 0 })
  })

  it('count where they left their tape, as long as the code asks there what it asked', async () => {
    const leaving: Refunds['desk']['decide'] = (messages) => refunds(turn++ % 2 === 0 ? 25 : 2500)(messages)
    const first = session(kept, undefined, {}, leaving)
    const { spent, unclear } = await first.run()
    expect(unclear[0]?.because).toContain('not on the tape')
    expect(await session(kept, first.dir, {}, leaving).run()).toMatchObject({
      reused: { forks: spent.forks },
      rechecked: spent.forks,
      calls: 0,
    })
    const amend = (args: object): object => ('amount' in args && args.amount === 25 ? { ...args, note: '' } : args)
    const other = { load: async () => (input: unknown) => deskAgent(input, 'gpt-4o', amend) }
    await expect(session(kept, first.dir, other, leaving).run()).rejects.toMatchObject({
      facts: { what: 'The cached forks end otherwise today' },
    })
  })

  it('count where tools ran for real: what these found is given, as what the models said', async () => {
    const first = session(kept, undefined, { tools: 'live' })
    const { spent } = await first.run()
    expect(await session(kept, first.dir, { tools: 'live' }).run()).toMatchObject({
      reused: { forks: spent.forks },
      rechecked: spent.forks,
      setAside: 0,
      unchecked: 0,
      calls: 0,
    })
  })

  const isRight = (answer: unknown): boolean => (answer as Answer).answer === 'I refunded 25 EUR.'
  const isShouted = (value: unknown): boolean => (value as Answer).answer === 'I REFUNDED 25 EUR.'
  let isLoud = true
  const shouting: Refunds['desk']['decide'] = (...asked) => {
    const said = saying(...asked)
    if (said !== 'I refunded 25 EUR.') return said
    isLoud = !isLoud
    return isLoud ? said.toUpperCase() : said
  }
  const gradedBy = (judge: OracleFunction): Partial<RunBlameOptions> => ({
    judging: { by: 'function', name: 'oracle.ts#isRight', judge },
  })

  it('have the grade their oracle gives them today, whatever it reads, and none of then beside it', {
    tags: 'thorough',
  }, async () => {
    let isStrict = false
    const oracle = gradedBy(({ value }) => isRight(value) || (!isStrict && isShouted(value)))
    const first = session(kept, undefined, oracle, shouting)
    const { spent, verdict } = await first.run()
    expect(verdict?.kind).toBe('confirmed')
    expect(await session(kept, first.dir, oracle).run()).toMatchObject({
      verdict,
      regraded: 0,
      gradedThen: 0,
      calls: 0,
    })
    isStrict = true
    const now = await session(kept, first.dir, oracle).run()
    expect(now.reused.forks).toBeGreaterThan(0)
    // As many as were loud then.
    expect(now.regraded).toBeGreaterThan(0)
    expect(now.regraded).toBeLessThan(spent.forks / 2)
  })

  it('are refused, and nothing is claimed, where their oracle calls none of them ok today that it called ok', async () => {
    let isDown = false
    const oracle = gradedBy(({ value }) => !isDown && isRight(value))
    const first = session(kept, undefined, oracle)
    const { verdict, steps } = await first.run()
    expect(verdict?.kind).toBe('confirmed')
    isDown = true
    const asked = desk.desk.asked.length
    for (const more of [oracle, { ...oracle, isCrossVersion: true }])
      await expect(session(kept, first.dir, more).run()).rejects.toMatchObject({
        code: 'HARVEST_ORACLE_CHANGED',
        facts: { where: { oracle: expect.stringContaining('oracle.ts#isRight') as string } },
      })
    expect(desk.desk.asked).toHaveLength(asked)
    isDown = false
    expect(await session(kept, first.dir, oracle).run()).toMatchObject({ verdict, steps, regraded: 0, calls: 0 })
  })

  it('are all in the number of forks, also those that were not needed to see that too many have no grade', async () => {
    let isUnsure = false
    const oracle = gradedBy(({ value }) =>
      isRight(value) && isUnsure ? undefined : isRight(value) || isShouted(value),
    )
    const first = session(kept, undefined, oracle, shouting)
    const { spent } = await first.run()
    isUnsure = true
    const now = await session(kept, first.dir, oracle).run()
    if (now.verdict?.kind !== 'undecidable') throw new TypeError(JSON.stringify(now.verdict))
    const { forks, ungraded } = now.verdict
    const made = now.spent.forks - now.reused.forks
    expect(now.spent.forks).toBeLessThan(spent.forks + made)
    expect({ forks, isWithin: ungraded <= forks }).toEqual({ forks: spent.forks + made, isWithin: true })
  })

  it('keep the grades they got where their oracle asks someone, who is not asked again, and that is said', async () => {
    let asked = 0
    const oracle = gradedBy(async ({ value }) => {
      if (!isRight(value)) return false
      asked++
      const messages = [{ role: 'user', content: 'Is it right?' }]
      const body = JSON.stringify({ model: 'gpt-4o', messages })
      await (await fetch(`${desk.desk.url}/v1/chat/completions`, { method: 'POST', body })).text()
      return true
    })
    const first = session(kept, undefined, oracle)
    const { spent, verdict } = await first.run()
    expect(asked).toBeGreaterThan(2)
    expect(await session(kept, first.dir, oracle).run()).toMatchObject({
      verdict,
      reused: { forks: spent.forks },
      regraded: 0,
      gradedThen: spent.forks,
      calls: 0,
    })
  })
})
