import { mkdtempSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { createRecorder, type RecorderOptions, state, tool } from '../../src/record/index.ts'
import { inexactParts } from '../../src/replay/inexact.ts'
import { verdictOf } from '../../src/replay/run-verdict.ts'
import { installReplay, type ReplayOptions, type ReplayResult, replayTape } from '../../src/replay/index.ts'
import { readTape, type Tape } from '../../src/tape/index.ts'

const refund = tool('refund', async (amount: number) => ({ refunded: amount }))

interface Conversation {
  readonly messages: { readonly role: string; readonly content: string }[]
  done?: boolean
}

/** Answers by what it adds to its input, and returns nothing. */
function answering(said = 'Refunded 25 EUR.', end: (input: Conversation) => void = ({ messages }) => void messages) {
  return async (input: unknown): Promise<void> => {
    const conversation = input as Conversation
    await refund(25)
    conversation.messages.push({ role: 'assistant', content: said })
    conversation.done = true
    end(conversation)
  }
}

const question = (): Conversation => ({ messages: [{ role: 'user', content: 'Refund my order, please.' }] })

let dir: string
let runs = 0
beforeAll(async () => {
  await installReplay()
  dir = mkdtempSync(join(tmpdir(), 'harvest-input-left-'))
})
afterAll(() => rmSync(dir, { recursive: true, force: true }))

async function recorded(
  agent: (input: unknown) => unknown,
  input: unknown = question(),
  options: RecorderOptions = {},
): Promise<Tape> {
  const recorder = createRecorder({ dir, ...options })
  try {
    const value = await recorder.run({ agent: 'shop', id: `run-${runs++}`, input }, () => agent(input))
    if (isIterable(value)) for await (const _ of value) void _
  } catch (error) {
    expect((error as Error).message).toBe('the shop is closed')
  }
  recorder.flush()
  return readTape(recorder.lastTape ?? '')
}

const facts = (run: ReplayResult) => ({
  verdict: verdictOf(run).verdict,
  codes: run.problems.map(({ code }) => code),
  paths: run.drift.map(({ path }) => path),
  listed: run.notCompared.map(({ path, placeholder }) => `${path}: ${placeholder}`),
})
const replayed = async (tape: Tape, agent: (input: unknown) => unknown, options?: ReplayOptions) =>
  facts(await replayTape(tape, agent, options))
const same = { verdict: 'same', codes: [], paths: [], listed: [] }
const listed = { ...same, listed: ['input: what the agent changed in its input'] }

describe('how an agent leaves its input', () => {
  it('is on the tape where it changed it, and a replay that leaves it so is bit-exact', async () => {
    const tape = await recorded(answering())
    expect(tape.header.input).toEqual(question())
    const left = { messages: [...question().messages, { role: 'assistant', content: 'Refunded 25 EUR.' }], done: true }
    expect(tape.close?.input).toEqual({ left })
    const run = await replayTape(tape, answering())
    expect(facts(run)).toEqual(same)
    expect(inexactParts(run)).toEqual([])
    expect(run.comparison.states).toEqual({ recorded: 1, same: 1, other: 0 })
  })

  it.each<[string, (input: unknown) => unknown, string]>([
    ['says something else', answering('Refunded 1000 EUR.'), 'input.messages[1].content'],
    [
      'adds a message',
      answering('Refunded 25 EUR.', ({ messages }) => void messages.push(messages[0]!)),
      'input.messages[2]',
    ],
    ['leaves a field out', answering('Refunded 25 EUR.', (input) => void delete input.done), 'input.done'],
    ['leaves it as it was', (input) => answering()(structuredClone(input)), 'input.messages[1]'],
  ])('is different of one that %s, and its place is named', async (_, agent, path) => {
    const tape = await recorded(answering())
    expect(await replayed(tape, agent)).toEqual({
      verdict: 'different',
      codes: ['HARVEST_STATES'],
      paths: [path],
      listed: [],
    })
    expect(await replayed(tape, agent, { drift: { states: 'report' } })).toMatchObject({
      verdict: 'same',
      paths: [path],
    })
  })

  it('of an agent that changes nothing of it is different, and a copy is named as what may be why', async () => {
    const tape = await recorded(answering())
    const copying = await replayTape(tape, (input) => answering()(structuredClone(input)))
    expect(copying.problems[0]?.message).toContain('Where it works on a copy')
    const other = await replayTape(tape, answering('Refunded 1000 EUR.'))
    expect(other.problems[0]?.message).not.toContain('a copy')
  })

  it('names what may be why where a part is new, or gone: a copy when recorded, a tool whose body does not run', async () => {
    const input = question()
    const onCopy = (given: unknown) => answering()({ ...(given as Conversation) })
    const tape = await recorded(() => onCopy(input), input)
    expect(tape.close?.input?.left).toMatchObject({ messages: [{}, {}] })
    const direct = await replayTape(tape, answering())
    expect(direct.problems[0]?.message).toContain('input.done: [-(absent)-]')
    expect(direct.problems[0]?.message).toContain('the recorded run worked on a copy of its input')

    const add = tool(
      'add',
      async (conversation: Conversation) => void conversation.messages.push(question().messages[0]!),
    )
    const byTool = async (given: unknown) => {
      await add(given as Conversation)
      ;(given as Conversation).done = true
    }
    const again = await replayTape(await recorded(byTool), byTool)
    expect(again.problems[0]?.message).toContain('a wrapped tool changed the input')
  })

  it('is compared where the agent throws, and where it yields', async () => {
    const throwing = (said: string) =>
      answering(said, () => {
        throw new Error('the shop is closed')
      })
    const tape = await recorded(throwing('Sorry.'))
    expect(await replayed(tape, throwing('Sorry.'))).toEqual(same)
    expect(await replayed(tape, throwing('Sorry!'))).toMatchObject({ verdict: 'different', codes: ['HARVEST_STATES'] })
    const yielding = (said: string) =>
      async function* (input: unknown) {
        yield 'one'
        await answering(said)(input)
      }
    const pieces = await recorded(yielding('Done.'))
    expect(await replayed(pieces, yielding('Done.'))).toMatchObject({ verdict: 'same', codes: [] })
    expect(await replayed(pieces, yielding('Gone.'))).toMatchObject({ verdict: 'different', codes: ['HARVEST_STATES'] })
  })

  it('is listed once where a snapshot differs too, and neither decides', async () => {
    const noting = (total: number, said: string) => async (input: unknown) => {
      state('total', total)
      await answering(said)(input)
    }
    const tape = await recorded(noting(25, 'Done.'))
    const reported = async (said: string) =>
      (await replayed(tape, noting(2500, said), { drift: { states: 'report' } })).paths
    expect(await reported('Done.')).toEqual(['total'])
    expect(await reported('Gone.')).toEqual(['total', 'input.messages[1].content'])
  })

  it('is listed where the recorder got a copy, which an unchanged agent left alone', async () => {
    const tape = await recorded((input) => answering()(structuredClone(input)))
    expect(tape.close?.input).toEqual({})
    expect(await replayed(tape, answering())).toEqual(listed)
    expect(await replayed(tape, (input) => answering()(structuredClone(input)))).toEqual(same)
  })

  it('is listed on tapes that do not hold it, and of an agent that takes no input', async () => {
    const tape = await recorded(answering())
    const { input: _, ...close } = tape.close!
    expect(await replayed({ ...tape, close }, answering())).toEqual(listed)
    expect(await replayed({ ...tape, close }, (input) => answering()(structuredClone(input)))).toEqual(same)
    expect(await replayed(tape, () => answering()(question()))).toEqual(listed)
  })

  it('is listed where two runs beside each other have a part of it, which changed since both began', async () => {
    const recorder = createRecorder({ dir })
    const counter = { runs: 0 }
    const tools = ['refund']
    const both = Promise.withResolvers<void>()
    let waiting = 0
    const counting = async (input: unknown): Promise<void> => {
      const { counter: counted, messages } = input as Conversation & { readonly counter: { runs: number } }
      if (++waiting === 2) both.resolve()
      await both.promise
      await refund(25)
      counted.runs++
      messages.push({ role: 'assistant', content: 'Done.' })
    }
    const record = async (id: string, shared: object) => {
      const input = { ...question(), counter: { runs: 0 }, ...shared }
      await recorder.run({ agent: 'shop', id, input }, () => counting(input))
      return readTape(join(dir, `${id}.tape.jsonl`))
    }
    const [one, other] = await Promise.all([record('beside-1', { counter }), record('beside-2', { counter })])
    expect([one.close?.input, other.close?.input]).toEqual([undefined, undefined])
    waiting = 1
    expect(await replayed(other, counting)).toEqual(listed)
    // What both have and neither changes is no reason.
    waiting = 0
    const [third] = await Promise.all([record('beside-3', { tools }), record('beside-4', { tools })])
    expect(third.close?.input?.left).toBeDefined()
    waiting = 1
    expect(await replayed(third, counting)).toEqual(same)
    // One after the other, the first of which is not kept.
    waiting = 1
    const dropping = createRecorder({ dir, sample: 0, keep: { tools: ['none'] } })
    const given = { ...question(), counter }
    await dropping.run({ agent: 'shop', input: given }, () => counting(given))
    waiting = 1
    expect((await record('beside-5', { counter })).close?.input?.left).toBeDefined()
  })

  it('is listed where the input holds what a replay gives without its methods', async () => {
    const withSignal = () => ({ ...question(), stop: new Stop() })
    const stopping = async (input: unknown) => {
      await refund(25)
      const { stop } = input as { readonly stop: Partial<Stop> }
      stop.now?.()
    }
    const tape = await recorded(stopping, withSignal())
    expect(tape.close?.input?.left).toBeDefined()
    expect(await replayed(tape, stopping)).toEqual(listed)
  })

  it('is listed where the agent puts into it what tapes do not hold', async () => {
    const answer = Symbol('answer')
    const places: readonly ((input: object) => void)[] = [
      (input) => void Object.assign(input, { [answer]: 'Refunded.' }),
      (input) => void Object.defineProperty(input, 'answer', { value: 'Refunded.' }),
    ]
    for (const put of places) {
      const hiding = async (input: unknown) => (await refund(25), put(input as object))
      const tape = await recorded(hiding)
      expect(tape.close?.input).toEqual({})
      expect((await replayed(tape, hiding)).listed).toEqual([expect.stringMatching(/^input: fields /)])
    }
    const idle = async () => void (await refund(25))
    expect(await replayed(await recorded(idle), idle)).toEqual(same)
  })

  it('is listed where the input computes a part of itself, which a replay hands over as it was', async () => {
    const counted = () => {
      const messages = question().messages
      return {
        messages,
        about: {
          get count() {
            return messages.length
          },
        },
      }
    }
    const pushing = answering()
    const tape = await recorded(pushing, counted())
    expect(await replayed(tape, pushing)).toEqual(listed)
  })

  it('is compared of a run that is kept when it is over', async () => {
    const tape = await recorded(answering(), question(), { sample: 0, keep: { tools: ['refund'] } })
    expect(await replayed(tape, answering())).toEqual(same)
    expect(await replayed(tape, answering('No.'))).toMatchObject({ codes: ['HARVEST_STATES'] })
  })

  it('is redacted, and compared behind its placeholders', async () => {
    const key = `sk-proj-${'Ab1'.repeat(16)}`
    const tape = await recorded(answering(`Your key is ${key}.`))
    expect(readFileSync(join(dir, tape.source.split('/').at(-1)!), 'utf8')).not.toContain(key)
    expect(JSON.stringify(tape.close?.input)).toContain('redacted-')
    expect(await replayed(tape, answering(`Your key is ${key}.`))).toEqual(same)
    expect(await replayed(tape, answering(`The key is ${key}.`))).toMatchObject({ codes: ['HARVEST_STATES'] })
  })

  it('is expected as a run left it whose states are given, whatever it changed, and not as recorded any more', async () => {
    const noting = (change: (input: Conversation) => void, total = 25) =>
      answering('Done.', (input) => {
        state('a/b~', { total })
        if (total === 25) state('gone', [1])
        else state('new', { list: [total] })
        change(input)
      })
    const recordedOne = noting(() => undefined)
    const tape = await recorded(recordedOne)
    const changes: readonly ((input: Conversation) => void)[] = [
      ({ messages }) => void messages.splice(0, 1),
      ({ messages }) => void messages.splice(0),
      ({ messages }) => void messages.unshift({ role: 'system', content: 'a/b' }),
      (input) => void Object.assign(input, { 'a/b': { '~': [null] }, done: { at: 1 } }),
      (input) => void delete input.done,
    ]
    for (const change of changes) {
      const other = noting(change, 30)
      const { states = [], ...run } = await replayTape(tape, other)
      expect(run.problems.map(({ code }) => code)).toEqual(['HARVEST_STATES', 'HARVEST_STATES'])
      expect(states.map(({ of, call }) => [of, call])).toEqual([
        ['a/b~', 1],
        ['new', 1],
        ['input', undefined],
        ['gone', 1],
      ])
      expect(await replayed(tape, other, { states })).toEqual(same)
      const now = await replayTape(tape, other, { states })
      expect([now.states, now.comparison.states]).toEqual([states, { recorded: 3, same: 0, other: 3 }])
      expect(inexactParts(now)).toEqual(['0 of 3 states are as recorded, and 3 other'])
      expect((await replayed(tape, recordedOne, { states })).codes).toContain('HARVEST_STATES')
      expect((await replayed(tape, noting(change, 31), { states })).codes).toContain('HARVEST_STATES')
    }
  })

  it('comes after steps that differ, and is looked at where some were left out alone: a case may accept that', async () => {
    const tape = await recorded(answering())
    const other = async (input: unknown) => {
      await refund(1000)
      return answering('Refunded 1000 EUR.')(input)
    }
    expect((await replayed(tape, other)).codes).not.toContain('HARVEST_STATES')
    const idle = async (input: unknown) => void (input as Conversation).messages.pop()
    expect((await replayed(tape, idle)).codes).toEqual(['HARVEST_UNUSED', 'HARVEST_STATES'])
  })

  it('is nothing of an input that no code can change', async () => {
    const tape = await recorded(async () => void (await refund(25)), 'Refund my order, please.')
    expect(tape.close).not.toHaveProperty('input')
  })
})

function isIterable(value: unknown): value is AsyncIterable<unknown> {
  return typeof value === 'object' && value !== null && Symbol.asyncIterator in value
}

class Stop {
  isStopped = false
  now(): void {
    this.isStopped = true
  }
}
