import type { ReportNote, ReportStep } from './types.ts'

/** A step while it is being read. */
export type StepDraft = { -readonly [Key in keyof ReportStep]: ReportStep[Key] }

/** Marks model calls that ask the same again after an answer that was none. Derived: a tape does not say what is a retry. */
export function markRetries(steps: readonly StepDraft[], bodyOf: (step: StepDraft) => string | undefined): void {
  const last = new Map<string, StepDraft>()
  for (const step of steps) {
    const body = bodyOf(step)
    if (body === undefined) continue
    const before = last.get(body)
    if (before !== undefined && (before.err !== undefined || (before.status ?? 0) >= 429)) step.again = before.no
    last.set(body, step)
  }
}

/** Names in messages that stand for a role of a conversation and for no agent. */
export const roleNames: ReadonlySet<string> = new Set([
  'user',
  'model',
  'assistant',
  'agent',
  'tool',
  'environment',
  'system',
])

/**
 * Tells conversations apart. Derived, because no event says which agent made it: model calls with the same instructions
 * are one lane, named by the message that brought its first question. A tool belongs to the lane that last asked for it, a
 * retrieval to whom its question was sent, anything else to the lane that first reads what it answered.
 */
export function assignLanes(
  steps: readonly StepDraft[],
  notes: readonly ReportNote[],
  texts: readonly string[],
  agent: string,
): void {
  const messages = notes.filter(({ kind }) => kind === 'message')
  const names = namesOfLanes(steps, messages, texts, agent)
  const main = [...names.values()][0] ?? agent
  /** The lane that last asked for a tool of this name. */
  const askers = new Map<string, string>()
  const sent = messages.filter(({ to = '' }) => !roleNames.has(to))
  const readers = new Readers(steps, texts)
  let at = 0
  for (const step of steps) {
    if (step.prompt !== undefined) {
      step.lane = names.get(keyOf(step)) ?? main
      for (const { name } of step.calls ?? []) askers.set(name, step.lane)
      continue
    }
    while (at < sent.length && (sent[at]?.n ?? 0) < step.n) at++
    const args = step.args === undefined ? '' : (texts[step.args] ?? '')
    // The nearest messages are enough: a question is passed on at once.
    const near = sent
      .slice(Math.max(0, at - 16), at)
      .findLast(({ t }) => (texts[t] ?? '') !== '' && args.includes(texts[t] ?? ''))
    step.lane = askers.get(step.name) ?? near?.to ?? readers.of(step, names) ?? main
  }
}

function keyOf(step: StepDraft): string {
  return step.prompt?.sys.join() ?? ''
}

function namesOfLanes(
  steps: readonly StepDraft[],
  messages: readonly ReportNote[],
  texts: readonly string[],
  agent: string,
): ReadonlyMap<string, string> {
  const names = new Map<string, string>()
  for (const step of steps) {
    if (step.prompt === undefined || names.has(keyOf(step))) continue
    const question = step.prompt.msgs.find(({ r }) => r === 'user' || r === 'input')
    const said = question === undefined ? '' : (texts[question.t] ?? '')
    const to = messages.find(({ t, to: name = '' }) => {
      const body = texts[t] ?? ''
      return body !== '' && !roleNames.has(name) && said.startsWith(body)
    })?.to
    const first = messages.find(({ from = '' }) => !roleNames.has(from))?.from ?? agent
    names.set(keyOf(step), to ?? (names.size === 0 ? first : `agent ${names.size + 1}`))
  }
  return names
}

/** Which model call first reads what a step answered. */
class Readers {
  readonly #steps: readonly StepDraft[]
  readonly #texts: readonly string[]

  constructor(steps: readonly StepDraft[], texts: readonly string[]) {
    this.#steps = steps
    this.#texts = texts
  }

  of(step: StepDraft, names: ReadonlyMap<string, string>): string | undefined {
    if (step.result === undefined) return undefined
    const head = (this.#texts[step.result] ?? '').slice(0, 40)
    if (head.length < 4) return undefined
    // An answer that nobody reads within some steps is read by nobody we could name.
    const reader = this.#steps
      .slice(step.no, step.no + 40)
      .find(({ prompt }) => prompt?.msgs.slice(-8).some(({ t }) => (this.#texts[t] ?? '').includes(head)))
    return reader === undefined ? undefined : names.get(keyOf(reader))
  }
}
