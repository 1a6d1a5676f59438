import { firstFinders, secondFinders } from '../../src/privacy/earlier.ts'
import { createRedactor } from '../../src/privacy/index.ts'
import type { Contestant } from './score.ts'

const finders = { 1: { finders: firstFinders }, 2: { finders: secondFinders }, now: {} }

/** The redactor of the recorder, or that of older tapes. */
export function ours(version: 1 | 2 | 'now'): Contestant {
  const redactor = createRedactor({}, finders[version])
  return {
    text: (text) => redactor.text(text),
    body(bytes, coding) {
      const unpacked = redactor.unpacked(bytes, coding)
      if ('unsearched' in unpacked) throw new Error(`not searched: ${unpacked.unsearched.reason}`)
      return unpacked.coded === undefined ? unpacked.bytes : unpacked.bytes.toString('utf8')
    },
  }
}
