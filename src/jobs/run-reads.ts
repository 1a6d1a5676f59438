import { createHash } from 'node:crypto'
import { firstNames } from '../errors/words.ts'

/** What runs read besides their code, so that what was made by them counts only where that is as it was. Holds no value. */
export interface RunReads {
  /** Of all digests here. */
  readonly salt: string
  /** Names of environment variables that they read and that were set. */
  readonly set: readonly string[]
  /** And of those that were not. */
  readonly unset: readonly string[]
  /** One digest of the values of `set`. */
  readonly values: string
  /** Of `set`: keys by their name or look; another one of these is no change for who replays what was made with it. */
  readonly keys?: readonly string[]
  /** The same, of those whose value was the key of a request: as long as it still is. */
  readonly sentKeys?: readonly string[]
  /** One digest of the values of all others of `set`; absent: an earlier version kept it. */
  readonly plain?: string
  /** Eight bits of a digest of each of them, which say which one is another: too few to try out what it was. */
  readonly hints?: readonly string[]
  /** The same of the value alone, of each of `keys` and `sentKeys`: which one has the key that another one had. */
  readonly keyHints?: Readonly<Record<string, string>>
  /** Digest of the names of all variables, where they listed them. */
  readonly listed?: string
  /** Files and folders by what was asked of them, and a digest of the answer. */
  readonly files: Readonly<Record<string, string>>
  /** Of `files`: those that code asked for itself, beside what is loaded as modules; absent: unknown. */
  readonly asked?: readonly string[]
  /** Digests of what all code can ask of its machine; absent: unknown. */
  readonly machine?: Readonly<Record<string, string>>
}

/** Whether a variable may have another value: one that is a key by its name or look, or was the key of a request. */
export type IsFree = (name: string, isNamed: boolean) => boolean

/** Where runs of a task happen, and what they have read there so far. */
export interface Surroundings {
  /** @param sentKeys - variables whose value was the key of a request of what was made */
  reads(sentKeys?: readonly string[]): RunReads
  /**
   * What is not as it was when this was read, for people; empty: all of it is.
   *
   * @param isFree - for who replays what was made, where another key is no change: see {@link IsFree}
   * @param unloaded - absolute paths of modules that the runs do not load, but what grades them: no change, unless code read them
   */
  changedSince(reads: RunReads, isFree?: IsFree, unloaded?: ReadonlySet<string>): readonly string[]
}

/** A digest that says nothing of what it was made from. */
export function saltedDigest(salt: string, parts: readonly (string | undefined)[]): string {
  return createHash('sha256')
    .update(JSON.stringify([salt, ...parts]))
    .digest('base64url')
    .slice(0, 24)
}

type Variables = Readonly<Record<string, string | undefined>>

/** The part of {@link RunReads} that is about variables. */
export function readVariables(
  now: Variables,
  { salt, names, isListed }: { readonly salt: string; readonly names: Iterable<string>; readonly isListed: boolean },
  {
    isKey = () => false,
    sentKeys = [],
  }: { readonly isKey?: (name: string, value: string) => boolean; readonly sentKeys?: readonly string[] } = {},
): Omit<RunReads, 'asked' | 'files' | 'machine'> {
  const sorted = [...names].sort()
  const set = sorted.filter((name) => now[name] !== undefined)
  const keys = set.filter((name) => isKey(name, now[name] ?? ''))
  const sent = set.filter((name) => sentKeys.includes(name) && !keys.includes(name))
  return {
    salt,
    set,
    ...(keys.length === 0 ? {} : { keys }),
    ...(sent.length === 0 ? {} : { sentKeys: sent }),
    ...(keys.length + sent.length < 2 ? {} : { keyHints: keyHintsOf(now, [...keys, ...sent], salt) }),
    plain: valuesOf(
      now,
      set.filter((name) => !keys.includes(name) && !sent.includes(name)),
      salt,
    ),
    unset: sorted.filter((name) => now[name] === undefined),
    values: valuesOf(now, set, salt),
    hints: set.map((name) => hintOf(now, name, salt)),
    ...(isListed ? { listed: saltedDigest(salt, Object.keys(now).sort()) } : {}),
  }
}

/**
 * Which variables are not as they were, for people and without any value.
 *
 * @param isFree - as for {@link Surroundings.changedSince}
 */
export function changedVariables(
  { salt, set, unset, values, keys = [], sentKeys = [], plain, hints, keyHints = {}, listed }: RunReads,
  now: Variables,
  isFree?: IsFree,
): readonly string[] {
  const hintsNow = keyHintsOf(now, Object.keys(keyHints), salt)
  // A key that was renewed is a new one; that of another variable may be that of another account.
  const isMoved = (name: string): boolean =>
    hintsNow[name] !== keyHints[name] &&
    Object.entries(keyHints).some(([other, hint]) => other !== name && hint === hintsNow[name])
  // An empty one is no key: code that asks whether there is one goes another way.
  const free = new Set(
    isFree === undefined
      ? []
      : [...keys.filter((name) => isFree(name, true)), ...sentKeys.filter((name) => isFree(name, false))].filter(
          (name) => (now[name] ?? '') !== '' && !isMoved(name),
        ),
  )
  const held = set.filter((name) => !free.has(name))
  const isPlain = held.length === set.length - keys.length - sentKeys.length && valuesOf(now, held, salt) === plain
  const gone = set.filter((name) => now[name] === undefined)
  const come = unset.filter((name) => now[name] !== undefined)
  const isOther = gone.length === 0 && valuesOf(now, set, salt) !== values && !isPlain
  const others =
    hints?.length === set.length
      ? set.filter((name, at) => now[name] !== undefined && !free.has(name) && hintOf(now, name, salt) !== hints[at])
      : []
  const isListedOther = listed !== undefined && saltedDigest(salt, Object.keys(now).sort()) !== listed
  return [
    ...gone.map((name) => `environment variable ${name} (was set, is unset)`),
    ...come.map((name) => `environment variable ${name} (was unset, is set)`),
    ...others.map((name) => `environment variable ${name} (another value)`),
    ...(isOther && others.length === 0
      ? [
          `${held.length === 1 ? 'environment variable' : 'one or more of the environment variables'} ${firstNames(held)} (another value)`,
        ]
      : []),
    ...(isListedOther && gone.length + come.length === 0 ? ['the names of the environment variables'] : []),
  ]
}

function keyHintsOf(now: Variables, names: readonly string[], salt: string): Readonly<Record<string, string>> {
  return Object.fromEntries(names.map((name) => [name, hintOf({ key: now[name] }, 'key', salt)]))
}

function hintOf(now: Variables, name: string, salt: string): string {
  return createHash('sha256')
    .update(JSON.stringify([salt, name, now[name]]))
    .digest('hex')
    .slice(0, 2)
}

function valuesOf(now: Variables, names: readonly string[], salt: string): string {
  return saltedDigest(
    salt,
    names.flatMap((name) => [name, now[name]]),
  )
}
