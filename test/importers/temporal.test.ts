import { describe, expect, it } from 'vitest'
import type { TapeEvent } from '../../src/tape/types.ts'
import { traceOf } from '../../src/trace/index.ts'
import { base64, happened, payload } from './run-samples.ts'
import { imported } from './samples.ts'

const started = happened(1, 0, 'WORKFLOW_EXECUTION_STARTED', { workflowType: { name: 'Desk' }, input: {} })
const scheduled = (id: number, name: string, after = 4): object =>
  happened(id, 1, 'ACTIVITY_TASK_SCHEDULED', {
    activityType: { name },
    input: { payloads: [payload('A-17'), payload(2)] },
    workflowTaskCompletedEventId: `${after}`,
  })
const completed = (id: number, of: number, value: unknown, seconds = 2): object =>
  happened(id, seconds, 'ACTIVITY_TASK_COMPLETED', {
    scheduledEventId: `${of}`,
    result: { payloads: [payload(value)] },
  })
const history = (...events: readonly object[]): string => JSON.stringify({ events: [started, ...events] })

function eventsOf(...events: readonly object[]): readonly TapeEvent[] {
  return imported(history(...events)).events
}

describe('a history of Temporal', () => {
  it('has its activities as calls, with input, result and times', () => {
    expect(eventsOf(scheduled(5, 'look'), completed(7, 5, { status: 'paid' }))).toEqual([
      {
        kind: 'tool',
        n: 0,
        at: 0,
        name: 'look',
        args: ['A-17', 2],
        result: { status: 'paid' },
        settled: [1, 1000],
      },
    ])
  })

  it('activities that overlap are concurrent, and others are in order', () => {
    const tape = imported(
      history(
        scheduled(5, 'one'),
        scheduled(6, 'two'),
        completed(7, 6, 2, 2),
        completed(8, 5, 1, 3),
        happened(9, 4, 'ACTIVITY_TASK_SCHEDULED', { activityType: { name: 'three' } }),
      ),
    )
    expect(traceOf(tape.events).layers.map((layer) => layer.map(({ name }) => name))).toEqual([
      ['one', 'two'],
      ['three'],
    ])
  })

  it('what failed, timed out or was canceled has an error, with the innermost reason', () => {
    const cause = { message: 'no such order' }
    const ends = [
      happened(7, 2, 'ACTIVITY_TASK_FAILED', {
        scheduledEventId: '5',
        failure: { message: 'Activity task failed', cause },
      }),
      happened(7, 2, 'ACTIVITY_TASK_TIMED_OUT', { scheduledEventId: '5', failure: { message: 'too slow' } }),
      happened(7, 2, 'ACTIVITY_TASK_CANCELED', { scheduledEventId: '5' }),
    ]
    expect(ends.map((end) => eventsOf(scheduled(5, 'look'), end)[0])).toMatchObject([
      { error: { message: 'no such order' }, settled: [1, 1000] },
      { error: { message: 'too slow' } },
      { error: { message: 'ActivityTaskCanceled' } },
    ])
  })

  it('attempts before the last are a mark with their number and the last failure', () => {
    const attempt = happened(6, 1.5, 'ACTIVITY_TASK_STARTED', {
      scheduledEventId: '5',
      attempt: 3,
      lastFailure: { message: 'busy' },
    })
    expect(eventsOf(scheduled(5, 'look'), attempt, completed(7, 5, 1))).toContainEqual({
      kind: 'mark',
      n: 1,
      at: 500,
      name: 'retried',
      data: { name: 'look', attempt: 3, failure: 'busy' },
    })
  })

  it('child workflows are calls, signals and updates messages, timers marks', () => {
    const seen = eventsOf(
      happened(5, 1, 'START_CHILD_WORKFLOW_EXECUTION_INITIATED', {
        workflowType: { name: 'Child' },
        workflowExecution: { workflowId: 'c' },
      }),
      happened(6, 1, 'TIMER_STARTED', { timerId: '1', startToFireTimeout: '5s' }),
      happened(7, 2, 'WORKFLOW_EXECUTION_SIGNALED', { signalName: 'hurry', input: { payloads: [payload(1)] } }),
      happened(8, 3, 'CHILD_WORKFLOW_EXECUTION_COMPLETED', { initiatedEventId: '5', result: {} }),
      happened(9, 4, 'WORKFLOW_EXECUTION_UPDATE_ACCEPTED', {
        acceptedRequest: { input: { name: 'add', args: { payloads: [payload(2)] } } },
      }),
      happened(10, 5, 'WORKFLOW_EXECUTION_UPDATE_COMPLETED', { outcome: { success: { payloads: [payload(3)] } } }),
      happened(11, 6, 'TIMER_FIRED', { timerId: '1', startedEventId: '6' }),
    )
    expect(seen.map((event) => JSON.stringify(event).replace(/"n":\d+,"at":\d+,/, ''))).toEqual([
      '{"kind":"tool","name":"Child","args":[],"result":null,"settled":[3,2000]}',
      '{"kind":"mark","name":"timer","data":{"id":"1","after":"5s"}}',
      '{"kind":"message","from":"client","to":"Desk","body":{"signal":"hurry","args":[1]}}',
      '{"kind":"message","from":"client","to":"Desk","body":{"update":"add","args":[2]}}',
      '{"kind":"message","from":"Desk","to":"client","body":{"updated":3}}',
      '{"kind":"mark","name":"timer fired","data":{"id":"1"}}',
    ])
  })

  it('a local activity is a call whose arguments nobody wrote down', () => {
    const about = { activity_type: 'echo', activity_id: '3', attempt: 1 }
    const tape = imported(
      history(
        happened(5, 1, 'MARKER_RECORDED', {
          markerName: 'core_local_activity',
          details: { data: { payloads: [payload(about)] }, result: { payloads: [payload('hi')] } },
        }),
      ),
    )
    expect(tape.events).toMatchObject([{ kind: 'tool', name: 'echo', result: 'hi' }])
    expect(tape.facts.missing).toContain('arguments')
  })

  it('a local activity of Go or Java is a call too, and of Java what it was called with is known', () => {
    const marker = (details: object, more: object = {}): string =>
      history(happened(5, 1, 'MARKER_RECORDED', { markerName: 'LocalActivity', details, ...more }))
    const go = imported(
      marker({
        data: { payloads: [payload({ ActivityID: '1', ActivityType: 'Echo' })] },
        result: { payloads: [payload(1)] },
      }),
    )
    expect(go.events).toMatchObject([{ kind: 'tool', name: 'Echo', args: {}, result: 1 }])
    expect(go.facts.missing).toContain('arguments')
    const java = imported(
      marker({
        type: { payloads: [payload('Echo')] },
        input: { payloads: [payload(10)] },
        result: { payloads: [payload(1)] },
      }),
    )
    expect(java.events).toMatchObject([{ kind: 'tool', name: 'Echo', args: [10], result: 1 }])
    expect(java.facts.missing).not.toContain('arguments')
    const failed = marker({ type: { payloads: [payload('Echo')] }, input: {} }, { failure: { message: 'no' } })
    expect(imported(failed).events).toMatchObject([{ name: 'Echo', args: [], error: { message: 'no' } }])
    // What a side effect gave may look like anything.
    const effect = happened(5, 1, 'MARKER_RECORDED', {
      markerName: 'SideEffect',
      details: { data: { payloads: [payload({ ActivityType: 'Echo' })] } },
    })
    expect(imported(history(scheduled(4, 'look'), effect)).events).toMatchObject([{ kind: 'tool' }, { kind: 'mark' }])
  })

  it('an operation of Nexus is a call, and what is asked of one under way does not end it', () => {
    const begun = happened(5, 1, 'NEXUS_OPERATION_SCHEDULED', {
      endpoint: 'desk',
      service: 'Orders',
      operation: 'look',
      input: payload({ order: 'A-17' }),
    })
    const cancel = happened(6, 2, 'NEXUS_OPERATION_CANCEL_REQUEST_COMPLETED', {
      scheduledEventId: '5',
      requestedEventId: '6',
    })
    const done = happened(7, 3, 'NEXUS_OPERATION_COMPLETED', { scheduledEventId: '5', result: payload('paid') })
    expect(eventsOf(begun, cancel)[0]).not.toHaveProperty('settled')
    const [call] = eventsOf(begun, happened(6, 1, 'NEXUS_OPERATION_STARTED', { scheduledEventId: '5' }), cancel, done)
    expect(call).toMatchObject({ kind: 'tool', name: 'Orders.look', args: { order: 'A-17' }, result: 'paid' })
    const failure = { message: 'operation failed', cause: { message: 'no stock' } }
    const failed = happened(7, 3, 'NEXUS_OPERATION_FAILED', { scheduledEventId: '5', failure })
    expect(eventsOf(begun, failed)).toMatchObject([{ name: 'Orders.look', error: { message: 'no stock' } }])
  })

  it('with its last event first is the same history', () => {
    const events = [scheduled(5, 'look'), completed(7, 5, 1), scheduled(9, 'pay'), completed(11, 9, 2)]
    expect(imported(history(...events.toReversed())).events).toEqual(imported(history(...events)).events)
  })

  it('with payloads that the web page decoded has their values', () => {
    const begun = happened(5, 1, 'ACTIVITY_TASK_SCHEDULED', {
      activityType: { name: 'look' },
      input: { payloads: [{ order: 'A-17' }] },
    })
    const end = happened(7, 2, 'ACTIVITY_TASK_COMPLETED', { scheduledEventId: '5', result: { payloads: ['paid'] } })
    const tape = imported(history(begun, end))
    expect(tape.events).toMatchObject([{ args: { order: 'A-17' }, result: 'paid' }])
    expect(tape.facts.missing).not.toContain('payloads')
  })

  it('tells what the workflow was started with and how it ended', () => {
    const begun = happened(1, 0, 'WORKFLOW_EXECUTION_STARTED', {
      workflowType: { name: 'Desk' },
      input: { payloads: [payload({ order: 'A-17' })] },
    })
    const failed = happened(9, 3, 'WORKFLOW_EXECUTION_FAILED', { failure: { message: 'no stock' } })
    const events = [begun, scheduled(5, 'look'), completed(7, 5, 1), failed]
    const { header, close } = imported(JSON.stringify({ events }))
    expect(header.input).toEqual({ order: 'A-17' })
    expect(close.outcome).toMatchObject({ status: 'threw', error: { message: 'no stock' } })
    expect(header.imported?.missing).not.toContain('outcome')
    // Nothing is made up of a workflow that still runs.
    const running = imported(history(scheduled(5, 'look')))
    expect(running.close.outcome).toEqual({ status: 'unknown' })
    expect(running.facts.missing).toEqual(expect.arrayContaining(['input', 'outcome', 'tools']))
  })

  it('a result in an encoding of somebody’s own is no outcome that was seen, and neither is an end the server made', () => {
    const encrypted = { metadata: { encoding: Buffer.from('binary/encrypted').toString('base64') }, data: 'AAEC' }
    const sealed = happened(9, 3, 'WORKFLOW_EXECUTION_COMPLETED', { result: { payloads: [encrypted] } })
    const stopped = happened(9, 3, 'WORKFLOW_EXECUTION_TERMINATED', { reason: 'by hand' })
    const late = happened(9, 3, 'WORKFLOW_EXECUTION_TIMED_OUT', {})
    for (const end of [sealed, stopped, late]) {
      const { close, facts } = imported(history(scheduled(5, 'look'), completed(7, 5, 1), end))
      expect(close.outcome).toEqual({ status: 'unknown' })
      expect(facts.missing).toContain('outcome')
    }
    const empty = happened(9, 3, 'WORKFLOW_EXECUTION_COMPLETED', {})
    expect(imported(history(scheduled(5, 'look'), completed(7, 5, 1), empty)).close.outcome).toMatchObject({
      status: 'returned',
    })
  })

  it('the names of older servers are understood', () => {
    const text = history(scheduled(5, 'look'), completed(7, 5, 1)).replace(/EVENT_TYPE_([A-Z_]+)/g, (_, name: string) =>
      name
        .split('_')
        .map((word) => word.charAt(0) + word.slice(1).toLowerCase())
        .join(''),
    )
    expect(text).toContain('"ActivityTaskCompleted"')
    expect(imported(text).events).toMatchObject([{ name: 'look', result: 1 }])
  })

  it('a payload in an encoding of somebody else is kept by its name, and missing', () => {
    const sealed = { metadata: { encoding: base64('binary/encrypted') }, data: base64('?') }
    const none = { metadata: { encoding: base64('binary/null') } }
    const bytes = { metadata: { encoding: base64('binary/plain') }, data: base64('hi') }
    const end = happened(7, 2, 'ACTIVITY_TASK_COMPLETED', { scheduledEventId: '5', result: { payloads: [sealed] } })
    const tape = imported(history(scheduled(5, 'look'), end))
    expect(tape.events).toMatchObject([{ result: { encoding: 'binary/encrypted' } }])
    expect(tape.facts.missing).toContain('payloads')
    const plain = imported(
      history(
        happened(5, 1, 'ACTIVITY_TASK_SCHEDULED', {
          activityType: { name: 'look' },
          input: { payloads: [none, bytes] },
        }),
      ),
    )
    expect(plain.events).toMatchObject([{ args: [null, { $type: 'bytes' }] }])
    expect(plain.facts.missing).not.toContain('payloads')
  })

  it('a payload that is not what its encoding says is refused with its line', () => {
    const wrong = { metadata: { encoding: base64('json/plain') }, data: base64('{') }
    const event = happened(5, 1, 'ACTIVITY_TASK_SCHEDULED', {
      activityType: { name: 'look' },
      input: { payloads: [wrong] },
    })
    const text = JSON.stringify({ events: [started, event] }, undefined, 1)
    expect(() => imported(text)).toThrow(
      /sample:\d\d[\s\S]*events\[1\]\.activityTaskScheduledEventAttributes\.input\.payloads\[0\]\.data[\s\S]*HARVEST_IMPORT_BODY/,
    )
    const deep = { ...wrong, data: base64('['.repeat(300)) }
    expect(() => imported(text.replace(wrong.data, deep.data))).toThrow('HARVEST_IMPORT_TOO_DEEP')
  })
})
