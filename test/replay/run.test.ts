import { setTimeout as sleep, setInterval as every } from 'node:timers/promises'
import { beforeAll, describe, expect, test } from 'vitest'
import { installReplay, type ReplayOptions, type ReplayResult, replayTape, verdictOf } from '../../src/replay/index.ts'
import { tool } from '../../src/record/index.ts'
import { outsideRuns } from '../../src/seam/source.ts'
import { type CallEvent, encodeValue, type Tape } from '../../src/tape/index.ts'
import { chat, chatUrl, Recording, tapeOf } from './tapes.ts'

beforeAll(() => installReplay())

const status = 'https://shop.test/status'
const ask = async (url = status): Promise<string> => (await fetch(url)).text()
const post = async (body: string, url = chatUrl): Promise<string> => (await fetch(url, { method: 'POST', body })).text()
const codes = ({ problems }: ReplayResult): readonly string[] => problems.map(({ code }) => code)
/** Replays quickly give up: nothing here takes time. */
/** For agents that never end; all others have the usual time, for the machine may be busy. */
const soon = { hangMs: 150 } as ReplayOptions

describe('the clock', () => {
  test('back-off of minutes takes no time', async () => {
    const tape = tapeOf([
      { method: 'GET', url: status, answer: 'busy' },
      { method: 'GET', url: status, answer: 'ok' },
    ])
    const result = await replayTape(tape, async () => {
      const before = Date.now()
      let answer = await ask()
      for (let wait = 60_000; answer !== 'ok'; wait *= 2) {
        await sleep(wait)
        answer = await ask()
      }
      return Date.now() - before
    })
    expect(codes(result)).toEqual([])
    expect(result.outcome).toMatchObject({ status: 'returned', value: expect.toSatisfy((ms: number) => ms >= 60_000) })
    // Waiting for real would take longer than a test may.
    expect(result.comparison.timersFired).toBe(1)
  })

  test('what the process stands still for does not count as waiting of an agent that never answers', async () => {
    const work = Promise.withResolvers<string>()
    // Outside of the seam, on a machine that has too much to do: most of the limit passes in one turn, three times.
    let left = 3
    const stand = (): void => {
      const end = performance.now() + 240
      while (performance.now() < end);
      if (--left > 0) setTimeout(stand, 1)
      else work.resolve('done')
    }
    const result = await replayTape(
      tapeOf([]),
      () => {
        outsideRuns(() => setTimeout(stand, 1))
        return work.promise
      },
      { hangMs: 400 } as ReplayOptions,
    )
    expect([codes(result), result.outcome]).toMatchObject([[], { status: 'returned', value: 'done' }])
  })

  test('a loop that waits for the clock ends', async () => {
    const result = await replayTape(tapeOf([]), () => {
      const until = Date.now() + 500
      while (Date.now() < until);
      return 'done'
    })
    expect(result.outcome).toEqual({ status: 'returned', value: 'done' })
  })

  test('a loop that waits for a clock that never comes is stopped', async () => {
    const result = await replayTape(tapeOf([]), () => {
      while (Date.now() > 0);
    })
    expect(codes(result)).toEqual(['HARVEST_CLOCK_SPIN'])
  })

  test('dates stay dates: instanceof, subclasses, clones, parsing', async () => {
    class Stamp extends Date {
      label = 'stamp'
    }
    const result = await replayTape(tapeOf([]), () => {
      const now = new Date()
      const clone = structuredClone(now)
      return [
        now instanceof Date,
        clone instanceof Date,
        clone.getTime() === now.getTime(),
        new Stamp() instanceof Stamp && new Stamp() instanceof Date,
        new Stamp().label,
        new Stamp(5).getTime(),
        Object.prototype.toString.call(now),
        now.constructor === Date,
        Date.UTC(2026, 0) === Date.parse('2026-01-01T00:00:00Z'),
        new Date(2026, 1).getMonth(),
        typeof Date(),
        now.toISOString().slice(0, 10),
        new Stamp().toISOString().slice(0, 10),
      ]
    })
    expect(result.outcome).toEqual({
      status: 'returned',
      value: [true, true, true, true, 'stamp', 5, '[object Date]', true, true, 1, 'string', '2026-03-04', '2026-03-04'],
    })
  })
})

describe('timers', () => {
  const run = async (agent: () => unknown): Promise<unknown> => {
    const result = await replayTape(tapeOf([]), agent)
    expect(codes(result)).toEqual([])
    return result.outcome.status === 'returned' ? result.outcome.value : result.outcome
  }

  test('fire by due time, then by age', async () => {
    const order = await run(async () => {
      const fired: number[] = []
      for (const ms of [30, 10, 20, 10]) setTimeout(() => fired.push(ms), ms)
      await sleep(40)
      return fired
    })
    expect(order).toEqual([10, 10, 20, 30])
  })

  test('refresh begins the wait again', async () => {
    const waited = await run(async () => {
      const { promise, resolve } = Promise.withResolvers<void>()
      const timer = setTimeout(resolve, 100)
      await sleep(60)
      timer.refresh()
      const start = performance.now()
      await promise
      return Math.round(performance.now() - start)
    })
    expect(waited).toBe(100)
  })

  test('refreshed in the moment it was set in, a timer fires once', async () => {
    const fired = await run(async () => {
      let count = 0
      setTimeout(() => count++, 20)
        .refresh()
        .refresh()
      await sleep(50)
      return count
    })
    expect(fired).toBe(1)
  })

  test('a timer is cleared by its handle, its number, and itself', async () => {
    const fired = await run(async () => {
      const seen: string[] = []
      clearTimeout(setTimeout(() => seen.push('handle'), 5))
      clearTimeout(Number(setTimeout(() => seen.push('number'), 5)))
      clearInterval(`${Number(setInterval(() => seen.push('text'), 5))}` as unknown as number)
      setTimeout(() => seen.push('closed'), 5).close()
      {
        using _timer = setTimeout(() => seen.push('disposed'), 5)
      }
      await sleep(20)
      return seen
    })
    expect(fired).toEqual([])
  })

  test('arguments, unref and hasRef are those of Node', async () => {
    const seen = await run(async () => {
      const { promise, resolve } = Promise.withResolvers<readonly unknown[]>()
      setTimeout((...args: unknown[]) => resolve(args), 5, 'a', 'b')
      const idle = setTimeout(() => undefined, 1e6).unref()
      return [await promise, idle.hasRef(), idle.ref().hasRef(), clearTimeout(idle)]
    })
    expect(seen).toEqual([['a', 'b'], false, true, undefined])
  })

  test('an interval repeats until it is cleared, also as an async iterator', async () => {
    const seen = await run(async () => {
      const ticks: number[] = []
      const start = performance.now()
      for await (const tick of every(50, 'tick')) {
        expect(tick).toBe('tick')
        ticks.push(Math.round(performance.now() - start))
        if (ticks.length === 3) break
      }
      return ticks
    })
    expect(seen).toEqual([50, 100, 150])
  })

  test('waits are aborted by their signal', async () => {
    const seen = await run(async () => {
      const error = await sleep(1000, undefined, { signal: AbortSignal.timeout(10) }).catch((reason: unknown) => reason)
      const early = await sleep(1000, undefined, { signal: AbortSignal.abort('no') }).catch((reason: unknown) => reason)
      return [error, early].map((reason) => [
        (reason as Error).name,
        ((reason as Error).cause as Error).name ?? (reason as Error).cause,
      ])
    })
    expect(seen).toEqual([
      ['AbortError', 'TimeoutError'],
      ['AbortError', 'no'],
    ])
  })

  test('promisify gives what it gives in Node', async () => {
    const { promisify } = await import('node:util')
    expect(await run(() => Promise.all([promisify(setTimeout)(5, 'slept'), promisify(setImmediate)('next')]))).toEqual([
      'slept',
      'next',
    ])
  })

  test('a model that is faster than its time limit stays so, and one that is slower too', async () => {
    const slow = new Recording()
    slow.exchange({ body: chat('hi') })
    const [event] = slow.events
    const late = JSON.parse(JSON.stringify(event).replaceAll('1.5', '80').replaceAll('2.5', '81')) as typeof event
    slow.events.splice(0, 1, late!)
    const race = () => Promise.race([post(chat('hi')).then(() => 'answer'), sleep(40, 'limit')])
    expect((await replayTape(slow.tape(), race)).outcome).toMatchObject({ value: 'limit' })
    expect((await replayTape(tapeOf([{ body: chat('hi') }]), race)).outcome).toMatchObject({ value: 'answer' })
  })
})

describe('order', () => {
  const reserveThenCharge = (): Tape => tapeOf([{ body: 'reserve' }, { body: 'charge' }])

  test('dependent steps that changed places are a problem', async () => {
    const result = await replayTape(reserveThenCharge(), async () => [await post('charge'), await post('reserve')])
    expect(codes(result)).toEqual(['HARVEST_ORDER'])
  })

  test('a step that no longer waits for the one before is a problem', async () => {
    const result = await replayTape(reserveThenCharge(), () => Promise.all([post('reserve'), post('charge')]))
    expect(codes(result)).toEqual(['HARVEST_ORDER'])
  })

  test('calls made at once may be made in another order', async () => {
    const recording = new Recording()
    for (const name of ['a', 'b', 'c']) recording.exchange({ body: name, answer: `for ${name}` })
    recording.atOnce(3)
    const result = await replayTape(recording.tape(), () => Promise.all(['c', 'a', 'b'].map((name) => post(name))))
    expect(codes(result)).toEqual([])
    expect(result.outcome).toMatchObject({ value: ['for c', 'for a', 'for b'] })
  })

  const turn = (calls: number): string => {
    const one = (i: number) => {
      const args = JSON.stringify({ side: ['left', 'right'][i] })
      return { id: `c${i}`, type: 'function', function: { name: 'look', arguments: args } }
    }
    return JSON.stringify({
      choices: [{ message: { role: 'assistant', tool_calls: Array.from({ length: calls }, (_, i) => one(i)) } }],
    })
  }
  const conversation = (calls: number): Tape =>
    tapeOf([
      { body: chat('go'), answer: turn(calls) },
      { body: 'left', url: status },
      { body: 'right', url: status },
      { body: chat('end') },
    ])

  test('tools one turn of the model asked for may change places, tools it asked for alone may not', async () => {
    const agent = async () => {
      await post(chat('go'))
      await post('right', status)
      await post('left', status)
      await post(chat('end'))
    }
    expect(codes(await replayTape(conversation(2), agent))).toEqual([])
    expect(codes(await replayTape(conversation(1), agent))).toEqual(['HARVEST_ORDER'])
  })

  test('what the provider ran itself does not free the agent to change the order of its own', async () => {
    const ran = [
      { type: 'web_search', index: 0 },
      { type: 'web_search', index: 1 },
    ]
    const answer = JSON.stringify({ choices: [{ message: { role: 'assistant', executed_tools: ran } }] })
    const tape = tapeOf([
      { body: chat('go'), answer },
      { body: 'left', url: status },
      { body: 'right', url: status },
    ])
    const result = await replayTape(tape, async () => {
      await post(chat('go'))
      await post('right', status)
      await post('left', status)
    })
    expect(codes(result)).toEqual(['HARVEST_ORDER'])
  })

  test('a tool moved before or behind a model call is a problem', async () => {
    const before = await replayTape(conversation(2), async () => {
      await post('left', status)
      await post(chat('go'))
      await post('right', status)
      await post(chat('end'))
    })
    const behind = await replayTape(conversation(2), async () => {
      await post(chat('go'))
      await post('left', status)
      await post(chat('end'))
      await post('right', status)
    })
    expect([codes(before), codes(behind)]).toEqual([['HARVEST_ORDER'], ['HARVEST_ORDER']])
  })

  describe('a tool call that later steps were recorded behind', () => {
    const look = tool('look', async (_: { id: number }) => 'ran')
    const pay = tool('pay', async (_: { id: number }) => 'ran')
    const lookThenPay = (): Tape => {
      const recording = new Recording()
      recording.call('look', { id: 1 }, 'seen')
      recording.call('pay', { id: 1 }, 'paid')
      recording.exchange({ body: chat('end') })
      return recording.tape()
    }

    test('may be left out as far as order goes: whether it was needed is for the trace to say', async () => {
      const result = await replayTape(lookThenPay(), async () => [await pay({ id: 1 }), await post(chat('end'))])
      expect(codes(result)).toEqual(['HARVEST_UNUSED'])
      expect(result.outcome).toMatchObject({ status: 'returned', value: ['paid', '{"ok":true}'] })
    })

    test('is out of order when it is made after them', async () => {
      const agent = async () => [await pay({ id: 1 }), await look({ id: 1 }), await post(chat('end'))]
      const result = await replayTape(lookThenPay(), agent)
      expect(codes(result)).toEqual(['HARVEST_ORDER'])
      expect(result.problems[0]?.message).toContain('in another order: step 2 came before step 1')
    })

    test('is out of order at once when it was made and they do not wait for its answer', async () => {
      const agent = () => Promise.all([look({ id: 1 }), pay({ id: 1 }), post(chat('end'))])
      expect(codes(await replayTape(lookThenPay(), agent))[0]).toBe('HARVEST_ORDER')
    })
  })
})

describe('an agent that does not end', () => {
  test('an agent that never answers is told from one that takes its time', async () => {
    const result = await replayTape(tapeOf([]), () => new Promise(() => undefined), soon)
    expect(codes(result)).toEqual(['HARVEST_AGENT_TIMEOUT'])
    expect(result.outcome).toMatchObject({ status: 'threw' })
  })

  test('an agent that only lets time pass is stopped', async () => {
    const result = await replayTape(
      tapeOf([]),
      async () => {
        for (;;) await sleep(10)
      },
      soon,
    )
    expect(codes(result)).toEqual(['HARVEST_AGENT_TIMEOUT'])
  })

  test('an agent that tries for ever is stopped, its problem listed once', async () => {
    const result = await replayTape(tapeOf([]), async () => {
      for (;;) await ask().catch(() => undefined)
    })
    expect(codes(result)).toEqual(['HARVEST_DIVERGENCE'])
    expect(result.outcome).toMatchObject({ status: 'threw' })
  })

  test('a run that was given up does nothing any more, and the next one is not disturbed', async () => {
    const tape = tapeOf([
      { method: 'GET', url: status, answer: 'one' },
      { method: 'GET', url: status, answer: 'two' },
    ])
    const seen: string[] = []
    const stop = new AbortController()
    const began = Promise.withResolvers<void>()
    const zombie = replayTape(
      tape,
      async () => {
        seen.push(await ask())
        began.resolve()
        await new Promise((resolve) => (waiting = resolve))
        setTimeout(() => seen.push('timer'), 1)
        setImmediate(() => seen.push('immediate'))
        void sleep(1).then(() => seen.push('sleep'))
        void ask().then(
          (answer) => seen.push(answer),
          (error: unknown) => seen.push(String(error)),
        )
        void lookUp('x').then((answer) => seen.push(String(answer)))
        const late = tool('late', () => 'ran')
        void Promise.resolve(late()).then((answer) => seen.push(answer))
      },
      { signal: stop.signal },
    )
    let waiting: (value: unknown) => void = () => undefined
    await began.promise
    stop.abort(new Error('time is up'))
    const result = await zombie
    expect(codes(result)).toEqual(['HARVEST_RUN_ABORTED'])
    waiting(undefined)
    const next = await replayTape(tape, async () => [await ask(), await sleep(5_000, 'slept'), await ask()])
    await new Promise((resolve) => setTimeout(resolve, 30))
    expect(seen).toEqual(['one'])
    expect(codes(next)).toEqual([])
    expect(next.outcome).toMatchObject({ value: ['one', 'slept', 'two'] })
  })

  test('a signal that was aborted before is heard', async () => {
    const result = await replayTape(tapeOf([]), () => new Promise(() => undefined), {
      signal: AbortSignal.abort(new Error('no')),
    })
    expect(codes(result)).toEqual(['HARVEST_RUN_ABORTED'])
  })
})

const lookUp = tool('look_up', (id: string): Promise<unknown> => Promise.reject(new Error(`ran for real: ${id}`)))

describe('several replays in one process', () => {
  test('ten at once each get their own answers, clocks and problems', async () => {
    const runs = Array.from({ length: 10 }, async (_, i) => {
      const tape = tapeOf([{ body: 'who', answer: `I am ${i}` }], { id: `run-${i}` })
      const result = await replayTape(tape, async () => {
        await sleep(i * 1000)
        const answer = await post('who')
        if (i % 2 === 1) await post('unknown').catch(() => undefined)
        return answer
      })
      expect(result.outcome).toMatchObject({ value: `I am ${i}` })
      expect(codes(result)).toEqual(i % 2 === 1 ? ['HARVEST_TAPE_EXHAUSTED'] : [])
    })
    await Promise.all(runs)
  })

  test('code outside a run keeps the real clock and the real timers while replays run', async () => {
    const [started, ticked] = [Date.now(), process.hrtime.bigint()]
    let real = false
    const timer = setTimeout(() => (real = true), 1)
    await Promise.all([1, 2, 3].map(() => replayTape(tapeOf([]), () => sleep(60_000))))
    await new Promise((resolve) => setTimeout(resolve, 5))
    clearTimeout(timer)
    expect(real).toBe(true)
    // As much as the hardware's clock, however long it took: a replay would have gone 60 s ahead of it.
    const tookMs = Number(process.hrtime.bigint() - ticked) / 1e6
    expect(Math.abs(Date.now() - started - tookMs)).toBeLessThan(30_000)
  })
})

test('an error whose class leaves its name at Error counts as one of that class, thrown by the agent or given back by the tape', async () => {
  class ApprovalDenied extends Error {}
  class Forgotten extends Error {}
  const recording = new Recording()
  recording.call('pay', { id: 1 }, 'unused', {
    result: undefined,
    error: encodeValue(new ApprovalDenied('no')),
  } as never)
  const returned = recording.tape()
  const outcome = { status: 'threw', error: encodeValue(new ApprovalDenied('no')) } as const
  const tape: Tape = { ...returned, close: { ...returned.close!, outcome } }
  const pay = tool('pay', async (_: { id: number }) => 'ran')
  const verdict = async (thrown?: Error): Promise<string> => {
    const run = await replayTape(tape, async () => {
      await pay({ id: 1 }).catch((error: unknown) => {
        throw thrown ?? error
      })
    })
    return verdictOf(run).verdict
  }
  expect(await verdict()).toBe('same')
  expect(await verdict(new ApprovalDenied('no'))).toBe('same')
  expect(await verdict(new Forgotten('no'))).toBe('different')
  expect(await verdict(new Error('no'))).toBe('different')
})

describe('tools', () => {
  const one = (recording: Recording): Tape => recording.tape()

  test('what a tool threw is thrown again, whatever it was', async () => {
    const recording = new Recording()
    recording.call('pay', { id: 1 }, 'unused', { result: undefined, error: 'a text' } as never)
    recording.call('pay', { id: 2 }, 'unused', { result: undefined, error: { $type: 'undefined' } } as never)
    const pay = tool('pay', async (_: { id: number }) => 'ran')
    const result = await replayTape(one(recording), async () => {
      const thrown: unknown[] = []
      for (const id of [1, 2]) await pay({ id }).catch((error: unknown) => thrown.push(error))
      return thrown
    })
    expect(codes(result)).toEqual([])
    expect(result.outcome).toMatchObject({ value: ['a text', undefined] })
  })

  test('a tool that never settled never settles', async () => {
    const recording = new Recording()
    const event = recording.call('wait', { id: 1 }, null)
    const { settled: _settled, result: _result, ...open } = event
    recording.events.splice(0, 1, open)
    const wait = tool('wait', async (_: { id: number }) => 'ran')
    const result = await replayTape(one(recording), () => Promise.race([wait({ id: 1 }), sleep(50, 'gave up')]))
    expect(codes(result)).toEqual([])
    expect(result.outcome).toMatchObject({ value: 'gave up' })
  })

  test('changed arguments are answered at their place, and are never green, prose neither', async () => {
    const search = tool('search', async (_: { query: string }) => 'ran')
    const recorded = (queries: readonly string[], extra: Partial<CallEvent> = {}): Tape => {
      const recording = new Recording()
      for (const query of queries) recording.call('search', { query }, `found ${query}`, extra)
      return recording.tape()
    }
    const [pull, push] = ['git pull origin main, please', 'git push origin main, please']
    const changed = await replayTape(recorded([pull]), () => search({ query: push }))
    expect(codes(changed)).toEqual(['HARVEST_DIVERGENCE'])
    expect(changed.outcome).toMatchObject({ value: `found ${pull}` })
    expect(changed.drift).toMatchObject([
      {
        class: 'arguments',
        policy: 'fail',
        part: 'search',
        path: 'args.query',
        recorded: pull,
        live: push,
        step: 0,
        stepNumber: 1,
        site: expect.stringMatching(/^test\/replay\/run\.test\.ts:\d+:\d+$/),
      },
    ])
    // One after the other, the place tells which is meant.
    const twice = await replayTape(recorded([pull, 'second']), async () => [
      await search({ query: push }),
      await search({ query: 'second' }),
    ])
    expect(codes(twice)).toEqual(['HARVEST_DIVERGENCE'])
    expect(twice.outcome).toMatchObject({ value: [`found ${pull}`, 'found second'] })
    expect(
      codes(await replayTape(recorded([pull]), () => search({ query: push }), { drift: { arguments: 'report' } })),
    ).toEqual([])
  })

  test('of two calls that may come at this place none is guessed for other arguments', async () => {
    const search = tool('search', async (_: { query: string }) => 'ran')
    const recording = new Recording()
    const first = recording.call('search', { query: 'one' }, 'found one')
    const { settled: _settled, ...second } = recording.call('search', { query: 'two' }, 'found two')
    recording.events.splice(0, 2, { ...first, settled: [4, 9] }, { ...second, settled: [5, 9] })
    const result = await replayTape(recording.tape(), () => search({ query: 'three' }))
    expect(codes(result)).toEqual(['HARVEST_DIVERGENCE'])
    expect(result.outcome).toMatchObject({ status: 'threw' })
  })

  test('a call repeated is not answered with what is left for another one', async () => {
    const search = tool('search', async (_: { query: string }) => 'ran')
    const recording = new Recording()
    recording.call('search', { query: 'weather in tokyo for today' }, 'rain')
    recording.call('search', { query: 'weather in paris for today' }, 'sun')
    const result = await replayTape(one(recording), async () => {
      await search({ query: 'weather in tokyo for today' })
      return search({ query: 'weather in tokyo for today' })
    })
    expect(codes(result)).toEqual(['HARVEST_DIVERGENCE'])
  })
})

test('a model that changed is served and unproven by default, and may fail or be allowed', async () => {
  const tape = tapeOf([{ body: chat('hi') }], { value: '{"ok":true}' })
  const agent = () => post(chat('hi', { model: 'm-2' }))
  const judged = async (options?: ReplayOptions) => {
    const run = await replayTape(tape, agent, options)
    const { verdict, unproven, notJudged } = verdictOf(run)
    return { codes: codes(run), verdict, unproven: unproven.map(({ part }) => part), notJudged: notJudged.length }
  }
  expect(await judged()).toEqual({ codes: [], verdict: 'unproven', unproven: ['model'], notJudged: 0 })
  const failed = await judged({ drift: { model: 'fail' } })
  expect(failed).toEqual({ codes: ['HARVEST_DRIFT'], verdict: 'different', unproven: [], notJudged: 0 })
  expect(await judged({ drift: { model: 'report' } })).toMatchObject({ codes: [], unproven: [], notJudged: 1 })
})

test('an error counts as the recorded one by name, message, own fields and causes, anything else thrown by its value', async () => {
  const thrown = (error: unknown): Tape => ({
    ...tapeOf([]),
    close: { kind: 'close', n: 1, at: 1, events: 0, outcome: { status: 'threw', error: error as never } },
  })
  const equal = async (recorded: unknown, live: unknown): Promise<boolean> => {
    const { comparison } = await replayTape(thrown(recorded), () => {
      throw live
    })
    return comparison.outcomeEqual === true
  }
  const [difference] = verdictOf(
    await replayTape(
      thrown({ $type: 'error', class: 'Error', name: 'Error', message: 'no', fields: { id: 1 } }),
      () => {
        throw Object.assign(new Error('no'), { id: 2 })
      },
    ),
  ).differences
  expect(difference?.facts.where).toMatchObject({ 'differs at': 'fields.id', recorded: '1', now: '2' })
  expect(await equal('stop', 'stop')).toBe(true)
  expect(await equal('stop', 'go')).toBe(false)
  const recorded = { $type: 'error', class: 'Error', name: 'Error', message: 'no', fields: { code: 'E1' } }
  const no = (fields: object, options?: ErrorOptions) => Object.assign(new Error('no', options), fields)
  // A request object, and the number an operating system has for a code, are not what an agent says.
  for (const more of [{ request: new (class Socket {})() }, { errno: -111 }])
    expect(await equal(recorded, no({ code: 'E1', ...more }))).toBe(true)
  for (const other of [{ code: 'E2' }, {}, { code: 'E1', retryable: true }, { code: 'E1', order: { id: 'A-1' } }])
    expect(await equal(recorded, no(other))).toBe(false)
  // Nor are the ports and bytes of a connection that was cut off, which undici adds.
  const cutOff = (code: string) => ({ ...recorded, fields: { code, socket: { localPort: 53_358 } } })
  expect(await equal(cutOff('UND_ERR_SOCKET'), no({ code: 'UND_ERR_SOCKET' }))).toBe(true)
  expect(await equal(cutOff('UND_ERR_SOCKET'), no({ code: 'UND_ERR_SOCKET', retryable: true }))).toBe(false)
  expect(await equal(cutOff('E1'), no({ code: 'E1' }))).toBe(false)
  const cause = (message: string) => ({ $type: 'error', class: 'Error', name: 'Error', message })
  const caused = { ...recorded, cause: cause('late') }
  expect(await equal(caused, no({ code: 'E1' }, { cause: new Error('late') }))).toBe(true)
  expect(await equal(caused, no({ code: 'E1' }, { cause: new Error('early') }))).toBe(false)
  expect(await equal(caused, no({ code: 'E1' }))).toBe(false)
})

test('every piece of an answer is numbered as the replay delivers it', async () => {
  const recording = new Recording()
  const look = recording.call('look', { id: 1 }, 'seen')
  // The tool asked a service; a replay does not run it, and counts fewer moments than the tape.
  recording.exchange({ method: 'GET', url: status, in: look.n })
  recording.exchange({ body: chat('go') })
  const { events } = await replayTape(recording.tape(), async () => {
    await tool('look', async (_: object) => 'live')({ id: 1 })
    await post(chat('go'))
  })
  const asked = events.find((event) => event.kind === 'exchange')
  const { moment, chunks = [], end } = asked?.response ?? {}
  expect([asked?.n, moment?.[0], ...chunks.map(([n]) => n), end?.[0]]).toEqual([2, 3, 4, 5])
})

describe('keys of idempotency', () => {
  const url = 'https://shop.test/credits'
  const keyed = (key?: string): Record<string, string> => (key === undefined ? {} : { 'idempotency-key': key })
  const send = async (body: string, key?: string) => {
    await (await fetch(url, { method: 'POST', body, headers: keyed(key) })).text()
  }
  /** Two attempts of one request, then another request. */
  const recorded = (): Tape => {
    const recording = new Recording()
    for (const [body, key] of [
      ['one', 'a'],
      ['one', 'a'],
      ['two', 'b'],
    ] as const) {
      const { request, ...event } = recording.exchange({ url, body })
      recording.events.splice(-1, 1, { ...event, request: { ...request, headers: [['idempotency-key', key]] } })
    }
    return recording.tape()
  }
  const sent = async (...keys: readonly (string | undefined)[]) =>
    codes(
      await replayTape(
        recorded(),
        async () => {
          for (const [i, body] of ['one', 'one', 'two'].entries()) await send(body, keys[i])
        },
        soon,
      ),
    )[0]

  test('may be drawn anew, as long as the same requests share one', async () => {
    expect(await sent('a', 'a', 'b')).toBeUndefined()
    expect(await sent('x', 'x', 'y')).toBeUndefined()
  })

  test('a request without one that gets one is refused, and not where its client puts it in of itself', async () => {
    const recording = new Recording()
    recording.exchange({ url, body: 'one' })
    const { header, ...rest } = recording.tape()
    const whole = { ...rest, header: { ...header, flags: [...header.flags, 'headers-1'] } }
    const added = async (headers: Record<string, string>, tape: Tape = whole) =>
      codes(
        await replayTape(
          tape,
          async () => void (await (await fetch(url, { method: 'POST', body: 'one', headers })).text()),
          soon,
        ),
      )[0]
    expect(await added({})).toBeUndefined()
    expect(await added(keyed('order-7'))).toBe('HARVEST_DRIFT')
    expect(await added({ 'x-idempotency-key': 'order-7' })).toBe('HARVEST_DRIFT')
    expect(await added(keyed('stripe-node-retry-f00d'))).toBeUndefined()
    // Of older recorders it is unknown which headers were sent.
    expect(await added(keyed('order-7'), recording.tape())).toBeUndefined()
  })

  test('one under another name is refused', async () => {
    const renamed = async () => {
      for (const body of ['one', 'one', 'two'])
        await (await fetch(url, { method: 'POST', body, headers: { 'x-idempotency-key': body } })).text()
    }
    expect(codes(await replayTape(recorded(), renamed, soon))[0]).toBe('HARVEST_DRIFT')
  })

  test('a request that lost its key, a retry with another, and one that borrows one are refused', async () => {
    expect(await sent('a', undefined, 'b')).toBe('HARVEST_DRIFT')
    expect(await sent('a', 'c', 'b')).toBe('HARVEST_DRIFT')
    expect(await sent('a', 'a', 'a')).toBe('HARVEST_DRIFT')
  })
})

test('of a model call a key of idempotency that is gone or new is refused, and not one that its client draws', async () => {
  const judged = async (was: string | undefined, ...now: readonly (string | undefined)[]) => {
    const recording = new Recording()
    const keyed = (key?: string): readonly (readonly [string, string])[] =>
      key === undefined ? [] : [['idempotency-key', key]]
    for (const body of now.map(() => chat('hi'))) {
      const { request, ...event } = recording.exchange({ body })
      const headers = [...(request.headers ?? []), ...keyed(was)]
      recording.events.splice(-1, 1, { ...event, request: { ...request, headers } })
    }
    const agent = async () => {
      for (const key of now) {
        const headers = Object.fromEntries(keyed(key))
        await (await fetch(chatUrl, { method: 'POST', body: chat('hi'), headers })).text()
      }
    }
    const { header, ...rest } = recording.tape()
    const whole = { ...rest, header: { ...header, flags: [...header.flags, 'headers-1'] } }
    return codes(await replayTape(whole, agent, soon))[0]
  }
  expect(await judged('k-1', undefined)).toBe('HARVEST_DRIFT')
  expect(await judged('k-1', 'k-1')).toBeUndefined()
  expect(await judged('k-1', 'k-2', 'k-3')).toBeUndefined()
  expect(await judged(undefined, 'k-1')).toBe('HARVEST_DRIFT')
  expect(await judged(undefined, 'stainless-node-retry-1')).toBeUndefined()
  expect(await judged('stainless-node-retry-1', undefined)).toBeUndefined()
})

test('an argument without a value is as good as absent; null is not', async () => {
  const recording = new Recording()
  recording.call('mail', { to: 'ada' }, 'sent')
  const mail = (args: object) =>
    replayTape(recording.tape(), () => tool('mail', async (_: object) => 'live')(args), soon)
  expect(codes(await mail({ to: 'ada', cc: undefined }))).toEqual([])
  expect(codes(await mail({ to: 'ada', cc: null }))).toContain('HARVEST_DIVERGENCE')
  const mailWith = (...more: unknown[]) =>
    replayTape(recording.tape(), () => tool('mail', async (..._: unknown[]) => 'live')({ to: 'ada' }, ...more), soon)
  expect(codes(await mailWith(undefined))).toEqual([])
  expect(codes(await mailWith(null))).toContain('HARVEST_DIVERGENCE')
})
