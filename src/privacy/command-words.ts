// Over 300 lines: the words of a command, what may stand between them, and what they promise share one reader.
import { addSecret, closingQuote, sticky } from './edges.ts'
import type { NameTable } from './names.ts'
import { unescaped } from './named.ts'
import { type How, type KnownRow, knownPrograms } from './programs.ts'
import type { TextRange } from './types.ts'
import { isStandIn, looksRandom, type NameClass, passes } from './values.ts'
import { work } from './work.ts'

export const quote = String.raw`\\*["']`
/** White space of a carrier: as it stands there, as JSON spells it, and behind the backslash that lets a line go on. */
export const white = String.raw`(?:\s|\\{1,64}(?:[nrt]|\r?\n))`
const colon = String.raw`\s{0,4}(?::|\\{1,8}u003a)\s{0,4}`
const field = String.raw`${quote}\w{1,32}${quote}${colon}`
const others = String.raw`(?:${field}(?:${quote}[^"'\\]{0,256}${quote}|\w{1,16}|\{[^{}]{0,512}\})\s{0,4},${white}{0,64}){0,3}`
export const fields = others + field
const newline = String.raw`(?:(?:\\{1,8}r)?\\{1,8}n|\r?\n)`
export const lineEnd = String.raw`${newline}\s{0,64}`
const comment = String.raw`[ \t]{0,4}(?:[ \t]#[^\r\n"'\\]{0,128})?`

/** What stands between two words, and what a word without quotes is made of. */
export interface Gap {
  /** Sticky. Around words in quotes, the first group is the quote before it, and the second one that behind it. */
  readonly pattern: RegExp
  readonly word: RegExp
}

/** A line goes on behind spaces, and behind a sign at its end: in JSON three backslashes stand before its `n`. */
export const inLine: Gap = {
  pattern: sticky`(?:[ \t\0]|\\{1,8}u0000|\\\r?\n|(?:\\{3}){1,4}(?:r\\{1,8})?n|(?<=[ \t])[\^${'`'}]${newline}){1,64}`,
  word: /(?:[^\s"'\\;|&<>()`\0]|&(?=\w)|\$\([^\s()"'\\]{0,64}\)){1,4096}/y,
}
/**
 * A list goes on with its next text. The program may stand in a field before it, and in a list of its own:
 * `{"command":"curl","args":["-u"`, `{"command":["curl"],"args":["-u"`.
 */
export const inList: Gap = {
  pattern: sticky`(${quote})${white}{0,64}(?:,${white}{0,64}(?:${fields})?(?:\[${white}{0,64})?|\]${white}{0,4},${white}{0,64}${others}${quote}arg(?:s|v|uments)${quote}${colon}\[${white}{0,64})(${quote})`,
  word: inLine.word,
}
/** A list of YAML in one line: `[curl, -u, ada:…]`. */
export const inFlow: Gap = {
  pattern: sticky`\s{0,4},${white}{0,64}`,
  word: /[^\s"'\\,[\]{}]{1,4096}/y,
}
const inItem = (end: string, key: string): Gap => ({
  pattern: sticky`${end}${comment}${lineEnd}${key}-[ \t]{1,4}`,
  word: /[^\s"'\\]{1,4096}(?:[ \t]{1,8}(?!#)[^\s"'\\]{1,4096}){0,64}/y,
})
/** A list of YAML has a line for each word. */
export const inItems = inItem('', '')
/** The program may stand before the list, or in one of its own: `command: [curl]`, `args:`. */
export const inYaml = inItem(String.raw`\]?`, String.raw`(?:\w{1,16}${colon}${comment}${lineEnd})?`)
/** XML has an element for each word: `<string>curl</string>`. */
export const inElements: Gap = {
  pattern: sticky`(?=(<))<\/[\w:.-]{1,64}>${white}{0,64}(?=(<))<[\w:.-]{1,64}>`,
  word: inLine.word,
}

/** Where a word begins. */
export interface WordPlace {
  readonly at: number
  /** Around each word of a list. */
  readonly quote?: string
}

/** A word of a command. */
export interface Word {
  /** Without quotes. */
  readonly said: string
  /** How much of it stands before its quote: `--user=` of `--user="ada:…"`. */
  readonly head: number
  /** The rest of it, in the text. */
  readonly start: number
  readonly end: number
  /** Behind its quote; in a list, before it. */
  readonly next: number
}

const mostWords = 256
const longestWord = 4_096
export const openQuote = new RegExp(quote, 'y')

/** The word that goes on behind a gap. */
export function behindGap({ pattern }: Gap, text: string, end: number): WordPlace | undefined {
  pattern.lastIndex = end
  const match = pattern.exec(text)
  if (match === null || match[1] !== match[2]) return undefined
  return { at: pattern.lastIndex, ...(match[2] !== undefined && { quote: match[2] }) }
}

/** Whether a list of YAML is open in this place that is written in one line. */
export function isInFlow(text: string, index: number): boolean {
  const before = text.slice(Math.max(0, index - 256), index)
  const open = before.lastIndexOf('[')
  return open !== -1 && !/[\]"'{}]/.test(before.slice(open))
}

const nextLine = sticky`${newline}([ \t]{0,64})(?=([^\s\\]))`

/**
 * The line behind a block of lines of one indentation, one word or more each: a folded text of YAML, an array of a shell.
 *
 * @param mayBe - whether a line may go on that begins like this, after one that begins like that
 */
export function behindBlock(
  text: string,
  end: number,
  mayBe: (next: string, line: string) => boolean,
): WordPlace | undefined {
  nextLine.lastIndex = end
  const [, indent, next = ''] = nextLine.exec(text) ?? []
  if (indent === undefined) return undefined
  let start = end
  while (start > end - longestLine && start > 0 && !endsLine(text, start)) start--
  work.done += 10 + ((end - start) >> 4)
  const [, own, begin = ''] = /^([ \t]*)(.?)/s.exec(text.slice(start, end)) ?? []
  return own === indent && mayBe(next, begin) ? { at: nextLine.lastIndex } : undefined
}

const longestLine = 512

function endsLine(text: string, at: number): boolean {
  return text[at - 1] === '\n' || (text[at - 1] === 'n' && text[at - 2] === '\\')
}

/** What a command is read by. */
export interface CommandText {
  readonly text: string
  readonly names: NameTable
  readonly found: TextRange[]
}

/** A row of the table, and how much of what it asks for was read. */
interface State {
  readonly row: KnownRow
  isMeant: boolean
  count: number
}

/** What the next word is. */
interface Awaited {
  readonly how: How
  readonly row: KnownRow
  readonly kind?: NameClass
}

/**
 * Adds what is secret of the words of a command.
 *
 * @param first - its first word behind the program; absent, the program stands alone
 * @param begin - where the program stands
 * @param behind - where its name ends
 * @returns where the command ends, or the next one begins
 */
export function readWords(
  reading: CommandText,
  gap: Gap,
  first: WordPlace | undefined,
  rows: readonly KnownRow[],
  begin: number,
  behind: number,
): number {
  const { text, names } = reading
  const states = rows.map((row): State => ({ row, isMeant: row.verbs.length === 0, count: 0 }))
  let place = first
  let end = behind
  let [before, letters] = ['', '']
  let awaited: Awaited | undefined
  for (let count = 0; place !== undefined && count < mostWords; count++) {
    work.done += 8
    const word = wordAt(text, place, gap)
    if (word === undefined) break
    const { said } = word
    const isOption = said.startsWith('-')
    // Another command, unless it is the value of the option before it.
    if (knownPrograms.has(said) && !isVerb(rows, said) && (!before.startsWith('-') || isVerb(rows, before))) {
      end = place.at
      break
    }
    if (awaited !== undefined && !isOption) {
      if (awaited.how !== 'takes') report(reading, word, 0, awaited)
      awaited = undefined
    } else {
      if (!/^[-/]/.test(said) && rows.some(({ wraps }) => wraps)) break
      awaited = optionIn(reading, word, states)
      if (awaited === undefined && !isOption) {
        for (const state of states) {
          const { row, isMeant } = state
          if (row.logon && !said.startsWith('/')) report(reading, word, 0, { how: 'user', row })
          if (isMeant && !/^\/\w+$/.test(said) && row.nth.includes(++state.count))
            report(reading, word, 0, { how: 'nth', row })
          const kind = isMeant && row.named ? names.classOf(said) : undefined
          if (kind !== undefined) awaited = { how: 'named', row, kind }
        }
      }
      if (isOption && said[1] !== '-' && said.length <= 16) letters += said
      for (const state of states) state.isMeant ||= isMet(state.row, said, isOption ? letters : '')
    }
    before = said
    end = word.next
    place =
      behindGap(gap, text, end) ??
      // A command of its own begins with no option.
      (gap === inLine ? behindBlock(text, end, (next, line) => next === '-' || line === '-') : undefined)
  }
  const fed = states.find(({ row, isMeant }) => row.stdin !== undefined && isMeant)?.row
  if (fed !== undefined)
    for (const word of inputOf(text, begin, end)) report(reading, word, 0, { how: fed.stdin!, row: fed })
  return end
}

function isVerb(rows: readonly KnownRow[], said: string): boolean {
  return rows.some(({ verbs }) => verbs.includes(said))
}

/** Whether the verb of a row is this word, or letters of the options so far. */
function isMet({ verbs }: KnownRow, said: string, letters: string): boolean {
  return verbs.some(
    (verb) => verb === said || (letters !== '' && /^-\w/.test(verb) && [...verb].every((one) => letters.includes(one))),
  )
}

const fedWord = '((?:[^\\s"\'\\\\|;&<>()`$]){4,256})'
/** `echo … |` before a program, and its path or `sudo` between. */
const pipe = new RegExp(
  String.raw`((?:echo|printf|print|Write-Output)[ \t]{1,4}(?:-\w{1,4}[ \t]{1,4}|(?:${quote})?%s(?:\\{1,8}n)?(?:${quote})?[ \t]{1,4}){0,3}(?:${quote})?)${fedWord}(?:\\{1,8}n)?(?:${quote})?[ \t]{0,4}\|[ \t]{0,4}(?:[\w./-]{1,32}[ \t]{1,4}){0,3}[\w./-]{0,64}$`,
)
/** `<<< …`, and the first line of `<<END`. */
const redirected = sticky`([ \t]{0,4}(?:<<<[ \t]{0,4}(?:${quote})?|<<-?[ \t]{0,4}(?:${quote})?\w{1,32}(?:${quote})?${lineEnd}))${fedWord}`
const mostBeforePipe = 160

/** What a command reads, where the line says it. */
function inputOf(text: string, begin: number, end: number): readonly Word[] {
  work.done += 30
  const near = Math.max(0, begin - mostBeforePipe)
  const before = text.slice(near, begin)
  const bar = before.lastIndexOf('|')
  // What stands before another one goes to another program.
  const from = bar < 1 ? begin : near + before.lastIndexOf('|', bar - 1) + 1
  redirected.lastIndex = end
  return [pipe.exec(text.slice(from, begin)), redirected.exec(text)].flatMap((match, at): Word[] => {
    if (match === null) return []
    const [, head = '', said = ''] = match
    const start = (at === 0 ? from : 0) + match.index + head.length
    return [{ said, head: 0, start, end: start + said.length, next: start + said.length }]
  })
}

export function wordAt(text: string, { at, quote: around }: WordPlace, { word: plain }: Gap): Word | undefined {
  if (around !== undefined) {
    const end = closingQuote(text, at, around)
    if (end - at > longestWord) return undefined
    return { said: text.slice(at, end), head: 0, start: at, end, next: end }
  }
  plain.lastIndex = at
  const head = plain.exec(text)?.[0] ?? ''
  const opening = at + head.length
  openQuote.lastIndex = opening
  const mark = openQuote.exec(text)?.[0]
  // A quote behind a word is of the text around it, unless a value begins there: `-p"…"`, `--user="…"`.
  if (mark === undefined || !(head === '' || head.endsWith('=') || /^-\w$/.test(head))) {
    // `2>` is no word.
    const isNone = head === '' || (/^\d$/.test(head) && /[<>]/.test(text[opening] ?? ''))
    return isNone ? undefined : { said: head, head: 0, start: at, end: opening, next: opening }
  }
  const start = opening + mark.length
  const end = closingQuote(text, start, mark)
  if (end - start > longestWord) return undefined
  return { said: head + text.slice(start, end), head: head.length, start, end, next: end + mark.length }
}

/** Adds the secret that stands in the same word as its option; or says what the next word is. */
function optionIn(reading: CommandText, word: Word, states: readonly State[]): Awaited | undefined {
  const { said } = word
  for (const { row, isMeant } of states) {
    const { options, glued: heads } = row
    const howOf = (option: string): How | undefined => {
      const how = options.get(option)
      return isMeant || how === 'takes' ? how : undefined
    }
    const whole = howOf(said)
    if (whole === 'glued') return undefined
    if (whole !== undefined) return { how: whole, row }
    const sign = said.indexOf('=')
    const long = sign === -1 ? undefined : howOf(said.slice(0, sign))
    if (long !== undefined) return report(reading, word, sign + 1, { how: long, row })
    if (!/^[-/]/.test(said)) continue
    const letter = row.others.exec(said)?.[0].length
    const short = letter === undefined ? undefined : howOf(`-${said[letter]}`)
    const glued = isMeant ? heads.find((head) => said.startsWith(head))?.length : undefined
    if (short !== undefined && letter! + 1 === said.length) return short === 'glued' ? undefined : { how: short, row }
    if (short !== undefined) return report(reading, word, letter! + 1, { how: short, row })
    if (glued !== undefined) return report(reading, word, glued, { how: 'glued', row })
  }
  return undefined
}

const shortest = 4

/** Adds the secret that a word holds from here on, if it looks like one. */
function report(
  { text, found }: CommandText,
  { start, end, head }: Word,
  from: number,
  { how, row, kind }: Awaited,
): undefined {
  // Part of it stands in quotes: what to replace would be no word any more.
  if (from < head || how === 'takes') return
  let [first, last] = [start + from - head, end]
  let guard: (value: string) => boolean = () => true
  if (how === 'random') guard = looksRandom
  else if (how === 'nth') guard = isNoWord
  else if (how === 'named') guard = (value) => isNoWord(value) && passes(kind!, value, false)
  else if (how === 'cookie') guard = (value) => value.includes('=') && passes('cookie', value, false)
  else if (how === 'user') {
    const said = text.slice(first, end)
    const sign = said.indexOf(row.sign)
    const isAlone = sign === -1 || sign === said.length - 1
    guard = isAlone ? looksRandom : isNoWord
    if (isAlone) last -= sign === -1 ? 0 : 1
    else {
      // A URL spells the sign `%25`.
      first += sign + (row.sign === '%' && said.startsWith('25', sign + 1) ? 3 : 1)
      if (row.logon) last -= /@[^@]*$/.exec(said)?.[0].length ?? 0
    }
  }
  const value = unescaped(text.slice(first, last), '"')
  if (value.length < shortest || /^[-$<{`%,\s]|^public$/.test(value) || isStandIn(value) || !guard(value)) return
  addSecret(found, first, last, value)
}

export function isNoWord(value: string): boolean {
  return !/^[a-z]+$/i.test(value)
}
