import { canonicalJson } from '../json/canonical.ts'
import { firstDifference } from '../match/difference.ts'
import { GivenInput } from '../match/given-input.ts'
import { lossesIn, type Tape } from '../tape/index.ts'
import { presentValue } from '../tape/present.ts'
import type { ReplayRun } from './run.ts'
import type { SaidOtherwise } from './announcements.ts'
import type { InputCompared, InputDifference } from './states.ts'

/** What the agent makes of its input, beside what it made of it when recorded. */
export class InputOfReplay {
  readonly #tape: Tape
  readonly #expected: Tape
  readonly given: GivenInput
  /** Whether the agent takes an input at all: one that does not may be given its own by a test. */
  #isTaken = true

  /** @param expected - the tape with the states that are expected */
  constructor(tape: Tape, expected: Tape) {
    this.#tape = tape
    this.#expected = expected
    this.given = new GivenInput(tape, tape.header.input)
  }

  /** The input for an agent. */
  forAgent(agent: { readonly length: number }): unknown {
    this.#isTaken = agent.length > 0
    return this.given.give()
  }

  /**
   * Compares how it was left; what cannot be compared is listed.
   *
   * @returns `undefined` where nothing is compared
   */
  compare(run: ReplayRun): InputCompared | undefined {
    const { left: now } = this.given
    if (now === undefined) return undefined
    const { isChanged } = now
    const left = this.#expected.close?.input?.left
    // What has methods is handed to the agent without them: it cannot do to it what it did.
    const isWhole = lossesIn(this.#tape.header.input ?? null).length === 0
    if (left === undefined) {
      if (isChanged) run.noteHidden(run.hidden.ofInput(this.#tape.close?.input === undefined ? 'unseen' : 'unchanged'))
      else if (isWhole) run.noteHidden(run.hidden.of('input', now.value))
      return undefined
    }
    const json = run.encodeAs(undefined, () => [left], run.redactor.json(now.json))
    run.compareValues(undefined, undefined, () => ({ input: json }))
    const [expected, live] = [presentValue(left), presentValue(json)]
    const recorded = presentValue(this.#tape.close?.input?.left ?? this.#tape.header.input ?? null)
    if (canonicalJson(expected) === canonicalJson(live)) {
      run.noteHidden(run.hidden.of('input', now.value))
      return { found: [], recorded, live }
    }
    if (!isWhole || (!isChanged && !this.#isTaken)) {
      run.noteHidden(run.hidden.ofInput(isWhole ? 'not taken' : 'lost'))
      return undefined
    }
    const first = firstDifference(expected, live, 'input')
    return { found: first === undefined ? [] : [{ kind: 'changed', ...first }], recorded, live }
  }

  /** In which way it was left otherwise, of those whose cause may be another than the agent's code. */
  otherwise(found: readonly InputDifference[]): Extract<SaidOtherwise, 'input' | 'untouched' | 'added' | 'lessened'> {
    if (this.given.left?.isChanged === false) return 'untouched'
    if (found.some(({ recorded }) => recorded === '(absent)')) return 'added'
    const hasTools = this.#tape.events.some(({ kind }) => kind === 'tool')
    return hasTools && found.some(({ live }) => live === '(absent)') ? 'lessened' : 'input'
  }
}
