import { neutralLine } from '../errors/index.ts'
import {
  asksModel,
  canonicalJson,
  isGenerative,
  type ModelCall,
  readMcpCall,
  readModelCall,
} from '../providers/index.ts'
import { describeEvent } from '../match/step.ts'
import { type CallEvent, type ExchangeEvent, type Json, type Step, stepsOf, type Tape } from '../tape/index.ts'
import { presentArgs } from '../tape/present.ts'
import { namedArgs } from '../tape/present-args.ts'
import { renderCall } from '../trace/index.ts'
import { settledAt } from '../trace/placed.ts'
import type { Position } from './types.ts'

/** A position with the steps it is made of. */
export interface PlacedPosition extends Position {
  /** 1-based numbers of all its steps; those that happened inside a tool call of it as well. */
  readonly all: readonly number[]
}

/**
 * The places at which a run can be resampled, in causal order: its steps, where steps that were under way at the same
 * time are one place. What happened inside a tool call belongs to it.
 *
 * A step that never got an answer holds nothing up: the agent did not wait for it.
 *
 * @param tools - where tools and services answer from when they are not kept: from the tape, only models are resampled.
 *   Default `live`
 */
export function positionsOf(tape: Tape, tools: 'tape' | 'live' = 'live'): readonly PlacedPosition[] {
  const steps = stepsOf(tape)
  const numbers = new Map(steps.map((step, index) => [step.n, index + 1]))
  const blocks: { readonly steps: Step[]; until: number }[] = []
  for (const step of steps) {
    const last = blocks.at(-1)
    const until = Math.max(step.n, settledWhen(step))
    if (last !== undefined && step.n < last.until) {
      last.steps.push(step)
      last.until = Math.max(last.until, until)
    } else blocks.push({ steps: [step], until })
  }
  return blocks.map(({ steps: members }) => {
    const own = members.filter((step) => !isInside(step, members))
    const numberOf = ({ n }: Step): number => numbers.get(n) ?? 0
    const resampled = tools === 'live' ? own : own.filter(asksModel)
    return {
      steps: own.map(numberOf),
      all: members.map(numberOf),
      label: own.map((step) => labelOf(step)).join(' and '),
      isExogenous: own.every((step) => decisionOf(step) === undefined),
      ...(resampled.length === own.length ? {} : { resampled: resampled.map(numberOf) }),
    }
  })
}

/** The `n` at which a step was answered; its own where it never was. */
export function settledWhen(step: Step): number {
  const when = step.kind === 'exchange' ? settledAt(step) : (step.settled?.[0] ?? step.n)
  return Number.isFinite(when) ? when : step.n
}

function isInside({ in: parent }: Step, members: readonly Step[]): boolean {
  return (
    parent !== undefined &&
    members.some((step) => step.n === parent && (step.kind === 'tool' || step.kind === 'retrieval'))
  )
}

/** What a model decided in a step; `undefined` when no model decided anything: a tool, a service, an embedding. */
export function decisionOf(step: Step): ModelCall | undefined {
  if (step.kind !== 'exchange') return undefined
  const call = readModelCall(step)
  // A poll decides nothing: what it tells was decided when it was asked for.
  return isGenerative(call?.request.dialect) && !call?.isPoll ? call : undefined
}

/** A step in words that fit into a sentence: `the model's decision refund(amount: 25)`. */
function labelOf(step: Step): string {
  const decision = decisionOf(step)
  if (decision !== undefined) return labelOfDecision(decision, step)
  return step.kind === 'exchange' ? labelOfExchange(step) : `the answer of ${callText(step)}`
}

function labelOfDecision({ response }: ModelCall, step: Step): string {
  if (response === undefined) return "the model's answer, which never came"
  const calls = response.toolCalls.map(({ name, args }) => rendered(name, args))
  if (calls.length > 0) return `the model's decision ${calls.join(', ')}`
  if (response.error !== undefined) {
    const status = step.kind === 'exchange' ? step.response?.status : undefined
    return `the model's error${status === undefined || status < 400 ? '' : ` ${status}`}, ${neutralLine(response.error, 60)}`
  }
  return `the model's answer "${neutralLine(response.text, 60)}"`
}

function labelOfExchange(step: ExchangeEvent): string {
  const mcp = readMcpCall(step)
  return `the answer to ${mcp === undefined ? neutralLine(describeEvent(step), 80) : rendered(mcp.name, mcp.args)}`
}

/** `refund(amount: 25)`, shortened. */
export function callText({ name, args }: CallEvent): string {
  return rendered(name, namedArgs(args))
}

function rendered(name: string, args: Json): string {
  return neutralLine(renderCall({ name, args, n: 0 }, 'exact'), 100)
}

/** A text two calls share when the same was asked of the same function. */
export function askedOf(step: Step): string {
  if (step.kind === 'exchange')
    return canonicalJson([step.method, step.url, step.request.body ?? ''] as unknown as Json)
  return canonicalJson([step.kind, step.name, step.kind === 'value' ? '' : presentArgs(step.args)])
}
