import type { Case } from '../cases/index.ts'
import { isMap } from '../json/canonical.ts'
import { driftPolicy } from '../match/drift-policy.ts'
import type { Json, Tape } from '../tape/index.ts'
import {
  type ArgsMode,
  type ArgsRule,
  exactIn,
  type MatchOptions,
  onlyIn,
  placedCalls,
  type TraceMode,
} from '../trace/index.ts'
import { weakerBaseline } from './weaker-baseline.ts'
import { weakerRules } from './weaker-rules.ts'

/** Something a case asserted, and does no more; of a new case, what one that was promoted asserts and it does not. */
export interface Weakening {
  /** Key of the case file it is about: `match.trace`, `baseline`, … */
  readonly field: string
  /** `causal → superset`. */
  readonly what: string
  /** 1-based line in the case file as it is now. */
  readonly line?: number
}

/**
 * What a change to a case makes it accept that it refused before. An update that someone approved may change what is
 * expected; that it asserts less is reported all the same.
 *
 * @param before - absent: the case is new, and is compared with one as promoting writes it
 * @param tape - the tape of the case as it is now, where it can be read
 */
export function weakenings(before: Case | undefined, after: Case, tape?: Tape): readonly Weakening[] {
  const was = before ?? freshCase(after)
  const isApproved = after.approved !== undefined && !same(before?.approved, after.approved)
  return [
    ...(was.expect === 'pass' && after.expect === 'fail' && before !== undefined
      ? [{ field: 'expect', what: 'pass → fail: it is green while it is wrong', line: after.lines.expect }]
      : []),
    ...weakerMatch(was.match ?? {}, after.match ?? {}, after),
    ...weakerDrift(was, after),
    ...weakerLimits(was, after),
    ...(before === undefined ? missingBaseline(after, tape) : []),
    ...weakerBaseline(was, after, isApproved),
    ...weakerRules(was, after),
    ...weakerOutcome(was, after, isApproved),
    ...fewer('messages', was, after, tape),
    ...fewer('marks', was, after, tape),
    ...fewerStates(was, after),
  ]
}

/** As promoting would have written it: every default, and no way out. */
function freshCase({ match: _, drift: __, escapes: ___, serve: ____, ...rest }: Case): Case {
  return { ...rest, expect: 'pass' }
}

function missingBaseline(after: Case, tape: Tape | undefined): readonly Weakening[] {
  if (after.expected !== undefined || tape === undefined) return []
  const calls = placedCalls(tape.events).length
  return calls === 0
    ? []
    : [{ field: 'baseline', what: `none, and the run has ${calls} tool call${calls === 1 ? '' : 's'}` }]
}

// Which calls in which order, the strictest first. `subset` and `superset` accept different runs: either way round is less.
const traceRank: Readonly<Record<TraceMode, number>> = {
  strict: 5,
  sequence: 4,
  causal: 3,
  unordered: 2,
  subset: 1,
  superset: 1,
}
const argsRank: Readonly<Record<ArgsMode, number>> = { exact: 4, keys: 3, subset: 2, superset: 2, ignore: 1 }

function weakerMatch(was: MatchOptions, is: MatchOptions, { lines }: Case): readonly Weakening[] {
  const line = lines.match === undefined ? {} : { line: lines.match }
  const found: Weakening[] = []
  const [trace, traceNow] = [was.trace ?? 'causal', is.trace ?? 'causal']
  if (trace !== traceNow && traceRank[traceNow] <= traceRank[trace])
    found.push({ field: 'match.trace', what: `${trace} → ${traceNow}`, ...line })
  const [args, argsNow] = [was.args ?? 'keys', is.args ?? 'keys']
  if (args !== argsNow && argsRank[argsNow] <= argsRank[args])
    found.push({ field: 'match.args', what: `${args} → ${argsNow}`, ...line })
  for (const tool of new Set([...Object.keys(was.tools ?? {}), ...Object.keys(is.tools ?? {})])) {
    const [rule, ruleNow] = [countedArgs(was.tools?.[tool], args), countedArgs(is.tools?.[tool], argsNow)]
    // What the mode for all tools changed is reported there.
    const isOfAll = was.tools?.[tool] === undefined && is.tools?.[tool] === undefined
    if (!isOfAll && isWeakerArgs(rule, ruleNow))
      found.push({ field: `match.tools.${tool}`, what: `${text(rule)} → ${text(ruleNow)}`, ...line })
  }
  return found
}

function countedArgs(rule: ArgsRule | undefined, all: ArgsMode): ArgsMode | readonly string[] {
  if (typeof rule === 'string') return rule
  return typeof rule === 'object' ? rule.args : all
}

function isWeakerArgs(was: ArgsMode | readonly string[], is: ArgsMode | readonly string[]): boolean {
  if (typeof was === 'string' && typeof is === 'string') return was !== is && argsRank[is] <= argsRank[was]
  if (typeof was === 'string') return was !== 'ignore'
  if (typeof is === 'string') return is !== 'exact' && is !== 'keys'
  return was.some((name) => !is.includes(name))
}

function text(rule: ArgsMode | readonly string[]): string {
  return typeof rule === 'string' ? rule : `[${rule.join(', ')}]`
}

const driftRank = { fail: 3, unproven: 2, report: 1, ignore: 0 } as const

function weakerDrift(was: Case, is: Case): readonly Weakening[] {
  const [before, after] = [driftPolicy(was.drift as never), driftPolicy(is.drift as never)]
  return Object.entries(after).flatMap(([name, policy]): readonly Weakening[] => {
    const old = before[name as keyof typeof before]
    if (driftRank[policy] >= driftRank[old]) return []
    return [
      {
        field: `drift.${name}`,
        what: `${old} → ${policy}`,
        ...(is.lines.drift === undefined ? {} : { line: is.lines.drift }),
      },
    ]
  })
}

const serveRank = { exact: 3, canonical: 2, conversation: 1, reworded: 0 } as const

function weakerLimits(was: Case, is: Case): readonly Weakening[] {
  const { lines } = is
  const found: Weakening[] = []
  const tell = (field: 'serve' | 'escapes' | 'tools' | 'timeout' | 'oracle', what: string): void => {
    found.push({ field, what, ...(lines[field] === undefined ? {} : { line: lines[field] }) })
  }
  const [serve, serveNow] = [was.serve ?? 'reworded', is.serve ?? 'reworded']
  if (serveRank[serveNow] < serveRank[serve]) tell('serve', `${serve} → ${serveNow}`)
  const allowed = new Set(was.escapes?.allow)
  const more = (is.escapes?.allow ?? []).filter((escape) => !allowed.has(escape))
  if (more.length > 0) tell('escapes', `allows ${more.join(', ')}`)
  const [ran, runs] = [toolsRun(was), toolsRun(is)]
  const idle =
    ran === 'all'
      ? runs === 'all'
        ? []
        : ['all tools']
      : runs === 'all'
        ? []
        : ran.filter((tool) => !runs.includes(tool))
  if (idle.length > 0) tell('tools', `the code of ${idle.join(', ')} is not run any more`)
  if (was.timeout !== undefined && (is.timeout ?? Infinity) > was.timeout)
    tell('timeout', `${was.timeout} ms → ${is.timeout === undefined ? 'none' : `${is.timeout} ms`}`)
  if (was.oracle !== undefined && is.oracle === undefined) tell('oracle', `${was.oracle} → none`)
  return found
}

function toolsRun({ tools }: Case): 'all' | readonly string[] {
  return tools === 'run' ? 'all' : typeof tools === 'object' ? tools.run : []
}

function weakerOutcome(was: Case, is: Case, isApproved: boolean): readonly Weakening[] {
  if (was.outcome === undefined) return []
  const line = is.lines.outcome === undefined ? {} : { line: is.lines.outcome }
  if (is.outcome === undefined) return [{ field: 'outcome', what: 'not asserted any more' }]
  const walk = (said: Json, saidNow: Json | undefined, path: string): readonly Weakening[] => {
    const field = path === '' ? 'outcome' : `outcome.${path}`
    if (saidNow === undefined) return isApproved ? [] : [{ field, what: 'not asserted any more', ...line }]
    const [before, after] = [said, saidNow].map((one) => exactIn(one) ?? onlyIn(one) ?? one) as [Json, Json]
    const isOpened = isMap(before) && isMap(after) && before !== said && after === saidNow
    if (isOpened) return [{ field, what: 'may have other keys', ...line }, ...walk(before, after, path)]
    if (before !== '*' && after === '*' && exactIn(saidNow) === undefined)
      return [{ field, what: `${short(before)} → *`, ...line }]
    if (Array.isArray(before) && Array.isArray(after))
      return before.flatMap((item: Json, at) =>
        at < after.length ? walk(item, after[at] as Json, `${path}[${at}]`) : [],
      )
    if (!isMap(before) || !isMap(after)) return []
    return Object.entries(before).flatMap(([key, value]) =>
      walk(value, Object.hasOwn(after, key) ? after[key] : undefined, path === '' ? key : `${path}.${key}`),
    )
  }
  return walk(was.outcome, is.outcome, '')
}

/** Lists that replace those of the tape. */
function fewer(field: 'messages' | 'marks', was: Case, is: Case, tape: Tape | undefined): readonly Weakening[] {
  const list = is[field]
  if (list === undefined) return []
  const kind = field === 'messages' ? 'message' : 'mark'
  const before = was[field]?.length ?? tape?.events.filter((event) => event.kind === kind).length ?? 0
  if (list.length >= before) return []
  return [
    { field, what: `${before} → ${list.length}`, ...(is.lines[field] === undefined ? {} : { line: is.lines[field] }) },
  ]
}

/** Snapshots that are not made any more. */
function fewerStates(was: Case, is: Case): readonly Weakening[] {
  const before = new Set(statesGone(was))
  const gone = statesGone(is).filter((name) => !before.has(name))
  const line = is.lines.states === undefined ? {} : { line: is.lines.states }
  return gone.map((name) => ({ field: 'states', what: `${name} is not expected any more`, ...line }))
}

function statesGone({ states = [] }: Case): readonly string[] {
  const isGone = states.filter(({ changes }) => changes.some(({ path, value }) => path === '' && value === undefined))
  return isGone.map(({ of, call = 1 }) => `snapshot ${call} of ${of}`)
}

function short(value: Json): string {
  const json = JSON.stringify(value)
  return json.length > 40 ? `${json.slice(0, 39)}…` : json
}

function same(one: unknown, other: unknown): boolean {
  return JSON.stringify(one) === JSON.stringify(other)
}
