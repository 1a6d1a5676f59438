import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { firstDifference, shownValues } from '../../src/match/difference.ts'
import { wordDiff } from '../../src/errors/word-diff.ts'
import type { Json } from '../../src/tape/index.ts'

describe('two values that differ are shown as two texts that differ', () => {
  test.each([
    [null, ''],
    [null, 'null'],
    [5, '5'],
    [undefined, '(absent)'],
    ['', '  '],
    [true, 'true'],
    [[], '[]'],
  ] as const)('%j and %j', (one, other) => {
    const [before, now] = shownValues(one, other)
    expect(before).not.toBe(now)
    for (const text of [before, now]) expect(text.trim()).not.toBe('')
    expect(wordDiff(before, now)).not.toBe('')
  })

  test('any two JSON values, absent ones too', () => {
    const value = fc.oneof(
      fc.jsonValue(),
      fc.constantFrom('null', 'true', '5', '', ' ', '(absent)', '{}'),
      fc.constant(undefined),
    )
    fc.assert(
      fc.property(value, value, (one, other) => {
        fc.pre(JSON.stringify(one) !== JSON.stringify(other))
        const [before, now] = shownValues(one as Json | undefined, other as Json | undefined)
        expect(before).not.toBe(now)
        expect([before.trim(), now.trim()]).not.toContain('')
      }),
    )
  })
})

test('a message whose content was null and is an empty text shows both', () => {
  const asked = (content: Json) => ({
    messages: [
      { role: 'user', content: 'hi' },
      { role: 'assistant', content },
    ],
  })
  expect(firstDifference(asked(null), asked(''))).toEqual({ path: 'messages[1].content', recorded: 'null', live: '""' })
})
