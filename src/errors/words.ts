/**
 * A count with its thousands apart: `1,204`.
 *
 * By hand: the first number that `Intl` writes makes Node load what it knows of languages, 17 ms.
 */
export function grouped(count: number): string {
  return String(count).replace(/(?<=^\d+)(?=(?:\d{3})+$)/g, ',')
}

/** `1 step`, `1,204 steps`. */
export function counted(count: number, noun: string): string {
  return `${grouped(count)} ${noun}${count === 1 ? '' : 's'}`
}

/** The first of many: `a.ts, b.ts, c.ts, and 2 more`. */
export function firstNames(names: readonly string[]): string {
  return `${names.slice(0, 3).join(', ')}${names.length > 3 ? `, and ${names.length - 3} more` : ''}`
}

/** The option that gives a run twice the time it had, of why it was stopped: `no answer within 60000 ms`. */
export function twiceTheTime(reason: unknown): string {
  const [, ms] = /(\d+) ms\b/.exec(reason instanceof Error ? reason.message : String(reason)) ?? []
  return `--timeout ${ms === undefined ? '5m' : `${Math.ceil((2 * Number(ms)) / 1_000)}s`}`
}

/** Words as a shell reads them: blanks part them, quotes keep them together, a backslash takes the next letter as it is. */
export function shellWords(text: string): { readonly words: readonly string[]; readonly unclosed?: string } {
  const words: string[] = []
  let word: string | undefined
  // Of `$'…'` the quote is `$`.
  let quote: string | undefined
  for (let at = 0; at < text.length; at++) {
    const character = text[at] ?? ''
    if (quote !== undefined) {
      if (character === (quote === '$' ? "'" : quote)) quote = undefined
      else if (character === '\\' && quote === '$') {
        const [escape = ''] = /^\\(?:x[\da-fA-F]{1,2}|u[\da-fA-F]{1,4}|U[\da-fA-F]{1,8}|.)/s.exec(text.slice(at)) ?? []
        word = (word ?? '') + unescaped(escape.slice(1))
        at += escape.length - 1
      } else if (character === '\\' && quote === '"' && /["\\]/.test(text[at + 1] ?? ''))
        word = (word ?? '') + text[++at]
      else word = (word ?? '') + character
    } else if (/["']/.test(character)) {
      quote = character
      word ??= ''
    } else if (text.startsWith("$'", at)) {
      quote = '$'
      word ??= ''
      at++
    } else if (/\s/.test(character)) {
      if (word !== undefined) words.push(word)
      word = undefined
    } else word = (word ?? '') + (character === '\\' ? (text[++at] ?? '') : character)
  }
  const all = word === undefined ? words : [...words, word]
  return quote === undefined ? { words: all } : { words: all, unclosed: quote === '$' ? "'" : quote }
}

function unescaped(escape: string): string {
  if (escape.length > 1) return String.fromCodePoint(Number.parseInt(escape.slice(1), 16))
  return { n: '\n', t: '\t', r: '\r' }[escape] ?? escape
}
