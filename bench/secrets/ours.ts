import { createRedactor } from '../../src/privacy/index.ts'
import type { Contestant } from './score.ts'

/** The redactor of the recorder; `version` 1 is that of its first tapes. */
export function ours(version: 1 | 2): Contestant {
  const redactor = createRedactor({}, { version })
  return {
    text: (text) => redactor.text(text),
    body(bytes, coding) {
      const unpacked = redactor.unpacked(bytes, coding)
      if ('unsearched' in unpacked) throw new Error(`not searched: ${unpacked.unsearched.reason}`)
      return unpacked.coded === undefined ? unpacked.bytes : unpacked.bytes.toString('utf8')
    },
  }
}
