import { styleText } from 'node:util'
import { neutralJson } from '../errors/index.ts'
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
