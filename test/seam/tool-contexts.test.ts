import { createOpenAI } from '@ai-sdk/openai'
import { tool as langchainTool } from '@langchain/core/tools'
import { createReactAgent } from '@langchain/langgraph/prebuilt'
import { ChatOpenAI } from '@langchain/openai'
import { Agent as MastraAgent } from '@mastra/core/agent'
import { RequestContext } from '@mastra/core/request-context'
import { createTool } from '@mastra/core/tools'
import { Agent, OpenAIProvider, Runner, tool as agentsTool } from '@openai/agents'
import { generateText, isStepCount, tool as aiTool } from 'ai'
import OpenAI from 'openai'
import { afterAll, beforeAll, describe, expect, test, vi } from 'vitest'
import { z } from 'zod'
import { type Provider, startProviderHere } from '../../fixtures/provider/index.ts'
import { createRecorder, tools } from '../../src/record/index.ts'
import { contextOf } from '../../src/seam/tool-context.ts'
import { installReplay, replayTape, type ReplayOptions, type ReplayResult } from '../../src/replay/index.ts'
import { type CallEvent, contextsFlag, readTape, type Tape } from '../../src/tape/index.ts'
import { temporaryFolder } from '../support/temporary-folder.ts'

// What a framework hands a tool beside what the model wrote: for whom the agent runs.
const city = z.object({ city: z.string() })
const ask = 'What is the weather in Paris and Tokyo?'
const said = async (): Promise<string> => 'sunny'
let provider: Provider
beforeAll(async () => {
  await installReplay()
  provider = await startProviderHere()
})
afterAll(() => provider.close())

const openai = () => new OpenAI({ apiKey: 'test-key', baseURL: `${provider.base}/v1` })
const aiModel = () => createOpenAI({ apiKey: 'test-key', baseURL: `${provider.base}/v1` }).chat('gpt-x')

interface Who {
  readonly tenant: string
  readonly [more: string]: unknown
}

const frameworks: { readonly [name: string]: (who: Who, extra?: object) => Promise<unknown> } = {
  'the AI SDK': async (who) => {
    const weather = aiTool({
      description: 'Weather',
      inputSchema: city,
      contextSchema: z.looseObject({ tenant: z.string() }),
      execute: said,
    })
    const { text } = await generateText({
      model: aiModel(),
      prompt: ask,
      stopWhen: isStepCount(4),
      tools: tools({ get_weather: weather }),
      toolsContext: { get_weather: who } as never,
    })
    return text
  },
  LangChain: async (who) => {
    const weather = langchainTool(said, { name: 'get_weather', description: 'Weather', schema: city })
    const configuration = { baseURL: `${provider.base}/v1` }
    const llm = new ChatOpenAI({ model: 'gpt-x', apiKey: 'test-key', configuration })
    const graph = createReactAgent({ llm, tools: tools([weather]) })
    const asked = { messages: [{ role: 'user', content: ask }] }
    return (await graph.invoke(asked, { configurable: who })).messages.at(-1)?.content
  },
  'metadata of LangChain': async (who) => {
    const weather = langchainTool(said, { name: 'get_weather', description: 'Weather', schema: city })
    const [wrapped] = tools([weather])
    return wrapped!.invoke({ city: 'Paris' }, { metadata: who })
  },
  'OpenAI Agents': async (who) => {
    const about = { name: 'get_weather', description: 'Weather', parameters: city }
    const weather = agentsTool({ ...about, execute: said })
    const agent = new Agent<Who>({
      name: 'Weather',
      model: 'gpt-x',
      instructions: 'x',
      tools: tools([weather]) as never,
    })
    const runner = new Runner({ modelProvider: new OpenAIProvider({ openAIClient: openai() }), tracingDisabled: true })
    return (await runner.run(agent, ask, { context: who })).finalOutput
  },
  Mastra: async (who) => {
    const about = { id: 'get_weather', description: 'Weather', inputSchema: city }
    const weather = createTool({ ...about, execute: said })
    type Model = ConstructorParameters<typeof MastraAgent>[0]['model']
    const model = aiModel() as unknown as Model
    const about2 = { id: 'weather', name: 'Weather', instructions: 'x', model }
    const agent = new MastraAgent({ ...about2, tools: tools({ get_weather: weather }) })
    const requestContext = new RequestContext(Object.entries(who) as [string, object][])
    return (await agent.generate(ask, { maxSteps: 4, requestContext })).text
  },
}

/** Of the shape of its `ToolContext`: ids and times are new in each run, and services are at work in it. */
function adkContext(state: object): object {
  const drawn = (): string => crypto.randomUUID()
  const session = {
    id: drawn(),
    appName: 'shop',
    userId: 'u-1',
    state,
    events: [{ id: drawn() }],
    lastUpdateTime: Math.random(),
  }
  const service = { getSession: () => session }
  return new (class ToolContext {
    readonly invocationContext = { invocationId: drawn(), session, sessionService: service }
    readonly functionCallId = drawn()
    readonly eventActions = { stateDelta: {} }
  })()
}

const callWith = (client: { callTool: (request: object) => Promise<unknown> }, who: Who): Promise<unknown> =>
  tools(client).callTool({ name: 'refund', arguments: { id: 1 }, _meta: { ...who, progressToken: Math.random() } })

const shapes: { readonly [name: string]: (who: Who) => Promise<unknown> } = {
  '`_meta` of an MCP client': (who) => callWith({ callTool: async () => Promise.resolve('done') }, who),
  '`experimental_context` of older AI SDKs': (who) => {
    const made = tools({
      refund: { inputSchema: {}, execute: async (_: object, _options: object) => Promise.resolve('done') },
    })
    const options = { toolCallId: 'call_1', messages: [{ role: 'user', content: ask }], experimental_context: who }
    return made.refund.execute({ id: 1 }, options)
  },
  '`context` of Genkit': (who) => {
    const run = async (_: unknown, _options: object): Promise<object> =>
      Promise.resolve({ result: 'done', traceId: 'x' })
    const [action] = tools([Object.assign(() => undefined, { __action: { name: 'refund' }, run })])
    return action!.run({ id: 1 }, { context: who })
  },
  'the state of a graph of LangChain': (who) => {
    class Message {
      readonly type = 'human'
      readonly content = `hello ${Math.random()}`
    }
    const _call = async (_: object, _manager?: object, _config?: object): Promise<string> => Promise.resolve('done')
    const [made] = tools([{ name: 'refund', _call }])
    const state = { ...who, messages: [new Message()], lg_tool_call: { id: crypto.randomUUID() } }
    return made!._call({ id: 1 }, undefined, { state })
  },
  'the session of Google ADK': ({ tenant, ...state }) => {
    const made = tools({ refund: { execute: async (_: object, _options: object) => Promise.resolve('done') } })
    return made.refund.execute({ id: 1 }, adkContext({ ...state, 'user:who': { tenant } }))
  },
  'the session of Google ADK, for a tool that is no function': ({ tenant, ...state }) => {
    const runAsync = async (_: object): Promise<string> => Promise.resolve('done')
    const [made] = tools([{ name: 'refund', runAsync }])
    return made!.runAsync({ args: { id: 1 }, toolContext: adkContext({ ...state, 'user:who': { tenant } }) })
  },
  '`authInfo` of the Claude Agent SDK': (who) => {
    const handler = async (_: object, _extra: object): Promise<string> => Promise.resolve('done')
    const [made] = tools([{ name: 'refund', inputSchema: {}, handler }])
    return made!.handler({ id: 1 }, { requestId: 7, authInfo: { extra: who } })
  },
}

async function recorded(agent: () => Promise<unknown>): Promise<Tape> {
  const recorder = createRecorder({ dir: temporaryFolder('harvest-tool-contexts-') })
  await recorder.run({ agent: 'shop' }, agent)
  return readTape(recorder.lastTape!)
}
const codes = ({ problems }: ReplayResult): readonly string[] => problems.map(({ code }) => code)
const contexts = ({ events }: Tape): readonly unknown[] =>
  events.filter((event): event is CallEvent => event.kind === 'tool').map(({ context }) => context)

describe.for(Object.entries({ ...frameworks, ...shapes }))('%s', ([, run]) => {
  test('names for whom a tool acts: another one is red, and named', async () => {
    const acme = { tenant: 'acme', rights: ['read'] }
    const tape = await recorded(() => run(acme))
    const same = await replayTape(tape, () => run({ ...acme, rights: ['read'] }))
    expect([codes(same), same.drift, same.notCompared]).toEqual([[], [], []])

    const other = await replayTape(tape, () => run({ ...acme, tenant: 'globex' }))
    expect(codes(other)).toContain('HARVEST_DIVERGENCE')
    expect(other.drift[0]).toMatchObject({ class: 'arguments', recorded: 'acme', live: 'globex' })
    expect(other.drift[0]?.path).toMatch(/^context\b.*\.tenant$/)
    expect(other.problems[0]?.message).toMatch(/differs at context\S*\.tenant/)

    const more = await replayTape(tape, () => run({ ...acme, rights: ['read', 'refund'] }))
    expect(codes(more)).toContain('HARVEST_DIVERGENCE')
    expect(more.drift[0]?.path).toMatch(/^context\b.*\.rights/)
  })
})

/** As a recorder wrote it that left parts of contexts out. */
function withoutFlag<T extends Tape>(tape: T): T {
  return { ...tape, header: { ...tape.header, flags: tape.header.flags.filter((flag) => flag !== contextsFlag) } }
}

test('what a framework hands on since, tapes of older recorders do not tell, and it is not compared with them', async () => {
  const act = async (_: object, _manager?: object, _config?: object): Promise<string> => Promise.resolve('done')
  const agent =
    (tenant: string, shop = 'main') =>
    async (): Promise<unknown> => {
      const [made] = tools([{ name: 'refund', _call: act }])
      return made!._call({ id: 1 }, undefined, { configurable: { tenant }, state: { shop } })
    }
  const tape = await recorded(agent('acme'))
  const events = tape.events.map((event) =>
    event.kind === 'tool' ? { ...event, context: { configurable: { tenant: 'acme' } } } : event,
  )
  const older = withoutFlag({ ...tape, events })
  for (const shop of ['main', 'other']) {
    const result = await replayTape(older, agent('acme', shop))
    expect(codes(result)).toEqual([])
    expect(result.notCompared.map(({ path }) => path)).toEqual(['context.state'])
  }
  expect(codes(await replayTape({ ...tape, events }, agent('acme')))).toContain('HARVEST_DIVERGENCE')
  expect(codes(await replayTape(tape, agent('acme', 'other')))).toContain('HARVEST_DIVERGENCE')
  expect(codes(await replayTape(older, agent('globex')))).toContain('HARVEST_DIVERGENCE')
})

const execute = (options?: object) => async (): Promise<unknown> => {
  const made = tools({ refund: { execute: async (_: object, _options?: object) => Promise.resolve('done') } })
  return made.refund.execute({ id: 1 }, options)
}

test('of a context its data is recorded, without objects at work, and secrets as of arguments', async () => {
  class Tenant {
    readonly id: string
    constructor(id: string) {
      this.id = id
    }
  }
  class Pool {
    readonly end = (): void => undefined
  }
  const context = (id: string) => ({
    tenant: new Tenant(id),
    since: new Date(0),
    apiKey: 'sk-proj-Zx81kq0PLm29vbnA7Yt3Hq55',
    pool: new Pool(),
    log: () => undefined,
    signal: new AbortController().signal,
    history: [{ role: 'user', content: 'hello' }],
  })
  const tape = await recorded(execute({ context: context('acme'), toolCallId: 'call_1' }))
  expect(contexts(tape)).toMatchObject([
    { context: { tenant: { id: 'acme' }, since: { $type: 'date', value: '1970-01-01T00:00:00.000Z' } } },
  ])
  expect(JSON.stringify(tape.events)).not.toMatch(/sk-proj|call_1|hello|Pool|signal/)
  const same = await replayTape(tape, execute({ context: context('acme'), toolCallId: 'call_2' }))
  expect([codes(same), same.drift]).toEqual([[], []])
  expect(same.notCompared.map(({ path, placeholder }) => [path, placeholder])).toContainEqual([
    'context.context.pool',
    'an instance of Pool',
  ])
  expect(codes(await replayTape(tape, execute({ context: context('globex') })))).toEqual(['HARVEST_DIVERGENCE'])
})

const hostile: { readonly [what: string]: () => unknown } = {
  'a proxy that was revoked': () => {
    const { proxy, revoke } = Proxy.revocable({}, {})
    revoke()
    return proxy
  },
  'a proxy that answers no question': () =>
    new Proxy(
      {},
      {
        getPrototypeOf: () => {
          throw new Error('no')
        },
      },
    ),
  'an instance whose `toJSON` cannot be read': () =>
    new (class Closed {
      readonly id = 1
      get toJSON(): never {
        throw new Error('no')
      }
    })(),
}

test.for(Object.keys(hostile))('of a context that holds %s, the rest is compared, and that is listed', async (what) => {
  const agent = (tenant: string) => execute({ context: { handle: hostile[what]!(), tenant } })
  const tape = await recorded(agent('acme'))
  expect(contexts(tape)).toEqual([{ context: { tenant: 'acme' } }])
  const same = await replayTape(tape, agent('acme'))
  expect([codes(same), same.drift]).toEqual([[], []])
  expect(same.notCompared.map(({ path, placeholder }) => [path, placeholder])).toEqual([
    ['context.context.handle', 'what cannot be read'],
  ])
  expect(codes(await replayTape(tape, agent('globex')))).toEqual(['HARVEST_DIVERGENCE'])
})

test('of a context that shares its parts without end, as many values as can be read at once are', () => {
  let shared: unknown = { id: 1 }
  let made: unknown = Object.assign(new (class Part {})(), { id: 1 })
  for (let i = 0; i < 11; i++) {
    shared = { a: shared, b: shared, c: shared, d: shared, e: shared }
    made = Object.assign(new (class Part {})(), { a: made, b: made, c: made, d: made, e: made })
  }
  for (const context of [shared, made]) {
    const { live } = contextOf({ tenant: 'acme', context })
    expect(live.length).toBeGreaterThan(0)
    expect(live.length).toBeLessThan(10)
    expect(contextOf({ tenant: 'acme', context }).live).toEqual(live)
  }
})

describe('a regular expression of a context', () => {
  const allowing = (source: string, flags = 'g') => {
    const only = new RegExp(source, flags)
    const agent = execute({ context: { tenant: 'acme', rules: { only }, all: [new RegExp(source, flags)] } })
    return { only, agent }
  }

  test('is compared by its source and flags, wherever a search in it goes on', async () => {
    const tape = await recorded(allowing('^acme').agent)
    const { only, agent } = allowing('^acme')
    only.lastIndex = 3
    const same = await replayTape(tape, agent)
    expect([codes(same), same.drift, same.notCompared]).toEqual([[], [], []])
    for (const other of [allowing('^globex'), allowing('^acme', 'gi')])
      expect(codes(await replayTape(tape, other.agent))).toEqual(['HARVEST_DIVERGENCE'])
    const gone = execute({ context: { tenant: 'acme', all: [/^acme/g] } })
    expect(codes(await replayTape(tape, gone))).toEqual(['HARVEST_DIVERGENCE'])
  })

  test('is listed as not compared where an older recorder left it out, and the rest is compared', async () => {
    const without = await recorded(execute({ context: { tenant: 'acme', all: [undefined] } }))
    expect(codes(await replayTape(without, allowing('^acme').agent))).toEqual(['HARVEST_DIVERGENCE'])
    const older = withoutFlag(without)
    expect(contexts(older)).toEqual([{ context: { tenant: 'acme', all: [null] } }])
    const result = await replayTape(older, allowing('^acme').agent)
    expect([codes(result), result.drift]).toEqual([[], []])
    expect(result.notCompared.map(({ path, placeholder }) => [path, placeholder])).toEqual([
      ['context.context.rules.only', 'a regular expression'],
      ['context.context.all[0]', 'a regular expression'],
    ])
    const other = execute({ context: { tenant: 'globex', rules: { only: /^acme/ }, all: [/^acme/] } })
    expect(codes(await replayTape(older, other))).toEqual(['HARVEST_DIVERGENCE'])
  })
})

test('a getter of a context, its own or of its class, is listed and not called, and the rest is compared', async () => {
  let called = 0
  class Account {
    readonly plan: string
    readonly #tenant = 'acme'
    constructor(plan: string) {
      this.plan = plan
    }
    get tenant(): string {
      called++
      return this.#tenant
    }
    get name(): string {
      called++
      throw new Error('no')
    }
  }
  const agent = (plan: string) =>
    execute({
      context: {
        account: new Account(plan),
        get tenant() {
          called++
          return 'acme'
        },
      },
    })
  const tape = await recorded(agent('free'))
  expect(contexts(tape)).toEqual([{ context: { account: { plan: 'free' } } }])
  const same = await replayTape(tape, agent('free'))
  expect([codes(same), same.drift]).toEqual([[], []])
  expect(same.notCompared.map(({ path, placeholder }) => [path, placeholder])).toEqual([
    ['context.context.tenant', 'a getter'],
    ['context.context.account', 'getters (2)'],
    ['context.context.account', 'what lies behind the fields of a Account'],
  ])
  expect(codes(await replayTape(tape, agent('paid')))).toEqual(['HARVEST_DIVERGENCE'])
  expect(called).toBe(0)
})

test('a context that came or went is another one', async () => {
  const [without, within] = [execute({}), execute({ context: { tenant: 'acme' } })]
  const tape = await recorded(without)
  expect(contexts(tape)).toEqual([null])
  expect(codes(await replayTape(tape, without))).toEqual([])
  expect(codes(await replayTape(tape, within))).toEqual(['HARVEST_DIVERGENCE'])
  expect(codes(await replayTape(await recorded(within), without))).toEqual(['HARVEST_DIVERGENCE'])
})

test('calls with the same arguments for two tenants are told apart by their contexts', async () => {
  const both = (first: string, second: string) => async (): Promise<unknown> =>
    Promise.all([first, second].map((tenant) => execute({ context: { tenant } })()))
  const tape = await recorded(both('acme', 'globex'))
  const result = await replayTape(tape, both('globex', 'acme'))
  expect(result.drift.filter(({ class: kind }) => kind === 'arguments')).toEqual([])
})

test('of a tape that does not say in which context a tool was called, one is listed as not compared', async () => {
  const agent = execute({ context: { tenant: 'acme' } })
  const tape = await recorded(agent)
  const older = { ...tape, events: tape.events.map((event) => (event.kind === 'tool' ? dropped(event) : event)) }
  const replay = (options: ReplayOptions): Promise<ReplayResult> => replayTape(older, agent, options)
  const result = await replay({})
  expect([codes(result), result.notCompared.map(({ path }) => path)]).toEqual([[], ['context']])
  expect(codes(await replayTape(older, execute({})))).toEqual([])
})

function dropped({ context: _, ...event }: CallEvent): CallEvent {
  return event
}

test('a context of a run that is held until it is over is redacted too', async () => {
  const recorder = createRecorder({ dir: temporaryFolder('harvest-tool-contexts-'), sample: 0, keep: { errors: true } })
  const secret = 'sk-proj-Zx81kq0PLm29vbnA7Yt3Hq55'
  const agent = async (): Promise<never> => {
    await execute({ context: { tenant: 'acme', apiKey: secret } })()
    throw new Error('no')
  }
  await expect(recorder.run({ agent: 'shop' }, agent)).rejects.toThrow('no')
  const tape = readTape(await vi.waitUntil(() => recorder.lastTape, 30_000))
  expect(contexts(tape)).toMatchObject([{ context: { tenant: 'acme' } }])
  expect(JSON.stringify(tape)).not.toContain(secret)
})

test('private fields of what a tool is handed are listed as not compared, and those that show are compared', async () => {
  class Session {
    readonly tenant: string
    readonly #key: string
    constructor(tenant: string, key: string) {
      this.tenant = tenant
      this.#key = key
    }
    get isOpen(): boolean {
      return this.#key !== ''
    }
  }
  class Plain {
    readonly tenant: string
    constructor(tenant: string) {
      this.tenant = tenant
    }
  }
  const compared = async (was: unknown, is: unknown) => {
    const run = await replayTape(await recorded(execute({ context: was })), execute({ context: is }))
    return [codes(run), run.notCompared.map(({ path, placeholder }) => `${path}: ${placeholder}`)]
  }
  const behind = 'what lies behind the fields of a Session'
  const [one, other] = [new Session('a', 'k-1'), new Session('a', 'k-2')]
  expect(await compared({ one }, { one: other })).toEqual([
    [],
    ['context.context.one.isOpen: a getter', `context.context.one: ${behind}`],
  ])
  expect(await compared(one, other)).toEqual([[], ['context.context.isOpen: a getter', `context.context: ${behind}`]])
  expect(await compared(one, new Session('b', 'k-1'))).toEqual([['HARVEST_DIVERGENCE'], expect.anything()])
  expect(await compared(new Plain('a'), new Plain('a'))).toEqual([[], []])
})
