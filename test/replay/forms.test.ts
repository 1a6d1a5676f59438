import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { runInChild } from '../../fixtures/child/index.ts'
import { withProvider } from '../../fixtures/provider/index.ts'
import { installReplay, replayTape } from '../../src/replay/index.ts'
import { describeTranscoded } from '../../src/replay/transcode.ts'
import type { ExchangeEvent, Tape } from '../../src/tape/index.ts'
import type { Form } from './forms.agents.ts'
import type { FormsDone, FormsJob } from './forms.child.ts'
import { chat, tapeOf } from './tapes.ts'

type Done = Readonly<Record<string, FormsDone>>

const names = ['openai-chat', 'openai-responses', 'anthropic', 'gemini', 'bedrock-converse']
const script = new URL('./forms.child.ts', import.meta.url)
const inChild = (job: FormsJob): Promise<Done> => runInChild(script, job)
const dir = mkdtempSync(join(tmpdir(), 'harvest-forms-'))
let recorded: Readonly<Record<Form, Done>>

beforeAll(async () => {
  recorded = await withProvider(async ({ base, h2base, tlsbase, tlsh2base }) => {
    const input = { base, h2base, tlsbase, tlsh2base }
    return {
      whole: await inChild({ form: 'whole', record: { dir, input } }),
      stream: await inChild({ form: 'stream', record: { dir, input } }),
    }
  })
})
afterAll(() => rmSync(dir, { recursive: true, force: true }))

const tapesOf = (done: Done): Readonly<Record<string, string>> =>
  Object.fromEntries(Object.entries(done).map(([name, { tape = '' }]) => [name, tape]))

describe.each<readonly [from: Form, to: Form]>([
  ['whole', 'stream'],
  ['stream', 'whole'],
])('an answer that was recorded in the form %s and is asked for in the form %s', (from, to) => {
  let replayed: Done
  beforeAll(async () => {
    replayed = await inChild({ form: to, replay: tapesOf(recorded[from]) })
  })

  test.each(names)("says the same to the vendor's own client: %s", (name) => {
    const { heard, problems, transcoded } = replayed[name] ?? {}
    expect(problems).toEqual([])
    expect(heard).toEqual(recorded[from][name]?.heard)
    expect(heard?.cities).toHaveLength(2)
    expect(transcoded).toMatchObject([
      { stepNumber: 1, from, to },
      { stepNumber: 2, from, to },
    ])
  })

  test('is no other question', () => {
    const differences = names.flatMap((name) => replayed[name]?.drift ?? [])
    // What is asked for beside a stream is bookkeeping.
    expect(differences.filter((one) => !one.startsWith('bookkeeping params.stream_options'))).toEqual([])
  })

  test('is refused where every byte has to be the recorded one', async () => {
    const strict = await inChild({ form: to, replay: tapesOf(recorded[from]), options: { strict: true } })
    for (const name of names)
      expect(strict[name]?.problems?.[0], name).toMatch(/^HARVEST_ANSWER_FORM [^]*serves recorded bytes alone/)
  })
})

describe('a recorded answer that is no whole answer', () => {
  const url = 'http://127.0.0.1:8000/v1/chat/completions'
  const events = (end: string): string =>
    `data: {"id":"x","model":"m","choices":[{"index":0,"delta":{"role":"assistant","content":"hi"},"finish_reason":${end}}]}\n\ndata: [DONE]\n\n`
  const streamed = (answer: string): Tape => tapeOf([{ url, body: chat('hi', { stream: true }), answer }])
  const cut = (tape: Tape, change: Partial<ExchangeEvent>): Tape => ({
    ...tape,
    events: tape.events.map((event) => (event.kind === 'exchange' ? { ...event, ...change } : event)),
  })
  const ask = async (): Promise<string> => (await fetch(url, { method: 'POST', body: chat('hi') })).text()
  const replay = async (tape: Tape) => {
    await installReplay()
    const { problems, transcoded, outcome } = await replayTape(tape, ask)
    return { codes: problems.map(({ code }) => code), text: problems[0]?.message, transcoded, outcome }
  }

  test('is put together where it has an end', async () => {
    const { codes, transcoded, outcome } = await replay(streamed(events('"stop"')))
    expect(codes).toEqual([])
    expect(JSON.parse((outcome as { value: string }).value)).toMatchObject({
      choices: [{ message: { content: 'hi' } }],
    })
    expect(transcoded.map(describeTranscoded)).toEqual([
      'step 1: recorded as a stream, asked whole; the pieces are put together',
    ])
    expect(describeTranscoded({ step: 0, stepNumber: 3, from: 'whole', to: 'stream' })).toBe(
      'step 3: recorded whole, asked as a stream; the pieces are made up',
    )
  })

  test('is refused where its stream was torn, aborted, or has no end', async () => {
    const whole = streamed(events('"stop"'))
    const [event] = whole.events.filter((one) => one.kind === 'exchange')
    const { end: _end, ...open } = event!.response!
    const torn = await replay(cut(whole, { response: open }))
    expect(torn.text).toMatchInlineSnapshot(`
      "The agent requests a whole answer, but a stream was recorded

        tape  refund
        step  step 1, POST 127.0.0.1:8000/v1/chat/completions
        at    test/replay/forms.test.ts:78:51

      The recorded answer broke off, so the rest of it is unknown.
      → request a stream again
      → or record the run again and promote the new tape
      (HARVEST_ANSWER_FORM)"
    `)
    expect((await replay(cut(whole, { response: open, aborted: [9, 9] }))).codes).toContain('HARVEST_ANSWER_FORM')
    expect((await replay(streamed(events('null')))).codes).toContain('HARVEST_ANSWER_FORM')
  })

  test('is served as it is where it is an error', async () => {
    const tape = streamed('{"error":{"message":"slow down"}}')
    const [event] = tape.events.filter((one) => one.kind === 'exchange')
    const { codes, transcoded, outcome } = await replay(cut(tape, { response: { ...event!.response!, status: 429 } }))
    expect({ codes, transcoded }).toEqual({ codes: [], transcoded: [] })
    expect(outcome).toMatchObject({ value: '{"error":{"message":"slow down"}}' })
  })

  test('stands at the place of a changed question in its other form, and proves nothing about it', async () => {
    const tape = tapeOf([{ url, body: chat('hello', { stream: true }), answer: events('"stop"') }])
    const run = await replayTape(tape, ask)
    expect(run.drift).toMatchObject([{ class: 'messages', policy: 'unproven' }])
  })

  test('is not that of the next call for a question that was answered in the other form and is asked once more', async () => {
    const whole = '{"choices":[{"message":{"role":"assistant","content":"hi"},"finish_reason":"stop"}]}'
    const tape = tapeOf([
      { url, body: chat('hi'), answer: whole },
      { url, body: chat('bye', { stream: true }), answer: events('"stop"') },
    ])
    await installReplay()
    const run = await replayTape(tape, async () => {
      await ask()
      return fetch(url, { method: 'POST', body: chat('hi', { stream: true }) }).then((response) => response.text())
    })
    expect(run.problems[0]?.code).toBe('HARVEST_TAPE_EXHAUSTED')
    expect(run.drift).toEqual([])
  })
})
