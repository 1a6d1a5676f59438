/*
 * What no event says and a run shows all the same: which conversation a step belongs to, and which call was made again.
 * Both are derived, and whoever shows them says so.
 */

/** A step, as far as its lane depends on it. Texts are whole and as recorded. */
export interface LaneStep {
  readonly n: number
  readonly name: string
  /** Of a model call alone. */
  readonly prompt?: {
    readonly instructions: string
    /** The first question of its conversation. */
    readonly question: () => string
    /** Its last messages. */
    readonly heard: readonly string[]
    /** Names of the tools it asked for. */
    readonly asked: readonly string[]
  }
  readonly args?: string
  readonly result?: string
}

/** What one agent said to another. */
export interface LaneMessage {
  readonly n: number
  readonly from: string
  readonly to: string
  readonly body: string
}

/** Names in messages that stand for a role of a conversation and for no agent. */
const roleNames: ReadonlySet<string> = new Set(['user', 'model', 'assistant', 'agent', 'tool', 'environment', 'system'])

/**
 * Tells conversations apart. Derived, because no event says which agent made it: model calls with the same instructions
 * are one lane, named by the message that brought its first question. A tool belongs to the lane that last asked for it, a
 * retrieval to whom its question was sent, anything else to the lane that first reads what it answered.
 *
 * @param steps - in the order they began
 * @returns the lane of each
 */
export function lanesOf(steps: readonly LaneStep[], messages: readonly LaneMessage[], agent: string): string[] {
  const names = namesOfLanes(steps, messages, agent)
  const main = [...names.values()][0] ?? agent
  /** The lane that last asked for a tool of this name. */
  const askers = new Map<string, string>()
  const sent = messages.filter(({ to }) => !roleNames.has(to))
  let at = 0
  return steps.map((step, index) => {
    const { n, name, prompt, args = '' } = step
    if (prompt !== undefined) {
      const lane = names.get(prompt.instructions) ?? main
      for (const tool of prompt.asked) askers.set(tool, lane)
      return lane
    }
    while (at < sent.length && (sent[at]?.n ?? 0) < n) at++
    // The nearest messages are enough: a question is passed on at once.
    const near = sent.slice(Math.max(0, at - 16), at).findLast(({ body }) => body !== '' && args.includes(body))
    return askers.get(name) ?? near?.to ?? readerOf(steps, index, names) ?? main
  })
}

function namesOfLanes(
  steps: readonly LaneStep[],
  messages: readonly LaneMessage[],
  agent: string,
): ReadonlyMap<string, string> {
  const names = new Map<string, string>()
  for (const { prompt } of steps) {
    if (prompt === undefined || names.has(prompt.instructions)) continue
    const question = prompt.question()
    const to = messages.find(({ body, to: name }) => body !== '' && !roleNames.has(name) && question.startsWith(body))
    const first = messages.find(({ from }) => !roleNames.has(from))?.from ?? agent
    names.set(prompt.instructions, to?.to ?? (names.size === 0 ? first : `agent ${names.size + 1}`))
  }
  return names
}

/** The lane of the model call that first reads what a step answered. */
function readerOf(steps: readonly LaneStep[], index: number, names: ReadonlyMap<string, string>): string | undefined {
  const head = (steps[index]?.result ?? '').slice(0, 40)
  if (head.length < 4) return undefined
  // The reader of an answer that is not read within some steps is unknown.
  const reader = steps
    .slice(index + 1, index + 41)
    .find(({ prompt }) => prompt?.heard.some((text) => text.includes(head)))
  return reader?.prompt === undefined ? undefined : names.get(reader.prompt.instructions)
}

/** A call, as far as it may be another attempt. */
export interface AttemptedCall {
  /** Of its request; absent: it is not made again. */
  readonly key?: string
  readonly hasFailed: boolean
}

/**
 * Calls that ask the same again after an answer that was none. Derived: a tape does not say what is a retry.
 *
 * @param calls - in the order they began
 * @returns for each the index of the attempt that failed before it
 */
export function retriesOf(calls: readonly AttemptedCall[]): readonly (number | undefined)[] {
  const last = new Map<string, number>()
  return calls.map(({ key }, index) => {
    if (key === undefined) return undefined
    const before = last.get(key)
    last.set(key, index)
    return before !== undefined && calls[before]?.hasFailed === true ? before : undefined
  })
}
