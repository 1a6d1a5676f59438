import { expect, test } from 'vitest'
import { HarvestError } from '../../src/errors/index.ts'
import { forkTape } from '../../src/fork/index.ts'
import { openBudget } from '../../src/live/index.ts'
import { runLive } from '../../src/live/live.ts'
import { createRedactor, redactorOfTape } from '../../src/privacy/index.ts'
import { replayTape } from '../../src/replay/index.ts'
import { parseTape, type RecordedRules, serializeTape, type Tape } from '../../src/tape/index.ts'
import { chatUrl, Recording } from '../replay/tapes.ts'

/** A tape whose header names these patterns, with one question that may be what hurts them. */
function tapeWith(redact: RecordedRules, body = '{"ask":"refund KD-12345678"}'): Tape {
  const recording = new Recording()
  recording.exchange({ body, answer: '{"ok":true}' })
  const tape = recording.tape({ value: 'done', id: 'stranger' })
  return { ...tape, header: { ...tape.header, redact } }
}

const rule = (pattern: string, flags = 'g'): RecordedRules => ({ rules: [{ kind: 'customer', pattern, flags }] })

async function replayed(tape: Tape, body: string): Promise<unknown> {
  try {
    const { outcome, problems, unused } = await replayTape(tape, async () => {
      await (await fetch(chatUrl, { method: 'POST', body })).text()
      return 'done'
    })
    return problems[0] ?? (outcome.status === 'threw' ? outcome.error : { outcome, unused: unused.length })
  } catch (error) {
    return error
  }
}

/** What an exponential or steep pattern takes for ever on, by the pattern. */
const catastrophes: readonly (readonly [pattern: string, text: string])[] = [
  ['(a+)+$', `${'a'.repeat(60)}!`],
  ['(b+)+$', `${'b'.repeat(60)}!`],
  ['(\\d+)+X', '1'.repeat(60)],
  ['([k-z]|[k-z][k-z])+#', 'q'.repeat(60)],
  ['(?:%|%[c-f]*)*!', '%'.repeat(60)],
]

test.each(catastrophes)('a replay refuses %s that only the tape names, and does not hang', async (pattern, text) => {
  const body = JSON.stringify({ ask: text })
  const error = await replayed(tapeWith(rule(pattern)), body)
  expect(error).toMatchObject({ code: 'HARVEST_PRIVACY_OPTION' })
  expect(HarvestError.is(error) && error.message).toContain('stranger.tape.jsonl:1')
  expect(HarvestError.is(error) && error.message).toContain(pattern)
})

test('a fork and a live run refuse it too, though the agent catches what it meets', async () => {
  const url = 'https://shop.example/refunds'
  const recording = new Recording()
  recording.exchange({ url, body: '{"ask":"refund"}', answer: '{"ok":true}' })
  const tape = recording.tape({ value: 'done', id: 'stranger' })
  const agent = async (): Promise<string> => {
    await fetch(url, { method: 'POST', body: `{"ask":"${'j'.repeat(60)}!"}` }).catch(() => {})
    return 'done'
  }
  const hostile = (pattern: string): Tape => ({ ...tape, header: { ...tape.header, redact: rule(pattern) } })
  const refused = { code: 'HARVEST_PRIVACY_OPTION' }
  const fork = forkTape(hostile('(j+)+;'), agent, { keep: 1, tail: { from: 'tape' } })
  await expect(fork).rejects.toMatchObject(refused)
  const live = runLive(hostile('(?:j+)+;'), agent, { signal: new AbortController().signal, budget: openBudget({}) })
  await expect(live).rejects.toMatchObject(refused)
})

test('a harmless pattern of a tape is replayed as it was recorded', async () => {
  const redact = rule('KD-\\d{8}')
  const body = '{"ask":"refund KD-12345678"}'
  const tape = tapeWith(redact, body.replace('KD-12345678', 'redacted-customer-1'))
  expect(await replayed(tape, body)).toEqual({ outcome: { status: 'returned', value: 'done' }, unused: 0 })
})

test('what a pattern took too long for once is refused at once from then on', () => {
  const redactor = redactorOfTape(tapeWith(rule('(?:f+)+$')))
  const refused = 'takes more than 50 ms'
  expect(() => redactor.text(`${'f'.repeat(60)}!`)).toThrow(refused)
  expect(() => redactor.text('anything')).toThrow(refused)
})

test('a pattern that options of the process name too is the project’s, in a tape as well', { tags: 'thorough' }, () => {
  createRedactor({ rules: [{ kind: 'customer', pattern: /(?:h+)+;/g }] })
  // Millions of steps each: beyond what a pattern of a tape alone may take.
  const redactor = redactorOfTape(tapeWith(rule('(?:h+)+;')))
  for (let round = 0; round < 2; round++) expect(redactor.text(`${'h'.repeat(25)}! ${round}`)).toContain('h! ')
})

const many = (length: number): readonly string[] => Array.from({ length }, (_, at) => `n${at}`)
test.each<readonly [string, RecordedRules]>([
  ['redact.rules has more than 64 items', { rules: many(65).map((kind) => ({ kind, pattern: 'x', flags: 'g' })) }],
  ['redact.rules[0].pattern has more than 2048 characters', rule('x'.repeat(2049))],
  ['redact.names.always has more than 4096 items', { names: { always: many(4097) } }],
  ['redact.keys[0] has more than 1024 characters', { keys: ['x'.repeat(1025)] }],
  ['redact.families has more than 4096 items', { families: many(4097).map((head) => ({ head, of: 'word', min: 32 })) }],
])('a tape is not read, and no options are taken, where %s', (problem, redact) => {
  const { header, events } = tapeWith(redact)
  const text = serializeTape(header, events)
  expect(() => parseTape(text, 'stranger.tape.jsonl')).toThrow(problem)
  const { rules: _, ...lists } = redact
  const options = {
    ...lists,
    ...(redact.rules && { rules: redact.rules.map((one) => ({ ...one, pattern: new RegExp(one.pattern, 'g') })) }),
  }
  expect(() => createRedactor(options)).toThrow(problem)
})
