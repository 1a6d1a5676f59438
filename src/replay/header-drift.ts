import type { HeaderPair } from '../tape/index.ts'
import type { FoundDrift } from './ladder.ts'

/** Headers that say what is asked for. All others tell who asks (versions, hosts, connections) and change with every upgrade. */
const meaningful: readonly string[] = [
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
  if (recorded.length === 0 || isSame(recorded, live)) return none
  let found: FoundDrift[] | undefined
  const look = (name: string): void => {
    const [was, is] = [valueOf(recorded, name), valueOf(live, name)]
    if (was === is || (was ?? assumed[name]) === (is ?? assumed[name])) return
    found ??= []
    found.push({ class: 'headers', path: name, recorded: was ?? '(absent)', live: is ?? '(absent)' })
  }
  for (const name of meaningful) look(name)
  if (own.length > 0)
    for (const name of new Set(own.map((given) => given.toLowerCase()))) if (!meaningful.includes(name)) look(name)
  return found ?? none
}

const none: readonly FoundDrift[] = []

function isSame(recorded: readonly HeaderPair[], live: readonly HeaderPair[]): boolean {
  return (
    recorded.length === live.length &&
    recorded.every(([name, value], at) => live[at]?.[0] === name && live[at]?.[1] === value)
  )
}

/** The value of a header, of several with one name all of them; a request has so few that looking beats an index. */
function valueOf(pairs: readonly HeaderPair[], name: string): string | undefined {
  let value: string | undefined
  for (const pair of pairs) if (pair[0] === name) value = value === undefined ? pair[1] : `${value}, ${pair[1]}`
  return value
}
