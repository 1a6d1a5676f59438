import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { createOpenAI } from '@ai-sdk/openai'
import Anthropic from '@anthropic-ai/sdk'
import { betaZodTool } from '@anthropic-ai/sdk/helpers/beta/zod'
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
  Anthropic: async () => {
    const about = { name: 'get_weather', description: 'Weather', inputSchema: city }
    const weather = betaZodTool({ ...about, run: (args) => look(args.city) })
    const runner = new Anthropic({ apiKey: 'test-key', baseURL: provider.base }).beta.messages.toolRunner({
      model: 'claude-x',
      max_tokens: 100,
      messages: [{ role: 'user', content: ask }],
      // Run by Anthropic: told, and left as it is.
      tools: tools([weather, { type: 'web_search_20250305', name: 'web_search' }]),
    })
    return (await runner).content
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

interface Shape {
  readonly tool: object
  readonly call: () => unknown
}

/** Tools as packages make them that are too large to be installed for a test, and the way in which these call them. */
const shapes: Readonly<Record<string, () => Shape>> = {
  'an action of Genkit': () => {
    const action = Object.assign(
      async (input: unknown) => ((await action.run(input)) as { readonly result: unknown }).result,
      {
        __action: { name: 'get_weather', key: '/tool/get_weather' },
        run: async (input: unknown) => ({
          result: await Promise.resolve(look((input as { city: string }).city)),
          traceId: String(ran),
        }),
      },
    )
    return { tool: action, call: () => action({ city: 'Oslo' }) }
  },
  'a FunctionTool of LlamaIndex': () => {
    class FunctionTool {
      readonly metadata = { name: 'get_weather' }
      call = (input: { city: string }) => look(input.city)
      bind = () => new FunctionTool()
    }
    const made = new FunctionTool()
    return { tool: made, call: () => made.bind().call({ city: 'Oslo' }) }
  },
  'a tool of the Claude Agent SDK': () => {
    const handler = async (input: { city: string }) => Promise.resolve({ content: [{ text: look(input.city) }] })
    const made = { name: 'get_weather', description: '', inputSchema: {}, handler }
    return { tool: made, call: () => made.handler({ city: 'Oslo' }) }
  },
  'a tool of Google ADK': () => {
    class Tool {
      readonly name = 'get_weather'
      async runAsync({ args }: { args: { city: string } }): Promise<string> {
        return Promise.resolve(look(args.city))
      }
    }
    const made = new Tool()
    return { tool: made, call: () => made.runAsync({ args: { city: 'Oslo' } }) }
  },
  'an MCP server of OpenAI Agents': () => {
    const made = { callTool: async (_name: string, args: { city: string }) => Promise.resolve(look(args.city)) }
    return { tool: made, call: () => made.callTool('get_weather', { city: 'Oslo' }) }
  },
  'an MCP client of the AI SDK': () => {
    const made = {
      callTool: async ({ args }: { name: string; args: { city: string } }) => Promise.resolve(look(args.city)),
    }
    return { tool: made, call: () => made.callTool({ name: 'get_weather', args: { city: 'Oslo' } }) }
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

  test.for(Object.entries(shapes))(
    '%s: recorded by its name and input, and not run in a replay',
    async ([name, shape]) => {
      const agent = async (): Promise<unknown> => {
        const made = shape()
        expect(tools([made.tool])[0]).toBe(made.tool)
        return made.call()
      }
      const recorder = createRecorder({ dir })
      const answer = await recorder.run({ agent: 'weather', id: name.replaceAll(' ', '-') }, agent)
      const before = ran
      const tape = readTape(recorder.lastTape!)
      const { problems, outcome } = await replayTape(tape, agent)
      expect([problems, outcome]).toEqual([[], { status: 'returned', value: answer }])
      expect(ran).toBe(before)
      const calls = tape.events.flatMap((event) => (event.kind === 'tool' ? [[event.name, event.args]] : []))
      expect(calls).toEqual([['get_weather', { city: 'Oslo' }]])
    },
  )

  test('what is no tool of a known framework is refused, and told what to wrap', () => {
    const refused = [7, {}, { perform: () => 0 }, Object.assign(() => 0, { invoke: () => 1 }), null]
    for (const odd of refused)
      expect(() => tools({ odd: odd as () => void })).toThrow(
        /'odd' is neither a function nor a tool.*execute: tool\('odd'/s,
      )
    const frozen = Object.freeze({ name: 'odd', inputSchema: {}, handler: () => 0 })
    expect(() => tools([frozen])).toThrow(/'odd' is frozen/)
  })

  test('a function keeps what a framework reads from it', () => {
    const schema = { type: 'object' }
    const { weather } = tools({ weather: Object.assign((given: { city: string }) => given.city, { schema }) })
    expect([weather.schema, weather.name, weather({ city: 'Oslo' })]).toEqual([schema, 'weather', 'Oslo'])
  })
})
