import type { HeaderPair } from '../tape/index.ts'
import type { FoundDrift } from './ladder.ts'

/** Headers that say what is asked for. All others tell who asks (versions, hosts, connections) and change with every upgrade. */
const meaningful = [
  'accept',
  'accept-language',
  'anthropic-beta',
  'anthropic-version',
  'content-type',
  'mcp-protocol-version',
  'openai-beta',
  'openai-organization',
  'openai-project',
  'prefer',
]

/** What a server takes a header that is not there for. Some clients write it out, others do not. */
const assumed: Readonly<Record<string, string>> = { accept: '*/*', 'accept-language': '*' }

/**
 * Differences between the recorded headers of a request and the live ones, both redacted.
 *
 * @param own - headers the recorder was told to keep: whoever names them means them
 */
export function headerDrift(
  recorded: readonly HeaderPair[],
  live: readonly HeaderPair[],
  own: readonly string[] = [],
): readonly FoundDrift[] {
  // A tape from elsewhere may not have kept them.
  if (recorded.length === 0 || isSame(recorded, live)) return []
  const [before, now] = [valuesOf(recorded), valuesOf(live)]
  const names = new Set([...meaningful, ...own.map((name) => name.toLowerCase())])
  return [...names].flatMap((name) => {
    const [was, is] = [before.get(name), now.get(name)]
    return (was ?? assumed[name]) === (is ?? assumed[name])
      ? []
      : [{ class: 'headers' as const, path: name, recorded: was ?? '(absent)', live: is ?? '(absent)' }]
  })
}

function isSame(recorded: readonly HeaderPair[], live: readonly HeaderPair[]): boolean {
  return (
    recorded.length === live.length &&
    recorded.every(([name, value], at) => live[at]?.[0] === name && live[at]?.[1] === value)
  )
}

function valuesOf(pairs: readonly HeaderPair[]): ReadonlyMap<string, string> {
  const values = new Map<string, string>()
  for (const [name, value] of pairs) {
    const before = values.get(name)
    values.set(name, before === undefined ? value : `${before}, ${value}`)
  }
  return values
}
