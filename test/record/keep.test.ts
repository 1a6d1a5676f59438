import { mkdtempSync, readdirSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, onTestFinished, test } from 'vitest'
import type { HarvestError } from '../../src/errors/index.ts'
import {
  type BudgetEvent,
  createRecorder,
  isSampled,
  mark,
  type RecorderOptions,
  type RunHandle,
  tool,
} from '../../src/record/index.ts'
import { readTape, type TapeClose } from '../../src/tape/index.ts'
import { type Model, startModel } from './model.ts'

let model: Model
beforeAll(async () => {
  model = await startModel()
})
afterAll(() => model.close())

function recording(options: RecorderOptions = {}) {
  const dir = mkdtempSync(join(tmpdir(), 'harvest-keep-'))
  onTestFinished(() => rmSync(dir, { recursive: true, force: true }))
  const warnings: HarvestError[] = []
  const tapes: string[] = []
  const recorder = createRecorder({
    dir,
    onWarning: (error) => warnings.push(error),
    onTape: (path) => tapes.push(path),
    ...options,
  })
  const closeOf = (id: string): TapeClose | undefined => {
    recorder.flush()
    return readTape(join(dir, `${id}.tape.jsonl`)).close
  }
  const kept = (): readonly string[] => {
    recorder.flush()
    return readdirSync(dir).map((name) => name.replace('.tape.jsonl', ''))
  }
  /** Runs one agent by the name of its run. */
  const run = <T>(id: string, fn: (run: RunHandle) => T, agent = 'support'): T => recorder.run({ agent, id }, fn)
  return { recorder, dir, warnings, tapes, closeOf, kept, run }
}

const boom = () => {
  throw new TypeError('no such order')
}
const attempt = async (work: () => unknown): Promise<unknown> => {
  try {
    return await work()
  } catch (error) {
    return error
  }
}

describe('a recorder without options about keeping', () => {
  test('keeps every run and says nothing about it', async () => {
    const { run, closeOf, recorder } = recording()
    run('a', () => 1)
    await attempt(() => run('b', boom))
    for (const id of ['a', 'b'])
      expect(Object.keys(closeOf(id) ?? {})).toEqual(['kind', 'n', 'at', 'outcome', 'events', 'timers'])
    expect(recorder.stats).toMatchObject({ kept: 2, dropped: 0, because: {} })
  })

  test('still says that a run was flagged', () => {
    const { run, closeOf } = recording()
    run('a', ({ flag }) => flag('odd'))
    expect(closeOf('a')).toMatchObject({ kept: [{ because: 'flag', detail: 'odd' }] })
    expect(closeOf('a')).not.toHaveProperty('retention')
  })
})

describe('sampling', () => {
  const ids = Array.from({ length: 200 }, (_, i) => `run-${i}`)

  test('keeps exactly the tapes whose id the sample takes, and says so', () => {
    const { run, kept, recorder, tapes, closeOf } = recording({ sample: 0.2 })
    for (const id of ids) expect(run(id, () => id)).toBe(id)
    const expected = ids.filter((id) => isSampled(id, 0.2))
    expect(kept().toSorted()).toEqual(expected.toSorted())
    expect(tapes.length).toBe(expected.length)
    expect(recorder.lastTape).toBe(tapes.at(-1))
    expect(recorder.stats).toMatchObject({
      kept: expected.length,
      dropped: 200 - expected.length,
      because: { sample: expected.length },
    })
    expect(closeOf(expected[0]!)?.kept).toEqual([{ because: 'sample' }])
  })

  test('a run that chance does not keep never has a file, nor does one that nothing keeps leave one', async () => {
    const { run, dir, kept } = recording({ sample: 0 })
    await run('a', async () => {
      await model.ask()
      expect(readdirSync(dir)).toEqual([])
    })
    expect(kept()).toEqual([])
  })
})

describe('whatever chance says, a run is kept', () => {
  const selective = (options: RecorderOptions = {}) => recording({ sample: 0, ...options })

  test('that threw, with the name and message of what was thrown', async () => {
    const { run, closeOf, kept, recorder } = selective()
    run('fine', () => 1)
    await attempt(() => run('sync', boom))
    await attempt(() => run('async', async () => boom()))
    await attempt(() =>
      run('text', () => {
        throw 'a text'
      }),
    )
    expect(kept().toSorted()).toEqual(['async', 'sync', 'text'])
    expect(closeOf('sync')?.kept).toEqual([{ because: 'error', detail: 'TypeError: no such order' }])
    expect(closeOf('text')?.kept).toEqual([{ because: 'error', detail: 'a text' }])
    expect(recorder.stats).toMatchObject({ kept: 3, dropped: 1, because: { error: 3 } })
  })

  test('but not when errors are not asked for', async () => {
    const { run, kept } = selective({ keep: { errors: false } })
    await attempt(() => run('threw', boom))
    expect(kept()).toEqual([])
  })

  test('whose tape is not whole', async () => {
    const { run, closeOf } = selective()
    await run('spawned', async () => {
      const { spawn } = await import('node:child_process')
      const child = spawn(process.execPath, ['-e', ''])
      await new Promise((done) => child.on('close', done))
    })
    expect(closeOf('spawned')?.kept).toEqual([
      { because: 'unrecorded', detail: expect.stringContaining('child process') },
    ])
  })

  test('that ran into a time limit: its own, an SDK’s, or the recorder’s', async () => {
    const { run, closeOf, kept } = selective({ keep: { timeoutMs: 3_600_000 } })
    await attempt(() => run('signal', () => model.ask({ waitMs: 5_000 }, AbortSignal.timeout(30))))
    class APIConnectionTimeoutError extends Error {}
    await attempt(() =>
      run('sdk', () => {
        throw new Error('the agent gave up', { cause: new APIConnectionTimeoutError('Request timed out.') })
      }),
    )
    run('quick', () => 1)
    expect(kept().toSorted()).toEqual(['sdk', 'signal'])
    expect(closeOf('signal')?.kept?.[0]).toMatchObject({
      because: 'timeout',
      detail: 'TimeoutError: The operation was aborted due to timeout',
    })
    expect(closeOf('sdk')?.kept).toEqual([{ because: 'timeout', detail: 'Error: the agent gave up' }])
    // A limit of its own for the one that is slow: on a busy machine the quick ones may take as long.
    const own = selective({ keep: { timeoutMs: 60 } })
    await own.run('slow', () => new Promise((done) => setTimeout(done, 90)))
    expect(own.closeOf('slow')?.kept).toEqual([
      { because: 'timeout', detail: expect.stringMatching(/^\d+ ms > 60 ms$/) },
    ])
  })

  test('that was flagged, by its handle or from anywhere inside; outside of a run there is nothing to flag', async () => {
    const { run, closeOf, recorder } = selective()
    expect(recorder.flag('nobody')).toBe(false)
    let handle: RunHandle | undefined
    await run('a', async (own) => {
      handle = own
      expect(own.flag('paid twice')).toBe(true)
      await Promise.resolve()
      expect(recorder.flag('paid twice')).toBe(true)
      const ask = tool('ask', () => recorder.flag('asked'))
      expect(ask()).toBe(true)
    })
    expect(handle?.flag('late')).toBe(false)
    expect(closeOf('a')?.kept).toEqual([
      { because: 'flag', detail: 'paid twice' },
      { because: 'flag', detail: 'asked' },
    ])
  })

  test('and what a flag says is neither secret nor dangerous to print, and changes nothing of the tape', async () => {
    const { run, closeOf, dir } = selective()
    await run('a', async ({ flag }) => {
      flag('mail of anna@example.com\n::error::\u001b[2J')
      await model.ask({ model: 'for ben@example.com' })
    })
    expect(closeOf('a')?.kept).toMatchInlineSnapshot(`
      [
        {
          "because": "flag",
          "detail": "mail of redacted-2@email.invalid⏎::error::\\x1b[2J",
        },
      ]
    `)
    const [exchange] = readTape(join(dir, 'a.tape.jsonl')).events.filter(({ kind }) => kind === 'exchange')
    // The first secret of the requests is number 1, as a replay will count.
    expect(JSON.stringify(exchange)).toContain('redacted-1@email.invalid')
  })

  test('however often it is flagged, its last line stays short', () => {
    const { run, closeOf } = selective()
    run('a', ({ flag }) => {
      for (let i = 0; i < 1000; i++) flag(`${i} ${'x'.repeat(5000)}`)
    })
    expect(JSON.stringify(closeOf('a')).length).toBeLessThan(10_000)
  })

  test('that called a tool of the watch list, wrapped or asked for by a model', async () => {
    const { run, closeOf, kept } = selective({ keep: { tools: ['refund'] } })
    const [refund, lookup] = [tool('refund', () => 1), tool('lookup', () => 2)]
    run('wrapped', () => refund())
    run('other', () => lookup())
    await run('asked', () => model.ask({ tools: ['lookup', 'refund'] }))
    await run('other asked', () => model.ask({ tools: ['lookup'] }))
    expect(kept().toSorted()).toEqual(['asked', 'wrapped'])
    for (const id of ['wrapped', 'asked']) expect(closeOf(id)?.kept).toEqual([{ because: 'tool', detail: 'refund' }])
  })

  test('that used more tokens, or money, than the agent’s runs before; other agents do not count', async () => {
    const { run, closeOf, kept } = selective({
      keep: { outliers: { tokens: 0.9, costUsd: 0.9, after: 20 } },
      prices: { 'gpt-4o': { input: 1000, output: 0 } },
    })
    for (let i = 0; i < 30; i++) {
      await run(`usual-${i}`, () => model.ask({ usage: [100, 10] }))
      await run(`large-${i}`, () => model.ask({ usage: [100_000, 10] }), 'research')
    }
    expect(kept()).toEqual([])
    await run('more', () => model.ask({ usage: [100, 12] }))
    await run('dear', () => model.ask({ usage: [102, 0] }))
    expect(closeOf('more')).toMatchObject({
      kept: [{ because: 'tokens', detail: '112 > 110 of 30 runs before' }],
      usage: { modelCalls: 1, inputTokens: 100, outputTokens: 12, costUsd: 0.1 },
    })
    expect(closeOf('dear')?.kept).toEqual([{ because: 'cost', detail: '0.102 > 0.1 of 31 runs before' }])
  })

  test('and of an agent that always uses one of three amounts, the largest does not stand out', async () => {
    const { run, recorder } = selective({ keep: { outliers: { tokens: 0.9, after: 20 } } })
    for (let i = 0; i < 150; i++) await run(`run-${i}`, () => model.ask({ usage: [[30, 45, 60][(i * 7) % 3]!, 0] }))
    expect(recorder.stats.kept).toBeLessThan(10)
    await run('more', () => model.ask({ usage: [90, 0] }))
    recorder.flush()
    expect(recorder.lastTape).toContain('more')
  })

  test('but none stands out before enough were seen', async () => {
    const { run, kept } = selective({ keep: { outliers: { tokens: 0.5, after: 10 } } })
    for (let i = 0; i < 10; i++) await run(`run-${i}`, () => model.ask({ usage: [i + 1, 0] }))
    expect(kept()).toEqual([])
    await run('eleventh', () => model.ask({ usage: [11, 0] }))
    expect(kept()).toEqual(['eleventh'])
  })
})

describe('the budget of a run', () => {
  const spend = (id: string, usage: readonly [number, number], times: number, how: ReturnType<typeof recording>) =>
    how.run(id, async () => {
      for (let i = 0; i < times; i++) await model.ask({ usage })
    })

  test('past the soft limit it is kept and told, once', async () => {
    const events: BudgetEvent[] = []
    const how = recording({ sample: 0, budget: { tokens: { soft: 100 } }, onBudget: (event) => events.push(event) })
    await spend('within', [40, 10], 2, how)
    await spend('over', [40, 10], 4, how)
    expect(how.kept()).toEqual(['over'])
    expect(how.closeOf('over')?.kept).toEqual([{ because: 'budget', detail: 'tokens 150 > 100, soft' }])
    expect(events).toEqual([
      {
        run: 'over',
        agent: 'support',
        of: 'tokens',
        level: 'soft',
        limit: 100,
        used: 150,
        usage: { modelCalls: 3, inputTokens: 120, outputTokens: 30, costUsd: expect.closeTo(0.0006, 9) },
      },
    ])
  })

  test.for(['tokens', 'costUsd', 'calls'] as const)(
    'past the hard limit of %s the signal is aborted and tools throw',
    async (of) => {
      const limits = { tokens: 20, costUsd: 0.0001, calls: 1 }
      const { run, closeOf, dir } = recording({ budget: { [of]: { hard: limits[of] } } })
      const seen: unknown[] = []
      const refund = tool('refund', async () => 'paid')
      await run('a', async ({ signal, usage }) => {
        seen.push(usage, signal.aborted, await refund())
        await model.ask()
        seen.push(signal.aborted)
        await model.ask()
        seen.push(signal.aborted, await attempt(refund), await attempt(() => model.ask({}, signal)))
      })
      const error = expect.objectContaining({ code: 'HARVEST_BUDGET' })
      const nothing = { modelCalls: 0, inputTokens: 0, outputTokens: 0, costUsd: 0 }
      expect(seen).toEqual([nothing, false, 'paid', false, true, error, error])
      expect(closeOf('a')?.kept).toEqual([
        { because: 'budget', detail: expect.stringMatching(new RegExp(`^${of} .* hard$`)) },
      ])
      const calls = readTape(join(dir, 'a.tape.jsonl')).events.filter((event) => event.kind === 'tool')
      expect(calls).toMatchObject([{ name: 'refund' }, { name: 'refund', sync: true, error: {} }])
    },
  )

  test('the error says which limit, how much was used, and what to do', async () => {
    const { run } = recording({ budget: { calls: { hard: 1 } } })
    await run('a', async ({ signal }) => {
      await model.ask()
      await model.ask()
      expect(signal.reason).toMatchInlineSnapshot(`
        [HarvestError: The run exceeded its budget

          run    a
          agent  support
          limit  calls 1
          used   2

        At the hard limit the run's signal is aborted and wrapped tools are refused.
        → to see what the run did: npx vitest-harvest show a
        → to raise the limit, in createRecorder(): budget: { calls: { hard: … } }
        (HARVEST_BUDGET)]
      `)
    })
  })

  test('ends a run that hands the signal on, as itself', async () => {
    const { run, closeOf } = recording({ budget: { calls: { hard: 2 } }, retention: {} })
    const endless = run('a', async ({ signal }) => {
      for (;;) await model.ask({}, signal)
    })
    expect(await attempt(() => endless)).toMatchObject({ code: 'HARVEST_BUDGET' })
    expect(closeOf('a')).toMatchObject({ outcome: { status: 'threw' }, retention: { class: 'incident' } })
    expect(closeOf('a')?.usage?.modelCalls).toBe(3)
  })

  test('a call that cannot be counted is told once per model and never counted as free', async () => {
    const how = recording({ budget: { costUsd: { hard: 1 }, tokens: { hard: 1000 } } })
    for (const id of ['a', 'b'])
      await how.run(id, async () => {
        await model.ask({ model: 'house-model' })
        await model.ask({ usage: null })
        await model.ask({ status: 429 })
        await model.ask()
      })
    expect(how.warnings.map(({ message }) => message)).toMatchInlineSnapshot(`
      [
        "Cannot count a model call: its model has no price

        model  house-model

      This call is not counted, so the run can exceed its budget.
      → give its price in dollars per million tokens: prices: { 'house-model': { input: …, output: … } }
      (HARVEST_USAGE_UNKNOWN)",
        "Cannot count a model call: the response has no token usage

        model  gpt-4o

      This call is not counted, so the run can exceed its budget.
      → request usage: OpenAI streams send it with stream_options: { include_usage: true }
      (HARVEST_USAGE_UNKNOWN)",
      ]
    `)
    expect(how.closeOf('b')?.usage).toEqual({ modelCalls: 4, inputTokens: 20, outputTokens: 10 })
  })

  test('a run that passed a hard limit is an incident, even if it ends well; a soft one only stands out', async () => {
    const how = recording({ budget: { calls: { soft: 1, hard: 2 } }, retention: {} })
    await spend('soft', [1, 1], 2, how)
    await spend('hard', [1, 1], 3, how)
    const said = ['soft', 'hard'].map((id) => [how.closeOf(id)?.outcome.status, how.closeOf(id)?.retention?.class])
    expect(said).toEqual([
      ['returned', 'flagged'],
      ['returned', 'incident'],
    ])
  })

  test('outliers that cannot see are told of, too', async () => {
    const how = recording({ keep: { outliers: { tokens: 0.9 } } })
    await how.run('a', () => model.ask({ usage: null }))
    await how.run('b', () => model.ask({ model: 'house-model' }))
    expect(how.warnings.map(({ code, facts }) => [code, facts.where])).toEqual([
      ['HARVEST_USAGE_UNKNOWN', { model: 'gpt-4o' }],
    ])
  })

  test('a call that was refused costs nothing', async () => {
    const { run, closeOf, warnings } = recording({ budget: { costUsd: { hard: 1 } } })
    await run('a', () => model.ask({ status: 429 }))
    expect(warnings).toEqual([])
    expect(closeOf('a')?.usage).toEqual({ modelCalls: 1, inputTokens: 0, outputTokens: 0, costUsd: 0 })
  })

  test('is of one run: runs at the same time have each their own', async () => {
    const how = recording({ budget: { calls: { hard: 3 } } })
    const runs = Array.from({ length: 20 }, (_, i) =>
      how.run(`run-${i}`, async ({ signal, usage: _ }) => {
        for (let call = 0; call < (i % 2 ? 3 : 4); call++) await model.ask()
        return signal.aborted
      }),
    )
    expect(await Promise.all(runs)).toEqual(Array.from({ length: 20 }, (_, i) => i % 2 === 0))
  })

  test('holds also where no tape can be written', async () => {
    const { run, warnings } = recording({ dir: '/dev/null/folder', budget: { calls: { hard: 1 } } })
    const aborted = await run('a', async ({ signal }) => {
      await model.ask()
      await model.ask()
      return signal.aborted
    })
    expect(aborted).toBe(true)
    expect(warnings.map(({ code }) => code)).toEqual(['HARVEST_RECORDING_FAILED'])
  })

  test('counting the tokens of a call is no call', async () => {
    const { run, closeOf, warnings } = recording({ budget: { tokens: { hard: 1 } } })
    const body = JSON.stringify({ model: 'claude-x', messages: [{ role: 'user', content: 'Hi' }], wish: {} })
    const url = `${model.base}/v1/messages/count_tokens?beta=true`
    await run('a', async () => (await fetch(url, { method: 'POST', body })).text())
    expect(closeOf('a')?.usage).toEqual({ modelCalls: 0, inputTokens: 0, outputTokens: 0, costUsd: 0 })
    expect(warnings).toEqual([])
  })

  test('what the callback does belongs to no run', async () => {
    const onBudget = () => mark('from the callback')
    const how = recording({ budget: { calls: { soft: 1 } }, onBudget })
    await spend('a', [1, 1], 2, how)
    expect(readTape(join(how.dir, 'a.tape.jsonl')).events.filter(({ kind }) => kind === 'mark')).toEqual([])
  })

  test('a callback that throws is nobody’s problem', async () => {
    const how = recording({ budget: { calls: { soft: 1 } }, onBudget: boom })
    await spend('a', [1, 1], 2, how)
    expect(how.closeOf('a')?.incomplete).toBeUndefined()
    expect(how.warnings).toEqual([])
  })
})

describe('retention', () => {
  const days = (close: TapeClose | undefined, dir: string, id: string): number => {
    const { startedAt } = readTape(join(dir, `${id}.tape.jsonl`)).header
    return Math.round((Date.parse(close?.retention?.until ?? '') - Date.parse(startedAt)) / 86_400_000)
  }

  test('is clean and short, or flagged, or an incident and long', async () => {
    const { run, closeOf, dir } = recording({ retention: {}, keep: { tools: ['refund'] } })
    run('clean', () => 1)
    run('flagged', ({ flag }) => flag('odd'))
    run('watched', () => tool('refund', () => 1)())
    await attempt(() => run('incident', boom))
    const said = ['clean', 'flagged', 'watched', 'incident'].map((id) => [
      closeOf(id)?.retention?.class,
      days(closeOf(id), dir, id),
    ])
    expect(said).toEqual([
      ['clean', 7],
      ['flagged', 90],
      ['flagged', 90],
      ['incident', 365],
    ])
  })

  test('as long as the options say, or for ever', async () => {
    const { run, closeOf, dir } = recording({ retention: { clean: '48h', incident: 'forever' } })
    run('clean', () => 1)
    await attempt(() => run('incident', boom))
    expect(days(closeOf('clean'), dir, 'clean')).toBe(2)
    expect(closeOf('incident')?.retention).toEqual({ class: 'incident' })
  })

  test('a legal hold keeps the run and stands beside its class', () => {
    const { run, closeOf, recorder } = recording({ sample: 0 })
    expect(recorder.hold('nobody')).toBe(false)
    run('a', ({ hold }) => hold('case 17, asked for by anna@example.com'))
    run('b', () => recorder.hold('case 18'))
    expect(closeOf('a')).toMatchObject({
      kept: [{ because: 'flag', detail: 'case 17, asked for by redacted-1@email.invalid' }],
      retention: { class: 'flagged', hold: 'case 17, asked for by redacted-1@email.invalid' },
    })
    expect(closeOf('b')?.retention).toEqual({ class: 'flagged', hold: 'case 18' })
  })
})

describe('options are checked at start-up', () => {
  const refused: readonly (readonly [options: object, what: RegExp])[] = [
    [{ samples: 1 }, /Unknown option 'samples' of createRecorder.*did you mean: sample/s],
    [{ keep: { timeout: 5 } }, /Unknown option 'keep.timeout' of createRecorder/],
    [{ keep: { outliers: { token: 0.9 } } }, /'keep.outliers.token'.*keep.outliers.tokens/s],
    [{ budget: { tokens: { max: 5 } } }, /'budget.tokens.max'/],
    [{ sample: 1.5 }, /'sample'.*1\.5.*a number from 0 to 1/s],
    [{ sample: Number.NaN }, /'sample'/],
    [{ sample: '0.5' }, /'sample'/],
    [{ keep: true }, /'keep'/],
    [{ keep: { errors: 'yes' } }, /'keep.errors'/],
    [{ keep: { timeoutMs: 0 } }, /'keep.timeoutMs'/],
    [{ keep: { outliers: { tokens: 99 } } }, /'keep.outliers.tokens'/],
    [{ keep: { outliers: { after: 50 } } }, /'keep.outliers'/],
    [{ keep: { outliers: { tokens: 0.9, after: 4 } } }, /'keep.outliers.after'/],
    [{ keep: { tools: 'refund' } }, /'keep.tools'/],
    [{ budget: { tokens: {} } }, /'budget.tokens'/],
    [{ budget: { tokens: { soft: 5, hard: 4 } } }, /'budget.tokens.soft'.*at most the hard limit, 4/s],
    [{ budget: { calls: { hard: Number.POSITIVE_INFINITY } } }, /'budget.calls.hard'/],
    [{ prices: { x: { input: 1 } } }, /'prices'/],
    [{ prices: { x: { input: 1, output: -1 } } }, /'prices'/],
    [{ prices: { x: { input: 1, output: 1, cached: 1 } } }, /'prices'/],
    [{ retention: { clean: '7 days' } }, /'retention.clean'/],
    [{ retention: { clean: '0d' } }, /'retention.clean'/],
    [{ retention: { clean: '1001y' } }, /'retention.clean'/],
    [{ retention: { dirty: '7d' } }, /'retention.dirty'/],
    [{ dir: 5 }, /'dir'/],
    [{ onBudget: 'log' }, /'onBudget'/],
  ]

  test.for(refused)('%j is refused', ([options, what]) => {
    const error = (() => {
      try {
        createRecorder(options)
      } catch (thrown) {
        return thrown as HarvestError
      }
      return undefined
    })()
    expect(error?.code).toBe('HARVEST_RECORDER_OPTION')
    expect(error?.message).toMatch(what)
  })

  test('what is undefined is not given', () => {
    const { run, kept } = recording({ sample: undefined, keep: undefined } as object)
    run('a', () => 1)
    expect(kept()).toEqual(['a'])
  })

  test('a number that cannot be is named, with what is wanted', () => {
    expect(() => createRecorder({ sample: 5 })).toThrowErrorMatchingInlineSnapshot(`
      [HarvestError: Invalid option 'sample' of createRecorder

        expected  a number from 0 to 1
        got       5

      → set sample to a number from 0 to 1, or leave it out
      (HARVEST_RECORDER_OPTION)]
    `)
  })
})
