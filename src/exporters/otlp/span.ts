import type { Usage } from '../../providers/index.ts'
import type { PlacedCall } from '../../trace/index.ts'
import { isSettled, type Moment, type Step } from '../../tape/index.ts'
import { endOf, type Failure } from '../facts.ts'
import { attributes, type AttributeValue, type KeyValue } from './attributes.ts'
import type { SpanIds } from './ids.ts'
import type { Clock } from './times.ts'

/** A span as OTLP/JSON writes it. */
export interface OtlpSpan {
  readonly traceId: string
  readonly spanId: string
  readonly parentSpanId?: string
  readonly name: string
  /** 1: inside the process; 3: a call of another one. */
  readonly kind: 1 | 3
  readonly startTimeUnixNano: string
  readonly endTimeUnixNano: string
  readonly attributes: readonly KeyValue[]
  readonly events?: readonly OtlpEvent[]
  /** Absent: nothing is known to have gone wrong. */
  readonly status?: { readonly code: 2; readonly message?: string }
}

export interface OtlpEvent {
  readonly timeUnixNano: string
  readonly name: string
  readonly attributes: readonly KeyValue[]
}

/** What a step says in a span: all but its place in the trace and in time. */
export interface StepDescription {
  readonly name: string
  readonly kind: OtlpSpan['kind']
  readonly attributes: Readonly<Record<string, AttributeValue>>
  readonly error?: Failure | undefined
}

/** What the spans of one tape share. */
export interface Telling {
  readonly ids: SpanIds
  readonly clock: Clock
  readonly withContent: boolean
  /** Otherwise times tell the order and nothing else. */
  readonly isTimed: boolean
  /** Number of the tool call a step happened inside of, when that is a span. */
  readonly parents: ReadonlyMap<number, number>
  /** The calls of the trace by the number of their event. */
  readonly calls: ReadonlyMap<number, PlacedCall>
  /**
   * Tokens of model calls by the number of their event: those of an answer that is reported again stand with the call that
   * asked.
   */
  readonly usage: ReadonlyMap<number, Usage | undefined>
  /** The last moment of the run. */
  readonly end: Moment
}

/** The span of a step. One that was never answered lasts to the end of the run, and says that it is open. */
export function spanOf(step: Step, told: StepDescription, telling: Telling): OtlpSpan {
  const { ids, clock, parents, end, withContent, isTimed } = telling
  const { name, kind, error } = told
  const start: Moment = [step.n, step.at]
  const parent = parents.get(step.n)
  return {
    traceId: ids.trace,
    spanId: ids.of(step.n),
    parentSpanId: parent === undefined ? ids.root : ids.of(parent),
    name,
    kind,
    ...between(start, endOf(step) ?? end, clock),
    attributes: attributes({
      ...told.attributes,
      'error.type': error?.type,
      ...siteOf(step.site),
      'vitest_harvest.event': step.n,
      'vitest_harvest.open': isSettled(step) ? undefined : true,
      'vitest_harvest.times': isTimed ? undefined : 'order',
    }),
    ...(error === undefined ? {} : { status: statusOf(error, withContent) }),
  }
}

/** Start and end; an end before its start, as a damaged tape may have it, is moved there. */
export function between(
  from: Moment,
  to: Moment,
  clock: Clock,
): Pick<OtlpSpan, 'startTimeUnixNano' | 'endTimeUnixNano'> {
  const [start, end] = [clock(from), clock(to)]
  return { startTimeUnixNano: start, endTimeUnixNano: BigInt(end) < BigInt(start) ? start : end }
}

export function statusOf({ message = '' }: Failure, withContent: boolean): NonNullable<OtlpSpan['status']> {
  return { code: 2, ...(withContent && message !== '' ? { message } : {}) }
}

/** `src/agent.ts:12:20` under the names of the code conventions. */
function siteOf(site: string | undefined): Readonly<Record<string, AttributeValue>> {
  const [, file, line, column] = /^(.*):(\d{1,9}):(\d{1,9})$/s.exec(site ?? '') ?? []
  if (file === undefined) return {}
  return { 'code.file.path': file, 'code.line.number': Number(line), 'code.column.number': Number(column) }
}
