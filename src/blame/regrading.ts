import { HarvestError, neutralLine } from '../errors/index.ts'
import { counted } from '../errors/words.ts'
import type { KeptRun, NotAgain, ReplayedFork, SentAgain } from '../fork/index.ts'
import type { Budget } from '../live/index.ts'
import type { Tape } from '../tape/index.ts'
import { askedWhile } from './asked-while.ts'
import { gradeHeard, spendGrading } from './graded-use.ts'
import { requireSteadyGrades } from './grading.ts'
import type { GradeGiven, Oracle } from './oracle.ts'
import type { ForkDraw } from './types.ts'

/** A fork of an earlier session: what today's code makes of it; `undefined`: that is unknown. */
export type KeptToday = (Regraded & SentAgain) | NotAgain | undefined

/** A fork of an earlier session that does the same today. */
export interface Regraded {
  /** Its grade of today; absent: who grades would have to be paid for it. */
  readonly given?: GradeGiven
}

export interface RegradingOptions {
  /** The tape that was forked. */
  readonly tape: Tape
  readonly oracle: Oracle
  readonly budget: Budget
  /** Who grades asks someone for it, who may have to be paid. */
  readonly isPaidToGrade: boolean
  /** That who grades disagrees with himself is known, and counted. */
  readonly isFlakyOracle?: boolean
}

/**
 * Grades forks of earlier sessions by the oracle of today, which may read what is not as it was: else grades of two oracles
 * would count together.
 */
export class Regrading {
  readonly #options: RegradingOptions
  #isPaid: boolean

  constructor(options: RegradingOptions) {
    this.#options = options
    this.#isPaid = options.isPaidToGrade
  }

  /**
   * @param was - the fork as it was graded then
   * @throws HarvestError HARVEST_ORACLE_FLAKY where the grade is another one, and another one again
   */
  async of(run: KeptRun, { outcome, tape: { events } }: ReplayedFork, was: ForkDraw): Promise<Regraded> {
    // No oracle graded it: it left its tape, or never reached the step that was to be held.
    if (run.hasProblems || (was.grade === 'undefined' && was.because !== undefined)) return { given: givenThen(was) }
    const { tape, oracle, budget, isFlakyOracle = false } = this.#options
    const grade = async (): Promise<GradeGiven | undefined> => {
      if (this.#isPaid) return undefined
      const { came, hasAsked } = await askedWhile(() => gradeHeard(oracle, { tape, outcome, events, problems: [] }))
      spendGrading(budget, came.calls)
      // One that asks now and then is found out by its first question.
      this.#isPaid = hasAsked || came.calls.length > 0
      return came.given
    }
    // Who asked someone then would do so again.
    this.#isPaid ||= was.grading !== undefined
    const given = await grade()
    if (given === undefined || this.#isPaid) return {}
    if (given.grade !== was.grade && oracle.mayVary && !isFlakyOracle)
      await requireSteadyGrades({ recorded: given.grade, regrade: async () => (await grade())?.grade })
    return { given }
  }
}

interface Graded {
  readonly draw: Pick<ForkDraw, 'grade'>
}

/** A grade that forks had, and that none of them has today. */
export interface LostGrade {
  readonly grade: 'ok' | 'bad'
  readonly forks: number
}

/**
 * Whether the oracle has no longer a grade that it gave: of forks that did the same again, none has it today. It may have
 * changed its mind about some of them; but of one that says `ok` of nothing any more, or `bad`, no verdict is about the agent.
 *
 * @param today - the same forks as `then`, in the same order
 */
export function lostGrade(then: readonly Graded[], today: readonly Graded[]): LostGrade | undefined {
  const lost = (['ok', 'bad'] as const).map((grade) => {
    const had = then.flatMap(({ draw }, at) => (draw.grade === grade ? [today[at]?.draw.grade] : []))
    return { grade, forks: had.includes(grade) ? 0 : had.length }
  })
  return lost.find(({ forks }) => forks > 0)
}

export function otherOracle({ grade, forks }: LostGrade, oracle: string, file: string): HarvestError {
  const were = forks === 1 ? 'The fork that was' : `Each of ${counted(forks, 'fork')} that were`
  return new HarvestError('HARVEST_ORACLE_CHANGED', {
    what: `${were} graded ${grade} when made is not graded ${grade} today`,
    where: { forks: `${forks}`, oracle: neutralLine(oracle, 200), file },
    why: 'They do today what they did, with the same answers. So the oracle reads what is not as it was: a file, a database, a program, the time. A verdict would be about that, not about the agent.',
    fix: [
      'put back what the oracle reads, and run the same command again',
      "to grade runs by a call that is right: --ok '<call>', without --oracle",
      'if the oracle is right today, to start again (the earlier forks stay in the file): --no-cache',
    ],
  })
}

function givenThen({ grade, because }: ForkDraw): GradeGiven {
  return { grade, ...(because === undefined ? {} : { because }) }
}
