import { mkdtempSync, rmSync } from 'node:fs'
import { createServer } from 'node:http'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { parseExpectation } from '../../src/blame/expectation.ts'
import { forkSourceOf } from '../../src/blame/fork-source.ts'
import { createOracle, isPassing } from '../../src/blame/oracle.ts'
import { openBudget } from '../../src/live/index.ts'
import { runLive } from '../../src/live/live.ts'
import { createRecorder } from '../../src/record/index.ts'
import { installReplay } from '../../src/replay/index.ts'
import { readTape, type Tape } from '../../src/tape/index.ts'
import { served } from '../support/served.ts'

describe('a run whose time is up', () => {
  let asked = 0
  let onQuestion: ((count: number) => unknown) | undefined
  let mode: 'answers' | 'hangs' | 'hangs in the middle' | 'asks for more' | 'refuses' = 'answers'
  const base = served(
    createServer((request, response) => {
      request.resume().on('end', () => {
        setImmediate(() => onQuestion?.(++asked))
        if (mode === 'hangs') return
        if (mode === 'refuses') {
          response.statusCode = 429
          return void response.end()
        }
        response.setHeader('content-type', 'application/json')
        const content = mode === 'asks for more' ? 'more' : 'no'
        const text = JSON.stringify({
          id: 'c',
          object: 'chat.completion',
          model: 'm',
          choices: [{ index: 0, message: { role: 'assistant', content } }],
        })
        if (mode === 'hangs in the middle') response.write(text.slice(0, 20))
        else response.end(text)
      })
    }),
  )
  let dir = ''
  let tape: Tape
  const ask = async (): Promise<string | undefined> => {
    const answer = await fetch(`${base()}/v1/chat/completions`, {
      method: 'POST',
      headers: { 'content-type': 'application/json' },
      body: JSON.stringify({ model: 'm', messages: [{ role: 'user', content: 'Well?' }] }),
    })
    // Its client asks again.
    if (answer.status === 429) return undefined
    const { choices } = (await answer.json()) as { choices: { message: { content: string } }[] }
    return choices[0]!.message.content
  }
  const agent = async (): Promise<string> => {
    for (;;) {
      const said = await ask()
      if (said !== undefined && said !== 'more') return said
    }
  }

  beforeAll(async () => {
    await installReplay()
    dir = mkdtempSync(join(tmpdir(), 'harvest-waiting-'))
    const recorder = createRecorder({ dir })
    await recorder.run({ agent: 'asker', input: {} }, agent)
    tape = readTape(recorder.lastTape ?? '')
  })
  afterAll(() => rmSync(dir, { recursive: true, force: true }))

  const oracle = createOracle({ by: 'expectations', ok: [parseExpectation('.=yes', '--ok')], bad: [] })
  const unanswered = { grade: 'ungraded', because: 'A model had not answered when the time of the run was up' }

  test.each(['hangs', 'refuses'] as const)('has no grade, and may get one: its model %s', async (is) => {
    mode = 'answers'
    const source = await forkSourceOf(tape, {
      load: async () => agent,
      oracle,
      budget: openBudget({}),
      timeoutMs: 5_000,
    })
    mode = is
    const { grade, because } = await source.draw({ keep: 0, seed: 0 }, new AbortController().signal)
    expect({ grade, because }).toEqual(unanswered)
    expect(isPassing(because)).toBe(true)
  })

  test.each([
    ['hangs', 1, unanswered],
    ['hangs in the middle', 1, unanswered],
    ['refuses', 3, unanswered],
    ['asks for more', 3, { grade: 'timeout' }],
  ] as const)('where it is live: its model %s', async (is, questions, graded) => {
    mode = is
    asked = 0
    const time = new AbortController()
    onQuestion = (count) => count === questions && time.abort(new Error('its time is up'))
    const run = await runLive(tape, agent, { budget: openBudget({}), signal: time.signal })
    expect(await oracle.grade(run)).toEqual(graded)
  })
})
