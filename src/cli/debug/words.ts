import { HarvestError, nearestWord, neutralLine } from '../../errors/index.ts'

const pairs: Readonly<Record<string, string>> = { '(': ')', '[': ']', '{': '}' }

/**
 * The commands of a line: `break refund(amount > 100); continue`. A `;` in quotes or brackets belongs to a command. What is
 * never closed opened nothing: a typo spoils its own command, and those behind it are done.
 */
export function commandsIn(line: string): readonly string[] {
  const plain = new Set<number>()
  for (;;) {
    const { commands, unclosed } = partsOf(line, plain)
    if (unclosed === undefined) return commands.map((command) => command.trim()).filter((command) => command !== '')
    plain.add(unclosed)
  }
}

/** The parts of a line, and the last place where something opens that is never closed. At `plain` places nothing opens. */
function partsOf(line: string, plain: ReadonlySet<number>) {
  const commands = ['']
  const open: { readonly at: number; readonly closing: string; readonly isQuote: boolean }[] = []
  for (let at = 0; at < line.length; at++) {
    const character = line[at] ?? ''
    const inner = open.at(-1)
    if (character === ';' && inner === undefined) {
      commands.push('')
      continue
    }
    const isEscape = character === '\\' && inner?.isQuote === true
    commands.push((commands.pop() ?? '') + character + (isEscape ? (line[++at] ?? '') : ''))
    if (character === inner?.closing) open.pop()
    else if (inner?.isQuote !== true && !plain.has(at)) {
      const isQuote = /["'`]/.test(character)
      const closing = isQuote ? character : pairs[character]
      if (closing !== undefined) open.push({ at, closing, isQuote })
    }
  }
  return { commands, unclosed: open.at(-1)?.at }
}

/** Words as a shell reads them: blanks part them, quotes keep them together, a backslash takes the next letter as it is. */
export function shellWords(text: string): readonly string[] {
  const words: string[] = []
  let word: string | undefined
  let quote: string | undefined
  for (let at = 0; at < text.length; at++) {
    const character = text[at] ?? ''
    if (quote !== undefined) {
      if (character === quote) quote = undefined
      else if (character === '\\' && quote === '"' && /["\\]/.test(text[at + 1] ?? '')) word = (word ?? '') + text[++at]
      else word = (word ?? '') + character
    } else if (/["']/.test(character)) {
      quote = character
      word ??= ''
    } else if (/\s/.test(character)) {
      if (word !== undefined) words.push(word)
      word = undefined
    } else word = (word ?? '') + (character === '\\' ? (text[++at] ?? '') : character)
  }
  if (quote !== undefined) throw wrong(`this ${quote} is not closed`, [`close it: ${text}${quote}`])
  return word === undefined ? words : [...words, word]
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
