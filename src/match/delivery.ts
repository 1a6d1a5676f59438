/** One thing on the tape that has a place in the order: a request, or a piece of an answer. */
export interface GateItem {
  readonly n: number
  readonly at: number
  /** Hands the piece to the agent. Absent for a request: the agent makes that one itself. */
  deliver?: ((item: GateItem) => void) | undefined
  /** Which piece of the body it is: streams have many, and share what delivers them. */
  index?: number
  /** Of a piece of a body: how many behind it came in the same burst, and are delivered after it, each by itself. */
  more?: number
  /**
   * Has a turn of its own also where the tape has it in one burst with what came before: no live connection breaks in
   * the turn in which its last bytes are read, and undici never settles a response whose body broke then.
   */
  readonly isAlone?: true
  /** `n` of the step it belongs to. */
  readonly step?: number
  /** Of a request: the tape has an answer to it. */
  readonly isAnswered?: boolean
  /** Of a request that was given up before any answer came: when. */
  readonly abortedAt?: number
  /** `free`: nothing waits for it to happen. `last`: it happens when nothing else can. Absent: at its place. */
  place?: 'free' | 'last'
  /** `request`: waits for the agent. `ready`: its request was made, it can be delivered. */
  state: 'waiting' | 'ready' | 'done'
}
