import { HarvestError, neutralLine, shellWord } from '../errors/index.ts'
import { firstNames } from '../errors/words.ts'
import type { ReplayResult } from '../match/types.ts'
import { isAllowed } from '../playback/allow.ts'
import type { Tape } from '../tape/index.ts'
import type { Control } from './control.ts'
import { type Replaying, replayOnce } from './kept-run.ts'
import { changedOutside, outsideState } from './outside-state.ts'
import { runDigest } from './run-digest.ts'

/** An unchanged run, and what all runs of its process share; `outside` absent: others run beside it, and leave theirs there. */
export type UnchangedRun = Pick<Control, 'digest' | 'replayed'> & Partial<Pick<Control, 'outside'>>

const keptIn = 'kept in'

/** Whether an error says that an agent keeps state between runs. */
export function isOfKeptState(error: unknown): error is HarvestError {
  return HarvestError.is(error, 'HARVEST_CONTROL') && error.facts.where?.[keptIn] !== undefined
}

/** What later runs are held against, right behind the replay of a run. */
export function unchangedRun(replayed: ReplayResult): UnchangedRun {
  return { ...runAlone(replayed), outside: outsideState() }
}

/** The same, where the process runs other agents beside. */
export function runAlone(replayed: ReplayResult): UnchangedRun {
  return { replayed, digest: runDigest(replayed) }
}

/**
 * Refuses an agent that keeps something from one run to the next: what a later run does otherwise would be taken for the
 * effect of what was tried out on it. Its modules load afresh for every run, and all runs share the rest of their process.
 *
 * @param spent - what was used until now; absent: nothing
 * @throws HarvestError `HARVEST_CONTROL`
 */
export async function requireNoKeptState(
  tape: Tape,
  control: UnchangedRun,
  options: Replaying,
  spent?: string,
): Promise<void> {
  requireSameOutside(tape, control, options, spent)
  // Who gave up hears what is known.
  if (options.signal?.aborted === true) return
  // What cannot be seen from outside shows in a run, or in the next one: a row that is there every other time is back behind two.
  // One that differs is no proof, for a machine may be too busy for its time limit.
  let [inTurn, others] = [0, 0]
  while (inTurn < 2 && others < 2) {
    const isSame = await replaysAgain(tape, control, options)
    if (isSame) inTurn++
    else [inTurn, others] = [0, others + 1]
  }
  requireSameOutside(tape, control, options, spent)
  if (others === 2) throw keptState(tape, [], spent)
}

/**
 * @throws HarvestError `HARVEST_CONTROL` where what all runs share is not as the control left it, and is not on the list
 *   `allow` as `state <name>`
 */
export function requireSameOutside(
  tape: Tape,
  { outside }: UnchangedRun,
  { replay }: Pick<Replaying, 'replay'>,
  spent?: string,
): void {
  const allow = replay?.allow ?? []
  const moved = outside === undefined ? [] : changedOutside(outside, outsideState())
  const changed = moved.filter((name) => !isAllowed(allow, 'state', name))
  if (changed.length > 0) throw keptState(tape, changed, spent)
}

/** The unchanged run, once more: whether it does what the control did. */
async function replaysAgain(tape: Tape, { replayed, digest }: UnchangedRun, options: Replaying): Promise<boolean> {
  const again = await replayOnce(tape, options)
  const codes = (run: typeof again): string => JSON.stringify(run.problems.map(({ code }) => code))
  return runDigest(again) === digest && codes(again) === codes(replayed)
}

function keptState(tape: Tape, names: readonly string[], spent: string | undefined): HarvestError {
  const [first] = names
  const at = names.length === 0 ? undefined : neutralLine(firstNames(names), 300)
  return new HarvestError('HARVEST_CONTROL', {
    what: 'The agent keeps state between runs, so no change can be judged',
    where: {
      tape: tape.header.id,
      [keptIn]: at ?? 'what cannot be seen from outside',
      ...(spent === undefined ? {} : { spent }),
    },
    ...(at === undefined ? { detail: 'Replayed again, the unchanged run does something else.' } : {}),
    why: 'Runs share one process: what one leaves behind changes the next, and would count as an effect.',
    fix: [
      'keep it in a variable of a module: modules load afresh for every run',
      ...(first === undefined
        ? []
        : [
            `if it changes nothing a run does, in harvest() of the Vitest config: allow: ['state ${neutralLine(first, 300)}']`,
          ]),
      `to find what its runs depend on: npx vitest-harvest doctor ${shellWord(tape.header.id)}`,
    ],
  })
}
