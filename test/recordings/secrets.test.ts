import { expect, test } from 'vitest'
import { createRedactor } from '../../src/privacy/index.ts'
import { readForSecrets, type SecretFound, secretsIn } from '../../src/recordings/secrets.ts'
import { type ExchangeEvent, parseTape, serializeTape } from '../../src/tape/index.ts'
import { closing, exchange, header } from '../tape/make.ts'

const secret = 'hunter2-Zq81-vT40'
const talk = (word: string): string => `{"messages":["${'Where is my order? '.repeat(40)}"],"password":"${word}"}`
const asked = exchange(1, talk('redacted-secret-1'))
/** Its request begins as the one before it: on its line stand the word and its end. */
const again = exchange(5, talk(secret))

function placesIn(text: string): { readonly whole: readonly string[]; readonly read: readonly string[] } {
  const tape = parseTape(text, 'a.tape.jsonl')
  const redactor = (): ReturnType<typeof createRedactor> => createRedactor({}, { keys: true })
  return {
    whole: placed(secretsIn(tape, text, redactor())),
    read: placed(readForSecrets(text, 'a.tape.jsonl', redactor).search()),
  }
}

function placed(found: readonly SecretFound[]): readonly string[] {
  return found.map(({ place }) => place)
}

test.each([
  ['in the header', serializeTape({ ...header, input: { password: secret } }, [asked], closing), ['line 1: secret']],
  ['on the line of a request', serializeTape(header, [again], closing), ['line 2: secret']],
  [
    'in a request that begins as the one before it',
    serializeTape(header, [asked, again], closing),
    ['request of event 5: secret'],
  ],
  ['in the pieces of an answer', serializeTape(header, [inPieces()], closing), ['response of event 1: secret']],
  [
    'that is named on one line and stands on others',
    serializeTape(
      { ...header, input: { order: secret } },
      [exchange(1, `{"id":"${secret}"}`), exchange(5, '{"id":"another"}'), exchange(9, talk(secret))],
      closing,
    ),
    ['line 4: secret', 'line 1: secret', 'event 1: secret'],
  ],
  [
    'that is named in an answer and stands on another line',
    serializeTape(header, [inPieces(), exchange(5, `{"id":"${secret}"}`)], closing),
    ['response of event 1: secret', 'event 5: secret'],
  ],
  ['nowhere', serializeTape(header, [asked], closing), []],
])('a secret %s is found where it stands, whether the tape is in memory or read for it', (_, text, places) => {
  expect(placesIn(text)).toEqual({ whole: places, read: places })
})

test('a tape that is read for secrets is looked through for those its header promises', () => {
  const text = serializeTape({ ...header, redact: { keys: ['parcel'] } }, [exchange(1, '{"parcel":"A-17-B"}')], closing)
  const { search } = readForSecrets(text, 'a.tape.jsonl', ({ redact }) => createRedactor({ keys: redact?.keys ?? [] }))
  expect(placed(search())).toEqual(['line 2: secret'])
})

test('who only looks for secrets refuses a tape that was changed as everybody does', () => {
  const text = serializeTape(header, [asked], closing).replace('Where is my order? W', 'Where is my order? w')
  expect(() => readForSecrets(text, 'a.tape.jsonl', () => createRedactor())).toThrow('(HARVEST_TAPE_TAMPERED)')
})

function inPieces(): ExchangeEvent {
  const { response, ...rest } = asked
  const [first, second] = [`{"password":"${secret.slice(0, 5)}`, `${secret.slice(5)}"}`]
  return {
    ...rest,
    response: {
      ...response!,
      chunks: [
        [2, 1, first],
        [3, 2, second],
      ],
      end: [4, 3],
    },
  }
}
