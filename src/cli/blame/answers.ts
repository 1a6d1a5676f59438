import type { RepairBlame } from '../../blame/index.ts'
import type { BlamedRun } from '../../blame/run-blame.ts'
import { interval, nameOf, whyUnclear } from './verdict.ts'

/** What was found out about recorded answers, in sentences. */
export function describeRepairs(blamed: BlamedRun, repairs: RepairBlame): readonly string[] {
  const { clean, outcome, necessary, sufficient, repairSet } = repairs
  const named = (positions: readonly number[]): string =>
    positions.length === 0 ? 'none' : positions.map((position) => nameOf(blamed, position)).join('; ')
  const rate = `${clean.ok} of ${clean.forks} runs end well${interval(clean)}`
  const isAll = repairSet !== undefined && repairSet.length > 1 && repairSet.length === repairs.suspects.length
  const lists = [
    `  necessary (repaired alone, the run ends well): ${named(necessary)}`,
    `  sufficient (as recorded alone, the run fails): ${named(sufficient)}`,
    isAll
      ? `  repaired together (none can be left out): ${named(repairSet)}`
      : `  a smallest set of repairs: ${repairSet === undefined ? 'none was found' : named(repairSet)}`,
  ]
  switch (outcome) {
    case 'found':
      return [`Recorded answers made the run fail; with all of them repaired, ${rate}:`, ...lists]
    case 'equal':
      return ['No recorded answer is to blame: those of the good run are the same.']
    case 'not_needed':
      return ['No recorded answer is to blame: with all of them as recorded, runs drawn anew end well.']
    case 'no_help':
      return [`No recorded answer was shown to explain it: with all of them repaired, ${rate}.`]
    case 'undecidable':
      return [
        'Of recorded answers nothing can be said: more than a fifth of the forks could not be graded.',
        ...(blamed.verdict?.kind === 'undecidable' ? [] : whyUnclear(blamed)),
      ]
    case 'unresolved':
      return ['A limit came before all recorded answers were looked at; until then:', ...lists]
  }
}

type Mutations = NonNullable<BlamedRun['mutations']>

/** What mutations found, in sentences. */
export function describeMutations(blamed: BlamedRun, { verdict }: Mutations): readonly string[] {
  switch (verdict.kind) {
    case 'responsible':
      return verdict.positions.flatMap(({ position, mutated, control, mutants, how, evidence }) => [
        `The outcome hangs on ${nameOf(blamed, position)}:`,
        `  changed, ${mutated.flips} of ${mutated.forks} runs end otherwise (${mutants} distinct changes); as recorded, ${control.flips} of ${control.forks} do (${how === 'certified' && evidence !== undefined ? `certified, e-value ${evidence.toFixed(0)}` : how})`,
      ])
    case 'none':
      return ['The outcome hangs on no single answer, as far as changes of single values show it.']
    case 'unshown':
      return ['No single answer was shown to decide the outcome, and not all of them are ruled out.']
    case 'unresolved':
      return [
        'Not resolved: a limit came before all answers were looked at. The same command goes on where this one ended.',
      ]
    case 'undecidable':
      return ['Nothing can be said: more than a fifth of the forks could not be graded.', ...whyUnclear(blamed)]
  }
}
