import { createHash } from 'node:crypto'
import { HarvestError, neutralLine, shellWord } from '../errors/index.ts'
import { isFields } from '../errors/options.ts'
import { type Json, type Step, stepsOf, type Tape } from '../tape/index.ts'
import { decided } from './decide.ts'
import { changeInput, changeOfStep, type Patch } from './patch.ts'
import type { PlannedChange, ForkPlan } from './plan.ts'

/** The answer of one step, as it is to be. */
export interface ChangedAnswer {
  readonly event: Step
  /** Given each time it is asked for, and not the first time alone. */
  readonly always: boolean
  /** Given before it, each once. */
  readonly attempts: readonly Step[]
}

/** A plan with all that can be known before its run. */
export interface CompiledPlan extends ForkPlan {
  /** What the agent is called with. */
  readonly input: Json | undefined
  /** By the 1-based number of the step. */
  readonly answers: ReadonlyMap<number, ChangedAnswer>
  /** What the next mark of a name hands over. */
  readonly marks: ReadonlyMap<string, Json>
  /** What the fork's own chance grows from: the same for the same tape, steps, changes and seed. */
  readonly draws: string
}

/**
 * Makes one form of all changes: the answer as it would have been recorded.
 *
 * @throws HarvestError `HARVEST_FORK_PLAN` for steps the tape does not have, `HARVEST_FORK_DECIDE`, `HARVEST_PATCH_PATH`
 */
export function compilePlan(tape: Tape, given: ForkPlan): CompiledPlan {
  const plan = withPresentNames(given)
  const steps = stepsOf(tape)
  checkPlan(tape, plan, steps.length)
  let { input } = tape.header
  const answers = new Map<number, ChangedAnswer>()
  const marks = new Map<string, Json>()
  for (const change of plan.changes ?? []) {
    requireChange(tape, change)

    if ('mark' in change) {
      marks.set(change.mark, change.data)
      continue
    }
    const number = change.step
    if (number === undefined) {
      input = changeInput(input, change as Patch)
      continue
    }
    const recorded = steps[number - 1]
    if (recorded === undefined) throw noStep(tape, number, steps.length)
    const before = answers.get(number) ?? { event: recorded, always: false, attempts: [] }
    if ('attempts' in change) {
      const attempts = change.attempts.map((rewrite) => rewrite(recorded))
      answers.set(number, { ...before, attempts: [...before.attempts, ...attempts] })
      continue
    }
    const event = changedStep(before.event, change, steps)
    answers.set(number, { ...before, event, always: before.always || ('always' in change && change.always === true) })
  }
  return { ...plan, input, answers, marks, draws: seedOf(tape, plan, input, answers, marks) }
}

/** A plan in which `donor` is `reference` and `pinned` is `replayed`: earlier versions wrote the former. */
function withPresentNames({ tail, modes, ...plan }: ForkPlan): ForkPlan {
  const from = tail.from as string
  return {
    ...plan,
    tail: from === 'donor' ? ({ ...tail, from: 'reference' } as ForkPlan['tail']) : tail,
    ...(modes === undefined
      ? {}
      : {
          modes: Object.fromEntries(
            Object.entries(modes).map(([step, mode]) => [step, (mode as string) === 'pinned' ? 'replayed' : mode]),
          ),
        }),
  }
}

function changedStep(
  step: Step,
  change: Exclude<PlannedChange, { readonly mark: string } | { readonly attempts: unknown }>,
  steps: readonly Step[],
): Step {
  if ('rewrite' in change) return change.rewrite(step)
  if ('decide' in change) return decided(step, change.step, change.decide, steps)
  return changeOfStep(step, change)
}

function seedOf(
  tape: Tape,
  { keep, seed = '' }: ForkPlan,
  input: Json | undefined,
  answers: ReadonlyMap<number, ChangedAnswer>,
  marks: ReadonlyMap<string, Json>,
): string {
  const isOther = input !== tape.header.input
  const said = JSON.stringify([tape.digest, keep, [...answers], [...marks], seed, isOther ? input : null])
  return createHash('sha256').update(said).digest('base64url')
}

function checkPlan(tape: Tape, { keep, modes = {}, clockOffsetMs = 0, tail }: ForkPlan, count: number): void {
  if (!Number.isInteger(keep) || keep < 0 || keep > count)
    throw badPlan(tape, `keep: ${neutralLine(String(keep))}`, `0 to ${count} steps can be kept`)
  if (!Number.isFinite(clockOffsetMs)) throw badPlan(tape, `clockOffsetMs: ${clockOffsetMs}`, 'milliseconds')
  for (const [number, mode] of Object.entries(modes)) {
    if (mode !== 'replayed' && mode !== 'held' && mode !== 'live')
      throw badPlan(tape, `modes: { ${number}: '${neutralLine(String(mode))}' }`, 'replayed, held, live')
    if (!(Number(number) >= 1 && Number(number) <= count)) throw noStep(tape, Number(number), count)
  }
  const { from } = tail as { readonly from: string }
  if (!['tape', 'reference', 'live', 'script'].includes(from))
    throw badPlan(tape, `tail: { from: '${neutralLine(from)}' }`, 'tape, reference, live, script')
}

/** A change from code without types may be anything. */
function requireChange(tape: Tape, change: unknown): void {
  const fields: { readonly [name: string]: unknown } = isFields(change) ? { ...change } : {}
  const isOne =
    typeof fields['mark'] === 'string' ||
    typeof fields['rewrite'] === 'function' ||
    Array.isArray(fields['attempts']) ||
    isFields(fields['decide']) ||
    (typeof fields['path'] === 'string' && 'value' in fields)
  if (isOne) return
  const given = Object.keys(fields).join(', ') || typeof change
  throw badPlan(
    tape,
    `a change with ${neutralLine(given, 60)}`,
    'path and value, rewrite, decide, attempts, mark and data',
  )
}

function badPlan(tape: Tape, what: string, known: string): HarvestError {
  return new HarvestError('HARVEST_FORK_PLAN', {
    what: `Invalid fork plan: ${what}`,
    where: { tape: tape.header.id, known },
    fix: [`to see the steps: npx vitest-harvest show ${shellWord(tape.header.id)}`],
  })
}

function noStep(tape: Tape, number: number, count: number): HarvestError {
  return new HarvestError('HARVEST_FORK_PLAN', {
    what: `The tape has no step ${number}`,
    where: { tape: tape.header.id, steps: count === 0 ? 'none' : `1 to ${count}` },
    fix: [`to see them: npx vitest-harvest show ${shellWord(tape.header.id)}`],
  })
}
