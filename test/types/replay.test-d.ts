import { describe, expectTypeOf, it } from 'vitest'
import { type ReplayResult, type RunOutcome, replayTape, type MatchLevel } from '../../src/replay/index.ts'
import type { Tape } from '../../src/tape/index.ts'

declare const tape: Tape

describe('replayTape', () => {
  it('knows what the agent answers', () => {
    expectTypeOf(replayTape(tape, async () => 7)).toEqualTypeOf<Promise<ReplayResult<number>>>()
    expectTypeOf<ReplayResult<string>['outcome']>().toEqualTypeOf<RunOutcome<string>>()
  })

  it('gives the agent an input nobody has looked at', () => {
    void replayTape(tape, (input) => {
      expectTypeOf(input).toBeUnknown()
    })
  })

  it('refuses a mode that does not exist', () => {
    expectTypeOf<'exact'>().toExtend<MatchLevel>()
    // @ts-expect-error a typo must not become a default
    void replayTape(tape, () => 7, { serve: 'strict' })
    // @ts-expect-error escapes are errors or reported, never ignored
    void replayTape(tape, () => 7, { escapes: 'ignore' })
  })
})
