import { userSite } from '../seam/caller.ts'
import { type FingerprintDifference, type Fingerprint, firstChange } from './fingerprint.ts'

/** A value a run leaves on the global object, where the next run finds it. */
export interface Kept {
  readonly name: string
  /** Where it is read or set first. */
  readonly site?: string
  readonly change: FingerprintDifference
}

export interface KeptState {
  readonly found: readonly Kept[]
  /** Takes the values away, so that the next run begins as the first one did. */
  forget(): void
}

/**
 * Two replays differ: looks whether that comes from properties the first one left on the global object. One that cannot be
 * taken away, as packages leave them, is not looked at: the first run cannot be made again without it.
 *
 * @param before - the properties there were before it
 */
export async function findKept(
  before: ReadonlySet<PropertyKey>,
  first: Fingerprint,
  run: () => Promise<Fingerprint>,
): Promise<KeptState> {
  const names = Reflect.ownKeys(globalThis).filter((name) => !before.has(name) && canGo(name))
  const found: Kept[] = []
  const culprits: PropertyKey[] = []
  const forget = (): void => culprits.forEach((name) => Reflect.deleteProperty(globalThis, name))
  // What was found by then makes no difference where the others are looked at.
  const runWithout = (): Promise<Fingerprint> => {
    forget()
    return run()
  }
  for (const name of names) {
    const change = await changesWithout(name, first, runWithout)
    if (change === undefined) continue
    const site = await siteOf(name, runWithout)
    found.push({ name: `globalThis.${String(name)}`, change, ...(site === undefined ? {} : { site }) })
    culprits.push(name)
  }
  return { found, forget }
}

function canGo(name: PropertyKey): boolean {
  return Object.getOwnPropertyDescriptor(globalThis, name)?.configurable !== false
}

/** What leaving it changes: without it the run is the first one again, with it it is not. */
async function changesWithout(
  name: PropertyKey,
  first: Fingerprint,
  run: () => Promise<Fingerprint>,
): Promise<FingerprintDifference | undefined> {
  const value = Object.getOwnPropertyDescriptor(globalThis, name)
  Reflect.deleteProperty(globalThis, name)
  const fresh = await run()
  if (firstChange(first, fresh) !== undefined) {
    // Not this one, and a package may need it.
    if (value && !Object.hasOwn(globalThis, name)) Object.defineProperty(globalThis, name, value)
    return undefined
  }
  const again = firstChange(first, await run())
  if (again !== undefined || value === undefined) return again
  // What takes more runs than two to change them is found by what it had become.
  Object.defineProperty(globalThis, name, value)
  return firstChange(first, await run())
}

async function siteOf(name: PropertyKey, run: () => Promise<Fingerprint>): Promise<string | undefined> {
  let site: string | undefined
  let value = Reflect.get(globalThis, name) as unknown
  Object.defineProperty(globalThis, name, {
    configurable: true,
    enumerable: true,
    get() {
      site ??= userSite()
      return value
    },
    set(next: unknown) {
      site ??= userSite()
      value = next
    },
  })
  await run()
  Reflect.deleteProperty(globalThis, name)
  return site
}
