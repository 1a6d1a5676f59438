import { canonicalJson } from '../providers/index.ts'
import { firstDifference } from '../match/difference.ts'
import { isStep } from '../match/step.ts'
import type { Compared } from '../match/types.ts'
import { RecordedStates } from '../playback/states.ts'
import type { Json, StateEvent, Tape } from '../tape/index.ts'
import type { AnnouncementDifference } from './announcements.ts'
import { presentValue } from '../tape/present.ts'

/** Where an agent left its input otherwise than when recorded. */
export type InputDifference = Pick<AnnouncementDifference, 'kind' | 'path' | 'recorded' | 'live'>

/** Snapshots of one replay beside those of its tape. */
export class States {
  readonly #tape: Tape
  readonly #recorded: RecordedStates
  readonly #met = new Set<StateEvent>()
  readonly #different: AnnouncementDifference[] = []
  /** Names of those that are compared with nothing: no other tool records what an agent says of its state. */
  readonly notHeld = new Set<string>()
  #same = 0
  /** Whether what the agent made of its input is compared, too. */
  #isInput = false

  constructor(tape: Tape) {
    this.#tape = tape
    this.#recorded = new RecordedStates(tape)
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
    const { call, isKept, expected } = this.#recorded.called(name, body)
    if (!isKept) return undefined
    const data = encode()
    const snapshot = { data, call, ...(expected?.thinned === true ? { thinned: true as const } : {}) }
    if (expected === undefined && this.#tape.header.imported !== undefined) {
      this.notHeld.add(name)
      return snapshot
    }
    if (expected !== undefined) this.#met.add(expected)
    const [before, now] = [expected && presentValue(expected.data), presentValue(data)]
    if (before !== undefined && canonicalJson(before) === canonicalJson(now)) {
      this.#same++
      return snapshot
    }
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
  leftInput(found: readonly InputDifference[]): readonly AnnouncementDifference[] {
    this.#isInput = true
    if (found.length === 0) this.#same++
    const at = { name: 'the input, at the end', ...this.#stepsBefore(Infinity) }
    const different = found.map((difference) => ({ ...difference, ...at }))
    this.#different.push(...different)
    return different
  }

  /** @param ran - whether the body of a recorded call ran */
  compared(ran: (n: number) => boolean): Compared {
    const other = new Set(this.#different.map(({ name }) => name)).size
    return { recorded: this.#due(ran).length + Number(this.#isInput), same: this.#same, other }
  }

  /** What was made and is not as recorded, so far. */
  get made(): readonly AnnouncementDifference[] {
    return this.#different
  }

  /** What differs, in order. */
  differences(ran: (n: number) => boolean): readonly AnnouncementDifference[] {
    const missing = this.#due(ran)
      .filter((event) => !this.#met.has(event))
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

  #due(ran: (n: number) => boolean): readonly StateEvent[] {
    return this.#recorded.all.filter((event) => event.in === undefined || ran(event.in))
  }

  #stepsBefore(n: number): { readonly step: number; readonly stepNumber: number } {
    const steps = this.#tape.events.filter((event) => isStep(event) && event.n < n)
    return { step: steps.at(-1)?.n ?? 0, stepNumber: steps.length }
  }
}

function textOf(data: Json): string {
  return typeof data === 'string' ? data : JSON.stringify(data)
}
