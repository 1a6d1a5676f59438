import type { ChangeRequest, ForkRequest, TailRequest } from '../../fork/index.ts'
import { at, textAt } from '../../json/canonical.ts'
import { isGenerative, isUnderWay, type ModelCall, readModelCall } from '../../providers/index.ts'
import { controlSeed } from './beside.ts'
import { signature } from '../../report/describe.ts'
import { type Json, stepsOf, type Tape } from '../../tape/index.ts'

/** One other way a step could have gone. */
export interface Alternative {
  /** 1-based. */
  readonly step: number
  /** What the model decided on the tape. */
  readonly decided: string
  /** What it decides instead, for people. */
  readonly instead: string
  readonly request: ForkRequest
}

/** At most so many other tools, values of one argument, and texts are tried: each is a run. */
const mostTools = 4
const mostValues = 3
const mostTexts = 2

/**
 * Other ways the model decisions of a run could have gone: tool calls left out, other tools of those offered, other arguments
 * and texts of those the run knows, what the reference run's model decided there, and, live, no matter what the model
 * says when it is asked again.
 *
 * @param times - how often a step is resampled when the tail is live
 */
export function alternativesOf(
  tape: Tape,
  tail: TailRequest,
  reference: Tape | undefined,
  times: number,
): readonly Alternative[] {
  const references = reference === undefined ? [] : modelSteps(reference)
  const steps = modelSteps(tape)
  return steps.flatMap(({ step, call }, index) => {
    const decided = decisionText(call)
    const change = (instead: string, decide: DecideChange['decide']): Alternative => ({
      step,
      decided,
      instead,
      request: { keep: step, changes: [{ step, decide }], tail, seed: '1' },
    })
    const own = references[index]?.call
    return [
      ...withoutCalls(call).map((one) => change(...one)),
      ...otherTools(call).map((one) => change(...one)),
      ...otherArguments(call, tape, step).map((one) => change(...one)),
      ...otherTexts(call, steps).map((one) => change(...one)),
      ...(own === undefined || decisionText(own) === decided
        ? []
        : [change(`as the reference run: ${decisionText(own)}`, decisionOf(own))]),
      ...(tail.from === 'live'
        ? Array.from({ length: times }, (_, n): Alternative => {
            const request = { keep: step - 1, tail, seed: `${n + 1}` }
            return { step, decided, instead: `resampled (${n + 1})`, request }
          })
        : []),
    ]
  })
}

type DecideChange = Extract<ChangeRequest, { readonly decide: unknown }>
type Instead = readonly [instead: string, decide: DecideChange['decide']]

interface ModelStep {
  readonly step: number
  readonly call: ModelCall
}

/** The decisions of models in a run, as it was recorded. */
export function decisionsOf(tape: Tape): readonly Pick<Alternative, 'step' | 'decided'>[] {
  return modelSteps(tape).map(({ step, call }) => ({ step, decided: decisionText(call) }))
}

/**
 * Resampled alternatives, each with the decision of the model in its run, where that made one.
 *
 * @param stepOf - the number a step of the tape has in the runs
 */
export function withDecided(
  alternatives: readonly Alternative[],
  runs: readonly (Tape | undefined)[],
  stepOf: (step: number) => number,
): readonly Alternative[] {
  return alternatives.map((one, index) => {
    const run = one.request.changes === undefined ? runs[index] : undefined
    const decided = run && decisionsOf(run).find(({ step }) => step === stepOf(one.step))?.decided
    return decided === undefined ? one : { ...one, instead: `${one.instead}: ${decided}` }
  })
}

/** Steps at which a model decided something; embeddings decide nothing. */
function modelSteps(tape: Tape): readonly ModelStep[] {
  return stepsOf(tape).flatMap((event, index) => {
    const call = event.kind === 'exchange' ? readModelCall(event) : undefined
    // What a poll brings was decided nowhere else: the answer before it said that it is under way.
    const isDecision = call?.response !== undefined && isGenerative(call.request.dialect) && !isUnderWay(call.response)
    return isDecision && call.response.error === undefined ? [{ step: index + 1, call }] : []
  })
}

function decisionOf({ response }: ModelCall): DecideChange['decide'] {
  const { toolCalls = [], text = '' } = response ?? {}
  return toolCalls.length === 0 ? { say: text } : { calls: toolCalls.map(({ name, args }) => ({ name, args })) }
}

function decisionText({ response }: ModelCall): string {
  const { toolCalls = [], text = '' } = response ?? {}
  return toolCalls.length === 0 ? `says ${JSON.stringify(text)}` : toolCalls.map(signature).join(' and ')
}

/** Each call left out of several, and all of them. */
function withoutCalls({ response }: ModelCall): readonly Instead[] {
  const calls = (response?.toolCalls ?? []).filter(({ builtIn }) => builtIn !== true)
  if (calls.length === 0) return []
  const bare = calls.map(({ name, args }) => ({ name, args }))
  const each =
    calls.length === 1
      ? []
      : calls.map((one, left): Instead => [`without ${signature(one)}`, { calls: bare.toSpliced(left, 1) }])
  const said = response?.text || 'Nothing more to do.'
  return [...each, [`calls nothing and says ${JSON.stringify(said)}`, { say: said }]]
}

/** Each call made to another tool that was offered, with the arguments that tool has, too; the others stay. */
function otherTools({ request, response }: ModelCall): readonly Instead[] {
  const calls = ownCalls(response)
  const used = new Set(calls.map(({ name }) => name))
  const offered = request.tools.flatMap(toolsIn).filter(({ name }) => !used.has(name))
  return calls.flatMap((call, index) =>
    offered.slice(0, mostTools).map(({ name, keys }) => {
      const args = keys === undefined ? call.args : pick(call.args, keys)
      return replaced(calls, index, { name, args })
    }),
  )
}

/**
 * Each argument of each call with another value the run knew by then: one that the same argument has elsewhere, one of those its
 * schema lists, and numbers that tools answered. Nothing is made up.
 */
function otherArguments({ request, response }: ModelCall, tape: Tape, step: number): readonly Instead[] {
  const calls = ownCalls(response)
  const before = stepsOf(tape).slice(0, step - 1)
  const numbers = before.flatMap((event) => (event.kind === 'exchange' ? [] : numbersIn(event.result)))
  const schemas = new Map(request.tools.flatMap(toolsIn).map((tool) => [tool.name, tool]))
  const known = modelSteps(tape).flatMap(({ call }) => ownCalls(call.response))
  return calls.flatMap(({ name, args }, index) => {
    if (typeof args !== 'object' || args === null || Array.isArray(args)) return []
    return Object.entries(args).flatMap(([key, value]) => {
      const listed = at(at(schemas.get(name)?.schema, key), 'enum')
      const values = [
        ...(Array.isArray(listed) ? (listed as readonly Json[]) : []),
        ...known.flatMap((one) => (one.name === name ? [at(one.args, key)] : [])),
        ...(typeof value === 'boolean' ? [!value] : []),
        ...(typeof value === 'number' ? numbers : []),
      ].filter((one): one is Json => one !== undefined && typeof one === typeof value)
      const other = new Map(values.map((one) => [JSON.stringify(one), one]))
      other.delete(JSON.stringify(value))
      return [...other.values()]
        .slice(0, mostValues)
        .map((one) => replaced(calls, index, { name, args: { ...args, [key]: one } }))
    })
  })
}

/** Where a model only says something: what it says elsewhere in the run. */
function otherTexts({ response }: ModelCall, steps: readonly ModelStep[]): readonly Instead[] {
  if (ownCalls(response).length > 0) return []
  const texts = new Set(steps.flatMap(({ call }) => call.response?.text || []))
  texts.delete(response?.text ?? '')
  return [...texts].slice(0, mostTexts).map((say): Instead => [`says ${JSON.stringify(say)}`, { say }])
}

type OwnCall = { readonly name: string; readonly args: Json }

/** Calls the agent makes, and not the provider. */
function ownCalls(response: ModelCall['response']): readonly OwnCall[] {
  const calls = response?.toolCalls ?? []
  return calls.filter(({ builtIn }) => builtIn !== true).map(({ name, args }) => ({ name, args }))
}

function replaced(calls: readonly OwnCall[], index: number, call: OwnCall): Instead {
  const all = calls.with(index, call)
  const rest = all.length === 1 ? '' : `, ${all.length - 1} kept`
  return [`${signature(call)}${rest}`, { calls: all }]
}

function numbersIn(value: Json | undefined): readonly number[] {
  if (typeof value === 'number') return [value]
  if (typeof value !== 'object' || value === null) return []
  return Object.values(value).flatMap((one) => numbersIn(one as Json))
}

interface OfferedTool {
  readonly name: string
  /** Names of its arguments, when its schema says them. */
  readonly keys?: readonly string[]
  readonly schema?: Json
}

/** OpenAI, Anthropic and Gemini name a tool and its schema differently. */
function toolsIn(tool: Json): readonly OfferedTool[] {
  const many = at(tool, 'functionDeclarations')
  if (Array.isArray(many)) return (many as readonly Json[]).flatMap(toolsIn)
  const own = at(tool, 'function') ?? tool
  const name = textAt(own, 'name')
  const properties = at(at(own, 'parameters') ?? at(own, 'input_schema'), 'properties')
  if (name === undefined) return []
  if (typeof properties !== 'object' || properties === null) return [{ name }]
  return [{ name, keys: Object.keys(properties), schema: properties }]
}

function pick(args: Json, keys: readonly string[]): Json {
  if (typeof args !== 'object' || args === null || Array.isArray(args)) return args
  return Object.fromEntries(Object.entries(args).filter(([key]) => keys.includes(key)))
}

/** The forks of all alternatives, with a live tail each followed by a run that keeps the decision: its control. */
export function besideDecisions(alternatives: readonly Alternative[]): {
  readonly requests: readonly ForkRequest[]
  readonly together: 1 | 2
} {
  const requests = alternatives.map(({ request }) => request)
  if (requests.every(({ tail }) => tail.from !== 'live')) return { requests, together: 1 }
  const kept = alternatives.map(({ step, request: { keep: _, tail, ...run } }) => ({
    keep: step,
    tail,
    seed: controlSeed(run),
  }))
  return { requests: requests.flatMap((request, at) => [request, kept[at] ?? request]), together: 2 }
}
