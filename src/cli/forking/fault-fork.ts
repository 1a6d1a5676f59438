import { isDeepStrictEqual } from 'node:util'
import { shellWord } from '../../errors/index.ts'
import { applyFaults, type Fault, type FaultSchedule } from '../../faults/index.ts'
import { valueAt } from '../../faults/places.ts'
import type { Decision } from '../../fork/index.ts'
import { type Step, stepsOf, type Tape } from '../../tape/index.ts'
import { acrossVersions } from '../live.ts'

/**
 * The fork that asks the models about the first fault of a schedule that a fork can make too, as a command:
 * `--step 2 --set result.total=2500`.
 *
 * @returns `undefined` where none is a value, the error of a tool or a decision: a connection that breaks
 */
export function faultAsFork(tape: Tape, schedule: FaultSchedule): string | undefined {
  for (const fault of schedule) {
    const options = optionsOf(tape, fault)
    if (options === undefined) continue
    const more = ['live', ...Object.keys(acrossVersions(tape))].map((name) => `--${name}`)
    const words = [tape.header.id, '--step', `${fault.step}`, ...options, ...more, '--tools', 'live']
    return `npx vitest-harvest fork ${words.map(shellWord).join(' ')}`
  }
  return undefined
}

function optionsOf(tape: Tape, fault: Fault): readonly string[] | undefined {
  const step = stepsOf(tape)[fault.step - 1]
  if (step === undefined) return undefined
  const [change] = applyFaults(tape, [fault])
  if (change === undefined) return undefined
  if ('decide' in change) return decided(change.decide)
  const rewrite = 'attempts' in change ? change.attempts[0] : 'rewrite' in change ? change.rewrite : undefined
  return rewrite === undefined ? undefined : otherAnswer(step, rewrite(step), fault.args['path'])
}

function decided(decision: Decision): readonly string[] {
  if ('say' in decision) return ['--say', decision.say]
  return decision.calls.flatMap(({ name, args }) => ['--decide', `${name}(${JSON.stringify(args)})`])
}

function otherAnswer(before: Step, after: Step, path: string | number | undefined): readonly string[] | undefined {
  if (before.kind === 'exchange' || after.kind === 'exchange') return undefined
  const { error, result } = after
  if (error !== undefined) {
    const message = typeof error === 'object' && error !== null && 'message' in error ? error['message'] : error
    return ['--set', `error=${typeof message === 'string' ? message : JSON.stringify(message)}`]
  }
  if (result === undefined || isDeepStrictEqual(result, before.result)) return undefined
  if (typeof path !== 'string' || path === '') return ['--result', JSON.stringify(result)]
  return ['--set', `result${path.startsWith('[') ? '' : '.'}${path}=${JSON.stringify(valueAt(result, path))}`]
}
