import type { Json } from '../../tape/types.ts'
import { addReasoning, type ModelCallDraft, callAt, type Draft } from '../draft.ts'
import { at, isList, isMap, type JsonMap, listAt, mapAt, numberAt, textAt } from '../../json/canonical.ts'

/**
 * An answer of an agent of Bedrock, as `{ [event type]: payload }`, or of `retrieveAndGenerate`, whole or streamed.
 *
 * What the agent asked its models and its tools stands in its trace, where one was asked for: tokens are the sum over
 * those models, and tools it ran itself are marked as built in. Tools it hands back are the caller's to run.
 */
export function readBedrockAgent(value: JsonMap, draft: Draft): boolean {
  draft.text += textAt(at(value, 'chunk'), 'text') ?? textAt(at(value, 'output'), 'text') ?? ''
  for (const input of listAt(at(value, 'returnControl'), 'invocationInputs')) {
    const asked = at(input, 'functionInvocationInput') ?? at(input, 'apiInvocationInput')
    if (isMap(asked)) begin(draft, actionName(asked), actionArgs(asked))
  }
  for (const part of Object.values(mapAt(value, 'trace'))) readTrace(part, draft)
  if (at(value, 'guardrailAction') === 'INTERVENED') draft.refusal ??= 'guardrail'
  return ['chunk', 'output', 'returnControl', 'trace', 'files', 'citation', 'citations', 'guardrail'].some(
    (key) => at(value, key) !== undefined,
  )
}

/** One of the traces: pre-processing, orchestration, post-processing, routing, failure. */
function readTrace(trace: Json, draft: Draft): void {
  draft.model ??= textAt(at(trace, 'modelInvocationInput'), 'foundationModel')
  addReasoning(draft, `${draft.reasoning?.size ?? 0}`, textAt(at(trace, 'rationale'), 'text'))
  if (textAt(trace, 'failureReason') !== undefined) draft.error ??= 'failureTrace'
  const output = at(trace, 'modelInvocationOutput')
  const usage = at(at(output, 'metadata'), 'usage')
  const { usage: counts } = draft
  const add = (before: number | undefined, key: string): number | undefined => {
    const count = numberAt(usage, key)
    return count === undefined ? before : (before ?? 0) + count
  }
  counts.inputTokens = add(counts.inputTokens, 'inputTokens')
  counts.outputTokens = add(counts.outputTokens, 'outputTokens')
  readInvocation(at(trace, 'invocationInput'), draft)
}

/** What the agent ran itself. */
function readInvocation(input: Json | undefined, draft: Draft): void {
  const action = at(input, 'actionGroupInvocationInput')
  // A tool that is handed back comes once more in an event of its own.
  if (isMap(action) && at(action, 'executionType') !== 'RETURN_CONTROL') {
    begin(draft, actionName(action), actionArgs(action)).builtIn = true
  }
  const [lookup, code, other] = [
    'knowledgeBaseLookupInput',
    'codeInterpreterInvocationInput',
    'agentCollaboratorInvocationInput',
  ].map((key) => at(input, key))
  if (isMap(lookup)) begin(draft, 'knowledge_base', lookup).builtIn = true
  if (isMap(code)) begin(draft, 'code_interpreter', code).builtIn = true
  if (isMap(other)) {
    begin(draft, textAt(other, 'agentCollaboratorName') ?? 'agent', at(other, 'input') ?? {}).builtIn = true
  }
}

function begin(draft: Draft, name: string, args: Json): ModelCallDraft {
  const call = callAt(draft, `${draft.calls.size}`)
  call.name = name
  call.args = args
  return call
}

/** Name of the function, or `GET /orders/{id}` of an API. */
function actionName(action: JsonMap): string {
  const verb = textAt(action, 'httpMethod') ?? textAt(action, 'verb') ?? ''
  const api = `${verb} ${textAt(action, 'apiPath') ?? ''}`.trim()
  return textAt(action, 'function') ?? (api === '' ? (textAt(action, 'actionGroup') ?? 'action') : api)
}

/** Parameters and the properties of the body by name; values come as text. */
function actionArgs(action: JsonMap): Json {
  const bodies = Object.values(mapAt(at(action, 'requestBody'), 'content'))
  const properties = bodies.flatMap((body) => (isList(body) ? body : listAt(body, 'properties')))
  return Object.fromEntries(
    [...listAt(action, 'parameters'), ...properties].flatMap((one): [string, Json][] => {
      const name = textAt(one, 'name')
      return name === undefined ? [] : [[name, at(one, 'value') ?? null]]
    }),
  )
}
