import type { Cursor } from './cursor.ts'
import { httprrMagic } from './httprr.ts'
import { refusal } from './refusal.ts'
import type { ImportFormat } from './types.ts'

/**
 * The format of a document, told by the names it uses.
 *
 * @param first - its first interaction, when those stand beside it
 * @throws HarvestError `HARVEST_IMPORT_UNKNOWN`
 */
export function requireFormat(root: Cursor, first?: Cursor): ImportFormat {
  const format = formatOf(root, first)
  if (format !== undefined) return format
  const { file } = root.position
  throw refusal('HARVEST_IMPORT_UNKNOWN', { file }, 'it is no recording of a format that is known')
}

function formatOf(root: Cursor, first: Cursor | undefined): ImportFormat | undefined {
  if (Array.isArray(root.value)) return formatOfList(root.items[0])
  if (!root.isMap) return undefined
  if (Array.isArray(root.at('http_interactions').value)) return 'ruby-vcr'
  if (Array.isArray(root.at('log').at('entries').value)) return 'har'
  if (Array.isArray(root.at('interactions').value)) return formatOfInteractions(root, first)
  if (Array.isArray(root.at('fixtures').value)) return isFixture(root.at('fixtures').items[0]) ? 'aimock' : undefined
  if (root.at('request').at('url').isThere && root.at('response').at('status').isThere) return 'dd-test-agent'
  const [member] = root.members
  // Once it wrote a map of hashes.
  return member !== undefined && isSnapshot(member[1]) ? 'undici-snapshot' : undefined
}

/** Whether bytes are a trace of httprr. */
export function isHttprr(bytes: Buffer): boolean {
  return bytes.subarray(0, httprrMagic.length).toString('latin1') === httprrMagic
}

function formatOfList(first: Cursor | undefined): ImportFormat | undefined {
  if (first === undefined) return undefined
  if (first.at('scope').isThere && first.at('path').isThere) return 'nock'
  return isSnapshot(first.at('snapshot')) ? 'undici-snapshot' : undefined
}

function formatOfInteractions(root: Cursor, first = root.at('interactions').items[0]): ImportFormat {
  const request = first?.at('request')
  // The one says `uri`, the other `url`; an empty go-vcr file says `version: 2`.
  if (request === undefined) return root.at('version').maybeNumber === 2 ? 'go-vcr' : 'vcrpy'
  return request.at('uri').isThere || !request.at('url').isThere ? 'vcrpy' : 'go-vcr'
}

function isSnapshot(entry: Cursor): boolean {
  const request = entry.at('request')
  return request.at('url').isThere && (entry.at('responses').isThere || entry.at('response').at('statusCode').isThere)
}

function isFixture(fixture: Cursor | undefined): boolean {
  return fixture?.at('match').isMap === true && fixture.at('response').isMap
}
