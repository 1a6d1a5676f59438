import { Lexer } from 'yaml'
import type { HarvestError } from '../errors/index.ts'
import { lineAt } from './json.ts'
import { aliasCountCap, depthCap, digitCap, yamlDense, yamlLineCap, yamlTokenCap } from './limits.ts'
import { type TextPosition, refusal } from './refusal.ts'
import { lineOfFile, type YamlPart } from './yaml-part.ts'

/** What YAML takes for a number when it is not quoted. */
const number = /^[-+]?(?:0x[0-9a-f]*|0o[0-7]*|\.?[0-9][0-9.]*(?:e[-+]?[0-9]*)?)$/i

/** What the lexer puts in between: the beginning of a document, of a scalar, and a mistake. */
const marks: ReadonlySet<string> = new Set(['\u0002', '\u0018', '\u001f'])

/**
 * Parts are counted before anything is made of them: taking a text into its parts is a fifth of the work of reading it.
 * Long runs of digits and letters are shortened for that. No part ends in the middle of one, and what is too long for a
 * number stays so.
 */
export function refuseParts(part: YamlPart): void {
  const { file } = part
  // A part has a character of its own, and a scalar a mark before it. No number of so few digits takes long.
  if (part.text.length * 2 <= yamlTokenCap) return
  refuseLines(part)
  const text = shortened(part.text, digitCap + 1)
  const nesting = new Nesting()
  let [count, aliases, at] = [0, 0, 0]
  const place = (): TextPosition => ({ file, line: lineOfFile(part, lineAt(text, at) - 1) })
  for (const lexeme of new Lexer().lex(text)) {
    if (++count > yamlTokenCap || (count > yamlDense.parts && count * yamlDense.characters > at))
      throw refusal('HARVEST_IMPORT_TOO_LARGE', place(), `more than ${count - 1} parts of YAML in ${at} characters`)
    if (nesting.after(lexeme) > depthCap)
      throw refusal('HARVEST_IMPORT_TOO_DEEP', place(), `nested deeper than ${depthCap} levels`)
    if (lexeme.length > 1 && lexeme[0] === '*' && ++aliases > aliasCountCap)
      throw refusal('HARVEST_IMPORT_BOMB', place(), `more than ${aliasCountCap} aliases`)
    if (lexeme.length > digitCap && number.test(lexeme))
      throw refusal('HARVEST_IMPORT_BOMB', place(), `a number of more than ${digitCap} digits`)
    if (!marks.has(lexeme)) at += lexeme.length
  }
}

/** How deep the parts of a text lie, as far as brackets and indents tell. The parser, which is asked later, counts more. */
class Nesting {
  #brackets = 0
  readonly #indents: number[] = []
  #last = ''

  after(lexeme: string): number {
    const last = this.#last
    this.#last = lexeme
    if (lexeme === '[' || lexeme === '{') this.#brackets++
    else if (lexeme === ']' || lexeme === '}') this.#brackets--
    else if (last.endsWith('\n') && this.#brackets === 0) this.#line(lexeme[0] === ' ' ? lexeme.length : 0)
    return this.#depth
  }

  get #depth(): number {
    return this.#brackets + this.#indents.length
  }

  #line(indent: number): void {
    while (this.#indents.length > 0 && this.#indents.at(-1)! >= indent) this.#indents.pop()
    if (indent > 0) this.#indents.push(indent)
  }
}

/** A text with no run of letters, digits and dots that is longer than so many characters. A number stays one. */
function shortened(text: string, longest: number): string {
  const pieces: string[] = []
  let from = 0
  // A longer run stands at one of these places.
  for (let at = longest; at < text.length; at += longest + 1) {
    let begin = at
    while (begin > from && isOfWord(text.charCodeAt(begin - 1))) begin--
    noWord.lastIndex = at
    const end = noWord.exec(text)?.index ?? text.length
    if (end - begin <= longest) continue
    const isNumber = number.test(text.slice(begin, end))
    pieces.push(text.slice(from, begin), isNumber ? text.slice(begin, begin + longest) : 'x'.repeat(longest))
    from = end
    at = Math.max(at, end)
  }
  return pieces.length === 0 ? text : pieces.join('') + text.slice(from)
}

const noWord = /[^0-9A-Za-z.]/g

function isOfWord(code: number): boolean {
  return (
    (code >= 0x61 && code <= 0x7a) || (code >= 0x41 && code <= 0x5a) || (code >= 0x30 && code <= 0x39) || code === 0x2e
  )
}

/** A folded text of millions of lines is one part, and takes seconds to unfold. */
function refuseLines({ text, file, line }: YamlPart): void {
  let count = 0
  for (let at = text.indexOf('\n'); at !== -1; at = text.indexOf('\n', at + 1))
    if (++count > yamlLineCap) throw manyLines(file, line)
}

/** The error for a part of YAML that has too many lines. */
export function manyLines(file: string, line: number): HarvestError {
  return refusal('HARVEST_IMPORT_TOO_LARGE', { file, line }, `more than ${yamlLineCap} lines of YAML in one part`)
}
