import { definition, isWrapped, tool, type WrapOptions, wrapped } from './wrap.ts'

// biome-ignore lint/suspicious/noExplicitAny: tools of frameworks this package does not depend on
type Loose = Record<string, any>

/**
 * Wraps every tool of a map, list or object that a framework holds. The argument itself is changed and returned:
 * frameworks compare tools by identity.
 *
 * Understood are a map of functions, and the tools of the AI SDK, LangChain, OpenAI Agents, Mastra, and an MCP client.
 *
 * @example
 * const agent = new Agent({ tools: tools({ lookupOrder, refund }) })
 * @throws TypeError when something in it is none of these
 */
export function tools<T extends object>(given: T, options?: WrapOptions): T {
  if (wrapKnown(given as Loose, undefined, options)) return given
  for (const [key, entry] of Object.entries(given)) {
    const named = Array.isArray(given) ? undefined : key
    if (typeof entry === 'function') (given as Loose)[key] = tool(named ?? entry.name, entry, options)
    else if (!wrapKnown(entry as Loose, named, options)) {
      throw new TypeError(`tools: '${key}' is not a function and not a tool of a framework this package knows`)
    }
  }
  return given
}

/** Wraps one framework tool in place. Returns whether it knew the kind. */
function wrapKnown(
  entry: Loose | null | undefined,
  key: string | undefined,
  options: WrapOptions | undefined,
): boolean {
  if (typeof entry !== 'object' || entry === null) return false
  const how = { replay: options?.replay ?? 'serve', ...definition() } as const
  const name = String(entry['name'] ?? entry['id'] ?? key ?? '')
  // MCP client: callTool({ name, arguments }, …)
  if (typeof entry['callTool'] === 'function') {
    return shadow(
      entry,
      'callTool',
      (real) =>
        (request: Loose, ...rest: unknown[]) =>
          wrapped(
            { kind: 'tool', name: String(request['name']), args: [request['arguments'] ?? {}], ...how },
            (given) => real(given === undefined ? request : { ...request, arguments: given[0] }, ...rest),
          ),
    )
  }
  // LangChain StructuredTool: _call(input, runManager, config)
  if (typeof entry['_call'] === 'function') {
    return shadow(
      entry,
      '_call',
      (real) =>
        (input: unknown, ...rest: unknown[]) =>
          wrapped({ kind: 'tool', name, args: [input], ...how }, (given = [input]) => real(...given, ...rest)),
    )
  }
  // OpenAI Agents FunctionTool: invoke(runContext, input as JSON text, details)
  if (entry['type'] === 'function' && typeof entry['invoke'] === 'function') {
    return shadow(
      entry,
      'invoke',
      (real) =>
        (context: unknown, input: string, ...rest: unknown[]) =>
          wrapped({ kind: 'tool', name, args: [parsed(input)], ...how }, (given) =>
            real(context, given === undefined ? input : JSON.stringify(given[0]), ...rest),
          ),
    )
  }
  // AI SDK and Mastra: execute(input, options). A tool without execute is answered by the client: nothing to record.
  if (typeof entry['execute'] === 'function') {
    return shadow(
      entry,
      'execute',
      (real) =>
        (input: unknown, ...rest: unknown[]) =>
          wrapped({ kind: 'tool', name: key ?? name, args: [input], ...how }, (given = [input]) =>
            real(...given, ...rest),
          ),
    )
  }
  return 'inputSchema' in entry && key !== undefined
}

function shadow(
  entry: Loose,
  method: string,
  make: (real: (...args: unknown[]) => unknown) => (...args: never[]) => unknown,
): true {
  const real = entry[method] as (...args: unknown[]) => unknown
  if (isWrapped(real)) return true
  const replacement = make(real.bind(entry))
  Object.defineProperty(replacement, Symbol.for('vitest-harvest/wrapped@1'), { value: true })
  Object.defineProperty(entry, method, { value: replacement, configurable: true, writable: true, enumerable: true })
  return true
}

function parsed(text: string): unknown {
  try {
    return JSON.parse(text)
  } catch {
    // The model wrote arguments that are not JSON; the tool itself decides what that means.
    return text
  }
}
