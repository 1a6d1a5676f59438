import { isUtf8 } from 'node:buffer'
import { HarvestError } from '../errors/index.ts'

/**
 * The text of a file of cases.
 *
 * @throws HARVEST_CASE_ENCODING with the line of the first bytes that are not UTF-8
 */
export function textOf(bytes: Buffer, file: string): string {
  if (isUtf8(bytes)) {
    const text = bytes.toString('utf8')
    return text.charCodeAt(0) === byteOrderMark ? text.slice(1) : text
  }
  throw new HarvestError('HARVEST_CASE_ENCODING', {
    what: 'The case file is not UTF-8 text',
    where: { case: `${file}:${firstBadLine(bytes)}` },
    fix: [`save it as UTF-8: iconv -f ISO-8859-1 -t UTF-8 ${file}`],
  })
}

const byteOrderMark = 0xfeff

/** No character of UTF-8 has a line feed in it, so every line is text of its own. */
export function firstBadLine(bytes: Buffer): number {
  let line = 1
  for (let start = 0; ; line++) {
    const end = bytes.indexOf(0x0a, start)
    if (!isUtf8(bytes.subarray(start, end === -1 ? bytes.length : end)) || end === -1) return line
    start = end + 1
  }
}
