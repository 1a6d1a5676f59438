import { askedIn, canonicalJson, readModelCall, type ToolCall } from '../providers/index.ts'
import { type RequestDifference, firstDifference } from '../match/difference.ts'
import { type Json, type Outcome, requestBytes, responseBytes, type Step, stepsOf, type Tape } from '../tape/index.ts'
import { argsByKey } from '../trace/args.ts'
import { compareTraces, type Trace, type TraceDifference, traceOf } from '../trace/index.ts'

/** How a branch differs from the run it parts from. */
export interface BranchComparison {
  /** `same: null`: not compared, because an import did not see one of the outcomes. */
  readonly outcome: { readonly same: boolean | null; readonly at?: RequestDifference }
  /** Tool calls with their arguments, in causal order. */
  readonly trace: { readonly same: boolean; readonly first?: TraceDifference; readonly differences: number }
  /** The first step that is not as in the parent; absent when all are. */
  readonly first?: BranchDifference
  readonly steps: { readonly parent: number; readonly branch: number }
}

/** A step that is not as it was. Numbers are 1-based. */
export type BranchDifference =
  /** It was asked for alike and answered otherwise. */
  | { readonly kind: 'answered'; readonly step: number; readonly before: string; readonly after: string }
  /** The branch asks for what the parent did not. */
  | { readonly kind: 'asked'; readonly step: number; readonly before?: string; readonly after: string }
  /** The branch ends without this step of the parent. */
  | { readonly kind: 'missing'; readonly step: number; readonly before: string }

type Run = Pick<Tape, 'events' | 'close'>

/**
 * Compares branches with the run they part from: outcome, tool calls, first step that differs. Times, ids, and the
 * order of steps that do not wait for each other are no difference; of a model what it decided counts, not the bytes.
 *
 * @param changed - 1-based numbers of steps someone gave another answer: that they answer otherwise is no finding
 */
export function compareBranches(
  parent: Run,
  branches: readonly Run[],
  changed: readonly number[] = [],
): readonly BranchComparison[] {
  const wanted = { layers: traceOf(parent.events).layers.map(expected) }
  const steps = describeSteps(parent)
  return branches.map((branch) => {
    const trace = compareTraces(wanted, traceOf(branch.events), { args: 'exact' })
    const own = describeSteps(branch)
    const first = firstOther(steps, own, new Set(changed))
    return {
      outcome: compareOutcomes(parent.close?.outcome, branch.close?.outcome),
      trace: {
        same: trace.equal,
        differences: trace.differences.length,
        ...(trace.first === undefined ? {} : { first: trace.first }),
      },
      ...(first === undefined ? {} : { first }),
      steps: { parent: steps.length, branch: own.length },
    }
  })
}

function expected(layer: Trace['layers'][number]) {
  return layer.map(({ name, args }) => ({ name, args: argsByKey(args) }))
}

function compareOutcomes(before: Outcome | undefined, after: Outcome | undefined): BranchComparison['outcome'] {
  if (before?.status === 'unknown' || after?.status === 'unknown') return { same: null }
  const same = before !== undefined && canonicalJson(before as Json) === canonicalJson((after ?? null) as Json)
  if (same) return { same }
  const at = firstDifference(valueOf(before), valueOf(after))
  return { same, ...(at === undefined ? {} : { at }) }
}

function valueOf(outcome: Outcome | undefined): Json | undefined {
  return outcome?.status === 'returned' ? outcome.value : (outcome as Json | undefined)
}

interface DescribedStep {
  /** What tells it from other steps. */
  readonly asked: string
  /** The same for people. */
  readonly name: string
  readonly answered: string
  /** A model was asked, and answered. */
  readonly isTurn: boolean
}

function firstOther(
  parent: readonly DescribedStep[],
  branch: readonly DescribedStep[],
  changed: ReadonlySet<number>,
): BranchDifference | undefined {
  const left = new Map(parent.entries())
  let askedOtherwise: BranchDifference | undefined
  for (const [index, step] of branch.entries()) {
    const alike = [...left].find(([, other]) => other.asked === step.asked) ?? turnOf(step, left)
    if (alike === undefined) {
      const [instead] = left.values()
      const before = instead === undefined ? {} : { before: instead.name }
      return { kind: 'asked', step: index + 1, ...before, after: step.name }
    }
    const [at, { asked, answered, name }] = alike
    left.delete(at)
    if (answered !== step.answered && !changed.has(at + 1))
      return { kind: 'answered', step: index + 1, before: answered, after: step.answered }
    if (asked !== step.asked) askedOtherwise ??= { kind: 'asked', step: index + 1, before: name, after: step.name }
  }
  const [missing] = left
  return missing === undefined ? askedOtherwise : { kind: 'missing', step: missing[0] + 1, before: missing[1].name }
}

/**
 * The turn of a model in the parent that a turn of the branch stands for: what it is asked carries all that went before,
 * so after any change it is another question, and what counts is whether it decides the same.
 */
function turnOf(
  { isTurn, name }: DescribedStep,
  left: ReadonlyMap<number, DescribedStep>,
): readonly [number, DescribedStep] | undefined {
  return isTurn ? [...left].find(([, other]) => other.isTurn && other.name === name) : undefined
}

function describeSteps({ events }: Run): readonly DescribedStep[] {
  const steps = stepsOf({ events })
  const ids = steps.flatMap((step) => callIds(step))
  // Providers make up an id per call; of each run they count by their order.
  const bare = (text: string): string => ids.reduce((rest, id, at) => rest.replaceAll(id, `call#${at}`), text)
  return steps.map((step) => describe(step, bare))
}

function callIds(step: Step): readonly string[] {
  const calls = step.kind === 'exchange' ? (readModelCall(step)?.response?.toolCalls ?? []) : []
  return calls.flatMap(({ id }) => (id === undefined || id === '' ? [] : [id]))
}

function describe(step: Step, bare: (text: string) => string): DescribedStep {
  if (step.kind !== 'exchange') {
    const { kind, name, args, result, error, yields } = step
    const answer = result ?? error ?? yields?.map(([, , value]) => value) ?? null
    const text = `${name}(${argumentsText(args)})`
    return {
      asked: `${kind} ${name} ${canonicalJson(args)}`,
      name: text,
      answered: JSON.stringify(answer),
      isTurn: false,
    }
  }
  const { method, url, response, error } = step
  const call = readModelCall(step)
  const body = requestBytes(step).toString('utf8')
  const asked = `${method} ${pathOf(url)} ${call === undefined ? body : bare(canonicalJson({ ...askedIn(step) } as Json))}`
  const name = call === undefined || call.isPoll ? `${method} ${pathOf(url)}` : `${call.request.model} is asked`
  if (call?.response !== undefined && call.response.error === undefined) {
    const { text, toolCalls } = call.response
    const decided = [...(text === '' ? [] : [JSON.stringify(text)]), ...toolCalls.map(callText)]
    return { asked, name, answered: decided.join(' and ') || '""', isTurn: true }
  }
  const said =
    response === undefined ? (error?.message ?? 'nothing') : `${response.status} ${textOf(responseBytes(step))}`
  return { asked, name, answered: said, isTurn: false }
}

function callText({ name, args }: ToolCall): string {
  return `${name}(${argumentsText(args)})`
}

function argumentsText(args: Json): string {
  const members = Object.entries(argsByKey(args))
  return members.map(([key, value]) => `${key}: ${JSON.stringify(value)}`).join(', ')
}

/** Hosts are no difference: another model server is asked the same. */
function pathOf(url: string): string {
  if (!URL.canParse(url)) return url
  const { pathname, search } = new URL(url)
  return pathname + search
}

function textOf(bytes: Uint8Array): string {
  return Buffer.from(bytes).toString('utf8')
}
