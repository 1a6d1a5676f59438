import { expect } from 'vitest'
import { HarvestError } from '../errors/index.ts'
import { isReplayResult } from './replay-tape.ts'
import { inexactParts } from '../replay/index.ts'
import type { ReplayResult } from '../match/types.ts'
import { requireGrade } from '../tape/grade.ts'
import { encodeValue, type Json } from '../tape/index.ts'
import {
  compareReplay,
  compareTraces,
  type MatchOptions,
  matchOutcome,
  parseBaseline,
  renderBaseline,
  renderCall,
  type TraceCall,
  traceOf,
  traceOfRun,
} from '../trace/index.ts'

/** What `expect()` can say about a replay besides. */
export interface HarvestMatchers {
  /**
   * The agent made these tool calls, in this causal order: `['lookup_order(order_id)', 'refund(*)']`, concurrent calls
   * as a list. Without an argument: the calls on the tape.
   */
  toMatchTrace(baseline?: readonly Json[], options?: MatchOptions): void
  /** The agent called this tool; with `args`, at least once with arguments that hold these. */
  toCall(name: string, args?: Json | Readonly<Record<string, unknown>>): void
  /** Every request and argument was byte-identical, every recorded step was taken, nothing was left uncompared, and the outcome is equal. */
  toReplayExactly(): void
}

// Both lanes: the matchers of Vitest 5 and 4 have different type parameters, what they extend in the end has none.
declare global {
  namespace Chai {
    interface Assertion extends HarvestMatchers {}
  }
}

interface MatcherResult {
  readonly pass: boolean
  readonly message: () => string
  readonly expected?: unknown
  readonly actual?: unknown
}

/** Makes the matchers known to `expect`. */
export function installMatchers(): void {
  expect.extend({ toMatchTrace, toCall, toReplayExactly })
}

function toMatchTrace(received: unknown, baseline?: readonly Json[], options: MatchOptions = {}): MatcherResult {
  const run = requireRun(received, 'toMatchTrace')
  const wanted = parseBaseline(baseline ?? renderBaseline(traceOf(run.tape.events), options))
  const isInOrder = run.problems.every(({ code }) => code !== 'HARVEST_ORDER')
  const { equal, report, expectedText, actualText } = isInOrder
    ? compareReplay(wanted, run, options)
    : compareTraces(wanted, traceOfRun(run), options)
  return {
    pass: equal,
    message: () => (equal ? `the run of ${run.tape.header.id} makes exactly these calls, and was not to` : report),
    expected: expectedText,
    actual: actualText,
  }
}

function toCall(received: unknown, name: string, args?: unknown): MatcherResult {
  const run = requireRun(received, 'toCall')
  const calls = traceOfRun(run).layers.flat()
  const wanted = args === undefined ? undefined : encodeValue(args)
  const pass = calls.some(
    (call) => call.name === name && (wanted === undefined || matchOutcome(wanted, call.args).equal),
  )
  const shown = calls.map((call) => `  ${asText(call)}`).join('\n')
  const call = args === undefined ? name : `${name} with ${JSON.stringify(wanted)}`
  return {
    pass,
    message: () =>
      `the agent ${pass ? 'called' : 'never called'} ${call}\n\nIts calls were\n${shown === '' ? '  none' : shown}`,
  }
}

function asText(call: TraceCall): string {
  return renderCall(call, 'exact')
}

function toReplayExactly(received: unknown): MatcherResult {
  const run = requireRun(received, 'toReplayExactly')
  const { tape, problems } = run
  requireGrade(tape.header, 'verify')
  const found = [...problems.map(({ facts }) => facts.what), ...inexactParts(run)]
  return {
    pass: found.length === 0,
    message: () =>
      found.length === 0
        ? `the replay of ${tape.header.id} is exact, and was not to be`
        : `the replay of ${tape.header.id} is not exact:\n${found.map((line) => `  ${line}`).join('\n')}`,
  }
}

function requireRun(received: unknown, matcher: string): ReplayResult {
  if (isReplayResult(received)) return received
  throw new HarvestError('HARVEST_MATCHER', {
    what: `expect(…).${matcher}() needs the result of replay()`,
    where: { received: received instanceof Promise ? 'a promise: await replay() first' : typeof received },
    fix: [`const run = await replay('recordings/golden/….tape.jsonl', (input) => agent(input))`],
  })
}
