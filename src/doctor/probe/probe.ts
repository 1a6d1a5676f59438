import { holdsText } from './holds-text.ts'
import { siteIn, captureStack } from '../../seam/caller.ts'
import { currentResponder } from '../../seam/intercept/responder.ts'
import { type Caller, seamState } from '../../seam/source.ts'
import { callerOf } from './caller.ts'

/** What kind of thing around the seam was asked. */
export type SourceKind =
  | 'clock'
  | 'random'
  | 'process'
  | 'machine'
  | 'memory'
  | 'environment'
  | 'time zone'
  | 'locale'
  | 'path'
  | 'file'
  | 'file times'
  | 'directory'
  | 'directory order'
  | 'temporary name'
  | 'database'
  | 'order of completion'
  | 'garbage collection'
  | 'another realm'

/** Something that could be another time, on another machine or in another process. */
export interface ProbeTarget {
  readonly kind: SourceKind
  /** As the code says it, such as `process.env.REGION` or `fs.readFile notes.txt`. */
  readonly name: string
  /** Absolute path, where it is a file. */
  readonly path?: string
  /** A variable whose value says where requests go. */
  readonly isAddress?: true
}

/** A source and the place that asked it. */
export interface Reading extends ProbeTarget {
  /** One text per source and place. */
  readonly key: string
  /** `file:line:column` in the user's code; absent when no frame of it was on the stack. */
  readonly site?: string
  /** The npm package that asked, when it was not the user's own code. */
  readonly via?: string
  /** Whether it was asked while the agent's modules loaded, or by the run. */
  readonly phase: 'load' | 'run'
  readonly reads: number
  /** In what ways the answer can be another one. */
  readonly ways: readonly string[]
  /** Its answer is a text, or holds one: code may compare it with any other, and not all can be tried. */
  readonly isText?: true
}

/** One answer to be another one. */
export interface Variation {
  readonly key: string
  readonly way: string
}

/** How an answer becomes another one: from the one that was noted, or by asking again. */
export type Ways<T> = Readonly<Record<string, (noted: T, again: () => T) => T>>

/** A place that asks a source just now. */
export interface Slot {
  /** How often this place has asked this source before, in this run. */
  readonly nth: number
  /** The answer it gets: the real one, noted; or the one noted at this place, varied where that is asked for. */
  of<T>(real: () => T, ways: Ways<T>): T
  /** The way in which the answer is to be another one, for answers that cannot be kept. */
  way(known: readonly string[]): string | undefined
  /** The npm package that asks, when it is not the user's own code. */
  readonly via: string | undefined
  /** `file:line:column` in the user's code. */
  readonly site: string | undefined
  /** Whether this answer is to be another one. */
  readonly isVaried: boolean
}

interface Entry {
  readonly source: ProbeTarget
  readonly site: string | undefined
  readonly via: string | undefined
  readonly phase: 'load' | 'run'
  readonly ways: Set<string>
  readonly values: unknown[]
  /** Reads in the run that is under way. */
  next: number
  reads: number
}

/** Above it a run is only slowed down: the places are known by then. */
const readLimit = 20_000

interface Probe {
  mode: 'off' | 'watch' | 'serve'
  readonly entries: Map<string, Entry>
  readonly varied: Map<string, string>
  /** The probe itself is at work: what it asks is no reading of the agent. */
  inside: boolean
  reads: number
  /** What the run has made itself, by absolute path: it is no source when it is read again. */
  readonly made: Set<string>
  /** Files that stand for others which are not there, by the path of those. */
  readonly supposed: Map<string, string>
}

function probe(): Probe {
  const { shared } = seamState()
  let known = shared.get('probe') as Probe | undefined
  if (!known) {
    known = {
      mode: 'off',
      entries: new Map(),
      varied: new Map(),
      inside: false,
      reads: 0,
      made: new Set(),
      supposed: new Map(),
    }
    shared.set('probe', known)
  }
  return known
}

/** Forgets everything noted so far. */
export function forgetReadings(): void {
  probe().entries.clear()
}

/**
 * Runs `work` under the probe.
 *
 * `watch`: answers are real, and noted. `serve`: every answer is the noted one, but for `variations`.
 */
export async function probing<T>(
  mode: 'watch' | 'serve',
  variations: readonly Variation[],
  work: () => Promise<T>,
): Promise<T> {
  const state = probe()
  state.reads = 0
  state.made.clear()
  state.supposed.clear()
  state.varied.clear()
  for (const { key, way } of variations) state.varied.set(key, way)
  for (const entry of state.entries.values()) entry.next = 0
  state.mode = mode
  try {
    return await work()
  } finally {
    state.mode = 'off'
  }
}

/** What was asked under the probe, in the order it was first asked. */
export function readings(): readonly Reading[] {
  return [...probe().entries].map(([key, { source, site, via, phase, ways, reads, values }]) => ({
    ...source,
    key,
    ...(site === undefined ? {} : { site }),
    ...(via === undefined ? {} : { via }),
    phase,
    reads,
    ways: [...ways],
    ...(values.some((value) => holdsText(value)) ? { isText: true } : {}),
  }))
}

/** Does something that is no reading of anybody. */
export function unwatched<T>(work: () => T): T {
  const state = probe()
  const before = state.inside
  state.inside = true
  try {
    return work()
  } finally {
    state.inside = before
  }
}

/** Notes that the run made a file or folder. */
export function made(path: string): void {
  const state = probe()
  if (state.mode !== 'off' && !state.inside && isAgents()) state.made.add(path)
}

/** Whether the run made a file, or a folder it lies in. */
export function isMade(path: string): boolean {
  return [...probe().made].some((one) => path === one || path.startsWith(`${one}/`) || path.startsWith(`${one}\\`))
}

/** In the run that is under way a file is there. @returns what stands for it */
export function suppose(path: string, make: (path: string) => string): string {
  const { supposed: known } = probe()
  const file = known.get(path) ?? make(path)
  known.set(path, file)
  return file
}

/** What stands for a file that is to be there in this run. */
export function supposed(path: string): string | undefined {
  return probe().supposed.get(path)
}

/**
 * A source is asked by whoever called `caller`.
 *
 * @returns `undefined` when that is no reading of the agent: no probe is on, or the code asks that runs the replay
 */
export function ask(source: () => ProbeTarget | undefined, caller: Caller): Slot | undefined {
  const state = probe()
  if (state.mode === 'off' || state.inside || !isAgents()) return undefined
  return unwatched(() => {
    const found = ++state.reads > readLimit ? undefined : callerOf(caller)
    const asked = found && source()
    if (!found || !asked) return undefined
    const site = siteIn(captureStack())
    return slotOf(state, asked, site, found.via)
  })
}

/** The same where the place is known already. */
export function askAt(source: ProbeTarget, site: string): Slot | undefined {
  const state = probe()
  if (state.mode === 'off' || state.inside || !isAgents() || ++state.reads > readLimit) return undefined
  return slotOf(state, source, site, undefined)
}

function slotOf(state: Probe, source: ProbeTarget, site: string | undefined, via: string | undefined): Slot {
  const key = `${source.kind} | ${source.name} | ${site ?? ''} | ${via ?? ''}`
  let entry = state.entries.get(key)
  if (!entry) {
    const phase = currentResponder() ? 'run' : 'load'
    entry = { source, site, via, phase, ways: new Set(), values: [], next: 0, reads: 0 }
    state.entries.set(key, entry)
  }
  const { ways, values } = entry
  const nth = entry.next++
  if (state.mode === 'watch') entry.reads++
  const wayOf = (known: readonly string[]): string | undefined => {
    for (const one of known) ways.add(one)
    const asked = state.varied.get(key)
    return asked !== undefined && known.includes(asked) ? asked : undefined
  }
  return {
    nth,
    via,
    site,
    isVaried: state.varied.has(key),
    way: wayOf,
    of<T>(real: () => T, known: Ways<T>): T {
      const way = wayOf(Object.keys(known))
      const again = (): T => unwatched(real)
      if (state.mode === 'watch' || values.length === 0) {
        const value = again()
        // Read for the first time only now that something else is varied: from here on it is noted, too.
        values.push(copy(value))
        return way === undefined ? value : (known[way]?.(value, again) ?? value)
      }
      const noted = copy(values[Math.min(nth, values.length - 1)]) as T
      return way === undefined ? noted : (known[way] as Ways<T>[string])(noted, again)
    },
  }
}

/** Whether the code that runs just now is the agent: a replayed run, or its modules being loaded. */
function isAgents(): boolean {
  const run = currentResponder()
  return run ? !run.over : seamState().runs.getStore() === undefined
}

/** What the agent does to an answer must not change what is noted. */
function copy(value: unknown): unknown {
  if (typeof value !== 'object' || value === null) return value
  if (Buffer.isBuffer(value)) return Buffer.from(value)
  const prototype: unknown = Object.getPrototypeOf(value)
  const isPlain = Array.isArray(value) || prototype === null || prototype === Object.prototype
  if (!isPlain) return value
  try {
    return structuredClone(value)
  } catch {
    // It holds a key or a function, which does not change.
    return value
  }
}
