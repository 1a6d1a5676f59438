import { globSync } from 'node:fs'
import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { canonicalJson, inOneSpelling } from '../../src/providers/index.ts'
import { readTape, requestBytes } from '../../src/tape/index.ts'
import type { Json } from '../../src/tape/types.ts'
import { agentRequests, valueAt } from './agent-requests.ts'

type JsonMap = { readonly [key: string]: Json }
type Path = readonly (string | number)[]

const samples = Object.entries(agentRequests)

/** JSON with names and values in it that rules look for. */
const anything: fc.Arbitrary<Json> = fc.letrec<{ value: Json }>((tie) => ({
  value: fc.oneof(
    { maxDepth: 3 },
    fc.constantFrom<Json>(null, true, false, 0, 1, '', 'x', 'auto', 'developer', 'user', 'assistant', 'text'),
    fc.array(tie('value'), { maxLength: 3 }),
    fc.dictionary(
      fc.constantFrom(
        ...['role', 'content', 'type', 'text', 'cache_control', 'is_error', 'messages', 'stream', 'n', 'input'],
        ...[
          'tool_choice',
          'tools',
          'system',
          'contents',
          'parts',
          'cachePoint',
          'output',
          'refusal',
          'images',
          '__proto__',
        ],
      ),
      tie('value'),
      { maxKeys: 4 },
    ),
  ),
})).value

describe('a form', () => {
  test.for(samples)('is the same when it is written once more: %s', ([, { url, body }]) => {
    const names = [
      ...Object.keys(body),
      'messages',
      'input',
      'system',
      'tools',
      'tool_choice',
      'stream',
      'text',
      'contents',
    ]
    fc.assert(
      fc.property(fc.dictionary(fc.constantFrom(...names), anything, { maxKeys: 4 }), (changes) => {
        const changed = { ...body, ...changes }
        const before = JSON.stringify(changed)
        const once = inOneSpelling(url, changed)
        expect(canonicalJson(inOneSpelling(url, once))).toBe(canonicalJson(once))
        expect(JSON.stringify(changed), 'the written body stays').toBe(before)
      }),
      { numRuns: 300 },
    )
  })

  test.for(samples)('leaves arguments, results, schemas and metadata as they are: %s', ([, { url, body, data }]) => {
    fc.assert(
      fc.property(fc.constantFrom(...data), anything, fc.string(), (path, value, words) => {
        // Where a text stands, a text stands: another type would be another field.
        const isText = typeof valueAt(body, path) === 'string'
        const changed = put(body, steps(path), isText ? `${JSON.stringify(value)}${words}` : value)
        const asWritten = valueAt(changed, path)
        // The blocks of a result are its envelope.
        fc.pre(!Array.isArray(asWritten) || !path.endsWith('content'))
        // A field of the request that is null is absent, whatever it would hold.
        fc.pre(asWritten !== null || path.includes('.'))
        expect(valueAt(inOneSpelling(url, changed), path)).toEqual(asWritten)
      }),
      { numRuns: 200 },
    )
  })
})

/** A change of one place, and whether the provider is bound to read the outcome alike. */
interface Mutation {
  readonly name: string
  readonly body: JsonMap
}

const requests: readonly (readonly [name: string, url: string, body: JsonMap])[] = [
  ...samples.map(([name, { url, body }]) => [name, url, body] as const),
  ...globSync(['recordings/**/*.tape.jsonl', 'test/history/v1.tape.jsonl']).flatMap((file) =>
    readTape(file).events.flatMap((event) => {
      const body = event.kind === 'exchange' ? requestBytes(event).toString('utf8') : ''
      return event.kind === 'exchange' && body.startsWith('{')
        ? [[`${file}, event ${event.n}`, event.url, JSON.parse(body) as JsonMap] as const]
        : []
    }),
  ),
]

/** The single changes of these requests that are spelling, and no others are. */
const spellings: readonly RegExp[] = [
  // OpenAI: an answer that was no refusal, as its SDK hands it back; beside calls it has no text.
  /^recordings.golden.refund.*: messages\.\d+\.(refusal|content) removed$/,
  // OpenAI: what `parse()` of its SDK read from a text, where it read nothing.
  /^recordings.golden.refund.*: messages\.\d+\.parsed removed$/,
  // OpenAI: with tools, the model chooses.
  /^recordings.golden.stock.*: tool_choice removed$/,
  // Whole answers are what a provider gives where nobody asks for a stream.
  /^recordings.golden.(shipping.return-label|desk).*: stream (removed|= null)$/,
  // Gemini: settings that set nothing.
  /^recordings.golden.shipping.parcel.*: generationConfig (removed|= null)$/,
  // Gemini: instructions have no speaker.
  /^recordings.golden.shipping.parcel.*: systemInstruction\.role /,
  // Gemini: a speaker that is left out is the user.
  /^(a request to Gemini|recordings.golden.shipping.parcel.*): contents\.\d+\.role removed$/,
  // Mistral: tools may be asked for by an older word.
  /^a chat with Mistral: tool_choice = "any"$/,
]

describe('any other single change makes another question', () => {
  test('there are recorded requests to change', () => {
    expect(requests.length).toBeGreaterThan(samples.length + 2)
  })

  test.for(requests)('%s', ([name, url, body]) => {
    const form = canonicalJson(inOneSpelling(url, body))
    const alike = mutations(body)
      .filter((mutation) => canonicalJson(inOneSpelling(url, mutation.body)) === form)
      .map((mutation) => `${name}: ${mutation.name}`)
    expect(alike.filter((one) => !spellings.some((spelling) => spelling.test(one)))).toEqual([])
  })
})

/** Every place changed, removed and added to, every list reordered, cut and repeated, one at a time. */
function mutations(body: JsonMap): readonly Mutation[] {
  const found: Mutation[] = []
  const add = (path: Path, what: string, value: Json | undefined): void => {
    const changed = value === undefined ? remove(body, path) : put(body, path, value)
    if (canonicalJson(changed) !== canonicalJson(body))
      found.push({ name: `${path.join('.')} ${what}`, body: changed as JsonMap })
  }
  for (const [path, value] of places(body)) {
    if (path.length > 0) add(path, 'removed', undefined)
    if (path.length > 0 && value !== null) add(path, '= null', null)
    for (const other of others(value)) add(path, `= ${JSON.stringify(other)}`, other)
    if (Array.isArray(value)) {
      add(path, 'reversed', value.toReversed())
      add(path, 'without its last', value.slice(0, -1))
      add(path, 'with its last twice', [...value, ...value.slice(-1)])
    } else if (typeof value === 'object' && value !== null) add(path, 'with one more', { ...value, added: true })
  }
  return found
}

function others(value: Json): readonly Json[] {
  if (typeof value === 'string') {
    return [
      'any',
      `${value} not`,
      ` ${value}`,
      value.toUpperCase(),
      value.toLowerCase(),
      `${value}\n`,
      '',
      [value],
      { value },
    ]
  }
  if (typeof value === 'number') return [value + 1, -value - 1, String(value)]
  if (typeof value === 'boolean') return [!value, String(value)]
  return value === null ? ['x', false] : [[value]]
}

function places(value: Json, path: Path = []): readonly (readonly [Path, Json])[] {
  const inner =
    typeof value === 'object' && value !== null
      ? Object.entries(value as JsonMap).flatMap(([key, item]) =>
          places(item, [...path, Array.isArray(value) ? Number(key) : key]),
        )
      : []
  return [[path, value], ...inner]
}

function steps(path: string): Path {
  return path.split('.').map((key) => (/^\d+$/.test(key) ? Number(key) : key))
}

function put(value: Json, path: Path, to: Json): JsonMap {
  return change(value, path, (holder, key) => {
    if (Array.isArray(holder)) return holder.map((item, i) => (i === key ? to : (item as Json)))
    return { ...(holder as JsonMap), [key]: to }
  }) as JsonMap
}

function remove(value: Json, path: Path): Json {
  return change(value, path, (holder, key) => {
    if (Array.isArray(holder)) return holder.filter((_, i) => i !== key) as Json
    return Object.fromEntries(Object.entries(holder as JsonMap).filter(([name]) => name !== key))
  })
}

function change(value: Json, path: Path, last: (holder: Json, key: string | number) => Json): Json {
  const [key, ...rest] = path
  if (key === undefined) return value
  if (rest.length === 0) return last(value, key)
  const inner = change((value as JsonMap)[key] ?? null, rest, last)
  return Array.isArray(value)
    ? value.map((item, i) => (i === key ? inner : (item as Json)))
    : { ...(value as JsonMap), [key]: inner }
}
