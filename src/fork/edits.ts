import { HarvestError, neutralLine, shellWord } from '../errors/index.ts'
import { type CallEvent, type ExchangeEvent, type Json, type Step } from '../tape/index.ts'
import { answerText, withBody } from './body.ts'
import { applyJsonPatch, type JsonPatchOperation } from './json-patch.ts'

/** How a whole answer becomes another one. */
export type AnswerEdit =
  /** All of it: the body of a response; of a call its result, as JSON or else as text. */
  | { readonly text: string }
  /** A JSON patch of the body or result; of a stream of events the document is the list of their JSON. */
  | { readonly patch: readonly JsonPatchOperation[] }
  /** A text in it, everywhere it stands. */
  | { readonly replace: string; readonly with: string }
  /** A regular expression and what stands for it, as `String.replace` reads both. */
  | { readonly match: string; readonly flags: string; readonly with: string }

/**
 * A step with another answer. What it was asked, and when, stays.
 *
 * @param stepNumber - 1-based, for messages
 * @throws HarvestError `HARVEST_FORK_EDIT` when the edit finds nothing, or leaves what is no JSON where JSON has to be;
 *   `HARVEST_FORK_PATCH`
 */
export function editAnswer(step: Step, edit: AnswerEdit, stepNumber: number): Step {
  return step.kind === 'exchange' ? editExchange(step, edit, stepNumber) : editCall(step, edit, stepNumber)
}

function editExchange(event: ExchangeEvent, edit: AnswerEdit, stepNumber: number): ExchangeEvent {
  const { response } = event
  if (response === undefined) throw noAnswer(stepNumber)
  if ('text' in edit) return withBody(event, edit.text)
  const { text: body, isStream } = answerText(event)
  if (!('patch' in edit)) return withBody(event, editText(body, edit, stepNumber, isStream ? 'stream' : 'body'))
  const patched = isStream ? patchStream(body, edit.patch, stepNumber) : patchJson(body, edit.patch, stepNumber)
  return withBody(event, patched)
}

function editCall(event: CallEvent, edit: AnswerEdit, stepNumber: number): CallEvent {
  const { result, error, ...rest } = event
  if (event.yields !== undefined) throw noAnswer(stepNumber)
  if ('text' in edit) return { ...rest, result: jsonOrText(edit.text) }
  if (result === undefined) throw noAnswer(stepNumber, 'one can be given')
  if ('patch' in edit) return { ...rest, result: applyJsonPatch(result, edit.patch) }
  if (typeof result === 'string') return { ...rest, result: editText(result, edit, stepNumber, 'value') }
  return { ...rest, result: parse(editText(JSON.stringify(result), edit, stepNumber, 'value'), stepNumber) }
}

type TextEdit = Exclude<AnswerEdit, { readonly text: string } | { readonly patch: readonly JsonPatchOperation[] }>

/** What an answer is: bytes, pieces of them, or the value of a tool call. */
type AnswerForm = 'body' | 'stream' | 'value'

function editText(text: string, edit: TextEdit, stepNumber: number, form: AnswerForm): string {
  const edited =
    'match' in edit
      ? text.replace(new RegExp(edit.match, edit.flags), edit.with)
      : text.replaceAll(edit.replace, () => edit.with)
  if (edited === text) throw nothingFound(edit, stepNumber, form)
  return edited
}

function patchJson(body: string, patch: readonly JsonPatchOperation[], stepNumber: number): string {
  return JSON.stringify(applyJsonPatch(parse(body, stepNumber), patch))
}

/** Every `data:` line is an item; what is no JSON (`[DONE]`) is a text. Lines are changed, not added or removed. */
function patchStream(body: string, patch: readonly JsonPatchOperation[], stepNumber: number): string {
  const lines = body.split('\n')
  const places = lines.flatMap((line, at) => (line.startsWith('data:') ? [at] : []))
  const before = places.map((at) => jsonOrText((lines[at] ?? '').slice('data:'.length).trim()))
  const after = applyJsonPatch(before, patch)
  if (!Array.isArray(after) || after.length !== before.length) {
    throw new HarvestError('HARVEST_FORK_EDIT', {
      what: 'Events of a stream can be edited, but not added or removed',
      where: { step: `${stepNumber}`, events: `${before.length}` },
      fix: [
        "to let the model say something else: --say '<text>', without --json-patch",
        "to let it call a tool: --decide 'tool(key=value)', without --json-patch",
      ],
    })
  }
  for (const [index, at] of places.entries()) {
    const value = (after as readonly Json[])[index] ?? null
    if (value !== before[index]) lines[at] = `data: ${typeof value === 'string' ? value : JSON.stringify(value)}`
  }
  return lines.join('\n')
}

function parse(text: string, stepNumber: number): Json {
  try {
    return JSON.parse(text) as Json
  } catch (cause) {
    throw new HarvestError(
      'HARVEST_FORK_EDIT',
      {
        what: 'The answer of this step is not JSON, before or after the edit',
        where: { step: `${stepNumber}`, text: neutralLine(text, 120) },
        fix: ["to replace all of it: --body '<file>', without --json-patch"],
      },
      { cause },
    )
  }
}

function jsonOrText(text: string): Json {
  try {
    return JSON.parse(text) as Json
  } catch {
    // A text is an answer too.
    return text
  }
}

function noAnswer(stepNumber: number, what: 'one can be given' | 'none can' = 'none can'): HarvestError {
  return new HarvestError('HARVEST_FORK_EDIT', {
    what: 'This step has no answer to edit',
    where: { step: `${stepNumber}` },
    why: 'It failed, never ended, or was streamed.',
    fix:
      what === 'one can be given'
        ? ["to give the call an answer: --result '<json>', without --edit and --replace and --with and --json-patch"]
        : ["to see which steps have one: npx vitest-harvest show '<tape>'"],
  })
}

/** An edit that changes nothing is a typo: the fork would be reported as if it had been made. */
function nothingFound(edit: TextEdit, stepNumber: number, form: AnswerForm): HarvestError {
  const isStream = form === 'stream'
  // A value has no bytes.
  const whole = form === 'value' ? '--json' : '--raw response > response.bin'
  const options = 'match' in edit ? '--edit' : '--replace and --with'
  return new HarvestError('HARVEST_FORK_EDIT', {
    what: 'The edit changes nothing in the answer of this step',
    where: { step: `${stepNumber}`, looked: neutralLine('match' in edit ? edit.match : edit.replace, 120) },
    ...(isStream ? { why: 'A stream delivers text in pieces, so one sentence can span many events.' } : {}),
    fix: [
      `to see it: npx vitest-harvest show '<tape>' --step ${shellWord(stepNumber)} ${whole}`,
      ...(isStream
        ? [
            `to let the model say something else: --say '<text>', without ${options}`,
            `to let it call a tool: --decide 'tool(key=value)', without ${options}`,
          ]
        : []),
    ],
  })
}
