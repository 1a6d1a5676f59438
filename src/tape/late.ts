import type { ExchangeEvent, LateWork, Via } from './types.ts'

/** Things a tape names that happened after its run ended: a timer that goes on for days must not fill it. */
const limit = 100

/** What an agent does after it returned, each thing once. */
export class LateWorks {
  readonly #all = new Map<string, LateWork>()

  /** Whether it is a new one, and there is room for it. */
  add(work: LateWork): boolean {
    const key = lateKey(work)
    if (this.#all.size >= limit || this.#all.has(key)) return false
    this.#all.set(key, work)
    return true
  }

  get all(): readonly LateWork[] {
    return [...this.#all.values()]
  }
}

/** Two of one key are one thing. */
export function lateKey({ kind, name, path = '' }: LateWork): string {
  return `${kind} ${name}${path}`
}

/** Whether `live` may be what was recorded: older recorders noted no paths. */
export function isLateAs(recorded: LateWork, live: LateWork): boolean {
  if (recorded.kind !== live.kind || recorded.name !== live.name) return false
  if (recorded.path === undefined || live.path === undefined) return true
  const [before, now] = [recorded.path.split('/'), live.path.split('/')]
  return before.length === now.length && before.every((part, i) => part === now[i] || isOpen(part) || isOpen(now[i]!))
}

const left = '…'

/** A part with a digit may be an id of its run, or what redaction left of one. */
function isOpen(part: string): boolean {
  return part === left || /\d/.test(part)
}

/** A request, of which a tape has no more: one that only reads has no path on it. */
export function lateRequest(method: string, url: string): LateWork {
  const work = { kind: 'request', name: lateRequestText(method, url) } as const
  const { protocol = '', pathname = '' } = URL.parse(url) ?? {}
  if (!protocol.startsWith('http') || /^(GET|HEAD|OPTIONS)$/.test(method)) return work
  const parts = pathname.split('/').map((part) => (isOpen(part) ? left : part))
  return { ...work, path: parts.join('/') }
}

/** The name of a message between agents. */
export function betweenText(from: string, to: string): string {
  return `${from} → ${to}`
}

/** Whether this ends a child: its input, or by a signal. */
export function isEnding({ via, method }: Pick<ExchangeEvent, 'method' | 'via'>): boolean {
  return via === 'stdio' && (method === 'END' || method === 'KILL')
}

/** What is said over a WebSocket or to a child process. That it ends is no doing of an agent: clients close when they go. */
export function isOfConnection(via: Via, method: string): boolean {
  return (via === 'websocket' || via === 'stdio') && method !== 'CLOSE' && !isEnding({ via, method })
}

function lateRequestText(method: string, url: string): string {
  const origin = URL.parse(url)?.origin ?? 'null'
  return `${method} ${origin === 'null' ? url : origin}`
}
