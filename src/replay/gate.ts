import { real, type VirtualTimer } from '../seam/intercept/index.ts'
import { outsideRuns } from '../seam/source.ts'
import { TimerQueue } from './timer-queue.ts'

/** Real ms by the one clock nobody patches. */
function uptime(): number {
  return Number(process.hrtime.bigint() / 1_000_000n)
}

/** One thing on the tape that has a place in the order: a request, or a piece of an answer. */
export interface GateItem {
  readonly n: number
  readonly at: number
  /** Hands the piece to the agent. Absent for a request: the agent makes that one itself. */
  deliver?: (() => void) | undefined
  /**
   * Has a turn of its own also where the tape has it in one burst with what came before: no live connection breaks in
   * the turn in which its last bytes are read, and undici never settles a response whose body broke then.
   */
  readonly isAlone?: true
  /** `request`: waits for the agent. `ready`: its request was made, it can be delivered. */
  state: 'waiting' | 'ready' | 'done'
}

export interface GateOptions {
  /** Whether immediates or other work of the run are under way. */
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
  /** Real ms without anything happening after which the run counts as hanging; absent for a program, which just ends. */
  readonly hangMs: number | undefined
  /** The order was relaxed: an answer went out before a request the tape has first. */
  readonly onRelaxed?: () => void
  /** Deliveries in the order the agent asks. Exists so that a test can show what the gate is for. */
  readonly ungated?: boolean
}

/** Handles of Node under which real work of the agent is still going on. */
const working = new Set([
  'FSReqCallback',
  'FSReqPromise',
  'ZLIB',
  'GetAddrInfoReqWrap',
  'RANDOMBYTESREQUEST',
  'PBKDF2REQUEST',
  'SCRYPTREQUEST',
  'HASHREQUEST',
  'CIPHERREQUEST',
  'SIGNREQUEST',
  'WORKER',
])

/** Quiet turns of the event loop before the next delivery: the agent has then done all it can with the last one. */
const quietTurns = 2
/** Real ms to wait before the order is relaxed or a far timer fires: off-seam work may still be going on. */
const graceMs = 20
/** Virtual ms by which a timer may lie behind the recorded request it leads to: processing took real time then. */
const slackMs = 50

/**
 * Orders every delivery of a run by the tape and owns its clock: a discrete-event simulation whose next event is the
 * earlier of the next recorded delivery and the next virtual timer. Between two events it waits until the agent is
 * quiet.
 */
export class Gate {
  readonly #items: readonly GateItem[]
  readonly #options: GateOptions
  readonly #timers = new TimerQueue()
  /** Answers that have no place on the tape, by the moment they are due. */
  readonly #answers = new TimerQueue()
  /** Timers somebody waits for; an unreferenced one alone keeps nothing going. */
  readonly #holding = new Set<VirtualTimer>()
  /** Requested and not yet delivered. */
  readonly #ready = new Set<GateItem>()
  #next = 0
  #running = false
  #again = false
  #hurry = false
  #grace: NodeJS.Timeout | undefined
  #watchdog: NodeJS.Timeout | undefined
  /** Real ms of the last request or delivery: an agent that only lets time pass since then hangs. */
  #movedAt = uptime()
  /** Requests that really went out and have no answer yet. */
  #held = 0
  now = 0
  deliveries = 0
  relaxed = 0
  timersFired = 0

  constructor(items: readonly GateItem[], options: GateOptions) {
    this.#items = [...items].sort((a, b) => a.n - b.n)
    this.#options = options
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
    this.#movedAt = uptime()
    // What the agent computed took time when it was recorded: timers it sets now count from there.
    this.now = Math.max(this.now, request.at)
    this.kick()
  }

  /** The requests of these items were made: they can be delivered. */
  ready(items: readonly GateItem[]): void {
    for (const item of items) {
      if (item.state !== 'waiting') continue
      item.state = 'ready'
      this.#ready.add(item)
    }
    this.kick()
  }

  /** These need no delivery any more. */
  done(items: readonly GateItem[]): void {
    for (const item of items) {
      item.state = 'done'
      item.deliver = undefined
      this.#ready.delete(item)
    }
    this.kick()
  }

  schedule(timer: VirtualTimer): void {
    this.#timers.push(timer)
    this.held(timer)
    this.kick()
  }

  /** Has an answer that is not on the tape at this place delivered once its time has come. */
  later(answer: VirtualTimer): void {
    this.#movedAt = uptime()
    this.#answers.push(answer)
    this.kick()
  }

  /** Number of the next thing on the tape that has not happened. */
  get headN(): number {
    return this.#head()?.n ?? Number.POSITIVE_INFINITY
  }

  /** Hands over the timers that have not fired: from now on somebody else keeps the time. */
  takeTimers(): readonly VirtualTimer[] {
    const all: VirtualTimer[] = []
    for (let timer = this.#timers.pop(); timer; timer = this.#timers.pop()) all.push(timer)
    this.#holding.clear()
    return all
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
    this.#movedAt = uptime()
    this.kick()
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
      if (this.#options.isOver() || this.#held > 0 || !this.#step()) return
    }
  }

  /** Does the next thing; `false` when there is nothing to do until the agent moves. */
  #step(): boolean {
    const [asked] = this.#options.ungated ? this.#ready : []
    if (asked) {
      this.#movedAt = uptime()
      this.#deliver(asked)
      return true
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
      if (timer && timer.due < item.at) this.#fire()
      else this.#deliverBurst()
      return true
    }
    // The tape expects a request the agent has not made (or nothing at all): only time can pass.
    const limit = Math.max((item?.at ?? this.#options.endAt) + slackMs, answer?.due ?? 0)
    if (timer && (timer.due <= limit || (this.#hurry && this.#holding.size > 0))) {
      this.#fire()
      return true
    }
    const ready = this.#hurry ? this.#earliestReady() : undefined
    if (ready) {
      this.relaxed++
      this.#options.onRelaxed?.()
      this.#movedAt = uptime()
      this.#deliver(ready)
      return true
    }
    return false
  }

  #earliestReady(): GateItem | undefined {
    let earliest: GateItem | undefined
    for (const item of this.#ready) if (!earliest || item.n < earliest.n) earliest = item
    return earliest
  }

  /** The first item not yet done. */
  #head(): GateItem | undefined {
    while (this.#items[this.#next]?.state === 'done') this.#next++
    return this.#items[this.#next]
  }

  /** Delivers the next item and those that arrived in the same burst: the agent had no turn in between. */
  #deliverBurst(): void {
    this.#movedAt = uptime()
    const first = this.#items[this.#next]
    for (let i = this.#next; i < this.#items.length; i++) {
      const item = this.#items[i]
      if (!first || !item || item.at !== first.at || item.state === 'waiting') return
      if (item.isAlone && item !== first) return
      if (item.state === 'ready') this.#deliver(item)
    }
  }

  #deliver(item: GateItem): void {
    const { deliver } = item
    item.state = 'done'
    // What it delivers to is not wanted any more: a long run would hold every client, stream and response of it.
    item.deliver = undefined
    this.#ready.delete(item)
    this.#hurry = false
    this.deliveries++
    this.now = Math.max(this.now, item.at)
    try {
      deliver?.()
    } catch (error) {
      this.#options.onFault(error)
    }
  }

  #answer(): void {
    const answer = this.#answers.pop()
    if (!answer) return
    this.#hurry = false
    this.deliveries++
    this.#movedAt = uptime()
    this.now = Math.max(this.now, answer.due)
    try {
      answer.fire()
    } catch (error) {
      this.#options.onFault(error)
    }
  }

  #fire(): void {
    const timer = this.#timers.pop()
    if (!timer) return
    this.#hurry = false
    this.#holding.delete(timer)
    this.timersFired++
    const { hangMs } = this.#options
    if (hangMs !== undefined && uptime() - this.#movedAt > hangMs) {
      this.#options.onHang()
      return
    }
    this.now = Math.max(this.now, timer.due)
    timer.fire()
  }

  async #quiet(): Promise<void> {
    for (let calm = 0, turns = 0; calm < quietTurns && turns < 100_000; turns++) {
      await new Promise<void>((resolve) => real.setImmediate(resolve))
      this.#options.onTurn()
      const busy = this.#options.isBusy() || process.getActiveResourcesInfo().some((resource) => working.has(resource))
      calm = busy ? 0 : calm + 1
    }
  }

  /** Nothing to do. Look again after a grace; report a hang when nothing comes at all. */
  #wait(): void {
    const stuck = this.#holding.size > 0 || this.#ready.size > 0
    if (stuck) {
      this.#grace ??= real.setTimeout(() => {
        this.#grace = undefined
        this.#hurry = true
        this.#resume()
      }, graceMs)
    }
    if (this.#options.hangMs === undefined) return
    // Holds the process: with every socket virtual, Node would otherwise leave before the agent answered.
    this.#watchdog ??= real.setTimeout(() => {
      this.#watchdog = undefined
      if (!this.#options.isOver()) this.#options.onHang()
    }, this.#options.hangMs)
  }

  #resume(): void {
    if (this.#running) return
    this.#running = true
    outsideRuns(() => void this.#run())
  }

  #calm(): void {
    this.#hurry = false
    if (this.#grace) real.clearTimeout(this.#grace)
    if (this.#watchdog) real.clearTimeout(this.#watchdog)
    this.#grace = undefined
    this.#watchdog = undefined
  }
}
