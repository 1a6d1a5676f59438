// Over 300 lines: one event loop: queues, virtual time and what holds them up depend on each other.
import type { GateItem } from '../match/delivery.ts'
import { isThreadWorking, real, type VirtualTimer } from '../seam/intercept/index.ts'
import { nextTick, outsideRuns } from '../seam/source.ts'
import { isImporting } from './importing.ts'
import type { RecordedTimers } from './recorded-timers.ts'
import { type QueuedTimer, TimerQueue } from './timer-queue.ts'

/** Real ms by the one clock that is never patched. */
export function uptime(): number {
  return Number(process.hrtime.bigint()) / 1e6
}

/** A timer that has just fired, and what that was about. */
export interface FiredTimer {
  readonly ms: number
  /** Whether it fired at this place when the run was recorded, as far as the tape knows. */
  readonly isRecorded: boolean
  /** The recorded request the replay was waiting for. */
  readonly waitedFor: GateItem | undefined
}

export interface GateOptions {
  /** Whether immediates of the run are under way. */
  readonly isBusy: () => boolean
  /** The run answered or was given up. */
  readonly isOver: () => boolean
  /** The event loop turned. */
  readonly onTurn: () => void
  /** A recorded answer could not be handed over: the client refused it, or a callback of a timer threw. */
  readonly onFault: (error: unknown) => void
  /** Nothing can happen any more and the agent has not answered. */
  readonly onHang: () => void
  /** Virtual ms at which the recorded run ended. */
  readonly endAt: number
  /**
   * Ms without anything happening after which the run counts as hanging, of the time in which this process could run; absent
   * for a program, which just ends.
   */
  readonly hangMs: number | undefined
  /** The same, or less, for an agent that most likely waits for what never comes; asked each time nothing is left to do. */
  readonly stuckMs?: () => number | undefined
  /** What the tape knows about timers. Absent: nothing. */
  readonly timers?: RecordedTimers
  /** The order was relaxed: an answer went out before a request the tape has first. */
  readonly onRelaxed?: () => void
  /**
   * Hears what is handed over next, before it is. While the promise is pending nothing happens: nothing else is handed
   * over, no timer fires, and the agent does not count as hanging.
   */
  readonly before?: (burst: readonly GateItem[]) => Promise<void> | undefined
  /** Deliveries in the order the agent asks. Exists so that a test can show what the gate is for. */
  readonly ungated?: boolean
}

/** Handles of Node under which real work of the agent is still going on. What crypto, zlib and WebAssembly do is not among them. */
const working = new Set(['FSReqCallback', 'FSReqPromise', 'CloseReq', 'GetAddrInfoReqWrap'])
function isReading(): boolean {
  const active = process.getActiveResourcesInfo()
  for (let i = 0; i < active.length; i++) if (working.has(active[i]!)) return true
  return false
}

/** Whether files are read, threads work or modules are on their way, for whomever: the agent may go on when that is done. */
export function isWorkingOutside(): boolean {
  return isReading() || isThreadWorking() || isImporting()
}
/** Turns of the event loop that are not waited for with a timer during work outside: most is done sooner. */
const shortWork = 200

/** Rounds of ticks and promises in which clients hand on what was delivered, all in one turn of the event loop. */
const clientTicks = 8
/** Turns of the event loop with immediates of the agent after which it waits for something else with them. */
const busyTurns = 100_000
/** Quiet turns of the event loop before the next delivery: the agent has then done all it can with the last one. */
const quietTurns = 2
/** Real ms by which a timer comes too late when the process stood still. */
const standstillMs = 250
/** The most that a turn of the event loop, and a stretch of waiting, count as time without anything happening: on a busy machine they take longer. */
const turnMs = 1
const stretchMs = 100
/** Real ms to wait before the order is relaxed or a far timer fires: off-seam work may still be going on. */
const longestGraceMs = 20
/**
 * Virtual ms by which a timer the tape does not know may lie behind the recorded request it leads to: processing took
 * real time then.
 */
const slackMs = 50

/**
 * Orders every delivery of a run by the tape and owns its clock: a discrete-event simulation whose next event is the
 * earlier of the next recorded delivery and the next virtual timer. Between two events it waits until the agent is
 * quiet.
 *
 * A timer fires where it fired when recorded. One the tape does not know fires its delay after the moment it was set,
 * unless the recorded event it races comes first. No decision looks at a real clock: what is decided when nothing moves
 * does not depend on how long that took.
 */
export class Scheduler {
  readonly #items: readonly GateItem[]
  readonly #options: GateOptions
  readonly #timers = new TimerQueue()
  /** Answers that have no place on the tape, by the moment they are due. */
  readonly #answers = new TimerQueue()
  /** Timers someone waits for; an unreferenced one alone keeps nothing going. */
  readonly #holding = new Set<VirtualTimer>()
  /** Requested and not yet delivered. */
  readonly #ready = new Set<GateItem>()
  /** Of these, what nothing waits for. */
  readonly #free = new Set<GateItem>()
  /** Timers set since something last happened to the agent, of which the tape does not know when they fire. */
  readonly #fresh = new Set<VirtualTimer>()
  #timersKnown: RecordedTimers | undefined
  /** The step whose answer goes out before its place: the rest of it needs no grace of its own. */
  #relaxing: number | undefined
  #graceMs = longestGraceMs
  #next = 0
  #running = false
  #again = false
  #hurry = false
  #grace: NodeJS.Timeout | undefined
  #watchdog: NodeJS.Timeout | undefined
  /** Ms since the last request or delivery in which this process could run: an agent that only lets time pass hangs. */
  #idleMs = 0
  #isEnding = false
  /** Requests that really went out and have no answer yet. */
  #held = 0
  now = 0
  deliveries = 0
  relaxed = 0
  timersFired = 0
  /** The timer that fired last, as long as nothing was delivered since. */
  lastFired: FiredTimer | undefined
  /** Nothing but ticks and promises runs in between: no file, socket or timer of the process comes to its end. */
  readonly #tick = (): void => {
    this.isTouched = --this.#ticks > 0
    if (this.isTouched) void Promise.resolve().then(() => nextTick(this.#tick))
  }
  #ticks = 0
  /** In this turn of the event loop the agent asked for something, was answered, or a timer fired. */
  isTouched = false
  /** Number of what happened last, of those on the tape. */
  lastN = -1
  /** Numbers of the steps whose answers were handed over last, together; absent: something else happened since. */
  heard: number[] | undefined = []

  constructor(items: readonly GateItem[], options: GateOptions) {
    this.#items = items.filter(({ place }) => place !== 'free').sort((a, b) => a.n - b.n)
    this.#options = options
    this.#timersKnown = options.timers
  }

  /** Something changed: a request was made, a timer set, an exchange given up. */
  kick(): void {
    this.#calm()
    if (this.#held > 0) return
    if (this.#running) {
      this.#again = true
      return
    }
    this.#running = true
    // Outside the run: the gate's own promises must not look like work of the agent.
    outsideRuns(() => void this.#run())
  }

  /** The agent made a request. */
  asked(request: GateItem | undefined): void {
    if (!request) return
    request.state = 'done'
    this.lastN = request.n
    this.#moved()
    this.#relaxing = undefined
    this.#moveFresh(request)
    // What the agent computed took time when it was recorded: timers it sets now count from there.
    this.now = Math.max(this.now, request.at)
    this.kick()
  }

  /**
   * Between what happened to the agent and its next request it worked, or waited for something the seam does not see, and
   * the tape knows only how long. A timer the tape does not know was set at the end of that time when the request was
   * answered: it did not run out. When the request was given up, the timer was set its delay before that, if that can be,
   * and at the beginning otherwise.
   */
  #moveFresh({ at, isAnswered = true, abortedAt }: GateItem): void {
    if (this.#fresh.size === 0) return
    const gap = at - this.now
    for (const timer of gap > 0 ? this.#fresh : []) {
      if (timer.cancelled) continue
      const early = (abortedAt ?? 0) - timer.due
      const by = isAnswered ? gap : early > 0 && early <= gap ? early : 0
      timer.due += by
      this.#timers.push(timer)
    }
    this.#fresh.clear()
  }

  /** The requests of these items were made: they can be delivered. */
  ready(items: readonly GateItem[]): void {
    for (const item of items) {
      if (item.state !== 'waiting') continue
      item.state = 'ready'
      this.#ready.add(item)
      if (item.place === 'free') this.#free.add(item)
    }
    this.kick()
  }

  /** These need no delivery any more. */
  done(items: readonly GateItem[]): void {
    for (const item of items) {
      item.state = 'done'
      item.deliver = undefined
      if (item.more !== undefined) item.more = 0
      this.#ready.delete(item)
      this.#free.delete(item)
    }
    this.kick()
  }

  /** These were answered when recorded before something that does not wait for them now: they come when nothing else can. */
  holdBack(items: readonly GateItem[]): void {
    for (const item of items) if (item.state !== 'done') item.place = 'last'
    this.kick()
  }

  schedule(timer: VirtualTimer): void {
    const firing = this.#timersKnown?.next(timer)
    // Behind us: the agent sets its timers in another order now, and this is another one.
    if (firing && firing.at >= this.now) {
      const due = Number.isFinite(firing.at) ? firing.at : Math.max(timer.due, this.#options.endAt + timer.ms)
      this.#timers.push(timer, due, firing.n, firing.isUnheard)
    } else {
      this.#timers.push(timer)
      this.#fresh.add(timer)
    }
    this.held(timer)
    this.kick()
  }

  /**
   * From here on the run goes another way than its tape: timers count from when they were set. Those whose time came
   * in a pause of the recorded run, and that did not fire, still do not.
   */
  leaveTape(): void {
    if (this.#timersKnown === undefined) return
    this.#timersKnown = undefined
    for (const { timer, due } of this.#timers.drain())
      this.#timers.push(timer, timer.due > this.now ? timer.due : Math.max(due, this.now))
  }

  /** Has an answer that is not on the tape at this place delivered once its time has come. */
  later(answer: VirtualTimer): void {
    this.#moved()
    this.#answers.push(answer)
    this.kick()
  }

  /** Number of the next thing on the tape that has not happened. */
  get headN(): number {
    return this.#head()?.n ?? Number.POSITIVE_INFINITY
  }

  /** Recorded moment of the same thing. */
  get nextAt(): number | undefined {
    return this.#head()?.at
  }

  /** Hands over the timers that have not fired: from now on someone else keeps the time. */
  takeTimers(): readonly QueuedTimer[] {
    this.#holding.clear()
    return this.#timers.drain()
  }

  /** Whether a timer keeps the agent waiting changed: it was set, cleared, referenced or unreferenced. */
  held(timer: VirtualTimer): void {
    if (timer.cancelled || !timer.isHolding) this.#holding.delete(timer)
    else this.#holding.add(timer)
  }

  /** Something really goes out: until it is answered no time passes, or every time-out would fire. */
  hold(): void {
    this.#held++
    this.#calm()
  }

  release(): void {
    this.#held--
    this.#idleMs = 0
    this.kick()
  }

  /** The agent answered: no time passes for what nothing waits for, however long the last turns of its run take. */
  ends(): void {
    this.#isEnding = true
    this.#calm()
  }

  stop(): void {
    this.#calm()
  }

  async #run(): Promise<void> {
    try {
      do {
        this.#again = false
        await this.#pump()
      } while (this.#again)
    } catch (error) {
      this.#options.onFault(error)
    } finally {
      this.#running = false
      if (!this.#options.isOver() && this.#held === 0) this.#wait()
    }
  }

  async #pump(): Promise<void> {
    while (!this.#options.isOver()) {
      await this.#quiet()
      if (this.#options.isOver() || this.#held > 0) return
      if (this.#options.before !== undefined) await this.#standStill()
      if (this.#options.isOver() || this.#held > 0 || !this.#step()) return
    }
  }

  /** Waits as long as someone looks at what the agent is about to get. */
  async #standStill(): Promise<void> {
    const { before } = this.#options
    const burst = before === undefined ? [] : this.#burst()
    const seen = burst.length === 0 ? undefined : before?.(burst)
    if (seen === undefined) return
    this.#disarm()
    await seen
    this.#idleMs = 0
  }

  /** What the next step hands over together. */
  #burst(): readonly GateItem[] {
    const item = this.#head()
    const [timer, answer] = [this.#timers.peek(), this.#answers.peek()]
    if (item?.state === 'ready') {
      const isOther = (answer && item.at >= answer.due) || (timer && isBefore(timer, item))
      return isOther ? [] : item.place === 'free' ? this.#ownMates(item) : this.#mates(item)
    }
    const late = this.#hurry ? this.#earliestReady() : undefined
    return late === undefined ? [] : this.#ownMates(late)
  }

  #mates(first: GateItem): readonly GateItem[] {
    const mates: GateItem[] = []
    for (let i = this.#next; i < this.#items.length; i++) {
      const item = this.#items[i]
      if (!item || item.at !== first.at || item.state === 'waiting' || (item.isAlone && item !== first)) break
      if (item.state === 'ready' && item.place === undefined) mates.push(item)
    }
    return mates
  }

  /** What arrived in the same burst of the same answer: a client may take an answer for complete before its end comes. */
  #ownMates(first: GateItem): readonly GateItem[] {
    const mates = [...this.#ready]
      .filter(({ step, at, n }) => step === first.step && at === first.at && n > first.n)
      .sort((a, b) => a.n - b.n)
    const alone = mates.findIndex(({ isAlone }) => isAlone)
    return [first, ...(alone === -1 ? mates : mates.slice(0, alone))]
  }

  /** Does the next thing; `false` when there is nothing to do until the agent moves. */
  #step(): boolean {
    if (this.#options.ungated) {
      const [asked] = this.#ready
      if (asked) {
        this.#deliver(asked)
        return true
      }
    }
    const item = this.#head()
    const timer = this.#timers.peek()
    const answer = this.#answers.peek()
    const isAnswerFirst =
      answer && !(timer && timer.due < answer.due) && !(item?.state === 'ready' && item.at < answer.due)
    if (isAnswerFirst) {
      this.#answer()
      return true
    }
    if (item?.state === 'ready') {
      if (timer && isBefore(timer, item)) this.#fire()
      else this.#deliverBurst(item)
      return true
    }
    // The tape expects a request the agent has not made (or nothing at all): only time can pass.
    if (timer && this.#isDue(timer, item, answer?.due)) {
      this.#fire(item)
      return true
    }
    return this.#relax(item, timer)
  }

  /** Whether a timer fires while the tape waits for `item`, which the agent has to ask for. */
  #isDue({ n, due }: QueuedTimer, item: GateItem | undefined, answerDue = 0): boolean {
    if (n !== undefined) return n <= (item?.n ?? Number.MAX_VALUE)
    return due <= Math.max((item?.at ?? this.#options.endAt) + slackMs, answerDue)
  }

  /** Nothing moves any more: what lies ready, or runs out first, happens before its place. */
  #relax(item: GateItem | undefined, timer: QueuedTimer | undefined): boolean {
    const ready = this.#earliestReady(this.#hurry ? undefined : this.#relaxing)
    if (!this.#hurry && (ready === undefined || this.#relaxing === undefined)) return false
    if (timer && (ready ? isBefore(timer, ready) : this.#isHeld)) {
      this.#fire(item)
      return true
    }
    if (!ready) return false
    this.relaxed++
    this.#options.onRelaxed?.()
    this.heard = []
    this.#deliverAll(this.#ownMates(ready))
    this.#relaxing = ready.step
    return true
  }

  /**
   * Whether a timer may fire for its own sake. A function is waited for no matter what it did to its timers; a program is
   * not.
   */
  get #isHeld(): boolean {
    return this.#holding.size > 0 || (this.#options.hangMs !== undefined && this.#timers.peek() !== undefined)
  }

  /** Of what is ready, or of the answer to `step` alone; what is held back comes last. */
  #earliestReady(step?: number): GateItem | undefined {
    let earliest: GateItem | undefined
    const rank = ({ place }: GateItem): number => (place === 'last' ? 1 : 0)
    for (const item of this.#ready) {
      if (step !== undefined && item.step !== step) continue
      if (!earliest || rank(item) - rank(earliest) < 0 || (rank(item) === rank(earliest) && item.n < earliest.n))
        earliest = item
    }
    return earliest
  }

  /** The first item not yet done. */
  #head(): GateItem | undefined {
    for (;;) {
      const item = this.#items[this.#next]
      if (item?.state !== 'done' && item?.place !== 'last') break
      this.#next++
    }
    let first = this.#items[this.#next]
    if (this.#free.size > 0) for (const item of this.#free) if (!(first && first.n < item.n)) first = item
    return first
  }

  /** Delivers the next item and those that arrived in the same burst: the agent had no turn in between. */
  #deliverBurst(first: GateItem): void {
    this.heard = []
    if (first.place === 'free') {
      this.#deliverAll(this.#ownMates(first))
      return
    }
    for (let i = this.#next; i < this.#items.length; i++) {
      const item = this.#items[i]
      if (!item || item.at !== first.at || item.state === 'waiting') return
      if (item.isAlone && item !== first) return
      if (item.state === 'ready' && item.place === undefined) this.#deliver(item)
    }
  }

  #deliverAll(items: readonly GateItem[]): void {
    // Whoever got a piece may have given up the rest.
    for (const item of items) if (item.state === 'ready') this.#deliver(item)
  }

  /** Something was asked or delivered: the agent does not hang. */
  #moved(): void {
    this.#touch()
    this.#idleMs = 0
    this.#graceMs = longestGraceMs
  }

  #touch(): void {
    this.#ticks = clientTicks
    if (!this.isTouched) nextTick(this.#tick)
    this.isTouched = true
  }

  #deliver(item: GateItem): void {
    this.#relaxing = undefined
    const { deliver } = item
    item.state = 'done'
    // What it delivers to is not wanted any more: a long run would hold every client, stream and response of it.
    item.deliver = undefined
    this.#ready.delete(item)
    if (item.place === 'free') this.#free.delete(item)
    this.#deliverPiece(item, deliver)
    // Whoever got a piece may have given up the rest.
    while (item.more) {
      item.more--
      item.index!++
      this.#deliverPiece(item, deliver)
    }
  }

  #deliverPiece(item: GateItem, deliver: GateItem['deliver']): void {
    this.#moved()
    this.#fresh.clear()
    this.lastFired = undefined
    this.#hurry = false
    this.deliveries++
    this.lastN = item.n
    if (item.step === undefined) this.heard = undefined
    else if (this.heard?.at(-1) !== item.step) this.heard?.push(item.step)
    this.now = Math.max(this.now, item.at)
    try {
      deliver?.(item)
    } catch (error) {
      this.#options.onFault(error)
    }
  }

  #answer(): void {
    const answer = this.#answers.peek()
    if (!answer) return
    this.#answers.pop()
    this.#hurry = false
    this.deliveries++
    this.#moved()
    this.#fresh.clear()
    this.lastFired = undefined
    const { timer, due } = answer
    this.heard = undefined
    this.now = Math.max(this.now, due)
    try {
      timer.fire()
    } catch (error) {
      this.#options.onFault(error)
    }
  }

  #fire(waitedFor?: GateItem): void {
    const first = this.#timers.peek()
    if (!first) return
    const { timer, due, n, isUnheard } = first
    this.#timers.pop()
    // Each that fires while nothing else happens is waited for half as long: an agent may have set thousands.
    if (this.#hurry) {
      this.#idleMs += this.#graceMs
      this.#graceMs = Math.max(1, this.#graceMs / 2)
    }
    this.#hurry = false
    this.#fresh.clear()
    this.#relaxing = undefined
    this.#holding.delete(timer)
    this.timersFired++
    const isRecorded = n !== undefined && Number.isFinite(n)
    // It gets the run further along its tape, of which there is an end.
    if (isRecorded) this.#idleMs = 0
    const { hangMs } = this.#options
    if (hangMs !== undefined && this.#idleMs > hangMs) {
      this.#options.onHang()
      return
    }
    this.now = Math.max(this.now, isUnheard ? timer.due : due)
    this.lastFired = { ms: timer.ms, isRecorded, waitedFor }
    this.heard = undefined
    this.#timersKnown?.fired(timer)
    this.#touch()
    timer.fire()
  }

  async #quiet(): Promise<void> {
    const { hangMs = busyTurns } = this.#options
    let outsideTurns = 0
    let began = uptime()
    // Work outside takes as long as the machine needs; one that has no end is left to those who say that the agent hangs.
    for (let calm = 0, turns = 0; calm < quietTurns && turns < busyTurns && outsideTurns < hangMs; ) {
      await new Promise<void>((resolve) => {
        if (outsideTurns > shortWork) real.setTimeout(resolve, 1)
        else real.setImmediate(resolve)
      })
      const turned = uptime()
      this.#idleMs += Math.min(turned - began, turnMs)
      began = turned
      this.#options.onTurn()
      outsideTurns = isWorkingOutside() ? outsideTurns + 1 : 0
      if (outsideTurns === 0) turns++
      calm = outsideTurns > 0 || this.#options.isBusy() ? 0 : calm + 1
    }
  }

  /**
   * Nothing to do. Look again after a grace; report a hang when nothing comes at all. A timer that fires much too late was
   * kept from firing by a process that stood still: it is set once more.
   */
  #wait(): void {
    if (this.#isEnding) return
    if (this.#isHeld || this.#ready.size > 0) {
      const armed = uptime()
      this.#grace ??= real.setTimeout(() => {
        this.#grace = undefined
        if (uptime() - armed > this.#graceMs + standstillMs && !this.#options.isOver()) return this.#wait()
        this.#hurry = true
        this.#resume()
      }, this.#graceMs)
    }
    const { hangMs, stuckMs } = this.#options
    if (hangMs === undefined) return
    const firstMs = Math.min(hangMs, stuckMs?.() ?? hangMs)
    this.#watchFor(firstMs, hangMs - firstMs)
  }

  /**
   * By stretches: what the process stands still for, in a debugger or on a busy machine, is no time of the agent's.
   *
   * @param moreMs - after that, as long as files are read or threads work
   */
  #watchFor(leftMs: number, moreMs: number): void {
    // Holds the process: with every socket virtual, Node would otherwise leave before the agent answered.
    this.#watchdog ??= real.setTimeout(
      () => {
        this.#watchdog = undefined
        if (this.#options.isOver()) return
        if (leftMs > stretchMs) this.#watchFor(leftMs - stretchMs, moreMs)
        else if (moreMs > 0 && isWorkingOutside()) this.#watchFor(moreMs, 0)
        else this.#options.onHang()
      },
      Math.min(leftMs, stretchMs),
    )
  }

  #resume(): void {
    if (this.#running) return
    this.#running = true
    outsideRuns(() => void this.#run())
  }

  #calm(): void {
    this.#hurry = false
    this.#disarm()
  }

  #disarm(): void {
    if (this.#grace) real.clearTimeout(this.#grace)
    if (this.#watchdog) real.clearTimeout(this.#watchdog)
    this.#grace = undefined
    this.#watchdog = undefined
  }
}

/** Whether a timer fires before a recorded event it races: by the order on the tape, or by time where that is not known. */
function isBefore({ n, due }: QueuedTimer, item: GateItem): boolean {
  return n === undefined ? due < item.at : n <= item.n
}
