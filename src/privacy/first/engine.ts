import type { TextContext } from '../engine.ts'
import type { Finder, TextRange } from '../types.ts'
import { elementFinder, namedFinder, partFinder } from './named.ts'
import type { FirstNames } from './names.ts'
import { inPercent } from './percent.ts'
import { findTokens, tokenKinds } from './tokens.ts'
import { findUrlPasswords, queryFinder } from './urls.ts'

/** Finds what the first recorders found: a replay of their tapes must find no more, and no less. Nothing here changes. */
export function firstFinder(
  isOn: (kind: string) => boolean,
  names: FirstNames,
  { first, personal }: TextContext,
): Finder {
  // Each with a character without which it finds nothing, where there is one: a look for it costs next to nothing.
  const finders: readonly (readonly [sign: string, finder: Finder])[] = [
    ...first,
    ['', only(tokenKinds, isOn, findTokens)],
    ...personal,
    ...(isOn('url-password') ? [['@', findUrlPasswords] as const] : []),
    ...(isOn('secret')
      ? ([
          ['=', queryFinder(names)],
          ['', namedFinder(names)],
          ['-', partFinder(names)],
          ['<', elementFinder(names)],
        ] as const)
      : []),
  ]
  const find: Finder = (text) => {
    // Most texts hold nothing: then no list is made.
    let found: TextRange[] | undefined
    for (const [sign, finder] of finders) {
      if (sign !== '' && !text.includes(sign)) continue
      const spans = finder(text)
      if (spans.length > 0) found = found === undefined ? [...spans] : [...found, ...spans]
    }
    return found ?? none
  }
  return (text) => {
    const found = find(text)
    if (!text.includes('%')) return found
    const inside = inPercent(text, find)
    return inside.length === 0 ? found : [...found, ...inside]
  }
}

const none: readonly TextRange[] = []

function only(kinds: readonly string[], isOn: (kind: string) => boolean, find: Finder): Finder {
  if (kinds.every(isOn)) return find
  return (text) => find(text).filter(({ kind }) => isOn(kind))
}
