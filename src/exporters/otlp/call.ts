import { isMap } from '../../json/canonical.ts'
import { namedArgs } from '../../tape/present-args.ts'
import type { CallEvent, Json } from '../../tape/index.ts'
import type { Failure } from '../facts.ts'
import { exactly, type AttributeValue, jsonOf, plainly } from './attributes.ts'
import type { Telling, StepDescription } from './span.ts'

/** A wrapped tool, retriever or named value. */
export function tellCall(event: CallEvent, { withContent, calls }: Telling): StepDescription {
  const { kind, name, error, yields } = event
  const args = namedArgs(event.args)
  const answer = yields === undefined ? event.result : yields.map(([, , value]) => value)
  const result = error === undefined ? answer : undefined
  const thrown = { 'vitest_harvest.error': jsonOf(error) }
  const failed = { error: error === undefined ? undefined : recordedError(error) }
  // An imported trace joins its calls with their model answers by number.
  const id = event.asked === undefined ? calls.get(event.n)?.id : `call_${event.n}`
  switch (kind) {
    case 'tool':
      return {
        name: `execute_tool ${name}`,
        kind: 1,
        attributes: {
          'gen_ai.operation.name': 'execute_tool',
          'gen_ai.tool.name': name,
          'gen_ai.tool.type': 'function',
          'gen_ai.tool.call.id': id,
          ...(withContent ? { ...contentOf(args, result), ...thrown } : {}),
        },
        ...failed,
      }
    case 'retrieval':
      return {
        name: `retrieval ${name}`,
        kind: 1,
        attributes: {
          'gen_ai.operation.name': 'retrieval',
          'gen_ai.data_source.id': name,
          'gen_ai.tool.call.id': id,
          ...(withContent ? { ...searchOf(args, result), ...thrown } : {}),
        },
        ...failed,
      }
    case 'value':
      return {
        name: `value ${name}`,
        kind: 1,
        attributes: {
          // Of its own: a named value is no tool, and must not be taken for one.
          'vitest_harvest.value.name': name,
          ...(withContent
            ? { 'vitest_harvest.value.args': jsonOf(args), 'vitest_harvest.value.result': jsonOf(result) }
            : {}),
        },
        ...failed,
      }
  }
}

/** Arguments and result as instruments write them, and exactly where that is not the same. */
export function contentOf(args: Json, result: Json | undefined): Readonly<Record<string, AttributeValue>> {
  return {
    'gen_ai.tool.call.arguments': plainly(args),
    'gen_ai.tool.call.result': plainly(result),
    'vitest_harvest.args': exactly(args),
    'vitest_harvest.result': exactly(result),
  }
}

/** A query and documents, where there are such, are what the conventions have names for in a retrieval. */
function searchOf(args: Json, result: Json | undefined): Readonly<Record<string, AttributeValue>> {
  const given = Array.isArray(args) ? (args as readonly Json[]) : isMap(args) ? Object.values(args) : [args]
  const queries = given.filter((value) => typeof value === 'string')
  const isDocuments = Array.isArray(result) && (result as readonly Json[]).every(isMap)
  return {
    'gen_ai.retrieval.query.text': queries.length === 1 ? queries[0] : undefined,
    'gen_ai.retrieval.documents': isDocuments ? jsonOf(result) : undefined,
    'vitest_harvest.args': jsonOf(args),
    'vitest_harvest.result': jsonOf(result),
  }
}

/** Class and message of an error a call threw, as `encodeValue` wrote it. */
export function recordedError(error: Json): Failure {
  if (!isMap(error)) return { type: '_OTHER', message: typeof error === 'string' ? error : JSON.stringify(error) }
  const type = ['class', 'name', 'code']
    .map((key) => error[key])
    .find((word) => typeof word === 'string' && word !== '')
  const { message } = error
  return {
    type: typeof type === 'string' ? type : '_OTHER',
    ...(typeof message === 'string' ? { message } : {}),
  }
}
