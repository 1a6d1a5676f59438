import { AsyncLocalStorage } from 'node:async_hooks'
import { tool as langchainTool } from '@langchain/core/tools'
import { RequestContext } from '@mastra/core/request-context'
import { beforeAll, describe, expect, test, vi } from 'vitest'
import { z } from 'zod'
import { contextChanges } from '../../src/record/context-changes.ts'
import { createRedactor, withoutLate } from '../../src/privacy/index.ts'
import { createRecorder, tools } from '../../src/record/index.ts'
import { installReplay, replayTape, type ReplayResult } from '../../src/replay/index.ts'
import { secretsIn } from '../../src/recordings/secrets.ts'
import { writeContext } from '../../src/seam/tool-context.ts'
import { type CallEvent, type Json, readTape, type Tape } from '../../src/tape/index.ts'
import { temporaryFolder } from '../support/temporary-folder.ts'

beforeAll(installReplay)

interface Shared {
  tenant: string
  calls: number
  cart: string[]
  customer?: { id: string; tier: string }
  draft?: { text: string }
  seen: Set<string>
}

const shared = (tenant: string): Shared => ({
  tenant,
  calls: 0,
  cart: ['book'],
  draft: { text: 'a' },
  seen: new Set(['x']),
})

/** What the body of a tool does to what its framework handed it. */
function work(context: Shared): void {
  context.calls++
  context.cart.push('pen')
  context.customer = { id: 'c-1', tier: 'gold' }
  delete context.draft
  context.seen.add('y')
}

/** Calls a tool that writes into the context, and then one that reads it. */
const frameworks: { readonly [name: string]: (context: Shared) => Promise<unknown> } = {
  'the AI SDK': async (context) => {
    type Options = { readonly experimental_context: Shared }
    const made = tools({
      look: { execute: async (_: object, options: Options) => Promise.resolve(work(options.experimental_context)) },
      pay: { execute: async (_: object, _options: Options) => Promise.resolve('paid') },
    })
    await made.look.execute({}, { experimental_context: context })
    return made.pay.execute({}, { experimental_context: context })
  },
  'the AI SDK, at once': (context) => {
    type Options = { readonly experimental_context: Shared }
    const made = tools({
      look: { execute: (_: object, options: Options) => work(options.experimental_context) },
      pay: { execute: (_: object, _options: Options) => 'paid' },
    })
    made.look.execute({}, { experimental_context: context })
    return Promise.resolve(made.pay.execute({}, { experimental_context: context }))
  },
  'OpenAI Agents': async (context) => {
    type Run = { readonly context: Shared }
    const [look, pay] = tools([
      { type: 'function', name: 'look', invoke: async (run: Run, _: string) => Promise.resolve(work(run.context)) },
      { type: 'function', name: 'pay', invoke: async (_run: Run, _: string) => Promise.resolve('paid') },
    ])
    await look!.invoke({ context }, '{}')
    return pay!.invoke({ context }, '{}')
  },
  'the configuration of LangChain': async (context) => {
    type Config = { readonly configurable: { readonly state: Shared } }
    const about = { description: 'x', schema: z.object({ id: z.number() }) }
    const [look, pay] = tools([
      langchainTool(
        async (_: unknown, config: unknown) => Promise.resolve(work((config as Config).configurable.state)),
        {
          ...about,
          name: 'look',
        },
      ),
      langchainTool(async () => Promise.resolve('paid'), { ...about, name: 'pay' }),
    ] as never[]) as { invoke(input: object, config: object): Promise<unknown> }[]
    const holder = { configurable: { state: context } }
    await look!.invoke({ id: 1 }, holder)
    return pay!.invoke({ id: 1 }, holder)
  },
}

async function recorded(agent: () => Promise<unknown>, options: object = {}): Promise<Tape> {
  const recorder = createRecorder({ dir: temporaryFolder('harvest-written-contexts-'), ...options })
  await Promise.allSettled([recorder.run({ agent: 'shop' }, agent)])
  return readTape(await vi.waitUntil(() => recorder.lastTape, 30_000))
}
const codes = ({ problems }: ReplayResult): readonly string[] => problems.map(({ code }) => code)
const wrote = ({ events }: Tape): readonly unknown[] =>
  events.filter((event): event is CallEvent => event.kind === 'tool').map((event) => event.wrote)

describe.for(Object.entries(frameworks))('%s', ([, run]) => {
  /** What the agent reads of the context afterwards is what its tools wrote. */
  const agent = (tenant: string) => async (): Promise<unknown> => {
    const context = shared(tenant)
    await run(context)
    const { calls, cart, customer, draft, seen } = context
    return { calls, cart, customer, draft, seen: [...seen] }
  }

  test('a replay writes into a context what the tools wrote there', async () => {
    const tape = await recorded(agent('acme'))
    expect(wrote(tape)[0]).toHaveLength(5)
    expect(wrote(tape)[1]).toBeUndefined()
    for (let nth = 0; nth < 3; nth++) {
      const same = await replayTape(tape, agent('acme'))
      expect([codes(same), same.drift, same.comparison.outcomeEqual]).toEqual([[], [], true])
    }
    expect(codes(await replayTape(tape, agent('globex')))).toContain('HARVEST_DIVERGENCE')
  })
})

describe('what a tool writes where its framework keeps it', () => {
  test('behind methods: the context of a request of Mastra', async () => {
    const agent = (tenant: string) => async (): Promise<unknown> => {
      const requestContext = new RequestContext<Record<string, unknown>>()
      for (const [name, is] of Object.entries({ tenant, draft: 'a', cart: { items: ['book'] } })) {
        requestContext.set(name, is)
      }
      type Options = { readonly requestContext: typeof requestContext }
      const made = tools({
        look: {
          execute: async (_: object, { requestContext: given }: Options) => {
            given.set('spent', 25)
            given.delete('draft')
            ;(given.get('cart') as { items: string[] }).items.push('pen')
            return Promise.resolve('seen')
          },
        },
        pay: { execute: async (_: object, _options: Options) => Promise.resolve('paid') },
      })
      await made.look.execute({}, { requestContext })
      await made.pay.execute({}, { requestContext })
      return [[...requestContext.entries()], Object.keys(requestContext)]
    }
    await expectWritten(agent)
  })

  test('as a field of an instance, whose methods `get` and `set` are for something else', async () => {
    class Request {
      readonly tenant: string
      readonly headers: [string, unknown][] = []
      constructor(tenant: string) {
        this.tenant = tenant
      }
      get(name: string): unknown {
        return this.headers.find(([one]) => one === name)?.[1]
      }
      set(name: string, value: unknown): void {
        this.headers.push([name, value])
      }
    }
    const agent = (tenant: string) => async (): Promise<unknown> => {
      const context = new Request(tenant)
      const execute = async (_: object, options: { context: Request }): Promise<string> => {
        Object.assign(options.context, { spent: 25 })
        return Promise.resolve('seen')
      }
      await tools({ look: { execute } }).look.execute({}, { context })
      return { ...context }
    }
    await expectWritten(agent)
  })

  test('into the session of Google ADK and into what is to be kept of it, and what is done next', async () => {
    type State = Record<string, unknown>
    interface Context {
      readonly invocationContext: { readonly session: { readonly state: State } }
      readonly eventActions: { readonly stateDelta: State; escalate?: boolean }
    }
    const agent = (tenant: string) => async (): Promise<unknown> => {
      const session = { appName: 'shop', userId: 'u', state: { tenant } as State }
      const contexts: Context[] = []
      const made = (): Context => {
        const context = { invocationContext: { session }, eventActions: { stateDelta: {}, artifactDelta: {} } }
        contexts.push(context)
        return context
      }
      const look = (_: object, { invocationContext, eventActions }: Context): Promise<string> => {
        invocationContext.session.state['spent'] = eventActions.stateDelta['spent'] = 25
        eventActions.escalate = true
        return Promise.resolve('seen')
      }
      const [first, second] = tools([
        { name: 'look', execute: look },
        {
          name: 'wait',
          runAsync: async ({ toolContext }: { args: object; toolContext: Context }) => look({}, toolContext),
        },
      ])
      await first!.execute!({}, made())
      await second!.runAsync!({ args: {}, toolContext: made() })
      return [session.state, contexts.map(({ eventActions }) => eventActions)]
    }
    await expectWritten(agent)
  })

  test('into the configuration itself of LangChain', async () => {
    const agent = (tenant: string) => async (): Promise<unknown> => {
      type Config = { readonly configurable: Record<string, unknown> }
      const _call = async (_: object, _manager: unknown, config: Config): Promise<string> => {
        config.configurable['spent'] = 25
        return Promise.resolve('seen')
      }
      const [look] = tools([{ name: 'look', _call }])
      const config = { configurable: { tenant } }
      await look!._call({}, undefined, config)
      return config
    }
    await expectWritten(agent)
  })

  test('into what was empty, and is held elsewhere too', async () => {
    const agent = (tenant: string) => async (): Promise<unknown> => {
      const seen: { lines: object; by: { [name: string]: unknown } } = { lines: {}, by: { tools: {} } }
      const context = { tenant, log: seen }
      const { lines } = seen
      type Options = { readonly context: typeof context }
      const made = tools({
        look: {
          execute: async (_: object, o: Options) => {
            Object.assign(o.context.log.lines, { first: 'looked' })
            Object.assign(o.context.log.by['tools'] as object, { look: { times: 1 } })
            return Promise.resolve('seen')
          },
        },
      })
      await made.look.execute({}, { context })
      return JSON.stringify([lines, seen])
    }
    await expectWritten(agent)
  })

  test('into the context of Genkit, which stands beside the call', async () => {
    const kept = new AsyncLocalStorage<object>()
    vi.stubGlobal('__genkit_AsyncContext', {
      getStore: (key: string) => (key === 'core.auth.context' ? kept.getStore() : undefined),
    })
    try {
      const agent = (tenant: string) => async (): Promise<unknown> => {
        const run = async (_: unknown, _options?: object): Promise<object> => {
          ;(kept.getStore() as { log: string[] }).log.push('looked')
          return Promise.resolve({ result: 'seen' })
        }
        const [action] = tools([Object.assign(() => undefined, { __action: { name: 'look' }, run })])
        const context = { tenant, log: [] }
        await kept.run(context, async () => action!.run({}))
        return context
      }
      await expectWritten(agent)
    } finally {
      vi.unstubAllGlobals()
    }
  })

  async function expectWritten(agent: (tenant: string) => () => Promise<unknown>): Promise<void> {
    const tape = await recorded(agent('acme'))
    const same = await replayTape(tape, agent('acme'))
    expect([codes(same), same.drift, same.outcome]).toEqual([[], [], tape.close?.outcome])
    expect(codes(await replayTape(tape, agent('globex')))).toContain('HARVEST_DIVERGENCE')
  }
})

test('what the agent itself writes beside is compared', async () => {
  const agent = (rights: string) => async (): Promise<unknown> => {
    const context = Object.assign(shared('acme'), { rights: 'read' })
    const made = tools({
      look: { execute: async (_: object, o: { context: Shared }) => Promise.resolve(work(o.context)) },
      pay: { execute: async (_: object, _options: object) => Promise.resolve('paid') },
    })
    await made.look.execute({}, { context })
    context.rights = rights
    return made.pay.execute({}, { context })
  }
  const tape = await recorded(agent('pay'))
  expect(codes(await replayTape(tape, agent('pay')))).toEqual([])
  expect(codes(await replayTape(tape, agent('all')))).toEqual(['HARVEST_DIVERGENCE'])
})

test('a secret that a tool writes into its context is redacted, in a run that is held too', async () => {
  const secret = 'sk-proj-Zx81kq0PLm29vbnA7Yt3Hq55'
  const agent = async (): Promise<unknown> => {
    const made = tools({
      login: {
        execute: async (_: object, o: { context: { token?: string } }) =>
          Promise.resolve(void (o.context.token = secret)),
      },
    })
    await made.login.execute({}, { context: { token: 'none' } })
    throw new Error('no')
  }
  for (const options of [{}, { sample: 0, keep: { errors: true } }]) {
    const tape = await recorded(agent, options)
    expect(wrote(tape)).toEqual([[[['context', 'token'], expect.stringContaining('redacted-')]]])
    expect(JSON.stringify(tape.events)).not.toContain(secret)
  }
})

describe('an instance that is handed over itself', () => {
  class Pool {
    readonly query = (): void => undefined
  }
  const kinds: { readonly [what: string]: () => unknown } = {
    'a client of a database': () => new Pool(),
    'a function': () => () => undefined,
    'a timer': () => setTimeout(() => undefined, 0),
    'a signal': () => new AbortController().signal,
    'a promise': () => Promise.resolve(1),
    'a weak map': () => new WeakMap(),
  }
  test.for(Object.keys(kinds))('names for whom a tool acts beside %s', async (kind) => {
    class RequestContext {
      readonly tenant: string
      readonly service = kinds[kind]!()
      constructor(tenant: string) {
        this.tenant = tenant
      }
      who(): string {
        return this.tenant
      }
    }
    const agent = (tenant: string) => async (): Promise<unknown> => {
      const made = tools({ pay: { execute: async (_: object, _options: object) => Promise.resolve('paid') } })
      return made.pay.execute({}, { context: new RequestContext(tenant) })
    }
    const tape = await recorded(agent('acme'))
    expect(codes(await replayTape(tape, agent('acme')))).toEqual([])
    expect(codes(await replayTape(tape, agent('globex')))).toEqual(['HARVEST_DIVERGENCE'])
  })
})

test('what a tape says was written reaches no prototype', () => {
  const target = { own: {} }
  writeContext(target, [
    [['__proto__', 'polluted'], true],
    [['constructor', 'prototype', 'polluted'], true],
    [['own', '__proto__'], { polluted: true }],
  ])
  expect(({} as { polluted?: unknown }).polluted).toBeUndefined()
  expect(Object.getPrototypeOf(target.own)).toBe(Object.prototype)
})

describe('a secret a tool wrote into its context', () => {
  const login = (context: object): Promise<unknown> => {
    type Options = { readonly experimental_context: { session: Record<string, string>; users: Record<string, string> } }
    const made = tools({
      login: {
        execute: (_: object, { experimental_context: { session, users } }: Options) => {
          session['password'] = 'lemon tart'
          users['anna@shop.test'] = 'pro'
          return 'ok'
        },
      },
    })
    return Promise.resolve(made.login.execute({}, { experimental_context: context as Options['experimental_context'] }))
  }
  const agent = (): Promise<unknown> => login({ session: { id: '7' }, users: { bob: 'free' } })
  const wroteOf = ({ events }: Pick<Tape, 'events'>): unknown => (events[0] as CallEvent).wrote
  const redacted = [
    [['context', 'session', 'password'], 'redacted-secret-1'],
    [['context', 'users', 'redacted-1@email.invalid'], 'pro'],
  ]

  test.each(['as it happens', 'at the end'])('is redacted by its name, and so is a name: %s', async (when) => {
    const tape = await recorded(agent, when === 'at the end' ? { sample: 1e-9, keep: { tools: ['login'] } } : {})
    expect(wroteOf(tape)).toEqual(redacted)
    expect(codes(await replayTape(tape, agent))).toEqual([])
    expect(secretsIn(tape, lineOf(tape), createRedactor())).toEqual([])
  })

  test('is found by `check` where it stands in clear, and is gone when the tape is redacted again', async () => {
    const tape = await recorded(agent)
    const wrote: CallEvent['wrote'] = [[['session', 'password'], 'lemon tart']]
    const clear: Tape = { ...tape, events: [{ ...(tape.events[0] as CallEvent), wrote }] }
    const redactor = createRedactor()
    expect(secretsIn(clear, lineOf(clear), redactor).map(({ kind }) => kind)).toContain('secret')
    redactor.json({ password: 'K7fq2Zr9Xv4Tn8Wb' })
    const late: CallEvent['wrote'] = [[['users', 'K7fq2Zr9Xv4Tn8Wb'], 'is K7fq2Zr9Xv4Tn8Wb'], [['gone']]]
    const again = withoutLate(
      { ...tape, close: tape.close!, events: [{ ...(tape.events[0] as CallEvent), wrote: late }] },
      redactor,
    )
    expect(wroteOf(again)).toEqual([[['users', 'redacted-secret-1000002'], 'is redacted-secret-1000002'], [['gone']]])
  })

  const lineOf = ({ events }: Tape): string => events.map((event) => JSON.stringify(event)).join('\n')
})

test('changes name the smallest part that is other; lists are other as a whole', () => {
  const before: Json = { a: { b: 1, c: [1] }, d: 1, gone: true }
  const after: Json = { a: { b: 2, c: [1, 2] }, d: 1, made: {} }
  expect(contextChanges(before, after)).toEqual([
    [['a', 'b'], 2],
    [
      ['a', 'c'],
      [1, 2],
    ],
    [['gone']],
    [['made'], {}],
  ])
  expect(contextChanges(before, before)).toEqual([])
})
