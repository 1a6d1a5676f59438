import fc from 'fast-check'
import { describe, it } from 'vitest'
import { HarvestError } from '../../src/errors/index.ts'
import { importRecordings } from '../../src/importers/index.ts'
import { parseTape, serializeTape } from '../../src/tape/index.ts'
import { traceOf } from '../../src/trace/index.ts'
import { openInference, otlp, otlpSpans, traceloop, traceSamples, vercel } from './trace-samples.ts'

/** HARVEST_IMPORT_RUNS=100000 for a long search. */
const numRuns = Math.ceil(Number(process.env['HARVEST_IMPORT_RUNS'] ?? 2_000) / 4)

const texts: readonly string[] = [
  ...Object.values(traceSamples),
  ...[traceloop, openInference, vercel].map((spans) => otlp(otlpSpans(spans))),
]

/** Values that are elsewhere in such files, and some that are nowhere. */
const odd = fc.oneof(
  fc.constantFrom<unknown>(
    null,
    true,
    0,
    -1,
    1e308,
    '',
    '[]',
    '{}',
    '[{"role":7}]',
    '{"a":',
    "{'a': [",
    [],
    {},
    [[]],
    [null],
  ),
  fc.constantFrom<unknown>(
    { $type: 'same', at: '' },
    [{ type: 'tool_call' }],
    { parts: [{ text: 7 }] },
    { message: { message: {} } },
  ),
  fc.constantFrom<unknown>(
    'constructor',
    '__proto__',
    'gen_ai.tool.name',
    '99999999999999999999',
    '2026-13-77T99:00:00Z',
  ),
  fc.jsonValue({ maxDepth: 3 }),
)

interface Change {
  readonly at: number
  readonly what: 'replaced' | 'left out' | 'copied'
  readonly by: unknown
}

/** The text with some of its values replaced, left out, or put in the place of others. */
function changed(text: string, changes: readonly Change[]): string {
  const lines = text.split('\n').map((line) => JSON.parse(line) as unknown)
  const values: unknown[] = []
  const places: { readonly holder: Record<string, unknown>; readonly key: string }[] = []
  const walk = (holder: Record<string, unknown>): void => {
    for (const key of Object.keys(holder)) {
      places.push({ holder, key })
      values.push(holder[key])
      const value = holder[key]
      if (typeof value === 'object' && value !== null) walk(value as Record<string, unknown>)
    }
  }
  walk(lines as unknown as Record<string, unknown>)
  for (const { at, what, by } of changes) {
    const { holder, key } = places[Math.floor(at * places.length)]!
    if (what === 'left out' && !Array.isArray(holder)) delete holder[key]
    else
      holder[key] =
        what === 'copied' ? structuredClone(values[Math.floor(at * 7919 * values.length) % values.length]) : by
  }
  return lines.map((line) => JSON.stringify(line)).join('\n')
}

const change: fc.Arbitrary<Change> = fc.record({
  at: fc.double({ min: 0, max: 1, noNaN: true, maxExcluded: true }),
  what: fc.constantFrom('replaced' as const, 'left out' as const, 'copied' as const),
  by: odd,
})

describe('whatever a trace says', () => {
  it('for every trace with values in it that are not what they should be, import makes tapes or says what is wrong', () => {
    fc.assert(
      fc.property(fc.constantFrom(...texts), fc.array(change, { minLength: 1, maxLength: 5 }), (text, changes) => {
        try {
          const bytes = Buffer.from(changed(text, changes))
          const { tapes } = importRecordings({ file: 'sample', bytes, agent: 'desk', id: 'sample' })
          for (const { header, events, close } of tapes) {
            const tape = parseTape(serializeTape(header, events, close), 'sample')
            traceOf(tape.events)
          }
        } catch (error) {
          if (!HarvestError.is(error) || !error.code.startsWith('HARVEST_IMPORT_')) throw error
        }
      }),
      { numRuns },
    )
  })
})
