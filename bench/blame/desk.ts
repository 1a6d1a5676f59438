import type { ForkSource } from '../../src/blame/index.ts'
import type { StructuralModel } from '../../src/validation/structural/model.ts'
import { structuralSource } from '../../src/validation/structural/source.ts'

/** Where a policy asks for forks of one failed run: it counts them, and adds up what they would have cost. */
export interface Desk {
  /** Forks of the run, at the prices of this bench. */
  readonly source: ForkSource
  readonly places: number
  /** Whether one more fork that keeps so many places ended well. All places kept: the recorded run, which failed. */
  fork(keep: number): Promise<boolean>
  readonly forks: number
  readonly modelCalls: number
  readonly costUsd: number
}

/** Dollars per million tokens, and how a conversation grows: a thousand tokens at first, 380 more with every call. */
export const prices = { inputUsd: 3, outputUsd: 15, firstPrompt: 1000, growth: 380, answer: 300 } as const

/** @param seed - whose forks: every policy that asks for the third one that keeps seven places gets the same */
export function openDesk(model: StructuralModel, seed: number): Desk {
  const drawn = structuralSource(model, seed)
  const tail = tailCosts(model)
  const asked = new Map<number, number>()
  const spent = { forks: 0, modelCalls: 0, costUsd: 0 }
  const signal = new AbortController().signal
  const source: ForkSource = {
    ...drawn,
    expect: (spec) => ({ modelCalls: drawn.expect(spec).modelCalls, costUsd: tail[spec.keep] ?? 0 }),
    async draw(spec, given) {
      const draw = await drawn.draw(spec, given)
      const costUsd = tail[spec.keep] ?? 0
      spent.forks++
      spent.modelCalls += draw.modelCalls
      spent.costUsd += costUsd
      return { ...draw, costUsd }
    },
  }
  return {
    source,
    places: model.places.length,
    async fork(keep) {
      if (keep >= model.places.length) return false
      const number = asked.get(keep) ?? 0
      asked.set(keep, number + 1)
      return (await source.draw({ keep, seed: number }, signal)).grade === 'ok'
    },
    get forks() {
      return spent.forks
    },
    get modelCalls() {
      return spent.modelCalls
    },
    get costUsd() {
      return spent.costUsd
    },
  }
}

/** What a fork costs that keeps so many places. */
function tailCosts({ places }: StructuralModel): readonly number[] {
  let calls = 0
  const each = places.map(({ isExogenous }) => {
    if (isExogenous) return 0
    const prompt = prices.firstPrompt + prices.growth * calls++
    return (prompt * prices.inputUsd + prices.answer * prices.outputUsd) / 1_000_000
  })
  const tails: number[] = []
  for (let keep = each.length - 1, sum = 0; keep >= 0; keep--) tails[keep] = sum += each[keep] ?? 0
  return tails
}
