import { existsSync } from 'node:fs'
import { HarvestError } from '../errors/index.ts'
import { textAt } from '../json/canonical.ts'
import { recordAgain } from '../errors/usual-steps.ts'
import { isAddress, unset } from './address.ts'
import {
  forgetReadings,
  installProbe,
  probing,
  type Reading,
  readings,
  supposed,
  sweep,
  type Variation,
} from './probe/index.ts'
import type { ReplayResult } from '../match/types.ts'
import {
  type FingerprintDifference,
  failedFingerprint,
  type Fingerprint,
  fingerprintOf,
  firstChange,
  isError,
  type FingerprintPart,
} from './fingerprint.ts'
import { findKept, type Kept, type KeptState } from './kept.ts'

/** What a tape does that another time, machine or process would not do. */
export interface Examination {
  readonly replays: number
  /** Whether the plain replay was the recorded run. */
  readonly held: boolean
  /** What the plain replay threw where the recorded run did not: what lies behind it was not looked at. */
  readonly threw?: string
  /** How the plain replay left its tape, where a new recording would hold what it asks for now: after `value()` was put in. */
  readonly leftTape?: string
  /** Files and folders that are read and not there, where the plain replay is not the recorded run. */
  readonly missing: readonly Reading[]
  /** Sources that change the run, each with what it changed first. */
  readonly found: readonly Found[]
  /** Sources that were asked and change nothing. */
  readonly harmless: readonly Reading[]
  /** In what the process is no longer as it was: another answer changed it for good. */
  readonly left?: FingerprintDifference
  /** Sources that were not varied for that reason. */
  readonly notVaried: readonly Reading[]
  /** What no source explains: two replays differ all the same. */
  readonly unseen?: FingerprintDifference
  /** A path of this machine in what the agent says, where no source explains it. */
  readonly path?: FingerprintPart
  /** Values left behind on the global object that change the next run. */
  readonly kept: readonly Kept[]
  /** The first plain replay, to be compared with one in another process. */
  readonly fingerprint: Fingerprint
}

export interface Found {
  readonly reading: Reading
  readonly way: string
  readonly change: FingerprintDifference
}

/** Loads the agent afresh and replays its tape. */
export type Once = () => Promise<ReplayResult>

/** The plain replay alone. */
export async function replayPlainly(once: Once): Promise<Examination> {
  const run = await once()
  return {
    replays: 1,
    held: holds(run),
    found: [],
    harmless: [],
    notVaried: [],
    missing: [],
    kept: [],
    fingerprint: fingerprintOf(run),
  }
}

/**
 * Finds what makes a run irreproducible, by experiment.
 *
 * Twice plainly; once noting every source around the seam that is asked, and where; once with all answers as noted. From
 * then on one answer at a time is another one, and what this changes has that answer as its cause.
 */
export async function examine(once: Once, setVariables: readonly string[] = []): Promise<Examination> {
  installProbe(setVariables)
  forgetReadings()
  let replays = 0
  const run = async (): Promise<Fingerprint> => {
    replays++
    try {
      return fingerprintOf(await once())
    } catch (error) {
      if (HarvestError.is(error)) return failedFingerprint(error)
      throw error
    }
  }
  try {
    const before = new Set(Reflect.ownKeys(globalThis))
    replays++
    const first = await once()
    const fingerprint = fingerprintOf(first)
    const differs = firstChange(fingerprint, await run())
    let kept: KeptState | undefined
    const again = async (): Promise<Fingerprint> => {
      kept?.forget()
      return run()
    }
    // Files that are missing are reported by themselves: what a run does without them is not what was recorded.
    const asked = (): readonly Reading[] =>
      readings().map((one) => (!holds(first) && isMissing(one) ? { ...one, ways: [] } : one))
    let trial: Trial | undefined
    // What a run leaves may change the second one, or only later ones: no other answer is the cause of that.
    for (let change = differs; ; ) {
      if (change !== undefined) kept = await findKept(before, fingerprint, run)
      if (trial === undefined) trial = await tryAll(await probing('watch', [], again), again, asked)
      else if (kept !== undefined && kept.found.length > 0) {
        const { all } = trial
        trial = await tryAll(fingerprint, again, () => all)
      }
      change = kept === undefined ? (trial.unsteady ?? trial.left) : undefined
      if (change === undefined) break
    }
    const { all, found, unsteady, left, notVaried } = trial
    const isExplained = found.length > 0 || (kept?.found.length ?? 0) > 0
    const unseen = unsteady ?? (isExplained ? undefined : differs)
    const path = found.some(({ reading }) => reading.kind === 'path') ? undefined : placeOf(fingerprint)
    kept?.forget()
    const held = holds(first)
    const threw = thrownBy(first)
    const leftTape = first.problems.find(({ facts: { fix = [] } }) => fix.includes(recordAgain))?.facts.what
    return {
      replays,
      held,
      ...(threw === undefined ? {} : { threw }),
      ...(leftTape === undefined ? {} : { leftTape }),
      missing: held ? [] : all.filter(isMissing),
      found,
      harmless: all.filter((one) => !notVaried.includes(one) && !found.some(({ reading }) => reading.key === one.key)),
      ...(left === undefined ? {} : { left }),
      notVaried,
      kept: kept?.found ?? [],
      ...(unseen === undefined ? {} : { unseen }),
      ...(path === undefined ? {} : { path }),
      fingerprint,
    }
  } finally {
    sweep()
  }
}

/** What other answers change. */
interface Trial extends Search {
  readonly all: readonly Reading[]
  /** What differs with all answers as noted. */
  readonly unsteady: FingerprintDifference | undefined
}

async function tryAll(
  noted: Fingerprint,
  again: () => Promise<Fingerprint>,
  asked: () => readonly Reading[],
): Promise<Trial> {
  const steady = await probing('serve', [], again)
  const unstable = changedLabels(noted, steady)
  const all = asked()
  const vary = async (variations: readonly Variation[]): Promise<FingerprintDifference | undefined> => {
    const varied = await probing('serve', variations, again)
    if (isAddressGone(variations, all) && isError(varied) && !isError(steady)) return undefined
    return firstChange(steady, varied, new Set([...unstable, ...handedOn(variations, all, varied)]))
  }
  return { all, unsteady: firstChange(noted, steady), ...(await search(all, vary)) }
}

function holds({ problems, drift, comparison }: ReplayResult): boolean {
  return problems.length === 0 && drift.length === 0 && comparison.outcomeEqual !== false
}

function thrownBy({ tape, outcome, redactedOutcome: said }: ReplayResult): string | undefined {
  if (outcome.status !== 'threw' || tape.close?.outcome.status === 'threw') return undefined
  const message = textAt(said, 'message')
  // What follows are facts of ours, line by line.
  return message === undefined
    ? JSON.stringify(said)
    : `${textAt(said, 'name') ?? 'Error'}: ${message.split('\n', 1)[0]}`
}

function isMissing({ kind, path }: Reading): boolean {
  return ['file', 'directory', 'file times'].includes(kind) && path !== undefined && !existsSync(path)
}

/** The first part that names the folder of the project: `import.meta.url` and the like are no calls the probe could hear. */
function placeOf(fingerprint: Fingerprint): FingerprintPart | undefined {
  const folder = process.cwd()
  return folder.length < 4 ? undefined : fingerprint.find(({ text }) => text.includes(folder))
}

/** Without its address a request can go nowhere, and what an agent then throws says nothing: where it goes is no part of a run. */
function isAddressGone(variations: readonly Variation[], all: readonly Reading[]): boolean {
  return variations.every(({ key, way }) => {
    const reading = all.find((one) => one.key === key)
    return way === unset && reading !== undefined && isAddress(reading.kind, reading.name, reading.isAddress)
  })
}

/** A variable of the environment that a child gets as this machine has it: a replay takes every value of it. */
function handedOn(variations: readonly Variation[], all: readonly Reading[], run: Fingerprint): readonly string[] {
  const names = all.filter(({ key }) => variations.some((one) => one.key === key)).map(({ name }) => name)
  const labels = names.flatMap((name) => (name.startsWith('process.env.') ? [`header env.${name.slice(12)} of `] : []))
  return run.map(({ label }) => label).filter((label) => labels.some((start) => label.startsWith(start)))
}

type Vary = (variations: readonly Variation[]) => Promise<FingerprintDifference | undefined>

/** What was found before all was varied, or a run with nothing varied was another one than before. */
interface Search {
  readonly found: readonly Found[]
  /** In what the process is no longer as it was. */
  readonly left: FingerprintDifference | undefined
  /** What was not varied for that reason. */
  readonly notVaried: readonly Reading[]
}

/**
 * The user's own reads one by one; those of packages, which are many and mostly harmless, by halves. Another answer may change
 * the process for good, as a built-in that is replaced: what stands behind it is not compared with a run that it cannot do again.
 */
async function search(all: readonly Reading[], vary: Vary): Promise<Search> {
  const found: Found[] = []
  const varied = new Set<Reading>()
  let left = undefined as FingerprintDifference | undefined
  const changes = async (group: readonly OpenReading[]): Promise<FingerprintDifference | undefined> => {
    const change = await vary(group.map(({ reading, way }) => ({ key: reading.key, way })))
    if (change !== undefined) left = await vary([])
    return change
  }
  const own = all.filter(({ via }) => via === undefined)
  for (const reading of own) {
    for (const way of reading.ways) {
      const change = await changes([{ reading, way }])
      if (change === undefined) continue
      found.push({ reading, way, change })
      break
    }
    varied.add(reading)
    if (left !== undefined) break
  }
  const others = all
    .filter(({ via }) => via !== undefined)
    .map((reading) => ({ reading, ways: reading.ways.filter((way) => !way.startsWith(supposed)) }))
  const deepest = Math.max(0, ...others.map(({ ways }) => ways.length))
  for (let i = 0; i < deepest && left === undefined; i++) {
    const open = others.flatMap(({ reading, ways }) => {
      const way = ways[i]
      return way === undefined || found.some((one) => one.reading === reading) ? [] : [{ reading, way }]
    })
    await byHalves(open)
  }
  if (left === undefined) for (const { reading } of others) varied.add(reading)
  return { found, left, notVaried: left === undefined ? [] : all.filter((one) => !varied.has(one)) }

  async function byHalves(group: readonly OpenReading[]): Promise<void> {
    if (group.length === 0 || left !== undefined) return
    const change = await changes(group)
    if (change === undefined) return
    const [one] = group
    if (group.length > 1 || one === undefined) {
      const middle = Math.ceil(group.length / 2)
      await byHalves(group.slice(0, middle))
      return byHalves(group.slice(middle))
    }
    found.push({ ...one, change })
    varied.add(one.reading)
  }
}

interface OpenReading {
  readonly reading: Reading
  readonly way: string
}

function changedLabels(a: Fingerprint, b: Fingerprint): ReadonlySet<string> {
  const textOf = (all: Fingerprint) => new Map(all.map(({ label, text }) => [label, text]))
  const [left, right] = [textOf(a), textOf(b)]
  return new Set([...left.keys(), ...right.keys()].filter((label) => left.get(label) !== right.get(label)))
}
