import { farthest } from './commands.ts'
import { codesOf, depthOf, has, withoutWhite } from './edges.ts'
import { isMessageBefore } from './messages.ts'
import { isOther, listed, nameUpTo, valueFields } from './named.ts'
import type { NameTable } from './names.ts'
import type { TextRange } from './types.ts'
import { work } from './work.ts'

const isValueField = new RegExp(`^(?:${valueFields})$`)
/** So many fields may stand between a value and its name, as behind a name. */
const mostBetween = 3
const [longestField, longestBetween, longestScalar] = [32, 64, 16]
const perName = 20
/** With its quote, and dashes before it. */
const longestName = 72
/** A body under way waits for no name that is farther behind the value. */
const longestWaited = farthest - 512

const [isOfKey, isOfScalar] = [codesOf(/[\w$-]/, 128), codesOf(/[\w.+-]/, 128)]
const isSign = codesOf(/[:=]/, 128)
const [space, doubleQuote, singleQuote, comma, dash] = [0x20, 0x22, 0x27, 0x2c, 0x2d]

/** A field read from its end. */
interface Field {
  readonly key: string
  /** Where it begins, with the quote of its key. */
  readonly from: number
}

/**
 * The value of a field before the one that names it: `{"value":"…","name":"password"}`. What counts is what counts behind a name.
 *
 * @returns looks at the quote behind a name
 */
export function valueBefore(names: NameTable): (text: string, index: number, found: TextRange[]) => void {
  return (text, index, found) => {
    const sign = text.charCodeAt(index)
    let open = index - 1
    for (let code = text.charCodeAt(open); code > space && code !== sign && index - open < longestName; ) {
      open--
      code = text.charCodeAt(open)
    }
    if (text.charCodeAt(open) !== sign) return
    const depth = depthOf(text, index)
    if (depthOf(text, open) !== depth) return
    const [nameEnd, mark] = [index - depth, text[index]!]
    // Most texts in quotes stand behind no key, or in the first field: what they say is looked at last.
    const own = fieldBefore(text, open - depth)
    if (own === undefined || behindMember(text, own.from) === undefined) return
    const named = nameUpTo(names, text, nameEnd)
    if (named === undefined) return
    work.done += perName
    let start = named.start
    while (text.charCodeAt(start - 1) === dash) start--
    if (start - 1 !== open) return
    const quote = text.slice(nameEnd, index + 1)
    let at = own.from
    for (let count = 0; count <= mostBetween; count++) {
      const end = behindMember(text, at)
      if (end === undefined) return
      const isText = text[end - 1] === mark && depthOf(text, end - 1) === depth
      const to = isText ? end - quote.length : end
      const from = isText ? openingQuote(text, to, mark, depth) : beginOfScalar(text, end)
      const field = from === undefined ? undefined : fieldBefore(text, isText ? from - quote.length : from)
      if (from === undefined || field === undefined) return
      if (isText && isValueField.test(field.key)) {
        if (index - field.from > longestWaited) return
        const isSaid = isMessageBefore(text, { from, to, key: field.key }, start, nameEnd)
        const isAnother = named.kind !== 'own' && isOther(text, start, text.slice(from, to), named)
        if (!isSaid && !isAnother) listed(names, text, from, to, quote, named.kind, found)
        return
      }
      if (to - from > longestBetween) return
      at = field.from
    }
  }
}

/** The key and the sign of a value that begins here. */
function fieldBefore(text: string, value: number): Field | undefined {
  const sign = withoutWhite(text, value) - 1
  if (!has(isSign, text.charCodeAt(sign))) return undefined
  let end = withoutWhite(text, sign)
  const isQuoted = isQuote(text.charCodeAt(end - 1))
  if (isQuoted) end -= 1 + depthOf(text, end - 1)
  let start = end
  while (end - start < longestField && has(isOfKey, text.charCodeAt(start - 1))) start--
  if (start === end) return undefined
  const key = text.slice(start, end)
  if (!isQuoted) return { key, from: start }
  if (!isQuote(text.charCodeAt(start - 1))) return undefined
  return { key, from: start - 1 - depthOf(text, start - 1) }
}

/** Where the member ends that stands before one that begins here; `undefined` where none does. */
function behindMember(text: string, from: number): number | undefined {
  const sign = withoutWhite(text, from) - 1
  return text.charCodeAt(sign) === comma ? withoutWhite(text, sign) : undefined
}

/** Where a text begins that ends here, behind its quote. */
function openingQuote(text: string, end: number, mark: string, depth: number): number | undefined {
  for (let at = text.lastIndexOf(mark, end - 1); at !== -1; at = at === 0 ? -1 : text.lastIndexOf(mark, at - 1)) {
    work.done++
    const found = depthOf(text, at)
    if (found > depth) continue
    work.done += (end - at) >> 5
    return found === depth ? at + 1 : undefined
  }
  work.done += end >> 5
  return undefined
}

function beginOfScalar(text: string, end: number): number | undefined {
  let start = end
  while (end - start <= longestScalar && has(isOfScalar, text.charCodeAt(start - 1))) start--
  return start === end || end - start > longestScalar ? undefined : start
}

function isQuote(code: number): boolean {
  return code === doubleQuote || code === singleQuote
}
