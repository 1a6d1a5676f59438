import { canonicalJson } from '../providers/index.ts'
import type {
  CallEvent,
  ExchangeEvent,
  Json,
  MarkEvent,
  MessageEvent,
  StateEvent,
  Moment,
  PushEvent,
  SpawnEvent,
  Step,
  TapeEvent,
} from '../tape/index.ts'
import { isStep } from '../tape/index.ts'
import type { ForkRun } from './fork-run.ts'
import { EventNumbering } from './numbering.ts'

type Mutable<T> = { -readonly [K in keyof T]: T[K] }
/** An event without its place. */
type Placeless<E> = E extends unknown ? Omit<E, 'n' | 'at'> : never
type Note = SpawnEvent | PushEvent | MarkEvent | MessageEvent | StateEvent

/** Steps of forks, and the step of the parent each stands for. */
const parents = new WeakMap<object, Step>()

/** The step of the parent that a step of a fork was answered as; `undefined` for one the parent does not have. */
export function stepBehind(event: Step): Step | undefined {
  return parents.get(event)
}

/** A step stands for this step of the parent. */
export function standsFor(event: Step, parent: Step): void {
  parents.set(event, parent)
}

/** One event of a fork while it happens. */
export class Entry<E extends TapeEvent = TapeEvent> {
  readonly event: Mutable<E>
  /** The parent's event this may turn out to be. */
  readonly #parent: E | undefined
  readonly #run: ForkRun
  /** Recorded moments still to come. */
  #open: number
  #isOther: boolean

  constructor(run: ForkRun, fields: Placeless<E>, parent: E | undefined) {
    const { numbers } = run.account
    this.#run = run
    this.#parent = parent
    this.#open = parent === undefined ? 0 : momentsOf(parent)
    const recorded = parent && ([parent.n, parent.at] as const)
    const isInPlace = recorded !== undefined && numbers.isInPlace(recorded, run.now)
    this.#isOther = !isInPlace
    const [n, at] = isInPlace ? numbers.did(recorded) : numbers.fresh(run.now)
    this.event = { ...fields, n, at } as unknown as Mutable<E>
    if (parent !== undefined && isStep(parent)) parents.set(this.event, parent)
  }

  /** When the next thing about it happens; `recorded`: when it happened in the parent. */
  moment(recorded?: Moment): Moment {
    const { numbers } = this.#run.account
    if (recorded === undefined || !numbers.isInPlace(recorded, this.#run.now)) {
      this.#isOther = true
      return numbers.fresh(this.#run.now)
    }
    this.#open--
    return numbers.got(recorded)
  }

  /** It is not what the parent did. */
  differs(): void {
    this.#isOther = true
  }

  /** The parent's own event, when this is the same at the same place. */
  get recorded(): E | undefined {
    return this.#isOther || this.#open > 0 ? undefined : this.#parent
  }
}

/** What a fork did, in the shape of a tape. */
export class Account {
  readonly numbers: EventNumbering
  readonly entries: Entry[] = []
  /** Steps made so far. */
  made = 0
  readonly #run: ForkRun
  readonly #notes: Set<Note>

  constructor(run: ForkRun) {
    this.#run = run
    this.numbers = new EventNumbering(run.tape.events)
    this.#notes = new Set(run.tape.events.filter(isNote))
  }

  /** A step begins. `parent`: what it is when everything about it is as recorded. */
  began<E extends Step>(fields: Placeless<E>, parent?: E): Entry<E> {
    this.made++
    const entry = new Entry<E>(this.#run, fields, parent)
    this.entries.push(entry as unknown as Entry)
    return entry
  }

  /** Something that takes no time. */
  noted(fields: Placeless<Note>): void {
    const [key, limit] = [contentOf(fields), this.#run.gate.headN]
    let parent: Note | undefined
    for (const note of this.#notes) {
      if (note.kind !== fields.kind || contentOf(note) !== key) continue
      this.#notes.delete(note)
      if (note.n < limit) parent = note
      break
    }
    this.entries.push(new Entry<Note>(this.#run, fields, parent) as unknown as Entry)
  }
}

function isNote(event: TapeEvent): event is Note {
  return /^(?:spawn|push|mark|message|state)$/.test(event.kind)
}

function contentOf(note: Placeless<Note>): string {
  const { n: _n, at: _at, in: _in, site: _site, ...content } = note as Note
  return canonicalJson(content as unknown as Json)
}

/** How many moments a step has behind the one at which it began. */
function momentsOf(event: TapeEvent): number {
  switch (event.kind) {
    case 'exchange':
      return ofExchange(event)
    case 'tool':
    case 'retrieval':
    case 'value':
      return ofCall(event)
    default:
      return 0
  }
}

function ofExchange({ response, error, aborted }: ExchangeEvent): number {
  const pieces = response ? 1 + response.chunks.length + (response.end ? 1 : 0) : 0
  return pieces + (error ? 1 : 0) + (aborted ? 1 : 0)
}

function ofCall({ yields = [], settled }: CallEvent): number {
  return yields.length + (settled ? 1 : 0)
}
