import { expect, it } from 'vitest'
import { createRedactor } from '../../src/privacy/index.ts'
import { HeaderRedactor } from '../../src/match/header-redactor.ts'

it('a header that went through once is redacted once its value is known to be secret', () => {
  const redactor = createRedactor()
  const headers = new HeaderRedactor(redactor)
  const sent = [
    ['x-request-id', 'winter-2031-b'],
    ['content-length', '1192'],
    ['authorization', 'Bearer abcdefgh12345678'],
  ] as const
  const before = sent.slice(0, 2)
  expect(headers.redacted(sent, [])).toEqual(before)
  expect(headers.redacted(sent, [])).toEqual(before)
  redactor.text('{"password":"winter-2031-b"}')
  expect(headers.redacted(sent, [])).toEqual([['x-request-id', 'redacted-secret-1'], before[1]])
  // It stands on the tape: nothing reaches a disk with it that is not there.
  expect(headers.redacted(sent, before)).toEqual(before)
})
