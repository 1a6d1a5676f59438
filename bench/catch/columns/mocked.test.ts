// Four tests as one writes them by hand, the model mocked: its recorded answers come in order, whatever it is asked.
import { resolve } from 'node:path'
import { describe, expect, test } from 'vitest'
import type { Variant } from '../project.ts'
import { type Message, type Trial, trial, variantsHere } from './trial.ts'

interface Evaluator {
  (runs: { outputs: readonly Message[]; referenceOutputs: readonly Message[] }): Promise<{ readonly score: boolean }>
}

// A peer is not among the dependencies of this repository.
const peer = 'agentevals'
const { createTrajectoryMatchEvaluator } = (await import(/* @vite-ignore */ peer)) as {
  createTrajectoryMatchEvaluator(options: object): Evaluator
}

const variants = variantsHere()
const recordings = new Map<string, Trial>()
const trials = new Map<string, Promise<Trial>>()

describe.each(['mocked', 'live'])('%s', (model) => {
  const isMocked = model === 'mocked'

  test.skipIf(!isMocked).each(variants)('toEqual $id', async (variant) => {
    const { calls } = await run(variant)
    expect(calls).toEqual((await recorded(variant)).calls)
  })

  test.each(variants)('agentevals strict $id', async (variant) => {
    expect(await score(variant, 'strict')).toBe(true)
  })

  test.each(variants)('agentevals superset $id', async (variant) => {
    expect(await score(variant, 'superset')).toBe(true)
  })

  test.skipIf(!isMocked).each(variants)('snapshot $id', async (variant) => {
    const { conversation } = await run(variant)
    await expect(text(conversation)).toMatchFileSnapshot(resolve(`snapshots/${variant.agent}.json`))
  })

  async function run(variant: Variant): Promise<Trial> {
    const { script } = await recorded(variant)
    const key = `${model} ${variant.id}`
    const running = trials.get(key) ?? trial(variant, isMocked ? script : undefined)
    trials.set(key, running)
    return running
  }

  /** An agent that threw has no trajectory to be judged. */
  async function score(variant: Variant, trajectoryMatchMode: 'strict' | 'superset'): Promise<boolean> {
    const { trajectory, outcome } = await run(variant)
    if ('threw' in outcome) throw new Error(outcome.threw)
    const evaluator = createTrajectoryMatchEvaluator({ trajectoryMatchMode, toolArgsMatchMode: 'exact' })
    return (await evaluator({ outputs: trajectory, referenceOutputs: (await recorded(variant)).trajectory })).score
  }
})

async function recorded({ agent }: Variant): Promise<Trial> {
  const known = recordings.get(agent)
  if (known !== undefined) return known
  const base = variants.find(({ id }) => id === `${agent}-00`)!
  const run = await trial(base)
  recordings.set(agent, run)
  return run
}

function text(value: unknown): string {
  return `${JSON.stringify(value, null, 2)}\n`
}
