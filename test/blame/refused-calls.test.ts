import { mkdtempSync, rmSync } from 'node:fs'
import { createServer } from 'node:http'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { json } from 'node:stream/consumers'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { parseExpectation } from '../../src/blame/expectation.ts'
import { forkSourceOf } from '../../src/blame/fork-source.ts'
import { offTapeRisk } from '../../src/blame/off-tape.ts'
import { createOracle } from '../../src/blame/oracle.ts'
import { asData } from '../../src/fork/fork-task.ts'
import { forkTape } from '../../src/fork/index.ts'
import { runLive } from '../../src/live/live.ts'
import { openBudget } from '../../src/live/index.ts'
import { createRecorder, type Recorder, tool } from '../../src/record/index.ts'
import { installReplay } from '../../src/replay/index.ts'
import { readTape, type Tape } from '../../src/tape/index.ts'
import { served } from '../support/served.ts'

/** What an agent does once it was refused a call may come of the refusal. */
describe('behind a call that has no answer', () => {
  const base = served(
    createServer((request, response) => {
      if (request.method === 'GET') return void response.end(JSON.stringify({ value: 2500 }))
      void json(request).then((asked) => {
        const { messages } = asked as { readonly messages: readonly { readonly content: string }[] }
        const choices = [{ index: 0, message: messageBehind(messages) }]
        response.setHeader('content-type', 'application/json')
        response.end(JSON.stringify({ id: 'c', object: 'chat.completion', model: 'm', choices }))
      })
    }),
  )
  let dir = ''
  let recorder: Recorder
  /** What the model looks up first. */
  let field = 'total'

  beforeAll(async () => {
    await installReplay()
    dir = mkdtempSync(join(tmpdir(), 'harvest-refused-'))
    recorder = createRecorder({ dir })
  })
  afterAll(() => rmSync(dir, { recursive: true, force: true }))

  function messageBehind(messages: readonly { readonly content: string }[]) {
    const call = (name: string, args: unknown) => ({
      role: 'assistant',
      content: null,
      tool_calls: [{ id: name, type: 'function', function: { name, arguments: JSON.stringify(args) } }],
    })
    if (messages.length === 1) return call('lookup', { field })
    const last = messages.at(-1)!.content
    if (messages.length > 2) return { role: 'assistant', content: 'done' }
    return last.startsWith('failed') ? call('escalate', {}) : call('pay', { amount: JSON.parse(last) as number })
  }

  interface Kind {
    readonly by: string
    readonly lookup: (field: string) => Promise<unknown>
  }
  const kinds: readonly Kind[] = [
    {
      by: 'a wrapped tool',
      lookup: (of) => tool('lookup', async (_: { field: string }) => 2500)({ field: of }),
    },
    {
      by: 'a service',
      lookup: async (of) => ((await (await fetch(`${base()}/${of}`)).json()) as { value: number }).value,
    },
  ]

  /** It hands what a tool throws to its model, as many frameworks do. */
  const agentOf =
    ({ lookup }: Kind) =>
    async (): Promise<string> => {
      const tools: Record<string, (args: never) => Promise<unknown>> = {
        lookup: ({ field: of }: { readonly field: string }) => lookup(of),
        pay: tool('pay', async () => 'paid') as never,
        escalate: tool('escalate', async () => 'asked') as never,
      }
      const messages = [{ role: 'user', content: 'Pay it.' }]
      for (;;) {
        const asked = await fetch(`${base()}/v1/chat/completions`, {
          method: 'POST',
          headers: { 'content-type': 'application/json' },
          body: JSON.stringify({ model: 'm', messages }),
        })
        const said = (await asked.json()) as {
          choices: { message: { content: string; tool_calls?: { function: { name: string; arguments: string } }[] } }[]
        }
        const { content, tool_calls: calls } = said.choices[0]!.message
        if (calls === undefined) return content
        for (const { function: call } of calls) {
          const run = async () => tools[call.name]!(JSON.parse(call.arguments) as never)
          const result = await run().then(
            (value) => JSON.stringify(value),
            (error: unknown) => `failed: ${String(error)}`,
          )
          messages.push({ role: 'tool', content: result })
        }
      }
    }

  async function record(kind: Kind): Promise<Tape> {
    field = 'total'
    await recorder.run({ agent: 'payer', input: {} }, agentOf(kind))
    field = 'amount'
    return readTape(recorder.lastTape ?? '')
  }
  const oracle = (text: string) => createOracle({ by: 'expectations', ok: [parseExpectation(text, '--ok')], bad: [] })
  const refused = { grade: 'ungraded', because: expect.stringContaining('HARVEST_NOT_RECORDED') as string }

  describe.each(kinds)('of $by', (kind) => {
    test('nothing counts of a fork', async () => {
      const tape = await record(kind)
      const graded = (text: string) =>
        forkSourceOf(tape, {
          load: async () => agentOf(kind),
          oracle: oracle(text),
          budget: openBudget({}),
          timeoutMs: 60_000,
        })
      const draw = async (text: string) => (await graded(text)).draw({ keep: 0, seed: 0 }, new AbortController().signal)
      expect(await draw('escalate()')).toMatchObject(refused)
      // The model asked for it before it was refused.
      expect(await draw('lookup(field: "amount")')).toMatchObject({ grade: 'ok' })
    })

    test('such forks are foreseen for free, unless they may make the call that is asked for', async () => {
      const tape = await record(kind)
      const risk = async (text: string) => {
        const judging = { by: 'expectations', ok: [parseExpectation(text, '--ok')], bad: [] } as const
        const source = await forkSourceOf(tape, {
          load: async () => agentOf(kind),
          oracle: createOracle(judging),
          budget: openBudget({ calls: 0 }),
          timeoutMs: 60_000,
        })
        return offTapeRisk(source.positions, { tape, judging, mutates: false }, (at) => source.tryOther(at))
      }
      expect((await risk('escalate()'))?.steps).toContain(1)
      expect((await risk('lookup(field: "amount")'))?.steps).not.toContain(1)
    })

    test('nor of one as data', async () => {
      const tape = await record(kind)
      const tail = { from: 'live' } as const
      const plan = { keep: 0, tail: { ...tail, budget: openBudget({}) } }
      const run = await forkTape(tape, agentOf(kind), plan)
      const fork = asData(run, { seed: '0', tail })
      const { events } = run
      expect(events).toContainEqual(expect.objectContaining({ name: 'escalate' }))
      expect(fork.problems[0]?.code).toBe('HARVEST_NOT_RECORDED')
      expect(oracle('escalate()').gradeCalls({ ...fork, tape, events })).toBeUndefined()
      expect(oracle('lookup(field: "amount")').gradeCalls({ ...fork, tape, events })).toBe('ok')
    })

    test('nor of a live run', async () => {
      const tape = await record(kind)
      const run = await runLive(tape, agentOf(kind), { budget: openBudget({}), signal: new AbortController().signal })
      expect(run.events).toContainEqual(expect.objectContaining({ name: 'escalate' }))
      expect(await oracle('escalate()').grade(run)).toEqual(refused)
      expect(await oracle('lookup(field: "amount")').grade(run)).toEqual({ grade: 'ok' })
    })
  })
})
