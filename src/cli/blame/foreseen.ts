import type { Judging } from '../../blame/oracle.ts'
import { HarvestError } from '../../errors/index.ts'
import { shellWord } from '../../errors/words.ts'
import { stepsOf, type Tape } from '../../tape/index.ts'

/** What is known of a question before anything is run. */
export interface ForeseenBlame {
  readonly tape: Tape
  readonly by: Judging['by']
  /** Expectations that name no call: what a run returned. */
  readonly looksAtValue: boolean
  readonly tools: 'tape' | 'live'
  readonly hasReference: boolean
  readonly repairs: boolean
  readonly mutate: boolean
  /** Words of the command line, as they were typed. */
  readonly typed: readonly string[]
  /** A good run of the same agent, when there is one. */
  readonly good?: string
}

/**
 * What can be told before anything is spent: a question that needs good answers nobody has is refused, and of runs that
 * would leave the tape it is said how they could be graded.
 *
 * @returns what to tell, one per line
 * @throws HarvestError `HARVEST_BLAME_NO_REPAIRS` with the command that works
 */
export function foreseen(question: ForeseenBlame): readonly string[] {
  const { tape, tools, hasReference, repairs, mutate, good } = question
  if (tools === 'live' || hasReference) return []
  const reference =
    good === undefined ? [] : [`to take the answers of a good run: ${command(question, '--reference', good)}`]
  const live = `to call the tools for real, with all they do: ${command(question, '--tools', 'live')}`
  if (repairs) {
    throw new HarvestError('HARVEST_BLAME_NO_REPAIRS', {
      what: '--repairs needs good answers',
      where: { tape: tape.header.id },
      why: 'Repairs replace recorded answers with good ones to find which are necessary or sufficient.',
      fix:
        reference.length > 0
          ? [...reference, live]
          : ['record a good run of the agent and name it: --reference <tape|case>', live],
    })
  }
  const hasCalls = stepsOf(tape).some(({ kind }) => kind === 'tool' || kind === 'retrieval')
  const isByCalls = question.by === 'expectations' && !question.looksAtValue
  if (!hasCalls || (isByCalls && !mutate)) return []
  return [
    'Tools answer from the tape: a run that calls them otherwise than recorded cannot go on, and counts for nothing.',
    ...[...reference, live].map((line) => `→ ${line}`),
  ]
}

/** The command that was typed, with one more option. */
function command({ typed }: ForeseenBlame, option: string, value: string): string {
  return ['npx vitest-harvest', ...[...typed, option, value].map(shellWord)].join(' ')
}
