import { isAscii, isUtf8 } from 'node:buffer'
import { bodyOf } from './body.ts'
import type { ForeignBody } from './types.ts'

/**
 * A body of which a recorder kept the text that it read, and not the bytes. They are other ones where the body was in
 * another charset, or was read in pieces that ended inside of a character; and browsers read what names no charset as
 * windows-1252, streams of events among them, which are always UTF-8.
 *
 * @param type - the content type, when there is one
 */
export function bodyOfText(text: string, type = ''): ForeignBody {
  const bytes = Buffer.from(text)
  if (isAscii(bytes)) return bodyOf(bytes)
  const charset = /charset="?([\w-]+)/i.exec(type)?.[1]
  const isNamed = charset !== undefined || /json/i.test(type)
  const isKept = isNamed && /^utf-?8$/i.test(charset ?? 'utf-8') && !text.includes('\ufffd')
  return isKept ? bodyOf(bytes) : bodyOf((isNamed ? undefined : misreadUtf8(text)) ?? bytes, false)
}

/** Characters that bytes stand for in windows-1252, by the byte. */
const characters = [...new TextDecoder('windows-1252').decode(Uint8Array.from({ length: 256 }, (_, byte) => byte))]
const byteOf: ReadonlyMap<string, number> = new Map(characters.map((character, byte) => [character, byte]))

/**
 * The bytes of a text in UTF-8 that was read as windows-1252, such as `GrÃ¼ezi`; `undefined` when it was not.
 *
 * @see https://encoding.spec.whatwg.org/#index-windows-1252
 */
function misreadUtf8(text: string): Buffer | undefined {
  const bytes = Buffer.alloc(text.length)
  let at = 0
  for (const character of text) {
    const byte = byteOf.get(character)
    if (byte === undefined) return undefined
    bytes[at++] = byte
  }
  return isUtf8(bytes) ? bytes : undefined
}
