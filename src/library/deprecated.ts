import type { compareBranches as compareBranchesNow } from '../blame/index.ts'
import type { ForkOptions, ForkPlan, ForkResult } from '../fork/plan.ts'
import type { openBudget as openBudgetNow } from '../live/index.ts'
import { type OwnFile, loadOwn } from '../own-files.ts'
import type { ReplayOptions, ReplayResult } from '../match/types.ts'
import type { readModelCall as readModelCallNow, readModelRequest as readModelRequestNow } from '../providers/index.ts'
import type { standInKeys as standInKeysNow } from '../replay/index.ts'
import type { Tape } from '../tape/types.ts'
import type {
  compareTraces as compareTracesNow,
  parseBaseline as parseBaselineNow,
  renderBaseline as renderBaselineNow,
  traceOf as traceOfNow,
} from '../trace/index.ts'

// Old names of the root, for one minor version. Each loads its room when it is called.

function load<T>(module: OwnFile): T {
  return loadOwn(module) as T
}

type Providers = typeof import('../providers/index.ts')
type Replay = typeof import('../replay/index.ts')
type Trace = typeof import('../trace/index.ts')

/** @deprecated Import it from `vitest-harvest/tape`. */
export const readModelCall: typeof readModelCallNow = (...args) =>
  load<Providers>('providers/index').readModelCall(...args)
/** @deprecated Import it from `vitest-harvest/tape`. */
export const readModelRequest: typeof readModelRequestNow = (...args) =>
  load<Providers>('providers/index').readModelRequest(...args)
/** @deprecated Import it from `vitest-harvest/tape`. */
export const traceOf: typeof traceOfNow = (...args) => load<Trace>('trace/index').traceOf(...args)
/** @deprecated Import it from `vitest-harvest/tape`. */
export const compareTraces: typeof compareTracesNow = (...args) => load<Trace>('trace/index').compareTraces(...args)
/** @deprecated Import it from `vitest-harvest/tape`. */
export const parseBaseline: typeof parseBaselineNow = (...args) => load<Trace>('trace/index').parseBaseline(...args)
/** @deprecated Import it from `vitest-harvest/tape`. */
export const renderBaseline: typeof renderBaselineNow = (...args) => load<Trace>('trace/index').renderBaseline(...args)

/** @deprecated `replay` installs itself. */
export async function installReplay(): Promise<void> {
  return (await import('../replay/index.ts')).installReplay()
}

/** @deprecated Use `replay`, whose result has a verdict. */
export async function replayTape<T>(
  tape: Tape,
  agent: (input: unknown) => T | PromiseLike<T>,
  options?: ReplayOptions,
): Promise<ReplayResult<T>> {
  return (await import('../replay/index.ts')).replayTape(tape, agent, options)
}

/** @deprecated Use `replay`, and import the agent inside of `agent`. */
export async function guardLoading<T>(run: () => Promise<T>, allow?: readonly string[]): Promise<T> {
  return (await import('../replay/index.ts')).guardLoading(run, allow)
}

/** @deprecated `replay` sets them itself. */
export const standInKeys: typeof standInKeysNow = (...args) => load<Replay>('replay/index').standInKeys(...args)

/** @deprecated Use `fork`. */
export async function forkTape<T>(
  tape: Tape,
  agent: (input: unknown) => T | PromiseLike<T>,
  plan: ForkPlan,
  options?: ForkOptions,
): Promise<ForkResult<T>> {
  return (await import('../fork/index.ts')).forkTape(tape, agent, plan, options)
}

/** @deprecated The options `limits` of `blame` and `fork` replace it. */
export const openBudget: typeof openBudgetNow = (...args) =>
  load<typeof import('../live/index.ts')>('live/index').openBudget(...args)

/** @deprecated Compare the results of `fork`. */
export const compareBranches: typeof compareBranchesNow = (...args) =>
  load<typeof import('../blame/index.ts')>('blame/index').compareBranches(...args)
