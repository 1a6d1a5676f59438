import type { Cursor } from '../cursor.ts'
import type { ForeignFormat } from '../document.ts'
import type { ForeignCall, ForeignStep, ForeignRecording } from '../types.ts'
import { type PayloadValues, unpacked } from './payload.ts'
import { listOf, timeOf } from './values.ts'

/**
 * The history of a Temporal workflow as JSON: activities, child workflows and Nexus operations are calls, signals and
 * updates messages, timers and markers marks. What the workflow was started with and how it ended are the input and the outcome.
 *
 * @see https://docs.temporal.io/references/events
 */
export const temporal: ForeignFormat = {
  name: 'temporal',
  recognises: ({ root }) => eventsOf(root)[0]?.at('eventType').maybeText !== undefined,
  read: ({ root }) => new History(root).recording,
}

function eventsOf(root: Cursor): readonly Cursor[] {
  const list = root.at('history').isThere ? root.at('history').at('events') : root.at('events')
  return listOf(Array.isArray(root.value) ? root : list)
}

/** Events by their numbers: the web page asks for the last ones first. */
function inOrder(events: readonly Cursor[]): readonly Cursor[] {
  const numbered = events.map((event) => ({ event, id: event.at('eventId').maybeNumber ?? 0 }))
  return numbered.sort((a, b) => a.id - b.id).map(({ event }) => event)
}

/** How a call can end without a result, by the end of the name of its event. */
const failures = ['Failed', 'TimedOut', 'Canceled', 'Terminated'] as const
/** How a workflow's own code fails. One that is terminated or times out neither returns nor throws: the server ends it. */
const ownFailures = ['Failed', 'Canceled'] as const

class History {
  readonly #steps: ForeignStep[] = []
  /** Where the call that an event began stands, by the id of the event. */
  readonly #calls = new Map<string, number>()
  readonly #times = new Map<string, number>()
  #workflow = 'workflow'
  #startedMs: number | undefined
  #end: Pick<ForeignRecording, 'input' | 'outcome'> = {}
  #isWhole = true
  #hasUnknownArgs = false
  readonly #root: Cursor

  constructor(root: Cursor) {
    this.#root = root
  }

  get recording(): ForeignRecording {
    for (const event of inOrder(eventsOf(this.#root))) this.#event(event)
    return {
      format: 'temporal',
      name: this.#workflow,
      exchanges: [],
      steps: this.#steps,
      ...(this.#startedMs === undefined ? {} : { startedMs: this.#startedMs }),
      ...this.#end,
      missing: [...(this.#isWhole ? [] : ['payloads']), ...(this.#hasUnknownArgs ? ['arguments'] : [])],
    }
  }

  #event(event: Cursor): void {
    const type = typeOf(event.at('eventType').text)
    const attributes = event.at(`${type.charAt(0).toLowerCase()}${type.slice(1)}EventAttributes`)
    const id = String(event.at('eventId').value)
    const at = timeOf(event.at('eventTime'))
    if (at !== undefined) this.#times.set(id, at)
    this.#startedMs ??= at
    const when = at === undefined ? {} : { startedMs: at }
    if (type.startsWith('WorkflowExecution') && !/Signaled|Update|CancelRequested|Options/.test(type))
      this.#life(type, attributes)
    else if (type === 'ActivityTaskScheduled')
      this.#call(id, attributes.at('activityType').at('name').text, attributes, when)
    else if (type === 'StartChildWorkflowExecutionInitiated')
      this.#call(id, attributes.at('workflowType').at('name').text, attributes, when)
    else if (type === 'NexusOperationScheduled')
      this.#call(id, `${attributes.at('service').text}.${attributes.at('operation').text}`, attributes, when)
    else if (type === 'ActivityTaskStarted') this.#started(attributes, when)
    else if (isOfCall.test(type)) this.#settled(type, attributes, at)
    else this.#said(type, attributes, when)
  }

  /** The first event and the last. */
  #life(type: string, attributes: Cursor): void {
    if (type === 'WorkflowExecutionStarted') {
      this.#workflow = attributes.at('workflowType').at('name').maybeText ?? this.#workflow
      const [first, ...others] = this.#values(attributes.at('input'))
      if (first !== undefined)
        this.#end = { ...this.#end, input: { value: others.length === 0 ? first : [first, ...others] } }
    } else if (type === 'WorkflowExecutionCompleted') {
      const { values, isWhole } = unpacked(attributes.at('result'))
      this.#isWhole &&= isWhole
      // A result in an encoding of someone's own was not seen: its outcome stays unknown.
      if (isWhole) this.#end = { ...this.#end, outcome: { status: 'returned', value: values[0] } }
    } else if (ownFailures.some((failure) => type.endsWith(failure)))
      this.#end = { ...this.#end, outcome: { status: 'threw', message: failureText(attributes, type) } }
    else this.#steps.push({ kind: 'mark', name: type, data: {} })
  }

  #call(id: string, name: string, attributes: Cursor, when: { readonly startedMs?: number }): void {
    const group = attributes.at('workflowTaskCompletedEventId').value
    this.#calls.set(id, this.#steps.length)
    this.#steps.push({
      kind: 'tool',
      ...when,
      name,
      args: argsOf(this.#values(attributes.at('input'))),
      ...(group === undefined ? {} : { group: String(group) }),
    })
  }

  /** Attempts before the last leave nothing in a history but their number and the last failure. */
  #started(attributes: Cursor, when: { readonly startedMs?: number }): void {
    const attempt = attributes.at('attempt').maybeNumber ?? 1
    const call = this.#callOf(attributes.at('scheduledEventId'))
    if (attempt <= 1 || call === undefined) return
    const failure = attributes.at('lastFailure').at('message').maybeText
    const data = { name: call.name, attempt, ...(failure === undefined ? {} : { failure }) }
    this.#steps.push({ kind: 'mark', ...when, name: 'retried', data })
  }

  #settled(type: string, attributes: Cursor, at: number | undefined): void {
    const begun = attributes.at('scheduledEventId').isThere
      ? attributes.at('scheduledEventId')
      : attributes.at('initiatedEventId')
    const index = this.#calls.get(String(begun.value))
    const call = this.#callOf(begun)
    if (index === undefined || call === undefined) return
    const isDone = type.endsWith('Completed')
    if (!isDone && !failures.some((failure) => type.endsWith(failure))) return
    const start = this.#times.get(String(begun.value))
    const values = isDone ? this.#values(attributes.at('result')) : []
    this.#steps[index] = {
      ...call,
      ...(start === undefined || at === undefined || at < start ? {} : { tookMs: at - start }),
      ...(isDone ? { result: values[0] ?? null } : { error: failureText(attributes, type) }),
    }
  }

  #callOf(id: Cursor): ForeignCall | undefined {
    const step = this.#steps[this.#calls.get(String(id.value)) ?? -1]
    return step?.kind === 'tool' ? step : undefined
  }

  /** What passed between the workflow and others, and what it waited for. */
  #said(type: string, attributes: Cursor, when: { readonly startedMs?: number }): void {
    const workflow = this.#workflow
    const message = (from: string, to: string, body: unknown): void =>
      void this.#steps.push({ kind: 'message', ...when, from, to, body })
    const mark = (name: string, data: unknown): void => void this.#steps.push({ kind: 'mark', ...when, name, data })
    switch (type) {
      case 'WorkflowExecutionSignaled': {
        const sender = attributes.at('externalWorkflowExecution').at('workflowId').maybeText
        return message(sender ?? 'client', workflow, {
          signal: attributes.at('signalName').text,
          args: this.#values(attributes.at('input')),
        })
      }
      case 'SignalExternalWorkflowExecutionInitiated':
        return message(workflow, attributes.at('workflowExecution').at('workflowId').maybeText ?? 'workflow', {
          signal: attributes.at('signalName').text,
          args: this.#values(attributes.at('input')),
        })
      case 'WorkflowExecutionUpdateAccepted': {
        const input = attributes.at('acceptedRequest').at('input')
        return message('client', workflow, {
          update: input.at('name').maybeText ?? 'update',
          args: this.#values(input.at('args')),
        })
      }
      case 'WorkflowExecutionUpdateCompleted': {
        const done = attributes.at('outcome')
        const failure = done.at('failure').at('message').maybeText
        const [value = null] = this.#values(done.at('success'))
        return message(workflow, 'client', failure === undefined ? { updated: value } : { failure })
      }
      case 'TimerStarted':
        return mark('timer', {
          id: attributes.at('timerId').value,
          after: attributes.at('startToFireTimeout').value ?? null,
        })
      case 'TimerFired':
      case 'TimerCanceled':
        return mark(type === 'TimerFired' ? 'timer fired' : 'timer canceled', { id: attributes.at('timerId').value })
      case 'MarkerRecorded':
        return this.#marker(attributes, when)
      default:
        // Tasks of the workflow are how it was run, not what it did.
        if (!/^Workflow(Task|PropertiesModified)|^UpsertWorkflow|Signaled$|CancelRequested$/.test(type)) mark(type, {})
    }
  }

  /**
   * A local activity leaves its result in a marker. Java writes down what it was called with, the others do not; each has
   * words of its own for the name.
   */
  #marker(attributes: Cursor, when: { readonly startedMs?: number }): void {
    const details = attributes.at('details')
    const values = details.isMap
      ? details.members.map(([key, payloads]) => [key, this.#values(payloads)[0] ?? null])
      : []
    const data = Object.fromEntries(values) as Record<string, unknown>
    const marker = attributes.at('markerName').maybeText ?? 'marker'
    const about = data['data'] as { readonly [key: string]: unknown } | null | undefined
    const name = [about?.['activity_type'], about?.['ActivityType'], data['type']].find(
      (one) => typeof one === 'string',
    )
    if (typeof name !== 'string' || !localActivities.has(marker)) {
      this.#steps.push({ kind: 'mark', ...when, name: marker, data })
      return
    }
    const input = details.at('input')
    this.#hasUnknownArgs ||= !input.isThere
    const failure = attributes.at('failure')
    const result = failure.isThere ? { error: failureText(attributes, name) } : { result: data['result'] ?? null }
    const args = input.isThere ? argsOf(this.#values(input)) : {}
    this.#steps.push({ kind: 'tool', ...when, tookMs: 0, name, args, ...result })
  }

  #values(payloads: Cursor): readonly unknown[] {
    const { values, isWhole }: PayloadValues = unpacked(payloads)
    this.#isWhole &&= isWhole
    return values
  }
}

/** Events of a call, but for what is asked of a call that is under way. */
const isOfCall = /^(ActivityTask|(Start)?ChildWorkflowExecution|NexusOperation(?!CancelRequest))/

/** Markers that local activities leave: of the SDKs with the shared core, and of Go and Java. */
const localActivities: ReadonlySet<string> = new Set(['core_local_activity', 'LocalActivity'])

/** One map is the arguments by name; everything else stays a list. */
function argsOf([first, ...others]: readonly unknown[]): unknown {
  const isOne = others.length === 0 && typeof first === 'object' && first !== null && !Array.isArray(first)
  if (isOne) return first
  return first === undefined ? [] : [first, ...others]
}

/** `EVENT_TYPE_TIMER_FIRED` and `TimerFired` are the same: older and newer servers write them. */
function typeOf(text: string): string {
  if (!text.startsWith('EVENT_TYPE_')) return text
  const words = text.slice('EVENT_TYPE_'.length).toLowerCase().split('_')
  return words.map((word) => `${word.charAt(0).toUpperCase()}${word.slice(1)}`).join('')
}

/** What the innermost failure says; an activity that fails is wrapped into others. */
function failureText(attributes: Cursor, type: string): string {
  let failure = attributes.at('failure')
  let text = failure.at('message').maybeText
  for (let depth = 0; depth < 20 && failure.at('cause').isMap; depth++) {
    failure = failure.at('cause')
    text = failure.at('message').maybeText ?? text
  }
  return text ?? type
}
