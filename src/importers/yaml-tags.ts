import { isMap, isScalar, isSeq, type Node } from 'yaml'
import { type TextPosition, refusal } from './refusal.ts'

const core = /^tag:yaml\.org,2002:(str|int|float|bool|null|map|seq)$/
/** What PyYAML calls strings, and the string classes HTTP clients keep header names in. */
const pythonText = /^tag:yaml\.org,2002:python\/(str|unicode|object(?:\/apply|\/new)?:[\w.]*\.?i?str)$/
const pythonNumber = /^tag:yaml\.org,2002:python\/(int|long|float|bool|none)$/
const pythonList = /^tag:yaml\.org,2002:python\/(list|tuple)$/
const pythonBytes = 'tag:yaml.org,2002:python/bytes'
/** What a client that reads its body from memory leaves in a cassette: the state of such a file, its content first. */
const pythonFile = /^tag:yaml\.org,2002:python\/object\/new:_?io\.(BytesIO|StringIO)$/
const rubyText = /^!(str|ruby\/string)(:|$)/
const rubyMap = /^!(map|ruby\/hash)(:|-with-ivars|$)/

/**
 * The value of a node with what its tag says.
 *
 * @throws HarvestError `HARVEST_IMPORT_TAG` for a tag that is not known, `HARVEST_IMPORT_BODY` for invalid bytes
 */
export function tagged(node: Node, value: unknown, place: () => TextPosition): unknown {
  const { tag } = node as { tag?: string }
  if (tag === undefined || core.test(tag) || tag === '!') return value
  if (tag === '!binary' || tag === 'tag:yaml.org,2002:binary' || tag === pythonBytes) return bytesOf(node, value, place)
  if (isScalar(node) && (pythonText.test(tag) || rubyText.test(tag))) return textOf(node, value)
  if (isScalar(node) && pythonNumber.test(tag)) return value
  if (isSeq(node) && pythonList.test(tag)) return value
  // `!!python/object/apply:multidict.istr` of a list with the text in it.
  if (isSeq(node) && pythonText.test(tag) && Array.isArray(value) && value.length === 1) return value[0]
  if (isMap(node) && rubyMap.test(tag)) return value
  if (isMap(node) && pythonFile.test(tag)) return contentOf(value, place)
  throw refusal('HARVEST_IMPORT_TAG', place(), `the tag ${tag} is not known`)
}

function contentOf(file: unknown, place: () => TextPosition): unknown {
  const { state } = file as { readonly state?: unknown }
  const content: unknown = Array.isArray(state) ? state[0] : undefined
  if (typeof content === 'string' || content instanceof Uint8Array) return content
  throw refusal('HARVEST_IMPORT_BODY', place(), 'what is tagged as a file has no content')
}

/** From the text as it stands: the library's own reading passes over what is no base64. */
function bytesOf(node: Node, value: unknown, place: () => TextPosition): Buffer {
  const text = isScalar(node) ? (typeof value === 'string' ? value : node.source) : undefined
  const base64 = text?.replace(/\s+/g, '')
  if (base64 === undefined || !/^[A-Za-z0-9+/]*={0,2}$/.test(base64))
    throw refusal('HARVEST_IMPORT_BODY', place(), 'what is tagged as bytes is not base64')
  return Buffer.from(base64, 'base64')
}

function textOf(node: { readonly source?: string }, value: unknown): string {
  return typeof value === 'string' ? value : (node.source ?? String(value))
}
