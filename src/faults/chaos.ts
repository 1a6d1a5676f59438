// Over 300 lines: one search, from its schedules to its report, and what is wrong with how it was asked for.
import { accessOf } from '../fork/access.ts'
import fc from 'fast-check'
import { HarvestError, neutralLine, shellWord } from '../errors/index.ts'
import { checkOption, invalidOption, oneOf, type OptionsOf } from '../errors/options.ts'
import { toUpdate } from '../errors/usual-steps.ts'
import {
  type Control,
  controlOf,
  type ControlOptions,
  forkTape,
  type ForkPlan,
  type ForkResult,
  requireNoKeptState,
} from '../fork/index.ts'
import { installReplay, standInKeys } from '../replay/index.ts'
import { seamState } from '../seam/source.ts'
import { type Json, readTape, stepsOf, type Tape } from '../tape/index.ts'
import { requireClosed } from '../tape/closed.ts'
import { applyFaults, runChangesOf } from './apply.ts'
import type { ChaosAgent, ChaosFailure, ChaosOptions, ChaosReport } from './chaos-types.ts'
import { type RunEnding, endingOf, defaultFailures, failureClasses } from './ending.ts'
import { defaultFaults, kindsNamed } from './kinds.ts'
import { defaultNoise, failsMostly } from './noisy.ts'
import { faultSchedule, possibleFaults } from './schedule.ts'
import type { FaultSchedule } from './types.ts'

/**
 * Runs an agent many times with faults drawn at random, offline, and shrinks a failure to the faults that it needs.
 *
 * The tape answers as recorded but for the faults; time is virtual, so that retries and time limits cost none. An agent
 * that asks for what was not recorded leaves its tape: such a run says nothing, and is counted apart.
 *
 * @param tape - a tape, or the path of one
 * @throws HarvestError `HARVEST_CONTROL` when the agent leaves its tape without any fault, `HARVEST_CHAOS_CONTROL` when it does
 * not end as expected then, `HARVEST_CHAOS_NO_FAULT_APPLIES`
 * when none of the faults can happen to this run, `HARVEST_CHAOS_OPTION`, `HARVEST_FAULT_KIND`
 */
export async function chaos<T>(tape: Tape | string, options: ChaosOptions<T>): Promise<ChaosReport> {
  const whole = requireClosed(typeof tape === 'string' ? readTape(tape) : tape)
  const search = new Search(whole, options)
  // Before the agent is loaded: some clients take hold of `fetch`, or look for their key, while they are.
  await installReplay()
  const takeBack = standInKeys(whole)
  try {
    await search.control()
    return await look(search, options)
  } finally {
    takeBack()
  }
}

async function look<T>(search: Search<T>, options: ChaosOptions<T>): Promise<ChaosReport> {
  const { examples, runs, path, timeMs } = options
  const { seed } = search
  const property = fc.asyncProperty(search.schedules, (schedule) => search.survives(schedule))
  const asked = {
    ...(examples === undefined ? {} : { examples: examples.map((one) => [one] as [FaultSchedule]) }),
    ...(runs === undefined ? {} : { numRuns: runs }),
    seed,
    ...(path === undefined ? {} : { path, endOnFailure: true }),
    ...(timeMs === undefined ? {} : { interruptAfterTimeLimit: timeMs }),
  }
  if (path !== undefined) requirePath(search.schedules, path, asked)
  const details = await fc.check(property, asked)
  if (search.broken !== undefined) throw search.broken.error
  await search.requireNoKeptState()
  await search.requireCause()
  const ended = details.interrupted ? 'time' : search.isStopped ? 'given up' : 'whole'
  return search.report({ path: details.counterexamplePath ?? undefined, ended })
}

/**
 * A path leads through the schedules of one seed and one choice of faults: the schedule drawn there, then which of the simpler
 * ones below it, and so on. Where it leads to none, fast-check would run none and say nothing.
 */
function requirePath(
  schedules: fc.Arbitrary<FaultSchedule>,
  path: string,
  asked: fc.Parameters<[FaultSchedule]>,
): void {
  const isSound = /^\d+(:\d+)*$/.test(path)
  const [first = '', ...rest] = isSound ? path.split(':') : []
  // As the property of the search holds them, so that the same are drawn.
  const drawn = fc.tuple(schedules)
  // Each schedule before it is drawn, which only a search of so many runs makes worth while.
  const most = Math.max(asked.numRuns ?? 0, mostDrawn)
  if (Number(first) >= most) throw noPath(path, `0 to ${most - 1}`)
  let walked = first
  for (const part of rest) {
    const { length } = fc.sample(drawn, { ...asked, path: `${walked}:0`, numRuns: Number(part) + 1 })
    if (length <= Number(part))
      throw noPath(path, length === 0 ? `none below ${walked}` : `${walked}:0 to ${walked}:${length - 1}`)
    walked += `:${part}`
  }
  if (!isSound) throw noPath(path, 'numbers between colons, such as 0:1')
}

/** So many schedules are drawn in about a second. */
const mostDrawn = 100_000

function noPath(path: string, there: string): HarvestError {
  return new HarvestError('HARVEST_CHAOS_OPTION', {
    what: 'No schedule of faults has this path',
    where: { path: neutralLine(path, 120), 'there are': neutralLine(there, 120) },
    why: 'A path is that of a failure: it counts beside the same seed, faults and tape.',
    fix: ['to try other schedules: the same command, without --path'],
  })
}

/** Why no further schedule was tried: all were or one failed, the time was up, or someone gave up. */
type Ended = 'whole' | 'time' | 'given up'

/** Schedules that fast-check tries by default. */
const usualRuns = 100

interface Run {
  readonly ending: RunEnding | { readonly class: 'judged'; readonly said: string }
  readonly isFailure: boolean
  /** Steps it asked for: faults of steps behind these did not happen. */
  readonly reached: number
}

const chaosOptions: OptionsOf = { owner: 'chaos', code: 'HARVEST_CHAOS_OPTION' }

/** One search for a schedule that the agent does not survive. */
class Search<T> {
  readonly schedules: fc.Arbitrary<FaultSchedule>
  /** Without one of the caller, one that is drawn before the search: what is known in its middle names it. */
  readonly seed: number
  readonly #tape: Tape
  readonly #options: ChaosOptions<T>
  readonly #fail: ReadonlySet<string>
  /** By their JSON: offline the same faults do the same. */
  readonly #known = new Map<string, Run>()
  readonly #tried = new Map<string, number>()
  readonly #endings = new Map<string, number>()
  /** Kinds of faults of which a run was judged. */
  readonly #judged = new Set<string>()
  /** The shortest schedule that left the tape. */
  #left: FaultSchedule | undefined
  /** Schedules until one failed, and among them distinct ones. */
  #drawn = 0
  #schedules = 0
  #runs = 0
  #first: FaultSchedule | undefined
  #last: { readonly schedule: FaultSchedule; readonly run: Run } | undefined
  #shrinkRuns = 0
  #control: Control | undefined
  #unseenEnd: Json | undefined
  #keepsPrefix = true
  /** Something that is wrong with us or with the caller's own functions, and no failure of the agent. */
  broken: { readonly error: unknown } | undefined

  constructor(tape: Tape, options: ChaosOptions<T>) {
    this.#tape = tape
    this.#options = options
    this.seed = options.seed ?? Math.floor(Math.random() * 2 ** 31)
    this.#fail = new Set(options.fail ?? defaultFailures)
    for (const one of this.#fail) checkOption(chaosOptions, 'fail', one, oneOf(failureClasses))
    if (options.path !== undefined && options.seed === undefined)
      throw invalidOption(chaosOptions, 'path', options.path, 'a path beside its seed')
    this.schedules = this.#arbitrary()
  }

  /** What was asked for by name. */
  get #words(): readonly string[] {
    const { faults } = this.#options
    return Array.isArray(faults) ? (faults as readonly string[]) : []
  }

  #arbitrary(): fc.Arbitrary<FaultSchedule> {
    const { faults = defaultFaults, smallest = false, variants = {} } = this.#options
    if (!Array.isArray(faults)) return faults as fc.Arbitrary<FaultSchedule>
    const words = faults as readonly string[]
    const names = Object.keys(variants)
    if (possibleFaults(this.#tape, kindsNamed(words), names).length === 0) throw nothing(this.#tape, words)
    return faultSchedule(this.#tape, { faults: words, smallest, variants: names })
  }

  /** Without faults the agent has to hold. Where it asks other than byte for byte, no step is kept. */
  async control(): Promise<void> {
    const load = (): Promise<ChaosAgent<T>> => {
      this.#runs++
      return this.#agent(undefined)
    }
    this.#control = await controlOf(this.#tape, this.#replaying(load))
    const kept = await this.#fork([], stepsOf(this.#tape).length)
    // How an import ended may not have been seen: then its unchanged run says it.
    if (this.#tape.close?.outcome.status === 'unknown' && kept.outcome.status === 'returned')
      this.#unseenEnd = kept.redactedOutcome
    if (kept.prefix.isExact && this.#endingOf(kept, []).class === 'survived') return
    this.#keepsPrefix = false
    const free = await this.#fork([], 0)
    const ending = this.#endingOf(free, [])
    if (ending.class !== 'survived') throw doesNotHold(this.#tape, ending, this.#options.control?.caseId)
  }

  /** An agent that is not loaded afresh for every run has a state that its caller knows. */
  async requireNoKeptState(): Promise<void> {
    const { load } = this.#options
    if (this.#control !== undefined && load !== undefined)
      await requireNoKeptState(
        this.#tape,
        this.#control,
        this.#replaying(() => load(undefined)),
      )
  }

  #replaying(load: () => Promise<ChaosAgent<T>>): ControlOptions {
    const { control, signal, hangMs = 1_000, timeoutMs = 10_000 } = this.#options
    return {
      ...control,
      replay: { ...accessOf(this.#options), ...control?.replay },
      load: load as ControlOptions['load'],
      hangMs,
      timeoutMs,
      ...(signal === undefined ? {} : { signal }),
    }
  }

  /**
   * Offline the same faults do the same: a failure is that of its faults where it comes back with them and goes away without
   * them. What of the machine no tape holds, such as `process.hrtime`, may decide instead.
   *
   * @throws HarvestError `HARVEST_CONTROL`
   */
  async requireCause(): Promise<void> {
    const { tail, noisy = false } = this.#options
    if (this.#last === undefined || this.isStopped) return
    const { schedule, run } = this.#last
    const isLive = tail !== undefined && tail.from !== 'tape'
    if (schedule.length === 0) throw noCause(this.#tape, run, 'without faults')
    // A model that is asked for real may answer otherwise, and costs money.
    if (isLive) return
    for (let time = 0; time < (noisy === false ? timesAgain : 1); time++) {
      const without = await this.#run([], this.#keepOf(schedule))
      const again = await this.#run(schedule)
      // Who gave up hears what is known.
      if (this.isStopped) return
      if (without.isFailure) throw noCause(this.#tape, without, 'without faults')
      if (!again.isFailure) throw noCause(this.#tape, again, 'with the same faults')
    }
  }

  get isStopped(): boolean {
    return this.#options.signal?.aborted === true
  }

  async survives(schedule: FaultSchedule): Promise<boolean> {
    if (this.broken !== undefined || this.isStopped) return true
    try {
      const key = JSON.stringify(schedule)
      const known = this.#known.get(key)
      const run = known ?? (await this.#run(schedule))
      this.#known.set(key, run)
      this.#count(schedule, run, known === undefined)
      return !run.isFailure
    } catch (error) {
      this.broken = { error }
      return true
    }
  }

  #count(schedule: FaultSchedule, run: Run, isNew: boolean): void {
    if (this.#first === undefined) this.#drawn++
    if (this.#first !== undefined) this.#shrinkRuns++
    else if (isNew) {
      this.#schedules++
      const kinds = new Set(schedule.map((fault) => fault.kind))
      for (const kind of kinds) add(this.#tried, kind)
      add(this.#endings, run.ending.class)
      const happened = schedule.filter(({ step }) => step <= run.reached)
      if (run.ending.class !== 'off-tape') for (const { kind } of happened) this.#judged.add(kind)
      else if (this.#left === undefined || schedule.length < this.#left.length) this.#left = schedule
    }
    if (run.isFailure) {
      this.#first ??= schedule
      this.#last = { schedule, run }
    }
    const failing = this.#last?.schedule.length
    const known = this.report({ path: undefined, ended: 'given up' })
    this.#options.onRun?.({ runs: this.#runs, ...(failing === undefined ? {} : { failing }), known })
  }

  /** Steps before the first fault answer as recorded. */
  #keepOf(schedule: FaultSchedule): number {
    const first = Math.min(...schedule.map(({ step }) => step))
    return this.#keepsPrefix && Number.isFinite(first) ? Math.max(0, first - 1) : 0
  }

  async #run(schedule: FaultSchedule, keep = this.#keepOf(schedule)): Promise<Run> {
    const { noisy = false } = this.#options
    if (noisy === false) return this.#once(schedule, keep, 0)
    const runs = new Map<boolean, Run>()
    const once = async (n: number): Promise<boolean> => {
      const run = await this.#once(schedule, keep, n)
      runs.set(run.isFailure, run)
      return run.isFailure
    }
    const isFailure = await failsMostly(once, noisy === true ? defaultNoise : noisy)
    const { ending, reached } = runs.get(isFailure) ?? {
      ending: { class: 'survived' as const, said: 'mostly survives' },
      reached: 0,
    }
    return { ending, isFailure, reached }
  }

  async #once(schedule: FaultSchedule, keep: number, n: number): Promise<Run> {
    const result = await this.#fork(schedule, keep, n)
    const reached = stepsOf(result).length
    const { judge } = this.#options
    if (judge !== undefined) {
      const said = await judge(result, schedule)
      const ending = said === undefined ? this.#endingOf(result, schedule) : { class: 'judged' as const, said }
      return { ending, isFailure: said !== undefined, reached }
    }
    const ending = this.#endingOf(result, schedule)
    return { ending, isFailure: this.#fail.has(ending.class), reached }
  }

  #endingOf(run: ForkResult<T>, schedule: FaultSchedule): RunEnding {
    const { expected = this.#unseenEnd, reads } = this.#options
    return endingOf(run, schedule, {
      ...(this.#control === undefined ? {} : { unchanged: this.#control.run }),
      ...(expected === undefined ? {} : { expected }),
      ...(reads === undefined ? {} : { reads }),
    })
  }

  async #fork(schedule: FaultSchedule, keep: number, n = 0): Promise<ForkResult<T>> {
    const tape = this.#tape
    const { tail, hangMs = 1_000, timeoutMs = 10_000, signal } = this.#options
    const { clockOffsetMs, variant } = runChangesOf(tape, schedule)
    const agent = await this.#agent(variant)
    const plan: ForkPlan = {
      keep,
      changes: applyFaults(tape, schedule),
      // The control carries today's wording: what is asked otherwise now was changed by a fault, and has no answer.
      tail: tail ?? { from: 'tape' },
      ...(this.#control === undefined ? {} : { control: this.#control }),
      ...(n === 0 ? {} : { seed: String(n) }),
      ...(clockOffsetMs === undefined ? {} : { clockOffsetMs }),
    }
    const limit = new AbortController()
    const { setTimeout, clearTimeout } = seamState().natives
    const timer = setTimeout(() => limit.abort(new Error(`no answer within ${timeoutMs} ms`)), timeoutMs)
    this.#runs++
    try {
      const signals = signal === undefined ? limit.signal : AbortSignal.any([limit.signal, signal])
      const called = agent as (input: unknown) => T | PromiseLike<T>
      return await forkTape(tape, called, plan, { signal: signals, hangMs, ...accessOf(this.#options) })
    } finally {
      clearTimeout(timer)
    }
  }

  async #agent(variant: string | undefined): Promise<ChaosAgent<T>> {
    const { agent, variants = {}, load } = this.#options
    const found = await (load?.(variant) ?? (variant === undefined ? agent : variants[variant]))
    if (found === undefined) {
      const name = variant === undefined ? 'agent' : `variants.${variant}`
      throw invalidOption(chaosOptions, name, found, 'a function, here or from `load`')
    }
    return found
  }

  /** @param path - that of the failure; `undefined` where it is not known, or there was none */
  report({ path, ended }: { readonly path: string | undefined; readonly ended: Ended }): ChaosReport {
    const kinds = [...this.#tried.keys()]
    const unjudged = kinds.filter((kind) => !this.#judged.has(kind))
    const isKnown = kinds.length > 0 && unjudged.length === 0 && ended !== 'given up'
    const interrupted = { made: this.#drawn, of: this.#options.runs ?? fc.readConfigureGlobal().numRuns ?? usualRuns }
    const failure = this.#last === undefined ? undefined : this.#failure(this.#last)
    const { digest = '', differs } = this.#control ?? {}
    return {
      survived: failure === undefined ? (isKnown ? true : null) : false,
      seed: this.seed,
      ...(path === undefined ? {} : { path }),
      schedules: this.#schedules,
      runs: this.#runs,
      tried: Object.fromEntries(this.#tried),
      endings: Object.fromEntries(this.#endings),
      unjudged,
      untried: this.#words.filter((word) => kindsNamed([word]).every(({ name }) => !this.#tried.has(name))),
      ...(this.#left === undefined ? {} : { offTape: this.#left }),
      ...(failure === undefined ? {} : { failure }),
      control: { digest, ...(differs === undefined ? {} : { differs }) },
      ...(ended === 'whole' ? {} : { interrupted }),
    }
  }

  #failure({ schedule, run }: { readonly schedule: FaultSchedule; readonly run: Run }): ChaosFailure {
    const { class: name, said } = run.ending
    return {
      schedule,
      class: name === 'survived' ? 'judged' : name,
      said,
      isMinimal: this.#isMinimal(schedule),
      drawn: this.#first?.length ?? schedule.length,
      shrinkRuns: this.#shrinkRuns,
    }
  }

  /** Said of what was tried, not of what the shrinker should have tried: it may have been stopped, or be another one. */
  #isMinimal(schedule: FaultSchedule): boolean {
    return schedule.every((_, i) => {
      const without = schedule.toSpliced(i, 1)
      // Without any fault the agent holds: that was looked at first.
      return without.length === 0 || this.#known.get(JSON.stringify(without))?.isFailure === false
    })
  }
}

function add(counts: Map<string, number>, name: string): void {
  counts.set(name, (counts.get(name) ?? 0) + 1)
}

/** An agent that is decided by chance half of the time passes for one that its faults decide in 1 of 1000 searches. */
const timesAgain = 5

function noCause(tape: Tape, { ending }: Run, how: 'with the same faults' | 'without faults'): HarvestError {
  const { class: name, said } = ending
  return new HarvestError('HARVEST_CONTROL', {
    what: 'The agent ends otherwise when it is run again, so no fault can be judged',
    where: { tape: tape.header.id, ending: name, agent: said },
    detail: `${how === 'without faults' ? 'Without any fault it fails as well' : 'With the same faults it does not fail again'}, with the recorded answers.`,
    why: 'Something that is not on the tape decides, such as a clock of high resolution or the load of the machine.',
    fix: [`to find what its runs depend on: npx vitest-harvest doctor ${shellWord(tape.header.id)}`],
  })
}

function nothing(tape: Tape, words: readonly string[]): HarvestError {
  return new HarvestError('HARVEST_CHAOS_NO_FAULT_APPLIES', {
    what: 'None of these faults applies to this run',
    where: { tape: tape.header.id, faults: words.join(', '), steps: `${stepsOf(tape).length}` },
    why: 'HTTP faults need a request, tool faults a wrapped tool, value faults an answer with such a value.',
    fix: [
      'try others: --faults http,tools,values,messages',
      `to see the steps: npx vitest-harvest show ${shellWord(tape.header.id)}`,
    ],
  })
}

function doesNotHold(tape: Tape, { class: name, said }: RunEnding, caseId: string | undefined): HarvestError {
  return new HarvestError('HARVEST_CHAOS_CONTROL', {
    what: 'Control run failed: without faults the agent differs from its tape',
    where: { ...(caseId === undefined ? { tape: tape.header.id } : { case: caseId }), ending: name, agent: said },
    why: 'Faults are measured against a control run that matches the tape.',
    fix: [
      `to see what it does: npx vitest-harvest show ${shellWord(caseId ?? tape.header.id)} --replay`,
      toUpdate('outcome', caseId),
    ],
  })
}
