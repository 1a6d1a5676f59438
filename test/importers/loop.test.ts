import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { loadAgent } from '../../fixtures/agents/load.ts'
import { drive } from '../../fixtures/loop/agent.ts'
import { countHoles } from '../../fixtures/loop/holes.ts'
import { scriptOf } from '../../fixtures/loop/script.ts'
import type { Script } from '../../fixtures/loop/types.ts'
import { spoilt } from '../../fixtures/loop/wrong.ts'
import { type Provider, startProviderHere } from '../../fixtures/provider/index.ts'
import { createRecorder } from '../../src/record/index.ts'
import { type ReplayResult, replayTape, verdictOf } from '../../src/replay/index.ts'
import {
  type Chunk,
  type ExchangeEvent,
  parseTape,
  readTape,
  requestBytes,
  serializeTape,
  type Tape,
} from '../../src/tape/index.ts'
import { compareTraces, parseBaseline, renderBaseline, traceOf } from '../../src/trace/index.ts'
import { foreign } from './foreign.ts'
import { imported, url } from './samples.ts'

interface Cassette {
  readonly dialect: string
  readonly agent: string
  readonly format: keyof typeof foreign
  /** Where it was recorded, as far as cassettes know. */
  readonly host: string
  /** What else has to be another. */
  readonly as?: (event: ExchangeEvent) => ExchangeEvent
}

const bedrock = 'https://bedrock-runtime.eu-central-1.amazonaws.com'

/** Recordings of an ordinary agent on a real SDK, as teams have them: in a format of somebody else. */
const cassettes: readonly Cassette[] = [
  { dialect: 'chat completions', agent: 'openai-chat-json', format: 'nock', host: 'https://api.openai.com' },
  { dialect: 'streamed chat', agent: 'openai-chat-stream', format: 'vcrpy', host: 'https://api.groq.com/openai' },
  {
    dialect: 'chat on Azure',
    agent: 'openai-chat-json',
    format: 'har',
    host: 'https://we.openai.azure.com',
    as: onAzure,
  },
  { dialect: 'streamed responses', agent: 'openai-responses-stream', format: 'nock', host: 'https://api.openai.com' },
  { dialect: 'streamed messages', agent: 'anthropic-stream', format: 'har', host: 'https://api.anthropic.com' },
  {
    dialect: 'streamed Gemini',
    agent: 'google-genai-stream',
    format: 'vcrpy',
    host: 'https://generativelanguage.googleapis.com',
  },
  { dialect: 'converse', agent: 'bedrock-http1', format: 'nock', host: bedrock },
  { dialect: 'streamed converse', agent: 'bedrock-converse-stream', format: 'har', host: bedrock },
  { dialect: 'messages on Bedrock', agent: 'anthropic-json', format: 'vcrpy', host: bedrock, as: onBedrock },
]

const dir = mkdtempSync(join(tmpdir(), 'harvest-loop-'))
let provider: Provider
const recorded = new Map<string, readonly ExchangeEvent[]>()

beforeAll(async () => {
  provider = await startProviderHere()
  const recorder = createRecorder({ dir })
  for (const name of new Set(cassettes.map(({ agent }) => agent))) {
    const agent = await loadAgent(name, provider)
    await recorder.run({ agent: name, id: name }, () => agent(provider))
    const { events } = readTape(join(dir, `${name}.tape.jsonl`))
    recorded.set(
      name,
      events.filter((event) => event.kind === 'exchange'),
    )
  }
})
afterAll(async () => {
  rmSync(dir, { recursive: true, force: true })
  await provider.close()
})

/** The tape of a cassette; `changed` may make other calls of those that were recorded. */
function cassetteOf({ agent, format, host, as }: Cassette, changed = answeredAsRecorded): Tape {
  const moved = changed(recorded.get(agent)!).map((event) => {
    const { pathname, search } = new URL(event.url)
    return { ...event, url: host + pathname + search }
  })
  const { header, events, close } = imported(foreign[format](as ? moved.map(as) : moved))
  return parseTape(serializeTape(header, events, close), 'cassette')
}

function answeredAsRecorded(exchanges: readonly ExchangeEvent[]): readonly ExchangeEvent[] {
  return exchanges
}

function onAzure(event: ExchangeEvent): ExchangeEvent {
  const { origin } = new URL(event.url)
  return { ...event, url: `${origin}/openai/deployments/gpt-x/chat/completions?api-version=2025-01-01` }
}

function onBedrock(event: ExchangeEvent): ExchangeEvent {
  const { model, ...body } = JSON.parse(requestBytes(event).toString()) as { readonly model: string }
  const sent = JSON.stringify({ anthropic_version: 'bedrock-2023-05-31', ...body })
  return { ...event, url: `${bedrock}/model/${model}/invoke`, request: { ...event.request, body: sent } }
}

async function run(tape: Tape, script: Script = scriptOf(tape.events)): Promise<ReplayResult> {
  return replayTape(tape, () => drive(script))
}

function isRecordedTrace({ tape, events }: ReplayResult): boolean {
  const wanted = parseBaseline(renderBaseline(traceOf(tape.events), { args: 'exact' }))
  return compareTraces(wanted, traceOf(events), { args: 'exact' }).equal
}

const named = cassettes.map((cassette) => [cassette.dialect, cassette.format, cassette] as const)

describe('an imported recording of a tool loop', () => {
  it.each(named)('of %s, by %s, is replayed through the real SDK', async (_dialect, _format, cassette) => {
    const tape = cassetteOf(cassette)
    const result = await run(tape)
    expect(result.problems).toEqual([])
    expect(result.outcome).toMatchObject({ status: 'returned', value: { asked: 2 } })
    expect(result.comparison).toMatchObject({ recorded: 2, served: 2 })
    expect(isRecordedTrace(result)).toBe(true)
    expect(
      traceOf(result.events)
        .layers.flat()
        .map(({ name }) => name),
    ).toEqual(['get_weather', 'get_weather'])
  })

  it.each(named)('of %s, by %s, proves nothing to a loop that goes wrong', async (_dialect, _format, cassette) => {
    const tape = cassetteOf(cassette)
    const script = scriptOf(tape.events)
    // Names, ids where the dialect has them, and arguments of two calls.
    expect(countHoles(script.turns[1]!.body!)).toBeGreaterThanOrEqual(4)
    for (const kind of ['result', 'argument'] as const) {
      const replayed = await run(tape, spoilt(script, kind))
      const { verdict, unproven } = verdictOf(replayed)
      expect([verdict, unproven.length > 0]).toEqual(['unproven', true])
      expect(unproven).toContainEqual(expect.objectContaining({ class: 'messages', isData: true }))
    }
  })

  // The frames of AWS carry checksums: an answer that was changed is refused by the SDK.
  const readable = named.filter(([, , { agent }]) => agent !== 'bedrock-converse-stream')
  it.each(readable)('of %s, by %s, with another answer leads to another request', async (_d, _f, cassette) => {
    const { events } = cassetteOf(cassette)
    const { unproven } = verdictOf(await run(cassetteOf(cassette, answeredOtherwise), scriptOf(events)))
    expect(unproven.map(({ words }) => words).join('\n')).toContain('Kyo')
  })

  it('goes on in each conversation from what was answered there', () => {
    const said = ['Paris', 'Tokyo'].map((city) => [
      { role: 'system', content: 'Be short.' },
      { role: 'user', content: `How is ${city}?` },
    ])
    const answers = ['call_p', 'call_t'].map((id) => {
      const call = { id, type: 'function', function: { name: 'get_weather', arguments: '{"at": "noon"}' } }
      return { role: 'assistant', content: null, tool_calls: [call] }
    })
    const asked = [0, 1, 0, 1].map((n, index) => {
      const result = { role: 'tool', tool_call_id: answers[n]!.tool_calls[0]!.id, content: 'mild' }
      return { model: 'gpt-x', messages: index < 2 ? said[n] : [...said[n]!, answers[n], result] }
    })
    const interactions = asked.map((body, index) => ({
      request: { method: 'POST', uri: url, headers: {}, body: JSON.stringify(body) },
      response: {
        status: { code: 200 },
        headers: {},
        body: { string: JSON.stringify({ choices: [{ index: 0, message: answers[index % 2] }] }) },
      },
    }))
    const { turns } = scriptOf(imported(JSON.stringify({ version: 1, interactions })).events)
    const from = turns.map(({ body }) => new Set(JSON.stringify(body).match(/(?<="turn":)\d/g)))
    expect(from).toEqual([new Set(), new Set(), new Set(['0']), new Set(['1'])])
  })
})

/** The model asks for the weather of another city. */
function answeredOtherwise([first, ...others]: readonly ExchangeEvent[]): readonly ExchangeEvent[] {
  const chunks = first!.response!.chunks.map(([n, at, text]): Chunk => {
    return [n, at, typeof text === 'string' ? text.replaceAll(/Tok(?!en)/g, 'Kyo') : text]
  })
  return [{ ...first!, response: { ...first!.response!, chunks } }, ...others]
}
