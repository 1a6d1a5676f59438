import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { createOpenAI } from '@ai-sdk/openai'
import { tool as langchainTool } from '@langchain/core/tools'
import { createReactAgent } from '@langchain/langgraph/prebuilt'
import { ChatOpenAI } from '@langchain/openai'
import { Agent as MastraAgent } from '@mastra/core/agent'
import { createTool } from '@mastra/core/tools'
import { Client } from '@modelcontextprotocol/sdk/client/index.js'
import { StreamableHTTPClientTransport } from '@modelcontextprotocol/sdk/client/streamableHttp.js'
import { Agent, OpenAIProvider, Runner, tool as agentsTool } from '@openai/agents'
import { generateText, isStepCount, tool as aiTool } from 'ai'
import OpenAI from 'openai'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { z } from 'zod'
import { type Provider, startProviderHere } from '../../fixtures/provider/index.ts'
import { createRecorder, tools } from '../../src/record/index.ts'
import { replayTape } from '../../src/replay/index.ts'
import { readTape } from '../../src/tape/index.ts'
import { renderBaseline, traceOf } from '../../src/trace/index.ts'

const dir = mkdtempSync(join(tmpdir(), 'harvest-adapters-'))
const city = z.object({ city: z.string() })
const ask = 'What is the weather in Paris and Tokyo?'
let provider: Provider
let ran = 0

/** Different every time: a replay that ran it would ask the model something else. */
const look = (name: string): string => {
  ran += 1
  return `${name}: ${Math.floor(performance.timeOrigin % 1000) + ran}`
}

const openai = () => new OpenAI({ apiKey: 'test-key', baseURL: `${provider.base}/v1` })
const aiModel = () => createOpenAI({ apiKey: 'test-key', baseURL: `${provider.base}/v1` }).chat('gpt-x')

const frameworks: Readonly<Record<string, () => Promise<unknown>>> = {
  'the AI SDK': async () => {
    const weather = aiTool({ description: 'Weather', inputSchema: city, execute: async (args) => look(args.city) })
    const options = { model: aiModel(), prompt: ask, stopWhen: isStepCount(4) }
    return (await generateText({ ...options, tools: tools({ get_weather: weather }) })).text
  },
  LangChain: async () => {
    const about = { name: 'get_weather', description: 'Weather', schema: city }
    const weather = langchainTool(async (args: { city: string }) => look(args.city), about)
    const configuration = { baseURL: `${provider.base}/v1` }
    const llm = new ChatOpenAI({ model: 'gpt-x', apiKey: 'test-key', configuration })
    const graph = createReactAgent({ llm, tools: tools([weather]) })
    return (await graph.invoke({ messages: [{ role: 'user', content: ask }] })).messages.at(-1)?.content
  },
  'OpenAI Agents': async () => {
    const about = { name: 'get_weather', description: 'Weather', parameters: city }
    const weather = agentsTool({ ...about, execute: async (args) => look(args.city) })
    const agent = new Agent({ name: 'Weather', model: 'gpt-x', instructions: 'x', tools: tools([weather]) })
    const runner = new Runner({ modelProvider: new OpenAIProvider({ openAIClient: openai() }), tracingDisabled: true })
    return (await runner.run(agent, ask)).finalOutput
  },
  Mastra: async () => {
    const about = {
      id: 'get_weather',
      description: 'Weather',
      inputSchema: city,
      outputSchema: z.object({ said: z.string() }),
    }
    const weather = createTool({ ...about, execute: async (args) => ({ said: look(args.city) }) })
    type Model = ConstructorParameters<typeof MastraAgent>[0]['model']
    const agent = new MastraAgent({
      id: 'weather',
      name: 'Weather',
      instructions: 'x',
      model: aiModel() as unknown as Model,
      tools: tools({ get_weather: weather }),
    })
    return (await agent.generate(ask, { maxSteps: 4 })).text
  },
}

describe('tools of a framework, wrapped in one line', () => {
  beforeAll(async () => {
    provider = await startProviderHere()
  })
  afterAll(async () => {
    await provider.close()
    rmSync(dir, { recursive: true, force: true })
  })

  test.for(Object.keys(frameworks))('%s: recorded as tools, and not run in a replay', async (name) => {
    const agent = frameworks[name]!
    const recorder = createRecorder({ dir })
    const answer = await recorder.run({ agent: 'weather', id: name.replaceAll(' ', '-') }, agent)
    const before = ran
    const tape = readTape(recorder.lastTape!)
    const replayed = await replayTape(tape, agent)
    expect(replayed.problems).toEqual([])
    expect(replayed.outcome).toEqual({ status: 'returned', value: answer })
    expect(ran).toBe(before)
    expect(tape.events.filter(({ kind }) => kind === 'tool')).toHaveLength(2)
    expect(renderBaseline(traceOf(replayed.events), {})).toEqual([['get_weather(city)', 'get_weather(city)']])
  })

  test('an MCP client: its tool calls are served, also where it is not connected', async () => {
    const recorder = createRecorder({ dir })
    const connected = new Client({ name: 'fixture', version: '1.0.0' })
    const transport = new StreamableHTTPClientTransport(new URL(`${provider.base}/mcp`))
    await connected.connect(transport as Parameters<Client['connect']>[0])
    const call = (client: Client) => () => tools(client).callTool({ name: 'get_weather', arguments: { city: 'Paris' } })
    const answer = await recorder.run({ agent: 'mcp', id: 'mcp' }, call(connected))
    await connected.close()
    const stranger = new Client({ name: 'fixture', version: '1.0.0' })
    const replayed = await replayTape(readTape(recorder.lastTape!), call(stranger))
    expect(replayed.problems).toEqual([])
    expect(replayed.outcome).toEqual({ status: 'returned', value: answer })
  })

  test('what is no tool of a known framework is refused by name', () => {
    expect(() => tools({ odd: 7 as unknown as () => void })).toThrow(/'odd' is not a function and not a tool/)
  })
})
