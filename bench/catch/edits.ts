/** An edit of an agent's source: each text is there exactly once, and is replaced. */
export interface Edit {
  /** What was done, as a reviewer would say it. Unique for its agent. */
  readonly name: string
  readonly isRegression: boolean
  readonly changes: readonly Change[]
}

export type Change = readonly [before: string, after: string]

/** An edit after which the agent decides or does something else in the recorded situation. */
export function regression(name: string, ...changes: readonly Change[]): Edit {
  return { name, isRegression: true, changes }
}

/** An edit after which the agent decides and does the same in every situation of its world. */
export function benign(name: string, ...changes: readonly Change[]): Edit {
  return { name, isRegression: false, changes }
}

/**
 * The source after an edit.
 *
 * @throws RangeError when a text to be replaced is missing or stands there more than once
 */
export function applied(source: string, { name, changes }: Edit): string {
  return changes.reduce((text, [before, after]) => {
    const count = text.split(before).length - 1
    if (count !== 1) throw new RangeError(`"${name}" replaces a text that is there ${count} times: ${before}`)
    return text.replace(before, () => after)
  }, source)
}
