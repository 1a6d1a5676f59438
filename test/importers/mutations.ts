import fc from 'fast-check'
import { gzipSync } from 'node:zlib'
import { parse, stringify } from 'yaml'
import { HarvestError } from '../../src/errors/index.ts'
import { type ImportFormat, importFormats, importRecordings } from '../../src/importers/index.ts'
import { parseTape, serializeTape } from '../../src/tape/index.ts'
import { samples } from './samples.ts'

/** A recording with mistakes in it. */
export interface Mutant {
  readonly sample: ImportFormat
  readonly bytes: Buffer
  /** Told to the importer; absent: it finds out. */
  readonly format?: ImportFormat
}

const ways = ['put', 'drop', 'twice', 'rename', 'wrap'] as const

const pieces = [
  ...['', '\0', '[', '{', '"', "'", '&a ', '*a', '!!python/x ', '!!binary ', '? ', '- ', ': ', '\n', '|\n', '>\n'],
  ...['---\n', '<', '\\u0000', '-1', '1e999', 'null', '~', '9'.repeat(30), '\ud800', '__proto__', '\u2028', '\t', ','],
  ...['#', '%YAML 1.1\n', '<<: *a\n', '\r', '\\', '[['.repeat(100)],
]

const encodings = ['bom', 'utf16', 'latin1', 'gzip', 'broken gzip', 'crlf'] as const

/** Recordings of all formats with mistakes in values, structure, text, bytes, length and encoding. */
export const mutants: fc.Arbitrary<Mutant> = fc
  .record({
    sample: fc.constantFrom(...importFormats),
    // One kind of mistake in most mutants: with all of them at once nothing gets further than the first lines.
    values: seldom(3, fc.array(valueMutation(), { minLength: 1, maxLength: 3 })),
    texts: seldom(2, fc.array(textMutation(), { minLength: 1, maxLength: 3 })),
    bytes: seldom(1, fc.array(fc.tuple(place(), fc.integer({ min: 0, max: 255 })), { minLength: 1, maxLength: 2 })),
    cut: seldom(1, place()),
    encoding: seldom(1, fc.constantFrom(...encodings)),
    format: seldom(1, fc.constantFrom(...importFormats)),
  })
  .map(({ sample, values, texts, bytes, cut, encoding, format }) => {
    const before = values === undefined ? samples[sample] : withValues(samples[sample], values)
    const text = (texts ?? []).reduce(mutateText, before)
    const changed = Buffer.from(text.slice(0, cut === undefined ? undefined : Math.floor(cut * text.length)))
    for (const [at, byte] of bytes ?? []) if (changed.length > 0) changed[Math.floor(at * changed.length)] = byte
    return {
      sample,
      bytes: encoding === undefined ? changed : encoded(changed, encoding),
      ...(format === undefined ? {} : { format }),
    }
  })

/** So many times in ten. */
function seldom<T>(weight: number, arbitrary: fc.Arbitrary<T>): fc.Arbitrary<T | undefined> {
  return fc.oneof({ weight: 10 - weight, arbitrary: fc.constant(undefined) }, { weight, arbitrary })
}

/**
 * What becomes of a file: the code of the refusal, or `imported`.
 *
 * @throws Error when import throws anything but a refusal that says where, or makes a tape that cannot be read
 */
export function fateOf({ bytes, format }: Omit<Mutant, 'sample'>): string {
  const options = { file: 'sample', bytes, agent: 'desk', id: (name?: string) => name ?? 'sample' }
  try {
    const { tapes } = importRecordings({ ...options, ...(format === undefined ? {} : { format }) })
    for (const { header, events, close } of tapes) parseTape(serializeTape(header, events, close), 'sample')
    return 'imported'
  } catch (error) {
    if (!HarvestError.is(error) || !error.code.startsWith('HARVEST_IMPORT_')) throw error
    const { file = '', at } = error.facts.where ?? {}
    const isPlaced = /^sample(:\d+|, byte \d+)$/.test(file) || (file === 'sample' && at !== undefined)
    if (!isPlaced && !(file === 'sample' && ofWholeFiles.has(error.code)))
      throw new Error(`it is not said where: ${String(error)}`, { cause: error })
    return error.code
  }
}

/** What is said of a file has no place in it. */
const ofWholeFiles: ReadonlySet<string> = new Set([
  'HARVEST_IMPORT_UNKNOWN',
  'HARVEST_IMPORT_EMPTY',
  'HARVEST_IMPORT_SEVERAL',
])

function place(): fc.Arbitrary<number> {
  return fc.double({ min: 0, max: 1, noNaN: true, maxExcluded: true })
}

function oddValues(): readonly unknown[] {
  const deep = (depth: number): unknown => Array.from({ length: depth }).reduce((inner) => [inner], 'x' as unknown)
  const odd = [null, true, 0, -1, 1.5, 1e21, 2 ** 53, '', ' ', 'x', '-', '🙂', '\ud800', '\0', '1970', 'constructor']
  const texts = ['x'.repeat(5_000), '9'.repeat(500), '['.repeat(300), '{"a":'.repeat(300), 'http://', 'data: {', '<A>']
  return [
    ...odd,
    ...texts,
    [],
    {},
    [null],
    [[]],
    [{}],
    { '': '' },
    { __proto__: null, a: { b: 1 } },
    deep(40),
    deep(200),
  ]
}

type ValueMutation = readonly [at: number, value: unknown, way: (typeof ways)[number]]

function valueMutation(): fc.Arbitrary<ValueMutation> {
  return fc.tuple(place(), fc.constantFrom(...oddValues()), fc.constantFrom(...ways))
}

function withValues(text: string, list: readonly ValueMutation[]): string {
  const mutated = (document: unknown): unknown =>
    list.reduce((root, mutation) => mutateValue(root, mutation), structuredClone(document))
  try {
    if (/^\s*[[{]/.test(text)) {
      const lines = text.trim().split('\n')
      return lines.map((line) => JSON.stringify(mutated(JSON.parse(line)))).join('\n')
    }
    return stringify(mutated(parse(text, { logLevel: 'silent' })))
  } catch {
    // No document, or one that cannot be written: its text is what can be mutated.
    return text
  }
}

/** Changes one value of a tree, of those counted from the root. */
function mutateValue(root: unknown, [at, odd, way]: ValueMutation): unknown {
  const holders: { readonly holder: Record<string, unknown>; readonly key: string }[] = []
  const gather = (value: unknown): void => {
    if (typeof value !== 'object' || value === null || value instanceof Uint8Array) return
    for (const key of Object.keys(value)) {
      holders.push({ holder: value as Record<string, unknown>, key })
      gather((value as Record<string, unknown>)[key])
    }
  }
  gather(root)
  const found = holders[Math.floor(at * holders.length)]
  if (found === undefined) return odd
  const { holder, key } = found
  const before = holder[key]
  if (way === 'put') holder[key] = odd
  else if (way === 'wrap') holder[key] = [before]
  else if (way === 'twice') holder[`${key}2`] = before
  else {
    delete holder[key]
    if (way === 'rename') holder[String(odd).slice(0, 20)] = before
  }
  return root
}

interface TextMutation {
  readonly at: number
  readonly drop: number
  readonly put: string
}

function textMutation(): fc.Arbitrary<TextMutation> {
  return fc.record({
    at: place(),
    drop: fc.oneof(fc.constant(0), fc.integer({ min: 1, max: 40 })),
    put: fc.oneof(fc.constantFrom(...pieces), fc.string({ maxLength: 6, unit: 'binary' })),
  })
}

function mutateText(text: string, { at, drop, put }: TextMutation): string {
  const start = Math.floor(at * text.length)
  return text.slice(0, start) + put + text.slice(start + drop)
}

function encoded(bytes: Buffer, encoding: (typeof encodings)[number]): Buffer {
  const text = bytes.toString('utf8')
  switch (encoding) {
    case 'bom':
      return Buffer.from(`\ufeff${text}`)
    case 'utf16':
      return Buffer.from(`\ufeff${text}`, 'utf16le')
    case 'latin1':
      return Buffer.from(`${text}é`, 'latin1')
    case 'crlf':
      return Buffer.from(text.replaceAll('\n', '\r\n'))
    case 'gzip':
      return gzipSync(bytes)
    case 'broken gzip':
      return gzipSync(bytes).subarray(0, -9)
    default:
      return encoding satisfies never
  }
}
