/** A call that was asked for. */
interface Asked {
  readonly id?: string
  readonly name: string
}

/** Calls that wait for their answers, each found without looking at the others. */
export class Waiting<Call extends Asked> {
  readonly #lines = new Map<string, { readonly calls: Call[]; next: number }>()
  readonly #taken = new Set<Call>()

  add(call: Call): void {
    const { id, name } = call
    const own = id === undefined ? ['without id', `without id, name ${name}`] : [`id ${id}`]
    for (const key of [...own, `name ${name}`, 'any']) {
      const line = this.#lines.get(key) ?? { calls: [], next: 0 }
      this.#lines.set(key, line)
      line.calls.push(call)
    }
  }

  /**
   * The call an answer belongs to, which waits no more: the one of its id, else the first without an id; of an answer
   * without an id, the first. Of the same name, where the answer has one.
   */
  take({ id, name }: { readonly id?: string; readonly name?: string }): Call | undefined {
    const suffix = name === undefined ? '' : `, name ${name}`
    const keys = id === undefined ? [name === undefined ? 'any' : `name ${name}`] : [`id ${id}`, `without id${suffix}`]
    for (const key of keys) {
      const call = this.#first(key)
      if (call === undefined) continue
      this.#taken.add(call)
      return call
    }
    return undefined
  }

  #first(key: string): Call | undefined {
    const line = this.#lines.get(key)
    if (line === undefined) return undefined
    for (let call = line.calls[line.next]; call !== undefined; call = line.calls[++line.next])
      if (!this.#taken.has(call)) return call
    return undefined
  }
}
