import { isUtf8 } from 'node:buffer'
import { gunzipSync } from 'node:zlib'
import { HarvestError } from '../errors/index.ts'
import { Cursor } from './cursor.ts'
import { firstKept, type ForeignDocument } from './document.ts'
import { bytesFormats, formatOf } from './formats.ts'
import { cutJson } from './json-items.ts'
import { readJson } from './json.ts'
import { decompressedCap, fileCap } from './limits.ts'
import { isJsonLines, isJsonSequence, readLines, readSequence } from './lines.ts'
import { nearestToLines, nearestToText, unknownFormat } from './nearest-format.ts'
import { refusal } from './refusal.ts'
import type { ImportFormat, ForeignRecording } from './types.ts'
import { cutYaml } from './yaml-items.ts'
import { readYaml } from './yaml.ts'
import type { YamlPart } from './yaml-part.ts'

/** A file and what is known of it. */
export interface ForeignFile {
  /** Names it in messages. */
  readonly file: string
  /** May be compressed with gzip as a whole. */
  readonly bytes: Buffer
  /** Absent: detected from what the file holds. */
  readonly format?: ImportFormat
}

/**
 * Takes the recordings of a file apart: one, or a list of those that hold something.
 *
 * @throws HarvestError `HARVEST_IMPORT_…` with the file, and the line or byte, for any reason it cannot be read
 */
export function readRecordings(foreign: ForeignFile): readonly ForeignRecording[] {
  const { file } = foreign
  if (foreign.bytes.length > fileCap)
    throw refusal('HARVEST_IMPORT_TOO_LARGE', { file }, `${foreign.bytes.length} bytes; ${fileCap} are read at most`)
  const bytes = inflated(foreign.bytes, file)
  const raw = bytesFormats.find(({ name, recognisesBytes }) =>
    foreign.format === undefined ? recognisesBytes(bytes) : name === foreign.format,
  )
  const read = raw === undefined ? ofDocument(bytes, foreign) : raw.readBytes(bytes, file)
  const recordings = Array.isArray(read) ? (read as readonly ForeignRecording[]) : [read as ForeignRecording]
  const filled = recordings.filter(isFilled)
  if (filled.length === 0) throw refusal('HARVEST_IMPORT_EMPTY', { file }, 'it holds no calls')
  return filled.map(begun)
}

/** Notes on a run without anything else are no run. */
function isFilled({ exchanges, steps = [], lines = [] }: ForeignRecording): boolean {
  return exchanges.length + lines.length > 0 || steps.some(({ kind }) => kind !== 'mark')
}

function ofDocument(bytes: Buffer, { file, format }: ForeignFile): ForeignRecording | readonly ForeignRecording[] {
  // No text has a zero byte, though UTF-8 does.
  if (bytes.includes(0) || !isUtf8(bytes)) throw unknownFormat(file, { format: undefined, problem: 'it is not text' })
  const parts = yamlDocuments(bytes, file)
  if (parts.length > 1)
    return parts.flatMap((part) => {
      const document = { file, root: readYaml(part), isLines: false }
      return document.root.value === null
        ? []
        : formatOf(document, format, { line: lineOfContent(part) }).read(document)
    })
  const document = documentOf(bytes, file)
  const lines = document.isLines ? undefined : nearestToLines(bytes.toString('utf8', 0, headBytes))
  return formatOf(document, format, { nearest: lines }).read(document)
}

/** Enough to see what the lines of a file are. */
const headBytes = 65_536

/** Where a document of a stream has its first line of content. */
function lineOfContent({ text, line }: YamlPart): number {
  const lines = text.split('\n')
  return (
    line +
    Math.max(
      0,
      lines.findIndex((one) => /^(?!---|\.\.\.|%| *#|\s*$)|^--- *[^\s#]/.test(one)),
    )
  )
}

/** The documents of a YAML stream that has several, one after the other; comments and empty ones are left out. */
function yamlDocuments(bytes: Buffer, file: string): readonly YamlPart[] {
  if (!bytes.includes('\n---')) return []
  const text = bytes.toString('utf8').replace(/^\uFEFF/, '')
  // JSON and JSON Lines begin so; a line of theirs may have anything in it.
  if ('[{'.includes(/\S/.exec(text)?.[0] ?? 'nothing')) return []
  const parts: YamlPart[] = []
  let line = 1
  // At the beginning of a line these are markers wherever they stand (YAML 1.2, c-forbidden).
  for (const part of text.split(/^(?=---(?:\s|$)|\.\.\.(?:\s|$))/m)) {
    if (/^(?!---|\.\.\.|%| *#| *$)|^--- *[^\s#]/m.test(part)) parts.push({ text: part, file, line })
    line += part.split('\n').length - 1
  }
  return parts
}

/**
 * Bytes as a document, not yet known to be of any format.
 *
 * @throws HarvestError `HARVEST_IMPORT_SYNTAX` and others
 */
export function documentOf(bytes: Buffer, file: string): ForeignDocument {
  if (isJsonLines(bytes)) {
    return { file, root: emptyRoot(file), items: firstKept(() => readLines(bytes, file)), isLines: true }
  }
  const listed = cutJson(bytes, file)
  if (listed !== undefined) return { file, root: listed.rest, items: firstKept(() => listed.items()), isLines: false }
  const text = bytes.toString('utf8').replace(/^\uFEFF/, '')
  if ('[{'.includes(/\S/.exec(text)?.[0] ?? 'nothing')) return jsonDocument(text, file)
  const cut = cutYaml(text, file, ['interactions', 'http_interactions', 'entries'])
  if (cut !== undefined) return { file, root: cut.rest, items: firstKept(() => cut.items()), isLines: false }
  try {
    return { file, root: readYaml({ text, file, line: 1 }), isLines: false }
  } catch (error) {
    const other = HarvestError.is(error, 'HARVEST_IMPORT_SYNTAX') ? nearestToText(text) : undefined
    throw other === undefined ? error : unknownFormat(file, other)
  }
}

function jsonDocument(text: string, file: string): ForeignDocument {
  try {
    return { file, root: readJson(text, file), isLines: false }
  } catch (error) {
    if (!HarvestError.is(error, 'HARVEST_IMPORT_SYNTAX') || !isJsonSequence(text)) throw error
    return { file, root: emptyRoot(file), items: firstKept(() => readSequence(text, file)), isLines: true }
  }
}

/** What stands for the document where each item is one. */
function emptyRoot(file: string): Cursor {
  return new Cursor([], { file, lineOf: () => 1 })
}

function begun(recording: ForeignRecording): ForeignRecording {
  const startedMs = recording.startedMs ?? earliest(recording)
  return startedMs === undefined ? recording : { ...recording, startedMs }
}

/** When the run began, as far as an exchange, a step or the clock of a server says. */
function earliest({ exchanges, steps = [], lines = [] }: ForeignRecording): number | undefined {
  for (const { startedMs, response } of exchanges) {
    if (startedMs !== undefined) return startedMs
    const date = Date.parse(response?.headers.find(([name]) => name === 'date')?.[1] ?? '')
    if (!Number.isNaN(date)) return date
  }
  return [...steps, ...lines].reduce<number | undefined>(
    (first, { startedMs }) => (startedMs === undefined || startedMs > (first ?? Infinity) ? first : startedMs),
    undefined,
  )
}

function inflated(bytes: Buffer, file: string): Buffer {
  if (bytes[0] !== 0x1f || bytes[1] !== 0x8b) return bytes
  try {
    return gunzipSync(bytes, { maxOutputLength: decompressedCap(bytes.length) })
  } catch (cause) {
    const { code, message } = cause as NodeJS.ErrnoException
    if (code === 'ERR_BUFFER_TOO_LARGE')
      throw refusal('HARVEST_IMPORT_BOMB', { file, byte: 0 }, `${bytes.length} compressed bytes become too many`, {
        cause,
      })
    throw refusal('HARVEST_IMPORT_SYNTAX', { file, byte: 0 }, `its gzip is broken: ${message}`, { cause })
  }
}
