import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import OpenAI from 'openai'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { runOf } from '../../src/report/run.ts'
import { exportTape } from '../../src/exporters/index.ts'
import { importRecording } from '../../src/importers/index.ts'
import { readModelCall } from '../../src/providers/index.ts'
import { createRecorder, tool } from '../../src/record/index.ts'
import { installReplay, replayTape } from '../../src/replay/index.ts'
import { type ExchangeEvent, parseTape, readTape, serializeTape, type Tape } from '../../src/tape/index.ts'
import { traceOf } from '../../src/trace/index.ts'
import { foreign } from '../importers/foreign.ts'
import { type Assistants, startAssistants, text } from './assistants.ts'

let service: Assistants
let dir: string
beforeAll(async () => {
  service = await startAssistants()
  dir = mkdtempSync(join(tmpdir(), 'harvest-polled-'))
  await installReplay()
})
afterAll(() => {
  service.close()
  rmSync(dir, { recursive: true, force: true })
})

const prices = { m: { input: 1, output: 1 }, 'm-5': { input: 1, output: 1 } }

async function record(agent: () => Promise<unknown>): Promise<Tape> {
  // A recorder with prices counts what is used.
  const recording = createRecorder({ dir, prices })
  await recording.run({ agent: 'assistant' }, agent)
  return readTape(recording.lastTape ?? '')
}

const client = (): OpenAI => new OpenAI({ apiKey: 'none', baseURL: service.base })
type Run = OpenAI.Beta.Threads.Runs.Run

function outputsFor(run: Run): { tool_call_id: string; output: string }[] {
  const asked = run.required_action?.submit_tool_outputs.tool_calls ?? []
  return asked.map(({ id, function: { name } }) => ({ tool_call_id: id, output: `${name} is done` }))
}

async function polls(): Promise<unknown> {
  const { threads } = client().beta
  const { id: thread_id } = await threads.create({})
  await threads.messages.create(thread_id, { role: 'user', content: 'Where is my lamp?' })
  let run = await threads.runs.createAndPoll(thread_id, { assistant_id: 'asst_1' })
  while (run.status === 'requires_action')
    run = await threads.runs.submitToolOutputsAndPoll(run.id, { thread_id, tool_outputs: outputsFor(run) })
  const { data: steps } = await threads.runs.steps.list(run.id, { thread_id })
  const { data: messages } = await threads.messages.list(thread_id)
  return [run.status, steps.length, messages.length]
}

async function streams(): Promise<unknown> {
  const { threads } = client().beta
  const first = threads.runs.stream('thread_1', { assistant_id: 'asst_1' })
  const run = await first.finalRun()
  const rest = threads.runs.submitToolOutputsStream(run.id, { thread_id: 'thread_1', tool_outputs: outputsFor(run) })
  const [message] = await rest.finalMessages()
  return [run.status, message?.content]
}

async function waits(): Promise<unknown> {
  const { responses } = client()
  let answer = await responses.create({ model: 'm', input: 'Where is my lamp?', background: true })
  while (answer.status === 'queued' || answer.status === 'in_progress') {
    await new Promise((resolve) => setTimeout(resolve, 3))
    answer = await responses.retrieve(answer.id)
  }
  const again = await responses.retrieve(answer.id)
  return [answer.status, again.output.length]
}

const exchanges = ({ events }: Tape): readonly ExchangeEvent[] => events.filter((event) => event.kind === 'exchange')
const layers = (tape: Pick<Tape, 'events'>): unknown =>
  traceOf(tape.events).layers.map((layer) => layer.map(({ name }) => name))
const told = (tape: Tape): readonly unknown[] =>
  exchanges(tape).flatMap((event) => {
    const { response, isPoll } = readModelCall(event) ?? {}
    if (response === undefined) return []
    const { finish, toolCalls, text: words } = response
    return [`${isPoll ? 'poll' : 'call'}: ${finish ?? '-'} ${toolCalls.map(({ name }) => name).join()} ${words}`.trim()]
  })

/** What another tool would have recorded of the same run. */
function cassetteOf(tape: Tape): Parameters<typeof importRecording>[0] {
  const bytes = Buffer.from(foreign.vcrpy(exchanges(tape)))
  return { file: 'cassette.json', bytes, id: 'cassette', agent: 'assistant' }
}

function importedFrom(tape: Tape): Tape {
  const { header, events, close } = importRecording(cassetteOf(tape))
  return parseTape(serializeTape(header, events, close), 'cassette')
}

const agents = { polls, streams, waits }

describe.each([
  {
    name: 'polls',
    layers: [['lookup_order', 'stock']],
    used: { modelCalls: 2, inputTokens: 40, outputTokens: 9, costUsd: 0.000049 },
    told: [
      'call: queued',
      'poll: in_progress',
      'poll: requires_action lookup_order,stock',
      'call: queued',
      'poll: in_progress',
      'poll: completed',
      'poll: - lookup_order,stock,code_interpreter,file_search',
      `poll: -  ${text}`,
    ],
  },
  {
    name: 'streams',
    layers: [['lookup_order', 'stock']],
    used: { modelCalls: 2, inputTokens: 40, outputTokens: 9, costUsd: 0.000049 },
    told: ['call: requires_action lookup_order,stock', `call: completed lookup_order,stock ${text}`],
  },
  {
    name: 'waits',
    layers: [['lookup_order']],
    used: { modelCalls: 1, inputTokens: 40, outputTokens: 9, costUsd: 0.000049 },
    told: ['call: queued', 'poll: in_progress', 'poll: completed lookup_order', 'poll: completed lookup_order'],
  },
] as const)("an agent of OpenAI's client that $name", (expected) => {
  const agent = agents[expected.name]
  let tape: Tape
  beforeAll(async () => {
    tape = await record(agent)
  })

  test('is read answer by answer, with each call of a tool and all tokens once', async () => {
    expect(told(tape)).toEqual(expected.told)
    expect(layers(tape)).toEqual(expected.layers)
    expect(tape.close?.usage).toEqual(expected.used)
    expect(runOf(tape, prices).spending).toMatchObject({ ...expected.used, untold: 0 })
    const { costUsd: _, ...tokens } = expected.used
    expect(JSON.parse([...exportTape(tape, 'json', { withContent: true }).pieces].join(''))).toMatchObject({
      usage: { ...tokens, untold: 0 },
      calls: expected.layers.flat().map((name) => ({ name })),
    })
  })

  test('has the same calls after its spans were imported, and spans that tell all tokens once', () => {
    const text = [...exportTape(tape, 'otlp', { withContent: true }).pieces].join('')
    const bytes = Buffer.from(text)
    const toldIn = (kind: string): number =>
      [...text.matchAll(new RegExp(`"gen_ai.usage.${kind}_tokens","value":\\{"intValue":"(\\d+)"`, 'g'))]
        .map(([, tokens]) => Number(tokens))
        .reduce((sum, tokens) => sum + tokens, 0)
    expect([toldIn('input'), toldIn('output')]).toEqual([expected.used.inputTokens, expected.used.outputTokens])
    const { events } = importRecording({ file: 'spans.jsonl', bytes, id: 'spans', agent: 'assistant' })
    expect(layers({ events })).toEqual(expected.layers)
  })

  test('is replayed, and answers as it did', async () => {
    const result = await replayTape(tape, agent)
    expect(result.problems).toEqual([])
    expect(result.outcome).toMatchObject(tape.close!.outcome)
    expect(layers(result)).toEqual(expected.layers)
  })

  test('says the same in a cassette of another tool, which is replayed as well', async () => {
    const { facts } = importRecording(cassetteOf(tape))
    expect(facts).toMatchObject({ modelCalls: expected.used.modelCalls, tools: expected.layers.flat() })
    const imported = importedFrom(tape)
    const result = await replayTape(imported, agent)
    expect(result.problems).toEqual([])
    expect(result.outcome).toMatchObject(tape.close!.outcome)
    expect([layers(imported), layers(result)]).toEqual([expected.layers, expected.layers])
  })
})

describe('a replay that polls', () => {
  const run = (path = ''): string => `${service.base}/threads/thread_1/runs/run_1${path}`
  const looks = (count: number) => async () => {
    await fetch(run().replace('/run_1', ''), { method: 'POST', body: '{"assistant_id":"asst_1"}' })
    const seen: string[] = []
    for (let i = 0; i < count; i++) seen.push(((await (await fetch(run())).json()) as Run).status)
    await fetch(run('/submit_tool_outputs'), { method: 'POST', body: '{"tool_outputs":[]}' })
    return seen
  }
  const problems = async (tape: Tape, count: number): Promise<readonly string[]> =>
    (await replayTape(tape, looks(count))).problems.map(({ message }) => neutral(message, tape))

  let tape: Tape
  beforeAll(async () => {
    tape = await record(looks(2))
  })

  test('as often as recorded finds the recorded states in turn', async () => {
    const { problems: none, outcome } = await replayTape(tape, looks(2))
    expect([none, outcome]).toEqual([[], { status: 'returned', value: ['in_progress', 'requires_action'] }])
  })

  test('more often gets no answer, and is told so', async () => {
    expect(await problems(tape, 3)).toMatchInlineSnapshot(`
      [
        "The agent made a request more often than recorded: GET service/v1/threads/thread_1/runs/run_1

        tape     a-tape
        step     4 of this replay (4 recorded)
        at       test/clients/polled.test.ts
        after    step 3, GET service/v1/threads/thread_1/runs/run_1
        nearest  step 2, GET service/v1/threads/thread_1/runs/run_1

      Every recorded answer to it was given: the agent takes more steps or repeats one.
      → to see the recorded steps: npx vitest-harvest show a-tape
      → if the new behaviour is right: record the run again and promote the new tape
      (HARVEST_TAPE_EXHAUSTED)",
      ]
    `)
  })

  test('less often is out of order, and is told so', async () => {
    expect(await problems(tape, 1)).toMatchInlineSnapshot(`
      [
        "The agent skipped step 3, GET service/v1/threads/thread_1/runs/run_1

        tape   a-tape
        step   3 of this replay (4 recorded)
        at     test/clients/polled.test.ts
        after  step 2, GET service/v1/threads/thread_1/runs/run_1

      Made instead: step 4, POST service/v1/threads/thread_1/runs/run_1/submit_tool_outputs

      The recorded steps after it were made with its answer.
      → if it is still needed: make step 3 before the steps that follow it
      → to see the recorded steps: npx vitest-harvest show a-tape
      → if the new behaviour is right: record the run again and promote the new tape
      (HARVEST_ORDER)",
      ]
    `)
  })

  test('less or more often than an import tells is told as well, though it tells no order', async () => {
    const imported = importedFrom(tape)
    expect(await problems(imported, 1)).toMatchInlineSnapshot(`
      [
        "The agent left out 1 recorded step

        tape  a-tape

        - step 3, GET service/v1/threads/thread_1/runs/run_1

      The agent takes fewer steps than recorded.
      → to see the recorded steps: npx vitest-harvest show a-tape
      → if the new behaviour is right: record the run again and promote the new tape
      (HARVEST_UNUSED)",
      ]
    `)
    expect((await replayTape(imported, looks(3))).problems.map(({ code }) => code)).toEqual(['HARVEST_TAPE_EXHAUSTED'])
  })
})

/** Without what differs each time: the port, the name of the tape, the line. */
function neutral(message: string, { header: { id } }: Tape): string {
  return message
    .replace(/127\.0\.0\.1:\d+/g, 'service')
    .replaceAll(id, 'a-tape')
    .replace(/\.ts:\d+:\d+/g, '.ts')
}

test('what an answer used that nobody came back for is not known', async () => {
  const tape = await record(() => client().responses.create({ model: 'm', input: 'Hi', background: true }))
  expect(tape.close?.usage).toEqual({ modelCalls: 1, inputTokens: 0, outputTokens: 0 })
  expect(runOf(tape, prices).spending).toMatchObject({ modelCalls: 1, untold: 1 })
})

test('tools that a poll asked for at once may change places', async () => {
  const lookUp = tool('lookup_order', async (_: { order: string }) => 'shipped')
  const stock = tool('stock', async (_: { item: string }) => 7)
  const agent = (isTurned: boolean) => async () => {
    const { runs } = client().beta.threads
    const run = await runs.createAndPoll('thread_1', { assistant_id: 'asst_1' })
    const made = [() => lookUp({ order: 'A-17' }), () => stock({ item: 'lamp' })]
    for (const make of isTurned ? made.toReversed() : made) await make()
    return (await runs.submitToolOutputsAndPoll(run.id, { thread_id: 'thread_1', tool_outputs: outputsFor(run) }))
      .status
  }
  const tape = await record(agent(false))
  const result = await replayTape(tape, agent(true))
  expect(result.problems).toEqual([])
  expect([layers(tape), layers(result)]).toEqual([[['lookup_order', 'stock']], [['stock', 'lookup_order']]])
})
