import fc from 'fast-check'
import { expect, test } from 'vitest'
import type { GateItem } from '../../src/match/delivery.ts'
import { Scheduler } from '../../src/playback/scheduler.ts'
import type { ExchangeState } from '../../src/match/step.ts'
import { gateItems } from '../../src/replay/run.ts'
import type { Chunk, ExchangeEvent } from '../../src/tape/index.ts'

/** Distances between pieces: what stands between two of them on the tape, and how much later the second came. */
const pieces = fc.array(fc.record({ between: fc.constantFrom(0, 0, 0, 1), later: fc.constantFrom(0, 0, 0, 0.5) }), {
  maxLength: 30,
})

test('for every stream, each piece is delivered once, in its order and by itself, and not before its time', async () => {
  await fc.assert(
    fc.asyncProperty(pieces, async (distances) => {
      const { step, gate } = stream(distances)
      const got: [index: number, at: number][] = []
      for (const item of bodyOf(step)) item.deliver = ({ index }) => got.push([index!, gate.now])
      await played(gate, step)
      expect(got).toEqual(step.event.response!.chunks.map(([, at], index) => [index, at]))
      expect(gate.deliveries).toBe(2 + distances.length)
    }),
    { seed: 21, numRuns: 60 },
  )
})

test('for every stream, whoever gives it up while it gets a piece gets none of the rest, of the same burst neither', async () => {
  await fc.assert(
    fc.asyncProperty(pieces, fc.nat({ max: 29 }), async (distances, last) => {
      const { step, gate } = stream(distances)
      const got: number[] = []
      for (const item of bodyOf(step))
        item.deliver = ({ index }) => {
          got.push(index!)
          if (index === last) gate.done(step.items)
        }
      await played(gate, step)
      expect(got).toEqual(step.event.response!.chunks.map((_, index) => index).slice(0, last + 1))
    }),
    { seed: 21, numRuns: 60 },
  )
})

test('a piece that its client refuses does not keep the rest of its burst', async () => {
  const { step, gate, faults } = stream([1, 2, 3].map(() => ({ between: 0, later: 0 })))
  const got: number[] = []
  for (const item of bodyOf(step))
    item.deliver = ({ index }) => {
      if (index === 1) throw new Error('refused')
      got.push(index!)
    }
  await played(gate, step)
  expect([got, faults.map(({ message }) => message)]).toEqual([[0, 2], ['refused']])
})

test('pieces are one item of the gate where they came in one burst and nothing of another answer came between them', () => {
  const same = { between: 0, later: 0 }
  const { step } = stream([same, same, { between: 1, later: 0 }, same, { between: 0, later: 0.5 }])
  expect(bodyOf(step).map(({ index, more }) => [index, more])).toEqual([
    [0, 1],
    [2, 1],
    [4, 0],
  ])
})

function stream(distances: readonly { readonly between: number; readonly later: number }[]): {
  readonly step: ExchangeState
  readonly gate: Scheduler
  readonly faults: readonly Error[]
} {
  let [n, at] = [1, 0]
  const chunks = distances.map(({ between, later }, i): Chunk => [(n += 1 + between), (at += later), `piece ${i}`])
  const event: ExchangeEvent = {
    kind: 'exchange',
    n: 0,
    at: 0,
    via: 'undici',
    method: 'GET',
    url: 'https://api.test/',
    request: { headers: [] },
    response: { moment: [1, 0], status: 200, headers: [], chunks, end: [n + 1, at] },
  }
  const step = { event, number: 1, items: [], taken: false, served: false, answered: false } as unknown as ExchangeState
  const faults: Error[] = []
  const gate = new Scheduler(gateItems(step), {
    isBusy: () => false,
    isOver: () => step.answered,
    onTurn: () => undefined,
    onFault: (error) => void faults.push(error as Error),
    onHang: () => undefined,
    endAt: at,
    hangMs: undefined,
  })
  return { step, gate, faults }
}

/** The items between the head and the end. */
function bodyOf({ items }: ExchangeState): readonly GateItem[] {
  return items.slice(2, -1)
}

/** Asks, and waits until nothing is left to deliver. */
async function played(gate: Scheduler, step: ExchangeState): Promise<void> {
  gate.asked(step.items[0])
  gate.ready(step.items.slice(1))
  while (step.items.some(({ state }) => state !== 'done')) await new Promise((resolve) => setImmediate(resolve))
  step.answered = true
  gate.stop()
}
