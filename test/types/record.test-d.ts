import { describe, expectTypeOf, it } from 'vitest'
import {
  bind,
  createRecorder,
  mark,
  type Recorder,
  type RecorderOptions,
  retriever,
  type RunHandle,
  tool,
  tools,
  value,
} from '../../src/record/index.ts'
import type { RunUsage } from '../../src/tape/index.ts'

interface Order {
  readonly id: string
}
declare const refundAgent: (order: Order) => Promise<{ refunded: number }>

describe('recorder.run', () => {
  const recorder = createRecorder({ dir: 'recordings/inbox', commit: 'abc' })

  it('answers with the type of the agent, promise or not', () => {
    expectTypeOf(recorder).toEqualTypeOf<Recorder>()
    expectTypeOf(recorder.run({ agent: 'refund' }, () => refundAgent({ id: 'A1' }))).toEqualTypeOf<
      Promise<{ refunded: number }>
    >()
    expectTypeOf(recorder.run({ agent: 'refund', input: 1 }, () => 7)).toEqualTypeOf<number>()
  })

  it('hands the run to the agent, who need not take it', () => {
    recorder.run({ agent: 'refund' }, (run) => {
      expectTypeOf(run).toEqualTypeOf<RunHandle>()
      expectTypeOf(run.signal).toEqualTypeOf<AbortSignal>()
      expectTypeOf(run.usage).toEqualTypeOf<RunUsage | undefined>()
      expectTypeOf(run.flag('odd')).toEqualTypeOf<boolean>()
      expectTypeOf(run.hold('case 17')).toEqualTypeOf<boolean>()
    })
    expectTypeOf(recorder.run({ agent: 'refund' }, ({ signal }) => ({ signal }))).toEqualTypeOf<{
      signal: AbortSignal
    }>()
    expectTypeOf(recorder.run({ agent: 'chat' }, async () => new Response('x'))).toEqualTypeOf<Promise<Response>>()
    expectTypeOf(recorder.flag('odd')).toEqualTypeOf<boolean>()
  })

  it('knows what may be said about keeping', () => {
    const options: RecorderOptions = {
      sample: 0.05,
      keep: { timeoutMs: 1000, outliers: { tokens: 0.99 }, tools: ['refund'] },
      budget: { tokens: { soft: 1, hard: 2 }, costUsd: { hard: 0.5 }, calls: { soft: 3 } },
      prices: { 'gpt-4o': { input: 2.5, output: 10 } },
      retention: { clean: '7d', incident: 'forever' },
    }
    createRecorder(options)
    // @ts-expect-error a typo in a nested option
    createRecorder({ keep: { timeout: 5 } })
    // @ts-expect-error a duration names its unit
    createRecorder({ retention: { clean: '7 days' } })
    // @ts-expect-error a price has two sides
    createRecorder({ prices: { x: { input: 1 } } })
  })

  it('needs the name of the agent and knows its options', () => {
    // @ts-expect-error the agent's name is missing
    recorder.run({ input: 1 }, () => 7)
    // @ts-expect-error a typo in an option
    createRecorder({ dirr: 'x' })
  })
})

describe('wrappers', () => {
  const lookup = async (id: string, deep?: boolean): Promise<Order> => ({ id: deep ? id : '' })

  it('keep the type of what they wrap', () => {
    expectTypeOf(tool(lookup)).toEqualTypeOf<typeof lookup>()
    expectTypeOf(tool('lookup_order', lookup, { replay: 'run' })).toEqualTypeOf<typeof lookup>()
    expectTypeOf(retriever('docs', lookup)).toEqualTypeOf<typeof lookup>()
    expectTypeOf(bind(lookup)).toEqualTypeOf<typeof lookup>()
    expectTypeOf(tools({ lookup })).toEqualTypeOf<{ lookup: typeof lookup }>()
    expectTypeOf(value('region', () => 'eu' as const)).toEqualTypeOf<'eu'>()
  })

  it('keep generics', () => {
    const same = tool('same', <T>(one: T): T => one)
    expectTypeOf(same(3 as const)).toEqualTypeOf<3>()
  })

  it('refuse a mode that does not exist', () => {
    // @ts-expect-error a typo must not become a default
    tool('lookup', lookup, { replay: 'live' })
    // @ts-expect-error a tool is a function
    tool('lookup', 7)
  })
})

describe('mark', () => {
  it('hands back what it was given', () => {
    expectTypeOf(mark('planned', { budget: 5 })).toEqualTypeOf<{ budget: number }>()
    expectTypeOf(mark('planned')).toEqualTypeOf<void>()
  })
})
