import fc from 'fast-check'
import type { RunPosition } from '../../src/rules/index.ts'

const none = { known: 0, isWhole: true }

/** Positions from what is said of them; the rest is counted up. */
export function runOf(moments: readonly (Partial<RunPosition> & Pick<RunPosition, 'kind'>)[]): readonly RunPosition[] {
  let issued = 0
  return moments.map((moment, index) => {
    if (moment.phase === 'called') issued++
    return { n: index, atMs: index * 10, issued, tokens: none, cost: none, ...moment }
  })
}

interface Call {
  readonly name: string
  readonly args: { readonly x: number; readonly y: number }
}

/** Runs of three tools, calls overlapping, some failing and some never answered. */
export const runs: fc.Arbitrary<readonly RunPosition[]> = fc
  .array(
    fc.record({
      isAnswer: fc.boolean(),
      pick: fc.nat(100),
      fails: fc.nat(4),
      gap: fc.nat(19),
      call: fc.record({
        name: fc.constantFrom('a', 'b', 'c'),
        args: fc.record({ x: fc.nat(2), y: fc.nat(1) }),
      }) as fc.Arbitrary<Call>,
    }),
    { maxLength: 14 },
  )
  .map((choices) => {
    const open: Call[] = []
    let atMs = 0
    return runOf(
      choices.map(({ isAnswer, pick, fails, gap, call }) => {
        atMs += gap
        if (isAnswer && open.length > 0) {
          const [answered] = open.splice(pick % open.length, 1)
          return {
            kind: 'call',
            ...answered,
            atMs,
            phase: fails === 0 ? ('fails' as const) : ('ok' as const),
            result: {},
          }
        }
        open.push(call)
        return { kind: 'call', ...call, atMs, phase: 'called' as const }
      }),
    )
  })
