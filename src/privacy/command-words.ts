import { closingQuote } from './edges.ts'
import { unescaped } from './named.ts'
import { type How, type KnownProgram, knownPrograms } from './programs.ts'
import type { TextRange } from './types.ts'
import { isStandIn, looksRandom, passes } from './values.ts'

export const quote = String.raw`\\*["']`
const field = String.raw`${quote}\w{1,32}${quote}\s{0,4}(?::|\\{1,8}u003a)\s{0,4}`
export const fields = String.raw`(?:${field}(?:${quote}[^"'\\]{0,256}${quote}|\w{1,16})\s{0,4},\s{0,16}){0,3}${field}`
const lineEnd = String.raw`(?:(?:\\{1,8}r)?\\{1,8}n|\r?\n)\s{0,64}`

/** A line goes on behind spaces, and behind a backslash at its end: in JSON three stand before its `n`. */
export const inLine = /(?:[ \t]|\\\r?\n|(?:\\{3}){1,4}n){1,64}/y
/** A list goes on with its next text. The program may stand in a field before it: `{"command":"curl","args":["-u"`. */
export const inList = new RegExp(String.raw`(${quote})\s{0,4},\s{0,16}(?:${fields})?(?:\[\s{0,16})?(${quote})`, 'y')
/** A list of YAML has a line for each word. */
export const inYaml = new RegExp(String.raw`[ \t]{0,4}${lineEnd}(?:\w{1,16}:[ \t]{0,4}${lineEnd})?-[ \t]{1,4}`, 'y')
/** Where a word begins. */
interface Place {
  readonly at: number
  /** Around each word of a list. */
  readonly quote?: string
}

/** A word of a command. */
interface Word {
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

const mostWords = 64
const longestWord = 4_096
const plainWord = /(?:[^\s"'\\;|&<>()`]|&(?=\w)|\$\([^\s()"'\\]{0,64}\)){1,4096}/y
const plainLine = /[^\r\n"'\\]{1,4096}/y
export const openQuote = new RegExp(quote, 'y')

/** The word that goes on behind a gap. */
export function behindGap(gap: RegExp, text: string, end: number): Place | undefined {
  gap.lastIndex = end
  const match = gap.exec(text)
  if (match === null || match[1] !== match[2]) return undefined
  return { at: gap.lastIndex, ...(match[2] !== undefined && { quote: match[2] }) }
}

/**
 * Adds what is secret of the words from the first.
 *
 * @returns where the command ends, or the next one begins
 */
export function readWords(text: string, gap: RegExp, first: Place, program: KnownProgram, found: TextRange[]): number {
  let place: Place | undefined = first
  let end = first.at
  let before = ''
  let awaited: How | undefined
  let isMeant = program.verbs.length === 0
  for (let count = 0; place !== undefined && count < mostWords; count++) {
    const word = wordAt(text, place, gap)
    if (word === undefined) break
    const { said } = word
    // Another command, unless it is the value of the option before it.
    if (knownPrograms.has(said) && !before.startsWith('-')) return place.at
    if (awaited !== undefined && !said.startsWith('-')) {
      report(text, word, 0, awaited, program, found)
      awaited = undefined
    } else {
      if (!/^[-/]/.test(said)) {
        if (program.wraps) break
        isMeant ||= program.verbs.includes(said)
        if (program.logon) report(text, word, 0, 'user', program, found)
      }
      awaited = optionIn(text, word, program, isMeant, found)
    }
    before = said
    end = word.next
    place = behindGap(gap, text, end)
  }
  return end
}

function wordAt(text: string, { at, quote: around }: Place, gap: RegExp): Word | undefined {
  if (around !== undefined) {
    const end = closingQuote(text, at, around)
    if (end - at > longestWord) return undefined
    return { said: text.slice(at, end), head: 0, start: at, end, next: end }
  }
  const plain = gap === inYaml ? plainLine : plainWord
  plain.lastIndex = at
  const head = plain.exec(text)?.[0] ?? ''
  const opening = at + head.length
  openQuote.lastIndex = opening
  const mark = openQuote.exec(text)?.[0]
  // A quote behind a word is of the text around it, unless a value begins there: `-p"…"`, `--user="…"`.
  if (mark === undefined || !(head === '' || head.endsWith('=') || /^-\w$/.test(head)))
    return head === '' ? undefined : { said: head, head: 0, start: at, end: opening, next: opening }
  const start = opening + mark.length
  const end = closingQuote(text, start, mark)
  if (end - start > longestWord) return undefined
  return { said: head + text.slice(start, end), head: head.length, start, end, next: end + mark.length }
}

/** Adds the secret that stands in the same word as its option; or says what the next word is. */
function optionIn(
  text: string,
  word: Word,
  program: KnownProgram,
  isMeant: boolean,
  found: TextRange[],
): How | undefined {
  const { said } = word
  const { options } = program
  const howOf = (option: string): How | undefined => {
    const how = options.get(option)
    return isMeant || how === 'user' ? how : undefined
  }
  const whole = howOf(said)
  if (whole !== undefined) return whole === 'glued' ? undefined : whole
  const sign = said.indexOf('=')
  const long = sign === -1 ? undefined : howOf(said.slice(0, sign))
  if (long !== undefined) report(text, word, sign + 1, long, program, found)
  if (long !== undefined) return undefined
  const letter = program.others.exec(said)?.[0].length
  const short = letter === undefined ? undefined : howOf(`-${said[letter]}`)
  const glued = [...options].find(([option, how]) => how === 'glued' && said.startsWith(option))?.[0].length
  if (short !== undefined && letter! + 1 === said.length) return short
  if (short !== undefined) report(text, word, letter! + 1, short, program, found)
  else if (glued !== undefined) report(text, word, glued, 'glued', program, found)
  return undefined
}

const shortest = 4

/** Adds the secret that a word holds from here on, if it looks like one. */
function report(
  text: string,
  { start, end, head }: Word,
  from: number,
  how: How,
  program: KnownProgram,
  found: TextRange[],
) {
  // Part of it stands in quotes: what to replace would be no word any more.
  if (from < head) return
  let [first, last] = [start + from - head, end]
  let guard: (value: string) => boolean = () => true
  if (how === 'random') guard = looksRandom
  else if (how === 'cookie') guard = (value) => value.includes('=') && passes('cookie', value, false)
  else if (how === 'user') {
    const said = text.slice(first, end)
    const sign = said.indexOf(program.sign)
    const isAlone = sign === -1 || sign === said.length - 1
    guard = isAlone ? looksRandom : isNoWord
    if (isAlone) last -= sign === -1 ? 0 : 1
    else {
      // A URL spells the sign `%25`.
      first += sign + (program.sign === '%' && said.startsWith('25', sign + 1) ? 3 : 1)
      if (program.logon) last -= /@[^@]*$/.exec(said)?.[0].length ?? 0
    }
  }
  const value = unescaped(text.slice(first, last), '"')
  if (value.length < shortest || /^[-$<{`%,\s]/.test(value) || isStandIn(value) || !guard(value)) return
  found.push({ kind: 'secret', start: first, end: last, value, contextual: true })
}

function isNoWord(value: string): boolean {
  return !/^[a-z]+$/i.test(value)
}
