import fc from 'fast-check'
import { expect, test } from 'vitest'
import { createRedactor } from '../../src/privacy/index.ts'
import type { Json } from '../../src/tape/index.ts'

const name = fc.oneof(
  fc.constantFrom('Password:', 'password: ', 'api_key: ', 'secret=', 'Old token:', 'pin=', 'passwd :', 'page', 'note'),
  fc
    .tuple(fc.constantFrom('user', 'x', 'the '), fc.constantFrom('password:', 'token=', 'secret: '))
    .map(([a, b]) => a + b),
)
const leaf = fc.oneof(
  fc.constantFrom<Json>(4711, -1.5, 12_345_678, 1e21, 2.5e-7, true, false, null, 'plain', 'hunter22x', ''),
  fc.integer(),
)
const value = fc.letrec<{ json: Json }>((tie) => ({
  json: fc.oneof(
    { maxDepth: 3 },
    leaf,
    fc.array(tie('json'), { maxLength: 3 }),
    fc.dictionary(name, tie('json'), { maxKeys: 4 }),
  ),
})).json

/** What stays, no matter what is redacted: how things are nested, and of which kind they are. */
function shapeOf(json: Json): unknown {
  if (Array.isArray(json)) return json.map(shapeOf)
  if (typeof json !== 'object' || json === null)
    return typeof json === 'string' || typeof json === 'number' ? 'value' : json
  return Object.values(json).map(shapeOf)
}

test('for fields whose names end with a sign behind the name of a secret, what is redacted is JSON of the same shape', () => {
  fc.assert(
    fc.property(value, fc.constantFrom(undefined, 1), fc.boolean(), (json, indent, isNested) => {
      const text = JSON.stringify(json, undefined, indent)
      const given = isNested ? JSON.stringify({ note: text }) : text
      const read = JSON.parse(createRedactor().text(given)) as Json
      const shown = isNested ? (JSON.parse((read as { note: string }).note) as Json) : read
      expect(shapeOf(shown)).toEqual(shapeOf(json))
    }),
    { seed: 14, numRuns: 2_000 },
  )
})
