import { behindGap, fields, inLine, inList, inYaml, openQuote, quote, readWords } from './command-words.ts'
import { beginsToken } from './edges.ts'
import { programs, type KnownProgram, knownPrograms } from './programs.ts'
import type { TextRange } from './types.ts'
import type { Trigger } from './walk.ts'

/** Secrets of command lines by the program and the option before them, in a text, and in a list: `["curl","-u","ada:…"]`. */
export function commandTriggers(): readonly Trigger[] {
  const byOption = atOption()
  return [
    ...[' -', '"-', "'-", '\t-'].map((text): Trigger => ({ text, group: 'commands', at: byOption })),
    // Where a secret stands behind a word without a dash.
    ...[...knownPrograms]
      .filter(([, { options, logon }]) => logon === true || [...options.keys()].some((option) => !/^-/.test(option)))
      .map(
        ([text, program]): Trigger => ({
          text,
          group: 'commands',
          at: (within, index, found) =>
            beginsToken(within, index) ? read(within, index + text.length, program, found) : 0,
        }),
      ),
  ]
}

/** The rest of a list before the field with the program: `{"args":["-u","ada:…"],"command":"curl"}`. */
const beforeProgram = new RegExp(
  String.raw`[^[\]]{1,240}\]\s{0,4},\s{0,16}${fields}${quote}(?:[\w.:-]{0,64}/){0,8}([\w-]{1,32})(?:\.exe)?(?=${quote})`,
  'y',
)
const listOpening = new RegExp(String.raw`\[\s{0,16}(${quote})`, 'y')

/** A program is looked for so far before its option. */
const farthest = 500
/** Of an answer under way so much is not written yet: by then the program is there. */
const mostBefore = 240
/** What an option of the table begins with: few words behind a dash do. */
const mayBe = (() => {
  const options = new Map([...knownPrograms.values()].flatMap((program) => [...program.options]))
  const dashed = [...options.keys()].filter((option) => option.startsWith('-'))
  const letters = dashed.filter((option) => option.length === 2).map((option) => option[1])
  const others = programs.map(({ letters: own = '' }) => own)
  const words = dashed
    .filter((option) => option.length > 2)
    .map((option) => option.slice(1) + (options.get(option) === 'glued' ? '' : String.raw`(?![\w-])`))
  return new RegExp(`-(?:[${others.join('')}]{0,8}[${letters.join('')}]|${words.join('|')})`, 'y')
})()
const isInName = Uint8Array.from({ length: 256 }, (_, code) => (/[\w.-]/.test(String.fromCharCode(code)) ? 1 : 0))
const [newline, backslash, lowerN, lowerR, lowerT] = [0x0a, 0x5c, 0x6e, 0x72, 0x74]
/** The dash of a list of YAML. */
const endsItem = /(?:^|\s|n)-$/

/** Where the next word is what a program is called. */
function nextProgram(
  text: string,
  from: number,
  before: number,
): { readonly program: KnownProgram; readonly end: number } | undefined {
  for (let start = from; start < before; start++) {
    const first = text.charCodeAt(start)
    if (isInName[first] !== 1) continue
    // In JSON text the `n` of `\n` belongs to the escape.
    const isEscape = first === lowerN || first === lowerT || first === lowerR
    if (isEscape && text.charCodeAt(start - 1) === backslash) continue
    let end = start + 1
    while (end < before && isInName[text.charCodeAt(end)] === 1) end++
    const program = knownPrograms.get(text.slice(start, end - (text.endsWith('.exe', end) ? 4 : 0)))
    if (program !== undefined) return { program, end }
    start = end
  }
  return undefined
}

function isBlank(sign: string | undefined): boolean {
  return sign === ' ' || sign === '\t'
}

/** Where the command at the earliest begins that has an option here. */
function commandStart(text: string, index: number): number {
  const farthestStart = Math.max(0, index - farthest)
  const isInLine = isBlank(text[index]) && !endsItem.test(text.slice(Math.max(0, index - 2), index))
  if (!isInLine) return farthestStart
  for (let at = index; at > farthestStart; at--) {
    const code = text.charCodeAt(at)
    if (code !== newline && code !== lowerN) continue
    let backslashes = 0
    while (text.charCodeAt(at - 1 - backslashes) === backslash) backslashes++
    // Behind a backslash the line goes on: in JSON there are three for each of the `n`.
    if (code === newline ? backslashes % 2 === 0 : backslashes % 3 !== 0) return at + 1
  }
  return farthestStart
}

/** Looks for the program before an option, once in each part of a text. */
function atOption(): Trigger['at'] {
  let seen = { text: '', index: 0, end: 0 }
  return (text, index, found) => {
    const dash = index + 1
    mayBe.lastIndex = dash
    if (!mayBe.test(text)) return 0
    if (index <= seen.index || text !== seen.text) seen = { text, index, end: 0 }
    seen.index = index
    let next = nextProgram(text, Math.max(seen.end, commandStart(text, index)), dash)
    while (next !== undefined) {
      seen.end = Math.max(next.end, read(text, next.end, next.program, found))
      if (seen.end > dash) return seen.end
      next = nextProgram(text, seen.end, dash)
    }
    seen.end = Math.max(seen.end, dash)
    return isBlank(text[index]) ? 0 : readBefore(text, index, found)
  }
}

/** @returns where the command ends whose program ends here, or the next one begins; 0 where there is no other word */
function read(text: string, end: number, program: KnownProgram, found: TextRange[]): number {
  const list = behindGap(inList, text, end)
  if (list !== undefined) return readWords(text, inList, list, program, found)
  openQuote.lastIndex = end
  const behind = openQuote.test(text) ? openQuote.lastIndex : end
  for (const gap of [inLine, inYaml]) {
    const first = behindGap(gap, text, behind)
    if (first !== undefined) return readWords(text, gap, first, program, found)
  }
  return 0
}

/** Reads a list whose program follows it, from its first word. */
function readBefore(text: string, index: number, found: TextRange[]): number {
  beforeProgram.lastIndex = index + 1
  const name = beforeProgram.exec(text)?.[1]
  const program = name === undefined ? undefined : knownPrograms.get(name)
  if (program === undefined) return 0
  const from = Math.max(0, index - mostBefore)
  listOpening.lastIndex = from + text.slice(from, index).lastIndexOf('[')
  const around = text[listOpening.lastIndex] === '[' ? listOpening.exec(text)?.[1] : undefined
  return around === undefined
    ? 0
    : readWords(text, inList, { at: listOpening.lastIndex, quote: around }, program, found)
}
