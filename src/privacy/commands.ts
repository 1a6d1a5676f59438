import {
  behindBlock,
  behindGap,
  fields,
  inElements,
  inFlow,
  inItems,
  inLine,
  inList,
  inYaml,
  isInFlow,
  lineEnd,
  openQuote,
  type WordPlace,
  quote,
  type CommandText,
  readWords,
  white,
} from './command-words.ts'
import { beginsToken, codesOf, sticky } from './edges.ts'
import type { NameTable } from './names.ts'
import { nearTriggers } from './near.ts'
import { optionByName } from './option-names.ts'
import { type KnownRow, knownPrograms, programs } from './programs.ts'
import type { TextRange } from './types.ts'
import type { Trigger } from './walk.ts'
import { walking, work } from './work.ts'

/** Secrets of command lines by the program and the option before them, in a text, and in a list: `["curl","-u","ada:…"]`. */
export function commandTriggers(names: NameTable): readonly Trigger[] {
  const look = lookForProgram(names)
  const rows = [...knownPrograms]
  return [
    ...[' -', '"-', "'-", '\t-', '>-'].map(
      (text): Trigger => ({
        text,
        group: 'commands',
        at(within, index, found) {
          mayBe.lastIndex = index + 1
          const next = mayBe.test(within) ? look(within, index, index + 1, found) : 0
          // What begins with two is looked for by them.
          return next > 0 || within[index + 2] === '-' ? next : optionByName(names, within, index + 1, found)
        },
      }),
    ),
    { text: '--', at: (within, index, found) => optionByName(names, within, index, found) },
    // Programs that are named more often than they are configured are looked for once the verb stands there.
    ...verbsOf(rows.flatMap(([, all]) => all.filter(({ named }) => named))).map(
      (text): Trigger => ({
        text,
        group: 'commands',
        at: (within, index, found) => (beginsToken(within, index) ? look(within, index - 1, index, found) : 0),
      }),
    ),
    // Where a secret stands behind a word without a dash.
    ...rows
      .filter(([, all]) => all.some(isFoundByName))
      .map(
        ([text, all]): Trigger => ({
          text,
          group: 'commands',
          at: (within, index, found) =>
            beginsToken(within, index) ? read({ text: within, names, found }, index, index + text.length, all) : 0,
        }),
      ),
    ...nearTriggers(() => true, dialogues),
  ]
}

/** Verbs of rows; those that begin with another one are found with it: `configure` with `config`. */
function verbsOf(rows: readonly KnownRow[]): readonly string[] {
  const all = new Set(rows.flatMap(({ verbs }) => verbs))
  return [...all].filter((verb) => ![...all].some((other) => other !== verb && verb.startsWith(other)))
}

/** Whether a row tells of secrets behind words without a dash. */
function isFoundByName({ logon, named, nth, options, stdin, verbs }: KnownRow): boolean {
  const hasDash = verbs.length > 0 && verbs.every((verb) => verb.startsWith('-'))
  return (
    logon === true ||
    (named === true && verbs.length === 0) ||
    ((nth.length > 0 || stdin !== undefined) && !hasDash) ||
    [...options.keys()].some((option) => !option.startsWith('-'))
  )
}

/** What is said to a program that asks. */
const dialogues = [
  {
    anchor: 'expect',
    pattern:
      /expect\w{0,8}[\s(][^;]{0,96}?(?:assword|assphrase)[^;]{0,96}?(?:\b|\\n|\\t)send(?:line(?=[^"']{1,16}["'][^"']{4,128}["'])|(?=[^"']{1,16}["'][^"'\\]{4,128}\\{1,8}[rn]))(?:\s{1,4}--)?[\s(]{1,4}\\*["']([^\s"'\\$]{4,128})/y,
    skip: 96,
  },
]

const path = String.raw`(?:[\w.:-]{0,64}/){0,8}([\w-]{1,32})`
/** The rest of a list before the field with the program: `{"args":["-u","ada:…"],"command":"curl"}`. */
const behindList = sticky`${quote}${white}{0,64}\]${white}{0,4},${white}{0,64}${fields}(?:\[${white}{0,64})?${quote}${path}(?:\.exe)?(?=${quote})`
/** The same of YAML, where Kubernetes writes the arguments first. */
const behindYaml = sticky`(?:${quote})?[ \t]{0,4}${lineEnd}command:[ \t]{0,4}(?:\[[ \t]{0,4}|${lineEnd}- )?(?:${quote})?${path}(?![\w.-])`
const listOpening = sticky`\[${white}{0,64}(${quote})`
/** So far behind an option a program may be named, and a list begin before it. Until then no more of an answer under way is written. */
export const farthest = 8_192
/** So far before a list its program may stand, and before an item of YAML. */
const [mostFields, mostItems] = [1_024, 2_048]
const [args, item] = ['args:', /(?:^|\s|n)- {1,4}(?:\\*["'])?$/]

/** What an option of the table begins with: few words behind a dash do. */
const mayBe = (() => {
  const all = [...knownPrograms.values()].flat()
  const options = new Map(all.flatMap((row) => [...row.options, ...row.verbs.map((verb) => [verb, 'verb'] as const)]))
  const dashed = [...options.keys()].filter((option) => option.startsWith('-'))
  const letters = dashed.filter((option) => option.length === 2).map((option) => option[1])
  const others = programs.map(({ letters: own = '' }) => own)
  const words = dashed
    .filter((option) => option.length > 2)
    .map((option) => option.slice(1) + (options.get(option) === 'glued' ? '' : String.raw`(?![\w-])`))
  return new RegExp(`-(?:[${others.join('')}]{0,8}[${letters.join('')}]|${words.join('|')})`, 'y')
})()
const isInName = codesOf(/[\w.-]/)
const [newline, backslash, lowerN, lowerR, lowerT, dash] = [0x0a, 0x5c, 0x6e, 0x72, 0x74, 0x2d]

/** Where the next word is what a program is called. */
function nextProgram(
  text: string,
  from: number,
  before: number,
): { readonly rows: readonly KnownRow[]; readonly start: number; readonly end: number } | undefined {
  for (let start = from; start < before; start++) {
    const first = text.charCodeAt(start)
    if (isInName[first] !== 1) continue
    // In JSON text the `n` of `\n` belongs to the escape.
    const isEscape = first === lowerN || first === lowerT || first === lowerR
    if (isEscape && text.charCodeAt(start - 1) === backslash) continue
    let end = start + 1
    while (end < before && isInName[text.charCodeAt(end)] === 1) end++
    const rows = knownPrograms.get(text.slice(start, end - (text.endsWith('.exe', end) ? 4 : 0)))
    if (rows !== undefined) return { rows, start, end }
    start = end
  }
  return undefined
}

function isBlank(sign: string | undefined): boolean {
  return sign === ' ' || sign === '\t'
}

/** What stands before the end of a line that goes on, and before its `n` in JSON, where three backslashes stand for one. */
const goesOn = /(?:(?<!\\)(?:\\\\){0,8}\\|[\^`])\r?$/
const goesOnInJson = /(?:(?<!\\)(?:\\{3}){1,4}(?:r\\{1,8})?|[\^`](?:\\{1,8}r)?\\{1,8})$/

/** Whether an option stands behind the dash of a list of YAML. */
function isItem(text: string, index: number): boolean {
  return item.test(text.slice(Math.max(0, index - 16), index + 1))
}

/** Where the command at the earliest begins that has an option here. What stands before the floor was read. */
function commandStart(text: string, index: number, floor: number): number {
  if (!isBlank(text[index]) || isItem(text, index)) return Math.max(floor, index - mostItems)
  let first = text.charCodeAt(index + 1)
  for (let at = index; at > floor; at--) {
    const code = text.charCodeAt(at)
    const isEnd =
      (code === newline || (code === lowerN && text.charCodeAt(at - 1) === backslash)) &&
      !(code === newline ? goesOn : goesOnInJson).test(text.slice(Math.max(0, at - 24), at))
    // No command begins with an option.
    if (isEnd && first !== dash) return at + 1
    if (isEnd) first = 0
    else if (code > 0x20) first = code
  }
  return floor
}

/** What it costs to look for a program, and to begin to read its words. */
const perLook = 14

/** Looks for the program of an option or verb, once in each part of a text. */
function lookForProgram(names: NameTable) {
  // What of a text was read: up to the last option, command, and list without a program before it.
  let seen = { walk: 0, index: 0, end: 0, list: 0 }
  return (text: string, index: number, word: number, found: TextRange[]): number => {
    // No two triggers ask at one place.
    if (index <= seen.index || seen.walk !== walking.nth) seen = { walk: walking.nth, index, end: 0, list: 0 }
    seen.index = index
    const floor = seen.end
    if (floor > word) return 0
    work.done += perLook
    const reading: CommandText = { text, names, found }
    const list = isBlank(text[index]) ? undefined : listAround(text, index, floor)
    const from = list === undefined ? commandStart(text, index, floor) : Math.max(floor, list.at - mostFields)
    work.done += (index - from) >> 3
    let next = nextProgram(text, from, word)
    while (next !== undefined) {
      seen.end = Math.max(next.end, read(reading, next.start, next.end, next.rows))
      if (seen.end > word) return seen.end
      next = nextProgram(text, seen.end, word)
    }
    seen.end = word
    if (index >= seen.list) seen.list = readBefore(reading, index, floor, list)
    return 0
  }
}

/** @returns where the command ends whose program stands here, or the next one begins; 0 where there is no other word */
function read(reading: CommandText, begin: number, end: number, rows: readonly KnownRow[]): number {
  const { text } = reading
  work.done += perLook
  openQuote.lastIndex = end
  const behind = openQuote.test(text) ? openQuote.lastIndex : end
  for (const gap of [inList, inElements, inYaml, inLine, inFlow]) {
    const first = behindGap(gap, text, gap === inList ? end : behind)
    if (first === undefined || (gap === inFlow && !isInFlow(text, begin))) continue
    return readWords(reading, gap, first, rows, begin, end)
  }
  const block = behindBlock(text, behind, (next) => next === '-')
  const isFed = rows.some(({ stdin }) => stdin !== undefined)
  return block !== undefined || isFed ? readWords(reading, inLine, block, rows, begin, end) : 0
}

/** The first word of the list around an option in quotes. */
function listAround(text: string, index: number, floor: number): WordPlace | undefined {
  const from = Math.max(floor, index - farthest)
  const head = text.slice(from, index + 1)
  for (let at = head.lastIndexOf('['); at !== -1; at = at === 0 ? -1 : head.lastIndexOf('[', at - 1)) {
    work.done += 6
    listOpening.lastIndex = from + at
    const around = listOpening.exec(text)?.[1]
    if (around !== undefined && listOpening.lastIndex <= index + 1 && text.endsWith(around, index + 1))
      return { at: listOpening.lastIndex, quote: around }
  }
  return undefined
}

/** Reads a list whose program follows it, from its first word. Returns where it ends; 0 without one. */
function readBefore(reading: CommandText, index: number, floor: number, list: WordPlace | undefined): number {
  const { text, names } = reading
  const from = Math.max(floor, index - mostItems)
  const first = isItem(text, index)
    ? behindGap(inItems, text, from + text.slice(from, index).lastIndexOf(args) + args.length)
    : list
  if (first === undefined || first.at > index + 1) return 0
  const [gap, behind] = first === list ? ([inList, behindList] as const) : ([inItems, behindYaml] as const)
  const end = readWords({ text, names, found: [] }, gap, first, [], first.at, first.at)
  behind.lastIndex = end
  const rows = knownPrograms.get(behind.exec(text)?.[1] ?? '')
  if (rows !== undefined && behind.lastIndex - index <= farthest)
    readWords(reading, gap, first, rows, first.at, first.at)
  return end
}
