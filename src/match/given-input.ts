import { decodeValue, encodeFor, type Json, type Tape } from '../tape/index.ts'

/** The input of a tape, as an agent gets it and leaves it. */
export class GivenInput {
  readonly #flags: readonly string[]
  readonly #input: Json | undefined
  #value: unknown
  #before = ''
  #left: { readonly value: unknown; readonly json: Json; readonly isChanged: boolean } | undefined

  constructor({ header }: Pick<Tape, 'header'>, input: Json | undefined) {
    this.#flags = header.flags
    this.#input = input
  }

  /**
   * What the agent is called with.
   *
   * @throws HarvestError `HARVEST_TAPE_VALUE`
   */
  give(): unknown {
    this.#value = this.#input === undefined ? undefined : decodeValue(this.#input)
    if (this.#isObject) this.#before = JSON.stringify(encodeFor(this.#flags, this.#value))
    return this.#value
  }

  /** The agent returned or threw: the recorder looked then, too. */
  ended(): void {
    if (!this.#isObject) return
    const json = encodeFor(this.#flags, this.#value)
    this.#left = { value: this.#value, json, isChanged: JSON.stringify(json) !== this.#before }
  }

  /** How it was left, not redacted; `undefined` of an agent that did not come to its end, or that got nothing it can change. */
  get left(): { readonly value: unknown; readonly json: Json; readonly isChanged: boolean } | undefined {
    return this.#left
  }

  /** Whether it is another one than when the agent returned or threw: nothing but the agent has it. */
  get isChangedLate(): boolean {
    return (
      this.#left !== undefined &&
      JSON.stringify(encodeFor(this.#flags, this.#value)) !== JSON.stringify(this.#left.json)
    )
  }

  get #isObject(): boolean {
    return typeof this.#value === 'object' && this.#value !== null
  }
}
