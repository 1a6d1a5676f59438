import { HarvestError } from '../errors/index.ts'
import { type CompiledRule, compileRule, isTrueOfRun, type RunPosition } from '../rules/index.ts'
import type { KeptReason, Tape } from '../tape/index.ts'
import { decodeValue } from '../tape/index.ts'
import { positionsOf } from '../trace/index.ts'
import type { FinishedRun, KeepOptions, WatchFunction } from './options.ts'
import { hearRejection } from './warn.ts'

/** A run that is over, as rules and functions see it. */
export type WatchedRun = Pick<Tape, 'header' | 'events'> & { readonly close: NonNullable<Tape['close']> }

/** Says of each run that is over whether it is one to keep. */
export type RunWatch = (run: WatchedRun, tell: (error: HarvestError) => void) => readonly KeptReason[]

/**
 * Reads what makes a run worth keeping.
 *
 * @throws HarvestError `HARVEST_RULE_…` for a rule that does not read
 */
export function watchFor(when: NonNullable<KeepOptions['when']>): RunWatch {
  const all = (Array.isArray(when) ? when : [when]) as readonly (string | WatchFunction)[]
  const rules = all.flatMap((one) => (typeof one === 'string' ? [compileRule(one)] : []))
  const functions = all.filter((one) => typeof one === 'function')
  return (run, tell) => {
    const positions = positionsOf(run)
    return [
      ...rules.flatMap((rule) => reasonOf(rule, positions)),
      ...functions.flatMap((watch) => asked(watch, run, positions, tell)),
    ]
  }
}

function reasonOf(rule: CompiledRule, positions: readonly RunPosition[]): readonly KeptReason[] {
  return isTrueOfRun(rule, positions) ? [{ because: 'when', detail: rule.text }] : []
}

function asked(
  watch: WatchFunction,
  run: WatchedRun,
  positions: readonly RunPosition[],
  tell: (error: HarvestError) => void,
): readonly KeptReason[] {
  const detail = watch.name || 'a function'
  try {
    const answer: unknown = watch(finishedRun(run, positions))
    if (typeof answer === 'string' && answer !== '') return [{ because: 'when', detail: answer }]
    if (typeof answer === 'boolean' || answer === undefined || answer === '')
      return answer === true ? [{ because: 'when', detail }] : []
    hearRejection(answer, () => {
      // That a promise was made is the failure.
    })
    throw new TypeError(`expected true, false or a reason, got ${describe(answer)}`)
  } catch (cause) {
    tell(watchFailed(detail, cause))
    // What cannot be judged is not thrown away.
    return [{ because: 'when', detail: `${detail}: failed` }]
  }
}

function describe(answer: unknown): string {
  return typeof answer === 'object' && answer !== null && 'then' in answer ? 'a promise' : typeof answer
}

function finishedRun({ header, close }: WatchedRun, positions: readonly RunPosition[]): FinishedRun {
  const { outcome } = close
  return {
    id: header.id,
    agent: header.agent,
    durationMs: close.at,
    calls: callsIn(positions),
    ...(header.input === undefined ? {} : { input: decodeValue(header.input) }),
    ...(outcome.status === 'returned' && outcome.value !== undefined ? { result: decodeValue(outcome.value) } : {}),
    ...(outcome.status === 'threw' ? { error: decodeValue(outcome.error) } : {}),
  }
}

/** Each call with its answer: the nearest later one of the same step and tool that no call has yet. */
function callsIn(positions: readonly RunPosition[]): FinishedRun['calls'] {
  const answers = positions.filter(({ kind, phase }) => kind === 'call' && phase !== 'called')
  const taken = new Set<RunPosition>()
  return positions.flatMap((position) => {
    if (position.kind !== 'call' || position.phase !== 'called') return []
    const { name = '', args = null, step } = position
    const answer = answers.find(
      (one) => !taken.has(one) && one.step === step && one.name === name && one.args === position.args,
    )
    if (answer !== undefined) taken.add(answer)
    return [
      {
        name,
        args: decodeValue(args),
        ...(answer?.result === undefined ? {} : { result: decodeValue(answer.result) }),
        ...(answer?.error === undefined ? {} : { error: answer.error }),
      },
    ]
  })
}

function watchFailed(name: string, cause: unknown): HarvestError {
  return new HarvestError(
    'HARVEST_RECORDER_WATCH',
    {
      what: 'A function of keep.when failed; the run is kept',
      where: { function: name, error: cause instanceof Error ? cause.message : String(cause) },
      fix: ['return true, false, or a reason as text; promises are not awaited'],
    },
    { cause },
  )
}
