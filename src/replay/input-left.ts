import { canonicalJson } from '../json/canonical.ts'
import { firstDifference } from '../match/difference.ts'
import { decodeValue, encodeFor, type Json, lossesIn, type Tape } from '../tape/index.ts'
import { presentValue } from '../tape/present-args.ts'
import type { ReplayRun } from './run.ts'
import type { InputDifference } from './states.ts'

/** What the agent makes of its input, beside what it made of it when recorded. */
export class InputOfReplay {
  readonly #tape: Tape
  #value: unknown
  #before: Json | undefined
  #after: Json | undefined
  /** Whether the agent takes an input at all: one that does not may be given its own by a test. */
  #isTaken = true

  constructor(tape: Tape) {
    this.#tape = tape
  }

  /** The input for an agent. */
  forAgent(agent: { readonly length: number }): unknown {
    const { input } = this.#tape.header
    if (input === undefined) return undefined
    this.#isTaken = agent.length > 0
    this.#value = decodeValue(input)
    this.#before = this.#now()
    return this.#value
  }

  /** The agent returned or threw: the recorder looked then, too. */
  ended(): void {
    if (typeof this.#value === 'object' && this.#value !== null) this.#after = this.#now()
  }

  #now(): Json {
    return encodeFor(this.#tape.header.flags, this.#value)
  }

  /**
   * Compares how it was left; what cannot be compared is listed.
   *
   * @returns what differs; `undefined` where nothing is compared
   */
  compare(run: ReplayRun): readonly InputDifference[] | undefined {
    const [before, after] = [this.#before, this.#after]
    if (before === undefined || after === undefined) return undefined
    const isChanged = JSON.stringify(after) !== JSON.stringify(before)
    const left = this.#tape.close?.input?.left
    if (left === undefined) {
      if (isChanged) run.noteHidden(run.hidden.ofInput(this.#tape.close?.input === undefined ? 'unseen' : 'unchanged'))
      return undefined
    }
    const now = run.encodeAs(undefined, () => [left], run.redactor.json(after))
    run.compareValues(undefined, undefined, () => ({ input: now }))
    const [recorded, live] = [presentValue(left), presentValue(now)]
    if (canonicalJson(recorded) === canonicalJson(live)) {
      run.noteHidden(run.hidden.of('input', this.#value))
      return []
    }
    // What has methods is handed to the agent without them: it cannot do to it what it did.
    const isWhole = lossesIn(this.#tape.header.input ?? null).length === 0
    if (!isWhole || (!isChanged && !this.#isTaken)) {
      run.noteHidden(run.hidden.ofInput(isWhole ? 'not taken' : 'lost'))
      return undefined
    }
    return [firstDifference(recorded, live, 'input') ?? []].flat().map((found) => ({ kind: 'changed', ...found }))
  }
}
