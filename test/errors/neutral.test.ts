import { describe, expect, it } from 'vitest'
import fc from 'fast-check'
import { neutral, neutralLine } from '../../src/errors/index.ts'

describe('text from a tape on a terminal', () => {
  it.each([
    ['an escape sequence', '\u001b[2Jgone', '\\x1b[2Jgone'],
    ['a C1 sequence', '\u009b2J', '\\x9b2J'],
    ['a terminal link', '\u001b]8;;http://x\u0007y', '\\x1b]8;;http://x\\x07y'],
    ['a carriage return that overwrites the line', 'bad\rgood', 'bad\n| good'],
    ['a direction override', 'a\u202egpj.exe', 'a\\u202egpj.exe'],
    ['an invisible tag', 'a\u{e0041}', 'a\\u{e0041}'],
    ['a letter that is not seen', 're\u3164fund', 're\\u3164fund'],
    ['half a surrogate pair', 'a\ud83d', 'a\\ud83d'],
    ['a workflow command', '::error::forged', '\\x3a:error::forged'],
    ['a workflow command further down', 'a\n  ::stop-commands::x', 'a\n|   \\x3a:stop-commands::x'],
    ['an old workflow command', 'see ##[error]x', 'see \\x23#[error]x'],
    ['a pipeline command', '##VSO[task.setvariable]x', '\\x23#VSO[task.setvariable]x'],
  ])('%s is shown, not obeyed', (_, text, shown) => {
    expect(neutral(text)).toBe(shown)
  })

  it.each(['refund €25 — ok', '日本語', '👩‍👩‍👧 é ❤️', 'a::b', '# heading', '{"a": [1]}'])(
    '%s stays as it is',
    (text) => {
      expect(neutral(text)).toBe(text)
    },
  )

  it('for every text, nothing a terminal acts on is left and a second pass changes only the line marks', () => {
    fc.assert(
      fc.property(fc.string({ unit: 'binary' }), (text) => {
        const shown = neutral(text)
        expect(shown).not.toMatch(/[\u0000-\u0009\u000b-\u001f\u007f-\u009f\u202a-\u202e\u2066-\u2069]/)
        expect(neutral(shown)).toBe(shown.replaceAll('\n', '\n| '))
      }),
    )
  })

  it('for every text, one line is one line of at most the asked length', () => {
    fc.assert(
      fc.property(fc.string({ unit: 'binary', maxLength: 300 }), fc.integer({ min: 1, max: 200 }), (text, max) => {
        const line = neutralLine(text, max)
        expect(line).not.toContain('\n')
        expect(line.length).toBeLessThanOrEqual(max)
      }),
    )
  })

  it('a long text is cut with an ellipsis and a line break becomes a mark', () => {
    expect(neutralLine('first\n  second', 40)).toBe('first⏎second')
    expect(neutralLine('abcdefghij', 5)).toBe('abcd…')
  })
})
