/**
 * Text from a tape made safe to print: it cannot move the cursor, hide itself, forge a line of ours or speak to a CI runner.
 *
 * Control characters, direction marks and invisible tags appear as escapes such as `\x1b` and `\u202e`; line breaks stay,
 * and every line after the first starts with `| ` so that it is seen to belong to the text. What CI runners read as
 * commands (`::error::…` at the start of a line, `##[…]` and `##vso[…]` anywhere) loses its first character to an escape.
 */
export function neutral(text: string): string {
  // Most texts are words: lists have thousands.
  if (words.test(text)) return text
  return text
    .replace(/\r\n?/g, '\n')
    .replace(unprintable, escaped)
    .replace(/^([^\S\n]*):(?=:)/gm, '$1\\x3a')
    .replace(/#(?=#(?:\[|vso\[|teamcity\[))/gi, '\\x23')
    .replaceAll('\n', '\n| ')
}

/** One line of ASCII in which nothing of the above can stand. */
const words = /^(?! *:)[ !"$-~]*$/

/** {@link neutral} text in one line of at most `max` characters: line breaks become `⏎`, the rest is cut with `…`. */
export function neutralLine(text: string, max = 120): string {
  if (text.length <= max && words.test(text)) return text
  // What is cut away need not be escaped; a tape may hold megabytes.
  const line = neutral(text.slice(0, max + 1).replace(/(?<!\s)\s*[\r\n]\s*/g, '⏎'))
  return line.length > max ? `${line.slice(0, max - 1)}…` : line
}

/** A text with quotes around it where nothing of it would be seen: `""`, `"  "`. */
export function visible(text: string): string {
  return text.trim() === '' ? `"${text.replaceAll('\n', '⏎')}"` : text
}

// C0 without the line feed, DEL and C1; direction marks and line separators; what no terminal shows but a model reads
// (blanks without width, invisible tags, interlinear marks), but for the joiners and variants that scripts and emoji
// need; halves of surrogate pairs and code points that are no characters.
const unprintable =
  /(?!\u200c|\u200d|[\ufe00-\ufe0f])[\u0000-\u0009\u000b-\u001f\u007f-\u009f\u200e\u200f\u2028-\u202e\ufff9-\ufffb\u{e0000}-\u{e0fff}\p{Default_Ignorable_Code_Point}\p{Noncharacter_Code_Point}\p{Surrogate}]/gu

/** Whether a terminal shows all of it, on one line. */
function isPrintable(text: string): boolean {
  return !text.includes('\n') && text.search(unprintable) === -1
}

function escaped(character: string): string {
  const code = character.codePointAt(0) ?? 0
  if (code <= 0xff) return `\\x${code.toString(16).padStart(2, '0')}`
  return code <= 0xffff ? `\\u${code.toString(16).padStart(4, '0')}` : `\\u{${code.toString(16)}}`
}

// JSON escapes C0 controls only. The same value in other letters: what `neutral` takes out of text, as `\u` escapes.
const unseen =
  /(?!\u200c|\u200d|[\ufe00-\ufe0f])[\u007f-\u009f\u200e\u200f\u2028-\u202e\ufff9-\ufffb\u{e0000}-\u{e0fff}\p{Default_Ignorable_Code_Point}\p{Noncharacter_Code_Point}]|#(?=#(?:\[|vso\[|teamcity\[))/giu

/** JSON that holds the same values, with nothing in it a terminal or a CI runner obeys. */
export function neutralJson(json: string): string {
  return json.replace(unseen, inJson)
}

function inJson(characters: string): string {
  return [...Array(characters.length).keys()]
    .map((i) => `\\u${characters.charCodeAt(i).toString(16).padStart(4, '0')}`)
    .join('')
}

/** A word as a shell reads it, on one line: in quotes where it is not plain, never cut, for it is pasted. */
export function shellWord(given: string | number): string {
  const word = String(given)
  // A tilde is a home at the beginning of a word, and behind `:` and `=`.
  if (/^[\w@%+=:,./-](?:[\w@%+=:,./#-]|(?<=\w)~)*$/.test(word) && !forRunners.test(word)) return word
  if (isPrintable(word) && !forRunners.test(word)) return `'${word.replaceAll("'", `'\\''`)}'`
  return `$'${word.replace(/[\\']/g, '\\$&').replace(everyForRunners, '\\x23').replace(/./gsu, shellEscaped)}'`
}

/** Speaks to a CI runner anywhere in a line. */
const forRunners = /#(?=#(?:\[|vso\[|teamcity\[))/i
const everyForRunners = new RegExp(forRunners, 'gi')

/** In `$'…'` of a shell. */
function shellEscaped(character: string): string {
  if (isPrintable(character)) return character
  if (character === '\n') return '\\n'
  const point = character.codePointAt(0) ?? 0
  const code = point.toString(16)
  if (point < 0x80) return `\\x${code.padStart(2, '0')}`
  return point <= 0xffff ? `\\u${code.padStart(4, '0')}` : `\\U${code.padStart(8, '0')}`
}
