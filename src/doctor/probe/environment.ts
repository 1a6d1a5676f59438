import { alterSetting } from './alter.ts'
import { isAddressName, isAddressValue, isSecretName, unset } from '../address.ts'
import { textsNear } from './literals.ts'
import { ask, isMade, made, type Ways } from './probe.ts'

/** Variables other machines set, and what they set them to. */
const ambient: Readonly<Record<string, string>> = {
  CI: 'true',
  GITHUB_ACTIONS: 'true',
  DEBUG: '*',
  NODE_ENV: 'production',
  LOG_LEVEL: 'debug',
  TZ: 'Pacific/Kiritimati',
  LANG: 'ar_EG.UTF-8',
  LC_ALL: 'ar_EG.UTF-8',
  NO_COLOR: '1',
  FORCE_COLOR: '1',
  TERM: 'dumb',
}

/** Names of variables that someone sets to switch something on. */
const switches = /^(?:FEATURE|FLAG|ENABLE|DISABLE|EXPERIMENT)S?_|_(?:ENABLED?|DISABLED?|FLAGS?|EXPERIMENT)$/i

/**
 * Begins the name of a way in which a variable that is not set is set, which another machine may not set.
 * What packages may ask for has no end: of theirs these are not tried.
 */
export const supposed = 'set to'

/** Set by the Vitest config: the same on every machine, as code is. */
const fixed = new Set<string>()

/** What Vitest sets wherever it runs, most of it for `import.meta.env`. Numbers of its workers are others in each run. */
const ofVitest = ['VITEST', 'VITEST_MODE', 'TEST', 'MODE', 'DEV', 'PROD', 'SSR', 'BASE_URL']

/**
 * Puts a view on the environment that tells who reads which variable. A variable that is not set is set as other machines
 * set it, or, where that is unknown, to a word and to a number; and to the texts that the code beside the place spells out.
 */
export function probeEnvironment(setVariables: ReadonlySet<string>): void {
  const real = process.env
  // Any other mode of Node is that of the machine.
  const mode = real['NODE_ENV'] === 'test' ? ['NODE_ENV'] : []
  for (const name of [...setVariables, ...(real['VITEST'] === 'true' ? [...ofVitest, ...mode] : [])]) fixed.add(name)
  const view: NodeJS.ProcessEnv = new Proxy(real, {
    get: function get(target, key, receiver): unknown {
      if (typeof key !== 'string') return Reflect.get(target, key, receiver)
      return read(target, key, get, false)
    },
    has: function has(target, key) {
      if (typeof key !== 'string') return Reflect.has(target, key)
      return read(target, key, has, true) !== undefined
    },
    getOwnPropertyDescriptor: function describe(target, key) {
      const known = Reflect.getOwnPropertyDescriptor(target, key)
      if (typeof key !== 'string') return known
      const value = read(target, key, describe, true)
      return value === undefined ? undefined : { value, configurable: true, enumerable: true, writable: true }
    },
    ownKeys: function ownKeys(target) {
      const keys = Reflect.ownKeys(target)
      const slot = ask(() => ({ kind: 'environment', name: 'process.env, all of it' }), ownKeys)
      return slot ? slot.of(() => keys, { 'another order': (noted) => noted.toReversed() }) : keys
    },
    set(target, key, value) {
      made(`process.env.${String(key)}`)
      return Reflect.set(target, key, value)
    },
  })
  Object.defineProperty(process, 'env', { value: view, configurable: true, enumerable: true, writable: true })
}

// biome-ignore lint/complexity/noBannedTypes: any function will do for Error.captureStackTrace
function read(target: NodeJS.ProcessEnv, key: string, caller: Function, isQuestion: boolean): string | undefined {
  const value = target[key]
  if (fixed.has(key)) return value
  const name = `process.env.${key}`
  // What the run has set itself is as it was.
  const isAddress = isAddressValue(value)
  const source = { kind: 'environment', name, ...(isAddress ? { isAddress } : {}) } as const
  const slot = ask(() => (isMade(name) || key in Object.prototype ? undefined : source), caller)
  if (slot === undefined) return value
  const spelled = slot.via === undefined && !isQuestion && !isAddress ? spelledOut(slot.site, key, value) : {}
  return slot.of(() => value, { ...waysOf(key, value, isQuestion), ...spelled })
}

/** The values that the code which reads a variable may compare it with. */
function spelledOut(site: string | undefined, key: string, value: string | undefined): Ways<string | undefined> {
  if (site === undefined || isSecretName(key) || isAddressName(key)) return {}
  const texts = textsNear(site).filter((text) => text !== key && text !== value)
  return Object.fromEntries(texts.map((text) => [`${supposed} ${JSON.stringify(text)}`, () => text]))
}

function waysOf(key: string, value: string | undefined, isQuestion: boolean): Ways<string | undefined> {
  if (value === undefined) {
    const set = ambient[key] ?? (switches.test(key) ? '1' : undefined)
    if (set !== undefined) return { set: () => set }
    // Of an address that is not set the path is unknown.
    if (isAddressName(key)) return {}
    return { [`${supposed} "altered"`]: () => 'altered', [`${supposed} "7"`]: () => '7' }
  }
  // Clients look at the beginning of a key.
  const other = { 'another value': () => (isSecretName(key) ? `${value}-altered` : otherThan(value, ambient[key])) }
  const absent = isSecretName(key) ? {} : { [unset]: () => undefined }
  return isQuestion ? absent : { ...other, ...absent }
}

function otherThan(value: string, usual: string | undefined): string {
  return usual === undefined || usual === value ? alterSetting(value) : usual
}
