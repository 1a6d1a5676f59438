import { canonicalJson } from '../providers/index.ts'
import { onTape } from './tape-value.ts'
import type { ForeignCall, ForeignModelCall, ForeignRequest, ForeignStep } from './types.ts'

/** A call that a model asked for, and no tool step accounts for. */
export interface RequestedCall {
  readonly call: ForeignRequest
  readonly by: ForeignModelCall
}

/** Who asked for what. */
export interface Accounts {
  /** The model call that asked for a tool call. */
  readonly askedBy: ReadonlyMap<ForeignCall, ForeignModelCall>
  /** Calls that nothing accounts for, by the model call that asked for them. */
  readonly open: ReadonlyMap<ForeignModelCall, readonly ForeignRequest[]>
  /** The tool call an id of a request stands for. */
  readonly byId: ReadonlyMap<string, ForeignCall>
  /** Whether a model call of the run asked for a call, by its id, or its name and arguments. */
  readonly isAsked: (call: ForeignRequest) => boolean
}

/**
 * Joins calls that models asked for with the steps that ran them: by id, else by name and arguments, else by name, each
 * in order. A request that is reported again with the same id, as two instruments tell of one call, is one request.
 */
export function accountFor(steps: readonly ForeignStep[]): Accounts {
  const ran = steps.filter((step): step is ForeignCall => step.kind === 'tool' || step.kind === 'retrieval')
  const asked = requestsOf(steps)
  const askedBy = new Map<ForeignCall, ForeignModelCall>()
  const byId = new Map<string, ForeignCall>()
  const taken = new Set<RequestedCall>()
  const take = (call: ForeignCall, request: RequestedCall): void => {
    askedBy.set(call, request.by)
    taken.add(request)
    if (request.call.id !== undefined) byId.set(request.call.id, call)
  }
  const keys: readonly ((call: ForeignCall | ForeignRequest) => string | undefined)[] = [
    (call) => ('kind' in call ? call.callId : call.id),
    signatureOf,
    ({ name }) => name,
  ]
  for (const keyOf of keys) {
    // Taken from the end of a list that was turned round: first asked, first served, at no cost for the rest.
    const waiting = Map.groupBy(asked.filter((request) => !taken.has(request)).reverse(), ({ call }) => keyOf(call))
    for (const call of ran) {
      const key = askedBy.has(call) ? undefined : keyOf(call)
      const request = key === undefined ? undefined : waiting.get(key)?.pop()
      if (request !== undefined) take(call, request)
    }
  }
  const open = Map.groupBy(
    asked.filter((request) => !taken.has(request)),
    ({ by }) => by,
  )
  const known = new Set(asked.flatMap(({ call }) => [...(call.id === undefined ? [] : [call.id]), signatureOf(call)]))
  const isAsked = (call: ForeignRequest): boolean =>
    known.has(call.id ?? signatureOf(call)) || known.has(signatureOf(call))
  return { askedBy, byId, isAsked, open: new Map([...open].map(([by, list]) => [by, list.map(({ call }) => call)])) }
}

function requestsOf(steps: readonly ForeignStep[]): readonly RequestedCall[] {
  const known = new Set<string>()
  return steps.flatMap((by) => {
    if (by.kind !== 'model') return []
    return by.toolCalls.flatMap((call) => {
      if (call.id !== undefined && known.has(call.id)) return []
      if (call.id !== undefined) known.add(call.id)
      return [{ call, by }]
    })
  })
}

function signatureOf({ name, args }: ForeignCall | ForeignRequest): string {
  return `${name}(${args === undefined ? '?' : canonicalJson(onTape(args))})`
}
