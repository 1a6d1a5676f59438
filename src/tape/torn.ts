import type { HarvestError } from '../errors/index.ts'
import { tapeFault } from './faults.ts'

/** What the text after the last line feed is: a whole line, one that was cut, or neither. */
export type Tail = 'whole' | 'torn' | 'broken'

/**
 * Tells a line the recorder was writing when its process ended from one that is broken: the first is the
 * beginning of one JSON object. A power failure may leave zero bytes behind it.
 */
export function tailOf(text: string): Tail {
  const written = text.replace(/\0+$/, '')
  if (written === '') return 'torn'
  if (written[0] !== '{') return 'broken'
  const end = objectEnd(written)
  if (end === undefined) return 'torn'
  return end === text.length ? 'whole' : 'broken'
}

/** Where the object that starts the text ends, or `undefined` when it does not. */
function objectEnd(text: string): number | undefined {
  let depth = 0
  let quoted = false
  for (let at = 0; at < text.length; at++) {
    const character = text[at]
    if (quoted) {
      if (character === '\\') at++
      else if (character === '"') quoted = false
    } else if (character === '"') quoted = true
    else if (character === '{' || character === '[') depth++
    else if ((character === '}' || character === ']') && --depth === 0) return at + 1
  }
  return undefined
}

/** A tape that ends before its header does cannot be loaded at all. */
export function cutInHeader(source: string): HarvestError {
  return tapeFault(
    'HARVEST_TAPE_TRUNCATED',
    { source, line: 1 },
    {
      what: 'The tape ends inside its header',
      why: 'The recorded process ended, or the file was cut, before the first line was whole. There is nothing to load.',
    },
  )
}
