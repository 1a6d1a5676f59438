import { beforeAll, describe, expect, test } from 'vitest'
import { mark, message, tool, value } from '../../src/record/index.ts'
import { installReplay, type ReplayOptions, type ReplayResult, replayTape } from '../../src/replay/index.ts'
import type { Json, Tape } from '../../src/tape/index.ts'
import { chat, Recording } from './tapes.ts'

// Messages between agents and marks: no answer depends on them, so a replay has to look at them of itself.
beforeAll(() => installReplay())

const codes = ({ problems }: ReplayResult): readonly string[] => problems.map(({ code }) => code)
const text = ({ problems }: ReplayResult): string =>
  (problems[0]?.message ?? '').replaceAll(/announcements\.test\.ts:\d+:\d+/g, 'announcements.test.ts:<line>')

/** Two agents that agree on a refund, with a mark between. */
function handOver(): Tape {
  const recording = new Recording()
  recording.message('planner', 'worker', { task: 'refund', amount: 25 })
  recording.mark('planned', { budget: 100 })
  recording.message('worker', 'planner', 'done')
  recording.mark('closed')
  return recording.tape()
}

const replay = (agent: () => unknown, options: ReplayOptions = {}): Promise<ReplayResult> =>
  replayTape(handOver(), agent, options)

function asRecorded(): void {
  message('planner', 'worker', { amount: 25, task: 'refund' })
  mark('planned', { budget: 100 })
  message('worker', 'planner', 'done')
  mark('closed')
}

test('what is announced as recorded is the same, and counted', async () => {
  const result = await replay(asRecorded)
  expect(codes(result)).toEqual([])
  expect(result.drift).toEqual([])
  expect(result.comparison).toMatchObject({
    messages: { recorded: 2, same: 2, other: 0 },
    marks: { recorded: 2, same: 2, other: 0 },
  })
})

describe('a message is compared in', () => {
  const send =
    (...messages: readonly (readonly [from: string, to: string, body: Json])[]) =>
    (): void => {
      for (const one of messages) message(...one)
      mark('planned', { budget: 100 })
      mark('closed')
    }
  const [first, second] = [
    ['planner', 'worker', { task: 'refund', amount: 25 }],
    ['worker', 'planner', 'done'],
  ] as const

  test.for<readonly [what: string, agent: () => void, differs: object]>([
    [
      'its receiver',
      send(['planner', 'auditor', first[2]], second),
      { part: 'message 1, planner → worker', path: 'to', recorded: 'worker', live: 'auditor' },
    ],
    ['its sender', send(['critic', 'worker', first[2]], second), { path: 'from', recorded: 'planner', live: 'critic' }],
    [
      'its body',
      send(['planner', 'worker', { task: 'refund', amount: 2500 }], second),
      { path: 'body.amount', recorded: '25', live: '2500' },
    ],
    [
      'its presence',
      send(first),
      { part: 'message 2, worker → planner', path: '', recorded: 'done', live: '(absent)' },
    ],
    [
      'its absence',
      send(first, second, ['worker', 'critic', 'look']),
      { part: 'message 3, worker → critic', path: '', recorded: '(absent)', live: 'look' },
    ],
    ['its order', send(second, first), { path: 'order', recorded: 'number 1', live: 'number 2' }],
  ])('%s', async ([, agent, differs]) => {
    const result = await replay(agent)
    expect(codes(result)).toEqual(['HARVEST_MESSAGES'])
    expect(result.drift).toMatchObject([{ class: 'agentMessages', ...differs }])
  })
})

describe('a mark is compared in', () => {
  const leave =
    (...marks: readonly (readonly [name: string, data?: Json])[]) =>
    (): void => {
      message('planner', 'worker', { task: 'refund', amount: 25 })
      for (const [name, data] of marks)
        if (data === undefined) mark(name)
        else mark(name, data)
      message('worker', 'planner', 'done')
    }

  test.for<readonly [what: string, agent: () => void, differs: object]>([
    ['its name', leave(['planed', { budget: 100 }], ['closed']), { path: 'name', recorded: 'planned', live: 'planed' }],
    [
      'its data',
      leave(['planned', { budget: 1000 }], ['closed']),
      { path: 'data.budget', recorded: '100', live: '1000' },
    ],
    ['its presence', leave(['planned', { budget: 100 }]), { part: 'mark 2, closed', recorded: 'without data' }],
    [
      'its absence',
      leave(['planned', { budget: 100 }], ['closed'], ['again', 1]),
      { part: 'mark 3, again', live: '1' },
    ],
    ['its order', leave(['closed'], ['planned', { budget: 100 }]), { path: 'order' }],
  ])('%s', async ([, agent, differs]) => {
    const result = await replay(agent)
    expect(codes(result)).toEqual(['HARVEST_MARKS'])
    expect(result.drift).toMatchObject([{ class: 'marks', ...differs }])
  })
})

test('marks and messages are compared in the order they were made', async () => {
  const late = await replay(() => {
    message('planner', 'worker', { amount: 25, task: 'refund' })
    message('worker', 'planner', 'done')
    mark('planned', { budget: 100 })
    mark('closed')
  })
  expect(late.drift).toMatchObject([
    {
      class: 'marks',
      part: 'mark 1, planned',
      path: 'order',
      recorded: 'before message 2',
      live: 'after message 2',
      site: expect.stringMatching(/announcements\.test\.ts:\d+/),
    },
  ])
  expect(text(late)).toContain('made after message 2, expected before message 2')
  const early = await replay(() => {
    mark('planned', { budget: 100 })
    message('planner', 'worker', { amount: 25, task: 'refund' })
    message('worker', 'planner', 'done')
    mark('closed')
  })
  expect(codes(early)).toEqual(['HARVEST_MARKS'])
  expect(early.drift).toMatchObject([{ recorded: 'after message 1', live: 'before message 1' }])
})

describe('among the steps of a run', () => {
  const refund = tool('refund', async (_: { amount: number }) => ({ ok: true }))
  const note = tool('note', async (_: { text: string }) => ({ ok: true }))
  const ask = async (): Promise<unknown> => {
    const answer = await fetch('https://api.openai.com/v1/chat/completions', { method: 'POST', body: chat('go') })
    return answer.json()
  }
  const read = async (): Promise<unknown> => (await fetch('https://shop.test/orders/17')).json()
  const say = (): void => message('desk', 'audit', { amount: 25 })
  const leave = (): void => mark('paid')

  /** A read, a model call, a message, a refund, a mark, a note. */
  function tape(): Tape {
    const recording = new Recording()
    recording.exchange({ method: 'GET', url: 'https://shop.test/orders/17' })
    recording.exchange({ body: chat('go') })
    recording.message('desk', 'audit', { amount: 25 })
    recording.call('refund', { amount: 25 }, { ok: true })
    recording.mark('paid')
    recording.call('note', { text: 'paid' }, { ok: true })
    return recording.tape()
  }
  const run = (...deeds: readonly (() => unknown)[]): Promise<ReplayResult> =>
    replayTape(tape(), async () => {
      for (const deed of deeds) await deed()
    })
  const pay = (): unknown => refund({ amount: 25 })
  const jot = (): unknown => note({ text: 'paid' })

  test.for<readonly [what: string, deeds: readonly (() => unknown)[], differs: readonly string[]]>([
    ['as recorded', [read, ask, say, pay, leave, jot], []],
    ['a message before a model call', [read, say, ask, pay, leave, jot], ['message', 'after step 2', 'before step 2']],
    ['a message after a tool call', [read, ask, pay, say, leave, jot], ['message', 'before step 3', 'after step 3']],
    ['a mark before a tool call', [read, ask, say, leave, pay, jot], ['mark', 'after step 3', 'before step 3']],
    ['a mark after a tool call', [read, ask, say, pay, jot, leave], ['mark', 'before step 4', 'after step 4']],
    [
      'a mark while a tool is called',
      [read, ask, say, () => [pay(), leave()][0], jot],
      ['mark', 'after step 3', 'before step 3'],
    ],
  ])('%s', async ([, deeds, [kind, recorded, live]]) => {
    const result = await run(...deeds)
    if (kind === undefined) return expect([result.problems, result.drift]).toEqual([[], []])
    expect(codes(result)).toEqual([kind === 'mark' ? 'HARVEST_MARKS' : 'HARVEST_MESSAGES'])
    expect(result.drift).toMatchObject([
      {
        part: expect.stringMatching(`^${kind} 1, `),
        path: 'order',
        recorded: expect.stringMatching(`^${recorded}, `),
        live: expect.stringMatching(`^${live}, `),
        site: expect.stringMatching(/announcements\.test\.ts:\d+/),
      },
    ])
    expect(text(result)).toMatch(new RegExp(`made ${live}, .*, expected ${recorded}, `))
  })

  test('a read is no action: what stands before it may stand behind it', async () => {
    const recording = new Recording()
    recording.mark('paid')
    recording.exchange({ method: 'GET', url: 'https://shop.test/orders/17' })
    const result = await replayTape(recording.tape(), async () => {
      await read()
      leave()
    })
    expect([result.problems, result.drift]).toEqual([[], []])
  })

  test.for<readonly [what: string, at: Readonly<Record<'refund' | 'note' | 'mark' | 'refunded' | 'noted', number>>]>([
    ['the one that was answered before it', { refund: 0, note: 1, refunded: 2, mark: 3, noted: 4 }],
    ['the one that was begun after it', { refund: 0, mark: 1, note: 2, refunded: 3, noted: 4 }],
  ])('a mark between calls that went side by side is free of %s', async ([, at]) => {
    const recording = new Recording()
    const refunded = recording.call('refund', { amount: 25 }, { ok: true })
    const noted = recording.call('note', { text: 'paid' }, { ok: true })
    recording.mark('paid')
    const events = [
      { ...refunded, n: at.refund, settled: [at.refunded, 2] as const },
      { ...noted, n: at.note, settled: [at.noted, 3] as const },
      { ...recording.events[2]!, n: at.mark },
    ]
    const result = await replayTape({ ...recording.tape(), events: events.toSorted((a, b) => a.n - b.n) }, () => {
      const both = [jot(), pay()]
      leave()
      return Promise.all(both)
    })
    expect([result.problems, result.drift]).toEqual([[], []])
  })

  describe('before calls that went side by side', () => {
    const atOnce = (announce: (recording: Recording) => void, hasRead = false): Tape => {
      const recording = new Recording()
      announce(recording)
      const refunded = recording.call('refund', { amount: 25 }, { ok: true })
      const noted = recording.call('note', { text: 'paid' }, { ok: true })
      const answered = recording.exchange({ method: 'GET', url: 'https://shop.test/orders/17' })
      const at = (step: number, n: number) => ({ n, ...(step < 2 && { settled: [n + 3, n + 3] as const }) })
      const response = { ...answered.response!, moment: [6, 6] as const, chunks: [], end: [7, 7] as const }
      const steps = [
        { ...refunded, ...at(0, 1) },
        { ...noted, ...at(1, 2) },
        ...(hasRead ? [{ ...answered, n: 3, response }] : []),
      ]
      return { ...recording.tape(), events: [...recording.events.slice(0, 1), ...steps] }
    }
    const said = (recording: Recording): void => recording.message('desk', 'audit', { amount: 25 })
    const marked = (recording: Recording): void => recording.mark('paid')

    test.for<readonly [what: string, recorded: Tape, announce: () => void, code: string]>([
      ['a message', atOnce(said), say, 'HARVEST_MESSAGES'],
      ['a mark', atOnce(marked), leave, 'HARVEST_MARKS'],
      ['a message, and a read beside them,', atOnce(said, true), say, 'HARVEST_MESSAGES'],
    ])('%s may not stand behind all of them', async ([, recorded, announce, code]) => {
      const deeds = (): readonly unknown[] => [pay(), jot(), ...(recorded.events.length > 3 ? [read()] : [])]
      const [before, behind] = [
        await replayTape(recorded, async () => {
          announce()
          await Promise.all(deeds())
        }),
        await replayTape(recorded, async () => {
          await Promise.all(deeds())
          announce()
        }),
      ]
      expect([codes(before), codes(behind)]).toEqual([[], [code]])
    })

    test('a mark may stand behind some of them, as it may belong to what comes after it', async () => {
      const acts: readonly (readonly (() => unknown)[])[] = [
        [pay, leave, jot],
        [jot, leave, pay],
      ]
      for (const deeds of acts) {
        const result = await replayTape(atOnce(marked), async () => {
          for (const deed of deeds) await deed()
        })
        expect(codes(result)).toEqual([])
      }
      const withRead = await replayTape(atOnce(marked, true), async () => {
        await Promise.all([pay(), jot()])
        leave()
        await read()
      })
      expect(codes(withRead)).toEqual([])
    })
  })

  describe('between calls that one model turn asked for', () => {
    const call = (name: string, args: string): object => ({
      id: name,
      type: 'function',
      function: { name, arguments: args },
    })
    const both = [call('refund', '{"amount":25}'), call('note', '{"text":"paid"}')]
    const asked = { role: 'assistant', content: null, tool_calls: both }
    const answer = JSON.stringify({ choices: [{ index: 0, finish_reason: 'tool_calls', message: asked }] })
    const turn = (order: readonly ('refund' | 'note' | 'mark')[]): Tape => {
      const recording = new Recording()
      recording.exchange({ body: chat('go'), answer })
      for (const one of order)
        if (one === 'mark') recording.mark('paid')
        else recording.call(one, one === 'refund' ? { amount: 25 } : { text: 'paid' }, { ok: true })
      return recording.tape()
    }
    const [afterAll, inBetween] = [turn(['refund', 'note', 'mark']), turn(['refund', 'mark', 'note'])]

    test.for<readonly [what: string, recorded: Tape, deeds: readonly (() => unknown)[], isMoved: boolean]>([
      ['before both, and was after both', afterAll, [ask, leave, pay, jot], true],
      ['between both, and was after both', afterAll, [ask, pay, leave, jot], true],
      ['before both, and was between', inBetween, [ask, leave, pay, jot], true],
      ['after both, and was between', inBetween, [ask, pay, jot, leave], true],
      ['after its call, which changed places', inBetween, [ask, jot, pay, leave], false],
      ['before its call, which changed places', inBetween, [ask, leave, jot, pay], false],
      [
        'after its call, made at once with the other',
        inBetween,
        [ask, () => Promise.all([pay(), jot()].map(async (one, i) => (await one, i === 0 && leave())))],
        false,
      ],
    ])('a mark stands %s', async ([, recorded, deeds, isMoved]) => {
      const result = await replayTape(recorded, async () => {
        for (const deed of deeds) await deed()
      })
      expect(codes(result)).toEqual(isMoved ? ['HARVEST_MARKS'] : [])
    })
  })

  test.for<readonly [what: string, options: ReplayOptions, isMore: boolean]>([
    ['a mark says something else', { drift: { marks: 'report' } }, false],
    ['there is a mark more', { drift: { marks: 'report' } }, true],
    ['there is a mark more, which is ignored', { drift: { marks: 'ignore' } }, true],
    ['the marks are those of a case', { marks: [{ name: 'paid', data: { at: 2 } }] }, false],
  ])('a message before a model call is moved where %s', async ([, options, isMore]) => {
    const result = await replayTape(
      tape(),
      async () => {
        await read()
        if (isMore) leave()
        say()
        await ask()
        await pay()
        mark('paid', { at: 2 })
        await jot()
      },
      options,
    )
    expect(codes(result)).toEqual(['HARVEST_MESSAGES'])
    expect(result.drift).toContainEqual(
      expect.objectContaining({ part: 'message 1, desk → audit', path: 'order', policy: 'fail' }),
    )
  })

  test.for<readonly [what: string, options: ReplayOptions]>([
    ['a message is missing', { drift: { agentMessages: 'report' } }],
    ['a message is missing, which is ignored', { drift: { agentMessages: 'ignore' } }],
    ['the messages are those of a case', { messages: [] }],
  ])('a mark before a tool call is moved where %s', async ([, options]) => {
    const result = await replayTape(
      tape(),
      async () => {
        await read()
        await ask()
        leave()
        await pay()
        await jot()
      },
      options,
    )
    expect(codes(result)).toEqual(['HARVEST_MARKS'])
    expect(result.drift).toContainEqual(
      expect.objectContaining({ part: 'mark 1, paid', path: 'order', policy: 'fail' }),
    )
  })

  test('a mark that says something else, where that is reported, has its place still', async () => {
    const drift = { marks: 'unproven' } as const
    const of = (...deeds: readonly (() => unknown)[]): Promise<ReplayResult> =>
      replayTape(
        tape(),
        async () => {
          const all: readonly (() => unknown)[] = [read, ask, say, ...deeds, jot]
          for (const deed of all) await deed()
        },
        { drift },
      )
    const other = (): unknown => mark('paid', { at: 2 })
    const [inPlace, moved] = [await of(pay, other), await of(other, pay)]
    expect(inPlace.drift.map(({ path }) => path)).toEqual(['data'])
    expect(moved.drift.map(({ path }) => path)).toEqual(['data', 'order'])
  })

  test('a policy of its class decides, and an ignored class is not judged', async () => {
    const deeds = async (): Promise<void> => {
      await read()
      await ask()
      say()
      leave()
      await pay()
      await jot()
    }
    const reported = await replayTape(tape(), deeds, { drift: { marks: 'report' } })
    expect([codes(reported), reported.drift.length]).toEqual([[], 1])
    const ignored = await replayTape(tape(), deeds, { drift: { marks: 'ignore' } })
    expect([codes(ignored), ignored.drift]).toEqual([[], []])
  })
})

test('the problem says which one, from whom to whom, where, and which words changed', async () => {
  const result = await replay(() => {
    message('planner', 'worker', { amount: 2500, task: 'refund' })
    mark('planned', { budget: 100 })
    message('worker', 'critic', 'look at this')
    mark('closed')
  })
  expect(text(result)).toMatchInlineSnapshot(`
    "The agent sent other messages between agents than expected: 2 changed

      tape  refund
      at    test/replay/announcements.test.ts:<line>

      changed  message 1, planner → worker  (test/replay/announcements.test.ts:<line>)
               body.amount: [-25-] {+2500+}
      changed  message 2, worker → planner  (test/replay/announcements.test.ts:<line>)
               to: [-planner-] {+critic+}
      changed  message 2, worker → planner  (test/replay/announcements.test.ts:<line>)
               body: [-done-] {+look at this+}

    Sender, receiver, body and order must be as recorded, or as the case lists them.
    → if the new behaviour is right: npx vitest-harvest test '<case>' --update-recordings --reason "…"
    → to see the recorded run: npx vitest-harvest show refund
    (HARVEST_MESSAGES)"
  `)
})

test('only the first of many differences are listed', async () => {
  const result = await replay(() => {
    asRecorded()
    for (let i = 0; i < 20; i++) message('worker', 'log', i)
  })
  expect(text(result)).toContain('… and 12 more')
})

test('a policy by class reports or ignores, and strict allows nothing', async () => {
  const silent = (): undefined => undefined
  const reported = await replay(silent, { drift: { agentMessages: 'report', marks: 'ignore' } })
  expect(codes(reported)).toEqual([])
  expect(reported.drift.map((one) => one.class)).toEqual(['agentMessages', 'agentMessages'])
  expect(reported.comparison.marks).toEqual({ recorded: 2, same: 0, other: 0 })
  const strict = await replay(silent, { strict: true, drift: { agentMessages: 'report', marks: 'report' } })
  expect(codes(strict)).toEqual(['HARVEST_MESSAGES', 'HARVEST_MARKS'])
})

test('what a case lists goes before the tape', async () => {
  const lists = { messages: [{ from: 'a', to: 'b', body: null }], marks: [] } as const
  expect(codes(await replay(() => message('a', 'b', null), lists))).toEqual([])
  expect(codes(await replay(asRecorded, lists))).toEqual(['HARVEST_MESSAGES', 'HARVEST_MARKS'])
})

test('what an importer noted on a tape is not expected of the agent', async () => {
  const tape = handOver()
  const imported = { format: 'langfuse', grade: 'replayable', missing: [] } as const
  const result = await replayTape({ ...tape, header: { ...tape.header, imported } }, () => undefined)
  expect(codes(result)).toEqual([])
})

test('what a served function announced when recorded is not expected; what a function that runs announces is', async () => {
  const recording = new Recording()
  const call = recording.call('work', { id: 1 }, 'ok')
  recording.message('worker', 'planner', 'working', { in: call.n })
  const tape = recording.tape()
  const body =
    (said: string) =>
    async (_: { id: number }): Promise<string> => {
      await Promise.resolve()
      message('worker', 'planner', said)
      return 'ok'
    }
  const served = await replayTape(tape, () => tool('work', body('other'))({ id: 1 }))
  expect(codes(served)).toEqual([])
  const ran = (said: string): Promise<ReplayResult> =>
    replayTape(tape, () => tool('work', body(said), { replay: 'run' })({ id: 1 }))
  expect(codes(await ran('working'))).toEqual([])
  expect(codes(await ran('idle'))).toEqual(['HARVEST_MESSAGES'])
})

test('what is announced while a served value would be read is not expected either', async () => {
  const recording = new Recording()
  const call = recording.call('row', [], 5, { kind: 'value', sync: true })
  recording.mark('read', undefined, { in: call.n })
  const result = await replayTape(recording.tape(), () =>
    value('row', () => {
      mark('read')
      return 5
    }),
  )
  expect(codes(result)).toEqual([])
})

test('for every list of marks, one that is left out is told as that one and nothing else', async () => {
  const names = Array.from({ length: 40 }, (_, i) => `step ${i % 7}`)
  const recording = new Recording()
  for (const [i, name] of names.entries()) recording.mark(name, i)
  const tape = recording.tape()
  for (const left of [0, 7, 20, 39]) {
    const result = await replayTape(tape, () => {
      for (const [i, name] of names.entries()) if (i !== left) mark(name, i)
    })
    expect(result.drift).toMatchObject([{ class: 'marks', part: `mark ${left + 1}, ${names[left]}`, live: '(absent)' }])
    expect(result.comparison.marks).toEqual({ recorded: 40, same: 39, other: 0 })
  }
})
