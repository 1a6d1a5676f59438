import { types } from 'node:util'
import { isObject, isThenable } from './shape.ts'
import { type RunContext, seamState } from './source.ts'

/** Who hears of a promise that a wrapped function returned. */
export interface Hearing {
  /** The run as what a query does sees it when it is awaited. */
  readonly view: RunContext
  /** Hears how it settles, and hands that on. */
  readonly hear: (settled: PromiseLike<unknown>) => PromiseLike<unknown>
  /** Hears that a query is awaited once more, and so runs once more. */
  readonly again?: () => void
}

/** Whether it does its work when it is awaited, as queries of knex and drizzle do: no promise of the language. */
export function isQuery(answer: unknown): answer is PromiseLike<unknown> {
  return isThenable(answer) && !types.isPromise(answer)
}

/**
 * What whoever called gets for a promise that is heard. A query may be built further before it is awaited, so it is handed out
 * itself, in a proxy: to await it here would run it too early. What its methods return is heard as well where it is a query.
 * One that is awaited once more runs once more, unheard.
 *
 * @param used - takes what is called on a query, read of it and set on it before it is awaited: `where()`, `table`, `limit =`
 */
export function handOut(
  answer: PromiseLike<unknown>,
  { view, hear, again }: Hearing,
  used: string[] = [],
): PromiseLike<unknown> {
  if (types.isPromise(answer)) return hear(answer)
  let isHeard = false
  const settle = (query: PromiseLike<unknown>): PromiseLike<unknown> => {
    const started = (): Promise<unknown> => new Promise((resolve, reject) => void query.then(resolve, reject))
    if (isHeard) {
      again?.()
      return started()
    }
    isHeard = true
    return hear(seamState().runs.run(view, started))
  }
  const proxies = new WeakMap<object, object>()
  const targets = new WeakMap<object, object>()
  const own = (value: unknown): unknown => (isObject(value) ? (targets.get(value) ?? value) : value)
  const proxyOf = (query: PromiseLike<unknown> & object): PromiseLike<unknown> => {
    const known = proxies.get(query)
    if (known !== undefined) return known as PromiseLike<unknown>
    const given = (returned: unknown): unknown => (isQuery(returned) ? proxyOf(returned) : returned)
    const heard = new Map<PropertyKey, unknown>([
      ['then', (...then: Parameters<Promise<unknown>['then']>) => settle(query).then(...then)],
      ['catch', (failed: (error: unknown) => unknown) => settle(query).then(undefined, failed)],
      ['finally', (done: () => void) => Promise.resolve(settle(query)).finally(done)],
    ])
    const calledOn = (method: Method, name: string): Method =>
      function (this: unknown, ...args: unknown[]): unknown {
        used.push(name)
        return given(Reflect.apply(method, own(this), args.map(own)))
      }
    const methods = new Map<unknown, Method>()
    const proxy: object = new Proxy(query, {
      get(target, key) {
        const value: unknown = Reflect.get(target, key, target)
        // Symbols and the class are looked at by whoever prints it.
        if (key === 'constructor' || value === undefined || (typeof key === 'symbol' && typeof value !== 'function'))
          return value
        if (typeof value !== 'function' || isFixed(target, key)) {
          used.push(String(key))
          return value
        }
        if (heard.has(key)) return heard.get(key)
        const method = methods.get(value) ?? calledOn(value as Method, `${String(key)}()`)
        methods.set(value, method)
        return method
      },
      set(target, key, value) {
        used.push(`${String(key)} =`)
        return Reflect.set(target, key, value, target)
      },
      apply(target, self, args) {
        used.push('()')
        return given(Reflect.apply(target as never, own(self), args.map(own)))
      },
    })
    proxies.set(query, proxy)
    targets.set(proxy, query)
    return proxy as PromiseLike<unknown>
  }
  return proxyOf(answer)
}

type Method = (this: unknown, ...args: unknown[]) => unknown

/** A proxy may not give another value for it. */
function isFixed(target: object, key: PropertyKey): boolean {
  const property = Reflect.getOwnPropertyDescriptor(target, key)
  return property !== undefined && property.configurable === false && property.writable === false
}
