import { isRead } from '../playback/independence.ts'
import { endOf, type StepOrder } from '../playback/order.ts'
import { type CallState, describeStep, type ExchangeState } from '../match/step.ts'
import type { MarkEvent, MessageEvent, Tape } from '../tape/index.ts'
import { type AnnouncementDifference, addressOf, type Announcement, factOf } from './announcements.ts'

type Difference = Omit<AnnouncementDifference, 'step' | 'stepNumber'> & { readonly of: Announcement['kind'] }

/**
 * Messages and marks stand between each other and between the steps of a run: what came first is a part of what the agent
 * says of itself. Where the ones stand among the steps says nothing of the others.
 */
export class AnnouncedOrder {
  readonly #expected: readonly Announcement[]
  readonly #made: { readonly event: Announcement; readonly site: string | undefined }[] = []
  readonly #places: Places
  readonly #moved: (Passed & { readonly difference: Difference })[] = []
  readonly #taken: unknown[] = []
  readonly #kinds: readonly Announcement['kind'][]
  /** By their kind, with how many of it were made. */
  readonly #ofKind: ReadonlyMap<Announcement['kind'], { readonly expected: readonly Announcement[]; made: number }>

  /**
   * What was made inside the body of a wrapped function is left to that, and what an importer noted was not said.
   *
   * @param kinds - those that are expected as the tape has them: the list of a case says nothing of places
   */
  constructor(
    tape: Tape,
    { steps, order }: { readonly steps: readonly AnyState[]; readonly order: StepOrder },
    kinds: readonly Announcement['kind'][],
  ) {
    const isSaid = tape.header.imported === undefined
    this.#kinds = kinds
    this.#expected = (isSaid ? tape.events : [])
      .filter(isAnnouncement)
      .filter((event) => event.in === undefined && kinds.includes(event.kind))
    const ofKind = Map.groupBy(this.#expected, ({ kind }) => kind)
    this.#ofKind = new Map([...ofKind].map(([kind, expected]) => [kind, { expected, made: 0 }]))
    this.#places = new Places(steps, order)
  }

  taken(step: unknown): void {
    this.#taken.push(step)
  }

  made(event: Announcement, site: () => string | undefined): void {
    const { kind } = event
    if (!this.#kinds.includes(kind)) return
    const list = this.#ofKind.get(kind)
    const expected = list?.expected[list.made]
    const number = list === undefined ? 0 : ++list.made
    const isOther = this.#expected[this.#made.length]?.kind !== kind
    this.#made.push({ event, site: isOther ? site() : undefined })
    if (expected === undefined || this.#moved.some(({ difference, mates }) => difference.of === kind && !mates.length))
      return
    const passed = this.#places.passed(expected.n)
    if (passed === undefined) return
    const { step, isEarly } = passed
    const [before, behind] = [`before ${describeStep(step)}`, `after ${describeStep(step)}`]
    const [recorded, live] = isEarly ? [behind, before] : [before, behind]
    const name = `${kind} ${number}, ${addressOf(factOf(expected))}`
    const where = site()
    const place = where === undefined ? {} : { site: where }
    this.#moved.push({
      ...passed,
      difference: { of: kind, kind: 'moved', name, path: 'order', recorded, live, ...place },
    })
  }

  /** The first one of a kind that stands elsewhere among the steps, where all of the kind are made, and in their order. */
  amongSteps(kind: Announcement['kind']): Difference | undefined {
    // A step that was never made is missing, and no announcement was moved.
    return this.#moved.find(
      ({ step, mates, difference }) => difference.of === kind && step.taken && this.#areInOrder(mates),
    )?.difference
  }

  /** Steps of one turn that change places take along what is said beside each. */
  #areInOrder(mates: readonly AnyState[]): boolean {
    const places = mates.map((step) => this.#taken.indexOf(step))
    return places.every((place, i) => place >= 0 && place > (places[i - 1] ?? -1))
  }

  /** The first mark that stands elsewhere among the messages, where messages and marks by themselves are as expected. */
  amongMessages(): Difference | undefined {
    if (this.#kinds.length < 2) return undefined
    const at = this.#made.findIndex(({ event }, i) => event.kind !== this.#expected[i]?.kind)
    const [expected, made] = [this.#expected[at], this.#made[at]]
    if (expected === undefined || made === undefined) return undefined
    const isEarlier = made.event.kind === 'mark'
    const mark = isEarlier ? made.event : expected
    const count = (kind: Announcement['kind']): number =>
      this.#expected.slice(0, at).filter((event) => event.kind === kind).length + 1
    const message = `message ${count('message')}`
    const [recorded, live] = isEarlier ? ['after', 'before'] : ['before', 'after']
    return {
      of: 'mark',
      kind: 'moved',
      name: `mark ${count('mark')}, ${addressOf(factOf(mark))}`,
      path: 'order',
      recorded: `${recorded} ${message}`,
      live: `${live} ${message}`,
      ...(made.site === undefined ? {} : { site: made.site }),
    }
  }
}

type AnyState = ExchangeState | CallState

/** A step on whose other side an announcement stands now. */
interface Passed {
  readonly step: AnyState
  readonly isEarly: boolean
  /** The steps that may change places with it, as the model asked for all of them in one turn. */
  readonly mates: readonly AnyState[]
}

/** What the agent did in the recording. */
interface Act {
  readonly step: AnyState
  /** It is no action: what the agent says has no place beside it. */
  readonly isRead: boolean
  readonly n: number
  readonly end: number
  /** Nothing else was under way when it was answered: all that follows had waited for it. */
  readonly isAwaited: boolean
  /** Nothing else was under way while it was. */
  readonly isAlone: boolean
}

/** Which steps an announcement follows, and which follow it, where the recording leaves no doubt: side by side, things have no order. */
class Places {
  readonly #steps: readonly AnyState[]
  readonly #order: StepOrder
  #acts: readonly Act[] | undefined

  constructor(steps: readonly AnyState[], order: StepOrder) {
    this.#steps = steps
    this.#order = order
  }

  /** The first step on whose other side the announcement recorded at `n` stands now, if it is made at this moment. */
  passed(n: number): Passed | undefined {
    this.#acts ??= actsOf(this.#steps)
    const awaited = this.#acts.find(({ end, isAwaited }) => isAwaited && end > n)?.end ?? Number.POSITIVE_INFINITY
    // What was begun before anything was waited for has no order, and the announcement may belong to any of it.
    const isBehindAll = this.#acts.every(({ step, n: begun }) => begun <= n || begun > awaited || step.answered)
    for (const { step, isRead, n: begun, end, isAwaited, isAlone } of this.#acts) {
      if (isRead) continue
      const isBehind = isAlone || isBehindAll || begun > awaited
      if (end < n ? !isAwaited || step.answered : begun <= n || !step.taken || !isBehind) continue
      const isEarly = end < n
      if (!this.#order.isOneOfSeveral(step, n)) return { step, isEarly, mates: [] }
      // Calls of one turn may be made at once now: what is said while one is under way is on neither side of it.
      if (isEarly ? step.taken : !step.answered) continue
      return {
        step,
        isEarly,
        mates: this.#acts.flatMap((act) => (!act.isRead && this.#order.isOneOfSeveral(act.step, n) ? [act.step] : [])),
      }
    }
    return undefined
  }
}

function actsOf(steps: readonly AnyState[]): readonly Act[] {
  const own = steps.filter(({ event }) => event.in === undefined && event.kind !== 'value')
  const ends = own.map((step) => endOf(step)?.[0] ?? Number.POSITIVE_INFINITY)
  // Steps stand in the order they were begun in.
  let latest = 0
  const latestBefore = ends.map((end) => {
    const before = latest
    latest = Math.max(latest, end)
    return before
  })
  return own.flatMap((step, i): readonly Act[] => {
    const [n, end] = [step.event.n, ends[i]!]
    if (!Number.isFinite(end)) return []
    let isAwaited = latestBefore[i]! < end
    for (let next = i + 1; next < own.length && own[next]!.event.n < end; next++) isAwaited &&= ends[next]! < end
    const isAlone = latestBefore[i]! < n && (own[i + 1]?.event.n ?? Number.POSITIVE_INFINITY) > end
    return [{ step, isRead: isRead(step.event), n, end, isAwaited, isAlone }]
  })
}

function isAnnouncement(event: Tape['events'][number]): event is MessageEvent | MarkEvent {
  return event.kind === 'message' || event.kind === 'mark'
}
