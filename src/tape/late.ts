import type { LateWork } from './types.ts'

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
export function lateKey({ kind, name }: LateWork): string {
  return `${kind} ${name}`
}

/** The name of a message between agents. */
export function betweenText(from: string, to: string): string {
  return `${from} → ${to}`
}

/** What is said over a WebSocket or to a child process. That it ends is no doing of an agent: clients close when they go. */
export function isOfConnection(via: string, method: string): boolean {
  return (via === 'websocket' || via === 'stdio') && method !== 'CLOSE' && method !== 'END'
}

/** The name of a request: its path may have a number of its run in it. */
export function lateRequestText(method: string, url: string): string {
  const origin = URL.parse(url)?.origin ?? 'null'
  return `${method} ${origin === 'null' ? url : origin}`
}
