// Stands in for `vitest-harvest/record` where agents run live: everything runs for real, and what a recorder could have
// heard goes to a list of the process.
import type { Deed } from './types.ts'

type AnyFunction = (...args: unknown[]) => unknown

/** Where what is heard goes. */
export interface Listener {
  hear?: (deed: Deed) => void
}

function hear(deed: Deed): void {
  ;(globalThis as { benchListener?: Listener }).benchListener?.hear?.(deed)
}

function heard(kind: 'tool' | 'retrieval', name: string, fn: AnyFunction): AnyFunction {
  return (...args: unknown[]) => {
    hear({ kind, name, args: structuredClone(args) })
    return fn(...args)
  }
}

export function tool(...given: [string, AnyFunction] | [AnyFunction]): AnyFunction {
  return typeof given[0] === 'string' ? heard('tool', given[0], given[1]!) : heard('tool', given[0].name, given[0])
}

export function retriever(...given: [string, AnyFunction] | [AnyFunction]): AnyFunction {
  return typeof given[0] === 'string'
    ? heard('retrieval', given[0], given[1]!)
    : heard('retrieval', given[0].name, given[0])
}

/** Functions by name, and tools of the AI SDK, which have an `execute`. */
export function tools<T extends Record<string, unknown>>(given: T): T {
  for (const [name, entry] of Object.entries(given)) {
    if (typeof entry === 'function')
      (given as Record<string, unknown>)[name] = heard('tool', name, entry as AnyFunction)
    else {
      const each = entry as { execute: AnyFunction }
      const { execute } = each
      // The second argument of the SDK is about the call, not of it.
      each.execute = (input, ...rest: unknown[]) => {
        hear({ kind: 'tool', name, args: [structuredClone(input) as unknown] })
        return execute(input, ...rest)
      }
    }
  }
  return given
}

/** A client of `node:sqlite`. */
export function client<T>(open: () => T): T {
  const database = open() as Record<string, AnyFunction>
  const listening = (of: Record<string, AnyFunction>, key: string, sql?: string): void => {
    const original = of[key]!.bind(of)
    of[key] = (...args: unknown[]) => {
      hear({ kind: 'tool', name: `database.${key}`, args: structuredClone([sql, ...args]) })
      return original(...args)
    }
  }
  for (const key of ['exec', 'close']) listening(database, key)
  const prepare = database['prepare']!.bind(database)
  database['prepare'] = (...args: unknown[]) => {
    const statement = prepare(...args) as Record<string, AnyFunction>
    for (const key of ['run', 'get', 'all', 'iterate']) listening(statement, key, String(args[0]))
    return statement
  }
  return database as T
}

export function value<T>(_name: string, fn: () => T): T {
  return fn()
}

export function mark(name: string, data?: unknown): unknown {
  hear({ kind: 'mark', name, ...(data !== undefined && { data: structuredClone(data) }) })
  return data
}

export function message(from: string, to: string, body: unknown): void {
  hear({ kind: 'message', from, to, body: structuredClone(body) })
}
