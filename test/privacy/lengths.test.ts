import { expect, test } from 'vitest'
import { ninthFinders } from '../../src/privacy/earlier.ts'
import { createRedactor, scan } from '../../src/privacy/index.ts'
import { work } from '../../src/privacy/work.ts'

/*
 * Binary formats write the length of a text before it and the tag of the next field behind it. Both may be letters.
 */
const alphabet = 'ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789'
const tokenOf = (head: string, length: number): string =>
  head + Array.from({ length: length - head.length }, (_, at) => alphabet[(at * 37 + length * 11) % 62]).join('')

const formats: Readonly<Record<string, (token: string) => readonly number[]>> = {
  protobuf: ({ length }) => [0x0a, ...varint(length)],
  'protobuf under a tag that is a letter': ({ length }) => [0x08, 0x01, 0x62, ...varint(length)],
  MessagePack: ({ length }) => [0x81, 0xa1, 0x78, 0xd9, length],
  'CBOR, a text': ({ length }) => (length < 24 ? [0xa1, 0x61, 0x78, 0x60 + length] : [0xa1, 0x61, 0x78, 0x78, length]),
  'CBOR, bytes': ({ length }) => (length < 24 ? [0xa1, 0x61, 0x78, 0x40 + length] : [0xa1, 0x61, 0x78, 0x58, length]),
  Avro: ({ length }) => [0x02, ...varint(2 * length)],
  'Thrift, binary': ({ length }) => [0x0b, 0, 1, 0, 0, 0, length],
  BSON: ({ length }) => [0x02, 0x78, 0, length + 1, 0, 0, 0],
}

function varint(length: number): readonly number[] {
  return length < 128 ? [length] : [(length & 127) | 128, length >> 7]
}

const tokens = [
  ...[45, 48, 57, 65, 77, 90, 97, 108, 116, 122].map((length) => tokenOf('sk-proj-', length)),
  tokenOf('ghp_', 40),
  tokenOf('glpat-', 26),
  `AKIA${'Q7WX'.repeat(4)}`,
  tokenOf('sk-ant-api03-', 108),
]

/** In a body, among UTF-8, and in the value of a tool. */
function left(bytes: Buffer, token: string): string[] {
  const found: string[] = []
  const body = Buffer.concat(createRedactor().chunks([bytes]) as Buffer[])
  if (body.includes(token) || body.length !== bytes.length) found.push('in a body')
  const value = { $type: 'bytes', class: 'Buffer', base64: bytes.toString('base64') }
  const { base64 } = createRedactor().json(value) as { base64: string }
  if (Buffer.from(base64, 'base64').includes(token)) found.push('in a value')
  return found
}

test.each(Object.keys(formats))(
  'in %s a token is found behind its length and before a tag, both of which may be letters',
  (name) => {
    for (const token of tokens)
      for (const next of name === 'BSON' ? [0] : [0x12, 0x6a, 0x72, 0x39]) {
        const bytes = Buffer.from([...formats[name]!(token), ...Buffer.from(token), next, 2, 0xff, 0xfe, 0, 0])
        expect([token.length, next, ...left(bytes, token)]).toEqual([token.length, next])
      }
  },
)

test('a token is found in a message of protobuf that is UTF-8 by chance', () => {
  for (const token of tokens)
    for (const tag of [0x0a, 0x12, 0x22, 0x62]) {
      const text = Buffer.from([tag, ...varint(token.length), ...Buffer.from(token)]).toString()
      expect(createRedactor().text(text)).not.toContain(token)
    }
})

test('a token at the beginning of a text is found behind the length of the text', () => {
  for (const length of [108, 110, 115]) {
    const said = `${tokenOf('ghp_', 40)} ${'is my key, for all of the repositories, so keep it '.repeat(3)}`.slice(
      0,
      length,
    )
    const bytes = Buffer.from([0x81, 0xa1, 0x78, 0xd9, length, ...Buffer.from(said), 0xa1])
    expect(left(bytes, tokenOf('ghp_', 40))).toEqual([])
  }
})

test('in a text, a letter that would be the length of what stands behind it is no border', () => {
  const text = `about xsk-proj-${'a1B2'.repeat(28)} and ${String.fromCharCode(40)}`
  expect(createRedactor().text(text)).toBe(text)
})

test('each length that is tried is counted by the characters behind it: a text that is no bytes has none', () => {
  const count = 500
  const costOf = (text: string): number => {
    scan(text)
    return work.done
  }
  for (const head of ['AKIA', 'eyJ']) {
    const heads = `z${head}`.repeat(count)
    // The letter before each head may be a length, itself or half of it: 122 and 61 characters.
    const least = 4 + (122 >> 3) + 4 + (61 >> 3)
    expect(costOf(`\x0f${heads}`) - costOf(`.${heads}`)).toBeGreaterThan((count - 122) * least)
  }
})

test('a tape of the ninth version is read as it was recorded', () => {
  const token = tokenOf('sk-ant-api03-', 108)
  const bytes = Buffer.from([0x0a, 108, ...Buffer.from(token), 0x12, 2, 0xff, 0xfe])
  expect(Buffer.concat(createRedactor({}, { finders: ninthFinders }).chunks([bytes]) as Buffer[]).equals(bytes)).toBe(
    true,
  )
})

test('a token that goes on behind what may be its length is found whole', () => {
  const token = tokenOf('sk-proj-', 60)
  expect(createRedactor().text(`\n ${token}`)).toBe('\n redacted-openai-key-1')
  expect(createRedactor().text(`\n,${token}`)).toBe('\n,redacted-openai-key-1')
})
