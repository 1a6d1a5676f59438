import type { Judging } from '../../blame/oracle.ts'
import { HarvestError, neutralLine } from '../../errors/index.ts'
import { stepsOf, type Tape } from '../../tape/index.ts'

/** What is known of a question before anything is run. */
export interface Question {
  readonly tape: Tape
  readonly by: Judging['by']
  /** Expectations that name no call: what a run returned. */
  readonly looksAtValue: boolean
  readonly tools: 'tape' | 'live'
  readonly hasDonor: boolean
  readonly columns: boolean
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
export function foreseen(question: Question): readonly string[] {
  const { tape, tools, hasDonor, columns, mutate, good } = question
  if (tools === 'live' || hasDonor) return []
  const donor = good === undefined ? [] : [`to take the answers of a good run: ${command(question, '--donor', good)}`]
  const live = `to call the tools for real, with all they do: ${command(question, '--tools', 'live')}`
  if (columns) {
    throw new HarvestError('HARVEST_BLAME_NO_REPAIRS', {
      what: 'Nobody knows good answers to give in the place of the recorded ones',
      where: { tape: tape.header.id },
      why: 'Which recorded answers are necessary or sufficient is asked by giving good ones in their place.',
      fix:
        donor.length > 0
          ? [...donor, live]
          : ['record a good run of the agent, and name it: --donor <tape|case>', live],
    })
  }
  const hasCalls = stepsOf(tape).some(({ kind }) => kind === 'tool' || kind === 'retrieval')
  const isByCalls = question.by === 'expectations' && !question.looksAtValue
  if (!hasCalls || (isByCalls && !mutate)) return []
  return [
    'Tools answer from the tape: a run that calls them otherwise than recorded cannot go on, and counts for nothing.',
    ...[...donor, live].map((line) => `→ ${line}`),
  ]
}

/** The command that was typed, with one more option. */
function command({ typed }: Question, option: string, value: string): string {
  return ['npx harvest', ...typed, option, value].map((word) => quoted(word)).join(' ')
}

function quoted(word: string): string {
  const neutral = neutralLine(word, 200)
  return /^[\w@%+=:,./ -]+$/.test(neutral) && !(neutral.includes(' ') && neutral !== 'npx harvest')
    ? neutral
    : `'${neutral.replaceAll("'", `'\\''`)}'`
}
