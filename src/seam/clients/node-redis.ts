import { currentRun } from '../source.ts'
import { ask, askConnection, askState, type Loose, type Method, over, type Port, put, refuse } from './ask.ts'

/** A client of `redis` 5 or later: what it asks goes through one method. */
export function isNodeRedis(given: Loose): boolean {
  return (
    typeof given['sendCommand'] === 'function' &&
    typeof given['_executeMulti'] === 'function' &&
    typeof given['_self'] === 'object'
  )
}

const listening = ['subscribe', 'pSubscribe', 'sSubscribe', 'unsubscribe', 'pUnsubscribe', 'sUnsubscribe', 'monitor']

export function instrumentNodeRedis(port: Port, given: Loose): void {
  // Everything made from it inherits from this one object.
  const redis = given['_self'] as Loose
  const { sendCommand, _executeMulti, _executePipeline } = redis as Record<string, Method>
  put(redis, 'sendCommand', function (this: Loose, args: readonly unknown[], ...rest: unknown[]): unknown {
    const [operation, ...words] = args
    return ask(port, String(operation), { args: words }, () => Reflect.apply(sendCommand!, this, [args, ...rest]))
  })
  const several = (name: string, original: Method) =>
    function (this: Loose, commands: readonly { readonly args: readonly unknown[] }[], ...rest: unknown[]): unknown {
      return ask(port, name, { commands: commands.map(({ args }) => [...args]) }, () =>
        Reflect.apply(original, this, [commands, ...rest]),
      )
    }
  put(redis, '_executeMulti', several('MULTI', _executeMulti!))
  put(redis, '_executePipeline', several('pipeline', _executePipeline!))
  over(redis, 'connect', (original) => () => askConnection(port, 'connect', original, () => given).then(() => given))
  for (const key of ['close', 'quit', 'QUIT'])
    over(redis, key, (original) => () => askConnection(port, 'close', original, () => undefined))
  for (const key of ['destroy', 'disconnect'])
    over(redis, key, (original) => () => (currentRun()?.mode === 'replay' ? undefined : (original() as unknown)))
  for (const key of listening.flatMap((one) => [one, one.toUpperCase()]))
    over(redis, key, (original) => (...words: unknown[]) => {
      refuse(port, [key.toLowerCase(), ...words.filter((word) => typeof word === 'string')].join(' '))
      return original(...words) as unknown
    })
  over(redis, 'duplicate', (original) => (...options: unknown[]) => {
    const twin = original(...options) as Loose
    instrumentNodeRedis(port, twin)
    return twin
  })
  for (const key of ['isOpen', 'isReady']) watchState(port, redis, key)
}

/** An agent that looks whether it is connected sees what it saw. */
function watchState(port: Port, redis: Loose, key: string): void {
  const { get } = findGetter(redis, key) ?? {}
  if (get === undefined) return
  const real = (): unknown => Reflect.apply(get, redis, []) as unknown
  Object.defineProperty(redis, key, { configurable: true, get: () => askState(port, key, real) })
}

function findGetter(target: object, key: string): PropertyDescriptor | undefined {
  for (let at: object | null = target; at; at = Object.getPrototypeOf(at) as object | null) {
    const found = Object.getOwnPropertyDescriptor(at, key)
    if (found) return found
  }
  return undefined
}
