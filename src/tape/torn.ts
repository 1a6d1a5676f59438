import type { HarvestError } from '../errors/index.ts'
import { tapeFault } from './errors.ts'

/**
 * Whether the text after the last line feed is a line the recorder was writing when its process ended: the beginning
 * of one JSON object. A power failure may leave zero bytes behind it. What is neither torn nor whole is read as a
 * line, to say what is wrong with it.
 */
export function isTorn(text: string): boolean {
  const written = text.replace(/(?<!\0)\0+$/, '')
  return written === '' || (written.startsWith('{') && !endsAsObject(written))
}

/** Whether the object that begins the text also ends in it. */
function endsAsObject(text: string): boolean {
  let depth = 0
  let quoted = false
  for (let at = 0; at < text.length; at++) {
    const character = text[at]
    if (quoted) {
      if (character === '\\') at++
      else if (character === '"') quoted = false
    } else if (character === '"') quoted = true
    else if (character === '{' || character === '[') depth++
    else if ((character === '}' || character === ']') && --depth === 0) return true
  }
  return false
}

/** A tape that ends before its header does cannot be loaded at all. */
export function cutInHeader(source: string): HarvestError {
  return tapeFault(
    'HARVEST_TAPE_TRUNCATED',
    { source, line: 1 },
    {
      what: 'The tape ends inside its header',
      why: 'The process ended, or the file was cut, before the first line was complete.',
    },
  )
}
