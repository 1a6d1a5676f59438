import { describe, expect, test } from 'vitest'
import { createRedactor, type Redactor, scan } from '../../src/privacy/index.ts'
import type { Json } from '../../src/tape/index.ts'
import { asField, asPair, asText, personal, type Planted, planted, stillIn } from './planted.ts'

/** Everything a secret may be written in; each gives what is left after the redactor. */
const spellings: Readonly<Record<string, (redactor: Redactor, one: Planted) => string>> = {
  'a sentence': (r, one) => r.text(asText(one)),
  'a field of JSON': (r, one) => r.text(JSON.stringify(asField(one))),
  'a field of a value': (r, one) => JSON.stringify(r.json(asField(one) as Json)),
  'JSON in JSON': (r, one) => r.text(JSON.stringify({ arguments: JSON.stringify(asField(one)) })),
  'a form': (r, one) => r.text(`${pair(one)}&page=1`),
  'the end of a form': (r, one) => r.text(`page=1&${pair(one)}`),
  'a query': (r, one) => r.url(`https://shop.example/?page=1&${pair(one)}`),
  'a query in text': (r, one) => r.text(`see https://shop.example/?page=1&${pair(one)} for it`),
  'JSON in a query': (r, one) => r.text(`/find?q=${encodeURIComponent(JSON.stringify(asField(one)))}`),
  'a multipart form': (r, one) =>
    r.text(`--x\r\nContent-Disposition: form-data; name="${asPair(one)[0]}"\r\n\r\n${one.value}\r\n--x--\r\n`),
  'a header': (r, one) => JSON.stringify(r.headers([[asPair(one)[0], oneLine(one)]])),
  'a header that is kept': (r, one) =>
    JSON.stringify(
      r.headers([
        ['location', `https://shop.example/?${pair(one)}`],
        ['user-agent', one.name === undefined ? oneLine(one) : 'x'],
      ]),
    ),
  YAML: (r, one) => r.text(`user: 1\n${one.name ?? 'note'}: ${yaml(one)}\nlast: 2\n`),
  'an environment file': (r, one) => r.text(`USER=1\n${envName(one)}="${oneLine(one)}"\nLAST=2\n`),
  'a flag and its value': (r, one) => JSON.stringify(r.json(['node', 'a.js', `--${asPair(one)[0]}`, one.value])),
  'a flag with its value': (r, one) => JSON.stringify(r.json(['node', 'a.js', `--${asPair(one)[0]}=${one.value}`])),
  'the command of a child': (r, one) =>
    r.url(
      `stdio:node ${encodeURIComponent(`--${asPair(one)[0]}`)} ${encodeURIComponent(one.value.split('/').at(-1) ?? '')}`,
    ),
  'a command line': (r, one) =>
    r.text(`curl ${one.name === undefined ? `-d '${one.value}'` : `-H '${asText(one)}'`} https://shop.example`),
  'pieces of a stream': (r, one) => inPieces(r, JSON.stringify(asField(one)), (piece) => piece),
  'events of a stream': (r, one) =>
    inPieces(r, asText(one), (content) => `data: ${JSON.stringify({ choices: [{ delta: { content } }] })}\n\n`).replace(
      /data: \{"choices":\[\{"delta":\{"content":"|"\}\}\]\}\n\n/g,
      '',
    ),
}

test('two hundred secrets are planted, of every class that is promised', () => {
  expect(planted.length).toBeGreaterThanOrEqual(200)
  expect(new Set(planted.map(({ core }) => core)).size).toBe(planted.length)
  expect(planted.filter(({ class: name }) => !personal.has(name)).length).toBeGreaterThanOrEqual(200)
})

describe('no planted secret is left', () => {
  test.each(Object.entries(spellings))('in %s', (_, spell) => {
    const left = planted.filter((one) => stillIn(spell(createRedactor(), one)).includes(one))
    const classes = Map.groupBy(left, ({ class: name }) => name)
    expect(Object.fromEntries([...classes].map(([name, missed]) => [name, `${missed.length} left`]))).toEqual({})
  })
})

test('phone numbers are left alone unless they are asked for', () => {
  const text = 'call +49 30 901820 or +1 415-555-0132'
  expect(scan(text)).toEqual([])
  expect(createRedactor({ on: ['phone'] }).text(text)).toBe('call redacted-phone-1 or redacted-phone-2')
})

function pair(one: Planted): string {
  return new URLSearchParams([asPair(one)]).toString()
}

function oneLine({ value }: Planted): string {
  return value.replaceAll('\n', ' ')
}

function yaml({ value }: Planted): string {
  return value.includes('\n') ? `|\n  ${value.replaceAll('\n', '\n  ')}` : value
}

function envName({ name = 'note' }: Planted): string {
  return name.toUpperCase().replaceAll('-', '_')
}

function inPieces(redactor: Redactor, text: string, wrap: (piece: string) => string): string {
  const pieces = (text.match(/[\s\S]{1,7}/g) ?? []).map((piece) => Buffer.from(wrap(piece)))
  return Buffer.concat(redactor.chunks(pieces)).toString()
}
