import { families, type KindFamily } from './families.ts'
import type { NameTable } from './names.ts'
import { namedTriggers } from './named.ts'
import { nearTriggers } from './near.ts'
import { sqlLiteralTriggers } from './sql-literals.ts'
import { sqlTriggers } from './sql.ts'
import { shapeTriggersOf, tokensOf } from './tokens.ts'
import type { Finder, TextRange } from './types.ts'
import { inViews, Spellings } from './views.ts'
import { type Trigger, Walk } from './walk.ts'

/** A finder, and a character without which it finds nothing; empty without one. */
export type SignedFinder = readonly [sign: string, finder: Finder]

/** What is looked for beside what the engine knows itself. */
export interface TextContext {
  readonly first: readonly SignedFinder[]
  readonly personal: readonly SignedFinder[]
}

/** Finds everything in a text and in what its escapes spell. */
export function finderOfNow(
  isOn: (kind: string) => boolean,
  names: NameTable,
  own: readonly KindFamily[],
  { first, personal, triggers }: TextContext & { readonly triggers: readonly Trigger[] },
): Finder {
  const spellings = new Spellings()
  const walk = new Walk([
    ...spellings.triggers,
    ...[...own, ...families].filter(({ kind }) => isOn(kind)).map(tokensOf),
    ...shapeTriggersOf(isOn),
    ...(isOn('secret') ? [...namedTriggers(names), ...sqlTriggers(names), ...sqlLiteralTriggers(names)] : []),
    ...nearTriggers(isOn),
    ...triggers,
  ])
  const rest = [...first, ...personal]
  const find: Finder = (text) => {
    const found: TextRange[] = []
    walk.find(text, found)
    for (const [sign, finder] of rest)
      if (sign === '' || text.includes(sign)) for (const span of finder(text)) found.push(span)
    return byMeaning(found)
  }
  return (text) => {
    spellings.take()
    const found = find(text)
    const seen = spellings.take()
    return seen === 0 ? found : found.concat(inViews(text, seen, find))
  }
}

/** What is recognised by itself first, in the order it was found: `Authorization: Bearer …` is a bearer token. */
function byMeaning(found: readonly TextRange[]): readonly TextRange[] {
  const byName = found.filter(({ kind }) => kind === 'secret')
  if (byName.length === 0 || byName.length === found.length) return found
  return [...found.filter(({ kind }) => kind !== 'secret'), ...byName]
}
