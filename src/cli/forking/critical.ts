import { type Grade } from '../../blame/index.ts'
import { fisherExact } from '../../stats/index.ts'
import { neutralLine } from '../../errors/index.ts'
import type { ChangeRequest, ForkRequest, TailRequest } from '../../fork/index.ts'
import type { ControlDifference } from '../../jobs/index.ts'
import { at, textAt } from '../../json/canonical.ts'
import { isGenerative, isUnderWay, type ModelCall, readModelCall } from '../../providers/index.ts'
import { type Json, stepsOf, type Tape } from '../../tape/index.ts'
import { signature } from '../../report/describe.ts'
import type { Screen } from '../../report/output.ts'
import { differenceText } from './print.ts'
import type { BranchSummary } from './branches.ts'
import { controlLine } from './control.ts'
import type { Grader } from './grading.ts'

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

/** A decision of a model and what its alternatives came to. */
export interface DecisionReport {
  readonly step: number
  readonly decided: string
  /**
   * `critical`: an alternative gets another grade, or, where nobody grades, ends otherwise. `same`: none of those judged
   * does. `unknown`: none could be judged, or live runs end otherwise there without any change as well.
   */
  readonly verdict: 'critical' | 'same' | 'unknown'
  /** Live runs that keep the decision, drawn alternately with the alternatives: how many end otherwise. */
  readonly beside?: { readonly judged: number; readonly other: number }
  readonly tried: readonly {
    readonly instead: string
    readonly outcome: 'other' | 'as recorded' | 'not judged'
    readonly grade?: Grade
    /** The first difference, or the code of what kept it from being judged. */
    readonly because: string
  }[]
}

/** At most so many other tools are tried per step: each is a run. */
const mostTools = 4

/**
 * Other ways the model decisions of a run could have gone: tool calls left out, other tools of those offered, what the
 * donor's model decided there, and, live, whatever the model says when it is asked again.
 *
 * @param times - how often a step is drawn anew when the tail is live
 */
export function alternativesOf(
  tape: Tape,
  tail: TailRequest,
  reference: Tape | undefined,
  times: number,
): readonly Alternative[] {
  const references = reference === undefined ? [] : modelSteps(reference)
  return modelSteps(tape).flatMap(({ step, call }, index) => {
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
      ...(own === undefined || decisionText(own) === decided
        ? []
        : [change(`as the donor: ${decisionText(own)}`, decisionOf(own))]),
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

/** The first call made to another tool that was offered, with the arguments that tool has, too. */
function otherTools({ request, response }: ModelCall): readonly Instead[] {
  const calls = response?.toolCalls ?? []
  const [first] = calls
  if (first === undefined) return []
  const used = new Set(calls.map(({ name }) => name))
  const offered = request.tools.flatMap(toolsIn).filter(({ name }) => !used.has(name))
  return offered.slice(0, mostTools).map(({ name, keys }): Instead => {
    const args = keys === undefined ? first.args : pick(first.args, keys)
    const rest = calls.slice(1).map((one) => ({ name: one.name, args: one.args }))
    return [signature({ name, args }), { calls: [{ name, args }, ...rest] }]
  })
}

interface OfferedTool {
  readonly name: string
  /** Names of its arguments, when its schema says them. */
  readonly keys?: readonly string[]
}

/** OpenAI, Anthropic and Gemini name a tool and its schema differently. */
function toolsIn(tool: Json): readonly OfferedTool[] {
  const many = at(tool, 'functionDeclarations')
  if (Array.isArray(many)) return (many as readonly Json[]).flatMap(toolsIn)
  const own = at(tool, 'function') ?? tool
  const name = textAt(own, 'name')
  const properties = at(at(own, 'parameters') ?? at(own, 'input_schema'), 'properties')
  if (name === undefined) return []
  return [{ name, ...(typeof properties === 'object' && properties !== null ? { keys: Object.keys(properties) } : {}) }]
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
  const kept = alternatives.map(({ step, request: { tail } }, n) => ({ keep: step, tail, seed: `control ${n + 1}` }))
  return { requests: requests.flatMap((request, at) => [request, kept[at] ?? request]), together: 2 }
}

/**
 * Which decisions matter, as far as their alternatives were tried.
 *
 * @param recorded - the grade of the unchanged run
 * @param controls - of a live tail: for each alternative a run that keeps the decision
 */
export function reportDecisions(
  decisions: ReturnType<typeof decisionsOf>,
  alternatives: readonly Alternative[],
  branches: readonly BranchSummary[],
  recorded: Grade | undefined,
  controls: readonly BranchSummary[] = [],
): readonly DecisionReport[] {
  const all = alternatives.map((alternative, index) => ({
    alternative,
    branch: branches[index],
    control: controls[index],
  }))
  const count = (runs: readonly Tried[]): Count => ({
    judged: runs.filter(({ outcome }) => outcome !== 'not judged').length,
    other: runs.filter((run) => isOther(run, recorded)).length,
  })
  return decisions.map(({ step, decided }) => {
    const own = all.filter(({ alternative }) => alternative.step === step)
    const tried = own.map(({ alternative: { instead }, branch }) => outcomeOf(instead, branch))
    const kept = own.flatMap(({ control }) => (control === undefined ? [] : [outcomeOf('', control)]))
    const beside = kept.length === 0 ? undefined : count(kept)
    return {
      step,
      decided,
      verdict: verdictOf(count(tried), beside),
      tried,
      ...(beside === undefined ? {} : { beside }),
    }
  })
}

type Tried = DecisionReport['tried'][number]
type Count = NonNullable<DecisionReport['beside']>

function isOther({ outcome, grade }: Tried, recorded: Grade | undefined): boolean {
  return recorded === undefined
    ? outcome === 'other'
    : grade !== undefined && grade !== 'ungraded' && grade !== recorded
}

/** Where runs that keep the decision end otherwise as well, only a difference that chance does not make is one. */
function verdictOf(tried: Count, kept: Count | undefined): DecisionReport['verdict'] {
  if (tried.other === 0) return tried.judged === 0 ? 'unknown' : 'same'
  if (kept === undefined || (kept.other === 0 && kept.judged > 0)) return 'critical'
  if (kept.judged === 0) return 'unknown'
  const hits = ({ other, judged }: Count) => ({ hits: other, runs: Math.max(judged, other) })
  return fisherExact(hits(tried), hits(kept)) <= 0.05 ? 'critical' : 'unknown'
}

function outcomeOf(instead: string, branch: BranchSummary | undefined): DecisionReport['tried'][number] {
  const { compared, grade, problems = [] } = branch ?? {}
  if (compared === undefined) return { instead, outcome: 'not judged', because: problems[0]?.code ?? '' }
  const because = compared.first === undefined ? 'the same run' : differenceText(compared.first)
  if (compared.outcome.same === null)
    return {
      instead,
      outcome: 'not judged',
      because: 'the import did not see the outcome',
      ...(grade === undefined ? {} : { grade }),
    }
  const outcome = compared.outcome.same ? 'as recorded' : 'other'
  return { instead, outcome, because, ...(grade === undefined ? {} : { grade }) }
}

/** Prints the decisions, the alternatives of each, and what nobody tried. */
export function printDecisions(
  decisions: readonly DecisionReport[],
  {
    isLive,
    grader,
    differs,
  }: {
    readonly isLive: boolean
    readonly grader?: Pick<Grader, 'by' | 'recorded'> | undefined
    readonly differs?: ControlDifference | undefined
  },
  screen: Screen,
): void {
  if (differs !== undefined) screen.line(`${controlLine(differs)}\n`)
  const whose = differs === undefined ? 'the recorded run' : "today's code unchanged"
  if (grader !== undefined) screen.line(`graded by ${neutralLine(grader.by, 120)}; ${whose} is ${grader.recorded}\n`)
  for (const { step, decided, verdict, tried, beside } of decisions) {
    screen.line(`${screen.paint('bold', `step ${step}  ${titles[verdict]}`)}`)
    screen.line(`  the model decided: ${neutralLine(decided, 110)}`)
    if (tried.length === 0) screen.line('  nothing was tried: it called no tool')
    for (const one of tried) screen.line(`  ${triedLine(one)}`)
    if (beside !== undefined) screen.line(`  ${besideLine(tried, beside)}`)
  }
  const named = (verdict: DecisionReport['verdict']): string =>
    decisions.flatMap((one) => (one.verdict === verdict ? [`${one.step}`] : [])).join(', ') || 'none'
  screen.line(`\n${screen.paint('bold', `critical: ${named('critical')}`)}`)
  screen.line(`no tried alternative changes the outcome: ${named('same')}`)
  screen.line(`nothing could be judged: ${named('unknown')}`)
  screen.line('not tried: other arguments, other texts, other answers of tools')
  if (!isLive) screen.line('→ what a model would say to a changed question is not on the tape; to ask it: --live')
}

function besideLine(tried: DecisionReport['tried'], { judged, other }: Count): string {
  const changed = tried.filter(({ outcome }) => outcome !== 'not judged').length
  const counts = `${changed} alternatives; beside them, with the decision kept, ${other} of ${judged} live runs end otherwise`
  return other === 0 ? counts : `${counts}: that is no effect of the decision`
}

function triedLine({ instead, outcome, grade, because }: DecisionReport['tried'][number]): string {
  const graded = grade === undefined ? '' : `, ${grade}`
  return `${neutralLine(instead, 90)}: ${words[outcome]}${graded}${because === '' ? '' : ` (${neutralLine(because, 140)})`}`
}

const titles: Readonly<Record<DecisionReport['verdict'], string>> = {
  critical: 'critical',
  same: 'not critical, as far as was tried',
  unknown: 'unknown',
}

const words: Readonly<Record<DecisionReport['tried'][number]['outcome'], string>> = {
  other: 'another outcome',
  'as recorded': 'the same outcome',
  'not judged': 'not judged',
}
