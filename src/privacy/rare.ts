/** A text to look for, and the character of it that is looked for first. */
export interface Needle {
  readonly text: string
  readonly offset: number
}

export function needleOf(text: string): Needle {
  return { text, offset: rarest(text) }
}

/**
 * Whether the needle stands in a text. Looks for its rarest character: `redacted-` by its dash is found to be missing
 * many times sooner than by its first letter, which stands in every line.
 */
export function holdsNeedle(text: string, { text: needle, offset }: Needle): boolean {
  const pivot = needle[offset]!
  let tries = 0
  for (let at = text.indexOf(pivot, offset); at !== -1; at = text.indexOf(pivot, at + 1)) {
    if (text.startsWith(needle, at - offset)) return true
    // Here the character is not rare.
    if (++tries === 256) return text.includes(needle, at - offset)
  }
  return false
}

/** Index of the character that is the least frequent in text and JSON. */
export function rarest(text: string): number {
  // Letters of English text, most frequent first; what is not among them is rarer.
  const frequent = ' etaoinshrdlucmfwypvbgkxjqz0123456789"'
  const rank = (character: string): number => {
    const at = frequent.indexOf(character)
    return at === -1 ? 100 : at
  }
  let best = 0
  for (let at = 1; at < text.length; at++) if (rank(text[at]!) > rank(text[best]!)) best = at
  return best
}
