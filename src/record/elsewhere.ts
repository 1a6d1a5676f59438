/**
 * The production entry point where there is no Node: Cloudflare Workers and other edge runtimes. Agents run as they do without it,
 * nothing is recorded, and each recorder says so when it is made.
 *
 * @module
 */
import type * as entry from './index.ts'
import { HarvestError } from '../errors/index.ts'
import type { RunHandle } from './run-stats.ts'

export type {
  BodyOptions,
  BudgetEvent,
  BudgetOptions,
  ClientOptions,
  Duration,
  FinishedRun,
  HoldOptions,
  KeepOptions,
  Limits,
  Recorder,
  RecorderOptions,
  RetentionOptions,
  RunHandle,
  RunOptions,
  RunStats,
  TapeOptions,
  Thinning,
  WatchFunction,
  WrapOptions,
} from './index.ts'

/** Hands the function back. */
export const tool = ((...given: readonly unknown[]) => functionIn(given)) as typeof entry.tool

/** Hands the function back. */
export const retriever = ((...given: readonly unknown[]) => functionIn(given)) as typeof entry.retriever

/** Hands the tools back. */
export const tools: typeof entry.tools = (given) => given

/** Hands the client back, or what makes it makes. */
export const client = ((given: object) =>
  // A client of postgres.js is a function itself.
  typeof given === 'function' && !('unsafe' in given) ? (given as () => object)() : given) as typeof entry.client

/** Asks once, now. */
export const value: typeof entry.value = (_name, fn) => fn()

/** Hands the function back: there is no run it could belong to. */
export const bind: typeof entry.bind = (fn) => fn

/** Hands the data back. */
export const mark = ((_name: string, data?: unknown) => data) as typeof entry.mark

/** Does nothing. */
export const message: typeof entry.message = () => undefined

/** Does nothing. */
export const state: typeof entry.state = () => undefined

/** There is no run. */
export const runSignal: typeof entry.runSignal = () => undefined

/** Nothing is kept here. */
export const isSampled: typeof entry.isSampled = () => false

/** Makes a recorder that only calls what it is given. */
export const createRecorder: typeof entry.createRecorder = ({ enabled = true, onWarning } = {}) => {
  if (enabled) {
    const error = new HarvestError('HARVEST_RECORDING_FAILED', {
      what: 'Not supported: runs are not recorded on this runtime; the agent is not affected',
      why: 'A recorder listens to clients of Node and writes files. This runtime has neither.',
      fix: ['run the program with Node to record it', 'to say nothing of it: createRecorder({ enabled: false })'],
    })
    if (onWarning === undefined) console.warn(error.message)
    else onWarning(error)
  }
  return {
    run: ({ id = '' }, fn) => fn(handle(id)),
    flag: () => false,
    hold: () => false,
    flush: () => undefined,
    lastTape: undefined,
    stats,
  }
}

/** A name may stand before the function. */
function functionIn([first, second]: readonly unknown[]): unknown {
  return typeof first === 'string' ? second : first
}

function handle(id: string): RunHandle {
  return { id, signal: new AbortController().signal, usage: undefined, flag: () => false, hold: () => false }
}

const stats: entry.Recorder['stats'] = {
  outsideRuns: 0,
  runs: 0,
  kept: 0,
  dropped: 0,
  notSampled: 0,
  unrecorded: 0,
  failures: 0,
  open: 0,
  capped: 0,
  heldBytes: 0,
  flagsTooLate: 0,
  because: {},
}
