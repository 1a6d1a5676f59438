import { HarvestError, nearestWord, neutralLine } from '../../errors/index.ts'
import { shellWords } from '../../errors/words.ts'

const closings: Readonly<Record<string, string>> = {
  '(': ')',
  '[': ']',
  '{': '}',
  ...Object.fromEntries([...`"'\``].map((quote) => [quote, quote])),
}

/**
 * The commands of a line: `break refund(amount > 100); continue`. A `;` in quotes or brackets belongs to a command. What is
 * never closed opened nothing: a typo spoils its own command, and those behind it are done.
 */
export function commandsIn(line: string): readonly string[] {
  const ends = endsIn(line)
  const commands: string[] = []
  let from = 0
  for (let at = 0; at < line.length; at++) {
    if (line[at] === ';') {
      commands.push(line.slice(from, at))
      from = at + 1
    } else at = endOf(line, at, ends)
  }
  return [...commands, line.slice(from)].map((command) => command.trim()).filter((command) => command !== '')
}

type Ends = Readonly<Record<string, Int32Array>>

/**
 * For each closing sign: where what opened right before a place is closed, or 0. Read from the end, each place once: what is
 * inside is known by then.
 */
function endsIn(line: string): Ends {
  const ends: Ends = Object.fromEntries(Object.values(closings).map((sign) => [sign, new Int32Array(line.length + 2)]))
  for (let at = line.length - 1; at >= 0; at--) {
    const inside = endOf(line, at, ends)
    for (const [closing, places] of Object.entries(ends)) {
      const isQuote = closing in closings
      const next = isQuote ? (line[at] === '\\' ? at + 1 : at) : inside
      places[at] = line[at] === closing ? at : (places[next + 1] ?? 0)
    }
  }
  return ends
}

/** The end of what opens here and is closed; else this place itself. */
function endOf(line: string, at: number, ends: Ends): number {
  const closing = closings[line[at] ?? '']
  return closing === undefined ? at : ends[closing]?.[at + 1] || at
}

/** Words as a shell reads them. */
export function wordsIn(text: string): readonly string[] {
  const { words, unclosed } = shellWords(text)
  if (unclosed !== undefined) throw wrong(`this ${unclosed} is not closed`, [`close it: ${text}${unclosed}`])
  return words
}

/** Words as a shell reads them, but for a call: all up to its last bracket is one word, blanks and quotes as they stand. */
export function changesIn(text: string): readonly string[] {
  const ends = endsIn(text)
  const words: string[] = []
  let from = 0
  for (const { index, 0: call } of text.matchAll(/(?<=^|\s)[\w.:/-]+\(/g)) {
    const open = index + call.length - 1
    const end = endOf(text, open, ends)
    const before = text.slice(from, index)
    if (index < from || end === open || shellWords(before).unclosed !== undefined) continue
    words.push(...wordsIn(before), text.slice(index, end + 1))
    from = end + 1
  }
  return [...words, ...wordsIn(text.slice(from))]
}

/** The changes of a line that makes forks, and the options of `fork` behind them. */
export function partsOf(words: readonly string[]): {
  readonly changes: readonly string[]
  readonly options: readonly string[]
} {
  const at = words.findIndex((word) => word.startsWith('--'))
  const end = at === -1 ? words.length : at
  return { changes: words.slice(0, end), options: words.slice(end) }
}

/** A whole number from 1; `missing` where nothing was typed. */
export function numberIn(word: string | undefined, usage: string, missing?: number): number {
  if (word === undefined || word === '') {
    if (missing !== undefined) return missing
    throw wrong(`a number is missing`, [`like this: ${usage}`])
  }
  if (/^\d{1,9}$/.test(word)) return Number(word)
  throw wrong(`'${neutralLine(word, 40)}' is not a whole number`, [`like this: ${usage}`])
}

/** The error for a line the debugger cannot do. */
export function wrong(what: string, fix: readonly string[]): HarvestError {
  return new HarvestError('HARVEST_DEBUG_COMMAND', { what, fix: [...fix] })
}

const looks = ['inspect', 'clock', 'diff', 'locate', 'rule', 'steps', 'timeline', 'locals', 'print', 'source', 'help']

/** Whether a command moves nothing, makes nothing and costs nothing. */
export function isLook(line: string): boolean {
  return looks.includes(line.trim().split(/\s/, 1)[0] ?? '')
}

/** Short forms that are a choice of ours; all others are the beginning of one name alone. */
const short: Readonly<Record<string, string>> = {
  b: 'back',
  br: 'break',
  c: 'continue',
  d: 'diff',
  f: 'forward',
  g: 'goto',
  h: 'help',
  i: 'inspect',
  l: 'last',
  n: 'next',
  p: 'print',
  q: 'quit',
  exit: 'quit',
  rc: 'reverse-continue',
  t: 'timeline',
  whatif: 'what_if',
  '?': 'help',
}

/** The command someone meant: its name, its short form, or a beginning that fits one name alone, of those that are `likely`. */
export function commandNamed(word: string, names: readonly string[], likely: readonly string[] = names): string {
  const lower = word.toLowerCase().replaceAll('-', '_')
  const known =
    names.find((name) => name.replaceAll('-', '_') === lower) ??
    (Object.hasOwn(short, lower) ? short[lower] : undefined)
  if (known !== undefined) return known
  const begun = likely.filter((name) => name.replaceAll('-', '_').startsWith(lower))
  if (begun.length === 1) return begun[0] ?? word
  if (begun.length > 1) throw wrong(`'${neutralLine(word, 40)}' could be ${begun.join(' or ')}`, begun)
  const nearest = nearestWord(word, names)
  throw wrong(`unknown command '${neutralLine(word, 40)}'`, [
    ...(nearest === undefined ? [] : [`did you mean: ${nearest}`]),
    `for all commands: help`,
  ])
}
