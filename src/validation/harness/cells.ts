import { families, type FamilyName } from '../../faults/families.ts'
import type { Cell } from '../grid/cells.ts'
import type { RunOrder } from './measure.ts'

/** `quick`: one run of every family, a short one. `full`: twenty different ones of every family, of 20 to 60 steps. */
export type Effort = 'quick' | 'full'

export const runsPerFamily = { quick: 1, full: 20 } as const

/** Steps of the runs of a family, in turn: a run of 60 costs ten times what one of 20 does. */
const stepsOfRuns = { quick: [20], full: [20, 20, 40, 20, 60] } as const

/** Where blame takes all forks there are before it says that there is no one step, fewer runs have to do. */
const runsOfLong = 5

/** Where there is no one step to be found, blame takes all forks there are before it says so: too long for a sample. */
const tooLong: readonly FamilyName[] = ['F5.erosion', 'F7.no_op_mutation', 'F7.identical_response']

/** All runs of an effort, those that take longest first. */
export function runOrders(effort: Effort, seed: number, chosen: readonly FamilyName[]): readonly RunOrder[] {
  const steps = stepsOfRuns[effort]
  const orders = chosen
    .filter((family) => effort === 'full' || chosen.length === 1 || !tooLong.includes(family))
    .flatMap((family) =>
      Array.from({ length: tooLong.includes(family) ? runsOfLong : runsPerFamily[effort] }, (_, number) => ({
        family,
        seed: seed + number,
        steps: tooLong.includes(family) ? steps[0] : (steps[number % steps.length] ?? steps[0]),
        // Repairs are tried one by one: in longer runs that would be most of the work.
        hasColumns: steps[number % steps.length] === 20 && number % 2 === 0 && hasColumns(family, effort),
      })),
    )
  return orders.toSorted((a, b) => weightOf(b) - weightOf(a))
}

/** Families with several causes that come from outside, so that there is something to tell apart by repairs. */
function hasColumns(family: FamilyName, effort: Effort): boolean {
  if (effort === 'quick') return family === 'F5.and_2' || family === 'F5.or_2'
  return family.startsWith('F5.') && !['F5.erosion', 'F5.never', 'F5.echo_chain'].includes(family)
}

function weightOf({ family, steps }: RunOrder): number {
  if (tooLong.includes(family)) return 100 * steps
  // It mostly waits: the rest is done meanwhile, and nothing waits for it at the end.
  if (family === 'F2.slow_loris') return 50 * steps
  return isNoisy(family) ? 10 * steps : steps
}

/** Whether chance is at work in the runs of a family. */
export function isNoisy(family: FamilyName): boolean {
  const noisy: readonly FamilyName[] = [
    'F5.erosion',
    'F5.never',
    'F7.no_op_mutation',
    'F7.taped_tools',
    'F7.flaky_oracle',
  ]
  return family.startsWith('F6.') || noisy.includes(family)
}

/** The runs of a family as a cell, as the engine level scores them. */
export function cellOf(family: FamilyName, effort: Effort): Cell {
  const length = Math.max(...stepsOfRuns[effort])
  // One that can do nothing right does so without looking different: its forks are as good as exact.
  const noise = noiseOf(family)
  return {
    id: `${family} n<=${length} ${noise}`,
    subject: family,
    families: [family],
    length,
    noise,
    band: 'any',
    asks: family === 'F7.no_op_mutation' || family === 'F7.identical_response' ? 'mutations' : 'run',
    hasColumns: hasColumns(family, effort),
    sweeps: false,
  }
}

function noiseOf(family: FamilyName): Cell['noise'] {
  if (family === 'F6.quiet_chance') return 'quiet'
  return isNoisy(family) && family !== 'F5.never' && family !== 'F7.flaky_oracle' ? 'slip=.01' : 'exact'
}

/** Families by a name, or all those of a group; none when there are no such. */
export function familiesOf(name: string | undefined): readonly FamilyName[] {
  return families
    .map((family): FamilyName => family.name)
    .filter((family) => name === undefined || family === name || family.startsWith(`${name}.`))
}
