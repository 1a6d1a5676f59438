import { existsSync } from 'node:fs'
import { resolve } from 'node:path'
import { alter } from './alter.ts'
import { type PatchedFunction, patch } from './patching.ts'
import { ask, isMade, made, type ProbeTarget, type Ways } from './probe.ts'

type Sqlite = typeof import('node:sqlite')

/** SQL in which SQLite asks a clock or a generator of its own. */
const clock = /\bcurrent_(?:time|date|timestamp)\b|'now'|\b(?:unixepoch|julianday|date|time|datetime)\(\s*\)/i
const random = /\brandom(?:blob)?\(/i

const where = new WeakMap<object, string | null>()

/** Databases in this process: nothing of them goes over a socket. */
export function probeSqlite(): void {
  const sqlite = process.getBuiltinModule('node:sqlite') as Sqlite | undefined
  // Not in every Node we run in.
  if (!sqlite) return
  const { DatabaseSync, StatementSync } = sqlite
  patch(DatabaseSync.prototype, 'prepare', (original) => {
    return function patched(this: InstanceType<Sqlite['DatabaseSync']>, ...args: unknown[]): unknown {
      const statement = original.apply(this, args) as object
      where.set(statement, this.location())
      return statement
    }
  })
  const construct = (target: typeof DatabaseSync, args: unknown[], newTarget: PatchedFunction): object => {
    const [path] = args
    if (typeof path === 'string' && path !== ':memory:' && !existsSync(path)) made(resolve(path))
    return Reflect.construct(target, args, newTarget) as object
  }
  Object.defineProperty(sqlite, 'DatabaseSync', {
    value: new Proxy(DatabaseSync, { construct }),
    configurable: true,
    enumerable: true,
    writable: true,
  })
  for (const key of ['get', 'all']) probeRows(StatementSync.prototype, key)
}

function probeRows(prototype: object, key: string): void {
  patch(prototype, key, (original) => {
    return function patched(this: { readonly sourceSQL: string }, ...args: unknown[]): unknown {
      const real = (): unknown => original.apply(this, args) as unknown
      const slot = ask(() => sourceOf(this), patched)
      return slot ? slot.of(real, other) : real()
    }
  })
}

const other: Ways<unknown> = { 'other rows': alter }

function sourceOf(statement: { readonly sourceSQL: string }): ProbeTarget | undefined {
  const sql = statement.sourceSQL
  if (clock.test(sql)) return { kind: 'clock', name: "node:sqlite, SQLite's clock" }
  if (random.test(sql)) return { kind: 'random', name: 'node:sqlite, random()' }
  const path = where.get(statement)
  if (!path || isMade(path)) return undefined
  return { kind: 'database', name: `node:sqlite ${path}`, path }
}
