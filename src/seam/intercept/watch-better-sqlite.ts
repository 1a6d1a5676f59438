import { addOnOf, isHarmless } from '../add-ons.ts'
import { fileOf } from '../clients/in-memory.ts'
import { patchProperty } from '../patch.ts'
import { type AnyFunction, guard } from './guarding.ts'
import { refusal } from './outside.ts'
import { requireReadable, requireText, requireWritable } from './sqlite-files.ts'
import { isAgentAtWork, list } from './work.ts'

const by = 'better-sqlite3'

interface Exports {
  Database: new (...args: unknown[]) => object
}

/** Files of open databases that may be written. */
const files = new WeakMap<object, string>()

/**
 * Tells which databases an agent may write to with better-sqlite3. Those opened before the replay was installed have no name
 * any more.
 */
export function watchBetterSqlite(exported: unknown): void {
  const addOn = exported as Partial<Exports> | undefined
  if (typeof addOn?.Database !== 'function') return
  const { prototype } = addOn.Database as { readonly prototype: object }
  patchProperty(addOn as Exports, 'Database', (Original) => {
    return new Proxy(Original, {
      construct(target, args: unknown[], newTarget: new () => object) {
        if (fileOf(args[0]) === ':memory:') args.splice(0, 5, ':memory:', ':memory:', true, false, false)
        const [file, , isAnonymous, isReadOnly] = args
        const isWritable = isAnonymous !== true && isReadOnly !== true
        if (isWritable && isAgentAtWork()) requireWritable(file, by)
        if (isReadOnly === true && isAgentAtWork()) requireReadable(String(file), by)
        const database = Reflect.construct(target, args, newTarget) as object
        if (isWritable) files.set(database, String(file))
        return database
      },
    })
  })
  before(prototype, ['prepare', 'exec'], (database, [statement]) => {
    const file = files.get(database)
    if (file !== undefined) requireWritable(file, by)
    requireText(statement, by)
  })
  before(prototype, ['backup'], (_database, [, , file]) => requireWritable(file, by))
  before(prototype, ['loadExtension'], (_database, [file]) => requireExtension(String(file)))
}

/** What an extension of SQLite does is native code once more. */
function requireExtension(file: string): void {
  const extension = addOnOf(file)
  const error = isHarmless(extension) ? undefined : refusal('add-on', extension.name)
  if (error) throw error
  list('add-on', by, extension.name)
}

function before(
  prototype: object,
  keys: readonly string[],
  ask: (database: object, args: readonly unknown[]) => void,
): void {
  for (const key of keys) {
    guard(prototype, key, (original: AnyFunction) => {
      return function (this: object, ...args: unknown[]) {
        if (isAgentAtWork()) ask(this, args)
        return original.apply(this, args) as unknown
      }
    })
  }
}
