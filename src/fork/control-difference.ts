import { firstDifference } from '../match/difference.ts'
import type { Drift, ReplayResult } from '../match/types.ts'
import { isStep, type Json, type Outcome, stepsOf, type Tape } from '../tape/index.ts'
import type { ControlDifference } from '../jobs/job.ts'
import { argsByKey } from '../trace/args.ts'
import { compareTraces, traceOf } from '../trace/index.ts'

/**
 * The first difference of a run that had an answer to all it asked: a question, then a step it left out or a call that is
 * another, then the outcome. Another spelling of one question is no difference.
 */
export function firstDifferenceOf(
  run: ReplayResult,
  now: Pick<Tape, 'events' | 'close'>,
): ControlDifference | undefined {
  const { tape, drift, unused } = run
  const steps = stepsOf(tape)
  const asked = drift.filter(isOtherQuestion).map(({ stepNumber, part }) => ({ step: stepNumber, what: part }))
  const leftOut = unused.map((step) => ({
    step: steps.indexOf(step) + 1,
    what: `${step.kind === 'exchange' ? `${step.method} ${step.url}` : step.name} is left out`,
  }))
  const [first] = [...asked, ...leftOut].filter(({ step }) => step > 0).sort((a, b) => a.step - b.step)
  if (first !== undefined) return first
  return otherOrder(run) ?? otherCall(tape, now) ?? otherAnnouncement(run) ?? otherOutcome(run, now)
}

function isOtherQuestion({ class: name }: Drift): boolean {
  return name !== 'encoding' && name !== 'bookkeeping' && name !== 'functions'
}

/** A step that no longer waits for what it waited for. */
function otherOrder({ problems }: ReplayResult): ControlDifference | undefined {
  const problem = problems.find(({ code }) => code === 'HARVEST_ORDER')
  const step = /^\d+/.exec(problem?.facts.where?.['step'] ?? '')?.[0]
  return problem && { ...(step === undefined ? {} : { step: Number(step) }), what: 'made in another order' }
}

/** A call that is made elsewhere in the order of calls. */
function otherCall(tape: Tape, now: Pick<Tape, 'events'>): ControlDifference | undefined {
  const { first } = compareTraces(asExpected(tape), traceOf(now.events), { args: 'exact' })
  const call = first?.actual ?? first?.expected
  if (call === undefined) return undefined
  const step = stepsOf(tape).findIndex((one) => one.kind !== 'exchange' && one.name === call.name) + 1
  return { ...(step === 0 ? {} : { step }), what: `${call.name}, in another order` }
}

function otherAnnouncement({ tape, problems }: ReplayResult): ControlDifference | undefined {
  const said = problems.find(({ code }) => code === 'HARVEST_MESSAGES' || code === 'HARVEST_MARKS')
  return said && { ...lastStep(tape), what: said.code === 'HARVEST_MARKS' ? 'marks' : 'messages between agents' }
}

function otherOutcome(
  { tape, comparison }: ReplayResult,
  { close }: Pick<Tape, 'close'>,
): ControlDifference | undefined {
  if (comparison.outcomeEqual !== false) return undefined
  const [before, after] = [tape.close?.outcome, close?.outcome]
  const isSameKind = before?.status === after?.status
  const path = isSameKind ? firstDifference(valueOf(before), valueOf(after))?.path : undefined
  return { ...lastStep(tape), what: path === undefined || path === '' ? 'outcome' : `outcome.${path}` }
}

/** The outcome comes of the last step. */
function lastStep(tape: Tape): { readonly step?: number } {
  const { length } = tape.events.filter(isStep)
  return length === 0 ? {} : { step: length }
}

function valueOf(outcome: Outcome | undefined): Json | undefined {
  if (outcome?.status === 'returned') return outcome.value
  return outcome?.status === 'threw' ? outcome.error : undefined
}

function asExpected({ events }: Tape) {
  const { layers } = traceOf(events)
  return { layers: layers.map((layer) => layer.map(({ name, args }) => ({ name, args: argsByKey(args) }))) }
}
