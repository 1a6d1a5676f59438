import fc from 'fast-check'
import { canaries, harmless, surrounded } from './canaries.ts'

const secrets = Object.values(canaries).flat()
const words = fc.constantFrom(
  'Please',
  'refund',
  'order',
  'A-17',
  'to',
  'é',
  '😀',
  '東京',
  '"',
  '\\',
  '\n',
  '\\n',
  '@',
  '=',
  ':',
  'password',
  'key',
  '-',
  '_',
  '/',
  '%',
)
const standing = fc.constantFrom(
  'redacted-1@email.invalid',
  'redacted-7@email.invalid',
  'redacted-openai-key-2',
  'redacted-secret-12',
  '8000000000000003',
  'redacted-99999999999@email.invalid',
)

/** A secret of any kind. */
export const arbitrarySecret: fc.Arbitrary<string> = fc.oneof(
  fc.constantFrom(...secrets),
  fc
    .tuple(fc.stringMatching(/^[a-z]{1,8}$/), fc.stringMatching(/^[a-z]{1,8}$/))
    .map(([user, host]) => `${user}@${host}.example`),
)

/** Text as agents and models write it, with secrets, placeholders and things that look like either. */
export const arbitraryText: fc.Arbitrary<string> = fc
  .array(
    fc.oneof(
      { weight: 4, arbitrary: words },
      { weight: 3, arbitrary: arbitrarySecret },
      { weight: 1, arbitrary: fc.constantFrom(...surrounded.map(([text]) => text)) },
      { weight: 1, arbitrary: fc.constantFrom(...harmless) },
      { weight: 1, arbitrary: standing },
      { weight: 1, arbitrary: fc.string({ unit: 'grapheme' }) },
    ),
    { maxLength: 12 },
  )
  .chain((parts) => fc.constantFrom(' ', ' ', '', '\n', '\\n').map((glue) => parts.join(glue)))

/** The same, often as JSON or a stream of events. */
export const arbitraryBody: fc.Arbitrary<string> = fc.oneof(
  arbitraryText,
  arbitraryText.map((content) => JSON.stringify({ messages: [{ role: 'user', content }] })),
  arbitraryText.map((text) => JSON.stringify({ arguments: JSON.stringify({ text }) })),
  fc
    .tuple(arbitraryText, fc.infiniteStream(fc.integer({ min: 1, max: 6 })))
    .map(([text, lengths]) => eventStream(text, lengths)),
)

/** A model's answer, a few characters in each event. */
export function eventStream(text: string, lengths: Iterable<number>): string {
  let events = 'event: start\ndata: {"type":"start"}\n\n'
  let at = 0
  for (const length of lengths) {
    if (at >= text.length) break
    events += `data: ${JSON.stringify({ id: 'chatcmpl-1', choices: [{ index: 0, delta: { content: text.slice(at, at + length) } }] })}\n\n`
    at += length
  }
  return `${events}data: [DONE]\n\n`
}
