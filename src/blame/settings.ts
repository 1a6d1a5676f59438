import { HarvestError } from '../errors/index.ts'
import {
  between0And1,
  checkOption,
  checkOptions,
  isNumber,
  oneOf,
  type OptionRule,
  type OptionShape,
  type OptionsOf,
  wholeFrom,
} from '../errors/options.ts'
import { Curve } from './curve.ts'
import { type Forks, ForkBudget, type ForkBudgetOptions } from './fork-budget.ts'
import type { ForkSource } from './types.ts'

/** The smallest difference of rates that is blamed, where none is named. */
export const usualEffect = 0.2

export interface BlameOptions extends ForkBudgetOptions {
  /** How often a verdict that names something may be false. Default 0.05. */
  readonly delta?: number
  /** The smallest difference of rates that is blamed; below it a run counts as not recoverable. Default 0.2. */
  readonly tau?: number
  /**
   * `deterministic`: all that is resampled is answered by a script, the same each time, so one fork of a kind says it.
   * `noisy` (the default): a model answers. That a few forks of it came out alike does not make it a script.
   */
  readonly tail?: 'deterministic' | 'noisy'
  /**
   * With a deterministic tail: look at every position behind the one found, so that no later recovery is missed; a fork
   * each. Default false: the verdict says how many were not looked at.
   */
  readonly sweep?: boolean
  /** Positions that are tested with fresh forks before the verdict is `diffuse`. Default 4. */
  readonly maxTries?: number
  /** Pairs of forks after which such a test gives up. Default 60. */
  readonly maxPairs?: number
  /** Hears how far it is, after each round of forks. */
  readonly onProgress?: (progress: BlameProgress) => void
  /** Makes the forks, when several questions share one budget; limits, ledger and the like are then its. */
  readonly forkBudget?: Forks
}

/** How far blame is. */
export interface BlameProgress {
  readonly forks: number
  /** Those of earlier sessions among them. */
  readonly reused: number
  readonly costUsd?: number
  /** What is being done. */
  readonly phase: 'locate' | 'confirm' | 'explore' | 'repair'
  /** The positions still suspected, both included. */
  readonly range?: { readonly from: number; readonly to: number }
}

/** One question about one run: options with their defaults, and what is known so far. */
export interface Inquiry {
  readonly source: ForkSource
  readonly forkBudget: Forks
  readonly delta: number
  readonly tau: number
  readonly tail: 'deterministic' | 'noisy'
  readonly sweep: boolean
  readonly maxTries: number
  readonly maxPairs: number
  readonly curve: Curve
  /** Tests with fresh forks so far: each has half the error of the one before, so that all of them have delta. */
  tries: number
  report(phase: BlameProgress['phase'], range?: BlameProgress['range']): void
}

/** @throws HarvestError HARVEST_BLAME_OPTION for a value that cannot be, HARVEST_BLAME_NO_STEPS for a run without steps */
export function openInquiry(source: ForkSource, options: BlameOptions): Inquiry {
  const { delta = 0.05, tau = usualEffect, tail = 'noisy', sweep = false, maxTries = 4, maxPairs = 60 } = options
  checkOption(blameOptions, 'confidence', Number((1 - delta).toFixed(12)), confidence)
  checkOptions(blameOptions, { minEffect: tau, tail, maxTries, maxPairs }, shape)
  requireSteps(source)
  const forkBudget = options.forkBudget ?? new ForkBudget(source, options)
  return {
    source,
    forkBudget,
    delta,
    tau,
    tail,
    sweep,
    maxTries,
    maxPairs,
    curve: new Curve(source.positions.length),
    tries: 0,
    report(phase, range) {
      const { now, reused } = forkBudget.spent
      options.onProgress?.({
        phase,
        forks: now.forks + reused.forks,
        reused: reused.forks,
        ...(now.costUsd === undefined ? {} : { costUsd: now.costUsd }),
        ...(range === undefined ? {} : { range }),
      })
    },
  }
}

/** @throws HarvestError `HARVEST_BLAME_NO_STEPS` */
export function requireSteps({ positions }: Pick<ForkSource, 'positions'>): void {
  if (positions.length > 0) return
  throw new HarvestError('HARVEST_BLAME_NO_STEPS', {
    what: 'The run has no step to resample',
    why: 'Blame compares runs that replay a step with runs that resample it.',
    fix: ["to see what the run holds: npx vitest-harvest show '<tape>'"],
  })
}

/**
 * The error that the next test with fresh forks may have; all of them together have delta. Most runs take one test, so the
 * first one has three quarters of it.
 */
export function nextAlpha(inquiry: Inquiry): number {
  return alphaOf(inquiry, ++inquiry.tries)
}

/** The error of a test, counted from 1. */
export function alphaOf({ delta }: Pick<Inquiry, 'delta'>, number: number): number {
  return (delta * 3) / 4 ** number
}

/** What the tests so far left of delta. */
export function deltaLeft({ delta, tries }: Pick<Inquiry, 'delta' | 'tries'>): number {
  return delta / 4 ** tries
}

const blameOptions: OptionsOf = { owner: 'blame', code: 'HARVEST_BLAME_OPTION' }
const confidence: OptionRule = {
  expected: 'a number above 0.5 and below 1',
  fits: (value) => isNumber(value) && value > 0.5 && value < 1,
}
const shape: OptionShape = {
  minEffect: between0And1,
  tail: oneOf(['deterministic', 'noisy']),
  maxTries: wholeFrom(1),
  maxPairs: wholeFrom(1),
}
