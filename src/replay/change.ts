import { createHash } from 'node:crypto'
import { neutralLine } from '../errors/neutral.ts'
import { changedTools } from './changed-tools.ts'
import { changedWords, wordDiff } from '../errors/word-diff.ts'
import { canonicalJson } from '../providers/index.ts'
import type { Json } from '../tape/index.ts'
import type { FoundDrift } from '../match/matcher.ts'
import { shownValues } from '../match/difference.ts'
import { leafDifferences, type LeafDifference } from '../match/question-parts.ts'
import type { Drift, DriftPolicy } from '../match/types.ts'

/** What identifies a change, and how people read it. */
type Change = Pick<Drift, 'key' | 'words' | 'was' | 'now'>

type Sides = readonly [before: Json | undefined, now: Json | undefined]

/** Places of one change that are shown: as many as there are tools that change together. */
const shownLeaves = 8

/** Characters of a change that are shown: it is read in a diff of the case that accepts it. */
const shownWords = 1_200

/** The changes of one run. A prompt that is asked at each of a hundred steps is compared word by word once. */
export class Changes {
  readonly #known = new Map<string, Change>()
  /** What was replaced by what in the messages that changed, by key. */
  readonly #wordings = new Map<string, string>()
  readonly #agent: string

  /** @param agent - what was accepted of one agent says nothing of another one that changes in the same way */
  constructor(agent: string) {
    this.#agent = agent
  }

  /** A difference as the result of a run tells it. */
  drift(
    { n, number }: { readonly n: number; readonly number: number },
    found: FoundDrift,
    policy: DriftPolicy,
    site: string | undefined,
  ): Drift {
    const { class: name, path, part = path, recorded, live, isData } = found
    return {
      class: name,
      policy,
      step: n,
      stepNumber: number,
      path,
      part,
      recorded,
      live,
      ...this.#changeOf(found),
      ...(isData && { isData }),
      ...(site === undefined ? {} : { site }),
    }
  }

  #changeOf(found: FoundDrift): Change {
    const change = identify(found, this.#agent)
    let known = this.#known.get(change.key)
    if (!known) {
      this.#known.set(change.key, (known = withWords(change, found)))
      if (found.path.startsWith('messages[')) this.#wordings.set(change.key, wordingOf(found, change.sides))
    }
    return known
  }

  /**
   * Messages in which the same words were replaced by the same ones, with other data around them, are one change: a template
   * was edited, and each of its calls tells of it. Its key is that of all of them, so that a text that is not among them is
   * another change.
   */
  together(drift: readonly Drift[]): readonly Drift[] {
    const byWording = Map.groupBy(this.#known.values(), ({ key }) => this.#wordings.get(key) ?? key)
    const joined = new Map<string, Change>()
    for (const alike of byWording.values()) {
      const [first, ...others] = alike
      if (first === undefined || others.length === 0) continue
      const all = (side: 'key' | 'was' | 'now'): string => digest(alike.map((one) => one[side]).sort())
      const words = `${first.words}, and the same in ${others.length} more`
      const change = { key: all('key'), was: `sha256-${all('was')}`, now: `sha256-${all('now')}`, words }
      for (const { key } of alike) joined.set(key, change)
    }
    return joined.size === 0 ? drift : drift.map((one) => ({ ...one, ...joined.get(one.key) }))
  }
}

/**
 * Identifies a change by both sides of it, at whichever step it shows. Its digests are made from what a tape would hold:
 * values that are redacted stand in it as their placeholders.
 */
function identify(found: FoundDrift, agent: string): Omit<Change, 'words'> & { readonly sides: Sides } {
  const { path, recorded, live } = found
  // A part that is given as absent stays absent; without parts the excerpts are the whole.
  const [before, now] = 'before' in found || 'now' in found ? [found.before, found.now] : [recorded, live]
  // The place of a message or an instruction says nothing: one that moved is the same text.
  const place = path.replace(/\[\d+\].*$/s, '')
  return {
    key: digest([agent, found.scope ?? '', place, shape(before), shape(now), found.id ?? '']),
    was: digestOfPart(before),
    now: digestOfPart(now),
    sides: [before, now],
  }
}

/** The digest of one side of a change. */
export function digestOfPart(value: Json | undefined): string {
  return `sha256-${digest([shape(value)])}`
}

/** What was replaced by what, at each place of a message. */
function wordingOf({ class: name }: FoundDrift, [before, now]: Sides): string {
  const leaves = leafDifferences(before, now).map((leaf) => [
    leaf.path,
    typeof leaf.before === 'string' && typeof leaf.now === 'string'
      ? changedWords(leaf.before, leaf.now)
      : [shape(leaf.before), shape(leaf.now)],
  ])
  return JSON.stringify([name, leaves])
}

function withWords({ sides, ...change }: ReturnType<typeof identify>, found: FoundDrift): Change {
  const { class: name, recorded, live } = found
  // Signs within `*/*` or `C-7` are no places of their own.
  const isOneWord = name === 'headers' && !/\s/.test(recorded + live) && recorded !== '' && live !== ''
  const words = isOneWord
    ? `[-${neutralLine(recorded, 240)}-] {+${neutralLine(live, 240)}+}`
    : (toolListWords(found, ...sides) ?? wordsOf(...sides, rootOf(found)))
  return { ...change, words }
}

/** Of a list of tools with other names, or in another order: which, and what changed in those of both lists. */
function toolListWords({ path, part }: FoundDrift, ...[before, now]: Sides): string | undefined {
  const lists = part === 'tools' && path.startsWith('tools') ? changedTools(before, now) : undefined
  if (lists === undefined) return undefined
  const within = lists.both.flatMap(([name, was, is]) => {
    const words = wordsOf(was, is, `tools[${name}]`)
    return words === '' ? [] : [words]
  })
  return joined([...lists.said.map((text) => neutralLine(text, 200)), ...within])
}

/** How the paths of a tool begin, of which it does not go without saying where in it something changed; of a list, its name. */
function rootOf({ path, part = '' }: FoundDrift): string | undefined {
  if (!/^tools(?:\[|$)/.test(path)) return undefined
  return part.startsWith('tool ') ? `tools[${part.slice('tool '.length)}]` : part === 'tools' ? part : undefined
}

function shape(value: Json | undefined): string {
  return value === undefined ? '' : canonicalJson(value)
}

function digest(parts: readonly string[]): string {
  // As JSON: no two lists of texts have one spelling.
  return createHash('sha256').update(JSON.stringify(parts)).digest('base64url').slice(0, 16)
}

function wordsOf(before: Json | undefined, now: Json | undefined, root?: string): string {
  const leaves = leafDifferences(before, now)
  // The same words at several places are reported once.
  const byWords = [...Map.groupBy(leaves, ({ before: was, now: is }) => wordDiff(...shownValues(was, is)))]
  const shown = byWords.slice(0, shownLeaves).map(([diff, same]) => labelOf(same, leaves.length > 1, root) + diff)
  const more = byWords.slice(shownLeaves).reduce((sum, [, same]) => sum + same.length, 0)
  return joined([...shown, ...(more > 0 ? [`… and ${more} more`] : [])])
}

function joined(parts: readonly string[]): string {
  const words = parts.join('; ')
  return words.length > shownWords ? `${words.slice(0, shownWords - 1)}…` : words
}

function labelOf(same: readonly LeafDifference[], isOneOfMany: boolean, root: string | undefined): string {
  const paths = same
    .map(({ path }) => path)
    .filter((path) => path !== '')
    .map((path) => (root === undefined ? path : root + (path.startsWith('[') ? path : `.${path}`)))
  // Of one text that changed the words say enough; a number, `true` or what is absent says nothing without its place.
  const areTexts = same.every(({ before, now }) => typeof before === 'string' && typeof now === 'string')
  return (isOneOfMany || !areTexts || root !== undefined) && paths.length > 0 ? `${paths.join(', ')}: ` : ''
}
