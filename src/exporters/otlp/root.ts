import type { Json, Moment, Outcome, Tape, TapeEvent } from '../../tape/index.ts'
import { type Failure, missingTimes } from '../facts.ts'
import { readModelMark } from '../model-mark.ts'
import { attributes, type AttributeValue, jsonOf, type KeyValue } from './attributes.ts'
import { recordedError } from './call.ts'
import { isSaidToModel } from './model-mark.ts'
import { between, type OtlpSpan, type OtlpEvent, statusOf, type Telling } from './span.ts'

/** The moment a run begins: before its first event. */
export const beginning: Moment = [-1, 0]

/** The span of the whole run: what it was asked and how it ended, and what happened between its steps. */
export function rootSpan(tape: Tape, telling: Telling): OtlpSpan {
  const { header, close } = tape
  const { ids, clock, end, withContent } = telling
  const error = close === undefined ? undefined : failureOf(close.outcome)
  return {
    traceId: ids.trace,
    spanId: ids.root,
    name: `invoke_agent ${header.agent}`,
    kind: 1,
    ...between(beginning, end, clock),
    attributes: attributes({
      'gen_ai.operation.name': 'invoke_agent',
      'gen_ai.agent.name': header.agent,
      'error.type': error?.type,
      'vitest_harvest.outcome': close?.outcome.status,
      'vitest_harvest.truncated': close === undefined ? true : undefined,
      'vitest_harvest.incomplete': close?.incomplete,
      ...(withContent
        ? {
            'vitest_harvest.input': jsonOf(header.input),
            'vitest_harvest.outcome.value': jsonOf(valueOf(close?.outcome)),
          }
        : {}),
    }),
    events: notesOf(tape).flatMap((event) => noteOf(event, telling)),
    ...(error === undefined ? {} : { status: statusOf(error, withContent) }),
  }
}

/** Attributes of everything the tape tells: which run it is, made by what, and what is not known of it. */
export function resourceOf({ header }: Tape): readonly KeyValue[] {
  const { id, agent, pins, recorder, imported } = header
  const { start, timings } = missingTimes({ header })
  return attributes({
    'service.name': agent,
    'vcs.ref.head.revision': pins.commit,
    'process.runtime.name': pins.node === 'unknown' ? undefined : 'nodejs',
    'process.runtime.version': pins.node === 'unknown' ? undefined : pins.node,
    'vitest_harvest.tape': id,
    'vitest_harvest.recorder': recorder,
    'vitest_harvest.times': timings ? 'order' : start ? 'since-start' : 'recorded',
    'vitest_harvest.imported.format': imported?.format,
    'vitest_harvest.imported.grade': imported?.grade,
    'vitest_harvest.imported.missing': imported?.missing,
  })
}

function failureOf(outcome: Outcome): Failure | undefined {
  switch (outcome.status) {
    case 'returned':
    case 'unknown':
      return undefined
    case 'threw':
      return recordedError(outcome.error)
    case 'exited':
      if (outcome.code === 0) return undefined
      return { type: outcome.code === null ? (outcome.signal ?? '_OTHER') : `exit code ${outcome.code}` }
  }
}

function valueOf(outcome: Outcome | undefined): Json | undefined {
  switch (outcome?.status) {
    case undefined:
    case 'unknown':
      return undefined
    case 'returned':
      return outcome.value
    case 'threw':
      return outcome.error
    case 'exited': {
      const { code, signal, stdout, stderr } = outcome
      return {
        code,
        ...(signal === undefined ? {} : { signal }),
        ...(stdout === undefined ? {} : { stdout }),
        ...(stderr === undefined ? {} : { stderr }),
      }
    }
  }
}

/** What the spans of model calls do not tell; those of an imported trace tell their conversation. */
function notesOf(tape: Tape): readonly TapeEvent[] {
  const isTold = (event: TapeEvent): boolean => readModelMark(event, tape) !== undefined
  const isImported = tape.events.some(isTold)
  return tape.events.filter((event) => !(isImported && (isTold(event) || isSaidToModel(event))))
}

/** What is no step and no draw. */
function noteOf(event: TapeEvent, { clock, withContent }: Telling): readonly OtlpEvent[] {
  const timeUnixNano = clock([event.n, event.at] satisfies Moment)
  const note = (
    name: string,
    given: Readonly<Record<string, AttributeValue>>,
    content: Readonly<Record<string, AttributeValue>>,
  ) => [
    {
      timeUnixNano,
      name: `vitest_harvest.${name}`,
      attributes: attributes({ ...given, ...(withContent ? content : {}), 'vitest_harvest.event': event.n }),
    },
  ]
  switch (event.kind) {
    case 'mark':
      return note(
        'mark',
        { 'vitest_harvest.mark.name': event.name },
        { 'vitest_harvest.mark.data': jsonOf(event.data) },
      )
    case 'state':
      return note(
        'state',
        { 'vitest_harvest.state.name': event.name },
        { 'vitest_harvest.state.data': jsonOf(event.data) },
      )
    case 'message':
      return note(
        'message',
        { 'vitest_harvest.message.from': event.from, 'vitest_harvest.message.to': event.to },
        { 'vitest_harvest.message.body': jsonOf(event.body) },
      )
    case 'spawn':
      return note('spawn', {}, { 'process.command_args': event.command })
    case 'push':
      return note('push', {}, { 'vitest_harvest.push.text': event.text })
    case 'exchange':
    case 'tool':
    case 'retrieval':
    case 'value':
    case 'draws':
      return []
  }
}
