import { describe, expect, it } from 'vitest'
import fc from 'fast-check'
import { wordDiff } from '../../src/errors/word-diff.ts'

const counted = (count: number, word: (i: number) => string): string =>
  Array.from({ length: count }, (_, i) => word(i)).join(' ')

describe('a word diff', () => {
  it.each([
    [
      'a number in a sentence has three words around it',
      'You may refund at most 100 EUR without asking a person.',
      'You may refund at most 1000 EUR without asking a person.',
      '… refund at most [-100-] {+1000+} EUR without asking …',
    ],
    [
      'a parameter that left a query',
      'customer=C-7&month=2026-03&page=1',
      'month=2026-03&page=1',
      '[-customer=C-7&-] month=2026-03&page=1',
    ],
    ['a field of JSON', '{"total":25,"to":"A"}', '{"total":2500,"to":"A"}', '{"total": [-25-] {+2500+},"to":"A"}'],
    ['words side by side are one change', 'never refund it', 'always pay it', '[-never refund-] {+always pay+} it'],
    ['a sentence more', 'Be kind.', 'Be kind. Be brief.', 'Be kind. {+Be brief.+}'],
    ['a script without blanks', '最大100ユーロまで', '最大1000ユーロまで', '最大 [-100-] {+1000+} ユーロまで'],
    ['an empty text', '', 'x', '[-""-] {+x+}'],
    ['a text that became empty', 'x', '', '[-x-] {+""+}'],
    ['a blank text', '  ', ' ', '[-␣␣-] {+␣+}'],
    ['a blank more', 'a b', 'a  b', 'a [-␣-] {+␣␣+} b'],
    ['a line break for a blank', 'a b', 'a\nb', 'a [-␣-] {+⏎+} b'],
    ['a blank that does not break', 'a b', 'a\u00a0b', 'a [-␣-] {+\\u00a0+} b'],
    ['a letter of another script', 'pay paypal now', 'pay p\u0430ypal now', 'pay [-paypal-] {+p\\u0430ypal+} now'],
    ['another composition of a letter', 'caf\u00e9', 'cafe\u0301', '[-caf\\u00e9-] {+cafe\\u0301+}'],
    ['a text that would move the cursor', 'a b', 'a \u001b[2Jb', 'a [-b-] {+\\x1b[2Jb+}'],
    ['equal texts', 'a b', 'a b', ''],
  ])('%s', (_, before, now, shown) => {
    expect(wordDiff(before, now)).toBe(shown)
  })

  it('three places are shown, and how many more there are', () => {
    const before = counted(300, (i) => `word${i}`)
    const now = counted(300, (i) => (i % 20 === 5 ? `other${i}` : `word${i}`))
    expect(wordDiff(before, now)).toBe(
      '… word2 word3 word4 [-word5-] {+other5+} word6 word7 word8 … word22 word23 word24 [-word25-] {+other25+} ' +
        'word26 word27 word28 … word42 word43 word44 [-word45-] {+other45+} word46 word47 word48 … and 12 more places',
    )
  })

  it('one changed letter in a text without blanks is seen', () => {
    const text = (letter: string): string => `${'x'.repeat(5000)}${letter}${'y'.repeat(5000)}`
    expect(wordDiff(text('a'), text('b'))).toMatch(/^\[-…x{12}ay+…y+-\] \{\+…x{12}by+…y+\+\}$/)
  })

  it('a text written anew shows the beginning and the end of both', () => {
    const diff = wordDiff(
      counted(3000, (i) => `word${i}`),
      counted(3000, (i) => `other${i}`),
    )
    expect(diff).toMatch(/^\[-word0 .*….* word2999-\] \{\+other0 .*….* other2999\+\}$/)
  })

  const words = fc.array(fc.constantFrom('a', 'b', ' ', '\n', 'refund', '100', '.', '{"', 'é', '日', '\ud800', '::x'), {
    maxLength: 60,
  })

  it('for every two texts, it is one line of at most 600 characters, empty only when they are equal', () => {
    fc.assert(
      fc.property(words, words, fc.integer({ min: 1, max: 30 }), (before, now, times) => {
        const [a, b] = [before.join('').repeat(times), now.join('').repeat(times)]
        const diff = wordDiff(a, b)
        expect(diff).not.toContain('\n')
        expect(diff.length).toBeLessThanOrEqual(600)
        expect(diff === '').toBe(a === b)
        expect(a === b || /\[-|\{\+/.test(diff)).toBe(true)
      }),
      { seed: 13, numRuns: 500 },
    )
  })

  it('for every change of one word, the old and the new one stand in the brackets', () => {
    fc.assert(
      fc.property(
        fc.array(fc.stringMatching(/^[a-z]{2,8}$/), { minLength: 1, maxLength: 60 }),
        fc.nat(),
        (text, at) => {
          const index = at % text.length
          const now = text.with(index, `NEW`)
          expect(wordDiff(text.join(' '), now.join(' '))).toContain(`[-${text[index]}-] {+NEW+}`)
        },
      ),
      { seed: 13, numRuns: 200 },
    )
  })
})
