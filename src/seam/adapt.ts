// Over 300 lines: one table of the kinds of tools, with what each is handed, is read as a whole.
import { HarvestError } from '../errors/index.ts'
import { contextOf, partsOf, type ToolContext, writeContext } from './tool-context.ts'
import type { SeamCall } from './source.ts'
import { definition, isWrapped, tool, type WrapOptions, wrapped } from './wrap.ts'

// biome-ignore lint/suspicious/noExplicitAny: tools of frameworks this package does not depend on
type Loose = Record<string, any>
type Method = (...args: unknown[]) => unknown

/**
 * Wraps every tool of a map, list or object that a framework holds. The argument itself is changed and returned:
 * frameworks compare tools by identity.
 *
 * Understood are a map of functions, the tools of the AI SDK, Anthropic, Claude Agent SDK, Genkit, Google ADK, LangChain,
 * LlamaIndex, Mastra and OpenAI Agents, and an MCP client.
 *
 * @example
 * const agent = new Agent({ tools: tools({ lookupOrder, refund }) })
 * @throws HarvestError `HARVEST_WRAP_ARGUMENT` when something in it is not one of these
 */
export function tools<T extends object>(given: T, options?: WrapOptions): T {
  if (wrapKnown(given as Loose, undefined, options)) return given
  for (const [key, entry] of Object.entries(given)) {
    const named = Array.isArray(given) ? undefined : key
    if (wrapKnown(entry as Loose, named, options)) continue
    if (typeof entry !== 'function' || ways.some((way) => Object.hasOwn(entry, way))) throw unknownTool(key, entry)
    const changed = tool(named ?? entry.name, entry, options)
    if (!Reflect.set(given, key, changed)) throw unchangeable(key)
  }
  return given
}

/** Names under which frameworks call a tool that is a function. Called so, the wrapper around it would not be there. */
const ways = ['run', 'invoke', 'execute']

/** One kind of tool: how it is recognised, and which of its methods the framework calls. */
interface Kind {
  readonly method: string
  is(entry: Loose): boolean
  name(entry: Loose, key: string | undefined): unknown
  /** The replacement of the method. */
  wrap(call: Calling, real: Method, entry: Loose): Method
}

/** Calls a tool through the run: with these arguments, or with others. */
type Calling = (
  args: readonly unknown[],
  run: (args: readonly unknown[]) => unknown,
  about?: { readonly name?: string } & Handed,
) => unknown

interface Handed {
  /** What of it the agent handed its framework for its tools; asked once more when the tool is done. */
  readonly context?: () => unknown
  /** What holds the same under the same names, where that is a copy. */
  readonly into?: unknown
}

/**
 * The first argument is what the model wrote, the others are the framework's.
 *
 * @param context - what of them the agent handed it for its tools
 * @param into - what holds the same under the same names, where that is a copy
 */
const byInput =
  (context: (...rest: Loose[]) => unknown, into?: (...rest: Loose[]) => unknown) =>
  (call: Calling, real: Method): Method =>
  (input, ...rest) => {
    const handed = () => context(...(rest as Loose[]))
    return call([input], (given) => real(...given, ...rest), {
      context: handed,
      ...(into && { into: into(...(rest as Loose[])) }),
    })
  }

/** Of a configuration of LangChain what the agent put there: it keeps its own beside that, under names that it reserves. */
const ofRunnable = (_: unknown, config?: Loose): unknown => {
  const own = (part: unknown): unknown =>
    Object.fromEntries(
      Object.entries((part ?? {}) as Loose).filter(([name]) => !/^(?:__|checkpoint_|langgraph_|l[cgs]_)/.test(name)),
    )
  return partsOf({
    context: config?.['context'],
    configurable: own(config?.['configurable']),
    // Of a graph, where it hands that to its tools.
    state: Array.isArray(config?.['state']) ? undefined : own(config?.['state']),
    metadata: own(config?.['metadata']),
  })
}

/** Of an MCP request what stands beside its arguments, without the number by which its progress is known. */
const metaOf = (meta: unknown): unknown => {
  const { progressToken: _, ...rest } = (meta ?? {}) as Loose
  return rest
}

/** Of the session of Google ADK for whom it is, and what the agent keeps in it: the rest are ids and times of the framework. */
const ofSession = (toolContext?: Loose): unknown => {
  const { appName, userId, state } = (toolContext?.['invocationContext']?.session ?? {}) as Loose
  const own = Object.entries((state ?? {}) as Loose).filter(([name]) => !/^(?:temp:)?_?adk/.test(name))
  return { appName: appName as unknown, userId: userId as unknown, state: Object.fromEntries(own) as unknown }
}

/** What a tool of Google ADK has it do next: what to keep, which agent goes on, that a loop is over. */
const actionsOf = (toolContext?: Loose): unknown =>
  (toolContext?.['eventActions'] ?? toolContext?.['actions']) as unknown

/** Of what Google ADK hands a tool, what a tool may write into. */
const ofAdk = (toolContext?: Loose): Loose => ({ session: ofSession(toolContext), actions: actionsOf(toolContext) })
const intoAdk = (toolContext?: Loose): Loose => ({
  session: toolContext?.['invocationContext']?.session as unknown,
  actions: actionsOf(toolContext),
})

/** Genkit hands what an agent gave it to the function inside of a tool, and keeps it in an async context until then. */
const ofGenkit = ({ __registry: registry }: Loose, options?: Loose): unknown => {
  const kept = (globalThis as Loose)['__genkit_AsyncContext']?.getStore('core.auth.context') as unknown
  return { ...registry?.context, ...(options?.['context'] ?? kept) } as unknown
}

/** Of the AI SDK, Mastra and Google ADK. */
const ofOptions = (adk: (options?: Loose) => Loose) => (options?: Loose) =>
  partsOf({
    // Until version 6 of the AI SDK, and before version 1 of Mastra, under the second of two names.
    context: options?.['context'] ?? options?.['experimental_context'],
    requestContext: options?.['requestContext'] ?? options?.['runtimeContext'],
    resourceId: options?.['agent']?.resourceId ?? options?.['resourceId'],
    ...adk(options),
  })

/** The most telling first. */
const kinds: readonly Kind[] = [
  {
    // MCP clients: callTool({ name, arguments }), of the AI SDK callTool({ name, args }), of OpenAI Agents callTool(name, arguments).
    method: 'callTool',
    is: () => true,
    name: () => '',
    wrap:
      (call, real) =>
      (request, second, ...rest) => {
        if (typeof request === 'string')
          return call([second ?? {}], ([args]) => real(request, args, ...rest), {
            name: request,
            context: () => metaOf(rest[0]),
          })
        const { name, ...about } = request as Loose
        const field = 'arguments' in about || !('args' in about) ? 'arguments' : 'args'
        const asked = about[field] as unknown
        const run = ([args]: readonly unknown[]): unknown =>
          real(
            args === asked || asked === undefined ? request : { ...(request as Loose), [field]: args },
            second,
            ...rest,
          )
        return call([asked ?? {}], run, { name: String(name), context: () => metaOf(about['_meta']) })
      },
  },
  {
    // LangChain StructuredTool: _call(input, runManager, config)
    method: '_call',
    is: () => true,
    name: ({ name }, key) => name ?? key,
    wrap: byInput(ofRunnable, (_, config) => config),
  },
  {
    // OpenAI Agents FunctionTool: invoke(runContext, input as JSON text, details)
    method: 'invoke',
    is: ({ type }) => type === 'function',
    name: ({ name }, key) => name ?? key,
    wrap:
      (call, real) =>
      (context, input, ...rest) => {
        const asked = parsed(String(input))
        return call([asked], ([args]) => real(context, args === asked ? input : JSON.stringify(args), ...rest), {
          context: () => (context as Loose | undefined)?.['context'] as unknown,
        })
      },
  },
  {
    // Genkit: a function that is an action, which calls its own run(input, options) and takes the result out of what it returns.
    method: 'run',
    is: (entry) => typeof entry === 'function' && typeof (entry as Loose)['__action']?.name === 'string',
    name: ({ __action: action }) => action.name as unknown,
    wrap: (call, real, entry) => async (input, options) => {
      // Beside the result stand ids of its trace, which are others each time.
      let whole: Loose | undefined
      const run = async ([args]: readonly unknown[]): Promise<unknown> => {
        whole = (await real(args, options)) as Loose
        return whole['result'] as unknown
      }
      const context = ofGenkit(entry, options as Loose | undefined)
      const result = await call([input], run, { context: () => context })
      return { telemetry: {}, ...whole, result }
    },
  },
  {
    // Anthropic's tool runner: run(input, context), as betaZodTool and its like make them.
    method: 'run',
    is: ({ name, parse, type, input_schema: schema }) =>
      typeof name === 'string' && (typeof parse === 'function' || typeof type === 'string' || schema !== undefined),
    name: ({ name }) => name as unknown,
    // The context is the part of the answer that asked for it.
    wrap: byInput(() => undefined),
  },
  {
    // Claude Agent SDK: handler(input, extra)
    method: 'handler',
    is: ({ name, inputSchema }) => typeof name === 'string' && inputSchema !== undefined,
    name: ({ name }) => name as unknown,
    wrap: byInput((extra) => ({ authInfo: extra?.['authInfo'], _meta: metaOf(extra?.['_meta']) })),
  },
  {
    // LlamaIndex: call(input)
    method: 'call',
    is: (entry) => typeof entry !== 'function' && typeof entry['metadata']?.name === 'string',
    name: ({ metadata }) => metadata.name as unknown,
    wrap: byInput(() => undefined),
  },
  {
    // AI SDK, Mastra, Google ADK: execute(input, options).
    method: 'execute',
    is: (entry) => typeof entry !== 'function',
    name: ({ name, id }, key) => key ?? name ?? id,
    wrap: byInput(ofOptions(ofAdk), ofOptions(intoAdk)),
  },
  {
    // Google ADK, tools that are no function: runAsync({ args, toolContext })
    method: 'runAsync',
    is: ({ name }) => typeof name === 'string',
    name: ({ name }) => name as unknown,
    wrap: (call, real) => (request) => {
      const { args: asked, toolContext } = request as Loose
      return call([asked], ([args]) => real(args === asked ? request : { ...(request as Loose), args }), {
        context: () => ofAdk(toolContext),
        into: intoAdk(toolContext),
      })
    },
  },
]

/** Wraps one framework tool in place. Returns whether it knew the kind. */
function wrapKnown(
  entry: Loose | null | undefined,
  key: string | undefined,
  options: WrapOptions | undefined,
): boolean {
  if ((typeof entry !== 'object' && typeof entry !== 'function') || entry === null) return false
  const kind = kinds.find(
    ({ method, is }) => typeof entry[method] === 'function' && isMeant(entry, method) && is(entry),
  )
  if (kind === undefined) return isDeclared(entry, key)
  const { method } = kind
  const real = entry[method] as Method
  if (isWrapped(real)) return true
  const { replay = 'serve', revive } = options ?? {}
  const body = bodyOf(entry, real, method)
  const how = { replay, ...(revive && { revive }), ...(body && { body }), ...definition() }
  const name = String(kind.name(entry, key) ?? '')
  const call: Calling = (args, run, about = {}) => {
    const context = (): ToolContext => contextOf(about.context?.())
    const write: SeamCall['write'] = (changes) => writeContext(about.into ?? about.context?.(), changes)
    const asked = { kind: 'tool', name: about.name ?? name, args, context, write, ...how } as const
    return wrapped(asked, (given = args) => run(given))
  }
  const replacement = kind.wrap(call, real.bind(entry), entry)
  Object.defineProperty(replacement, Symbol.for('vitest-harvest/wrapped@1'), { value: true })
  const property = { value: replacement, configurable: true, writable: true, enumerable: true }
  if (!Reflect.defineProperty(entry, method, property)) throw unchangeable(key ?? name)
  // A tool of LlamaIndex with arguments of its own is another tool.
  const { bind } = entry
  if (method === 'call' && typeof bind === 'function')
    Reflect.set(entry, 'bind', (...args: unknown[]): unknown => {
      const bound = (bind as Method).apply(entry, args)
      wrapKnown(bound as Loose, key, options)
      return bound
    })
  return true
}

/** The agent's own function, where a framework shows it: in a plain object, or as LangChain keeps it. */
function bodyOf(entry: Loose, real: Method, method: string): Method | undefined {
  const { func } = entry as { readonly func?: unknown }
  if (typeof func === 'function') return func as Method
  const isOwn = method === 'execute' || method === 'handler'
  return isOwn && Object.getPrototypeOf(entry) === Object.prototype ? real : undefined
}

/** Every function has a `call`. */
function isMeant(entry: Loose, method: string): boolean {
  return typeof entry !== 'function' || Object.hasOwn(entry, method)
}

/** What is offered to a model and run by someone else, its provider or a browser: there is nothing to record. */
function isDeclared(entry: Loose, key: string | undefined): boolean {
  if (typeof entry === 'function') return false
  if ('inputSchema' in entry && key !== undefined) return true
  const isTold = typeof entry['type'] === 'string' && (typeof entry['name'] === 'string' || 'providerData' in entry)
  return isTold && Object.values(entry).every((part) => typeof part !== 'function')
}

function unknownTool(key: string, entry: unknown): HarvestError {
  const methods = typeof entry === 'object' && entry !== null ? Object.keys(entry).slice(0, 8).join(', ') : typeof entry
  return new HarvestError('HARVEST_WRAP_ARGUMENT', {
    what: `tools: '${key}' is neither a function nor a tool of a known framework`,
    where: { given: methods || 'an empty object' },
    fix: [`wrap the function you pass as \`execute\`: execute: tool('${key}', async (input) => …)`],
  })
}

function unchangeable(key: string): HarvestError {
  return new HarvestError('HARVEST_WRAP_ARGUMENT', {
    what: `tools: '${key}' is frozen`,
    fix: [`wrap the function you pass as \`execute\`: execute: tool('${key}', async (input) => …)`],
  })
}

function parsed(text: string): unknown {
  try {
    return JSON.parse(text)
  } catch {
    // The model wrote arguments that are not JSON; the tool itself decides what that means.
    return text
  }
}
