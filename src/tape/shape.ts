// Over 300 lines: a check for each field of the format, beside types.ts.
import { beyondBounds } from './rule-bounds.ts'
import type { DrawKind, ImportGrade, KeptReason, Outcome, PushFrame, RetentionClass, TapeHeader, Via } from './types.ts'

/**
 * Checks by hand that a parsed line is what its type says. Each function answers with the first thing that is
 * wrong, as `response.status is not a number`, or `undefined`. Unknown members are let through.
 */
type Problem = string | undefined
type Fields = Readonly<Record<string, unknown>>

/** What is wrong with the header of a tape this version can read. */
export function headerProblem(header: Fields): Problem {
  const { pins, command, parent, imported, printed, prints, redact, subjects, session, attributes } = header
  return (
    text(header, 'id', 'agent', 'recorder') ??
    (isDate(header['startedAt']) ? undefined : 'startedAt is not a date') ??
    listOf(header['flags'], 'flags', isText) ??
    (isFields(pins) ? pinsProblem(pins) : 'pins is not an object') ??
    optional(command, () => {
      if (!isFields(command)) return 'command is not an object'
      return listOf(command['argv'], 'command.argv', isText) ?? text(command, 'cwd')
    }) ??
    optional(header['process'], () => text(header, 'process')) ??
    optional(subjects, () => listOf(subjects, 'subjects', isText)) ??
    optional(session, () => (isFields(session) ? text(session, 'id') : 'session is not an object')) ??
    optional(attributes, () => attributesProblem(attributes)) ??
    optional(printed, () => (isFields(printed) ? text(printed, 'key', 'salt') : 'printed is not an object')) ??
    optional(prints, () => listOf(prints, 'prints', isHeaderPair)) ??
    optional(redact, () => (isFields(redact) ? rulesProblem(redact) : 'redact is not an object')) ??
    optional(parent, () => (isFields(parent) ? parentProblem(parent) : 'parent is not an object')) ??
    optional(imported, () => (isFields(imported) ? importedProblem(imported) : 'imported is not an object'))
  )
}

function attributesProblem(attributes: unknown): Problem {
  if (!isFields(attributes)) return 'attributes is not an object'
  const isPlain = (value: unknown): boolean => ['string', 'number', 'boolean'].includes(typeof value)
  return Object.values(attributes).every(isPlain) ? undefined : 'attributes is not a map of plain values'
}

function pinsProblem({ node, commit, dirty, packages }: Fields): Problem {
  if (!isText(node)) return 'node is not text'
  if (commit !== undefined && !isText(commit)) return 'pins.commit is not text'
  if (dirty !== undefined && typeof dirty !== 'boolean') return 'pins.dirty is not true or false'
  const isMap = packages === undefined || (isFields(packages) && Object.values(packages).every(isText))
  return isMap ? undefined : 'pins.packages is not a map of texts'
}

const ruleLists = ['keys', 'headers', 'off', 'on', 'keep', 'allow']

function rulesProblem(redact: Fields): Problem {
  for (const name of ruleLists) {
    const problem = optional(redact[name], () => listOf(redact[name], `redact.${name}`, isText))
    if (problem !== undefined) return problem
  }
  const { names, families, rules } = redact
  const isNames = names === undefined || (isFields(names) && Object.values(names).every(isTexts))
  if (!isNames) return 'redact.names is not a map of lists of texts'
  return (
    optional(families, () => listOf(families, 'redact.families', isFamily)) ??
    optional(rules, () => listOf(rules, 'redact.rules', isRule)) ??
    beyondBounds(redact)
  )
}

function isTexts(value: unknown): boolean {
  return Array.isArray(value) && value.every(isText)
}

function isFamily(value: unknown): boolean {
  return isFields(value) && text(value, 'head', 'of') === undefined && isCount(value['min'])
}

function isRule(value: unknown): boolean {
  if (!isFields(value) || text(value, 'kind', 'pattern', 'flags') !== undefined) return false
  return value['placeholder'] === undefined || isText(value['placeholder'])
}

const grades: ReadonlySet<unknown> = new Set<ImportGrade>([
  'replayable',
  're-drivable',
  'signature-only',
  'timeline-only',
])

function importedProblem(imported: Fields): Problem {
  // An unknown grade must not pass for one that allows more.
  if (!grades.has(imported['grade'])) return 'imported.grade is not a grade'
  return text(imported, 'format') ?? listOf(imported['missing'], 'imported.missing', isText)
}

function parentProblem(parent: Fields): Problem {
  const { before } = parent
  const wrong = ['events', 'keep'].find((name) => !isCount(parent[name]))
  if (wrong !== undefined) return `parent.${wrong} is not a whole number`
  if (before !== undefined && !isCount(before)) return 'parent.before is not a whole number'
  return text(parent, 'id', 'file', 'digest')
}

/** What is wrong with an event. Its kind is one of {@link isEventKind}. */
export function eventProblem(event: Fields): Problem {
  const { site } = event
  if (!isCount(event['n'])) return 'n is not a whole number'
  if (!isMs(event['at'])) return 'at is not a number of milliseconds'
  if (event['in'] !== undefined && !isCount(event['in'])) return 'in is not a whole number'
  if (site !== undefined && !isText(site)) return 'site is not text'
  const printsProblem = optional(event['prints'], () => listOf(event['prints'], 'prints', isHeaderPair))
  if (printsProblem !== undefined) return printsProblem
  const check = checks.get(event['kind'] as string)
  return check === undefined ? `nothing is known of kind ${JSON.stringify(event['kind'])}` : check(event)
}

/** What is wrong with the last line. */
export function closeProblem(close: Fields): Problem {
  const {
    outcome,
    incomplete,
    unrecorded,
    droppedHeaders,
    kept,
    retention,
    usage,
    prints,
    timers,
    timersInCalls,
    timersUnheeded,
    unread,
    unseen,
    inPart,
    input,
    late,
  } = close
  if (!isCount(close['n'])) return 'n is not a whole number'
  if (!isMs(close['at'])) return 'at is not a number of milliseconds'
  if (!isCount(close['events'])) return 'events is not a whole number'
  if (incomplete !== undefined && !isText(incomplete)) return 'incomplete is not text'
  if (!isFields(outcome)) return 'outcome is not an object'
  return (
    outcomeProblem(outcome) ??
    optional(unrecorded, () => listOf(unrecorded, 'unrecorded', isText)) ??
    optional(droppedHeaders, () => listOf(droppedHeaders, 'droppedHeaders', isText)) ??
    optional(prints, () => listOf(prints, 'prints', isHeaderPair)) ??
    optional(kept, () => listOf(kept, 'kept', isKeptReason)) ??
    optional(retention, () => (isFields(retention) ? retentionProblem(retention) : 'retention is not an object')) ??
    optional(usage, () => (isFields(usage) ? usageProblem(usage) : 'usage is not an object')) ??
    optional(timers, () => listOf(timers, 'timers', isTimersRecord)) ??
    optional(timersInCalls, () => listOf(timersInCalls, 'timersInCalls', isTimersInCalls)) ??
    optional(timersUnheeded, () => listOf(timersUnheeded, 'timersUnheeded', isTimersInCalls)) ??
    optional(unread, () => listOf(unread, 'unread', isCount)) ??
    optional(unseen, () => listOf(unseen, 'unseen', isCount)) ??
    optional(inPart, () => listOf(inPart, 'inPart', isCount)) ??
    optional(input, () => (isFields(input) ? undefined : 'input is not an object')) ??
    optional(late, () => listOf(late, 'late', isLateWork))
  )
}

function isTimersRecord(value: unknown): boolean {
  if (!Array.isArray(value) || value.length !== 4) return false
  const [caller, ms, set, fired] = value as readonly unknown[]
  return isText(caller) && isMs(ms) && isCount(set) && Array.isArray(fired) && fired.every(isFiredTimer)
}

function isTimersInCalls(value: unknown): boolean {
  if (!Array.isArray(value) || value.length !== 3) return false
  const [caller, ms, before] = value as readonly unknown[]
  return isText(caller) && isMs(ms) && Array.isArray(before) && before.every(isCount)
}

function isLateWork(value: unknown): boolean {
  if (!isFields(value) || !isText(value['kind']) || !isText(value['name'])) return false
  return value['path'] === undefined || isText(value['path'])
}

function isFiredTimer(value: unknown): boolean {
  if (!Array.isArray(value) || value.length !== 2) return false
  const [before, firings] = value as readonly unknown[]
  return isCount(before) && Array.isArray(firings) && firings.every(isMoment)
}

function outcomeProblem(outcome: Fields): Problem {
  const { status, code, unknown } = outcome
  if (unknown !== undefined && (unknown !== true || status !== 'returned')) return 'outcome.unknown is not true'
  if (status === 'returned') return undefined
  if (status === 'threw') return 'error' in outcome ? undefined : 'outcome.error is missing'
  const printed = ['stdout', 'stderr'].find((name) => outcome[name] !== undefined && !isText(outcome[name]))
  if (printed !== undefined) return `outcome.${printed} is not text`
  if (status === 'exited')
    return code === null || isCount(code) ? undefined : 'outcome.code is not a whole number or null'
  return 'outcome.status is not returned, threw or exited'
}

/** What a recorder keeps runs for: the compiler sees that none is missing. */
const reasons: Readonly<Record<KeptReason['because'], true>> = {
  sample: true,
  error: true,
  unrecorded: true,
  timeout: true,
  tokens: true,
  cost: true,
  tool: true,
  when: true,
  flag: true,
  budget: true,
}
export const keptReasons = Object.keys(reasons) as readonly KeptReason['because'][]
const classes: ReadonlySet<unknown> = new Set<RetentionClass>(['clean', 'flagged', 'incident'])

function isKeptReason(value: unknown): boolean {
  return (
    isFields(value) &&
    isText(value['because']) &&
    Object.hasOwn(reasons, value['because']) &&
    (value['detail'] === undefined || isText(value['detail']))
  )
}

function retentionProblem(retention: Fields): Problem {
  const { until, hold } = retention
  if (!classes.has(retention['class'])) return 'retention.class is not clean, flagged or incident'
  if (until !== undefined && !isDate(until)) return 'retention.until is not a date'
  return hold === undefined || isText(hold) ? undefined : 'retention.hold is not text'
}

function usageProblem(usage: Fields): Problem {
  const { costUsd } = usage
  const wrong = ['modelCalls', 'inputTokens', 'outputTokens'].find((name) => !isCount(usage[name]))
  if (wrong !== undefined) return `usage.${wrong} is not a whole number`
  return costUsd === undefined || (isMs(costUsd) && (costUsd as number) >= 0)
    ? undefined
    : 'usage.costUsd is not a number of dollars'
}

const checks = new Map<string, (event: Fields) => Problem>([
  ['exchange', exchangeProblem],
  ['tool', callProblem],
  ['retrieval', callProblem],
  ['value', callProblem],
  ['draws', (event) => listOf(event['draws'], 'draws', isDraw)],
  ['spawn', spawnProblem],
  ['push', (event) => text(event, 'url', 'text') ?? frameProblem(event['frame'])],
  ['message', (event) => text(event, 'from', 'to') ?? present(event, 'body')],
  ['mark', (event) => text(event, 'name')],
  ['state', stateProblem],
])

function stateProblem(event: Fields): Problem {
  const { call, data, like } = event
  if (!Number.isSafeInteger(call) || (call as number) < 1) return 'call is not a number from 1'
  if (like !== undefined && !isLike(like)) return 'like is not a reference'
  return text(event, 'name') ?? (data === undefined && like === undefined ? 'data is missing' : undefined)
}

const frames: ReadonlySet<unknown> = new Set<PushFrame>(['binary', 'close', 'ping', 'pong', 'end'])

function frameProblem(frame: unknown): Problem {
  return frame === undefined || frames.has(frame) ? undefined : 'frame is not binary, close, ping, pong or end'
}

const vias: ReadonlySet<unknown> = new Set<Via>(['undici', 'http', 'http2', 'stdio', 'websocket'])
const drawKinds: ReadonlySet<unknown> = new Set<DrawKind>(['now', 'perf', 'random', 'uuid', 'bytes', 'int'])

function exchangeProblem(event: Fields): Problem {
  const { request, response, error, aborted } = event
  if (!isTurns(event['turns'])) return 'turns is not a list of pairs of whole numbers'
  if (!vias.has(event['via'])) return 'via is not undici, http, http2, stdio or websocket'
  if (!isFields(request)) return 'request is not an object'
  return (
    text(event, 'method', 'url') ??
    listOf(request['headers'], 'request.headers', isHeaderPair) ??
    (request['body'] === undefined || isBody(request['body']) ? undefined : 'request.body is not a body') ??
    cutProblem(request, 'request') ??
    (request['open'] === undefined || request['open'] === true ? undefined : 'request.open is not true') ??
    (response === undefined
      ? undefined
      : isFields(response)
        ? responseProblem(response)
        : 'response is not an object') ??
    (error === undefined ? undefined : isFields(error) ? errorProblem(error) : 'error is not an object') ??
    (aborted === undefined || isMoment(aborted) ? undefined : 'aborted is not a moment')
  )
}

function responseProblem(response: Fields): Problem {
  const { status, statusText, end } = response
  if (!isMoment(response['moment'])) return 'response.moment is not a moment'
  if (!isCount(status)) return 'response.status is not a whole number'
  if (statusText !== undefined && !isText(statusText)) return 'response.statusText is not text'
  if (end !== undefined && !isMoment(end)) return 'response.end is not a moment'
  return (
    listOf(response['headers'], 'response.headers', isHeaderPair) ??
    listOf(response['chunks'], 'response.chunks', isChunk) ??
    cutProblem(response, 'response')
  )
}

/** What is left out is said with what there was: one without the other is neither. */
function cutProblem({ cut, whole }: Fields, of: string): Problem {
  if (cut === undefined && whole === undefined) return undefined
  if (!isCount(cut)) return `${of}.cut is not a whole number`
  if (!isFields(whole)) return `${of}.whole is not an object`
  const wrong = ['size', 'at', 'window'].find((name) => !isCount(whole[name]))
  if (wrong !== undefined) return `${of}.whole.${wrong} is not a whole number`
  return isText(whole['sha256']) || isText(whole['keptSha256']) ? undefined : `${of}.whole has no digest`
}

function errorProblem(error: Fields): Problem {
  if (!isText(error['name']) || !isText(error['message'])) return 'error has no name and message'
  if (error['code'] !== undefined && !isText(error['code'])) return 'error.code is not text'
  return isMoment(error['moment']) ? undefined : 'error.moment is not a moment'
}

function callProblem(event: Fields): Problem {
  const { settled, asked, yields, told, stopped, turns, wrote, code } = event
  if (!isTurns(turns)) return 'turns is not a list of pairs of whole numbers'
  if (stopped !== undefined && stopped !== true) return 'stopped is not true'
  if (code !== undefined && !(Array.isArray(code) && code.length === 2 && code.every(isText)))
    return 'code is not a name and digests'
  if (told !== undefined && !Array.isArray(told)) return 'told is not a list'
  if (asked !== undefined && !isCount(asked)) return 'asked is not a whole number'
  if (settled !== undefined && !isMoment(settled)) return 'settled is not a moment'
  return (
    text(event, 'name') ??
    present(event, 'args') ??
    optional(event['driver'], () => text(event, 'driver')) ??
    (wrote === undefined ? undefined : listOf(wrote, 'wrote', isWritten)) ??
    optional(event['lost'], () => listOf(event['lost'], 'lost', isText)) ??
    (yields === undefined ? undefined : listOf(yields, 'yields', isYield))
  )
}

function isWritten(value: unknown): boolean {
  return (
    Array.isArray(value) &&
    (value.length === 1 || value.length === 2) &&
    Array.isArray(value[0]) &&
    value[0].every(isText)
  )
}

function isTurns(value: unknown): boolean {
  const isPair = (one: unknown): boolean => Array.isArray(one) && one.length === 2 && one.every(isCount)
  return value === undefined || (Array.isArray(value) && value.every(isPair))
}

function isMoment(value: unknown): boolean {
  return Array.isArray(value) && value.length === 2 && isCount(value[0]) && isMs(value[1])
}

function isChunk(value: unknown): boolean {
  return Array.isArray(value) && value.length === 3 && isCount(value[0]) && isMs(value[1]) && isBytes(value[2])
}

function isYield(value: unknown): boolean {
  return Array.isArray(value) && value.length === 3 && isCount(value[0]) && isMs(value[1])
}

function isDraw(value: unknown): boolean {
  return Array.isArray(value) && value.length === 3 && drawKinds.has(value[0]) && isText(value[1])
}

function isHeaderPair(value: unknown): boolean {
  return Array.isArray(value) && value.length === 2 && isText(value[0]) && isText(value[1])
}

function isBytes(value: unknown): boolean {
  return isText(value) || (isFields(value) && isText(value['base64']))
}

function isBody(value: unknown): boolean {
  return isBytes(value) || isLike(value)
}

function isLike(value: unknown): boolean {
  return (
    isFields(value) &&
    isCount(value['like']) &&
    isCount(value['head']) &&
    isText(value['text']) &&
    isCount(value['tail'])
  )
}

function spawnProblem({ command, cwd, env, options, error }: Fields): Problem {
  return (
    listOf(command, 'command', isText) ??
    optional(cwd, () => (isText(cwd) ? undefined : 'cwd is not text')) ??
    textsProblem(env, 'env') ??
    textsProblem(options, 'options') ??
    optional(error, () => (isText(error) ? undefined : 'error is not text'))
  )
}

function textsProblem(value: unknown, name: string): Problem {
  return optional(value, () =>
    isFields(value) && Object.values(value).every(isText) ? undefined : `${name} is not a map of texts`,
  )
}

function text(fields: Fields, ...names: readonly string[]): Problem {
  for (const name of names) if (typeof fields[name] !== 'string') return `${name} is not text`
  return undefined
}

function present(fields: Fields, name: string): Problem {
  return fields[name] === undefined ? `${name} is missing` : undefined
}

function listOf(value: unknown, name: string, holds: (item: unknown) => boolean): Problem {
  if (!Array.isArray(value)) return `${name} is not a list`
  for (let at = 0; at < value.length; at++) if (!holds(value[at])) return `${name}[${at}] has the wrong shape`
  return undefined
}

function optional(value: unknown, check: () => Problem): Problem {
  return value === undefined ? undefined : check()
}

function isText(value: unknown): value is string {
  return typeof value === 'string'
}

function isCount(value: unknown): boolean {
  return Number.isSafeInteger(value) && (value as number) >= 0
}

/** A moment of the calendar in ISO 8601, as `toISOString` writes it. */
function isDate(value: unknown): boolean {
  return isText(value) && /^\d{4}-\d\d-\d\dT/.test(value) && !Number.isNaN(Date.parse(value))
}

/** Milliseconds of a run: some hundred years at most, so that a moment of it is a date. */
function isMs(value: unknown): boolean {
  return typeof value === 'number' && Math.abs(value) <= 1e13
}

/** Whether a parsed line is an object with fields. */
export function isFields(value: unknown): value is Fields {
  return typeof value === 'object' && value !== null && !Array.isArray(value)
}

/** An outcome as it stands on the closing line. */
export type WrittenOutcome = Exclude<Outcome, { readonly status: 'unknown' }> & { readonly unknown?: true }

/**
 * The outcome of a closing line as readers see it: `unknown` where the import did not see how the run ended.
 *
 * The line spells it `{"status":"returned","unknown":true}`: versions that know no unknown outcome read it as a run that
 * returned nothing, as they read every import. Their own imports say it in the header alone, under `missing`.
 */
export function readOutcome(written: WrittenOutcome, { imported }: Pick<TapeHeader, 'imported'>): Outcome {
  if (written.unknown === true) return { status: 'unknown' }
  const isEmpty = written.status === 'returned' && written.value === undefined
  return isEmpty && imported?.missing.includes('outcome') === true ? { status: 'unknown' } : written
}

/** What every report says where the outcome of an import would be compared. */
export const outcomeNotCompared = 'not compared (the import did not see it)'

/** Whether a run has times. An import may have none: its order stands in their place. */
export function isTimed({ imported }: Pick<TapeHeader, 'imported'>): boolean {
  return imported === undefined || !imported.missing.some((what) => what === 'timings' || what === 'starts')
}

/** Whether `startedAt` is when the run began: an import that does not know it says 1970. */
export function isStartKnown({ imported }: Pick<TapeHeader, 'imported'>): boolean {
  return imported?.missing.includes('start') !== true
}
