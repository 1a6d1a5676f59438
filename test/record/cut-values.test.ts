import { createHash } from 'node:crypto'
import { mkdtempSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { Client } from '@modelcontextprotocol/sdk/client/index.js'
import { InMemoryTransport } from '@modelcontextprotocol/sdk/inMemory.js'
import { McpServer } from '@modelcontextprotocol/sdk/server/mcp.js'
import fc from 'fast-check'
import { describe, expect, onTestFinished, test } from 'vitest'
import { forkTape } from '../../src/fork/index.ts'
import { canonicalJson } from '../../src/json/canonical.ts'
import { openBudget, runLive } from '../../src/live/index.ts'
import { cappedValue, createRedactor, lateIn, redactedAgain, redactedValue } from '../../src/privacy/index.ts'
import { promote } from '../../src/recordings/index.ts'
import {
  createRecorder,
  mark,
  message,
  type RecorderOptions,
  retriever,
  state,
  tool,
  tools,
  value,
} from '../../src/record/index.ts'
import { installReplay, replayTape } from '../../src/replay/index.ts'
import { compareRuns } from '../../src/report/diff/compare.ts'
import { type CutValue, type Json, readTape, type Tape } from '../../src/tape/index.ts'
import { cutsOf, partialText } from '../../src/tape/partial.ts'
import { namedArgs } from '../../src/tape/present-args.ts'

const mebi = 2 ** 20
const cap = mebi / 4
/** A body is cut when it is this much larger than its cap, so that it is not cut again for every piece. */
const limit = cap + 256 * 1024
const secret = 'sk-ant-api03-q8Zr2LxV5nT7bKc1WmYd4HsJ6fGpE9uAoQi3XtBvNyRwMzCkDhSjFgLePaUo-AAAAAA'
const prose = 'It was a dark and stormy night; größer als gedacht, 😀 the rain fell "in torrents".\n'
const long = (bytes: number): string => {
  const text = prose.repeat(Math.ceil(bytes / prose.length))
  return text.slice(0, bytes)
}

await installReplay()

async function recorded(agent: () => unknown, options: RecorderOptions = {}) {
  const dir = mkdtempSync(join(tmpdir(), 'harvest-cut-values-'))
  onTestFinished(() => rmSync(dir, { recursive: true, force: true }))
  const recorder = createRecorder({ dir, bodies: { maxMegabytes: 0.25 }, ...options })
  await recorder.run({ agent: 'a', id: 'r' }, async ({ flag }) => {
    flag('x')
    await agent()
    return 'done'
  })
  recorder.flush()
  return { dir, tape: readTape(join(dir, 'r.tape.jsonl')), stats: recorder.stats }
}

const callsOf = ({ events }: Tape) =>
  events.filter(({ kind }) => ['tool', 'retrieval', 'value'].includes(kind)) as never as {
    readonly args: unknown
    readonly result: unknown
    readonly error: unknown
    readonly yields: readonly (readonly [number, number, unknown])[]
  }[]
const notRecorded = (): never => {
  throw new Error('a replay calls no function')
}

const wrappers = {
  tool: (fn: (given: unknown) => unknown) => tool('export', fn),
  retriever: (fn: (given: unknown) => unknown) =>
    retriever('search', fn as (given: unknown) => never) as (given: unknown) => unknown,
  value: (fn: (given: unknown) => unknown) => (given: unknown) => value('rows', () => fn(given)),
}

describe.each(Object.entries(wrappers))('an answer of a %s', (kind, wrap) => {
  // A piece of its text would end inside a character.
  const rows = { rows: `x${'😀'.repeat(60_000)}${long(360_000)}`, more: [1, { two: 'zwei' }], done: true }
  const text = canonicalJson(rows)

  test.each([{}, { sample: 0 }])(
    'that is larger than the cap stands on the tape with its two ends, recorded with %j',
    async (options) => {
      let got: unknown
      const { tape, stats } = await recorded(async () => (got = await wrap(async () => rows)({ n: 1 })), options)
      expect(got).toBe(rows)
      const cut = callsOf(tape)[0]!.result as CutValue
      expect(cut).toEqual({
        $type: 'cut',
        cut: Buffer.byteLength(text) - Buffer.byteLength(cut.head) - Buffer.byteLength(cut.tail),
        size: Buffer.byteLength(text),
        window: cap / 2,
        head: expect.any(String) as string,
        tail: expect.any(String) as string,
        sha256: createHash('sha256').update(text).digest('hex'),
      })
      expect(text.startsWith(cut.head) && text.endsWith(cut.tail)).toBe(true)
      for (const side of [cut.head, cut.tail]) expect(Buffer.byteLength(side)).toBeGreaterThan(cap / 2 - 4)
      expect(stats).toMatchObject({ capped: 1, kept: 1 })
      expect(tape.header.flags).toContain('cuts-2')
      expect(cutsOf(tape)).toMatchObject([{ of: 'result', size: Buffer.byteLength(text), window: cap / 2 }])
      expect(partialText(cutsOf(tape))).toBe('partial: 1 value is cut, 0.4 of 0.6 MB left out')
    },
  )

  test('that is cut is never given back by a replay, which says how large it was', async () => {
    const { tape } = await recorded(() => wrap(async () => rows)({ n: 1 }))
    let got: unknown = 'nothing'
    const result = await replayTape(tape, async () => {
      try {
        got = await wrap(notRecorded)({ n: 1 })
      } catch {
        return 'done'
      }
      return 'done'
    })
    expect(got).toBe('nothing')
    expect(result.problems.map(({ code }) => code)).toEqual(['HARVEST_BODY_CUT'])
    const said = result.problems[0]!.message
    expect(said).toContain(
      `${kind === 'retriever' ? 'retrieval search' : kind === 'tool' ? 'tool export' : 'value rows'}`,
    )
    expect(said).toContain(`${Buffer.byteLength(text)}, of which`)
    expect(said).toContain('The recorder kept 0.25 MB of each value: its cap.')
    expect(said).toContain('bodies: { maxMegabytes: 2 }')
  })

  test('that just fits is on the tape as without a cap, byte for byte', async () => {
    const fitting = 'x'.repeat(limit - 2)
    const linesOf = (tape: Tape) =>
      readFileSync(tape.source, 'utf8')
        .replaceAll(/"at":[\d.]+|"settled":\[\d+,[\d.]+\]|"site":"[^"]*"|"#":"[^"]*"|"turns":\[[^\]]*\]/g, '')
        .split('\n')
        .slice(1, -2)
    const run = (given: string, maxMegabytes: number) =>
      recorded(() => wrap(async () => given)({ n: 1 }), { bodies: { maxMegabytes } })
    const [capped, free] = [await run(fitting, 0.25), await run(fitting, 8)]
    expect(cutsOf(capped.tape)).toEqual([])
    expect(linesOf(capped.tape)).toEqual(linesOf(free.tape))
    expect(cutsOf((await run(`${fitting}x`, 0.25)).tape)).toHaveLength(1)
    const { problems } = await replayTape(capped.tape, async () => {
      expect(await wrap(notRecorded)({ n: 1 })).toBe(fitting)
      return 'done'
    })
    expect(problems).toEqual([])
  })
})

describe('arguments larger than the cap', () => {
  const middle = 300_000
  const given = (what: string, at: number) => ({ text: `${long(at)}${what}${long(600_000 - at)}` })
  const save = () => tool('save', async (_: unknown) => 'saved')
  const asking = (args: unknown) => async () => {
    await save()(args)
    return 'done'
  }

  test.each([{}, { sample: 0 }])(
    'are compared by their digest where they are cut, recorded with %j',
    async (options) => {
      const { tape } = await recorded(asking(given('one', middle)), options)
      expect(cutsOf(tape)).toMatchObject([{ of: 'args' }])
      const same = await replayTape(tape, asking(given('one', middle)))
      expect({ ...same.comparison }).toMatchObject({ served: 1, identical: 1 })
      expect([same.problems, same.drift, same.notCompared]).toEqual([[], [], []])
      const other = await replayTape(tape, asking(given('two', middle)))
      expect(other.drift).toMatchObject([{ class: 'arguments', path: 'args.sha256' }])
      expect(other.comparison.identical).toBe(0)
    },
  )

  test('are listed as not compared where something in their ends was redacted', async () => {
    const { tape } = await recorded(asking({ key: secret, ...given('one', middle) }))
    expect(callsOf(tape)[0]!.args).not.toHaveProperty('sha256')
    const result = await replayTape(tape, asking({ key: secret, ...given('two', middle) }))
    expect(result.drift).toEqual([])
    expect(result.notCompared).toContainEqual(
      expect.objectContaining({ path: 'args', placeholder: 'what the recorder cut out', stepNumber: 1 }),
    )
    const longer = await replayTape(tape, asking({ key: secret, ...given('three', middle) }))
    expect(longer.drift).toMatchObject([{ class: 'arguments', path: 'args.cut' }])
  })

  test('are told from those that fit', async () => {
    const { tape } = await recorded(asking(given('one', middle)))
    const { drift } = await replayTape(tape, asking({ text: 'short' }))
    expect(drift).toMatchObject([{ class: 'arguments' }])
  })

  test('that the call changed are seen to be changed', async () => {
    const fill = tool('fill', async (into: { text: string; filled?: boolean }) => void (into.filled = true))
    const { tape } = await recorded(() => fill(given('one', middle)))
    expect(callsOf(tape)[0]).toMatchObject({ lost: ['args: changed by the call'] })
    const read = await recorded(() => save()(given('one', middle)))
    expect(callsOf(read.tape)[0]).not.toHaveProperty('lost')
  })
})

const plain = 'the rain fell in torrents, and '.repeat(20_000)

test.each([
  ['head', (at: number) => ({ text: `${plain.slice(0, at)} ${secret} ${plain}` })],
  ['tail', (at: number) => ({ text: `${plain} ${secret} ${plain.slice(0, at)}` })],
])('a secret across the border of a cut leaves no part of it, at the %s', async (_, make) => {
  for (let at = cap / 2 - 130; at < cap / 2 + 10; at += 20) {
    const rows = make(at)
    const { tape } = await recorded(() => tool('export', async () => rows)())
    const file = readFileSync(tape.source, 'utf8')
    for (let from = 0; from + 8 <= secret.length; from += 4)
      expect(file.includes(secret.slice(from, from + 8))).toBe(false)
  }
})

test('pieces, errors, messages, marks and states are cut, each by itself', async () => {
  const piece = { text: long(600_000) }
  const stream = tool('stream', async function* () {
    yield 'small'
    yield piece
  })
  const fail = tool('fail', () => {
    throw new Error(piece.text)
  })
  const agent = async () => {
    for await (const one of stream()) void one
    try {
      fail()
    } catch {
      // What it threw is on the tape.
    }
    message('a', 'b', piece)
    mark('note', piece)
    state('kept', piece)
    return 'done'
  }
  const { tape, stats } = await recorded(agent)
  expect(
    cutsOf(tape)
      .map(({ of }) => of)
      .sort(),
  ).toEqual(['body', 'data', 'data', 'error', 'piece'])
  expect(callsOf(tape)[0]!.yields[0]![2]).toBe('small')
  expect(stats.capped).toBe(5)
  expect(partialText(cutsOf(tape))).toMatch(/^partial: 5 values are cut, /)
  const follow = (body: unknown) => async () => {
    message('a', 'b', body)
    mark('note', body)
    state('kept', body)
    return 'done'
  }
  const notes = await recorded(follow(piece))
  const same = await replayTape(notes.tape, follow(piece))
  expect([same.problems, same.drift, same.notCompared]).toEqual([[], [], []])
  const other = await replayTape(
    notes.tape,
    follow({ text: `${piece.text.slice(0, 300_000)}x${piece.text.slice(300_001)}` }),
  )
  expect(other.comparison).toMatchObject({ messages: { same: 0 }, marks: { same: 0 }, states: { same: 0 } })
  const read: unknown[] = []
  const streamed = await replayTape(tape, async () => {
    for await (const one of stream()) read.push(one)
    return 'done'
  })
  expect(read).toEqual(['small'])
  expect(streamed.problems.map(({ code }) => code)).toContain('HARVEST_BODY_CUT')
})

test('a result of an MCP client is cut, and given back by no replay', async () => {
  const connected = async (text: string) => {
    const server = new McpServer({ name: 'files', version: '1.0.0' })
    server.registerTool('read', {}, () => ({ content: [{ type: 'text', text }] }))
    const [here, there] = InMemoryTransport.createLinkedPair()
    const client = new Client({ name: 'agent', version: '1.0.0' })
    await Promise.all([server.connect(there), client.connect(here)])
    return tools(client)
  }
  const text = long(600_000)
  const { tape } = await recorded(async () => {
    const client = await connected(text)
    expect((await client.callTool({ name: 'read' })).content).toEqual([{ type: 'text', text }])
    await client.close()
  })
  expect(cutsOf(tape)).toMatchObject([{ of: 'result' }])
  const { problems } = await replayTape(tape, async () => {
    const client = await connected('another')
    await client.callTool({ name: 'read' }).catch(() => undefined)
    await client.close()
    return 'done'
  })
  expect(problems.map(({ code }) => code)).toEqual(['HARVEST_BODY_CUT'])
})

test('what is cut is given back by no fork and by no live run', async () => {
  const rows = { rows: long(600_000) }
  const got: unknown[] = []
  const agentOf = (fn: () => unknown) => async () => {
    got.push(await tool('export', async () => fn())().catch(({ code }: { code: string }) => code))
    return 'done'
  }
  const { tape } = await recorded(agentOf(() => rows))
  got.length = 0
  const fork = await forkTape(tape, agentOf(notRecorded), { keep: 0, tail: { from: 'tape' } })
  expect(fork.problems.map(({ code }) => code)).toEqual(['HARVEST_BODY_CUT'])
  const run = await runLive(tape, agentOf(notRecorded), {
    budget: openBudget({}),
    signal: new AbortController().signal,
  })
  expect(run.problems.map(({ code }) => code)).toEqual(['HARVEST_BODY_CUT'])
  expect(got).toEqual(['HARVEST_BODY_CUT', 'HARVEST_BODY_CUT'])
})

test('a function that runs in a replay is compared with the cut result, and its own answer goes on', async () => {
  const rows = { rows: long(600_000) }
  const agentOf = (answer: unknown) => async () => (await tool('export', async () => answer)()) === answer
  const { tape } = await recorded(agentOf(rows))
  const same = await replayTape(tape, async () => ((await agentOf({ ...rows })()) ? 'done' : 'other'), { tools: 'run' })
  expect([same.problems, same.drift, same.comparison.outcomeEqual]).toEqual([[], [], true])
  const changed = { rows: `${rows.rows.slice(0, 300_000)}!${rows.rows.slice(300_001)}` }
  const other = await replayTape(tape, agentOf(changed), { tools: 'run' })
  expect(other.drift).toMatchObject([{ class: 'results', path: 'result.sha256' }])
})

test('a function that runs in a replay gets what the agent gives where the recorded arguments are cut', async () => {
  const agentOf = (given: unknown, read: unknown[]) => async () => {
    await tool('save', async (one: unknown) => void read.push(one))(given)
    return 'done'
  }
  const { tape } = await recorded(agentOf({ text: long(600_000) }, []))
  const [other, read] = [{ text: 'other' }, [] as unknown[]]
  const { drift } = await replayTape(tape, agentOf(other, read), { tools: 'run' })
  expect(read).toEqual([other])
  expect(drift.map((one) => one.class)).toEqual(['arguments'])
})

test('what the agent is called with and what it returns stay whole, and are compared whole', async () => {
  const dir = mkdtempSync(join(tmpdir(), 'harvest-cut-values-'))
  onTestFinished(() => rmSync(dir, { recursive: true, force: true }))
  const recorder = createRecorder({ dir, bodies: { maxMegabytes: 0.25 } })
  const agent = async (input: unknown) => {
    mark('cut', input)
    return { given: input }
  }
  const input = { text: long(600_000) }
  await recorder.run({ agent: 'a', id: 'r', input }, () => agent(input))
  const tape = readTape(recorder.lastTape!)
  expect(cutsOf(tape)).toMatchObject([{ of: 'data' }])
  const { comparison } = await replayTape(tape, agent)
  expect(comparison).toMatchObject({ outcomeEqual: true, marks: { same: 1 } })
})

test('a text that is secret for its name leaves none of it at either end, no matter how long it is and what stands around it', () => {
  fc.assert(
    fc.property(
      fc.constantFrom('Z', '旅', '😀', '\u0001', '旅\u0001', 'Z😀'),
      fc.integer({ min: 20_000, max: 300_000 }),
      fc.integer({ min: 0, max: 600_000 }),
      fc.integer({ min: 0, max: 90_000 }),
      (letters, length, before, after) => {
        const text = letters.repeat(length / letters.length)
        const value = { first: 'plain '.repeat(before / 6), document: text, last: 'plain '.repeat(after / 6) }
        const { head = '', tail = '' } = redactedValue(
          cappedValue(value, cap / 2),
          createRedactor({ keys: ['document'] }),
        ) as unknown as Partial<CutValue>
        expect(/[Z旅😀]|\\u0/u.test(head + tail)).toBe(false)
      },
    ),
    { seed: 14, numRuns: 120, examples: [['\u0001', 60_000, 400_000, 102_000]] },
  )
})

test('the tape has none of it either', async () => {
  const document = 'My passport says Erika and 4711. '.repeat(20_000)
  const { tape } = await recorded(() => tool('scan', async () => ({ id: 7, document, ok: true }))(), {
    redact: { keys: ['document'] },
  })
  expect(readFileSync(tape.source, 'utf8').includes('Erika')).toBe(false)
})

test('no digest stays of a cut value in which a secret is found that got its name later', async () => {
  const session = 'v7Kq2Zr9Xv4Tn8WbJh5g'
  const { tape } = await recorded(() => tool('export', async () => ({ seen: session, text: long(600_000) }))())
  const cut = callsOf(tape)[0]!.result as CutValue
  expect(cut).toMatchObject({ head: expect.stringContaining(session) as string, sha256: expect.any(String) as string })
  const redactor = createRedactor()
  redactor.json({ session })
  const late = lateIn(redactor, (search) => void redactedAgain(tape, search))!
  const again = callsOf(redactedAgain(tape, late))[0]!.result as CutValue
  expect(again.head).not.toContain(session)
  expect(again).not.toHaveProperty('sha256')
  const unnamed = createRedactor()
  unnamed.json({ session: 'k4Wn8Tq1Zr6Vb3Yx9Jd7' })
  expect(lateIn(unnamed, (search) => void redactedAgain(tape, search))).toBeUndefined()
})

test('a tape with a cut value becomes a case when somebody accepts it, without the ends in it', async () => {
  const { tape, dir } = await recorded(() => tool('save', async (_: unknown) => 'saved')({ text: long(600_000) }))
  const options = { recordings: join(dir, 'recordings'), tape: tape.source, as: 'large' }
  expect(() => promote(options)).toThrow(/The tape is partial: bodies or values were larger/)
  expect(promote({ ...options, acceptCut: true }).text).toContain('  - save($type, sha256, size)\n')
  const { sha256, size } = callsOf(tape)[0]!.args as CutValue
  expect(namedArgs(callsOf(tape)[0]!.args as Json)).toEqual({ $type: 'cut', sha256, size })
})

test('what stands between the two ends is not searched but near them, where it takes the digest of the whole away', async () => {
  const password = 'qwertzuiopas1'
  const valueOf = (before: number) => ({
    a: long(before),
    password,
    z: long(limit + 4 * 64 * 1024 - before),
  })
  const cutWith = async (before: number) => {
    const { tape } = await recorded(async () => {
      tool('manual', () => valueOf(before))()
      mark('again', { with: password })
    })
    const text = JSON.stringify(tape.events)
    const cut = callsOf(tape)[0]!.result as CutValue
    expect(cut).toMatchObject({ $type: 'cut' })
    return { isWhole: text.includes(password), sha256: cut.sha256 }
  }
  expect(await cutWith(limit / 2 + 64 * 1024)).toEqual({ isWhole: true, sha256: expect.any(String) as string })
  // Behind what is kept of the head, and before what is kept of the tail.
  expect(await cutWith(cap / 2 + 8 * 1024)).toEqual({ isWhole: false, sha256: undefined })
  expect(await cutWith(limit + 4 * 64 * 1024 - cap / 2 - 8 * 1024)).toEqual({ isWhole: false, sha256: undefined })
})

describe.each([
  ['at its head', { first: true }],
  ['in its middle', {}],
  ['at its tail', { last: true }],
])('arguments that are cut, with a secret of an answer %s', (_, at: { first?: boolean; last?: boolean }) => {
  const fetchKey = tool('fetch_key', async () => ({ password: 'tr33house-and-a-lake' }))
  const save = tool('save', async (_given: unknown) => 'saved')
  const agent =
    (end = '') =>
    async (): Promise<void> => {
      const { password } = await fetchKey()
      const half = long(limit)
      const parts = at.first ? [password, half, half] : at.last ? [half, half, password] : [half, password, half]
      const given = { a: parts[0], b: parts[1], c: `${parts[2]}`, d: end }
      await save(given)
      mark('saved', given)
      message('a', 'b', given)
    }

  test('are the same in a replay of the same agent, and listed as compared in part', async () => {
    const { tape } = await recorded(agent())
    expect(callsOf(tape)[1]!.args).toMatchObject({ $type: 'cut' })
    const { drift, problems, notCompared } = await replayTape(tape, async () => {
      await agent()()
      return 'done'
    })
    expect([drift, problems]).toEqual([[], []])
    expect(notCompared.map(({ path }) => path)).toEqual(expect.arrayContaining(['args']))
  })

  test('are others where their ends are', async () => {
    const { tape } = await recorded(agent())
    const { drift } = await replayTape(tape, async () => {
      await agent('another end')()
      return 'done'
    })
    expect(drift.length).toBeGreaterThan(0)
  })
})

describe('values that are the same where they are whole are the same where they are cut', () => {
  const save = () => tool('save', async (_: unknown, __?: unknown) => 'saved')
  const text = long(600_000)
  const inOrder = { a: 1, b: { c: 2, d: 'x' }, text }
  const others: Readonly<Record<string, readonly unknown[]>> = {
    'with their keys in another order': [{ text, b: { d: 'x', c: 2 }, a: 1 }],
    'with a member that is undefined': [{ ...inOrder, b: { ...inOrder.b, e: undefined }, f: undefined }],
    'with an argument that is undefined': [inOrder, undefined],
  }
  const agentOf = (given: readonly unknown[]) => async () => {
    await save()(...(given as [unknown]))
    mark('saved', given[0])
    message('a', 'b', given[0])
    state('kept', given[0])
    return 'done'
  }

  test.each(Object.entries(others))('%s', async (_, given) => {
    for (const [recordedAs, live] of [
      [[inOrder], given],
      [given, [inOrder]],
    ]) {
      const { tape } = await recorded(agentOf(recordedAs!))
      expect(cutsOf(tape)).toHaveLength(4)
      const { drift, problems, notCompared, comparison } = await replayTape(tape, agentOf(live!))
      expect([drift, problems, notCompared]).toEqual([[], [], []])
      expect(comparison).toMatchObject({ messages: { same: 1 }, marks: { same: 1 }, states: { same: 1 } })
    }
  })

  test('and whether one is cut does not depend on it', () => {
    const near = { text: 'x'.repeat(limit - 20), b: 1 }
    const json = (value: unknown) => cappedValue(value as Json, cap / 2)
    expect(json({ b: 1, text: near.text, c: { $type: 'undefined' } })).not.toHaveProperty('sha256')
    expect(json({ ...near, text: `${near.text}${'x'.repeat(40)}` })).toHaveProperty('sha256')
  })

  test('but a list with an item that is undefined is another one', async () => {
    const answer = (value: unknown) => async () => void (await tool('list', async () => value)())
    const { tape } = await recorded(answer([inOrder]))
    const { drift } = await replayTape(tape, answer([inOrder, undefined]), { tools: 'run' })
    expect(drift.map((one) => one.class)).toContain('results')
  })

  test('a tape with `cuts-1` compares them as they were written', async () => {
    const { tape } = await recorded(agentOf([inOrder]))
    const flags = tape.header.flags.map((flag) => (flag === 'cuts-2' ? 'cuts-1' : flag))
    const before: Tape = { ...tape, header: { ...tape.header, flags } }
    expect((await replayTape(before, agentOf([inOrder]))).drift).toEqual([])
    expect((await replayTape(before, agentOf(others['with their keys in another order']!))).drift).not.toEqual([])
  })
})

describe('a secret across a cut that gets its name later', () => {
  const session = 'v7Kq2Zr9Xv4Tn8WbJh5g'
  const parts = Array.from({ length: session.length - 3 }, (_, at) => session.slice(at, at + 4))

  test.each(['head', 'tail'])('leaves no part of it, at the %s', async (side) => {
    for (let inside = 3; inside < session.length; inside += 4) {
      const far = (around: string) => plain.slice(0, cap / 2 - around.length - inside)
      const given = side === 'head' ? `${far('{"text":" ')} ${session} ${plain}` : `${plain} ${session} ${far(' "}')}`
      const { tape } = await recorded(async () => {
        mark('seen', { text: given })
        await tool('login', async () => ({ session }))()
      })
      const file = readFileSync(tape.source, 'utf8')
      expect(
        parts.filter((part) => file.includes(part)),
        `${inside}`,
      ).toEqual([])
      const data = tape.events.find(({ kind }) => kind === 'mark') as unknown as { data: CutValue }
      expect(data.data).toMatchObject({ $type: 'cut' })
      expect(data.data).not.toHaveProperty('sha256')
      const agent = async () => {
        mark('seen', { text: given })
        await tool('login', async () => notRecorded())()
        return 'done'
      }
      expect((await replayTape(tape, agent)).problems).toEqual([])
    }
  })

  test('and stands as a placeholder where an end has all of it: an agent that knows it by itself is called changed', async () => {
    const agent = async () => {
      mark('seen', { text: `${plain.slice(0, 1_000)} ${session} ${plain}` })
      await tool('login', async () => ({ session }))()
      return 'done'
    }
    const { tape } = await recorded(agent)
    const file = readFileSync(tape.source, 'utf8')
    expect(parts.filter((part) => file.includes(part))).toEqual([])
    expect(file).toContain('redacted-secret-')
    expect((await replayTape(tape, agent)).drift).toMatchObject([{ class: 'marks', path: 'data.head' }])
  })
})

test('a long text beside a name that says it is secret leaves none of it at either end', () => {
  const shapes: readonly ((text: string) => unknown)[] = [
    (value) => ({ name: 'password', value }),
    (content) => ({ content, name: 'password' }),
    (value) => [{ key: 'DB_PASSWORD', on: true, value, zone: 'eu' }],
    (text) => ['password', text],
  ]
  for (const shape of shapes)
    for (const [before, length, after] of [
      [0, 600_000, 0],
      [0, 300_000, 300_000],
      [120_000, 480_000, 0],
      // What is read of the head and not kept.
      [150_000, 450_000, 0],
      [300_000, 300_000, 0],
    ] as const) {
      const secretText = 'Zz 7 '.repeat(length / 5)
      const value = { a: 'plain '.repeat(before / 6), b: shape(secretText), c: 'plain '.repeat(after / 6) }
      const cut = redactedValue(cappedValue(value as Json, cap / 2), createRedactor()) as unknown as CutValue
      expect([/Zz/.test(cut.head + cut.tail), cut.sha256], JSON.stringify(shape('…'))).toEqual([false, undefined])
      if (before > cap / 2) expect(JSON.stringify(value).startsWith(cut.head)).toBe(true)
    }
})

test('a placeholder of a rule with a template of its own counts as one in a cut value', async () => {
  const redact = { rules: [{ kind: 'ticket', pattern: /KD-\d{8}/g, placeholder: 'TICKET#X' }] }
  const agent = async () => {
    const { ticket } = await tool('open', async () => ({ ticket: 'KD-12345678' }))()
    await tool('save', async (_: unknown) => 'saved')({ a: plain.slice(0, 400_000), b: ticket, c: plain })
    return 'done'
  }
  const { tape } = await recorded(agent, { redact })
  expect(JSON.stringify(tape.events)).toContain('TICKET1X')
  const { drift, problems, notCompared } = await replayTape(tape, agent)
  expect([drift, problems]).toEqual([[], []])
  expect(notCompared.map(({ path }) => path)).toContain('args')
})

describe('a comparison of two tapes with cut values', () => {
  const run = async (given: unknown, options: RecorderOptions = {}) =>
    (await recorded(async () => void (await tool('save', async (_: unknown) => 'saved')(given)), options)).tape
  const withSecret = (middle: string, end = '') => ({ a: secret, b: `${plain}${middle}${plain}${end}` })

  test('calls values with another digest different, and the same ones the same, under any cap', async () => {
    const [one, other] = [{ text: `${plain}1${plain}` }, { text: `${plain}2${plain}` }]
    const tape = await run(one)
    expect(compareRuns(tape, await run(one))).toMatchObject({ class: 'same' })
    expect(compareRuns(tape, await run(other))).toMatchObject({ class: 'arguments' })
    for (const maxMegabytes of [0.2, 8]) {
      const under = await run(one, { bodies: { maxMegabytes } })
      expect(compareRuns(tape, under)).toMatchObject({ class: 'same' })
      expect(compareRuns(under, tape)).toMatchObject({ class: 'same' })
      expect(compareRuns(await run(other, { bodies: { maxMegabytes } }), tape)).toMatchObject({ class: 'arguments' })
    }
  })

  test('tells redacted ones apart by their ends and their size, and says what was not compared', async () => {
    const tape = await run(withSecret('1'))
    expect(compareRuns(tape, await run(withSecret('1')))).toMatchObject({ class: 'same', inPart: 1 })
    expect(compareRuns(tape, await run(withSecret('2')))).toMatchObject({ class: 'same', inPart: 1 })
    expect(compareRuns(tape, await run(withSecret('12')))).toMatchObject({ class: 'arguments' })
    expect(compareRuns(await run(withSecret('1', 'x')), await run(withSecret('1', 'y')))).toMatchObject({
      class: 'arguments',
    })
  })
})

test('what little is cut or kept is said in a unit in which it is something', () => {
  expect(partialText([{ of: 'result', cut: 30_000, size: 600_000 }])).toBe(
    'partial: 1 value is cut, 29.3 of 585.9 KB left out',
  )
  expect(partialText([{ of: 'result', cut: 3 * mebi, size: 5 * mebi }])).toBe(
    'partial: 1 value is cut, 3.0 of 5.0 MB left out',
  )
})
