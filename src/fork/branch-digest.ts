import { createHash } from 'node:crypto'
import { canonicalJson, readModelCall } from '../providers/index.ts'
import { bodyTextOf, shortUrl } from '../match/step.ts'
import type { BranchEnd } from './branch.ts'
import { type ExchangeEvent, type Json, requestBytes, responseBytes, type TapeEvent } from '../tape/index.ts'
import type { ForkRun } from './fork-run.ts'

/**
 * One text for all that a fork did behind its kept steps: what was asked, what was answered, how it ended. Without
 * times, headers, and the ids that providers give to answers and tool calls, which are never twice the same.
 */
export function fingerprintOfFork(run: ForkRun, { status, ended }: BranchEnd): string {
  const kept = new Set<TapeEvent['n']>(run.kept.map(({ event }) => event.n))
  const ids = new Map<string, string>()
  const events = run.account.entries.map(({ event }) => event as TapeEvent)
  for (const event of events) if (event.kind === 'exchange') for (const id of idsIn(event)) name(ids, id)
  const said = events.filter(({ n }) => !kept.has(n)).map((event) => steady(saidBy(event), ids))
  const text = JSON.stringify([...said, status, steady(endText(ended), ids)])
  return createHash('sha256').update(text).digest('base64url').slice(0, 22)
}

function saidBy(event: TapeEvent): string {
  switch (event.kind) {
    case 'exchange': {
      const { status } = event.response ?? {}
      const asked = bodyTextOf(requestBytes(event))
      const error = event.error ? `${event.error.name}: ${event.error.message}` : undefined
      return JSON.stringify([event.method, shortUrl(event.url), asked, status, answered(event), error])
    }
    case 'tool':
    case 'retrieval':
    case 'value':
      return JSON.stringify([
        event.kind,
        event.name,
        event.args,
        event.result,
        event.error,
        event.yields?.map(([, , value]) => value),
      ])
    case 'state':
      return JSON.stringify([event.kind, event.name, event.call, event.data])
    case 'mark':
      return JSON.stringify([event.kind, event.name, event.data])
    case 'message':
      return JSON.stringify([event.kind, event.from, event.to, event.body])
    case 'spawn':
      return JSON.stringify([event.kind, event.command])
    case 'push':
      return JSON.stringify([event.kind, event.text, event.frame])
    case 'draws':
      return ''
    default:
      return event satisfies never
  }
}

/** What a model said and decided, in any pieces it came; of anything else its bytes. */
function answered(event: ExchangeEvent): unknown {
  if (event.response === undefined) return undefined
  const said = readModelCall(event)?.response
  if (said === undefined || said.unknownEvents > 0) return bodyTextOf(responseBytes(event))
  return [said.text, said.toolCalls.map(({ name: tool, args }) => [tool, args]), said.finish, said.refusal, said.error]
}

function idsIn(event: ExchangeEvent): readonly string[] {
  const said = readModelCall(event)?.response
  if (said === undefined) return []
  const own = /"id"\s*:\s*"([^"\\]{6,})"/.exec(responseBytes(event).toString('utf8'))?.[1]
  const calls = said.toolCalls.flatMap(({ id }) => (id === undefined ? [] : [id]))
  return own === undefined ? calls : [own, ...calls]
}

function name(ids: Map<string, string>, id: string): void {
  if (!ids.has(id)) ids.set(id, `id ${ids.size + 1}`)
}

function steady(text: string, ids: ReadonlyMap<string, string>): string {
  let steadied = text
  for (const [id, short] of ids) if (id.length >= 4) steadied = steadied.replaceAll(id, short)
  return steadied
}

/** Where an error was made says nothing about what it is. */
function endText(ended: Json): string {
  const { $type, name: type, message } = (ended ?? {}) as { readonly [key: string]: Json }
  return $type === 'error' ? JSON.stringify([type, message]) : canonicalJson(ended)
}
