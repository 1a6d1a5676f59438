import { canonicalJson } from '../providers/index.ts'
import { firstDifference } from '../match/difference.ts'
import { isStep } from '../match/step.ts'
import type { Compared, ExpectedState } from '../match/types.ts'
import { RecordedStates } from '../playback/states.ts'
import type { Json, StateEvent, Tape } from '../tape/index.ts'
import type { AnnouncementDifference } from './announcements.ts'
import { presentValue } from '../tape/present.ts'
import { changesBetween, inputState } from './state-changes.ts'

/** Where an agent left its input otherwise than when recorded. */
export type InputDifference = Pick<AnnouncementDifference, 'kind' | 'path' | 'recorded' | 'live'>

/** How an agent left its input, beside how it left it when recorded. */
export interface InputCompared {
  /** Where it is not as expected. */
  readonly found: readonly InputDifference[]
  readonly recorded: Json
  readonly live: Json
}

/** Snapshots of one replay beside those of its tape. */
export class States {
  readonly #tape: Tape
  readonly #onTape: RecordedStates
  /** Those of the tape, or what is expected in their place. */
  readonly #expected: RecordedStates
  /** Calls that are on the tape and were made. */
  readonly #calls = new Set<StateEvent>()
  readonly #changed: ExpectedState[] = []
  readonly #met = new Set<StateEvent>()
  readonly #different: AnnouncementDifference[] = []
  /** Names of those that are compared with nothing: no other tool records what an agent says of its state. */
  readonly notHeld = new Set<string>()
  #same = 0
  /** Whether what the agent made of its input is compared, too. */
  #isInput = false

  /** @param expected - the tape with the states that are expected */
  constructor(tape: Tape, expected: Tape) {
    this.#tape = tape
    this.#onTape = new RecordedStates(tape)
    this.#expected = new RecordedStates(expected)
  }

  /**
   * The agent called `state`, inside the recorded call `body` if that runs.
   *
   * @param encode - the value, as a tape holds it: asked for only where it is compared
   * @returns the snapshot, where the call leaves one
   */
  called(
    name: string,
    encode: () => Json,
    body: number | undefined,
    site: () => string | undefined,
  ): { readonly data: Json; readonly call: number; readonly thinned?: true } | undefined {
    const { expected: recorded } = this.#onTape.called(name, body)
    const { call, isKept, expected } = this.#expected.called(name, body)
    if (recorded !== undefined) this.#calls.add(recorded)
    if (!isKept) return undefined
    const data = encode()
    const snapshot = { data, call, ...(expected?.thinned === true ? { thinned: true as const } : {}) }
    if (expected === undefined && this.#tape.header.imported !== undefined) {
      this.notHeld.add(name)
      return snapshot
    }
    if (expected !== undefined) this.#met.add(expected)
    const [before, now] = [expected && presentValue(expected.data), presentValue(data)]
    const isSame = before !== undefined && canonicalJson(before) === canonicalJson(now)
    if (isSame && expected === recorded) this.#same++
    else this.#note({ of: name, call, ...inside(body) }, recorded && presentValue(recorded.data), now)
    if (isSame) return snapshot
    const where = site()
    const base = {
      name: `state ${call}, ${name}`,
      ...this.#stepsBefore(expected?.n ?? Infinity),
      ...(where === undefined ? {} : { site: where }),
    }
    if (expected === undefined)
      this.#different.push({ ...base, kind: 'extra', path: '', recorded: '(absent)', live: textOf(data) })
    else
      for (const difference of [firstDifference(before, now, name) ?? []].flat())
        this.#different.push({ ...base, kind: 'changed', ...difference })
    return snapshot
  }

  /**
   * The run is over: how the agent left its input.
   *
   * @returns what differs in that, and not in snapshots before it
   */
  leftInput({ found, recorded, live }: InputCompared): readonly AnnouncementDifference[] {
    this.#isInput = true
    this.#note({ of: inputState }, recorded, live)
    const at = { name: 'the input, at the end', ...this.#stepsBefore(Infinity) }
    const different = found.map((difference) => ({ ...difference, ...at }))
    this.#different.push(...different)
    return different
  }

  /**
   * Beside the tape, be they expected or not.
   *
   * @param ran - whether the body of a recorded call ran
   */
  compared(ran: (n: number) => boolean): Compared {
    const recorded = this.#onTape.all.filter((event) => isDue(event, ran)).length
    return { recorded: recorded + Number(this.#isInput), same: this.#same, other: this.#changed.length }
  }

  /** What was made and is not as recorded, so far. */
  get made(): readonly AnnouncementDifference[] {
    return this.#different
  }

  /** What differs, in order. */
  differences(ran: (n: number) => boolean): readonly AnnouncementDifference[] {
    const missing = this.#expected.all
      .filter((event) => isDue(event, ran) && !this.#met.has(event))
      .map((event) => ({
        kind: 'missing' as const,
        name: `state ${event.call}, ${event.name}`,
        path: '',
        recorded: textOf(event.data),
        live: '(absent)',
        ...this.#stepsBefore(event.n),
      }))
    return [...this.#different, ...missing]
  }

  /** What is another one than on the tape, as a case lists it. */
  changed(ran: (n: number) => boolean): readonly ExpectedState[] {
    const gone = this.#onTape.all.filter((event) => !this.#calls.has(event) && isDue(event, ran))
    return [
      ...this.#changed,
      ...gone.map((event) => ({
        of: event.name,
        call: event.call,
        ...inside(event.in),
        changes: [{ path: '' }],
      })),
    ]
  }

  #note(which: Omit<ExpectedState, 'changes'>, recorded: Json | undefined, live: Json): void {
    const changes = changesBetween(recorded, live)
    if (changes.length === 0) this.#same++
    else this.#changed.push({ ...which, changes })
  }

  #stepsBefore(n: number): { readonly step: number; readonly stepNumber: number } {
    const steps = this.#tape.events.filter((event) => isStep(event) && event.n < n)
    return { step: steps.at(-1)?.n ?? 0, stepNumber: steps.length }
  }
}

function inside(body: number | undefined): { readonly in?: number } {
  return body === undefined ? {} : { in: body }
}

function isDue({ in: body }: StateEvent, ran: (n: number) => boolean): boolean {
  return body === undefined || ran(body)
}

function textOf(data: Json): string {
  return typeof data === 'string' ? data : JSON.stringify(data)
}
