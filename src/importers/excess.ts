import { depthCap, digitCap, jsonDense, nameCap, partCap } from './limits.ts'
import type { RefusalCode } from './refusal.ts'

/** Where a text of JSON passes a limit, and which. */
export interface Excess {
  /** Offset in the text. */
  readonly at: number
  readonly code: RefusalCode
  readonly problem: string
}

/**
 * The first limit that a text of JSON passes: depth, parts, names of one map, digits of one number. Looks at characters
 * only, so that nothing is built of what is refused. Of a text that is no JSON it says nothing of use.
 */
export function excessIn(text: string): Excess | undefined {
  // What the innermost list or map holds, and what those around it do.
  const counts = new Uint32Array(depthCap + 1)
  const areMaps = new Uint8Array(depthCap + 1)
  let [count, isMap, depth, parts] = [0, 0, 0, 0]
  for (let at = 0; at < text.length; at++) {
    const code = text.charCodeAt(at)
    if (code === quote) at = endOfString(text, at)
    else if (code === comma) {
      count++
      if (++parts >= partCap || (parts >= jsonDense.parts && parts * jsonDense.characters > at))
        return large(at, `more than ${parts} parts of JSON in ${at} bytes`)
      if (isMap === 1 && count >= nameCap) return large(at, `more than ${nameCap} names in one map`)
    } else if (isDigit(code)) {
      const end = endOfNumber(text, at)
      if (end - at > digitCap)
        return { at, code: 'HARVEST_IMPORT_BOMB', problem: `a number of more than ${digitCap} digits` }
      at = end - 1
    } else if (code === openList || code === openMap) {
      if (depth === depthCap)
        return { at, code: 'HARVEST_IMPORT_TOO_DEEP', problem: `nested deeper than ${depthCap} levels` }
      counts[depth] = count
      areMaps[depth++] = isMap
      count = 0
      isMap = code === openMap ? 1 : 0
    } else if ((code === closeList || code === closeMap) && depth > 0) {
      count = counts[--depth]!
      isMap = areMaps[depth]!
    }
  }
  return undefined
}

/** Index of the closing quote of a string, or of the end of the text. */
export function endOfString(text: string, start: number): number {
  const end = text.indexOf('"', start + 1)
  if (end === -1) return text.length
  if (text.charCodeAt(end - 1) !== backslash) return end
  // JSON in JSON has a backslash at every quote: stepping is quicker than searching then.
  for (let at = start + 1; at < text.length; at++) {
    const code = text.charCodeAt(at)
    if (code === backslash) at++
    else if (code === quote) return at
  }
  return text.length
}

/** Not looked for further than where the number is too long. */
function endOfNumber(text: string, start: number): number {
  const last = Math.min(text.length, start + digitCap + 1)
  let at = start
  while (at < last && isOfNumber(text.charCodeAt(at))) at++
  return at
}

function isDigit(code: number): boolean {
  return code >= 0x30 && code <= 0x39
}

/** Digits, and the signs, dots and letters of `-1.5e+9`. */
function isOfNumber(code: number): boolean {
  return isDigit(code) || code === 0x2e || code === 0x2b || code === 0x2d || code === 0x65 || code === 0x45
}

function large(at: number, problem: string): Excess {
  return { at, code: 'HARVEST_IMPORT_TOO_LARGE', problem }
}

const quote = 0x22
const backslash = 0x5c
const comma = 0x2c
const openList = 0x5b
const closeList = 0x5d
const openMap = 0x7b
const closeMap = 0x7d
