const lower = 'abcdefghijklmnopqrstuvwxyz'
const digits = '0123456789'
const alphabets: Readonly<Record<string, string>> = {
  word: lower + lower.toUpperCase() + digits,
  hex: `${digits}abcdef`,
  HEX: `${digits}ABCDEF`,
  lower: lower + digits,
  upper: lower.toUpperCase() + digits,
  digit: digits,
  letter: lower,
  url: `${lower}${lower.toUpperCase()}${digits}_-`,
  base32: `${lower.toUpperCase()}234567`,
  base64: `${lower}${lower.toUpperCase()}${digits}+/`,
}

/** Numbers from 0 to 1, the same for the same seed (xorshift). */
export function numbers(seed: number): () => number {
  let state = (seed * 2_654_435_761 + 88_675_123) >>> 0 || 1
  return () => {
    state ^= state << 13
    state >>>= 0
    state ^= state >>> 17
    state ^= state << 5
    state >>>= 0
    return state / 2 ** 32
  }
}

/** Fills every `<alphabet n>` of a form. A stretch begins and ends with no sign, and has a digit where there is room. */
export function filled(form: string, next: () => number): string {
  return form.replace(/<(\w+) (\d+)>/g, (_, name: string, count: string) => {
    const letters = alphabets[name]
    if (letters === undefined) throw new Error(`no alphabet ${name}`)
    let text = Array.from({ length: Number(count) }, () => letters[Math.floor(next() * letters.length)]!).join('')
    if (text.length > 8 && letters.includes('7') && !/\d/.test(text)) text = `${text.slice(0, 4)}7${text.slice(5)}`
    return text.replace(/^[-_+/]/, 'k').replace(/[-_]$/, 'q')
  })
}
