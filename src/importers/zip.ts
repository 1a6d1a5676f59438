import { inflateRawSync, zstdDecompressSync } from 'node:zlib'
import { callCap, decompressedCap, fileCap } from './limits.ts'
import { refusal } from './refusal.ts'

/** A file in an archive. */
export interface ZipEntry {
  readonly name: string
  /**
   * Its bytes, checked against bombs.
   *
   * @throws HarvestError `HARVEST_IMPORT_BOMB`, `HARVEST_IMPORT_TOO_LARGE`, `HARVEST_IMPORT_SYNTAX`
   */
  read(): Buffer
}

/** Whether bytes begin as a ZIP archive with something in it. */
export function isZip(bytes: Buffer): boolean {
  return bytes.length > 4 && bytes.readUInt32LE(0) === 0x04034b50
}

/**
 * The files in a ZIP archive, by its central directory; archives over 4 GiB and encrypted ones are refused.
 *
 * @throws HarvestError `HARVEST_IMPORT_SYNTAX`, `HARVEST_IMPORT_TOO_LARGE`
 * @see PKWARE, APPNOTE.TXT, 4.3 to 4.5
 */
export function zipEntries(bytes: Buffer, file: string): readonly ZipEntry[] {
  const end = bytes.lastIndexOf(Buffer.from([0x50, 0x4b, 5, 6]))
  const broken = (byte: number): Error => refusal('HARVEST_IMPORT_SYNTAX', { file, byte }, 'its ZIP archive is broken')
  if (end === -1 || end + 22 > bytes.length) throw broken(bytes.length)
  const count = bytes.readUInt16LE(end + 10)
  if (count > callCap) throw refusal('HARVEST_IMPORT_TOO_LARGE', { file }, `${count} files in one archive`)
  const entries: ZipEntry[] = []
  let total = 0
  for (let at = bytes.readUInt32LE(end + 16), i = 0; i < count; i++) {
    if (at + 46 > end || bytes.readUInt32LE(at) !== 0x02014b50) throw broken(at)
    const [flags, method] = [bytes.readUInt16LE(at + 8), bytes.readUInt16LE(at + 10)]
    const [packed, whole] = [bytes.readUInt32LE(at + 20), bytes.readUInt32LE(at + 24)]
    const [name, extra, note] = [28, 30, 32].map((offset) => bytes.readUInt16LE(at + offset)) as [
      number,
      number,
      number,
    ]
    const local = bytes.readUInt32LE(at + 42)
    if ((flags & 1) !== 0 || local + 30 > at) throw broken(at)
    const from = local + 30 + bytes.readUInt16LE(local + 26) + bytes.readUInt16LE(local + 28)
    if (from + packed > bytes.length) throw broken(local)
    if ((total += whole) > fileCap) throw refusal('HARVEST_IMPORT_TOO_LARGE', { file }, 'its archive holds too much')
    const content = bytes.subarray(from, from + packed)
    entries.push({
      name: bytes.toString('utf8', at + 46, at + 46 + name),
      read: () => unpacked(content, method, { file, byte: from }),
    })
    at += 46 + name + extra + note
  }
  return entries
}

function unpacked(content: Buffer, method: number, place: { readonly file: string; readonly byte: number }): Buffer {
  if (method === 0) return content
  const options = { maxOutputLength: decompressedCap(content.length) }
  try {
    if (method === 8) return inflateRawSync(content, options)
    if (method === 93) return zstdDecompressSync(content, options)
  } catch (cause) {
    if ((cause as NodeJS.ErrnoException).code === 'ERR_BUFFER_TOO_LARGE')
      throw refusal('HARVEST_IMPORT_BOMB', place, `${content.length} compressed bytes become too many`, { cause })
    throw refusal('HARVEST_IMPORT_SYNTAX', place, 'its ZIP archive is broken', { cause })
  }
  throw refusal('HARVEST_IMPORT_SYNTAX', place, `compression ${method} of its ZIP archive is not known`)
}
