import fc from 'fast-check'
import { createHash } from 'node:crypto'
import { constants, gzipSync } from 'node:zlib'
import { describe, expect, it } from 'vitest'
import { HarvestError } from '../../src/errors/index.ts'
import { importFormats } from '../../src/importers/index.ts'
import {
  aliasCap,
  aliasCountCap,
  aliasTextCap,
  callCap,
  depthCap,
  digitCap,
  fileCap,
  jsonDense,
  nameCap,
  partCap,
  yamlCap,
  yamlDense,
  yamlLineCap,
  yamlTokenCap,
} from '../../src/importers/limits.ts'
import { readRecordings } from '../../src/importers/read.ts'
import { fateOf, mutants } from './mutations.ts'
import { cassette, imported, samples } from './samples.ts'

/** The long search is scripts/import-mutants.ts. */
const numRuns = 300

describe('whatever a file holds', () => {
  it('for every recording with mistakes in it, import makes a tape or says what is wrong and where', () => {
    fc.assert(
      fc.property(mutants, (mutant) => void fateOf(mutant)),
      { numRuns },
    )
  })

  it('for every sequence of bytes, the same', () => {
    fc.assert(
      fc.property(fc.uint8Array({ maxLength: 200 }), fc.constantFrom(...importFormats), (bytes, format) => {
        expect(fateOf({ bytes: Buffer.from(bytes), format })).toMatch(/HARVEST_IMPORT_/)
      }),
      { numRuns: Math.ceil(numRuns / 4) },
    )
  })

  it('a file that is all but empty is refused as each format, with the reason', () => {
    const contents = [
      '[]',
      '{}',
      '""',
      '0',
      'null',
      '[[]]',
      '[{}]',
      '[null]',
      '{"a":{}}',
      '{"messages":[]}',
      '[]\n[]',
      ' ',
    ]
    for (const format of importFormats)
      for (const content of contents)
        expect(fateOf({ bytes: Buffer.from(content), format }), `${format} ${content}`).toMatch(/HARVEST_IMPORT_/)
  })

  it('a name below something that holds none is missing there', () => {
    expect(() => imported('{\n"interactions": [555]}')).toThrow(/sample:2/)
  })

  it('JSON that breaks off says on which line, whatever the parser says', () => {
    for (const broken of ['[1,\n2,]', '{"a":\n"\\x"}', '[1\n2]', '{"a"\n1}', '[tru,\n1]', '["a\n'])
      expect(() => imported(broken)).toThrow(broken === '[tru,\n1]' || broken === '["a\n' ? /sample:1/ : /sample:2/)
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
    const small = gzipSync(Buffer.alloc(128 * 1024, 'a')).toString('base64')
    expect(code(cassette(`!!binary ${small}`))).toBe('imported')
  })

  it('a body that grows by a little and again by a little, as often as it says', () => {
    // An eighth of the size at first, and almost nothing of that.
    const packed = (text: string): Buffer => gzipSync(text, { strategy: constants.Z_HUFFMAN_ONLY })
    const twice = (size: number): string =>
      cassette(`!!binary ${gzipSync(packed('a'.repeat(size))).toString('base64')}`).replace(
        'headers: {}\n    body',
        'headers: {Content-Encoding: "gzip, gzip"}\n    body',
      )
    expect(code(twice(128 * 1024))).toBe('imported')
    expect(code(twice(800_000))).toBe('HARVEST_IMPORT_BOMB')
  })

  it('many bodies, none of which grows too much by itself', () => {
    const noise = createHash('shake256', { outputLength: 12_000 }).update('noise').digest()
    const body = gzipSync(Buffer.concat([noise, Buffer.alloc(1_000_000)])).toString('base64')
    const [head = '', call = ''] = cassette(`!!binary ${body}`).split(/(?<=interactions:\n)|(?=version: 1)/)
    expect(code(`${head}${call.repeat(2)}`)).toBe('imported')
    expect(code(`${head}${call.repeat(3)}`)).toBe('HARVEST_IMPORT_BOMB')
  })

  it.each(Object.entries(twoCalls))('a body of %s, before the calls behind it are read', (_, holding) => {
    expect(code(holding(bomb))).toBe('HARVEST_IMPORT_BOMB')
    // Without it the call behind is refused.
    expect(code(holding(plain))).toBe('HARVEST_IMPORT_SHAPE')
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

  it('more aliases, or lines of a folded text, than any recording has', () => {
    const aliased = (count: number) =>
      `a: &a x\nb: [${Array(count).fill('*a').join(',')}]\n${' '.repeat(60_000)}\ninteractions: []\n`
    expect(code(aliased(aliasCountCap + 1))).toBe('HARVEST_IMPORT_BOMB')
    expect(code(aliased(aliasCountCap))).toBe('HARVEST_IMPORT_EMPTY')
    const folded = (count: number) => `interactions: []\na: >\n${' x\n'.repeat(count)}`
    expect(code(folded(yamlLineCap))).toBe('HARVEST_IMPORT_TOO_LARGE')
    expect(code(folded(60_000))).toBe('HARVEST_IMPORT_EMPTY')
  })

  it('aliases of a text that is long', () => {
    const repeated = (count: number): string =>
      `a: &a ${'x'.repeat(aliasTextCap / 16)}\nb: [${Array(count).fill('*a').join(',')}]\ninteractions: []\n`
    expect(code(repeated(16))).toBe('HARVEST_IMPORT_EMPTY')
    expect(code(repeated(17))).toBe('HARVEST_IMPORT_BOMB')
  })

  it.each([
    ['JSON', (number: string) => `{"interactions": [${number}]}`],
    ['YAML', (number: string) => `interactions: [${number}]\nx: ${'x'.repeat(yamlTokenCap)}`],
    [
      'YAML, in hexadecimal,',
      (number: string) => `interactions: [0x${number.slice(2)}]\nx: ${'x'.repeat(yamlTokenCap)}`,
    ],
  ])('a number of many digits in %s', (_, holding) => {
    expect(code(holding('1'.repeat(digitCap + 1)))).toBe('HARVEST_IMPORT_BOMB')
    expect(code(holding('1'.repeat(digitCap)))).not.toBe('HARVEST_IMPORT_BOMB')
  })

  it('maps of many names, lists of many items, and parts of any kind in JSON', () => {
    const map = (count: number): string => `{${'"a":1,'.repeat(count - 1)}"b":2}`
    expect(code(map(nameCap + 1))).toBe('HARVEST_IMPORT_TOO_LARGE')
    expect(code(map(nameCap))).toBe('HARVEST_IMPORT_UNKNOWN')
    expect(code(`{"interactions":[${'{},'.repeat(callCap)}{}]}`)).toBe('HARVEST_IMPORT_TOO_LARGE')
    expect(code(`{"fixtures":[${'1,'.repeat(partCap)}1]}`)).toBe('HARVEST_IMPORT_TOO_LARGE')
  })

  it('a number of many digits behind long words, which are none, with its line', () => {
    const words = `${'1'.repeat(digitCap + 5)}x and ${'x1'.repeat(yamlTokenCap)}`
    const text = (digits: number) => `a: ${words}\nb: |\n  ${words}\n\nc: -${'1'.repeat(digits)}.5\ninteractions: []\n`
    expect(code(text(digitCap - 3))).toBe('HARVEST_IMPORT_EMPTY')
    expect(() => imported(text(digitCap))).toThrow(/sample:5\n *problem +a number of more than 400 digits/)
  })

  it('more lines of one call, and more calls, than there can be in YAML, with the line', () => {
    // Before anything is read: what stands behind the list is broken.
    const list = (text: string): string => `interactions:\n- a\n${text}broken: [\n`
    expect(() => imported(list('\n'))).toThrow('HARVEST_IMPORT_SYNTAX')
    expect(() => imported(list('\n'.repeat(yamlLineCap)))).toThrow(/sample:2\n *problem +more than 400000 lines/)
    expect(() => imported(list('- a\n'.repeat(callCap)))).toThrow(/sample:100002\n *problem +more than 100000 calls/)
  })

  it('fewer parts where they are shorter than those of recordings', () => {
    const yaml = (number: string): string => `a: [${`${number},`.repeat(yamlDense.parts / 2)}]\ninteractions: []\n`
    expect(() => imported(yaml('1234'))).toThrow('more than 15000 parts of YAML in 24')
    expect(code(yaml('123456'))).toBe('HARVEST_IMPORT_EMPTY')
    const json = (number: string): string => `{"a":[${`${number},`.repeat(jsonDense.parts)}1]}`
    expect(() => imported(json('12'))).toThrow('more than 1000000 parts of JSON in 3')
    expect(code(json('123'))).toBe('HARVEST_IMPORT_UNKNOWN')
  })

  it('a zero byte, which stands in no text', () => {
    expect(code('interactions: []\n\0')).toBe('HARVEST_IMPORT_UNKNOWN')
  })

  it('a large JSON document by its parts, with the line', () => {
    const text = `{"fixtures":[\n${'1,'.repeat(partCap + 2_000_000)}`
    expect(() => imported(text)).toThrow(/sample:2\n *problem +more than \d+ parts of JSON/)
  })

  it('a duration that is nothing but digits', () => {
    const text = samples['go-vcr'].replace('1m1.5s', `${'1'.repeat(200_000)}x`)
    expect(imported(text).facts.missing).toContain('timings')
  })

  it('an alias of what it stands in', () => {
    expect(code('a: &a [*a]\ninteractions: []\n')).toBe('HARVEST_IMPORT_TOO_DEEP')
  })

  it.each([
    ['JSON', (depth: number) => `${'['.repeat(depth)}${']'.repeat(depth)}`, 8],
    ['YAML in flow', (depth: number) => `a: ${'['.repeat(depth)}${']'.repeat(depth)}\n`, 8],
    ['YAML in blocks', (depth: number) => `${'- '.repeat(depth)}x\n`, 8],
    // Each name and its value count.
    ['YAML in maps', (depth: number) => `${names(depth)} x\n`, depthCap / 2 + 8],
    ['JSON that never ends', (depth: number) => '{"a":'.repeat(depth), 8],
  ])('depth in %s', (kind, nested, less) => {
    expect(code(nested(depthCap + 8))).toBe('HARVEST_IMPORT_TOO_DEEP')
    expect(code(nested(depthCap - less))).not.toBe('HARVEST_IMPORT_TOO_DEEP')
    if (!kind.startsWith('YAML')) return
    const behind = `b: [[{c: [1]}], "["]\nd: |\n  [[\n${`# ${'x'.repeat(98)}\n`.repeat(500)}`
    expect(code(nested(depthCap - less) + behind)).not.toBe('HARVEST_IMPORT_TOO_DEEP')
    expect(code(nested(depthCap + 8) + behind)).toBe('HARVEST_IMPORT_TOO_DEEP')
  })

  it('depth in a long YAML, before its parts are counted', () => {
    const many = `b: [${'1,'.repeat(yamlTokenCap)}]\n`
    expect(code(`a: ${'['.repeat(depthCap + 8)}\n${many}`)).toBe('HARVEST_IMPORT_TOO_DEEP')
    expect(code(`${names(depthCap + 8)} x\n${many}`)).toBe('HARVEST_IMPORT_TOO_DEEP')
    // What was left again is not below what comes next.
    const flat = `${names(depthCap / 2)} x\nb: [${'[[1]],'.repeat(depthCap)}]\n`.repeat(3)
    expect(code(flat + many)).toBe('HARVEST_IMPORT_TOO_LARGE')
  })

  it('a file, a document and a count that are too large', () => {
    const large = { length: fileCap + 1 } as Buffer
    expect(() => readRecordings({ file: 'sample', bytes: large })).toThrow('HARVEST_IMPORT_TOO_LARGE')
    expect(code(`a: ${'x'.repeat(yamlCap)}`)).toBe('HARVEST_IMPORT_TOO_LARGE')
    expect(code(`a: [${'1,'.repeat(yamlTokenCap / 2)}]`)).toBe('HARVEST_IMPORT_TOO_LARGE')
  })
})

const bomb = gzipSync(Buffer.alloc(500_000))
const plain = gzipSync('{}')

/** Two calls: the answer of the first is given, and the second has no method. */
const twoCalls: Readonly<Record<string, (body: Buffer) => string | Buffer>> = {
  vcrpy: (body) =>
    inYaml('interactions', [
      `request: {method: GET, uri: 'https://api.example/'}`,
      `response: {status: {code: 200}, headers: {}, body: {string: !!binary ${body.toString('base64')}}}`,
    ]),
  'ruby-vcr': (body) =>
    inYaml('http_interactions', [
      `request: {method: get, uri: 'https://api.example/'}`,
      `response: {status: {code: 200}, headers: {}, body: {base64_string: ${body.toString('base64')}}}`,
    ]),
  'go-vcr': (body) =>
    inYaml('interactions', [
      `request: {method: GET, url: 'https://api.example/'}`,
      `response: {code: 200, headers: {}, body: !!binary ${body.toString('base64')}}`,
    ]),
  har: (body) =>
    JSON.stringify({
      log: {
        entries: [
          {
            request: { method: 'GET', url: 'https://api.example/', headers: [] },
            response: { status: 200, headers: [], content: { encoding: 'base64', text: body.toString('base64') } },
          },
          { request: {} },
        ],
      },
    }),
  nock: (body) => {
    const rawHeaders = ['Content-Encoding', 'gzip']
    const at = { scope: 'https://api.example', path: '/' }
    return JSON.stringify([{ ...at, method: 'GET', rawHeaders, response: [body.toString('hex')] }, at])
  },
  'undici-snapshot': (body) => {
    const request = { method: 'GET', url: 'https://api.example/' }
    const responses = [{ statusCode: 200, body: body.toString('base64') }]
    return JSON.stringify([{ snapshot: { request, responses } }, { snapshot: { request: {}, responses } }])
  },
  httprr: (body) => {
    const asked = 'GET https://api.example/ HTTP/1.1\r\nHost: api.example\r\n\r\n'
    const answered = Buffer.concat([Buffer.from('HTTP/1.1 200 OK\r\n\r\n'), body])
    const lengths = `httprr trace v1\n${asked.length} ${answered.length}\n${asked}`
    return Buffer.concat([Buffer.from(lengths), answered, Buffer.from('7 7\nnothing')])
  },
}

function inYaml(list: string, [request = '', response = '']: readonly string[]): string {
  return `${list}:\n- ${request}\n  ${response}\n- request: {}\n  response: {}\n`
}

/** Names below each other, each further right. */
function names(depth: number): string {
  return Array.from({ length: depth }, (_, level) => `${' '.repeat(level)}a:`).join('\n')
}
