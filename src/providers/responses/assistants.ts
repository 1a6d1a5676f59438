import type { Json } from '../../tape/types.ts'
import { addArgs, type CallDraft, callAt, type Draft } from '../draft.ts'
import { at, isMap, type JsonMap, listAt, numberAt, textAt } from '../json.ts'

/** A run of OpenAI's Assistants API, or the events of its stream: runs, steps and messages, each told from its `object`. */
export function readAssistants(value: JsonMap, draft: Draft): boolean {
  switch (at(value, 'object')) {
    case 'thread.run':
      readRun(value, draft)
      return true
    case 'thread.run.step':
      for (const [position, call] of toolCalls(at(value, 'step_details')).entries()) {
        readCall(call, `${textAt(value, 'id')}:${position}`, draft, true)
      }
      return true
    case 'thread.run.step.delta':
      for (const [position, call] of toolCalls(at(at(value, 'delta'), 'step_details')).entries()) {
        readCall(call, `${textAt(value, 'id')}:${numberAt(call, 'index') ?? position}`, draft, false)
      }
      return true
    case 'thread.message.delta':
      for (const part of listAt(at(value, 'delta'), 'content')) readPart(part, draft)
      return true
    case 'thread.message':
      // Its pieces came before; a stream that is joined late has the message alone.
      if (draft.text === '' && at(value, 'status') === 'completed') {
        for (const part of listAt(value, 'content')) readPart(part, draft)
      }
      return true
    default:
      return at(value, 'object') === 'thread'
  }
}

function readRun(run: JsonMap, draft: Draft): void {
  draft.model = textAt(run, 'model') ?? draft.model
  draft.finish = textAt(at(run, 'incomplete_details'), 'reason') ?? textAt(run, 'status') ?? draft.finish
  const failure = at(run, 'last_error')
  if (isMap(failure)) draft.error = textAt(failure, 'code') ?? 'error'
  const asked = at(at(run, 'required_action'), 'submit_tool_outputs')
  for (const call of listAt(asked, 'tool_calls')) {
    const id = textAt(call, 'id')
    const known = [...draft.calls].find(([, draftCall]) => id !== undefined && draftCall.id === id)?.[0]
    readCall(call, known ?? `asked ${draft.calls.size}`, draft, true)
  }
  const usage = at(run, 'usage')
  const { usage: counts } = draft
  counts.inputTokens = numberAt(usage, 'prompt_tokens') ?? counts.inputTokens
  counts.outputTokens = numberAt(usage, 'completion_tokens') ?? counts.outputTokens
  const details = at(usage, 'prompt_token_details') ?? at(usage, 'prompt_tokens_details')
  counts.cachedTokens = numberAt(details, 'cached_tokens') ?? counts.cachedTokens
}

function toolCalls(details: Json | undefined): readonly Json[] {
  return listAt(details, 'tool_calls')
}

/** `isWhole`: it says again what pieces before it said. */
function readCall(source: Json, key: string, draft: Draft, isWhole: boolean): void {
  const call = callAt(draft, key)
  call.id = textAt(source, 'id') ?? call.id
  const type = textAt(source, 'type') ?? ''
  const inner = at(source, type)
  if (isWhole) call.text = ''
  if (type === 'function') {
    call.name = textAt(inner, 'name') ?? call.name
    addArgs(call, at(inner, 'arguments'))
  } else if (type !== '') readBuiltIn(call, type, inner)
}

/** The code interpreter is asked in text that is no JSON; file search in options. */
function readBuiltIn(call: CallDraft, type: string, inner: Json | undefined): void {
  call.name = type
  call.builtIn = true
  const input = at(inner, 'input')
  if (typeof input === 'string') {
    call.freeText = true
    call.text += input
  }
}

function readPart(part: Json, draft: Draft): void {
  draft.text += textAt(at(part, 'text'), 'value') ?? ''
  const refusal = textAt(part, 'refusal')
  if (refusal !== undefined) draft.refusal = (draft.refusal ?? '') + refusal
}
