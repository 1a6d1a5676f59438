import type { HeaderPair } from '../tape/index.ts'
import type { FoundDrift } from './ladder.ts'

/** Headers that say what is asked for. All others tell who asks (versions, hosts, connections) and change with every upgrade. */
const meaningful = new Set([
  'anthropic-beta',
  'anthropic-version',
  'content-type',
  'mcp-protocol-version',
  'openai-beta',
  'openai-organization',
  'openai-project',
])

/** Differences between the recorded headers of a request and the live ones, both redacted. */
export function headerDrift(recorded: readonly HeaderPair[], live: readonly HeaderPair[]): readonly FoundDrift[] {
  // A tape from elsewhere may not have kept them.
  if (recorded.length === 0) return []
  const [before, now] = [valuesOf(recorded), valuesOf(live)]
  return [...meaningful].flatMap((name) => {
    const [was, is] = [before.get(name), now.get(name)]
    return was === is
      ? []
      : [{ class: 'headers' as const, path: name, recorded: was ?? '(absent)', live: is ?? '(absent)' }]
  })
}

function valuesOf(pairs: readonly HeaderPair[]): ReadonlyMap<string, string> {
  const values = new Map<string, string>()
  for (const [name, value] of pairs) {
    const before = values.get(name)
    values.set(name, before === undefined ? value : `${before}, ${value}`)
  }
  return values
}
