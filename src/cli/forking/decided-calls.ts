import { isDeepStrictEqual } from 'node:util'
import { requireKnownCall } from '../../blame/known-names.ts'
import { offeredTools } from '../../blame/offered-tools.ts'
import { isMap } from '../../json/canonical.ts'
import { readModelCall, type ToolCall } from '../../providers/index.ts'
import { type Step, stepsOf, type Tape } from '../../tape/index.ts'
import type { CommandInput, CommandSpec } from '../command.ts'
import { readCall, type TypedCall } from './words.ts'

type Call = Pick<ToolCall, 'name' | 'args'>

/**
 * Calls a model is to decide, each with the arguments of the recorded call of its tool that were not typed. A call that
 * was typed as JSON, or without arguments, is whole.
 */
export function completeCalls(typed: readonly TypedCall[], step: number, tape: Tape): readonly Call[] {
  const recorded = callsOf(stepsOf(tape)[step - 1])
  return typed.map(({ name, args, isWhole }, index) => {
    const before = besideOf(index, typed, recorded)?.args
    const isPart = !isWhole && isMap(args) && Object.keys(args).length > 0
    return { name, args: isPart && isMap(before) ? { ...before, ...args } : args }
  })
}

/**
 * Refuses decisions that no model could make, unless any name goes.
 *
 * @returns notes: arguments that no recorded call of the tool had
 * @throws HarvestError `HARVEST_FORK_DECIDE` with the nearest name, `HARVEST_CLI_ARGUMENT`
 */
export function lookAtDecisions(given: CommandInput, tape: Tape, command: CommandSpec): readonly string[] {
  const decisions = given.values('decide').map((text) => ({ text, call: readCall(text, command) }))
  if (given.has('any-name')) return []
  return decisions.flatMap(({ text, call }) => requireKnownCall(call, text, tape))
}

/** How decided calls stand to recorded ones: arguments by their names, behind that of their tool where it is not the only one. */
export interface BesideRecorded {
  /** Arguments as in the recorded call. */
  readonly kept: readonly string[]
  /** Arguments that the tool is called with, and that are missing. */
  readonly missing: readonly string[]
}

/** Compares calls that a model is to decide with what it decided, and with what their tools need. */
export function besideRecorded(calls: readonly Call[], step: number, tape: Tape): BesideRecorded {
  const recorded = callsOf(stepsOf(tape)[step - 1])
  const each = calls.map(({ name, args }, index) => {
    const before = besideOf(index, calls, recorded)?.args
    const label = (key: string): string => (calls.length === 1 ? key : `${name}.${key}`)
    const keys = isMap(args) ? Object.keys(args) : []
    const wanted = isMap(before) ? Object.keys(before) : neededBy(name, tape)
    return {
      kept: keys.filter((key) => isMap(args) && isMap(before) && isDeepStrictEqual(args[key], before[key])).map(label),
      missing: isMap(args) ? wanted.filter((key) => !keys.includes(key)).map(label) : [],
    }
  })
  return { kept: each.flatMap(({ kept }) => kept), missing: each.flatMap(({ missing }) => missing) }
}

/** `, order_id as recorded, without reason`. */
export function recordedText({ kept, missing }: BesideRecorded): string {
  return [
    ...(kept.length === 0 ? [] : [`, ${kept.join(' and ')} as recorded`]),
    ...(missing.length === 0 ? [] : [`, without ${missing.join(' and ')}`]),
  ].join('')
}

/** The recorded call that a call stands in the place of; none where it could be one of several. */
function besideOf(index: number, calls: readonly Call[], recorded: readonly Call[]): Call | undefined {
  const name = calls[index]?.name
  const alike = recorded.filter((one) => one.name === name)
  if (alike.length !== calls.filter((one) => one.name === name).length) return undefined
  return alike[calls.slice(0, index).filter((one) => one.name === name).length]
}

/** Arguments that a schema requires, or else that each recorded call has. */
function neededBy(name: string, tape: Tape): readonly string[] {
  const required = offeredTools(tape.events).find((tool) => tool.name === name && tool.required !== undefined)?.required
  if (required !== undefined) return required
  const [first, ...rest] = stepsOf(tape)
    .flatMap(callsOf)
    .flatMap((call) => (call.name === name && isMap(call.args) ? [Object.keys(call.args)] : []))
  return first?.filter((key) => rest.every((keys) => keys.includes(key))) ?? []
}

function callsOf(step: Step | undefined): readonly ToolCall[] {
  return (step?.kind === 'exchange' ? readModelCall(step)?.response?.toolCalls : undefined) ?? []
}
