import { readFileSync } from 'node:fs'
import { neutralLine } from '../../errors/index.ts'
import type { AnswerEdit, ForkRequest } from '../../fork/index.ts'
import type { Json } from '../../tape/index.ts'
import { numeral } from '../../report/moments.ts'
import type { CommandSpec } from '../command.ts'
import { badValue } from '../parse.ts'

/** `30` is a number, `"30"` and `thirty` are texts. */
export function jsonOrText(word: string): Json {
  try {
    return JSON.parse(word) as Json
  } catch {
    // A word is rarely quoted twice in a shell: what is not JSON is meant as text.
    return word
  }
}

/** JSON, or a text without quotes; what begins as JSON and is invalid is a typo. */
export function readJson(word: string, option: string, command: CommandSpec): Json {
  const value = jsonOrText(word)
  if (value !== word || !/^\s*[[{"]/.test(word)) return value
  throw badValue(command, option, word, 'JSON')
}

/** `name=value`, at the first `=`. */
export function readPair(word: string, option: string, command: CommandSpec): readonly [name: string, value: string] {
  const at = word.indexOf('=')
  if (at < 1) throw badValue(command, option, word, 'name=value')
  return [word.slice(0, at), word.slice(at + 1)]
}

/** `s/old/new/gi`, with any character for the slash; a backslash before it makes it a character of the text. */
export function readEdit(word: string, command: CommandSpec): AnswerEdit {
  const delimiter = word[1] ?? ''
  const parts = /^s[^\w\s\\]/.test(word) ? splitAt(word.slice(2), delimiter) : []
  const [match, replacement, flags, ...more] = parts
  if (match === undefined || match === '' || replacement === undefined || flags === undefined || more.length > 0)
    throw badValue(command, 'edit', word, 's/old/new/')
  if (!/^[gimsu]*$/.test(flags)) throw badValue(command, 'edit', word, 'the letters g, i, m, s and u at its end')
  try {
    new RegExp(match, flags)
  } catch (error) {
    const why = neutralLine((error as Error).message, 120)
    throw badValue(command, 'edit', word, `a regular expression (${why})`)
  }
  return { match, flags, with: replacement }
}

function splitAt(text: string, delimiter: string): readonly string[] {
  const parts = ['']
  for (let at = 0; at < text.length; at++) {
    const character = text[at] ?? ''
    if (character === delimiter) parts.push('')
    else if (character === '\\' && text[at + 1] === delimiter) parts.push((parts.pop() ?? '') + (text[++at] ?? ''))
    else if (character === '\\') parts.push((parts.pop() ?? '') + character + (text[++at] ?? ''))
    else parts.push((parts.pop() ?? '') + character)
  }
  return parts
}

/** A call as it was typed. */
export interface TypedCall {
  readonly name: string
  readonly args: Json
  /** Its arguments were written as JSON: what is not there is not meant. */
  readonly isWhole: boolean
}

/**
 * A tool call as one would say it: `refund(amount=10, order_id=A-1)`, `refund(amount: 10)`, `refund({"amount":10})`.
 * Values are JSON, or else text up to the comma.
 */
export function readCall(word: string, command: CommandSpec): TypedCall {
  const [, name, inner = ''] = /^\s*([^\s()]+)\s*\(([^]*)\)\s*$/.exec(word) ?? []
  if (name === undefined) throw badValue(command, 'decide', word, 'tool(key=value)')
  const whole = inner.trim().startsWith('{') ? jsonOrText(inner) : undefined
  if (whole !== undefined && typeof whole !== 'string') return { name, args: whole, isWhole: true }
  const members = splitArguments(inner).map((part) => {
    const [, key, value] = /^\s*"?([^"=:]+?)"?\s*[=:]\s*([^]*?)\s*$/.exec(part) ?? []
    if (key === undefined || value === undefined) throw badValue(command, 'decide', part, 'key=value for each argument')
    return [key, jsonOrText(value)] as const
  })
  return { name, args: Object.fromEntries(members), isWhole: false }
}

/** At the commas that stand in no text, list or map. */
function splitArguments(text: string): readonly string[] {
  if (text.trim() === '') return []
  const parts = ['']
  let depth = 0
  let isQuoted = false
  for (let at = 0; at < text.length; at++) {
    const character = text[at] ?? ''
    if (isQuoted && character === '\\') {
      parts.push((parts.pop() ?? '') + character + (text[++at] ?? ''))
      continue
    }
    if (character === '"') isQuoted = !isQuoted
    else if (!isQuoted && /[[{]/.test(character)) depth++
    else if (!isQuoted && /[\]}]/.test(character)) depth--
    if (character === ',' && depth === 0 && !isQuoted) parts.push('')
    else parts.push((parts.pop() ?? '') + character)
  }
  return parts
}

/** `+2h`, `-30m`, `1d12h`, `500ms` in milliseconds. */
export function readClock(word: string | undefined, command: CommandSpec): number | undefined {
  if (word === undefined) return undefined
  const part = `(${numeral})(ms|s|m|h|d)`
  if (!new RegExp(`^[+-]?(?:${part})+$`).test(word))
    throw badValue(command, 'clock', word, 'a time such as +2h, -30m or 1d12h')
  const parts = [...word.matchAll(new RegExp(part, 'g'))]
  const ms = parts.reduce((sum, [, count = '0', unit = 'ms']) => sum + Number(count) * (units[unit] ?? 1), 0)
  return word.startsWith('-') ? -ms : ms
}

const units: Readonly<Record<string, number>> = { ms: 1, s: 1_000, m: 60_000, h: 3_600_000, d: 86_400_000 }

/** `5=replayed,7=live`; `pinned` is read as `replayed`. */
export function readModes(word: string | undefined, command: CommandSpec): ForkRequest['modes'] {
  if (word === undefined) return undefined
  const modes = word.split(',').map((part) => {
    const [, step, mode] = /^([1-9]\d*)=(replayed|pinned|live)$/.exec(part.trim()) ?? []
    if (step === undefined) throw badValue(command, 'mode', word, 'such as 5=replayed,7=live')
    return [Number(step), mode === 'live' ? 'live' : 'replayed'] as const
  })
  return Object.fromEntries(modes)
}

/** The text of a file an option names. */
export function readGivenFile(file: string, option: string, command: CommandSpec): string {
  try {
    return readFileSync(file, 'utf8')
  } catch (error) {
    const { code = 'unreadable' } = error as NodeJS.ErrnoException
    throw badValue(command, option, file, `a file that can be read (${code})`)
  }
}
