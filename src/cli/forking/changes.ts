import { isUtf8 } from 'node:buffer'
import { isDeepStrictEqual } from 'node:util'
import { HarvestError, neutralLine, shellWord } from '../../errors/index.ts'
import { ofType, typeOf } from '../../json/value-types.ts'
import { type ChangeRequest, editAnswer, type Patch, patchTape, readJsonPatch } from '../../fork/index.ts'
import { bodyDifference } from '../../match/difference.ts'
import { type Json, type Step, stepsOf, type Tape } from '../../tape/index.ts'
import type { CommandSpec, CommandInput } from '../command.ts'
import { decodedResponse, describeStep, signature } from '../../report/describe.ts'
import { usage } from '../parse.ts'
import { toNameStep } from './step-hint.ts'
import { type BesideRecorded, besideRecorded, recordedText, completeCalls } from './decided-calls.ts'
import { jsonOrText, readCall, readEdit, readGivenFile, readJson, readPair, type TypedCall } from './words.ts'

/** The changes that were asked for, in the order of the options. */
export function changesOf(
  given: CommandInput,
  step: number | undefined,
  tape: Tape,
  command: CommandSpec,
): readonly ChangeRequest[] {
  const sets = given.values('set').map((word): Patch => {
    const [path, text] = readPair(word, 'set', command)
    const value = jsonOrText(text)
    return /^input\b/.test(path) ? { path, value } : { step: at(step, command), path, value }
  })
  const marks = given.values('mark').map((word): ChangeRequest => {
    const [mark, text] = readPair(word, 'mark', command)
    return { mark, data: readJson(text, 'mark', command) }
  })
  const calls = given.values('decide').map((word) => readCall(word, command))
  const said = given.value('say')
  return [
    ...sets,
    ...answerChanges(given, step, command),
    ...(calls.length === 0 ? [] : [decisionOf(calls, at(step, command), tape)]),
    ...(said === undefined ? [] : [{ step: at(step, command), decide: { say: said } }]),
    ...marks,
  ]
}

function decisionOf(calls: readonly TypedCall[], step: number, tape: Tape): ChangeRequest {
  return { step, decide: { calls: completeCalls(calls, step, tape) } }
}

function answerChanges(given: CommandInput, step: number | undefined, command: CommandSpec): readonly ChangeRequest[] {
  const result = given.value('result')
  const answer = given.value('body')
  const patch = given.value('json-patch')
  const edit = given.value('edit')
  const [old, other] = [given.value('replace'), given.value('with')]
  if ((old === undefined) !== (other === undefined))
    throw usage(command, 'HARVEST_CLI_ARGUMENT', '--replace and --with belong together', [
      `with both: --${old === undefined ? 'replace' : 'with'} '<text>'`,
    ])
  const changes: ChangeRequest[] = []
  if (result !== undefined)
    changes.push({ step: at(step, command), path: 'result', value: readJson(result, 'result', command) })
  if (answer !== undefined)
    changes.push({ step: at(step, command), edit: { text: readGivenFile(answer, 'body', command) } })
  if (patch !== undefined) {
    const operations = readJsonPatch(readGivenFile(patch, 'json-patch', command))
    changes.push({ step: at(step, command), edit: { patch: operations } })
  }
  if (edit !== undefined) changes.push({ step: at(step, command), edit: readEdit(edit, command) })
  if (old !== undefined && other !== undefined)
    changes.push({ step: at(step, command), edit: { replace: old, with: other } })
  return changes
}

function at(step: number | undefined, command: CommandSpec): number {
  if (step !== undefined) return step
  throw usage(command, 'HARVEST_CLI_ARGUMENT', 'a changed answer needs --step <n>', toNameStep)
}

/** What is changed, from what, to what; texts are as recorded. */
export interface ChangeSummary {
  /** `step 3, result.total`, `input.text`, `mark plan`. */
  readonly where: string
  readonly before: string
  readonly after: string
  /** Of calls that a model is to decide. */
  readonly beside?: BesideRecorded
}

/**
 * Tries a change on the tape, before anything runs, and tells it.
 *
 * @throws HarvestError `HARVEST_PATCH_…`, `HARVEST_FORK_EDIT`, `HARVEST_FORK_PATCH` when it does not fit, or sets what is there
 */
export function tellChange(tape: Tape, change: ChangeRequest): ChangeSummary {
  if ('mark' in change) {
    const mark = tape.events.find((event) => event.kind === 'mark' && event.name === change.mark)
    const data = mark?.kind === 'mark' ? mark.data : undefined
    return { where: `mark ${change.mark}`, before: text(data), after: text(change.data) }
  }
  if ('path' in change) {
    const [patched] = patchTape(tape, [change]).changed
    const where = change.step === undefined ? change.path : `step ${change.step}, ${change.path}`
    if (isDeepStrictEqual(patched?.before, change.value)) throw isThere(where, change.value)
    return { where, before: text(patched?.before), after: text(change.value) }
  }
  const step = stepsOf(tape)[change.step - 1]
  if (step === undefined) throw new RangeError(`the tape has no step ${change.step}`)
  const where = `step ${change.step}`
  if ('edit' in change) {
    const [before, after] = [answerText(step), answerText(editAnswer(step, change.edit, change.step))]
    const { path = '', recorded = before, live = after } = bodyDifference(before, after) ?? {}
    return { where: path === '' ? where : `${where}, ${path}`, before: recorded, after: live }
  }
  const { toolCalls, answer = '' } = describeStep(step)
  const before = toolCalls.length > 0 ? toolCalls.join(' and ') : JSON.stringify(answer)
  const { decide } = change
  const decides = { where: `${where}, what the model decides`, before }
  if ('say' in decide) return { ...decides, after: JSON.stringify(decide.say) }
  const beside = besideRecorded(decide.calls, change.step, tape)
  return { ...decides, after: decide.calls.map(signature).join(' and '), beside }
}

function isThere(where: string, value: Json): HarvestError {
  return new HarvestError('HARVEST_FORK_EDIT', {
    what: 'The change sets what is there already',
    where: { at: neutralLine(where, 120), value: neutralLine(JSON.stringify(value), 120) },
    fix: ['give another value with --set or --result'],
  })
}

const scalars = ['string', 'number', 'boolean']

/** Texts, numbers and truths that are set to another of these than was recorded: meant so, or mistyped. */
export function typeNotes(tape: Tape, changes: readonly ChangeRequest[]): readonly string[] {
  return changes.flatMap((change) => {
    // A whole body is text, no matter what is in it, and an error stands where a result was.
    if (!('path' in change) || change.path === 'body' || change.path === 'error') return []
    const { path, value } = change
    const before = patchTape(tape, [change]).changed[0]?.before ?? null
    const types = [typeOf(before), typeOf(value)]
    if (types[0] === types[1] || !types.every((type) => scalars.includes(type))) return []
    const [meant] = ofType(value, [typeOf(before)])
    const typed = `${path}=${typeof value === 'string' ? value : JSON.stringify(value)}`
    return [
      `${neutralLine(path, 120)} was a ${typeOf(before)}, and is set to a ${typeOf(value)}`,
      ...(meant === undefined
        ? []
        : [`→ did you mean: --set ${shellWord(`${path}=${JSON.stringify(meant)}`)} instead of ${shellWord(typed)}`]),
    ]
  })
}

/** One line for people. */
export function changeLine({ where, before, after, beside }: ChangeSummary): string {
  const more = beside === undefined ? '' : neutralLine(recordedText(beside), 160)
  return `${neutralLine(where, 120)}: ${neutralLine(before, 100)} → ${neutralLine(after, 100)}${more}`
}

function text(value: Json | undefined): string {
  return value === undefined ? 'nothing' : JSON.stringify(value)
}

function answerText(step: Step): string {
  if (step.kind !== 'exchange') return JSON.stringify(step.result ?? step.error ?? null)
  const bytes = decodedResponse(step)
  return isUtf8(bytes) ? new TextDecoder().decode(bytes) : Buffer.from(bytes).toString('base64')
}
