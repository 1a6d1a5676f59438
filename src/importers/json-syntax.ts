import { endOfString } from './excess.ts'

type Wanted = 'value' | 'value or end' | 'name' | 'name or end' | 'colon' | 'comma or end'

/**
 * Where a text stops being JSON: `JSON.parse` says that in some of its messages only. Asked when it has failed.
 *
 * @returns the offset of the first character that cannot stand there, or the length of a text that ends too early
 */
export function brokenAt(text: string): number {
  const open: ('list' | 'map')[] = []
  let wanted: Wanted = 'value'
  for (let at = skipSpace(text, 0); at < text.length; at = skipSpace(text, at)) {
    const character = text[at]!
    const wantsValue: boolean = wanted === 'value' || wanted === 'value or end'
    if (wantsValue && (character === '[' || character === '{')) {
      open.push(character === '[' ? 'list' : 'map')
      wanted = character === '[' ? 'value or end' : 'name or end'
      at++
    } else if (character === closing(open.at(-1)) && wanted.endsWith(' or end')) {
      open.pop()
      wanted = 'comma or end'
      at++
    } else if (wanted === 'comma or end' && character === ',' && open.length > 0) {
      wanted = open.at(-1) === 'list' ? 'value' : 'name'
      at++
    } else if (wanted === 'colon' && character === ':') {
      wanted = 'value'
      at++
    } else if (character === '"' && (wantsValue || wanted === 'name' || wanted === 'name or end')) {
      const end = endOfString(text, at)
      const broken = brokenInString(text, at, end)
      if (broken !== undefined) return broken
      wanted = wantsValue ? 'comma or end' : 'colon'
      at = end + 1
    } else {
      word.lastIndex = at
      const length = wantsValue ? word.exec(text)?.[0].length : undefined
      if (length === undefined) return at
      wanted = 'comma or end'
      at += length
    }
  }
  return text.length
}

const word = /(?:-?(?:0|[1-9]\d*)(?:\.\d+)?(?:[eE][-+]?\d+)?|true|false|null)(?![\w.+-])/y

function closing(open: 'list' | 'map' | undefined): string | undefined {
  return open === undefined ? undefined : open === 'list' ? ']' : '}'
}

function brokenInString(text: string, start: number, end: number): number | undefined {
  for (let at = start + 1; at < end; at++) {
    const code = text.charCodeAt(at)
    if (code < 0x20) return at
    if (code !== 0x5c) continue
    if (!/^(?:["\\/bfnrt]|u[0-9a-fA-F]{4})/.test(text.slice(at + 1, at + 6))) return at
    at++
  }
  return end === text.length ? end : undefined
}

/** Whether bytes begin as a map or list of JSON does. White space of more than a hundred bytes before it is not looked through. */
export function beginsAsJson(bytes: Buffer): boolean {
  return /^[\uFEFF\s]*[[{]/.test(bytes.toString('utf8', 0, 100))
}

/** The offset of the next character that is no white space. */
export function skipSpace(text: string, from: number): number {
  let at = from
  while (at < text.length && ' \t\r\n'.includes(text[at]!)) at++
  return at
}
