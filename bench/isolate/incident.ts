import { draw, sfc32 } from '../../src/prng.ts'

/** Where a failure comes from, and by which way it reaches the outcome. */
export type Plant =
  | { readonly layer: 'code'; readonly how: 'unit' | 'rounding' | 'limit' }
  | { readonly layer: 'sampling'; readonly how: 'amount' | 'nothing' | 'twice'; readonly rate: number }
  | {
      readonly layer: 'data'
      readonly how: 'through code' | 'through model'
      readonly fault: 'unit' | 'stale' | 'empty'
      /** How often the model notices it and asks again. */
      readonly noticed: number
    }
  | {
      readonly layer: 'timing'
      readonly how: 'order in code' | 'order in prompt' | 'clock in code' | 'clock in prompt'
    }

export type Layer = Plant['layer']

export const layers: readonly Layer[] = ['code', 'sampling', 'data', 'timing']

/** One failure that happened once. */
export interface Incident {
  readonly id: string
  readonly plant: Plant
  /** What would have been right to refund. */
  readonly total: number
  /** Tool calls that change nothing, beside those the refund needs. */
  readonly detours: number
  readonly isStreamed: boolean
  /** Chance that the model errs in any run, whatever is planted. */
  readonly slip: number
}

/** A number in [0, 1) for these words, the same each time. */
export function chanceOf(...words: readonly (string | number)[]): number {
  const state = sfc32()
  for (const char of words.join('\u0000')) {
    state.a ^= char.codePointAt(0) ?? 0
    draw(state)
  }
  for (let i = 0; i < 12; i++) draw(state)
  return draw(state) / 2 ** 32
}

/** The incident of a layer with this number, the same each time. */
export function incidentOf(layer: Layer, number: number, harder: { readonly noticed?: number } = {}): Incident {
  const id = `${layer}-${number}`
  const pick = <T>(name: string, list: readonly [T, ...T[]]): T =>
    list[Math.floor(chanceOf(id, name) * list.length)] ?? list[0]
  const between = (name: string, low: number, high: number): number => low + chanceOf(id, name) * (high - low)
  const plants: Readonly<Record<Layer, () => Plant>> = {
    code: () => ({ layer: 'code', how: pick('how', ['unit', 'rounding', 'limit']) }),
    sampling: () => ({
      layer: 'sampling',
      how: pick('how', ['amount', 'nothing', 'twice']),
      rate: between('rate', 0.02, 0.6),
    }),
    data: () => ({
      layer: 'data',
      how: pick('how', ['through code', 'through model']),
      fault: pick('fault', ['unit', 'stale', 'empty']),
      noticed: harder.noticed ?? between('noticed', 0, 0.03),
    }),
    timing: () => ({
      layer: 'timing',
      how: pick('how', ['order in code', 'order in prompt', 'clock in code', 'clock in prompt']),
    }),
  }
  return {
    id,
    plant: plants[layer](),
    total: 5 + Math.floor(between('total', 0, 90)),
    detours: Math.floor(between('detours', 0, 3)),
    isStreamed: chanceOf(id, 'streamed') < 0.3,
    slip: between('slip', 0, 0.03),
  }
}

/** Whose luck a run has: the recorded one has what is planted. */
export type Luck = string
export const recorded: Luck = 'recorded'
