import { budgetSpent } from '../errors/budget-spent.ts'
import { readModelCall } from '../providers/index.ts'
import type { ExchangeEvent, Step, Tape } from '../tape/index.ts'
import { queueMicrotask } from '../seam/source.ts'

/**
 * The budget that ended a recorded run: its signal is aborted where the recorder aborted it, behind the answer that passed the
 * hard limit. Tool calls that were refused from there on are on the tape.
 */
export class RecordedBudget {
  readonly #controller = new AbortController()
  readonly #passedAt: Step | undefined
  readonly #reason: ReturnType<typeof budgetSpent> | undefined

  constructor(tape: Tape) {
    const passed = passedBy(tape)
    if (passed === undefined) return
    const { id: run, agent } = tape.header
    this.#reason = budgetSpent({ run, agent, ...passed })
    this.#passedAt = answerThatPassed(tape, passed)
  }

  get signal(): AbortSignal {
    return this.#controller.signal
  }

  /** An answer reached the agent. */
  answered(step: Step): void {
    if (step !== this.#passedAt) return
    // In a turn of its own, as it was recorded.
    queueMicrotask(() => this.#controller.abort(this.#reason))
  }
}

interface Passed {
  readonly of: string
  readonly used: number
  readonly limit: number
}

/** The limit as the closing line says it: `calls 4 > 3, hard`. */
function passedBy({ close }: Tape): Passed | undefined {
  for (const { because, detail = '' } of close?.kept ?? []) {
    const [, of, used, limit] = /^(tokens|costUsd|calls) (\S+) > (\S+), hard$/.exec(detail) ?? []
    if (because === 'budget' && of !== undefined) return { of, used: Number(used), limit: Number(limit) }
  }
  return undefined
}

/** The answer after which so much was used; costs are not known from the tape alone, and there it is the last one. */
function answerThatPassed({ events }: Tape, { of, used }: Passed): ExchangeEvent | undefined {
  const answered = events
    .filter((event) => event.kind === 'exchange')
    .filter((event) => event.response?.end !== undefined && readModelCall(event) !== undefined)
    .sort((a, b) => (a.response?.end?.[0] ?? 0) - (b.response?.end?.[0] ?? 0))
  let sum = 0
  const passing = answered.find((event) => {
    const { inputTokens = 0, outputTokens = 0 } = readModelCall(event)?.response?.usage ?? {}
    if (of === 'calls') sum++
    else if (of === 'tokens') sum += inputTokens + outputTokens
    return of !== 'costUsd' && sum >= used
  })
  return passing ?? answered.at(-1)
}
