/** The line of a `.gitattributes` that keeps tapes byte for byte. */
export const attributesLine = '*.tape.jsonl -text'

/**
 * Whether a `.gitattributes` at the root of a repository keeps tapes byte for byte, by the last line that speaks of all of
 * them: its attributes are `-text`, `binary` or `eol=lf`.
 */
export function keepsTapes(text: string): boolean {
  let keeps = false
  for (const line of text.split(/\r?\n/)) {
    const [pattern = '', ...attributes] = line.trim().split(/\s+/)
    if (!patterns.has(pattern)) continue
    for (const attribute of attributes) {
      if (kept.has(attribute)) keeps = true
      // Said of every file, this is where a system's own line ends come in.
      else if (changed.has(attribute)) keeps = false
    }
  }
  return keeps
}

const kept: ReadonlySet<string> = new Set(['-text', 'binary', 'eol=lf'])
const changed: ReadonlySet<string> = new Set(['text', 'text=auto', 'eol=crlf', '!text'])
const folders = ['', '**/', 'recordings/', '/recordings/', 'recordings/**/', '/recordings/**/', 'recordings/golden/']
const patterns: ReadonlySet<string> = new Set(
  ['*', '*.jsonl', '*.tape.jsonl', '**'].flatMap((name) => folders.map((folder) => folder + name)),
)
