import type { ForkChange } from '../fork/index.ts'
import { HarvestError, neutralLine, shellWord } from '../errors/index.ts'
import { type Step, stepsOf, type Tape } from '../tape/index.ts'
import { kindNamed } from './kinds.ts'
import type { AnswerKind, Fault, FaultSchedule, FaultSite, RunChange } from './types.ts'

/**
 * The changes of a fork that make the answers go wrong as a schedule says.
 *
 * Failures come one after the other: the first time a step is asked for it meets the first of them, asked again the
 * second, and so on until an answer comes. What only makes that answer late is done to it. Wrong values stay, whoever asks. Faults of the whole run that
 * are no changes (the clock, another agent) are named by {@link runChangesOf}.
 *
 * @throws HarvestError `HARVEST_FAULT_KIND` for a kind that is not known, `HARVEST_FAULT_STEP` for a step that is not
 * there or to which the fault cannot happen, or for a path that is not in its answer
 */
export function applyFaults(tape: Tape, schedule: FaultSchedule): readonly ForkChange[] {
  const steps = stepsOf(tape)
  const byStep = Map.groupBy(schedule, ({ step }) => step)
  return [...byStep].flatMap(([number, faults]) => {
    if (number === 0) return faults.flatMap((fault) => runChangeOf(tape, fault).changes ?? [])
    const step = steps[number - 1]
    if (step === undefined) throw noSuchPlace(tape, faults[0] as Fault)
    return changesOf({ tape, steps, step, number }, faults)
  })
}

/** What a schedule does to the run as a whole; of two clocks or two agents the last counts. */
export function runChangesOf(tape: Tape, schedule: FaultSchedule): Omit<RunChange, 'changes'> {
  const all = schedule.filter(({ step }) => step === 0).map((fault) => runChangeOf(tape, fault))
  return Object.assign({}, ...all.map(({ changes: _changes, ...rest }) => rest)) as Omit<RunChange, 'changes'>
}

function runChangeOf(tape: Tape, fault: Fault): RunChange {
  const kind = kindNamed(fault.kind)
  if (kind.changes !== 'run') throw noSuchPlace(tape, fault)
  return kind.plan(tape, fault.args)
}

function changesOf(place: FaultSite, faults: readonly Fault[]): readonly ForkChange[] {
  const changes: ForkChange[] = []
  const lasting: ((step: Step) => Step)[] = []
  const failing: ((step: Step) => Step)[] = []
  const answering: ((step: Step) => Step)[] = []
  for (const fault of faults) {
    const kind = kindNamed(fault.kind)
    const ranges = kind.changes === 'run' ? undefined : kind.fits(place)
    if (kind.changes === 'run' || ranges === undefined) throw noSuchPlace(place.tape, fault)
    const { path } = ranges
    // Else nothing would be changed, and a run that nothing happened to survives.
    if (path !== undefined && 'oneOf' in path && !path.oneOf.includes(fault.args['path'] as string))
      throw noSuchPath(place.tape, fault, path.oneOf)
    if (kind.changes === 'decision') changes.push({ step: place.number, decide: kind.decide(place, fault.args) })
    else if (kind.lasts === 'always') lasting.push(rewriting(place, kind, fault))
    else if (kind.answers === true) answering.push(rewriting(place, kind, fault))
    else failing.push(rewriting(place, kind, fault))
  }
  const { number: step } = place
  const inTurn = (rewrites: readonly ((one: Step) => Step)[]) => (one: Step) =>
    rewrites.reduce((changed, rewrite) => rewrite(changed), one)
  // What passes comes before what stays, and is done to the answer that stays.
  const lastly = inTurn(lasting)
  const attempts = [
    ...failing.map((rewrite) => inTurn([lastly, rewrite])),
    ...(answering.length > 0 ? [inTurn([lastly, ...answering])] : []),
  ]
  return [
    ...(attempts.length > 0 ? [{ step, attempts }] : []),
    ...(lasting.length > 0 ? [{ step, rewrite: lastly, always: true }] : []),
    ...changes,
  ]
}

function rewriting(place: FaultSite, kind: AnswerKind, fault: Fault): (step: Step) => Step {
  return (step) => kind.rewrite({ ...place, step }, fault.args)
}

function noSuchPath(tape: Tape, { step, kind, args }: Fault, paths: readonly string[]): HarvestError {
  const given = typeof args['path'] === 'string' ? args['path'] : JSON.stringify(args['path'] ?? null)
  return new HarvestError('HARVEST_FAULT_STEP', {
    what: `The fault ${kind} cannot happen at the path ${neutralLine(given, 80)} of step ${step}`,
    where: { tape: tape.header.id, 'paths it can change': neutralLine(paths.join(', '), 200) },
    why: 'A fault that changes nothing says nothing about the agent.',
    fix: [
      'correct the path in the schedule',
      `to see what the step answered: npx vitest-harvest show ${shellWord(tape.header.id)} --step ${shellWord(`${step}`)}`,
    ],
  })
}

function noSuchPlace(tape: Tape, { step, kind }: Fault): HarvestError {
  const count = stepsOf(tape).length
  return new HarvestError('HARVEST_FAULT_STEP', {
    what: `The fault ${kind} cannot happen at step ${step} of this run`,
    where: { tape: tape.header.id, steps: count === 0 ? 'none' : `1 to ${count}` },
    why: 'The fault needs another kind of step or the whole run (step 0), or the step does not exist.',
    fix: [`to see the steps: npx vitest-harvest show ${shellWord(tape.header.id)}`],
  })
}
