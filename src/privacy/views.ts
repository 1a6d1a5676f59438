// Over 300 lines: each way to spell a character, and how it is read.
import { endInText, isBehindText } from './edges.ts'
import type { Finder, TextRange } from './types.ts'
import type { Trigger } from './walk.ts'
import { isOverworked, perSecret, work } from './work.ts'

/** One way to spell characters, and how it is undone. */
interface View {
  /** Without one of these nothing is spelled so. */
  readonly signs: readonly string[]
  readonly pattern: RegExp
  /** What each escape begins with, where that is one character: to search for it costs next to nothing. */
  readonly begin?: string
  /** With what means something only beside such escapes. Default {@link pattern}. */
  readonly all?: RegExp
  /** What an escape says, or itself where it stays. */
  readonly undo: (escape: string) => string
  /** How many characters before an escape may hold the name, and how many behind it are read at least. */
  readonly reach: readonly [before: number, behind: number]
  /** Where no value goes on. */
  readonly edge: RegExp
}

const entities: Readonly<Record<string, string>> = {
  quot: '"',
  amp: '&',
  lt: '<',
  gt: '>',
  apos: "'",
  nbsp: ' ',
  equals: '=',
  colon: ':',
}

const viewsBefore: readonly View[] = [
  {
    signs: ['\\u00', '\\/'],
    pattern: /\\{1,64}(?:u00[0-7][0-9a-fA-F]|\/)/g,
    undo(escape) {
      if (escape.endsWith('/')) return '/'
      const code = Number.parseInt(escape.slice(-2), 16)
      const depth = escape.length - 'u0000'.length
      // What is structure is spelled as JSON usually does, at the same depth.
      if (code === 0x22) return `${'\\'.repeat(2 * depth - 1)}"`
      if (code === 0x5c) return '\\'.repeat(2 * depth)
      if (code === 0x0a) return `${'\\'.repeat(depth)}n`
      return printed(code, escape)
    },
    reach: [512, 64],
    edge: /["']/g,
  },
  {
    signs: ['2', '3', '4', '5', '6', '7', '0'].map((digit) => `%${digit}`),
    pattern: /%(?:25)*[0-9A-Fa-f]{2}/g,
    begin: '%',
    all: /%(?:25)*[0-9A-Fa-f]{2}|\+/g,
    undo: (escape) => (escape === '+' ? ' ' : printed(Number.parseInt(escape.slice(-2), 16), escape)),
    reach: [96, 64],
    edge: /["'\s<>]/g,
  },
  {
    signs: ['&quot;', '&#', '&amp;', '&apos;', '&lt;', '&nbsp;', '&equals;', '&colon;'],
    pattern: /&(?:(?:quot|amp|lt|gt|apos|nbsp|equals|colon)|#(?:\d{2,3}|[xX][0-9a-fA-F]{2}));/g,
    begin: '&',
    undo(escape) {
      const name = escape.slice(1, -1)
      if (name[0] !== '#') return entities[name] ?? escape
      return printed(/[xX]/.test(name) ? Number.parseInt(name.slice(2), 16) : Number(name.slice(1)), escape)
    },
    reach: [128, 128],
    edge: /["'\r\n<>]|\\n/g,
  },
  {
    signs: ['\x1b[', 'u001b[', 'u001B['],
    pattern: /(?:\x1b|\\+u001[bB])\[[\d;]{0,16}m/g,
    undo: () => '',
    reach: [512, 128],
    edge: /["'\r\n]|\\n/g,
  },
]

/** The character of a code, or the escape where it is a control. */
function printed(code: number, escape: string): string {
  const isSpace = code === 0x09 || code === 0x0a || code === 0x0d
  return isSpace || (code >= 0x20 && code <= 0x7e) ? String.fromCharCode(code) : escape
}

/** Beyond ASCII, or the escape where it is half a character. */
function printedWide(code: number, escape: string): string {
  return (code >= 0xa0 && code < 0xd800) || (code > 0xdfff && code < 0xfffd) ? String.fromCharCode(code) : escape
}

const accents = 'tilde uml acute'.split(' ')
/** A character of UTF-8. */
const octets = String.raw`%(?:25){0,16}(?:[c-e][\da-f](?:%(?:25){0,16}[89ab][\da-f]){1,2}|[\da-f]{2})`
const [backslashed, percented, inHtml, coloured] = viewsBefore as [View, View, View, View]

/** Since the fourth version also letters beyond ASCII, as in `contrase\u00f1a`. */
const views: readonly View[] = [
  {
    ...backslashed,
    signs: ['\\u', '\\/'],
    pattern: /\\{1,64}(?:u[\da-fA-F]{4}|\/)/g,
    undo(escape) {
      const code = escape.endsWith('/') ? 0 : Number.parseInt(escape.slice(-4), 16)
      return code < 0x80 ? backslashed.undo(escape) : printedWide(code, escape)
    },
  },
  {
    ...percented,
    signs: [...percented.signs, ...[...'cCdDeE'].map((digit) => `%${digit}`)],
    pattern: new RegExp(octets, 'gi'),
    all: new RegExp(`${octets}|\\+`, 'gi'),
    undo(escape) {
      if (escape.lastIndexOf('%') <= 0) return percented.undo(escape)
      const said = Buffer.from(escape.replace(/%(?:25)*(?=..(?:%|$))/g, ''), 'hex').toString()
      return said.length === 1 ? printedWide(said.charCodeAt(0), escape) : escape
    },
  },
  {
    ...inHtml,
    signs: [...inHtml.signs, ...accents.map((accent) => `${accent};`)],
    pattern: new RegExp(
      String.raw`&(?:${Object.keys(entities).join('|')}|[A-Za-z](?:${accents.join('|')})|#(?:\d{2,5}|x[\da-f]{2,4}));`,
      'gi',
    ),
    undo(escape) {
      const name = escape.slice(1, -1)
      // Names are known without their accents.
      if (accents.includes(name.slice(1))) return name[0]!
      const code = name[0] === '#' ? Number(name.slice(1).replace(/^x/i, '0x')) : 0
      return code < 0x80 ? inHtml.undo(escape) : printedWide(code, escape)
    },
  },
  coloured,
]

const viewsOfKnown: readonly View[] = views.flatMap((view) => {
  const { all, ...rest } = view
  return all === undefined ? [view] : [view, rest]
})

function viewsOf(isBefore: boolean): readonly View[] {
  return isBefore ? viewsBefore : views
}

/**
 * What is secret in the text that escapes spell, reported in the text as it stands. Only what stands around escapes is read
 * again: a long text with one of them is not read twice.
 *
 * @param seen - in which spellings there is something, as {@link Spellings} saw it
 * @param isBefore - finders before the fourth version look
 */
export function inViews(text: string, seen: number, find: Finder, isBefore: boolean): readonly TextRange[] {
  return inThose(
    viewsOf(isBefore).filter((_, nth) => (seen & (1 << nth)) !== 0),
    text,
    find,
  )
}

function inThose(views: readonly View[], text: string, find: Finder): readonly TextRange[] {
  let found: TextRange[] | undefined
  for (const view of views) {
    if (isOverworked()) break
    for (const [from, to] of windows(text, view)) {
      work.done += to - from
      const { plain, place } = read(text.slice(from, to), view)
      if (plain.length === to - from) continue
      for (const span of find(plain)) {
        work.done += perSecret
        const [start, last] = [from + place(span.start), from + place(span.end)]
        // To a reader of the JSON, quotes that escapes spell are part of the text.
        const end = endInText(text, start, last)
        if (end > start && !isBehindText(text, start))
          (found ??= []).push({ ...span, start, end, value: end < last ? text.slice(start, end) : span.value })
      }
    }
  }
  return found ?? none
}

/** As {@link inViews}, of a text that was not walked; in a URL a plus sign may be one, too. */
export function inAllViews(text: string, find: Finder): readonly TextRange[] {
  if (!escapes.test(text)) return none
  return inThose(
    viewsOfKnown.filter(({ signs }) => signs.some((sign) => text.includes(sign))),
    text,
    find,
  )
}

/** What a sign of a view has in it. */
const escapes = /[\\%&\x1b]/

const none: readonly TextRange[] = []

/** Takes note of the spellings that stand in a text while it is walked. */
export class Spellings {
  #seen = 0
  readonly triggers: readonly Trigger[]

  constructor(isBefore: boolean) {
    this.triggers = viewsOf(isBefore).flatMap(({ signs }, nth) =>
      signs.map((text): Trigger => ({ text, at: () => this.#note(nth) })),
    )
  }

  #note(nth: number): number {
    this.#seen |= 1 << nth
    // Once is enough.
    return Number.MAX_SAFE_INTEGER
  }

  /** What was seen since this was asked before: one bit for each. */
  take(): number {
    const seen = this.#seen
    this.#seen = 0
    return seen
  }
}

/** A word that is longer is cut. */
const longWord = 4_096
const nameLength = 64

/** Stretches around escapes. None begins or ends inside a word, or half a secret would be replaced. */
function windows(text: string, view: View): readonly Window[] {
  const {
    reach: [before, behind],
    edge,
  } = view
  const all: [from: number, to: number][] = []
  let end = 0
  for (let match = escapeFrom(text, view, 0); match !== null; match = escapeFrom(text, view, end)) {
    const { index } = match
    const last = all.at(-1)
    edge.lastIndex = index + behind
    let to = edge.lastIndex >= text.length ? text.length : (edge.exec(text)?.index ?? text.length)
    // The backslashes before a quote are its own.
    while (to > index + 1 && text.charCodeAt(to - 1) === backslash) to--
    if (last !== undefined && index - before <= last[1]) last[1] = Math.max(last[1], to)
    else all.push([wordBegin(text, index - before, last?.[1] ?? 0), to])
    if (to === text.length) break
    // What stands well inside of the window is read with it.
    end = Math.max(index + match[0].length, to - (behind >> 1))
  }
  return all
}

function escapeFrom(text: string, { begin, pattern }: View, from: number): RegExpExecArray | null {
  const at = begin === undefined ? from : text.indexOf(begin, from)
  if (at === -1) return null
  pattern.lastIndex = at
  return pattern.exec(text)
}

const backslash = 0x5c
type Window = readonly [from: number, to: number]

/** Where the word around a place begins. A URL is one word: without its beginning its user reads as an address. */
function wordBegin(text: string, from: number, least: number): number {
  const at = wordStart(text, Math.max(from, least), Math.max(least, from - longWord))
  // The name that tells what a long word is stands before it: `Cookie: …`.
  return at >= from ? at : wordStart(text, Math.max(at - nameLength, least), Math.max(least, at - longWord))
}

function wordStart(text: string, from: number, stop: number): number {
  let at = from
  while (at > stop && !isWordEdge(text.charCodeAt(at - 1))) at--
  return at
}

/** White space, a quote or an angle bracket. */
function isWordEdge(code: number): boolean {
  return code <= 0x20 || code === 0x22 || code === 0x27 || code === 0x3c || code === 0x3e
}

/** What a stretch says, and where each character of that stands. */
function read(text: string, { pattern, all = pattern, undo }: View): { plain: string; place: (at: number) => number } {
  const inPlain = [0]
  const inText = [0]
  let plain = ''
  let from = 0
  all.lastIndex = 0
  for (let match = all.exec(text); match !== null; match = all.exec(text)) {
    const [escape] = match
    const says = undo(escape)
    if (says === escape) continue
    plain += match.index > from ? text.slice(from, match.index) + says : says
    from = match.index + escape.length
    inPlain.push(plain.length)
    inText.push(from)
  }
  plain += text.slice(from)
  const place = (at: number): number => {
    let [low, high] = [0, inPlain.length - 1]
    while (low < high) {
      const middle = (low + high + 1) >> 1
      if (inPlain[middle]! <= at) low = middle
      else high = middle - 1
    }
    return inText[low]! + at - inPlain[low]!
  }
  return { plain, place }
}
