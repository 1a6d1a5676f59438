// Over 300 lines: one session: its moves share where the agent stands.
import { HarvestError } from '../../errors/index.ts'
import type { DebugStep } from '../steps.ts'
import { inReplay, wayTo, type WayToStep } from '../way.ts'
import type { ChildResult, AskedOtherwise } from '../child/messages.ts'
import { Checkpoints } from './checkpoints.ts'
import { type Arrival, defaultLimitMs, DebugChild, type Launch, type Unwatched } from './child.ts'
import type { CodePlace } from './sources.ts'
import type { Paused, PausedFrame, UserFrame } from './types.ts'
import { type Evaluated, evaluateIn, type LocalVariable, localsOf } from './values.ts'

/** A move inside code. */
export type CodeMove = 'next' | 'step' | 'finish'

/**
 * How a replay gets to a step. `full`: from the beginning. `auto`: from the nearest replay that is kept, which is the same. `skip`:
 * no further than that one, which is another step.
 */
export const replayModes = ['full', 'skip', 'auto'] as const
export type ReplayMode = (typeof replayModes)[number]

/** How the agent's code is led. */
export interface CodeOptions {
  /** Port of the inspector, for an editor. */
  readonly port?: number
  /** Megabytes for all replays that are kept. Default a quarter of what is free. */
  readonly maxMemoryMb?: number
  /** Milliseconds a process may need to load the agent, and to get to each place it is led to. Default 120,000. */
  readonly limitMs?: number
}

/** Where the agent stands still in its own code. */
export interface CodeStop {
  readonly step: number
  /** Moves since the answer of the step arrived: with the step they are an address. */
  readonly moves: readonly CodeMove[]
  readonly place: CodePlace
  readonly in: string
  readonly callers: readonly (CodePlace & { readonly in: string })[]
  /** Lines around it, with their numbers. */
  readonly source: readonly (readonly [line: number, text: string])[]
  /** The file on the disk is another one than the one that runs. */
  readonly isChanged: boolean
  readonly locals: readonly LocalVariable[]
  /** Steps that were answered too before a statement of the agent ran. */
  readonly since?: readonly number[]
  /** Number of the tool call the step was made inside of: this is where that is answered. */
  readonly inside?: number
  /** So many steps before the one asked for: what happens behind this place was not replayed. */
  readonly skipped?: number
  /** Where this replay first asked otherwise than on the tape: its answers are those to other questions from there on. */
  readonly differs?: AskedOtherwise
  /** Absent where every place of the agent's code was watched that was asked for. */
  readonly unwatched?: Unwatched
  /** The port of an editor, where one was opened. */
  readonly port?: string
}

/** Why no code stands still. */
export interface NoStop {
  readonly step: number
  /** `end`: the run ended and no statement of the agent ran. `unasked`: the replay did not ask for it. */
  readonly why: 'end' | 'unasked'
  /** What differed from the tape before that. */
  readonly problems: readonly string[]
  /** Moves since the answer of the step arrived, the last of which found nothing. Absent where none was made. */
  readonly moves?: readonly CodeMove[]
  /** As in {@link CodeStop}. */
  readonly unwatched?: Unwatched
}

/** Where a replay is led to. */
interface Target {
  /** The step asked for. */
  readonly step: number
  /** That step, or a tool call it was made inside of: a replay may not run the code of a call. */
  readonly of: number
  readonly way: WayToStep
  readonly moves: readonly CodeMove[]
  readonly mode: ReplayMode
}

/** How a stop is looked for. */
interface Approach {
  /** Awaits are followed from the beginning of the replay. */
  readonly tracesAll: boolean
  /** Any code of the agent counts, and not only the functions that asked. */
  readonly isAnywhere: boolean
}

interface Standing {
  readonly child: DebugChild
  readonly paused: Paused
  readonly step: number
  readonly of: number
  readonly moves: readonly CodeMove[]
  readonly since: readonly number[]
  /** `call` ran something: from here on it is another run. */
  isTouched: boolean
}

/** Steps of a run of which every await can be followed without being noticed. */
const shortRun = 300
/** Processes that wait before step 1, so that a stop does not pay for their start. */
const mostSpares = 2
/** Stops on one line that one move passes at most. */
const mostSame = 5

/** The agent's own code, stopped at steps of its tape. Back is another replay. */
export class CodeSession {
  readonly #steps: readonly DebugStep[]
  readonly #launch: Launch
  readonly #spares: Promise<DebugChild>[] = []
  readonly #closing = new AbortController()
  readonly #checkpoints: Checkpoints
  readonly #limitMs: number
  /** Steps whose answers frameworks hand to another function of the agent than the one that asked, such as a tool. */
  readonly #handedOn = new Set<number>()
  #port: number | undefined
  #standing: Standing | undefined
  #isClosed = false

  constructor(steps: readonly DebugStep[], launch: Launch, options: CodeOptions = {}) {
    this.#steps = steps
    this.#launch = launch
    this.#port = options.port
    this.#limitMs = options.limitMs ?? defaultLimitMs
    this.#checkpoints = new Checkpoints(
      { start: () => this.#start(), wayTo: (step) => wayTo(steps, step) },
      options.maxMemoryMb,
    )
  }

  /** Starts processes that wait, up to `count`. */
  prepare(count = 1): void {
    while (this.#spares.length < Math.min(count, mostSpares) && !this.#isClosed) {
      const spare = this.#start()
      // What keeps it from starting is thrown where it is used.
      spare.catch(() => {})
      this.#spares.push(spare)
    }
  }

  /** Settles when the processes that wait have loaded the agent. */
  async prepared(): Promise<void> {
    await Promise.all(this.#spares)
  }

  #start(): Promise<DebugChild> {
    return DebugChild.start(this.#launch, { limitMs: this.#limitMs, signal: this.#closing.signal })
  }

  get isStanding(): boolean {
    return this.#standing !== undefined
  }

  get isTouched(): boolean {
    return this.#standing?.isTouched === true
  }

  /** Steps at which a replay is kept, ascending. */
  get checkpoints(): readonly number[] {
    return this.#checkpoints.steps
  }

  /** Settles when the replays are kept that are worth it. */
  async checkpointed(): Promise<void> {
    await this.#checkpoints.fillAround(this.#standing?.step ?? 1)
  }

  /** Stops where the answer of a step arrives; then makes these moves. */
  async enter(step: number, moves: readonly CodeMove[] = [], mode: ReplayMode = 'auto'): Promise<CodeStop | NoStop> {
    if (mode === 'skip') return this.#skipTo(step)
    let came = await this.#enter({ step, of: step, moves, mode })
    for (let of: number | undefined = step; 'why' in came && came.why === 'unasked' && of !== undefined; ) {
      of = this.#steps[of - 1]?.inside
      if (of !== undefined) came = await this.#enter({ step, of, moves, mode })
    }
    return came
  }

  /** Stops at the nearest checkpoint before a step, and replays nothing behind it. */
  async #skipTo(step: number): Promise<CodeStop | NoStop> {
    const at = this.#checkpoints.steps.findLast((one) => one <= step)
    if (at === undefined)
      throw wrong(`no replay is kept before step ${step}: there is nothing to skip to`, ['code full'])
    const came = await this.#enter({ step: at, of: at, moves: [], mode: 'auto' })
    return 'why' in came || at === step ? came : { ...came, skipped: step - at }
  }

  async #enter(to: Omit<Target, 'way'>): Promise<CodeStop | NoStop> {
    const way = wayTo(this.#steps, to.of)
    if (way === undefined) throw noAnswer(to.of)
    const target = { ...to, way }
    const isShort = this.#steps.length <= shortRun
    const anywhere = { tracesAll: isShort, isAnywhere: true }
    if (this.#handedOn.has(to.of)) return this.#try(target, anywhere)
    let came = await this.#try(target, { tracesAll: isShort, isAnywhere: false })
    if (this.#isLost(came) && !isShort) came = await this.#try(target, { tracesAll: true, isAnywhere: false })
    if (!this.#isLost(came)) return came
    came = await this.#try(target, anywhere)
    if (!('why' in came)) this.#handedOn.add(to.of)
    return came
  }

  #isLost(came: CodeStop | NoStop): came is NoStop {
    return 'why' in came && came.why !== 'unasked' && came.problems.length === 0
  }

  async #try(to: Target, how: Approach): Promise<CodeStop | NoStop> {
    this.leave()
    if (this.#isClosed) throw wrong('the debugger has ended', [])
    const kept = to.mode === 'full' || how.tracesAll ? undefined : this.#checkpoints.take(to.of)
    if (kept === undefined) this.prepare()
    const child = kept?.child ?? ((await this.#spares.shift()) as DebugChild)
    try {
      const came = await this.#come(child, to, { ...how, keptAt: kept?.place })
      if ('why' in came) {
        this.leave()
        child.close()
      }
      this.prepare()
      // Nothing waits for it: what keeps a process from starting is thrown where one is needed.
      if (!('why' in came) && !how.tracesAll) this.#checkpoints.fillAround(to.of).catch(() => {})
      return came
    } catch (error) {
      this.leave()
      child.close()
      throw error
    }
  }

  async #come(
    child: DebugChild,
    { step, of, way, moves }: Target,
    how: Approach & { readonly keptAt: number | undefined },
  ): Promise<CodeStop | NoStop> {
    if (how.tracesAll) await child.traceAwaits()
    if (way.park !== undefined && way.park !== how.keptAt) {
      const begin = performance.now()
      const parked = await child.park(way.park)
      if ('done' in parked) return noStop(step, parked, child)
      if (how.keptAt === undefined) this.#checkpoints.took(performance.now() - begin, of)
    }
    if (this.#port !== undefined) await child.openPort(this.#port)
    if (!how.tracesAll) await child.traceAwaits()
    const { arrival, isAsked, until } = await child.stopAt(way, how.isAnywhere)
    if (!isAsked && 'held' in arrival) return { step, why: 'unasked', problems: [] }
    if (!('paused' in arrival)) return noStop(step, arrival, child)
    await child.skipPackages()
    this.#standing = {
      child,
      paused: arrival.paused,
      step,
      of,
      moves: [],
      since: this.#since(way, until),
      isTouched: false,
    }
    // It may end where it stands: `call process.exit()`.
    void child.channel.closed.then(() => {
      if (this.#standing?.child === child) this.#standing = undefined
    })
    for (const move of moves) {
      const moved = await this.#move(move)
      if (moved !== undefined) return moved
    }
    return this.#stop()
  }

  /** One move on. */
  async move(move: CodeMove): Promise<CodeStop | NoStop> {
    const { step, moves, isTouched } = this.#required()
    // What `call` changed is no part of the recorded run: the same address in another replay, then the move.
    if (isTouched) return this.enter(step, [...moves, move])
    return (await this.#move(move)) ?? this.#stop()
  }

  /** The same address with one move less; without such a move, the same place one step before. */
  async back(): Promise<CodeStop | NoStop> {
    const { step, moves } = this.#required()
    if (moves.length > 0) return this.enter(step, moves.slice(0, -1))
    if (step === 1) throw wrong('this is where the first answer arrives', ['next'])
    return this.enter(step - 1)
  }

  /** Where the agent stands, once more. */
  here(): Promise<CodeStop> {
    this.#required()
    return this.#stop()
  }

  /** Lines of the file around the place, so many each way. */
  async source(around: number): Promise<CodeStop['source']> {
    const standing = this.#required()
    const { location } = this.#frame(standing)
    const { line } = standing.child.sources.placeOf(location)
    const { lines } = await standing.child.sources.textOf(location)
    const from = Math.max(1, line - around)
    return lines.slice(from - 1, line + around).map((text, index) => [from + index, text] as const)
  }

  /** Evaluates in the frame. Without `mayChange` nothing is changed and no recorded read is consumed. */
  async evaluate(expression: string, mayChange = false): Promise<Evaluated> {
    const standing = this.#required()
    if (mayChange) standing.isTouched = true
    return evaluateIn(standing.child.channel, this.#frame(standing), expression, mayChange, this.#limitMs)
  }

  /** Lets the replay go on to its end, and tells how it ended. */
  async runToEnd(): Promise<ChildResult> {
    const { child } = this.#required()
    const end = await child.resumeUntilPaused('Debugger.resume')
    this.leave()
    if (!('done' in end)) throw wrong('the agent stands still once more', ['code'])
    return end.done
  }

  /** Ends the process that stands still. */
  leave(): void {
    this.#standing?.child.close()
    this.#standing = undefined
  }

  /** Ends all processes. */
  close(): void {
    this.#isClosed = true
    this.leave()
    this.#closing.abort()
    this.#checkpoints.close()
    for (const spare of this.#spares.splice(0)) spare.then((child) => child.close()).catch(() => {})
  }

  async #move(move: CodeMove): Promise<NoStop | undefined> {
    const standing = this.#required()
    const { child, step, of, since } = standing
    const moves = [...standing.moves, move]
    const arrival = await this.#moved(move, standing).catch((error: unknown) => {
      // It can be led no further.
      this.leave()
      throw error
    })
    if (!('paused' in arrival)) {
      this.leave()
      return { ...noStop(step, arrival, child), moves }
    }
    this.#standing = { child, paused: arrival.paused, step, of, moves, since, isTouched: false }
    return undefined
  }

  async #moved(move: CodeMove, standing: Standing): Promise<Arrival> {
    if (move === 'finish') return this.#finish(standing)
    const { child, paused } = standing
    let arrival = await child.resumeUntilPaused(methods[move])
    const line = this.#lineOf(child, paused)
    // A line holds several places to stop: a move goes on to another line.
    for (
      let same = 0;
      move === 'next' && same < mostSame && 'paused' in arrival && this.#lineOf(child, arrival.paused) === line;
      same++
    )
      arrival = await child.resumeUntilPaused(methods.next)
    return 'paused' in arrival && !child.isInUserCode(arrival.paused) ? child.runOn() : arrival
  }

  /** V8 has no caller of an async function that waits: its next statement is stopped at instead. */
  async #finish({ child, paused }: Standing): Promise<Arrival> {
    const [top] = paused.callFrames
    const isOwn = top === undefined ? undefined : await child.functionOf(top)
    const caller = child.userFrames(paused).find((frame) => isOwn?.(frame) === false)
    return caller === undefined ? child.runOn(isOwn) : child.runInto(caller)
  }

  /** Steps answered behind the burst, up to this place. */
  #since({ fence }: WayToStep, until: number | undefined): readonly number[] {
    if (fence === undefined || until === undefined) return []
    return this.#steps.flatMap((step) => {
      const place = inReplay(step)?.[0]
      return place !== undefined && place >= fence && place <= until ? [step.number] : []
    })
  }

  /** The line of the innermost frame, and how deep it is. */
  #lineOf({ sources }: DebugChild, { callFrames }: Paused): string {
    const [top] = callFrames
    return top === undefined
      ? ''
      : `${callFrames.length} ${top.functionName} ${sources.urlOf(top.location.scriptId)}:${top.location.lineNumber}`
  }

  async #stop(): Promise<CodeStop> {
    const standing = this.#required()
    const { child, paused, step, of, moves, since } = standing
    const frame = this.#frame(standing)
    const place = child.sources.placeOf(frame.location)
    const text = await child.sources.textOf(frame.location)
    const from = Math.max(1, place.line - 1)
    return {
      step,
      moves,
      place,
      in: frame.functionName === '' ? '(anonymous)' : frame.functionName,
      callers: this.#callers(child, paused),
      source: text.lines.slice(from - 1, place.line + 1).map((line, index) => [from + index, line] as const),
      isChanged: text.isChanged,
      locals: await localsOf(child.channel, frame),
      ...(since.length === 0 || moves.length > 0 ? {} : { since }),
      ...(of === step ? {} : { inside: of }),
      ...(child.differs === undefined ? {} : { differs: child.differs }),
      ...(child.unwatched === undefined ? {} : { unwatched: child.unwatched }),
      ...(child.port === undefined ? {} : { port: child.port }),
    }
  }

  #callers(child: DebugChild, paused: Paused): CodeStop['callers'] {
    const [, ...callers] = child.userFrames(paused)
    return callers.map((frame: UserFrame) => ({
      ...child.sources.placeOf(frame),
      in: frame.functionName === '' ? '(anonymous)' : frame.functionName,
    }))
  }

  /** The innermost frame of the agent's code. */
  #frame({ child, paused }: Standing): PausedFrame {
    const own = paused.callFrames.find(({ location }) => child.isUserCode(child.sources.urlOf(location.scriptId)))
    const frame = own ?? paused.callFrames[0]
    if (frame === undefined) throw new TypeError('a process stands still without a frame')
    return frame
  }

  #required(): Standing {
    if (this.#standing === undefined) throw wrong('the agent does not stand in its code', ['code'])
    return this.#standing
  }
}

const methods = { next: 'Debugger.stepOver', step: 'Debugger.stepInto' } as const

function noStop(
  step: number,
  arrival: Exclude<Arrival, { readonly paused: Paused }>,
  { unwatched }: DebugChild,
): NoStop {
  const beside = unwatched === undefined ? {} : { unwatched }
  return { step, why: 'end', problems: 'held' in arrival ? [] : arrival.done.problems, ...beside }
}

function noAnswer(step: number): HarvestError {
  return wrong(`no answer to step ${step} was recorded, so no code went on with one`, ['back'])
}

function wrong(what: string, fix: readonly string[]): HarvestError {
  return new HarvestError('HARVEST_DEBUG_CODE', { what, fix: [...fix] })
}
