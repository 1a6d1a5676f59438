import { columnTriggers } from './columns.ts'
import { commandTriggers } from './commands.ts'
import { builtInFamilies, type KindFamily } from './families.ts'
import type { FirstNames } from './first/names.ts'
import { NameTable, schemeOf, type SecretNames } from './names.ts'
import { namedTriggers } from './named.ts'
import { lookingAs, versionNow } from './values.ts'
import { nearLately, nearSince, nearTriggers } from './near.ts'
import { sqlLiteralTriggers } from './sql-literals.ts'
import { sqlTriggers } from './sql.ts'
import { saidTriggers } from './said.ts'
import { shapeTriggersOf, tokensOf } from './tokens.ts'
import { findCards, findCardsBefore, findEmailsNow } from './personal.ts'
import { commandVariables } from './programs.ts'
import type { Finder, RedactorOptions, TextRange } from './types.ts'
import { inViews, Spellings } from './views.ts'
import { typedAtEnd, typedTriggers } from './typed-objects.ts'
import { type Trigger, Walk } from './walk.ts'
import { isOverworked, perFind, work } from './work.ts'

/** A finder, and a character without which it finds nothing; empty without one. */
export type SignedFinder = readonly [sign: string, finder: Finder]

/** What is looked for beside what the engine knows itself. */
export interface TextContext {
  readonly first: readonly SignedFinder[]
  readonly personal: readonly SignedFinder[]
}

/** What is looked for, by the options. */
export interface Search {
  readonly isOn: (kind: string) => boolean
  /** The application's own families of tokens. */
  readonly own: readonly KindFamily[]
  readonly around: TextContext
  /** What of it stands in the walk instead. */
  readonly inWalk: TextContext & { readonly triggers: readonly Trigger[] }
}

/** A version of the finders. A tape is replayed by the one it was recorded with. */
export interface Finders {
  readonly version: 1 | 2 | 3 | 4 | 5 | 6 | 7 | 8 | 9 | 10 | 11 | 12 | 13 | 14
  /** @param inHeaders - names that count in headers: those are the same for all tapes */
  readonly by: (options: RedactorOptions, inHeaders: FirstNames) => FindersInUse
}

export interface FindersInUse {
  readonly names: SecretNames
  /** The scheme before credentials in a text, with what follows it. */
  readonly schemeOf: (value: string) => string
  readonly emails: Finder
  readonly cards: Finder
  readonly finder: (search: Search) => Finder
}

/** Those that record. */
export const findersOfNow = findersByWords(versionNow)

/** Those that read commands word by word. */
export function findersByWords(version: 3 | 4 | 5 | 6 | 7 | 8 | 9 | 10 | 11 | 12 | 13 | 14): Finders {
  return findersInOneWalk(version, (isOn, names) => (isOn('secret') ? commandTriggers(names) : []), commandVariables)
}

type Commands = (isOn: Search['isOn'], names: NameTable) => readonly Trigger[]

/** Finders of everything in a text and in what its escapes spell. */
export function findersInOneWalk(
  version: Finders['version'],
  commands: Commands,
  variables: readonly string[] = [],
): Finders {
  return {
    version,
    by({ keys = [], names: own }) {
      const names = new NameTable({ ...own, always: [...variables, ...(own?.always ?? [])], keys }, version)
      const cards = version >= 14 ? findCards : findCardsBefore
      return { names, schemeOf, emails: findEmailsNow, cards, finder: (search) => inOneWalk(names, commands, search) }
    },
  }
}

function inOneWalk(
  names: NameTable,
  commands: Commands,
  { isOn, own, inWalk: { first, personal, triggers } }: Search,
): Finder {
  const { isBefore, version } = names
  const spellings = new Spellings(isBefore)
  const walk = new Walk([
    ...spellings.triggers,
    ...[...own, ...builtInFamilies(version)].filter(({ kind }) => isOn(kind)).map(tokensOf),
    ...shapeTriggersOf(isOn, version),
    ...(isOn('secret') ? [...namedTriggers(names), ...sqlTriggers(names), ...sqlLiteralTriggers(names)] : []),
    ...commands(isOn, names),
    ...nearTriggers(isOn),
    ...(isBefore ? [] : nearTriggers(isOn, nearSince)),
    ...(version >= 5 ? nearTriggers(isOn, nearLately) : []),
    ...(version >= 5 && isOn('secret') ? [...saidTriggers(names), ...columnTriggers(names)] : []),
    ...(version >= 8 && isOn('secret') ? typedTriggers(names) : []),
    ...triggers,
  ])
  const atEnd: readonly SignedFinder[] = version >= 8 && isOn('secret') ? [['', typedAtEnd(names)]] : []
  const rest = [...first, ...personal, ...atEnd]
  const find: Finder = (text) => {
    const found: TextRange[] = []
    work.done += text.length >> 3
    walk.find(text, found)
    for (let nth = 0; nth < rest.length; nth++) {
      const [sign, finder] = rest[nth]!
      if ((sign !== '' && !text.includes(sign)) || isOverworked()) continue
      const spans = finder(text)
      for (let at = 0; at < spans.length; at++) found.push(spans[at]!)
    }
    work.done += found.length * perFind
    return byMeaning(found)
  }
  const search: Finder = (text) => {
    spellings.take()
    const found = find(text)
    const seen = spellings.take()
    return seen === 0 ? found : found.concat(inViews(text, seen, find, isBefore))
  }
  return version >= 10 ? search : (text) => lookingAs(version, () => search(text))
}

const none: readonly TextRange[] = []

/** What is recognised by itself first, in the order it was found: `Authorization: Bearer …` is a bearer token. */
function byMeaning(found: readonly TextRange[]): readonly TextRange[] {
  // A list that grew has room for more: that of one is kept for long where each word of base64 has its own.
  if (found.length < 2) return found.length === 0 ? none : [found[0]!]
  const byName = found.filter(({ kind }) => kind === 'secret')
  if (byName.length === 0 || byName.length === found.length) return found
  return [...found.filter(({ kind }) => kind !== 'secret'), ...byName]
}
