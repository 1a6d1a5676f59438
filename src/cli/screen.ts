import { styleText } from 'node:util'
import type { Screen } from '../report/output.ts'

export { neutralLines } from '../report/output.ts'

/** A screen over this process's stdout and stderr. */
export function createScreen(): Screen {
  let busy = false
  const clear = (): void => {
    if (busy) process.stderr.write('\r\u001b[K')
    busy = false
  }
  return {
    line(text = '') {
      clear()
      process.stdout.write(`${text}\n`)
    },
    note(text) {
      clear()
      process.stderr.write(`${text}\n`)
    },
    json(value) {
      clear()
      process.stdout.write(`${neutralJson(JSON.stringify(value, undefined, 2))}\n`)
    },
    paint: (format, text) => styleText(format, text, { stream: process.stdout }),
    progress(text) {
      if (!process.stderr.isTTY) return
      clear()
      process.stderr.write(text.slice(0, (process.stderr.columns || 80) - 1))
      busy = text !== ''
    },
  }
}

// JSON escapes C0 controls only. The same value in other letters: what `neutral` takes out of text, as `\u` escapes.
const unseen =
  /(?!\u200c|\u200d|[\ufe00-\ufe0f])[\u007f-\u009f\u200e\u200f\u2028-\u202e\ufff9-\ufffb\u{e0000}-\u{e0fff}\p{Default_Ignorable_Code_Point}\p{Noncharacter_Code_Point}]|#(?=#(?:\[|vso\[|teamcity\[))/giu

/** JSON that holds the same values, with nothing in it a terminal or a CI runner obeys. */
export function neutralJson(json: string): string {
  return json.replace(unseen, asEscape)
}

function asEscape(characters: string): string {
  return [...Array(characters.length).keys()]
    .map((i) => `\\u${characters.charCodeAt(i).toString(16).padStart(4, '0')}`)
    .join('')
}
