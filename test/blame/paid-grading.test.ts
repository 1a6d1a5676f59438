import { readdirSync, readFileSync, writeFileSync } from 'node:fs'
import { createServer, request } from 'node:http'
import type { AddressInfo } from 'node:net'
import { join } from 'node:path'
import { text } from 'node:stream/consumers'
import fc from 'fast-check'
import OpenAI from 'openai'
import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest'
import { type BlameTapeOptions, blame } from '../../src/blame/blame.ts'
import { type FixAnswer, fixTask } from '../../src/blame/fix-task.ts'
import { gradeWithin } from '../../src/blame/graded-use.ts'
import { type GradeAnswer, gradeTask } from '../../src/blame/grade-task.ts'
import { mostPaidGrades } from '../../src/blame/grading.ts'
import { openLiveGrading } from '../../src/blame/live-grading.ts'
import type { OracleFunction } from '../../src/blame/oracle.ts'
import { estimateBlame, runBlame, type RunBlameOptions } from '../../src/blame/run-blame.ts'
import { roomForAll } from '../../src/cli/budget-step.ts'
import { passedLines } from '../../src/cli/passed-limit.ts'
import { Purse } from '../../src/cli/forking/purse.ts'
import { sumSpent } from '../../src/cli/forking/sum-spent.ts'
import { noUses } from '../../src/live/budget.ts'
import { type BudgetLimits, openBudget, type Use } from '../../src/live/index.ts'
import { installReplay } from '../../src/replay/index.ts'
import type { Tape } from '../../src/tape/index.ts'
import { deskAgent, openRefunds, refunds, type Refunds } from './desk-agent.ts'

describe('an oracle that asks a model', () => {
  let world: Refunds
  let bad: Tape
  let judged = 0
  /** What one call of a model costs here, of the agent and of the oracle alike. */
  const callUsd = 0.00045

  beforeAll(async () => {
    await installReplay()
    world = await openRefunds()
    bad = await world.record(refunds(2500))
  })
  beforeEach(() => {
    let said = 0
    judged = 0
    world.desk.asked.length = 0
    world.desk.decide = (messages) => {
      const question = JSON.stringify(messages[0]?.content)
      if (question.includes('Is it right?')) {
        judged++
        return question.includes('2500') ? 'no' : 'yes'
      }
      const decided = refunds(said++ % 5 === 0 ? 2500 : 25)(messages)
      return typeof decided === 'string' ? `${decided} Bye ${said++}.` : decided
    }
  })
  afterAll(() => world.close())

  const judgeOf =
    (model = 'gpt-4o') =>
    async ({ value }: { readonly value?: unknown }): Promise<boolean> => {
      const content = `Is it right? ${JSON.stringify(value)}`
      const body = JSON.stringify({ model, messages: [{ role: 'user', content }] })
      const response = await fetch(`${world.desk.url}/v1/chat/completions`, { method: 'POST', body })
      return (await response.text()).includes('yes')
    }
  const blamed = (more: Partial<BlameTapeOptions> & Pick<BlameTapeOptions, 'limits'>) =>
    blame(bad, { agent: (input) => deskAgent(input), oracle: judgeOf(), tools: 'live', parallel: 4, ...more })
  const options = (model: string): RunBlameOptions => ({
    agent: 'desk',
    load: async () => (input) => deskAgent(input),
    judging: { by: 'function', name: 'the judge', judge: judgeOf(model) },
    tools: 'live',
    timeoutMs: 10_000,
  })

  test('is paid from the budget: its calls are a part of what was spent, and nothing passes the limit', async () => {
    const { spent, stoppedBy } = await blamed({ limits: { costUsd: 0.02 } })
    expect(stoppedBy).toBe('costUsd')
    expect(spent.forks).toBeGreaterThan(4)
    expect(spent.grading?.modelCalls).toBe(judged)
    expect(spent.grading?.costUsd).toBeCloseTo(judged * callUsd, 8)
    expect(spent.now.modelCalls).toBe(world.desk.asked.length)
    expect(spent.now.costUsd).toBeCloseTo(world.desk.asked.length * callUsd, 8)
    expect(spent.now.costUsd).toBeLessThanOrEqual(0.02)
  })

  test('is not asked again when that would pass the limit: one grade says what the others cost', async () => {
    const { spent, stoppedBy } = await blamed({ limits: { costUsd: 8 * callUsd } })
    expect({ stoppedBy, judged, asked: world.desk.asked.length }).toEqual({ stoppedBy: 'costUsd', judged: 1, asked: 1 })
    expect(spent).toMatchObject({ forks: 0, grading: { modelCalls: 1 } })
    expect(spent.costUsd).toBeCloseTo(callUsd, 8)
  })

  test.each<[first: string, looks: number]>([
    ['asks once of a bad run', 1],
    ['asks nothing of a bad run', 0],
  ])('that %s and eleven times of a good one passes a limit by one grade at most, and says it', async (_, looks) => {
    const asks = judgeOf()
    const judge = async (run: { readonly value?: unknown }): Promise<boolean> => {
      const isGood = !JSON.stringify(run.value).includes('2500')
      for (let look = 0; look < (isGood ? 11 : looks); look++) await asks(run)
      return isGood
    }
    const limit = 30 * callUsd
    const { spent, stoppedBy, limitPassed } = await blamed({ oracle: judge, limits: { costUsd: limit }, parallel: 8 })
    expect(stoppedBy).toBe('costUsd')
    const used = world.desk.asked.length * callUsd
    expect(spent.now.costUsd).toBeCloseTo(used, 8)
    expect(used).toBeLessThanOrEqual(limit + 11 * callUsd)
    expect(limitPassed?.by.costUsd ?? 0).toBeCloseTo(Math.max(0, used - limit), 8)
    // More than one good grade would have been paid for where they began together.
    expect(judged).toBeLessThan(3 * 11)
  })

  test('asked five times for each run costs five times as much', async () => {
    const { spent } = await blamed({ limits: { costUsd: 0.03 }, flakyOracle: true })
    expect(spent.grading?.modelCalls).toBe(judged)
    expect(judged).toBe(5 * (spent.forks + 1))
    expect(spent.costUsd).toBeLessThanOrEqual(0.03)
  })

  test('whose model has no price is refused where dollars are the limit, before a fork is made', async () => {
    const unpriced = blamed({ oracle: judgeOf('house-judge'), limits: { costUsd: 1 } })
    await expect(unpriced).rejects.toMatchObject({ code: 'HARVEST_BLAME_PRICE' })
    expect(world.desk.asked).toHaveLength(1)
  })

  test('whose model has no price is limited by forks where they are, and the cost is unknown', async () => {
    const limits = { limits: { forks: 6 }, costUsdIfPriced: 3 * callUsd }
    const unpriced = await runBlame(bad, { ...options('house-judge'), ...limits })
    expect(unpriced).toMatchObject({ stoppedBy: 'forks', spent: { forks: 6, grading: { modelCalls: judged } } })
    expect(unpriced.unclear).toEqual([])
    expect(unpriced.spent).not.toHaveProperty('costUsd')
    expect(unpriced.spent.grading).not.toHaveProperty('costUsd')
    const priced = await runBlame(bad, { ...options('gpt-4o'), ...limits })
    expect(priced).toMatchObject({ stoppedBy: 'costUsd', spent: { forks: 0 } })
  })

  test('is heard whichever client it asks with', async () => {
    const judge = async ({ value }: { readonly value?: unknown }): Promise<boolean> => {
      const answer = Promise.withResolvers<string>()
      const asking = request(`${world.desk.url}/v1/chat/completions`, { method: 'POST' }, (response) => {
        text(response).then(answer.resolve, answer.reject)
      })
      asking.on('error', answer.reject)
      const content = `Is it right? ${JSON.stringify(value)}`
      asking.end(JSON.stringify({ model: 'gpt-4o', messages: [{ role: 'user', content }] }))
      return (await answer.promise).includes('yes')
    }
    const { spent } = await blamed({ oracle: judge, limits: { forks: 3 } })
    expect(spent.grading).toEqual({
      modelCalls: judged,
      tokens: 120 * judged,
      costUsd: expect.closeTo(judged * callUsd) as number,
    })
    expect(judged).toBe(8)
  })

  test('that makes a grade of its own error gives none', async () => {
    const statuses: number[] = []
    const server = createServer((_, response) => response.writeHead(statuses.shift() ?? 200).end('{}'))
    const port = await new Promise<number>((done) =>
      server.listen(0, '127.0.0.1', () => done((server.address() as AddressInfo).port)),
    )
    const ask = async (): Promise<boolean> => {
      const body = JSON.stringify({ model: 'gpt-4o', messages: [{ role: 'user', content: 'Is it right?' }] })
      const response = await fetch(`http://127.0.0.1:${port}/v1/chat/completions`, { method: 'POST', body })
      return (await response.text()) === '{}' && response.ok
    }
    const graded = async (...answers: readonly number[]) => {
      statuses.push(...answers)
      const grade = async () => {
        let isGood = false
        for (let n = 0; n < answers.length; n++) isGood = await ask().catch(() => false)
        return { grade: isGood ? ('ok' as const) : ('bad' as const) }
      }
      return (await gradeWithin('judge', grade, { budget: openBudget({ calls: 9 }), prices: {} })).given
    }
    const lost = { grade: 'ungraded', because: 'A model answered with status 500, which the oracle asked' }
    expect([await graded(200), await graded(500), await graded(200, 500)]).toEqual([{ grade: 'ok' }, lost, lost])
    // Asked again, or someone else in its place.
    expect(await graded(500, 200)).toEqual({ grade: 'ok' })
    server.closeAllConnections()
    await new Promise((done) => server.close(done))
    expect(await graded(200)).toMatchObject({ grade: 'ungraded' })
  })

  describe('of a case that is run again', () => {
    const sdkJudge =
      (model: string): OracleFunction =>
      async ({ value }) => {
        const client = new OpenAI({ baseURL: `${world.desk.url}/v1`, apiKey: 'k', maxRetries: 0 })
        const content = `Is it right? ${JSON.stringify(value)}`
        const { choices } = await client.chat.completions.create({ model, messages: [{ role: 'user', content }] })
        return choices[0]?.message.content === 'yes'
      }
    /** Grades so many runs at once, out of one budget. */
    async function graded(runs: number, limits: BudgetLimits, model = 'gpt-4o') {
      const budget = openBudget(limits)
      const oracle = { file: '/oracle.ts', export: 'judge', name: './oracle.ts#judge' }
      const how = { isGraded: true, ok: [], bad: [], oracle, tools: 'tape' } as const
      const importModule = async () => ({ judge: sdkJudge(model) })
      const run = { tape: bad, outcome: { status: 'returned', value: 25 }, events: [], problems: [] } as never
      const one = async () => {
        const grading = await openLiveGrading(how, { tape: bad, importModule, budget, prices: {} })
        return grading.grade(run)
      }
      const ended = await Promise.allSettled(Array.from({ length: runs }, one))
      const said = ended.map((end) =>
        end.status === 'fulfilled' ? end.value?.grade : (end.reason as { readonly code: string }).code,
      )
      return {
        said: Object.fromEntries(Object.entries(Object.groupBy(said, String)).map(([of, all]) => [of, all?.length])),
        budget,
      }
    }

    test.each<[limit: string, limits: BudgetLimits]>([
      ['dollars', { costUsd: 3.6 * callUsd }],
      ['calls', { calls: 3 }],
      ['tokens', { tokens: 430 }],
    ])('is paid from the budget in %s, which grades never pass', async (_, limits) => {
      const { said, budget } = await graded(8, limits)
      expect(said).toEqual({ ok: 3, HARVEST_BUDGET_USED: 5 })
      expect(judged).toBe(3)
      expect(budget.total).toEqual({
        modelCalls: 3,
        inputTokens: 300,
        outputTokens: 60,
        costUsd: expect.closeTo(3 * callUsd) as number,
      })
    })

    test('is begun beside others only where it may cost twenty times the dearest one before it', async () => {
      type Asked = [said: 'bad' | 'ok', calls: number]
      const run = async (calls: number, before: readonly Asked[], together: readonly Asked[]) => {
        const budget = openBudget({ calls })
        let [most, now] = [0, 0]
        const grade = (asked: Asked) =>
          gradeWithin('judge', () => underWay(...asked), { budget, prices: {} }).then(
            () => 'graded',
            () => 'unpaid',
          )
        const underWay = async (said: 'bad' | 'ok', times: number) => {
          most = Math.max(most, ++now)
          for (let asked = 0; asked < times; asked++) await judgeOf()({ value: 1 })
          now--
          return { grade: said }
        }
        for (const one of before) await grade(one)
        const rest = await Promise.all(together.map(grade))
        return { most, rest, made: budget.total.modelCalls }
      }
      const [bad1, ok1, bad11, ok11]: [Asked, Asked, Asked, Asked] = [
        ['bad', 1],
        ['ok', 1],
        ['bad', 11],
        ['ok', 11],
      ]
      const mixed = [bad1, ok11, ok11, bad1]
      expect(await run(15, [bad1], mixed)).toEqual({
        most: 1,
        rest: ['graded', 'graded', 'unpaid', 'unpaid'],
        made: 13,
      })
      expect(await run(200, [bad1], mixed)).toMatchObject({ most: 4, made: 25 })
      // Both kinds were cheap so far, and then some of either kind are not; or the first ones asked no model.
      const alone = { most: 1, rest: ['graded', 'unpaid', 'unpaid', 'unpaid'] }
      const dear = [bad11, ok11, bad11, ok11]
      expect(await run(12, [bad1, ok1], dear)).toEqual({ ...alone, made: 13 })
      const free: readonly Asked[] = [
        ['bad', 0],
        ['ok', 0],
      ]
      expect(await run(12, free, dear)).toEqual({ ...alone, made: 11 })
    })

    test('leaves no call to the agent that was set apart for its grade', async () => {
      const budget = openBudget({ calls: 2 })
      const release = await budget.reserve(
        { calls: 1, tokens: 0, costUsd: 0 },
        {
          unasked: () => ({ calls: 1, tokens: 0, costUsd: 0 }),
        },
      )
      expect(budget.refusal('gpt-4o')).toBeUndefined()
      expect(budget.refusal('gpt-4o')).toMatchObject({ code: 'HARVEST_BUDGET_USED' })
      release?.()
      expect(budget.refusal('gpt-4o')).toBeUndefined()
    })

    test('whose model has no price is refused where dollars are the limit, once it has shown that', async () => {
      const { said } = await graded(4, { costUsd: 1 }, 'house-judge')
      expect({ said, judged }).toEqual({ said: { HARVEST_BUDGET_PRICE: 4 }, judged: 1 })
      const { said: free, budget } = await graded(4, { calls: 10 }, 'house-judge')
      expect({ said: free, calls: budget.total.modelCalls }).toEqual({ said: { ok: 4 }, calls: 4 })
    })
  })

  describe('of a case that is forked', () => {
    const sdkName = { file: '/oracle.ts', export: 'judge', name: './oracle.ts#judge' }
    /** Grades in a process of its own, of whose limits so much is used before it. */
    async function asked(
      forks: number | undefined,
      limits: BudgetLimits,
      used: Use = noUses,
      most: Use = noUses,
      more: object = {},
      beside: object = {},
    ) {
      const budget = openBudget(limits)
      budget.carry(used)
      const branch = readFileSync(bad.source, 'utf8')
      const fork = { outcome: { status: 'returned', value: 25 }, branch }
      const request = {
        oracle: sdkName,
        ...(forks === undefined ? {} : { forks: Array(forks).fill(fork), most }),
        ...more,
      }
      const importModule = async () => ({ judge: judgeOf() })
      const say = (): void => {}
      const context = { tape: bad, tapeFile: bad.source, importModule, budget, limits, prices: {}, say, ...beside }
      const answer = (await gradeTask(request as never, context as never)) as unknown as GradeAnswer
      return { ...answer, grades: answer.grades.map((one) => (typeof one === 'string' ? one : one.code)) }
    }

    test('is not paid twice for the grade of one run, unless the code or what was read is other, or all is asked anew', {
      tags: 'thorough',
    }, async () => {
      const folder = join(world.dir, 'kept', 'tape')
      let changed: readonly string[] = []
      const surroundings = { reads: () => ({}), changedSince: () => changed }
      const again = async (isFresh = false) => {
        const before = judged
        const { grades } = await asked(3, {}, noUses, noUses, { kept: { folder, isFresh } }, { surroundings })
        return { grades, judged: judged - before }
      }
      expect(await again()).toEqual({ grades: ['ok', 'ok', 'ok'], judged: 1 })
      expect(await again()).toEqual({ grades: ['ok', 'ok', 'ok'], judged: 0 })
      expect(await again(true)).toMatchObject({ judged: 1 })
      changed = ['.env']
      expect(await again()).toMatchObject({ judged: 1 })
      changed = []
      expect(readdirSync(folder)).toEqual([expect.stringMatching(/^grade-.+\.json$/)])
      writeFileSync(join(folder, readdirSync(folder)[0]!), '{"gra')
      expect(await again()).toMatchObject({ judged: 1 })
    })

    test('is asked no second time where nothing says that it may be paid', async () => {
      const { grades, isPaid } = await asked(3, {}, noUses, noUses, { mayPay: false })
      expect({ grades, isPaid, judged }).toEqual({
        grades: ['ok', 'HARVEST_BUDGET_USED', 'HARVEST_BUDGET_USED'],
        isPaid: true,
        judged: 1,
      })
    })

    test('is told with the grade of the recorded run what each further one may use', async () => {
      const told = await asked(undefined, { calls: 9 })
      expect(told.grades).toEqual(['bad'])
      expect(told.most).toEqual({ calls: 1, tokens: 120, costUsd: expect.closeTo(callUsd) as number })
      expect(told.spent).toMatchObject({ modelCalls: 1, inputTokens: 100, outputTokens: 20 })
    })

    test.each<[limit: string, limits: BudgetLimits]>([
      ['dollars', { costUsd: 7.6 * callUsd }],
      ['calls', { calls: 7 }],
      ['tokens', { tokens: 7 * 120 + 70 }],
    ])('is paid from what forks and grades before it left of a limit in %s, from the first on', async (_, limits) => {
      const one = { calls: 1, tokens: 120, costUsd: callUsd }
      const used = (calls: number): Use => ({ calls, tokens: calls * 120, costUsd: calls * callUsd })
      const { grades } = await asked(4, limits, used(5), one)
      expect({ grades, judged }).toEqual({
        grades: ['ok', 'ok', 'HARVEST_BUDGET_USED', 'HARVEST_BUDGET_USED'],
        judged: 2,
      })
      const none = await asked(1, limits, used(7), one)
      expect({ none: none.grades, judged }).toEqual({ none: ['HARVEST_BUDGET_USED'], judged: 2 })
    })

    test('leaves to the forks what their grades do not need, and at least half of what is left', () => {
      const whole = fc.nat(40)
      fc.assert(
        fc.property(whole, whole, whole, fc.integer({ min: 1, max: 9 }), (limit, before, most, forks) => {
          const purse = new Purse({ calls: limit }, {})
          purse.paidForks([{ modelCalls: before, inputTokens: 0, outputTokens: 0, costUsd: 0 }])
          purse.paidGrades(sumSpent([]), { calls: most, tokens: 0, costUsd: 0 })
          const apart = purse.besideForks(forks).calls - before
          const left = Math.max(0, limit - before)
          expect(apart).toBe(Math.min(forks * most, Math.floor(left / 2)))
        }),
      )
    })

    test('is refused a fork what was used before it, or is set apart', () => {
      const budget = openBudget({ calls: 3 })
      budget.carry({ calls: 2, tokens: 0, costUsd: 0 })
      expect(budget.refusal('gpt-4o')).toBeUndefined()
      expect(budget.refusal('gpt-4o')).toMatchObject({ code: 'HARVEST_BUDGET_USED' })
    })
  })

  describe('of a fix', () => {
    /** Makes so many runs of a fixed agent, and as many as recorded. */
    async function fixed(
      runs: number,
      more: {
        readonly isLive?: boolean
        readonly mayPay?: boolean
        /** What the agent asks besides. */
        readonly added?: string
        readonly folder: string
        readonly judge?: OracleFunction
        readonly limits?: BudgetLimits
        readonly isGreen?: boolean
      },
    ) {
      const {
        isLive = true,
        mayPay = isLive,
        added = ' In euros.',
        folder,
        judge = judgeOf(),
        limits = { costUsd: 1 },
        isGreen = false,
      } = more
      const before = { judged, asked: world.desk.asked.length }
      const budget = openBudget(limits)
      const request = {
        ok: [],
        bad: [],
        oracle: { file: '/oracle.ts', export: 'judge', name: './oracle.ts#judge' },
        tools: 'live',
        runs,
        isLive,
        mayPay,
        folder,
        isFresh: false,
      }
      const agent = (input: unknown) => {
        const { url, text } = input as { readonly url: string; readonly text: string }
        return deskAgent({ url, text: `${text}${added}` })
      }
      const text = [
        'case: x',
        'agent: desk',
        'expect: fail',
        'tape: x.tape.jsonl',
        'lesson: { wrong: took it for cents }',
      ].join('\n')
      const context = {
        tape: bad,
        tapeFile: bad.source,
        case: { file: join(world.dir, 'x.case.yaml'), text },
        load: async () => agent,
        importModule: async () => ({ judge }),
        replay: {},
        accepted: () => new Map(),
        isGreen: () => isGreen,
        timeoutMs: 10_000,
        parallel: 1,
        budget,
        limits,
        prices: {},
        surroundings: { reads: () => ({}), changedSince: () => [] },
        signal: new AbortController().signal,
        say: () => undefined,
      }
      const answer = (await fixTask(request as never, context as never)) as unknown as FixAnswer
      return { answer, judged: judged - before.judged, asked: world.desk.asked.length - before.asked }
    }

    beforeEach(() => {
      let said = 0
      world.desk.decide = (messages) => {
        const question = JSON.stringify(messages)
        if (question.includes('Is it right?')) {
          judged++
          return question.includes('2500') ? 'no' : 'yes'
        }
        const decided = refunds(question.includes('In euros') ? 25 : 2500)(messages)
        return typeof decided === 'string' ? `${decided} Bye ${said++}.` : decided
      }
    })

    test('is not asked about a case that is green already', async () => {
      const before = judged
      await expect(fixed(3, { added: '', isGreen: true, folder: join(world.dir, 'fix 0') })).rejects.toMatchObject({
        facts: { what: expect.stringContaining("Today's code still reproduc") as string },
      })
      expect(judged - before).toBe(0)
    })

    test('is asked five times about the recorded run and the first right one, once about the others, and never again', {
      tags: 'thorough',
    }, async () => {
      const folder = join(world.dir, 'fix 1', 'tape')
      const { answer, judged: first } = await fixed(3, { folder })
      expect(answer.runs.map(({ grade }) => grade)).toEqual(['ok', 'ok', 'ok'])
      expect(answer.controls.map(({ grade }) => grade)).toEqual(['bad', 'bad', 'bad'])
      expect(first).toBe(mostPaidGrades(6))
      expect(answer).toMatchObject({ grading: { modelCalls: first }, perGrade: { calls: 1, tokens: 120 } })
      const again = await fixed(3, { folder })
      expect(again).toMatchObject({ judged: 0, asked: 0 })
      expect(again.answer.runs).toMatchObject([{ grade: 'ok', isReused: true }, { grade: 'ok' }, { grade: 'ok' }])
      expect(again.answer).not.toHaveProperty('perGrade')
    })

    test('that says ok of a right run now and bad at the next look ends the fix', async () => {
      const folder = join(world.dir, 'fix 2', 'tape')
      let looks = 0
      const judge: OracleFunction = async (run) => (await judgeOf()(run as never)) && looks++ % 2 === 0
      await expect(fixed(3, { folder, judge })).rejects.toMatchObject({ code: 'HARVEST_ORACLE_FLAKY' })
    })

    test.each<[limit: string, option: string, unit: keyof BudgetLimits, least: number]>([
      ['dollars', 'max-cost', 'costUsd', callUsd / 2],
      ['tokens', 'max-tokens', 'tokens', 50],
      ['calls', 'max-calls', 'calls', 4],
    ])(
      'leaves no run ungraded with the limit in %s that is offered where one was reached',
      { tags: 'thorough' },
      async (_, option, unit, least) => {
        const judge: OracleFunction = async (run) => {
          for (let look = 1; look < 20; look++) await judgeOf()(run as never)
          return judgeOf()(run as never)
        }
        const made = (limit: number) =>
          fixed(3, { folder: join(world.dir, `fix ${unit} ${limit}`, 'tape'), judge, limits: { [unit]: limit } })
        const { answer } = await made(least)
        const codes = [...answer.runs, ...answer.controls].flatMap(({ fork }) => fork.problems.map(({ code }) => code))
        expect(codes).toEqual(['HARVEST_BUDGET_USED'])
        const room = roomForAll({
          codes,
          runs: () => [[bad, 6]],
          grading: answer.perGrade!,
          furtherGrades: mostPaidGrades(6) - 6,
          limits: { [unit]: least },
          prices: {},
        })
        const again = await made(Number(room[option]))
        expect(again.answer.runs.map(({ grade }) => grade)).toEqual(['ok', 'ok', 'ok'])
        expect(again.answer.controls.map(({ grade }) => grade)).toEqual(['bad', 'bad', 'bad'])
      },
    )

    test('is told before a model of the agent is asked, with what one grade uses', async () => {
      const folder = join(world.dir, 'fix 3', 'tape')
      const { answer, asked } = await fixed(3, { folder, isLive: false })
      expect({ asked, runs: answer.runs }).toEqual({ asked: 1, runs: [] })
      expect(answer.perGrade).toEqual({ calls: 1, tokens: 120, costUsd: expect.closeTo(callUsd) as number })
    })

    test('is asked once where nothing says that it may be paid, and about a run from the tape as well where a limit does', async () => {
      const unchanged = { added: '', isLive: false }
      const before = judged
      await expect(fixed(3, { ...unchanged, folder: join(world.dir, 'fix 4') })).rejects.toMatchObject({
        code: 'HARVEST_BUDGET_USED',
        facts: { what: 'The oracle asks a model, and nothing says that it may be paid' },
      })
      expect(judged - before).toBe(1)
      const paid = await fixed(3, { ...unchanged, mayPay: true, folder: join(world.dir, 'fix 5') })
      expect(paid).toMatchObject({ judged: 2, answer: { isOffline: true } })
    })
  })

  test('says of each limit that was passed by how much, and of none that was kept', () => {
    const limits = { costUsd: 0.01, calls: 12, tokens: 5000 }
    const used = { costUsd: 0.0429, calls: 13, tokens: 1320 }
    expect(passedLines(limits, used, { costUsd: 0.0312, calls: 0, tokens: 0 })).toEqual([
      'passed the limit by $0.0329: one grade used up to $0.0312, which is known once it is given, and calls under way when it was reached ended',
      'passed the limit by 1 call: calls under way when it was reached ended',
    ])
    expect(passedLines(limits, { costUsd: 0.01, calls: 12, tokens: 5000 })).toEqual([])
    expect(passedLines({}, used)).toEqual([])
  })

  test('is asked once to tell what blame will cost, and that is told', async () => {
    const estimate = await estimateBlame(bad, options('gpt-4o'))
    expect(estimate).toMatchObject({ recorded: 'bad', grading: { modelCalls: 1 } })
    expect(estimate.grading?.costUsd).toBeCloseTo(callUsd, 8)
    expect(estimate.high.costUsd).toBeCloseTo(estimate.high.modelCalls * callUsd, 1)
    expect(judged).toBe(1)
  })
})
