import {
  behindBlock,
  behindGap,
  type Gap,
  inElements,
  inFlow,
  inLine,
  inList,
  inItems,
  isInFlow,
  openQuote,
  type WordPlace,
  wordAt,
} from './command-words.ts'
import { addSecret, isPlainComma, optionEnd, withoutLast } from './edges.ts'
import { closesLiteral, listed, quoted, word as lettersOnly } from './named.ts'
import type { NameTable } from './names.ts'
import type { TextRange } from './types.ts'
import { type NameClass, passes } from './values.ts'
import { work } from './work.ts'

const dash = 0x2d
const breaksLine = /[\n\\\0]/
/** Where `openssl` finds it. */
const source = /^(?:pass|env|file|fd):/

/**
 * The value of an option whose name promises a secret, where more than a space stands between them: the end of a line of a
 * shell, of an item of YAML, of an element. Behind one dash, `-password …`, a space does.
 */
export function optionByName(names: NameTable, text: string, index: number, found: TextRange[]): number {
  if (text.charCodeAt(index - 1) === dash) return 0
  const isLong = text.charCodeAt(index + 1) === dash
  const begin = index + (isLong ? 2 : 1)
  const end = optionEnd(text, begin)
  const kind = end === begin ? undefined : names.classOfFlag(text.slice(begin, end))
  if (kind === undefined) return 0
  work.done += 30
  if (!isLong && kind !== 'always' && kind !== 'random' && kind !== 'pass') return 0
  if (isPlainComma(text, end)) return valueAt({ at: end + 3, quote: '"' }, inList)
  // Mostly a space: no quote ends the option.
  const isQuoted = text[end] !== ' '
  const list = isQuoted ? behindGap(inList, text, end) : undefined
  if (list !== undefined) return valueAt(list, inList)
  openQuote.lastIndex = end
  const mark = isQuoted ? (openQuote.exec(text)?.[0] ?? '') : ''
  const behind = end + mark.length
  const item = behindGap(inItems, text, behind)
  if (item !== undefined) {
    const column = columnOf(text, index)
    return column !== undefined && column === columnOf(text, item.at) ? valueAt(item, inItems) : 0
  }
  const line = behindGap(inLine, text, behind)
  if (line !== undefined) {
    const isBroken = breaksLine.test(text.slice(behind, line.at))
    // Each word of a line may stand in quotes.
    const isMeant = mark === '' ? isBroken || !isLong : text.startsWith(mark, line.at)
    return isMeant ? valueAt(line, inLine) : 0
  }
  const element = behindGap(inElements, text, end)
  if (element !== undefined) return valueAt(element, inElements)
  const flow = behindGap(inFlow, text, end)
  if (flow !== undefined) return isInFlow(text, index) ? valueAt(flow, inFlow) : 0
  const block = mark === '' ? behindBlock(text, end, () => true) : undefined
  return block === undefined ? 0 : valueAt(block, inLine)

  function valueAt(place: WordPlace, gap: Gap): number {
    const word = wordAt(text, place, gap)
    if (word === undefined || word.said.startsWith('-')) return 0
    const { start, end: last } = word
    if (place.quote !== undefined) listed(names, text, start, last, place.quote, kind!, found)
    else if (start > place.at) {
      const opening = text.slice(place.at, start)
      if (gap !== inLine || !closesLiteral(text, index, start, opening)) quoted(text, start, opening, kind!, found)
    } else {
      const value = withoutLast('.?:*', text.slice(start, last))
      if (isBare(kind!, value)) addSecret(found, start, start + value.length, value)
    }
    return 0
  }
}

/** How far the list of YAML is indented whose item begins here. */
function columnOf(text: string, at: number): number | undefined {
  return /(?:^|\n|\\n)([ \t]*)- {1,4}(?:\\*["'])?$/.exec(text.slice(Math.max(0, at - 96), at))?.[1]?.length
}

function isBare(kind: NameClass, value: string): boolean {
  if (value.length < 4 && kind !== 'code' && kind !== 'own') return false
  return (
    passes(kind, value, true) &&
    !(kind === 'always' && lettersOnly.test(value)) &&
    !/\s/.test(value) &&
    !source.test(value)
  )
}
