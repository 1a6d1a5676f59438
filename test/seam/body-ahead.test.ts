import fc from 'fast-check'
import { expect, test } from 'vitest'
import { hearAhead } from '../../src/seam/observe/body-ahead.ts'
import type { ExchangeObserver } from '../../src/seam/observe/observer.ts'

/** Notes what it hears. */
function listener() {
  const heard: string[] = []
  const exchange: Partial<ExchangeObserver> = {
    requestChunk: (bytes) => void heard.push(bytes.toString()),
    leaving: (isWhole) => void heard.push(isWhole ? 'whole' : 'more'),
  }
  return { heard, exchange: exchange as ExchangeObserver }
}

async function* body(pieces: readonly string[], failsAfter: number): AsyncGenerator<Uint8Array, undefined, undefined> {
  for (const [at, piece] of pieces.entries()) {
    if (at === failsAfter) throw new TypeError('torn')
    yield Buffer.from(piece)
  }
  if (failsAfter === pieces.length) throw new TypeError('torn')
}

test('whoever sends a body gets the pieces and the failure it has, after all of its stated length was heard', async () => {
  await fc.assert(
    fc.asyncProperty(
      fc.array(fc.constantFrom('a', 'bcd', 'efghij'), { maxLength: 4 }),
      fc.integer({ min: 0, max: 14 }),
      fc.integer({ min: 0, max: 6 }),
      fc.boolean(),
      async (pieces, contentLength, failsAfter, waits) => {
        const { heard, exchange } = listener()
        const request: { body?: unknown; contentLength: number } = { body: body(pieces, failsAfter), contentLength }
        expect(hearAhead(request, exchange)).toBe(true)
        const sent = request.body as AsyncIterable<Uint8Array>
        // The one that sends may be there before or after the first piece is.
        if (waits) await new Promise((next) => setImmediate(next))
        const got: string[] = []
        let failure: unknown
        let heardBefore: string | undefined
        try {
          for await (const piece of sent) {
            heardBefore ??= heard.join(' ')
            got.push(Buffer.from(piece).toString())
          }
        } catch (error) {
          failure = error
        }
        const whole = pieces.slice(0, failsAfter)
        expect(got).toEqual(whole)
        expect(failure).toEqual(failsAfter <= pieces.length ? new TypeError('torn') : undefined)
        let bytes = 0
        const ahead = whole.filter((piece) => (bytes += piece.length) - piece.length < contentLength)
        const isAll = ahead.join('').length >= contentLength
        expect(heard).toEqual([...ahead, ...(isAll ? ['whole'] : [])])
        if (got.length > 0) expect(heardBefore).toBe(heard.join(' '))
      },
    ),
    { seed: 14, numRuns: 300 },
  )
})

test('a body that fails and that nobody sends is no unhandled rejection', async () => {
  const unhandled: unknown[] = []
  const note = (error: unknown): void => void unhandled.push(error)
  process.on('unhandledRejection', note)
  try {
    for (const failsAfter of [0, 1])
      hearAhead({ body: body(['a', 'b'], failsAfter), contentLength: 2 }, listener().exchange)
    for (let turn = 0; turn < 5; turn++) await new Promise((next) => setImmediate(next))
    expect(unhandled).toEqual([])
  } finally {
    process.off('unhandledRejection', note)
  }
})
