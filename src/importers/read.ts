import { isUtf8 } from 'node:buffer'
import { gunzipSync } from 'node:zlib'
import { aimockTurn } from './aimock.ts'
import type { Cursor } from './cursor.ts'
import { ddTestAgentExchange } from './dd-test-agent.ts'
import { isHttprr, requireFormat } from './detect.ts'
import { checkGoVcrVersion, goVcrExchange } from './go-vcr.ts'
import { checkHarVersion, harExchange } from './har.ts'
import { httprrExchanges } from './httprr.ts'
import { readJson } from './json.ts'
import { callCap, decompressedCap, fileCap } from './limits.ts'
import { nockExchange } from './nock.ts'
import { refusal } from './refusal.ts'
import { rubyVcrExchange } from './ruby-vcr.ts'
import type { ForeignExchange, ImportFormat, Recording } from './types.ts'
import { undiciSnapshotExchanges } from './undici-snapshot.ts'
import { checkVcrpyVersion, vcrpyExchange } from './vcrpy.ts'
import { cutYaml } from './yaml-items.ts'
import { readYaml } from './yaml.ts'

/** A file and what is known of it. */
export interface ForeignFile {
  /** Names it in messages. */
  readonly file: string
  /** May be compressed with gzip as a whole. */
  readonly bytes: Buffer
  /** Absent: told by what the file holds. */
  readonly format?: ImportFormat
}

/**
 * Takes a foreign recording apart.
 *
 * @throws HarvestError `HARVEST_IMPORT_…` with the file, and the line or byte, for whatever it cannot be read for
 */
export function readRecording(foreign: ForeignFile): Recording {
  const { file } = foreign
  if (foreign.bytes.length > fileCap)
    throw refusal('HARVEST_IMPORT_TOO_LARGE', { file }, `${foreign.bytes.length} bytes; ${fileCap} are read at most`)
  const bytes = inflated(foreign.bytes, file)
  if (foreign.format === 'httprr' || (foreign.format === undefined && isHttprr(bytes))) {
    if (!isHttprr(bytes))
      throw refusal('HARVEST_IMPORT_SHAPE', { file, byte: 0 }, 'it does not begin as a trace of httprr')
    return filled({ format: 'httprr', exchanges: httprrExchanges(bytes, file) }, file)
  }
  if (!isUtf8(bytes)) throw refusal('HARVEST_IMPORT_UNKNOWN', { file }, 'it is not text')
  const text = bytes.toString('utf8').replace(/^\uFEFF/, '')
  const { root, items } = documentOf(text, file)
  return filled(recordingOf(root, items, foreign.format ?? formatIn(root, items)), file)
}

interface Document {
  readonly root: Cursor
  /** Items of the list that stands empty in the root. */
  readonly items?: () => Iterable<Cursor>
}

function documentOf(text: string, file: string): Document {
  if (/^\s*[[{]/.test(text)) return { root: readJson(text, file) }
  const cut = cutYaml(text, file, ['interactions', 'http_interactions', 'entries'])
  return cut === undefined ? { root: readYaml({ text, file, line: 1 }) } : { root: cut.rest, items: () => cut.items() }
}

/** Of a list that was cut out, its first item tells what the whole would. */
function formatIn(root: Cursor, items: Document['items']): ImportFormat {
  for (const first of items?.() ?? []) return requireFormat(root, first)
  return requireFormat(root)
}

function recordingOf(root: Cursor, cut: Document['items'], format: ImportFormat): Recording {
  const items = cut?.()
  switch (format) {
    case 'vcrpy':
      checkVcrpyVersion(root)
      return { format, exchanges: each(items ?? root.at('interactions').items, vcrpyExchange) }
    case 'ruby-vcr':
      return { format, exchanges: each(items ?? root.at('http_interactions').items, rubyVcrExchange) }
    case 'go-vcr':
      checkGoVcrVersion(root)
      return { format, exchanges: each(items ?? root.at('interactions').items, goVcrExchange) }
    case 'har':
      return harOf(root, items ?? root.at('log').map.at('entries').items)
    case 'nock':
      return { format, exchanges: each(root.items, nockExchange) }
    case 'dd-test-agent':
      return { format, exchanges: [ddTestAgentExchange(root)] }
    case 'undici-snapshot':
      return {
        format,
        exchanges: entriesOf(root).flatMap((entry) => [...undiciSnapshotExchanges(entry)]),
      }
    case 'aimock': {
      const fixtures = root.at('fixtures').isThere ? root.at('fixtures') : root
      return { format, exchanges: [], turns: each(fixtures.items, aimockTurn) }
    }
    case 'httprr':
      // Read from bytes before there is a document.
      throw root.refuse('it is no trace of httprr')
  }
}

function harOf(root: Cursor, items: Iterable<Cursor>): Recording {
  checkHarVersion(root)
  const name = root.at('log').at('_recordingName').maybeText
  const exchanges = each(items, harExchange)
  const isTimed = exchanges.every(({ startedMs }) => startedMs !== undefined)
  return {
    format: 'har',
    ...(name === undefined ? {} : { name }),
    // Polly.JS lists entries by what was asked; when is told by each.
    exchanges: isTimed ? exchanges.sort((a, b) => a.startedMs! - b.startedMs!) : exchanges,
  }
}

function entriesOf(root: Cursor): readonly Cursor[] {
  return Array.isArray(root.value) ? root.items : root.members.map(([, entry]) => entry)
}

function each<T>(items: Iterable<Cursor>, read: (item: Cursor) => T): T[] {
  const list: T[] = []
  for (const item of items) {
    if (list.length >= callCap) throw item.refuse(`more than ${callCap} calls`, 'HARVEST_IMPORT_TOO_LARGE')
    list.push(read(item))
  }
  return list
}

function filled(recording: Recording, file: string): Recording {
  if (recording.exchanges.length === 0 && (recording.turns ?? []).length === 0)
    throw refusal('HARVEST_IMPORT_EMPTY', { file }, 'it holds no calls')
  const startedMs = earliest(recording.exchanges)
  return startedMs === undefined ? recording : { ...recording, startedMs }
}

/** When the run began, as far as an exchange or the clock of a server says. */
function earliest(exchanges: readonly ForeignExchange[]): number | undefined {
  for (const { startedMs, response } of exchanges) {
    if (startedMs !== undefined) return startedMs
    const date = Date.parse(response?.headers.find(([name]) => name === 'date')?.[1] ?? '')
    if (!Number.isNaN(date)) return date
  }
  return undefined
}

function inflated(bytes: Buffer, file: string): Buffer {
  if (bytes[0] !== 0x1f || bytes[1] !== 0x8b) return bytes
  try {
    return gunzipSync(bytes, { maxOutputLength: decompressedCap(bytes.length) })
  } catch (cause) {
    const { code, message } = cause as NodeJS.ErrnoException
    if (code === 'ERR_BUFFER_TOO_LARGE')
      throw refusal('HARVEST_IMPORT_BOMB', { file }, `${bytes.length} compressed bytes become too many`, { cause })
    throw refusal('HARVEST_IMPORT_SYNTAX', { file, byte: 0 }, `its gzip is broken: ${message}`, { cause })
  }
}
