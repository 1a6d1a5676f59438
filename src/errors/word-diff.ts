import { diffArrays } from 'diff/lib/diff/array.js'
import { neutral, neutralLine } from './neutral.ts'

/** Changed tokens above which two texts are shown as one replaced stretch: a finer comparison would be long and slow. */
const maxEditLength = 400
/** Words of unchanged text on either side of a change. */
const wordsAround = 3
/** Characters of unchanged text on either side of a change, for texts without short words. */
const charactersAround = 60
const maxHunks = 3
const maxLength = 600
/** Characters of each changed text, most generous first: the first at which everything fits is taken. */
const changeLengths = [240, 120, 60, 24]

/** Scripts that put no blanks between words. */
const unspaced = String.raw`[\p{sc=Han}\p{sc=Hira}\p{sc=Kana}\p{sc=Thai}\p{sc=Lao}\p{sc=Khmr}\p{sc=Mymr}]`
const letters = String.raw`(?:(?!${unspaced})[\p{L}\p{M}\p{N}_])+`
/** A run of blanks, a letter of an unspaced script, a word such as `don't`, `C-7` and `3.5`, or another character. */
const token = String.raw`\s+|${unspaced}\p{M}*|${letters}(?:[.\-'’](?=[\p{L}\p{N}])${letters})*|[^]`

/** Made when two texts differ: sets of letters take 10 ms, and mostly nothing differs. */
let made: { readonly token: RegExp; readonly startsUnspaced: RegExp } | undefined

function patterns(): NonNullable<typeof made> {
  return (made ??= { token: new RegExp(token, 'gu'), startsUnspaced: new RegExp(`^${unspaced}`, 'u') })
}

/** Unchanged text, and what replaced what behind it. The last one has no change. */
interface Stretch {
  readonly same: readonly string[]
  readonly removed: string
  readonly added: string
}

/**
 * What changed between two texts, word by word and in one line: `… refund at most [-100-] {+1000+} EUR without …`.
 *
 * Each change has three words around it. At most three places and 600 characters are shown, followed by
 * `… and 2 more places`. The text is safe to print (see {@link neutralLine}). Blanks that changed are spelled `␣`, line
 * breaks `⏎`; letters of another script that look alike are spelled as escapes. An empty text is `""`; equal texts give
 * an empty answer.
 */
export function wordDiff(before: string, now: string): string {
  if (before === now) return ''
  if (before.trim() === '' || now.trim() === '')
    return showChange({ removed: before, added: now }, maxLength / 2 - 20, true)
  const hunks = hunksOf(stretchesOf(before, now))
  for (const length of changeLengths) {
    const text = lay(hunks, maxHunks, length)
    if (text.length <= maxLength) return text
  }
  for (let shown = maxHunks - 1; shown > 0; shown--) {
    const text = lay(hunks, shown, changeLengths.at(-1) ?? 0)
    if (text.length <= maxLength) return text
  }
  // One place with very many changes side by side: its beginning.
  const [first = []] = hunks
  const more = hunks.length
  for (let kept = first.length - 1; kept > 1; kept--) {
    const text = lay([first.slice(0, kept)], 1, changeLengths.at(-1) ?? 0)
    if (text.length + 30 <= maxLength) return withMore(text, more)
  }
  return withMore(lay([first.slice(0, 1)], 1, changeLengths.at(-1) ?? 0), more)
}

/** A change with the unchanged text before it, and, behind the last one of a place, after it. */
interface Piece {
  readonly lead: string
  readonly removed: string
  readonly added: string
  readonly trail: string
  /** There is more unchanged text before `lead`, and after `trail`. */
  readonly isCut: readonly [before: boolean, after: boolean]
}

/** Changes in groups: those with at most six words between them are one place. */
function hunksOf(stretches: readonly Stretch[]): readonly (readonly Piece[])[] {
  const hunks: Piece[][] = []
  for (const [i, { same, removed, added }] of stretches.entries()) {
    const isTail = removed === '' && added === ''
    const hunk = hunks.at(-1)
    const last = hunk?.at(-1)
    const [head, isHeadCut] = last ? firstWords(same) : ['', true]
    const [tail, isTailCut] = isTail ? ['', true] : lastWords(same)
    const whole = same.join('')
    if (hunk && last && !isTail && head.length + tail.length >= whole.length) {
      hunk.push({ lead: whole, removed, added, trail: '', isCut: [false, false] })
      continue
    }
    if (hunk && last) hunk[hunk.length - 1] = { ...last, trail: head, isCut: [last.isCut[0], isHeadCut] }
    if (isTail) continue
    hunks.push([{ lead: tail, removed, added, trail: '', isCut: [i > 0 || isTailCut, false] }])
  }
  return hunks
}

function lay(hunks: readonly (readonly Piece[])[], shown: number, length: number): string {
  const texts = hunks.slice(0, shown).map((pieces) =>
    pieces
      .flatMap(({ lead, removed, added, trail, isCut: [before, after] }) => [
        before ? '…' : '',
        neutralLine(lead.trim(), Number.POSITIVE_INFINITY),
        showChange({ removed, added }, length),
        neutralLine(trail.trim(), Number.POSITIVE_INFINITY),
        after ? '…' : '',
      ])
      .filter((text) => text !== '')
      .join(' ')
      .replace(/([-+][\]}]) (?=[,.;:!?)])/g, '$1'),
  )
  const joined = texts.join(' ').replaceAll('… …', '…')
  return hunks.length > shown ? withMore(joined, hunks.length - shown) : joined
}

function withMore(text: string, places: number): string {
  return `${text.replace(/ …$/, '')} … and ${places} more place${places === 1 ? '' : 's'}`
}

function showChange({ removed, added }: Pick<Stretch, 'removed' | 'added'>, length: number, isWhole = false): string {
  const spell = spelling(removed, added)
  const at = Math.max(removed.length, added.length) > length ? commonStart(removed, added) : 0
  const show = (text: string): string => {
    if (text === '') return isWhole ? '""' : ''
    const from = at > 16 ? at - 12 : 0
    return spell(cut(from > 0 ? `…${text.slice(from)}` : text, length))
  }
  const [old, fresh] = [show(removed), show(added)]
  return [old === '' ? '' : `[-${old}-]`, fresh === '' ? '' : `{+${fresh}+}`].filter((text) => text !== '').join(' ')
}

/** How to write both sides of a change so that one sees that they differ. */
function spelling(removed: string, added: string): (text: string) => string {
  const plain = (text: string): string => neutralLine(text.trim(), Number.POSITIVE_INFINITY)
  if (removed.trim() === added.trim()) return blanks
  if (looksAlike(removed, added)) return (text) => plain(text).replace(/[^\x20-\x7e…]/gu, codePoint)
  return (text) => (text.trim() === '' ? blanks(text) : plain(text))
}

/** What was replaced by what between two texts, word by word, without what stands around it. */
export function changedWords(before: string, now: string): readonly (readonly [removed: string, added: string])[] {
  return stretchesOf(before, now).flatMap(({ removed, added }) => (removed + added === '' ? [] : [[removed, added]]))
}

/**
 * Both sides of a change spelled so that one sees that they differ: other blanks around them, another end of lines, a letter
 * of another script, an accent in another form. `undefined` where one sees it anyway.
 */
export function spelledApart(before: string, now: string): readonly [before: string, now: string] | undefined {
  const isBlank = before.trim() === now.trim() || neutral(before) === neutral(now)
  if (before === now || !(isBlank || looksAlike(before, now))) return undefined
  const spell = isBlank ? blanks : spelling(before, now)
  return [spell(before), spell(now)]
}

/** Blanks made visible; the text between them as it is. A carriage return has a sign of its own. */
function blanks(text: string): string {
  return text
    .replaceAll('\r\n', '\\r⏎')
    .replace(/[\r\n]/g, '⏎')
    .replaceAll(' ', '␣')
    .replace(/\s/gu, codePoint)
    .split('⏎')
    .map((line) => neutralLine(line, Number.POSITIVE_INFINITY))
    .join('⏎')
}

function codePoint(character: string): string {
  const code = character.codePointAt(0) ?? 0
  return code > 0xffff ? `\\u{${code.toString(16)}}` : `\\u${code.toString(16).padStart(4, '0')}`
}

/** Two spellings of one character, or a Latin letter and one of another script in its place. */
function looksAlike(a: string, b: string): boolean {
  if (a.normalize('NFKC') === b.normalize('NFKC')) return true
  const [left, right] = [[...a], [...b]]
  if (left.length !== right.length) return false
  const other = left.flatMap((character, i) => (character === right[i] ? [] : [[character, right[i] ?? ''] as const]))
  return other.every(
    ([x, y]) => isAsciiLetter(x) !== isAsciiLetter(y) && /[\p{sc=Cyrl}\p{sc=Grek}\p{sc=Armn}\p{sc=Cher}]/u.test(x + y),
  )
}

function isAsciiLetter(character: string): boolean {
  return /^[A-Za-z]$/.test(character)
}

/** Beginning and end of a text that is too long. */
function cut(text: string, length: number): string {
  if (text.length <= length) return text
  const head = Math.ceil((length * 2) / 3)
  return `${wellFormed(text.slice(0, head))}…${wellFormed(text.slice(text.length - (length - head - 1)))}`
}

/** Without the halves of characters that cutting left at the ends. */
function wellFormed(text: string): string {
  return text.replace(/^[\udc00-\udfff]|[\ud800-\udbff]$/g, '')
}

function commonStart(a: string, b: string): number {
  const most = Math.min(a.length, b.length)
  let at = 0
  while (at < most && a.charCodeAt(at) === b.charCodeAt(at)) at++
  return at
}

function stretchesOf(before: string, now: string): readonly Stretch[] {
  const [a, b] = [tokens(before), tokens(now)]
  let start = 0
  while (start < Math.min(a.length, b.length) && a[start] === b[start]) start++
  let end = 0
  while (end < Math.min(a.length, b.length) - start && a.at(-1 - end) === b.at(-1 - end)) end++
  const [old, fresh] = [a.slice(start, a.length - end), b.slice(start, b.length - end)]
  const parts = diffArrays(old, fresh, { maxEditLength }) ?? [
    { value: old, removed: true, added: false },
    { value: fresh, removed: false, added: true },
  ]
  const stretches: Stretch[] = []
  let same = a.slice(0, start)
  let open: { removed: string; added: string } | undefined
  for (const { value, removed, added } of parts) {
    const text = value.join('')
    if (removed || added) {
      open ??= { removed: '', added: '' }
      open[removed ? 'removed' : 'added'] += text
    } else if (open && text.trim() === '') {
      // Neighbouring words that changed are one change.
      open.removed += text
      open.added += text
    } else {
      if (open) {
        stretches.push({ same, ...open })
        same = []
        open = undefined
      }
      same.push(...value)
    }
  }
  if (open) {
    stretches.push({ same, ...open })
    same = []
  }
  stretches.push({ same: [...same, ...a.slice(a.length - end)], removed: '', added: '' })
  return stretches
}

/** Words, runs of blanks, and single other characters; scripts without blanks between words letter by letter. */
function tokens(text: string): string[] {
  return text.match(patterns().token) ?? []
}

function firstWords(words: readonly string[]): readonly [text: string, isCut: boolean] {
  const kept = around(words)
  const text = kept.join('')
  return text.length > charactersAround
    ? [wellFormed(text.slice(0, charactersAround)), true]
    : [text, kept.length < words.length]
}

function lastWords(words: readonly string[]): readonly [text: string, isCut: boolean] {
  const kept = around(words.toReversed()).toReversed()
  const text = kept.join('')
  return text.length > charactersAround
    ? [wellFormed(text.slice(-charactersAround)), true]
    : [text, kept.length < words.length]
}

/** The first tokens with three words in them, up to the next blank. */
function around(words: readonly string[]): readonly string[] {
  let count = 0
  for (const [i, word] of words.entries()) {
    if (/[\p{L}\p{N}]/u.test(word)) count += patterns().startsUnspaced.test(word) ? 0.25 : 1
    if (count >= wordsAround && !/\S/.test(words[i + 1] ?? ' ')) return words.slice(0, i + 1)
    // Digits and letters glued by signs may go on for long: `a=1&b=2&c=3`.
    if (count > wordsAround + 2) return words.slice(0, i)
  }
  return words
}
