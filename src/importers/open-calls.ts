import type { CallEvent } from '../tape/index.ts'
import type { ImportedToolResult } from './messages.ts'
import type { ForeignRequest } from './types.ts'

type Draft<T> = { -readonly [K in keyof T]: T[K] }

/** A call event that is still being written. */
export type CallDraft = Draft<CallEvent>

/** Calls that only a model tells of, and that wait for an answer. */
export class OpenCalls {
  readonly #lines = new Map<string, { readonly calls: CallDraft[]; next: number }>()

  add({ id, name }: ForeignRequest, event: CallDraft): void {
    if (id !== undefined) this.#line(`id ${id}`).calls.push(event)
    this.#line(`name ${name}`).calls.push(event)
  }

  /** The call that an answer belongs to: the one of its id, else the first of its name that has none yet. */
  find({ id, name = '' }: ImportedToolResult): CallDraft | undefined {
    const line = this.#lines.get(id === undefined ? `name ${name}` : `id ${id}`)
    if (line === undefined) return undefined
    while (line.calls[line.next]?.settled !== undefined) line.next++
    return line.calls[line.next]
  }

  #line(key: string): { readonly calls: CallDraft[]; next: number } {
    const line = this.#lines.get(key) ?? { calls: [], next: 0 }
    this.#lines.set(key, line)
    return line
  }
}
