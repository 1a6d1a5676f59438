import type { Json } from '../../tape/types.ts'
import { addArgs, type ModelCallDraft, callAt, type Draft } from '../draft.ts'
import { at, isMap, type JsonMap, listAt, numberAt, textAt, without } from '../../json/canonical.ts'

/**
 * A run of OpenAI's Assistants API, the events of its stream, and what a poll brings: runs, steps and messages, alone or in
 * a list, each recognised by its `object`.
 *
 * @see https://platform.openai.com/docs/api-reference/assistants-streaming/events
 */
export function readAssistants(value: JsonMap, draft: Draft): boolean {
  switch (at(value, 'object')) {
    case 'thread.run':
      readRun(value, draft)
      return true
    case 'thread.run.step':
      readStep(value, draft)
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
      if (draft.text === '' && isDone(value)) readMessage(value, draft)
      return true
    case 'list':
      return readList(listAt(value, 'data'), draft)
    default:
      return at(value, 'object') === 'thread'
  }
}

function readRun(run: JsonMap, draft: Draft): void {
  draft.keptAs = textAt(run, 'id') ?? draft.keptAs
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

/** The usage of a step is part of that of its run. */
function readStep(step: JsonMap, draft: Draft): void {
  draft.keptAs = textAt(step, 'run_id') ?? draft.keptAs
  for (const [position, call] of toolCalls(at(step, 'step_details')).entries()) {
    readCall(call, `${textAt(step, 'id')}:${position}`, draft, true)
  }
}

/** A page of steps, of messages or of runs; the newest come first unless their times say otherwise. */
function readList(items: readonly Json[], draft: Draft): boolean {
  const maps = items.filter(isMap)
  const created = (item: JsonMap | undefined): number => numberAt(item, 'created_at') ?? 0
  const inTime = created(maps[0]) < created(maps.at(-1)) ? maps : maps.toReversed()
  const kinds = new Set(inTime.map((item) => at(item, 'object')))
  const newest = inTime.at(-1)
  if (kinds.size !== 1 || newest === undefined) return items.length === 0
  if (kinds.has('thread.run')) readRun(newest, draft)
  else if (kinds.has('thread.run.step')) for (const step of inTime) readStep(step, draft)
  else if (kinds.has('thread.message')) readThread(inTime, draft)
  else return false
  return true
}

/** Of the messages of a thread, what its last run said: those of earlier runs were read when they were new. */
function readThread(messages: readonly JsonMap[], draft: Draft): void {
  const said = messages.filter((message) => textAt(message, 'run_id') !== undefined && isDone(message))
  const run = textAt(said.at(-1), 'run_id')
  for (const message of said) if (textAt(message, 'run_id') === run) readMessage(message, draft)
}

function isDone(message: JsonMap): boolean {
  return at(message, 'role') !== 'user' && at(message, 'status') !== 'in_progress'
}

function readMessage(message: JsonMap, draft: Draft): void {
  draft.keptAs = textAt(message, 'run_id') ?? draft.keptAs
  draft.finish ??= textAt(at(message, 'incomplete_details'), 'reason')
  if (draft.text !== '') draft.text += '\n\n'
  for (const part of listAt(message, 'content')) readPart(part, draft)
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
function readBuiltIn(call: ModelCallDraft, type: string, inner: Json | undefined): void {
  call.name = type
  call.builtIn = true
  const input = at(inner, 'input')
  if (typeof input === 'string') {
    call.freeText = true
    call.text += input
  } else if (isMap(inner)) addArgs(call, without(inner, 'results', 'outputs', 'output'))
}

function readPart(part: Json, draft: Draft): void {
  draft.text += textAt(at(part, 'text'), 'value') ?? ''
  const refusal = textAt(part, 'refusal')
  if (refusal !== undefined) draft.refusal = (draft.refusal ?? '') + refusal
}
