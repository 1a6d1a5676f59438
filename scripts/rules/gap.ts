import { createRedactor } from '../../src/privacy/index.ts'
import { drawn } from './draw.ts'

/** One rule of a list: what it is called, and its pattern in RE2. */
export interface ForeignRule {
  readonly id: string
  readonly pattern: string
}

/** The rules of a TOML file that have an `id` and a `regex` between three quotes. */
export function readRules(toml: string): readonly ForeignRule[] {
  return toml.split('[[rules]]').flatMap((block): ForeignRule[] => {
    const id = /^\s*id\s*=\s*"([^"]+)"/m.exec(block)?.[1]
    const pattern = /^\s*regex\s*=\s*(?:'''([^]*?)'''|"((?:[^"\\]|\\.)*)")/m.exec(block)
    const source = pattern?.[1] ?? pattern?.[2]
    return id === undefined || source === undefined ? [] : [{ id, pattern: source }]
  })
}

export interface Gaps {
  /** Rules of which a string could be drawn. */
  readonly drawn: number
  readonly undrawable: readonly string[]
  /** Rules whose string went through as it was. */
  readonly missed: readonly { readonly id: string; readonly text: string }[]
}

/** Draws a string of each rule and looks whether our finders replace something in it. */
export function gapsOf(rules: readonly ForeignRule[], seed: number): Gaps {
  const undrawable: string[] = []
  const missed: { id: string; text: string }[] = []
  for (const { id, pattern } of rules) {
    const text = drawn(pattern, seed)
    if (text === undefined) undrawable.push(id)
    else if (createRedactor().text(text) === text) missed.push({ id, text })
  }
  return { drawn: rules.length - undrawable.length, undrawable, missed }
}
