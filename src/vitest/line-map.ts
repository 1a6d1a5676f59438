/** A source map in the shape Vite takes it. */
export interface LineMap {
  readonly version: 3
  readonly file: string
  readonly sources: string[]
  readonly sourcesContent: string[]
  readonly names: string[]
  readonly mappings: string
}

/**
 * A source map that sends every generated line to one line of `file`.
 *
 * `sourcesContent` is present and empty: left out, Vite would fill in the text of the case, and its module cache in
 * `node_modules` would keep a copy after the case is deleted.
 *
 * @param lines - for each generated line the 0-based line of `file` it stands for
 */
export function lineMap(file: string, lines: readonly number[]): LineMap {
  let previous = 0
  const segments = lines.map((line) => {
    const segment = [0, 0, line - previous, 0].map(vlq).join('')
    previous = line
    return segment
  })
  return { version: 3, file, sources: [file], sourcesContent: [''], names: [], mappings: segments.join(';') }
}

const digits = 'ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/'

/** Base64 variable-length quantity: five bits a digit, sign in the lowest, the sixth bit says that more follow. */
function vlq(value: number): string {
  let rest = value < 0 ? (-value << 1) | 1 : value << 1
  let text = ''
  do {
    const more = rest > 31 ? 32 : 0
    text += digits.charAt((rest & 31) | more)
    rest >>>= 5
  } while (rest > 0)
  return text
}
