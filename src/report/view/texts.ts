import { grouped } from '../../errors/words.ts'
import type { Ref } from './types.ts'

/** The texts of a report, each once. */
export class Texts {
  readonly #all: string[] = []
  readonly #known = new Map<string, Ref>()

  add(text: string): Ref {
    const known = this.#known.get(text)
    if (known !== undefined) return known
    this.#all.push(text)
    this.#known.set(text, this.#all.length - 1)
    return this.#all.length - 1
  }

  get all(): readonly string[] {
    return this.#all
  }
}

/** Characters of JSON a report may hold, unless all of it is asked for. */
export const maxCharacters = 25 * 1024 * 1024
/** Of a text that is cut, the beginning and the end that stay. */
const longest = 64 * 1024

/** Texts of a report that would be too large, the long ones cut in their middle. */
export function cutTexts(texts: readonly string[]): {
  readonly texts: readonly string[]
  readonly cut: { readonly texts: number; readonly characters: number }
} {
  let [count, characters] = [0, 0]
  const half = longest / 2
  const short = texts.map((text) => {
    if (text.length <= longest) return text
    const left = text.length - longest
    count++
    characters += left
    return `${text.slice(0, half)}\n⋯ ${grouped(left)} characters are left out of this report ⋯\n${text.slice(-half)}`
  })
  return { texts: short, cut: { texts: count, characters } }
}
