import type { MutatedPosition, RepairBlame, Responsible } from '../../blame/index.ts'
import { counted } from '../../errors/words.ts'
import type { BlamedRun } from '../../blame/run-blame.ts'
import { interval, nameOf, whyUnclear } from './verdict.ts'

/** What was found out about recorded answers, in sentences. */
export function describeRepairs(blamed: BlamedRun, repairs: RepairBlame): readonly string[] {
  const { clean, outcome, necessary, sufficient, repairSet } = repairs
  const named = (positions: readonly number[]): string =>
    positions.length === 0 ? 'none' : positions.map((position) => nameOf(blamed, position)).join('; ')
  const rate = `${clean.ok} of ${clean.forks} runs end well${interval(clean)}`
  const isWhole = (blamed.unrepaired ?? []).length === 0
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
      return isWhole
        ? ['No recorded answer is to blame: those of the good run are the same.']
        : ['No recorded answer could be repaired with another one.', ...notRepaired(blamed)]
    case 'not_needed':
      return ['No recorded answer is to blame: with all of them as recorded, resampled runs end well.']
    case 'no_help':
      return [
        `No recorded answer was shown to explain it: with ${isWhole ? 'all of them' : 'those that can be'} repaired, ${rate}.`,
        ...notRepaired(blamed),
      ]
    case 'undecidable':
      return [
        'Undecidable for recorded answers: more than a fifth of the forks are ungraded.',
        ...(blamed.verdict?.kind === 'undecidable' ? [] : whyUnclear(blamed)),
      ]
    case 'unresolved':
      return ['Stopped by a limit before all recorded answers were tested; so far:', ...lists]
  }
}

/** What the good run has no answer to may be to blame all the same. */
function notRepaired(blamed: BlamedRun): readonly string[] {
  const { unrepaired = [] } = blamed
  if (unrepaired.length === 0) return []
  return [
    `  not repaired, for the run of --reference has no answer to it: ${unrepaired.map((position) => nameOf(blamed, position)).join('; ')}`,
  ]
}

type Mutations = NonNullable<BlamedRun['mutations']>

/** What mutations found, in sentences. */
export function describeMutations(blamed: BlamedRun, { verdict, positions }: Mutations): readonly string[] {
  switch (verdict.kind) {
    case 'responsible':
      return verdict.positions.flatMap((found) => [
        `The outcome depends on ${nameOf(blamed, found.position)}:`,
        `  ${flipText(
          found,
          positions.find(({ position }) => position === found.position),
        )}`,
      ])
    case 'none':
      return ['The outcome depends on no single answer, as far as changes of single values show.']
    case 'unshown':
      return [
        'No single answer was shown to decide the outcome, and not all of them are ruled out.',
        ...untriedText(blamed, verdict.untried ?? []),
      ]
    case 'unresolved':
      return ['Not resolved: stopped by a limit before all answers were tested.']
    case 'undecidable':
      return ['Undecidable: more than a fifth of the forks are ungraded.', ...whyUnclear(blamed)]
  }
}

/** A text of a model has no single value that could be another one. */
function untriedText({ steps: all }: BlamedRun, untried: readonly number[]): readonly string[] {
  const steps = untried.flatMap((position) => all[position]?.steps ?? [])
  if (steps.length === 0) return []
  return [
    `  not tried, as no single value of it can be changed: ${steps.length === 1 ? 'step' : 'steps'} ${steps.join(', ')}`,
  ]
}

/** The rate of the table, where it has one: distinct changes count once, and pairs that certify repeat them. */
function flipText({ control, mutants, how, evidence, mutated }: Responsible, of: MutatedPosition | undefined): string {
  const { rate, display, tried = mutants } = of ?? {}
  const share =
    rate === undefined || display === undefined
      ? `${mutated.flips} of ${mutated.forks} runs end differently (${counted(mutants, 'distinct change')})`
      : `runs end differently at a rate of ${rate.toFixed(2)} (${display.low.toFixed(2)} to ${display.high.toFixed(2)}; ${counted(tried, 'distinct change')})`
  const kept = { ok: control.flips, forks: control.forks }
  const shown = how === 'certified' && evidence !== undefined ? `certified, e-value ${evidence.toFixed(0)}` : how
  return `changed, ${share}; as recorded, ${control.flips} of ${control.forks} do${how === 'exact' ? '' : interval(kept)}; ${shown}`
}
