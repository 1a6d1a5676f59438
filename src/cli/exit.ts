import { HarvestError } from '../errors/index.ts'

/** What the `harvest` command answers to its shell. */
export const exit = {
  ok: 0,
  /** The verdict is different or unproven, or a check found something. */
  divergence: 1,
  /** Wrong arguments, a missing file, an invalid option. */
  usage: 2,
  /** The tape is damaged, truncated, of another format or was changed after it was written. */
  tape: 3,
  /** The tape was made by other code or other models, and that was not allowed. */
  crossVersion: 4,
  /** An internal error. */
  internal: 101,
  /** The terminal was closed. */
  closedTerminal: 129,
  /** Interrupted, as by Ctrl-C. */
  interrupted: 130,
} as const

export type ExitCode = (typeof exit)[keyof typeof exit]

/** The exit code an error stands for; anything that is not a {@link HarvestError} is a mistake of ours. */
export function exitCodeOf(error: unknown): ExitCode {
  if (!HarvestError.is(error)) return exit.internal
  const [, code] = rows.find(([pattern]) => pattern.test(error.code)) ?? [undefined, exit.internal]
  return code
}

// The first row that fits counts. A code no row knows is a mistake of ours; a test reads every code of the sources.
const rows: readonly (readonly [RegExp, ExitCode])[] = [
  [/^HARVEST_(DIVERGENCE|AMBIGUOUS|ORDER|UNUSED|ESCAPE|DRIFT|TRACE|OUTCOME|RULE|UNPROVEN|VERIFY)$/, exit.divergence],
  [/^HARVEST_(ANSWER_FORM|CLOCK|MARKS|MESSAGES|RESULTS|STATES|UNCAUGHT_EXCEPTION|WORKER_DIED)$/, exit.divergence],
  [/^HARVEST_BODY_(CUT|UNSEARCHED)$/, exit.divergence],
  [/^HARVEST_(DEBUG_BUDGET|DEMO_STEP)$/, exit.divergence],
  [/^HARVEST_(CLOCK_SPIN|AGENT_TIMEOUT|DELIVERY|RUN_ABORTED|RUN_OVER|TEST_OVER|UNHANDLED_REJECTION)$/, exit.divergence],
  [/^HARVEST_(TAPE_EXHAUSTED|PROMOTE_DIVERGED|NOT_AWAITED|NOT_RECORDED)$/, exit.divergence],
  [/^HARVEST_CLI_INTERRUPTED$/, exit.interrupted],
  [
    /^HARVEST_(CONTROL|FORK_PREFIX|FIX_NOT_GOOD|FIX_NOT_GREEN|FIX_NOT_RED|FIX_NOT_SHOWN|FIX_UNCHANGED)$/,
    exit.divergence,
  ],
  [/^HARVEST_(BLAME|CHAOS|FAULT|FIX|FORK|ORACLE|TASK|VALIDATE)(_|$)/, exit.usage],
  [/^HARVEST_CROSS_VERSION$/, exit.crossVersion],
  [/^HARVEST_TAPE_(EMPTY|LEFTOVER|LINE|TAMPERED|TRUNCATED|UNREADABLE|VALUE|VERSION)$/, exit.tape],
  [/^HARVEST_PROMOTE_(TRUNCATED|INCOMPLETE)$/, exit.tape],
  [/^HARVEST_IMPORT_(EXISTS|MISSING|NONE)$/, exit.usage],
  [/^HARVEST_IMPORT_/, exit.tape],
  [/^HARVEST_TAPE_(GRADE|MISSING|PARENT|WRITE|OBSOLETE|FUNCTION|EXISTS|AMBIGUOUS)$/, exit.usage],
  [
    /^HARVEST_(ACCEPT|AGENT|AGENTS|BASELINE|BUDGET|CASE|CHECK|CLI|CLIENT|DEBUG|DEMO|EXPORT|FINGERPRINT|GIT|INIT|LIVE)(_|$)/,
    exit.usage,
  ],
  [
    /^HARVEST_(MATCH|MATCHER|MOCKED|NO|NOT|OPTION|OUTCOME_KIND|PATCH|PRIVACY|PROJECT|PROMOTE|PROVE|RECORD)(_|$)/,
    exit.usage,
  ],
  [
    /^HARVEST_(DRAWN|ESCAPE_CONSENT|RECORDER|RECORDING|RECORDINGS|REPLAY|RULE|RULES|SUBJECT|TOOL|TOOLS|UPDATE|USAGE|VITEST|WRAP)(_|$)/,
    exit.usage,
  ],
]
