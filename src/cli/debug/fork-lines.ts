import { isDeepStrictEqual } from 'node:util'
import { HarvestError, nearestWord, neutralLine, shellWord } from '../../errors/index.ts'
import { shellWords } from '../../errors/words.ts'
import { isMap } from '../../json/canonical.ts'
import { isModelCall } from '../../providers/index.ts'
import { type Json, stepsOf, type Tape } from '../../tape/index.ts'
import type { CommandInput } from '../command.ts'
import { nameOf, parse, takesValue } from '../parse.ts'
import { forkSpec } from '../spec/debug.ts'
import { specs } from '../spec/index.ts'
import { wrong } from './words.ts'

/** The commands of the debugger that make forks. */
export type ForkCommand = 'branch' | 'what_if'

/** Options of `fork` that a change of the debugger stands for. */
const changing = ['set', 'decide', 'say', 'edit']

/** What is typed to ask models, and to run tools as well. */
export const addLive = 'add --live to the line, and --tools live if it may call otherwise'
export const addTools = 'add --tools live to the line'

/** A line of the debugger that makes forks. */
export function forkLine(
  command: ForkCommand,
  step: number | string,
  changes: readonly string[],
  options: readonly string[] = [],
): string {
  return [command, `${step}`, ...[...changes, ...options].map(shellWord)].join(' ')
}

/**
 * Does what makes forks: next steps of errors that are a `fork` are the lines that make it here.
 *
 * @param all - changes of the line, where a fork is made of each; default those of the step
 */
export async function inDebugger<T>(
  command: ForkCommand,
  given: CommandInput,
  run: () => T | Promise<T>,
  all?: readonly string[],
): Promise<T> {
  try {
    return await run()
  } catch (error) {
    if (!HarvestError.is(error) || error.facts.fix === undefined) throw error
    const fix = error.facts.fix.map((step) => asLine(step, command, given, all))
    throw new HarvestError(error.code, { ...error.facts, fix }, { cause: error })
  }
}

function asLine(step: string, command: ForkCommand, given: CommandInput, all?: readonly string[]): string {
  const at = step.indexOf('npx vitest-harvest fork ')
  // A change has no options here.
  if (at === -1) return step.replace(/ with --[a-z]+(?: or --[a-z]+)*$/, '')
  const asked = commandIn(step.slice(at))
  if (asked === undefined) return step
  const number = asked.value('step')
  const changes = all ?? changing.flatMap((name) => asked.values(name))
  if (number === undefined || changes.length === 0) return step
  const options = forkSpec.options.flatMap(({ flag }) => {
    const name = nameOf(flag).slice(2)
    // What the debugger was started with is handed on; `branch` saves by itself.
    if (['step', 'dir', 'save', ...changing].includes(name)) return []
    const values = asked.values(name)
    if (isDeepStrictEqual(values, given.values(name))) return []
    return takesValue(flag) ? values.map((value) => `--${name}=${value}`) : asked.has(name) ? [`--${name}`] : []
  })
  return step.slice(0, at) + forkLine(command, number, changes, options)
}

/** What a command that is printed was given; `undefined` of what holds places for words: it is printed as it stands. */
export function commandIn(command: string): CommandInput | undefined {
  try {
    const parsed = parse(shellWords(command).words.slice(2), specs)
    return parsed.kind === 'run' ? parsed.given : undefined
  } catch (error) {
    if (!HarvestError.is(error)) throw error
    return undefined
  }
}

/** A change that a step can have, for who asks how one is typed: another value than the recorded one. */
export function exampleChange(tape: Tape, step: number): string | undefined {
  const event = stepsOf(tape)[step - 1]
  if (event === undefined) return undefined
  if (event.kind === 'exchange') return isModelCall(event) ? 'I am not sure.' : 'status=503'
  const { result } = event
  const [key] = isMap(result) ? Object.keys(result).filter((one) => /^[\p{L}_$][\p{L}\p{N}_$]*$/u.test(one)) : []
  if (key === undefined || !isMap(result)) return `result=${otherValue(result)}`
  return `result.${key}=${otherValue(result[key])}`
}

function otherValue(value: Json | undefined): string {
  if (typeof value === 'number') return `${value + 1}`
  return value === 'other' ? 'another' : 'other'
}

/**
 * Refuses a text that a tool or a service is to say: most likely it is a value whose path was mistyped.
 *
 * @throws HarvestError with the path that was probably meant
 */
export function requireModel(tape: Tape, step: number, change: string, command: ForkCommand): void {
  const steps = stepsOf(tape)
  const event = steps[step - 1]
  if (event === undefined || (event.kind === 'exchange' && isModelCall(event))) return
  const roots = event.kind === 'exchange' ? ['body', 'status'] : ['result', 'error']
  const keys = event.kind !== 'exchange' && isMap(event.result) ? Object.keys(event.result) : []
  const [, word = '', rest = ''] = /^([\p{L}_$][\p{L}\p{N}_$]*)((?:[.[][^\s=]*)?=[\s\S]*)$/u.exec(change) ?? []
  const root = nearestWord(word, [...roots, 'input'])
  const key = nearestWord(word, keys)
  const meant = root === undefined ? key && `result.${key}${rest}` : `${root}${rest}`
  const models = steps.flatMap((one, at) => (one.kind === 'exchange' && isModelCall(one) ? [at + 1] : []))
  const near = models.findLast((one) => one < step) ?? models[0]
  const paths = keys.map((one) => `result.${one}`)
  throw wrong(`step ${step} calls no model, so it cannot say '${neutralLine(change, 60)}'`, [
    ...(word === '' || meant === undefined ? [] : [`did you mean: ${forkLine(command, step, [meant])}`]),
    `its values have paths: ${neutralLine((paths.length === 0 ? roots : paths).join(', '), 120)}`,
    ...(near === undefined || word !== ''
      ? []
      : [`to change what the model says before it: ${forkLine(command, near, [change])}`]),
  ])
}
