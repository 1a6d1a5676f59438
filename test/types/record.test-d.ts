import { describe, expectTypeOf, it } from 'vitest'
import { bind, createRecorder, type Recorder, retriever, tool, tools, value } from '../../src/record/index.ts'

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
