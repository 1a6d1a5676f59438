import type { Forks, RunLayer } from '../blame/index.ts'
import { type ArmPlan, type ArmReport, drawArm, unmadeArm } from './arms.ts'

/** What can trigger a failure. */
export type FailureLayer = 'code' | 'sampling' | 'data' | 'timing'

/**
 * Which layer triggers a failure. `found` names the layers without which it goes away, each by itself; `code` where it stays
 * no matter what the others do. `unresolved`: those that are still possible, and why.
 */
export type IsolateVerdict =
  | { readonly kind: 'found'; readonly layers: readonly FailureLayer[] }
  | { readonly kind: 'unresolved'; readonly open: readonly FailureLayer[]; readonly because: string }

export interface Isolation {
  readonly verdict: IsolateVerdict
  /** In the order they were made. */
  readonly arms: readonly ArmReport[]
}

export interface IsolateOptions {
  /** How often a verdict that names a layer may be false. Default 0.05. */
  readonly delta?: number
  /** Smallest share of runs without the failure that is an effect. Default 0.2. */
  readonly minEffect?: number
  /** Why a layer cannot be another one in this run: it has nothing of it, or it was not allowed. */
  readonly held: Partial<Readonly<Record<RunLayer, { readonly says: 'fixed' | 'not tried'; readonly because: string }>>>
  readonly onArm?: (varied: readonly RunLayer[]) => void
}

/**
 * Every arm there is, in their order. What is free comes first. Those of two layers are made where no layer cures the run by
 * itself.
 */
export const allArms = [
  ['timing'],
  ['model'],
  ['tools'],
  ['model', 'timing'],
  ['model', 'tools'],
] as const satisfies readonly (readonly RunLayer[])[]

/** How each arm is decided: each may err in its part of all. */
export function planOfArms({ delta = 0.05, minEffect = 0.2 }: Pick<IsolateOptions, 'delta' | 'minEffect'>): ArmPlan {
  return { minEffect, error: delta / allArms.length }
}

/**
 * Finds the layer that triggers a failure, by runs in which one layer at a time is not as recorded.
 *
 * The free ones come first. A model that answers from the tape repeats what it decided, no matter what the tools say by now: so
 * where no layer cures the run by itself, the others are varied once more together with a live model, and held against it.
 */
export async function isolateLayers(forks: Forks, options: IsolateOptions): Promise<Isolation> {
  const { held, onArm } = options
  const plan = planOfArms(options)
  const arms: ArmReport[] = []
  const make = async (...varied: readonly RunLayer[]): Promise<ArmReport['says']> => {
    const not = varied.map((layer) => held[layer]).find((one) => one !== undefined)
    onArm?.(varied)
    const arm = not === undefined ? await drawArm(forks, varied, plan) : unmadeArm(varied, not.says, not.because)
    arms.push(arm)
    return arm.says
  }
  const found = (...layers: readonly FailureLayer[]): Isolation => ({ verdict: { kind: 'found', layers }, arms })

  // Tools that run for real answer in an order of their own: they are asked once it is known that order changes nothing.
  const timing = await make('timing')
  if (timing === 'cured') return found('timing')
  const model = await make('model')
  const beside = timing === 'unknown' && model === 'fails' ? await make('model', 'timing') : undefined
  if (beside === 'cured') return found('timing')
  const isTimingKnown = timing !== 'unknown' || beside === 'fails'
  const tools = await make('tools')
  if (model === 'cured' || (tools === 'cured' && isTimingKnown))
    return found(
      ...(model === 'cured' ? (['sampling'] as const) : []),
      ...(tools === 'cured' && isTimingKnown ? (['data'] as const) : []),
    )
  if (tools === 'cured') {
    const because = 'tools that run for real answer in an order of their own, and what another order does is not known'
    return { verdict: { kind: 'unresolved', open: ['data', 'timing'], because }, arms }
  }
  // With nothing to compare it with, a live model beside another layer says nothing of that layer.
  if (model === 'fails') {
    if (held.timing === undefined && beside === undefined && (await make('model', 'timing')) === 'cured')
      return found('timing')
    if (held.tools === undefined && (await make('model', 'tools')) === 'cured') return found('data')
  }
  return { verdict: verdictOf(arms), arms }
}

/** The failure stays in every arm that ended. */
function verdictOf(arms: readonly ArmReport[]): IsolateVerdict {
  const undecided = arms.filter((arm) => ['not tried', 'unknown'].includes(arm.says) && !isDecidedLive(arm, arms))
  const [first] = undecided
  if (first === undefined) return { kind: 'found', layers: ['code'] }
  const open = new Set(undecided.map(({ varied }) => layerOf[varied.at(-1) ?? 'model']))
  return { kind: 'unresolved', open: ['code', ...open], because: first.because ?? 'an arm is undecided' }
}

/** What a model that answers from the tape could not judge, for it was asked something else, the live one beside it did. */
function isDecidedLive({ varied: [layer], says }: ArmReport, arms: readonly ArmReport[]): boolean {
  return says === 'unknown' && arms.some(({ varied, says }) => varied[1] === layer && says === 'fails')
}

const layerOf = { model: 'sampling', tools: 'data', timing: 'timing' } as const
