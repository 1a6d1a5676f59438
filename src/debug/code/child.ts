// Over 300 lines: one protocol, both directions.
import { setTimeout as pause } from 'node:timers/promises'
import { HarvestError } from '../../errors/index.ts'
import type { WayToStep } from '../way.ts'
import { asked } from '../child/hold.ts'
import type { ChildNews, ChildResult, AskedOtherwise } from '../child/messages.ts'
import { type Channel, ended, type InspectorEvent, listenForChild } from './channel.ts'
import { type CodePlace, Sources } from './sources.ts'
import type { Location, Paused, PausedFrame, UserFrame } from './types.ts'

/** Starts the agent's process: it connects to `address` and waits. What it answers ends it. */
export type Launch = (address: string) => {
  readonly stop: () => void
  readonly failed: Promise<never>
  /** Says what kept it from starting in the words of whoever named the agent. */
  readonly explain?: (error: unknown) => unknown
}

/** How a process is led. */
/** The agent's code has more places than were watched: what ran elsewhere was passed. */
export interface Unwatched {
  readonly watched: number
}

interface ChildOptions {
  /** Milliseconds it may need to load the agent, and to get to each place it is led to. Default 120,000. */
  readonly limitMs?: number | undefined
  /** Ends it while it starts. */
  readonly signal?: AbortSignal
}

type Ready = Extract<ChildNews, { readonly ready: object }>['ready']

/** Where a replay is: it stands still in code, it keeps an answer back, or it ended. */
export type Arrival = { readonly paused: Paused } | { readonly held: number } | { readonly done: ChildResult }

/** Frames of the agent's code whose functions may go on with an answer. */
const innermost = 4
/** Places of a function a breakpoint is set at. */
const placesPerFunction = 60
/** Places of all the agent's code a breakpoint is set at, at most. */
const placesAnywhere = 4_000
/** V8 names no more places of one script. */
const placesOfScript = 1_000
/** A process that is ended keeps its port for a moment. */
const [portTries, portPauseMs] = [10, 100]
/** Places before a call that may be of the same function. */
const placesBefore = 200
/** Awaits between a request and the code that waits for it: frameworks put many there. */
const asyncDepth = 200
/** Default of what a process may need to load the agent, and to get to each place it is led to. */
export const defaultLimitMs = 120_000
/** How long the agent may take to say where it runs, once it took too long. */
const lastWordMs = 1_000

/** One replay in a process of its own, which can be led on and never back. */
export class DebugChild {
  readonly channel: Channel
  readonly sources: Sources
  readonly pid: number
  /** Bytes of memory when the agent was loaded. */
  readonly rss: number
  readonly #stop: () => void
  readonly #root: string
  readonly #over: Promise<never>
  readonly #limitMs: number
  /** What came and is not taken yet: where the agent stands still, an answer may be kept back as well. */
  readonly #arrivals: Arrival[] = []
  #wake: (() => void) | undefined
  /** It took too long: where it stands still from now on is only where it ran. */
  #isLate = false
  #result: ChildResult | undefined
  #differs: AskedOtherwise | undefined
  #port: string | undefined
  #unwatched: Unwatched | undefined

  private constructor(
    channel: Channel,
    sources: Sources,
    {
      ready,
      over,
      stop,
      limitMs,
    }: { readonly ready: Ready; readonly over: Promise<never>; readonly stop: () => void; readonly limitMs: number },
  ) {
    this.channel = channel
    this.sources = sources
    this.#limitMs = limitMs
    this.#root = ready.root
    this.pid = ready.pid
    this.rss = ready.rss
    this.#over = over
    this.#stop = stop
    channel.on((message) => {
      if ('done' in message) this.#result = message.done
      if ('differs' in message) this.#differs ??= message.differs
      const arrival = arrivalIn(message)
      if (arrival === undefined || this.#isLate) return
      this.#arrivals.push(arrival)
      this.#wake?.()
    })
  }

  /**
   * Starts a process that has loaded the agent and replays nothing yet, with its inspector attached.
   *
   * @throws HarvestError what kept the agent from being loaded
   */
  static async start(launch: Launch, { limitMs = defaultLimitMs, signal }: ChildOptions = {}): Promise<DebugChild> {
    const { address, connected, close } = await listenForChild()
    if (signal?.aborted === true) {
      close()
      throw ended()
    }
    const { stop, failed, explain } = launch(address)
    const end = (): void => {
      stop()
      close()
    }
    signal?.addEventListener('abort', end, { once: true })
    using limit = timeLimit(limitMs, () => Promise.resolve(late('The agent was not loaded', limitMs)))
    try {
      const channel = await Promise.race([connected, failed, limit.reached])
      // Its last word: what is left of that process has no leader.
      void channel.closed.then(end)
      const over = Promise.race([
        failed,
        newsOf<never>(channel, failureIn),
        channel.closed.then((): never => {
          throw ended()
        }),
      ])
      // Whoever waits for it hears it.
      over.catch(() => {})
      const sources = new Sources(channel)
      // Heard from the first moment: it may come before the inspector has answered.
      const loaded = Promise.all([newsOf(channel, readyIn), channel.cdp('Debugger.enable')])
      const [ready] = await Promise.race([loaded, over, limit.reached])
      const stop = (): void => {
        channel.close()
        end()
      }
      return new DebugChild(channel, sources, { ready, over, stop, limitMs })
    } catch (error) {
      // What was stopped may have started the process that connected, which hears nothing but the end of the channel.
      void connected.then((channel) => channel.close())
      end()
      throw explain?.(error) ?? error
    }
  }

  /** Address of the inspector's port, where one was opened. */
  get port(): string | undefined {
    return this.#port
  }

  /** How the replay ended, when it has. */
  get result(): ChildResult | undefined {
    return this.#result
  }

  /** Where the replay first asked otherwise than on the tape, when it has. */
  get differs(): AskedOtherwise | undefined {
    return this.#differs
  }

  /**
   * Opens the port an editor attaches to.
   *
   * @throws HarvestError when it is taken, by more than the process that stood still before
   */
  async openPort(port: number): Promise<void> {
    for (let tries = 0; tries < portTries; tries++) {
      const opened = this.#wait(newsOf(this.channel, (news) => ('port' in news ? news.port : undefined)))
      this.channel.order({ inspect: port })
      this.#port = (await opened) || undefined
      if (this.#port !== undefined) return
      await pause(portPauseMs)
    }
    throw new HarvestError('HARVEST_DEBUG_CODE', {
      what: `port ${port} is taken: no editor can attach there`,
      fix: ['use another one: --inspect --inspect-port 9230'],
    })
  }

  /** Replays on until the answer with this place in the order of the tape, or a later one, and keeps that back. */
  async park(place: number): Promise<Arrival> {
    return this.#go({ until: place })
  }

  /** Replays to the end. */
  async finish(): Promise<Arrival> {
    return this.#go({})
  }

  /**
   * Follows calls through awaits. From the beginning of a replay it makes a long one three times slower; later on it does not
   * know who waits since before.
   */
  async traceAwaits(): Promise<void> {
    await this.channel.cdp('Debugger.setAsyncCallStackDepth', { maxDepth: asyncDepth })
  }

  /**
   * From before step N was asked for to the first statement of the agent's code that has its answer: of the functions that
   * asked for it, before anything else is answered, or, with `isAnywhere`, of any, however much is answered until it runs.
   *
   * @returns where it stands, or why no statement ran; `until` is the last answer that came by then
   */
  async stopAt(
    way: WayToStep,
    isAnywhere = false,
  ): Promise<{ readonly arrival: Arrival; readonly until?: number; readonly isAsked: boolean }> {
    const { cdp } = this.#inspector
    let asking = await this.#go({ until: way.burst, stop: way.step })
    // A `debugger` statement of the agent's own is passed.
    while ('paused' in asking && !this.#isAsking(asking.paused))
      asking = await this.#after(() => cdp('Debugger.resume'))
    if (!('paused' in asking)) return { arrival: asking, isAsked: false }
    const sites = this.userFrames(asking.paused)
    const breakThere = (): Promise<readonly string[]> => (isAnywhere ? this.#breakAnywhere() : this.#breakIn(sites))
    if (way.isSync === true) {
      const set = await breakThere()
      const arrival = await this.#after(() => cdp('Debugger.resume'))
      await this.#remove(set, arrival)
      return { arrival, isAsked: true }
    }
    const held = await this.#after(() => cdp('Debugger.resume'))
    if (!('held' in held)) return { arrival: held, isAsked: true }
    const set = await breakThere()
    let arrival = await this.#go(way.fence === undefined ? {} : { until: way.fence })
    // Answers of one burst go to the code that waits for them in their order: where mates wait, it is passed once for each.
    for (let left = way.skip; left > 0 && 'paused' in arrival; left--) {
      const hit = new Set(arrival.paused.hitBreakpoints)
      await this.#remove(
        set.filter((id) => !hit.has(id)),
        arrival,
      )
      arrival = await this.#after(() => cdp('Debugger.resume'))
    }
    let until: number | undefined
    while (isAnywhere && 'held' in arrival) {
      until = arrival.held
      arrival = await this.#go({ until: until + 1 })
    }
    await this.#remove(set, arrival)
    return { arrival, isAsked: true, ...(until === undefined ? {} : { until }) }
  }

  /** Goes on until code stands still again; answers that are kept back are handed over. */
  async resumeUntilPaused(method: string): Promise<Arrival> {
    if (method !== 'Debugger.resume') this.#unwatched = undefined
    let arrival = await this.#after(() => this.#inspector.cdp(method))
    while ('held' in arrival) arrival = await this.#go({})
    return arrival
  }

  /** Runs on to the next statement of the function that a call was made in. */
  async runInto(call: Location): Promise<Arrival> {
    this.#unwatched = undefined
    const set = await this.#breakAt(await this.#placesAround(call))
    const arrival = await this.resumeUntilPaused('Debugger.resume')
    await this.#remove(set, arrival)
    return arrival
  }

  /**
   * Runs on to the next statement of the agent's own code. V8 cannot: its steps stop in files of Node, which it does not
   * leave out, and none leads from there to code that waits for something.
   *
   * @param isOwn - places that do not count, nor what is called from there
   */
  async runOn(isOwn: (place: Location) => boolean = () => false): Promise<Arrival> {
    const set = await this.#breakAnywhere(isOwn)
    let arrival = await this.resumeUntilPaused('Debugger.resume')
    while ('paused' in arrival && (!this.isInUserCode(arrival.paused) || this.userFrames(arrival.paused).some(isOwn)))
      arrival = await this.resumeUntilPaused('Debugger.resume')
    await this.#remove(set, arrival)
    return arrival
  }

  /** Which places are in the function of a frame. */
  async functionOf({ functionLocation: start }: PausedFrame): Promise<(place: Location) => boolean> {
    const end = (await this.#placesIn({ start, restrictToFunction: true })).at(-1)
    return (place) =>
      end !== undefined && place.scriptId === start.scriptId && !isBefore(place, start) && !isBefore(end, place)
  }

  /** Frames of the agent's own code, the innermost first, through its awaits. */
  userFrames({ callFrames, asyncStackTrace }: Paused): readonly UserFrame[] {
    const frames = callFrames.map(({ functionName, location }) => ({ functionName, ...location }))
    for (let stack = asyncStackTrace; stack !== undefined; stack = stack.parent) frames.push(...stack.callFrames)
    return frames
      .map((frame) => ({ ...frame, url: this.sources.urlOf(frame.scriptId) }))
      .filter(({ url }) => this.isUserCode(url))
  }

  isUserCode(url: string): boolean {
    return (
      url.startsWith('file:') &&
      !url.startsWith(this.#root) &&
      !/\/node_modules\/|\/agents\.harvest-jobs\.mjs|\/cli\/debug-agent\.[jt]s$/.test(url)
    )
  }

  isInUserCode({ callFrames: [top] }: Paused): boolean {
    return top !== undefined && this.isUserCode(this.sources.urlOf(top.location.scriptId))
  }

  /** From now on, steps do not go into packages, nor into this one. */
  async skipPackages(): Promise<void> {
    const patterns = ['/node_modules/', `^${this.#root.replaceAll(/[^\w/]/g, String.raw`\$&`)}`]
    await this.#inspector.cdp('Debugger.setBlackboxPatterns', { patterns })
  }

  /** Absent where every place was watched that was asked for. */
  get unwatched(): Unwatched | undefined {
    return this.#unwatched
  }

  /** Ends the process, wherever it stands. */
  close(): void {
    this.#stop()
  }

  #isAsking({ callFrames: [top] }: Paused): boolean {
    return top?.functionName === asked.name && this.sources.urlOf(top.location.scriptId).startsWith(this.#root)
  }

  get #inspector(): { readonly cdp: Channel['cdp'] } {
    return { cdp: this.channel.cdp.bind(this.channel) }
  }

  #go(order: { readonly until?: number; readonly stop?: number }): Promise<Arrival> {
    return this.#after(() => Promise.resolve(this.channel.order({ go: order })))
  }

  async #after(move: () => Promise<unknown>): Promise<Arrival> {
    await move()
    return this.#arrival()
  }

  /** What came first of what is not taken yet. */
  async #arrival(): Promise<Arrival> {
    for (;;) {
      const [first] = this.#arrivals.splice(0, 1)
      if (first !== undefined) return first
      if (this.#result !== undefined) return { done: this.#result }
      await this.#wait(new Promise<void>((wake) => (this.#wake = wake)))
    }
  }

  async #wait<T>(news: Promise<T>): Promise<T> {
    using limit = timeLimit(this.#limitMs, () => this.#late())
    return await Promise.race([news, this.#over, limit.reached])
  }

  /** Where the agent runs that took too long. Its process is ended: it cannot be led any more. */
  async #late(): Promise<HarvestError> {
    this.#isLate = true
    const stopped = newsOf(this.channel, pausedIn)
    const isAsked = this.channel.cdp('Debugger.pause')
    const came = await Promise.race([isAsked.then(() => stopped), this.#over, pause(lastWordMs)]).catch(() => undefined)
    const [frame] =
      came === undefined
        ? []
        : came.callFrames.filter(({ location }) => this.isUserCode(this.sources.urlOf(location.scriptId)))
    const place = frame === undefined ? undefined : this.sources.placeOf(frame.location)
    this.close()
    return late('The agent did not stand still', this.#limitMs, place)
  }

  async #breakIn(sites: readonly UserFrame[]): Promise<readonly string[]> {
    const set = new Set<string>()
    for (const { scriptId, lineNumber, columnNumber } of sites.slice(0, innermost)) {
      const range = { start: { scriptId, lineNumber, columnNumber }, restrictToFunction: true }
      // Behind the call itself. Places of calls count: the only statement behind an answer may be one.
      const places = (await this.#placesIn(range)).filter(
        (one) => one.lineNumber !== lineNumber || one.columnNumber !== columnNumber,
      )
      for (const id of await this.#breakAt(places.slice(0, placesPerFunction))) set.add(id)
    }
    return [...set]
  }

  /** At every place of the agent's own code, but for some. */
  async #breakAnywhere(isLeftOut?: (place: Location) => boolean): Promise<readonly string[]> {
    const own = this.sources.scripts.filter(({ url }) => this.isUserCode(url))
    const places = await Promise.all(
      own.map(({ scriptId }) => this.#placesIn({ start: { scriptId, lineNumber: 0, columnNumber: 0 } })),
    )
    const all = places.flat().filter((place) => isLeftOut?.(place) !== true)
    const isCut = all.length > placesAnywhere || places.some(({ length }) => length >= placesOfScript)
    this.#unwatched = isCut ? { watched: Math.min(all.length, placesAnywhere) } : undefined
    return this.#breakAt(all.slice(0, placesAnywhere))
  }

  /**
   * All places of the function that a call is made in, but the call itself: in a loop, what follows may stand before it. Only
   * functions that go on behind the place end alike.
   */
  async #placesAround(call: Location): Promise<readonly Location[]> {
    const { scriptId } = call
    const behind = await this.#placesIn({ start: call, restrictToFunction: true })
    const start = { scriptId, lineNumber: 0, columnNumber: 0 }
    const before = (await this.#placesIn({ start, end: call })).slice(-placesBefore)
    const last = behind.at(-1)
    const own = await Promise.all(
      before.map(async (place) => {
        const rest = await this.#placesIn({ start: place, restrictToFunction: true })
        return last !== undefined && isSamePlace(rest.at(-1) ?? place, last) ? [place] : []
      }),
    )
    return [...own.flat(), ...behind.filter((place) => !isSamePlace(place, call))]
  }

  async #placesIn(range: object): Promise<readonly Location[]> {
    return (
      await this.#inspector.cdp<{ readonly locations: readonly Location[] }>('Debugger.getPossibleBreakpoints', range)
    ).locations
  }

  async #breakAt(places: readonly Location[]): Promise<readonly string[]> {
    const made = await Promise.all(
      places.map((location) =>
        // Two frames may be in one function: its places are taken once.
        this.#inspector.cdp<{ readonly breakpointId: string }>('Debugger.setBreakpoint', { location }).catch(isTaken),
      ),
    )
    return made.flatMap((one) => one?.breakpointId ?? [])
  }

  async #remove(ids: readonly string[], arrival: Arrival): Promise<void> {
    if ('done' in arrival) return
    await Promise.all(ids.map((breakpointId) => this.#inspector.cdp('Debugger.removeBreakpoint', { breakpointId })))
  }
}

function isSamePlace(one: Location, other: Location): boolean {
  return one.scriptId === other.scriptId && !isBefore(one, other) && !isBefore(other, one)
}

/** In one script. */
function isBefore(one: Location, other: Location): boolean {
  return (
    one.lineNumber < other.lineNumber || (one.lineNumber === other.lineNumber && one.columnNumber < other.columnNumber)
  )
}

function isTaken(error: Error): undefined {
  if (/already exists/.test(error.message)) return undefined
  throw error
}

function arrivalIn(message: ChildNews | InspectorEvent): Arrival | undefined {
  const paused = pausedIn(message)
  if (paused !== undefined) return { paused }
  if ('held' in message) return { held: message.held }
  if ('done' in message) return { done: message.done }
  return undefined
}

function pausedIn(message: ChildNews | InspectorEvent): Paused | undefined {
  return 'event' in message && message.event === 'Debugger.paused' ? (message.params as Paused) : undefined
}

function readyIn(message: ChildNews | InspectorEvent): Ready | undefined {
  return 'ready' in message ? message.ready : undefined
}

function failureIn(message: ChildNews | InspectorEvent): undefined {
  if ('failed' in message) throw new HarvestError(message.failed.code, message.failed.facts)
}

/** `reached` rejects with what `late` gives, after so long. */
function timeLimit(
  limitMs: number,
  late: () => Promise<HarvestError>,
): Disposable & { readonly reached: Promise<never> } {
  const { promise, reject } = Promise.withResolvers<never>()
  // Whoever waits for it hears it.
  promise.catch(() => {})
  const timer = setTimeout(() => void late().then(reject, reject), limitMs)
  return { reached: promise, [Symbol.dispose]: () => clearTimeout(timer) }
}

function late(what: string, limitMs: number, place?: CodePlace): HarvestError {
  return new HarvestError('HARVEST_DEBUG_CODE', {
    what: `${what} within ${limitMs / 1_000} s`,
    ...(place === undefined ? {} : { where: { 'runs in': `${place.file}:${place.line}` } }),
    why: 'Its code may run in a circle, or it needs longer.',
    fix: ['to wait longer: --timeout 10m'],
  })
}

/** The first message that fits. */
function newsOf<T>(channel: Channel, read: (message: ChildNews | InspectorEvent) => T | undefined): Promise<T> {
  return new Promise((resolve, reject) => {
    const off = channel.on((message) => {
      try {
        const found = read(message)
        if (found === undefined) return
        off()
        resolve(found)
      } catch (error) {
        off()
        reject(error as Error)
      }
    })
  })
}
