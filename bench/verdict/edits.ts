/**
 * What an edit does to an agent.
 *
 * `meaning`: it asks, does or says something else. `harmless`: every question and every action stays what it was.
 * `question`: nobody would call it a change of meaning, and yet a model reads another text, list or setting.
 */
export type Kind = 'meaning' | 'harmless' | 'question'

/** An edit of an agent's source, or of a file beside it. */
export interface Edit {
  /** As a reviewer would say it. Unique for its agent. */
  readonly name: string
  readonly kind: Kind
  /** What it touches, for the table: `prompt`, `sql`, `header`. */
  readonly of: string
  /** Default `agent.ts`. */
  readonly file?: string
  /** Each text is there exactly once, and is replaced. */
  readonly changes: readonly Change[]
}

export type Change = readonly [before: string, after: string]

type Make = (of: string, name: string, ...changes: readonly Change[]) => Edit

/** Another question, action or message. */
export const meaning: Make = (of, name, ...changes) => ({ name, kind: 'meaning', of, changes })

/** The same questions and actions, written otherwise. */
export const harmless: Make = (of, name, ...changes) => ({ name, kind: 'harmless', of, changes })

/** A harmless change of what a model reads. */
export const question: Make = (of, name, ...changes) => ({ name, kind: 'question', of, changes })

/** The same edits, of another file of the agent. */
export function inFile(file: string, edits: readonly Edit[]): readonly Edit[] {
  return edits.map((edit) => ({ ...edit, file }))
}

/**
 * A text after an edit.
 *
 * @throws RangeError when a text to be replaced is missing, stands there more than once, or stays as it is
 */
export function applied(source: string, { name, changes }: Edit): string {
  return changes.reduce((text, [before, after]) => {
    const count = text.split(before).length - 1
    if (count !== 1) throw new RangeError(`"${name}" replaces a text that is there ${count} times: ${before}`)
    if (before === after) throw new RangeError(`"${name}" replaces a text by itself: ${before}`)
    return text.replace(before, () => after)
  }, source)
}
