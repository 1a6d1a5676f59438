import { messageOf, unnamedChild, urlOfCommand } from '../seam/stdio.ts'
import type { ChildMode } from '../seam/intercept/index.ts'
import type { Redactor } from '../privacy/index.ts'
import { type ExchangeEvent, isEnding, type Tape, type TapeEvent } from '../tape/index.ts'

/** How a child of this command spoke when the run was recorded; `undefined`: not in a way that a tape can hold. */
export function childMode({ events }: Tape, command: readonly string[], redactor: Redactor): ChildMode | undefined {
  const plain = urlOfCommand(command)
  const urls = [plain, redactor.url(plain), unnamedChild]
  const isOf = (url: string): boolean => urls.includes(url.replace(/#\d+$/, ''))
  const hasLines = events.some(
    (event) =>
      event.kind === 'push' && event.frame === undefined && isOf(event.url) && messageOf(event.text) === undefined,
  )
  if (hasLines) return 'lines'
  const hasRpc = events.some(
    (event) => (isRpcMessage(event) && isOf(event.url)) || (event.kind === 'push' && isOf(event.url)),
  )
  return hasRpc ? 'rpc' : undefined
}

/** Whether an event is a message of JSON-RPC to a child, and not a line or the end of its input. */
export function isRpcMessage(event: TapeEvent): event is ExchangeEvent {
  return event.kind === 'exchange' && event.via === 'stdio' && event.method !== 'SEND' && !isEnding(event)
}
