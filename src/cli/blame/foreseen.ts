import type { OffTapeRisk } from '../../blame/off-tape.ts'
import type { GoodRun } from '../../blame/known-good.ts'
import { decisionOf } from '../../blame/positions.ts'
import { HarvestError } from '../../errors/index.ts'
import { counted } from '../../errors/words.ts'
import type { Screen } from '../../report/output.ts'
import { stepsOf, type Tape } from '../../tape/index.ts'
import { typedAgain } from '../typed-again.ts'

/** What is known of a question before anything is run. */
export interface ForeseenBlame {
  readonly tape: Tape
  readonly tools: 'tape' | 'live'
  readonly hasReference: boolean
  readonly repairs: boolean
  /** A good run of the same agent whose answers may help, when there is one. */
  readonly good?: Pick<GoodRun, 'isOfOtherInput' | 'name'>
}

/**
 * Refuses a question that needs good answers where there is no source of them, before anything is run.
 *
 * @throws HarvestError `HARVEST_BLAME_NO_REPAIRS` with the command that works
 */
export function requireGoodAnswers(question: ForeseenBlame): void {
  const { tape, tools, hasReference, repairs } = question
  if (!repairs || tools === 'live' || hasReference) return
  const { reference, live } = waysOn(question)
  throw new HarvestError('HARVEST_BLAME_NO_REPAIRS', {
    what: '--repairs needs good answers',
    where: { tape: tape.header.id },
    why: 'Repairs replace recorded answers with good ones to find which are necessary or sufficient.',
    fix:
      reference.length > 0
        ? [...reference, live]
        : ["record a good run of the agent and name it: --reference '<tape|case>'", live],
  })
}

/** The result of free replays of other decisions, and how runs that leave the tape could be graded. */
export function foreseenOffTape({ tried, steps }: OffTapeRisk, question: ForeseenBlame): readonly string[] {
  const { reference, live } = waysOn(question)
  return [
    `Tried for free: ${steps.length} of ${counted(tried, 'other decision')} of its models ${steps.length === 1 ? 'leaves' : 'leave'} the tape${question.hasReference ? ' and the good run' : ''} (${steps.length === 1 ? 'step' : 'steps'} ${steps.join(', ')}): tools were never asked for that. Such runs count for nothing.`,
    ...[...reference, live].map((line) => `→ ${line}`),
  ]
}

/** With tools from the tape a wrong answer of theirs and wrong code look alike: said before runs are paid for. */
export function foreseenLayers(tape: Tape, tools: 'tape' | 'live'): readonly string[] {
  const hasTools = stepsOf(tape).some((step) => decisionOf(step) === undefined)
  if (tools === 'live' || !hasTools) return []
  return [
    'Tools answer from the tape, so a wrong answer of theirs cannot be told from wrong code.',
    `→ ${toCallTools()}`,
  ]
}

function waysOn(question: ForeseenBlame): { readonly reference: readonly string[]; readonly live: string } {
  const { good, hasReference } = question
  return {
    // With the answers of a good run they left the tape as well.
    reference:
      good === undefined || hasReference
        ? []
        : [
            `to take the answers of a good run${otherInput(good.isOfOtherInput === true)}: ${typedAgain({ reference: good.name })}`,
          ],
    live: toCallTools(),
  }
}

/** What a run can be used for that was asked otherwise. */
export function otherInput(isOfOther: boolean): string {
  return isOfOther ? ' of another input to the very same calls' : ''
}

function toCallTools(): string {
  return `to call the tools for real, with all they do: ${typedAgain({ tools: 'live' })}`
}

/** What is said before anything is spent, each line once: to people at once, and to programs with the answer. */
export class Foretold {
  readonly lines = new Set<string>()
  readonly #people: Screen | undefined

  /** @param people - `undefined` where a program asked */
  constructor(people: Screen | undefined) {
    this.#people = people
  }

  tell(lines: readonly string[]): void {
    for (const line of lines) {
      if (!this.lines.has(line)) this.#people?.note(line)
      this.lines.add(line)
    }
  }
}
