import fc from 'fast-check'
import { expect, test } from 'vitest'
import { createRedactor, scan } from '../../src/privacy/index.ts'
import { encodeBytes, type Json, serializeTape, type TapeEvent } from '../../src/tape/index.ts'
import { call, closing, exchange, header } from '../tape/make.ts'
import { arbitraryBody, arbitraryText } from './arbitrary.ts'

/*
 * A secret is redacted where it is plain, and looked for again where it is JSON in JSON in JSON: on the line of a
 * tape, by the gate of promotion, in a request that quotes an answer. What one layer lets through, all let through.
 */
const keys = fc.oneof(fc.string(), arbitraryText, fc.constantFrom('password', 'apiKey', 'Authorization', 'note'))
const value = fc.letrec<{ any: Json }>((tie) => ({
  any: fc.oneof(
    { depthSize: 'small' },
    arbitraryText,
    fc.integer(),
    fc.constant(null),
    fc.array(tie('any'), { maxLength: 4 }),
    fc.dictionary(keys, tie('any'), { maxKeys: 4, noNullPrototype: true }),
  ),
})).any

test('for every body, what is redacted is clean and unchanged at any depth of JSON', () => {
  fc.assert(
    fc.property(arbitraryBody, (body) => {
      let text = createRedactor().text(body)
      for (let depth = 0; depth < 3; depth++) {
        expect(scan(text)).toStrictEqual([])
        expect(createRedactor().text(text)).toBe(text)
        text = JSON.stringify({ body: text })
      }
    }),
    { numRuns: 500 },
  )
})

test('for every value, what is redacted is clean at any depth of JSON, and redacts to itself', () => {
  fc.assert(
    fc.property(value, (given) => {
      const redacted = createRedactor().json(given)
      expect(createRedactor().json(redacted)).toStrictEqual(redacted)
      expect(scan(JSON.stringify(redacted))).toStrictEqual([])
      expect(scan(JSON.stringify(JSON.stringify(redacted)))).toStrictEqual([])
    }),
    { numRuns: 500 },
  )
})

test('for every run, the lines of its redacted tape are clean', () => {
  fc.assert(
    fc.property(arbitraryBody, arbitraryBody, value, (request, answer, args) => {
      const redactor = createRedactor()
      const asked = exchange(1, redactor.text(request))
      const chunks = redactor.chunks([Buffer.from(answer)]).map((piece) => [10, 1, encodeBytes(piece)] as const)
      const events: TapeEvent[] = [
        { ...asked, response: { ...asked.response!, chunks } },
        call(50, 'lookup_order', redactor.json(args)),
      ]
      for (const line of serializeTape(header, events, closing).split('\n')) expect(scan(line)).toStrictEqual([])
    }),
    { numRuns: 500 },
  )
})

test.each([
  ['as it is', (text: string) => text],
  ['in JSON', (text: string) => JSON.stringify({ text }).replaceAll('/', '\\/')],
])('what a URL holds, %s, is found as the same wherever an escape follows it', (_, spell) => {
  for (let gap = 0; gap < 300; gap++) {
    const after = `${'tool '.repeat(60).slice(0, gap)}\u001b[0m \\u0041 %41 &quot;`
    const url = createRedactor().text(spell(`https://ada:tr33h0use042Zq@shop.example ${after}`))
    expect(url, String(gap)).toContain('redacted-url-password-1@shop.example')
    expect(scan(url), String(gap)).toStrictEqual([])
  }
})
