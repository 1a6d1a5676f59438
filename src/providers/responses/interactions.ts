import type { Json } from '../../tape/types.ts'
import { addArgs, addReasoning, callAt, type Draft } from '../draft.ts'
import { at, isMap, type JsonMap, listAt, numberAt, textAt } from '../../json/canonical.ts'

/**
 * An interaction of Gemini, or the events of its stream. Its parts are `steps`; before May 2026 they were `outputs`, and
 * their events had other names.
 *
 * @see https://ai.google.dev/gemini-api/docs/interactions/streaming
 */
export function readInteractions(value: JsonMap, draft: Draft): boolean {
  const event = textAt(value, 'event_type') ?? textAt(value, 'type') ?? ''
  const key = `${numberAt(value, 'index') ?? 0}`
  switch (event) {
    case 'step.start':
    case 'content.start':
      readStep(at(value, 'step') ?? at(value, 'content'), key, draft)
      return true
    case 'step.delta':
    case 'content.delta':
      return readDelta(at(value, 'delta'), key, draft)
    case 'step.stop':
    case 'content.stop':
    case 'interaction.status_update':
      return true
    default: {
      const interaction = at(value, 'interaction')
      return readWhole(isMap(interaction) ? interaction : value, draft)
    }
  }
}

/** The events around a stream hold the interaction without its steps. */
function readWhole(interaction: JsonMap, draft: Draft): boolean {
  draft.model = textAt(interaction, 'model') ?? textAt(interaction, 'agent') ?? draft.model
  draft.finish = textAt(interaction, 'status') ?? draft.finish
  if (at(interaction, 'object') === 'interaction') draft.keptAs = textAt(interaction, 'id') ?? draft.keptAs
  const steps = [...listAt(interaction, 'steps'), ...listAt(interaction, 'outputs')]
  for (const [position, step] of steps.entries()) readStep(step, `${position}`, draft)
  readUsage(at(interaction, 'usage'), draft)
  return steps.length > 0 || at(interaction, 'status') !== undefined
}

function readStep(step: Json | undefined, key: string, draft: Draft): void {
  const type = textAt(step, 'type') ?? ''
  if (type === 'text') draft.text += textAt(step, 'text') ?? ''
  else if (type === 'model_output') for (const part of listAt(step, 'content')) draft.text += textAt(part, 'text') ?? ''
  else if (type === 'thought')
    for (const part of listAt(step, 'summary')) addReasoning(draft, key, textAt(part, 'text'))
  else if (type.endsWith('_call')) {
    const call = callAt(draft, key)
    call.id = textAt(step, 'id') ?? call.id
    call.name = textAt(step, 'name') ?? type.replace(/_call$/, '')
    addArgs(call, at(step, 'arguments'))
    // All others the provider runs itself.
    if (type !== 'function_call') call.builtIn = true
  }
}

function readDelta(delta: Json | undefined, key: string, draft: Draft): boolean {
  const type = textAt(delta, 'type') ?? ''
  switch (type) {
    case 'text':
      draft.text += textAt(delta, 'text') ?? ''
      return true
    case 'arguments_delta':
      addArgs(callAt(draft, key), at(delta, 'arguments'))
      return true
    case 'thought_summary':
      addReasoning(draft, key, textAt(at(delta, 'content'), 'text'))
      return true
    default:
      if (type.endsWith('_call')) readStep(delta, key, draft)
      // Results of the provider's tools, signatures and media change neither text nor calls.
      return /_(call|result|signature|annotation_delta)$|^(thought|image|audio|video|document)$/.test(type)
  }
}

function readUsage(usage: Json | undefined, draft: Draft): void {
  const { usage: counts } = draft
  const [prompt, written] = [numberAt(usage, 'total_input_tokens'), numberAt(usage, 'total_output_tokens')]
  const thought = numberAt(usage, 'total_thought_tokens')
  // The total is the sum of four counts: what tools brought and what was thought stand beside the others.
  if (prompt !== undefined) counts.inputTokens = prompt + (numberAt(usage, 'total_tool_use_tokens') ?? 0)
  if (written !== undefined) counts.outputTokens = written + (thought ?? 0)
  counts.reasoningTokens = thought ?? counts.reasoningTokens
  counts.cachedTokens = numberAt(usage, 'total_cached_tokens') ?? counts.cachedTokens
}
