import { hash } from 'node:crypto'

/**
 * The chained digest. Every line is a JSON object whose last member is `"#":"…"`: the first 16 bytes of
 * sha256(digest of the line before + this line without that member), as base64url. The header chains from the
 * empty string. It finds accidents and careless edits; it is not a signature, anyone can compute it.
 */

/** Characters of a digest: 16 bytes as base64url. */
export const digestLength = 22

// `,"#":"` + digest + `"}`; one byte less without the comma, one more with the line feed: the same length.
const memberLength = 6 + digestLength + 2
const openBrace = 0x7b
const closeBrace = 0x7d
const comma = 0x2c
const blank = '-'.repeat(digestLength)

/**
 * The bytes of one line, line feed included, and its digest.
 *
 * @param json - the line as JSON without its digest: a non-empty object
 */
export function sealLine(previous: string, json: string): { readonly bytes: Buffer; readonly digest: string } {
  const whole = Buffer.from(`${previous}${json}"#":"${blank}"}\n`)
  const jsonEnd = whole.length - memberLength
  const digest = digestOf(whole.subarray(0, jsonEnd))
  whole[jsonEnd - 1] = comma
  whole.write(digest, jsonEnd + 5, 'latin1')
  return { bytes: whole.subarray(previous.length), digest }
}

/** The parts of a line, or `undefined` when it does not end in a digest. */
export interface SealedLine {
  /** The line without its digest member. */
  readonly json: string
  /** The digest the line says it has. */
  readonly stated: string
  /** The digest it should have. */
  readonly actual: string
}

/**
 * Takes a line apart and computes its digest on the raw bytes.
 *
 * Gotchas: `bytes` is scratch space. The member's comma becomes a brace and the 22 bytes before the line are
 * overwritten, so that one call hashes without copying; the caller is done with earlier lines.
 */
export function openLine(previous: string, bytes: Buffer, start: number, end: number): SealedLine | undefined {
  const member = end - memberLength
  if (member <= start + 1 || bytes[start] !== openBrace || bytes[member] !== comma) return undefined
  if (bytes.toString('latin1', member + 1, member + 6) !== '"#":"' || bytes.toString('latin1', end - 2, end) !== '"}')
    return undefined
  const stated = bytes.toString('latin1', member + 6, end - 2)
  bytes[member] = closeBrace
  const json = bytes.toString('utf8', start, member + 1)
  return { json, stated, actual: digestOf(behind(previous, bytes, start, member + 1)) }
}

/** The bytes of a line preceded by the digest before it; in place when there is room. */
function behind(previous: string, bytes: Buffer, start: number, end: number): Buffer {
  const from = start - previous.length
  if (from < 0) return Buffer.concat([Buffer.from(previous, 'latin1'), bytes.subarray(start, end)])
  bytes.write(previous, from, 'latin1')
  return bytes.subarray(from, end)
}

function digestOf(bytes: Buffer): string {
  return hash('sha256', bytes, 'buffer').toString('base64url', 0, 16)
}
