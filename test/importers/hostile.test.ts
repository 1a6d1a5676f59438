import fc from 'fast-check'
import { gzipSync } from 'node:zlib'
import { describe, expect, it } from 'vitest'
import { HarvestError } from '../../src/errors/index.ts'
import { importFormats } from '../../src/importers/index.ts'
import { aliasCap, depthCap, fileCap, yamlCap, yamlTokenCap } from '../../src/importers/limits.ts'
import { readRecordings } from '../../src/importers/read.ts'
import { parseTape, serializeTape } from '../../src/tape/index.ts'
import { cassette, imported, samples } from './samples.ts'

/** HARVEST_IMPORT_RUNS=100000 for a long search. */
const numRuns = Number(process.env['HARVEST_IMPORT_RUNS'] ?? 2_000)

const pieces = [
  '',
  '\0',
  '[',
  '{',
  '"',
  "'",
  '&a ',
  '*a',
  '!!python/x ',
  '? ',
  '- ',
  ': ',
  '\n',
  '|\n',
  '---\n',
  '<',
  '\\u0000',
  '-1',
  '1e999',
  'null',
  '9'.repeat(30),
  '\ud800',
  '__proto__',
  '\u2028',
]

interface Mutation {
  readonly at: number
  readonly drop: number
  readonly put: string
}

const mutation: fc.Arbitrary<Mutation> = fc.record({
  at: fc.double({ min: 0, max: 1, noNaN: true }),
  drop: fc.oneof(fc.constant(0), fc.integer({ min: 1, max: 40 })),
  put: fc.oneof(fc.constantFrom(...pieces), fc.string({ maxLength: 6, unit: 'binary' })),
})

function mutate(text: string, { at, drop, put }: Mutation): string {
  const start = Math.floor(at * text.length)
  return text.slice(0, start) + put + text.slice(start + drop)
}

describe('whatever a file holds', () => {
  it('for every recording with mistakes in it, import makes a tape or says what is wrong and where', () => {
    fc.assert(
      fc.property(
        fc.constantFrom(...importFormats),
        fc.array(mutation, { minLength: 1, maxLength: 4 }),
        (format, list) => {
          const text = list.reduce(mutate, samples[format])
          try {
            const { header, events, close } = imported(text)
            parseTape(serializeTape(header, events, close), 'sample')
          } catch (error) {
            if (!HarvestError.is(error) || !error.code.startsWith('HARVEST_IMPORT_')) throw error
            expect(error.facts.where).toMatchObject({ file: expect.stringMatching(/^sample/) as string })
          }
        },
      ),
      { numRuns },
    )
  })

  it('for every sequence of bytes, the same', () => {
    fc.assert(
      fc.property(fc.uint8Array({ maxLength: 200 }), fc.constantFrom(...importFormats), (bytes, format) => {
        expect(() => imported(Buffer.from(bytes), { format })).toThrow(/HARVEST_IMPORT_/)
      }),
      { numRuns: Math.ceil(numRuns / 10) },
    )
  })

  it('a message carries nothing that speaks to a terminal or a CI runner', () => {
    const text = cassette("''").replace('method: GET', 'method: "\\e[31m\\n::error::x"')
    expect(() => imported(text)).toThrow("'\\x1b[31M⏎::ERROR::X' is not an HTTP method")
  })
})

describe('bombs are refused by counts and sizes', () => {
  const code = (content: string | Buffer): string => {
    try {
      imported(content)
    } catch (error) {
      return HarvestError.is(error) ? error.code : String(error)
    }
    return 'imported'
  }

  it('a body that grows more than a hundredfold', () => {
    const bomb = gzipSync(Buffer.alloc(8 * 1024 * 1024)).toString('base64')
    expect(code(cassette(`!!binary ${bomb}`))).toBe('HARVEST_IMPORT_BOMB')
    const small = gzipSync(Buffer.alloc(900_000, 'a')).toString('base64')
    expect(code(cassette(`!!binary ${small}`))).toBe('imported')
  })

  it('a file that grows more than a hundredfold', () => {
    expect(code(gzipSync(Buffer.alloc(8 * 1024 * 1024, ' ')))).toBe('HARVEST_IMPORT_BOMB')
  })

  it('aliases that stand for aliases', () => {
    const levels = [...Array(9).keys()].map((i) => `a${i + 1}: &a${i + 1} [${Array(9).fill(`*a${i}`).join(', ')}]`)
    expect(code(`a0: &a0 x\n${levels.join('\n')}\ninteractions: []\n`)).toBe('HARVEST_IMPORT_BOMB')
    const shared = `a: &a [${Array(aliasCap / 10 - 2)
      .fill('x')
      .join(',')}]\nb: [${Array(9).fill('*a').join(',')}]\n`
    expect(code(`${shared}interactions: []\n`)).toBe('HARVEST_IMPORT_EMPTY')
  })

  it('an alias of what it stands in', () => {
    expect(code('a: &a [*a]\ninteractions: []\n')).toBe('HARVEST_IMPORT_TOO_DEEP')
  })

  it.each([
    ['JSON', (depth: number) => `${'['.repeat(depth)}${']'.repeat(depth)}`],
    ['YAML in flow', (depth: number) => `a: ${'['.repeat(depth)}${']'.repeat(depth)}`],
    ['YAML in blocks', (depth: number) => `${'- '.repeat(depth)}x`],
    ['JSON that never ends', (depth: number) => '{"a":'.repeat(depth)],
  ])('depth in %s', (_, nested) => {
    expect(code(nested(depthCap + 8))).toBe('HARVEST_IMPORT_TOO_DEEP')
    expect(code(nested(100_000))).toBe('HARVEST_IMPORT_TOO_DEEP')
    expect(code(nested(depthCap - 8))).not.toBe('HARVEST_IMPORT_TOO_DEEP')
  })

  it('a file, a document and a count that are too large', () => {
    const large = { length: fileCap + 1 } as Buffer
    expect(() => readRecordings({ file: 'sample', bytes: large })).toThrow('HARVEST_IMPORT_TOO_LARGE')
    expect(code(`a: ${'x'.repeat(yamlCap)}`)).toBe('HARVEST_IMPORT_TOO_LARGE')
    expect(code(`a: [${'1,'.repeat(yamlTokenCap / 2)}]`)).toBe('HARVEST_IMPORT_TOO_LARGE')
  })
})
