import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest'
import { isPassing } from '../../src/blame/oracle.ts'
import { askBudget } from '../../src/fork/ask-budget.ts'
import { asData } from '../../src/fork/fork-task.ts'
import { forkTape } from '../../src/fork/index.ts'
import { openBudget } from '../../src/live/index.ts'
import { isUnreached } from '../../src/live/unreached.ts'
import { recordedQuestions } from '../../src/fork/recorded-question.ts'
import { createRecorder } from '../../src/record/index.ts'
import { installReplay } from '../../src/replay/index.ts'
import { readTape, type Tape } from '../../src/tape/index.ts'

interface Body {
  readonly messages: readonly { readonly role: string; readonly content: string }[]
}

let url = ''
let tape: Tape
const dir = mkdtempSync(join(tmpdir(), 'harvest-asks-'))
/** What the model says to write to the customer; what it was asked. */
let said = ''
const asked: Body[] = []
const server = createServer((request, response) => {
  const chunks: Buffer[] = []
  request.on('data', (chunk: Buffer) => chunks.push(chunk))
  request.on('end', () => {
    response.setHeader('content-type', 'application/json')
    if (!request.url?.startsWith('/v1')) return response.end('{"sent":true}')
    const body = JSON.parse(Buffer.concat(chunks).toString()) as Body
    asked.push(body)
    const content = body.messages.length > 2 ? 'Done.' : said
    return response.end(JSON.stringify({ model: 'gpt-4o', choices: [{ message: { role: 'assistant', content } }] }))
  })
})

/** Asks a model what to write, sends it, and asks once more; `system` and the order of fields are its author's. */
function agentOf({ system = 'Be kind.', isReordered = false } = {}) {
  const ask = async (messages: Body['messages']): Promise<string> => {
    const question = isReordered ? { messages, model: 'gpt-4o' } : { model: 'gpt-4o', messages }
    const answer = await fetch(`${url}/v1/chat/completions`, { method: 'POST', body: JSON.stringify(question) })
    const { choices } = (await answer.json()) as { choices: { message: { content: string } }[] }
    return choices[0]?.message.content ?? ''
  }
  return async () => {
    const told = [
      { role: 'system', content: system },
      { role: 'user', content: 'Write to Ada about order A-100.' },
    ]
    const text = await ask(told)
    await fetch(`${url}/mails`, { method: 'POST', body: JSON.stringify({ to: 'ada', text }) })
    return ask([...told, { role: 'assistant', content: text }, { role: 'user', content: 'Sent.' }])
  }
}

beforeAll(async () => {
  await new Promise<void>((ready) => server.listen(0, '127.0.0.1', ready))
  url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`
  await installReplay()
  said = 'Your order A-100 is refunded.'
  const recorder = createRecorder({ dir })
  await recorder.run({ agent: 'mail', id: 'mail' }, agentOf())
  tape = readTape(recorder.lastTape ?? '')
})
beforeEach(() => {
  asked.length = 0
})
afterAll(() => {
  server.closeAllConnections()
  server.close()
  rmSync(dir, { recursive: true, force: true })
})

const live = { from: 'live', tools: 'tape', budget: openBudget({}) } as const

describe('a fork that asks its model', () => {
  it('answers a service from the tape where the data is the same and the text is worded anew', async () => {
    said = 'We have refunded your order A-100 today.'
    const same = await forkTape(tape, agentOf(), { keep: 0, tail: live })
    expect([same.problems, same.outcome]).toEqual([[], { status: 'returned', value: 'Done.' }])
    said = 'Your order B-200 is refunded.'
    const other = await forkTape(tape, agentOf(), { keep: 0, tail: live })
    expect(other.problems.map(({ code }) => code)).toEqual(['HARVEST_NOT_RECORDED'])
    // It is a request, and nobody wrapped a tool around it that could run for real.
    expect(other.problems[0]?.facts.fix).toEqual(['if the call is right, record a run that makes it'])
  })

  it('that throws before it asks anything is known for one that another try may grade, by every command', async () => {
    const keyless = (): never => {
      throw new TypeError('no key')
    }
    const fork = await forkTape(tape, keyless, { keep: 0, tail: live })
    const [problem] = asData(fork, { seed: '1', tail: { from: 'live' } }).problems
    expect(problem?.code).toBe('HARVEST_FORK_MODEL_UNREACHABLE')
    const [because = ''] = problem?.message.split('\n') ?? []
    expect([because, isUnreached(because), isPassing(because)]).toEqual([
      'The agent threw before it asked anything, so this fork is ungraded',
      true,
      true,
    ])
  })

  it('keeps steps whose question is spelled otherwise, where that is allowed', async () => {
    said = 'Your order A-100 is refunded.'
    const agent = agentOf({ isReordered: true })
    const exact = await forkTape(tape, agent, { keep: 2, tail: live })
    expect(exact.prefix.divergence?.code).toBe('HARVEST_FORK_PREFIX')
    const kept = await forkTape(tape, agent, { keep: 2, kept: 'canonical', tail: live })
    expect([kept.problems, kept.prefix.divergence, kept.prefix.steps]).toEqual([[], undefined, 2])
    expect(asked.length).toBe(1)
  })

  it('asks the recorded question in the place of today’s, and goes on with what this run added', async () => {
    said = 'Order A-100 was refunded for you.'
    const agent = agentOf({ system: 'Be very kind indeed.' })
    const control = { ...live, asking: recordedQuestions(tape, 0) }
    const fork = await forkTape(tape, agent, { keep: 0, tail: control })
    expect(fork.problems).toEqual([])
    expect(asked.map(({ messages }) => messages.map(({ content }) => content))).toEqual([
      ['Be kind.', 'Write to Ada about order A-100.'],
      ['Be kind.', 'Write to Ada about order A-100.', said, 'Sent.'],
    ])
  })

  it('asks the recorded question in the place of one that has more turns by now', () => {
    const recorded = [
      { role: 'system', content: 'Be kind.' },
      { role: 'user', content: 'Write to Ada about order A-100.' },
    ]
    const asks = (messages: Body['messages']): Body =>
      JSON.parse(
        recordedQuestions(
          tape,
          0,
        )({
          url: `${url}/v1/chat/completions`,
          body: JSON.stringify({ model: 'gpt-4o', messages }),
        })?.body ?? 'null',
      ) as Body
    const more = { role: 'user', content: 'In German.' }
    expect(asks([...recorded, more])).toMatchObject({ messages: recorded })
    // What opens otherwise may be another conversation.
    expect(asks([more, ...recorded])).toBeNull()
  })

  it('leaves a question off tape that stands for no recorded one', async () => {
    const asking = recordedQuestions(tape, 0)
    const question = {
      model: 'gpt-4o',
      messages: [
        { role: 'user', content: 'a' },
        { role: 'user', content: 'b' },
      ],
    }
    expect(asking({ url: `${url}/v1/chat/completions`, body: JSON.stringify(question) })).toBeUndefined()
  })
})

describe('what is set apart', () => {
  const use = { calls: 3, tokens: 300, costUsd: 0.3 }

  it('is given only while it fits beside what others may use', async () => {
    const budget = openBudget({ costUsd: 1 })
    const releases = await Promise.all([budget.reserve(use), budget.reserve(use), budget.reserve(use)])
    expect(releases.every((release) => release !== undefined)).toBe(true)
    let isGiven = false
    const waits = budget.reserve(use).then((release) => {
      isGiven = true
      return release
    })
    await new Promise((turn) => setImmediate(turn))
    expect(isGiven).toBe(false)
    releases[0]?.()
    expect(await waits).toBeDefined()
  })

  it('is given only while it fits beside what was used, now and before', async () => {
    const budget = openBudget({ costUsd: 1 })
    budget.carry({ ...use, costUsd: 0.5 })
    expect(await budget.reserve({ ...use, costUsd: 0.6 })).toBeUndefined()
    ;(await budget.reserve({ ...use, costUsd: 0.45 }))?.()
    const run = budget.part()
    expect(run.refusal('gpt-4o')).toBeUndefined()
    run.spent('gpt-4o', { inputTokens: 100_000, outputTokens: 0 }, { asked: 0, answered: 0 })
    expect(await budget.reserve({ ...use, costUsd: 0.45 })).toBeUndefined()
  })

  it('lets no call begin that may pass it, by calls, tokens or dollars', () => {
    const allowance = { calls: 2, tokens: 1_000, costUsd: 0.01, callInput: 100, callOutput: 100 }
    const refusals = (change: Partial<typeof allowance>, used: number) => {
      const budget = askBudget(openBudget({}), { ...allowance, ...change }, {})
      return [1, 2, 3].map(() => {
        const refused = budget.refusal('gpt-4o', 30)
        if (refused === undefined)
          budget.spent('gpt-4o', { inputTokens: used, outputTokens: 0 }, { asked: 0, answered: 0 })
        return refused?.code
      })
    }
    expect(refusals({}, 10)).toEqual([undefined, undefined, 'HARVEST_BUDGET_ASK'])
    expect(refusals({ calls: 9 }, 900)).toEqual([undefined, 'HARVEST_BUDGET_ASK', 'HARVEST_BUDGET_ASK'])
    // $2.50 a million in, $10 out: the next call may cost $0.00125.
    expect(refusals({ calls: 9, tokens: 99_999 }, 3_600)).toEqual([
      undefined,
      'HARVEST_BUDGET_ASK',
      'HARVEST_BUDGET_ASK',
    ])
  })

  it('is refused when nobody can give anything back', async () => {
    const budget = openBudget({ tokens: 299 })
    expect(await budget.reserve(use)).toBeUndefined()
    const inDollars = openBudget({ costUsd: 5 })
    expect(await inDollars.reserve({ calls: 1, tokens: 1 })).toBeUndefined()
  })
})
