import { encodeValue, type InputLeft, type Json } from '../tape/index.ts'

/** What a run was called with: an agent may work by what it makes of it. */
export class RecordedInput {
  /** As it was given. */
  readonly json: Json
  readonly #value: unknown

  constructor(value: unknown) {
    this.#value = value
    this.json = encodeValue(value)
  }

  /** What the run made of it until now. */
  left(): { readonly input?: InputLeft } {
    if (typeof this.#value !== 'object' || this.#value === null) return {}
    const left = encodeValue(this.#value)
    return { input: JSON.stringify(left) === JSON.stringify(this.json) ? {} : { left } }
  }
}
