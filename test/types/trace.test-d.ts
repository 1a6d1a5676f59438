import { describe, expectTypeOf, it } from 'vitest'
import { compareTraces, type ExpectedTrace, type Trace, type TraceMode } from '../../src/trace/index.ts'

declare const baseline: ExpectedTrace
declare const run: Trace

describe('compareTraces', () => {
  it('knows its modes', () => {
    expectTypeOf<TraceMode>().toEqualTypeOf<'causal' | 'strict' | 'sequence' | 'unordered' | 'subset' | 'superset'>()
    // @ts-expect-error a typo must not become a default
    void compareTraces(baseline, run, { trace: 'sequential' })
  })
})
