import { mkdtempSync, rmSync } from 'node:fs'
import { createServer } from 'node:http'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { parseExpectation } from '../../src/blame/expectation.ts'
import { forkSourceOf } from '../../src/blame/fork-source.ts'
import { createOracle } from '../../src/blame/oracle.ts'
import { openBudget } from '../../src/live/index.ts'
import { createRecorder } from '../../src/record/index.ts'
import { installReplay } from '../../src/replay/index.ts'
import { readTape, type Tape } from '../../src/tape/index.ts'
import { served } from '../support/served.ts'

describe('a run whose provider fails in its middle', () => {
  /** How often the long question is refused before it is answered. */
  let refusals = 0
  let drop = false
  let said = ''
  const base = served(
    createServer((request, response) => {
      let body = ''
      request.on('data', (chunk) => (body += chunk))
      request.on('end', () => {
        const isLong = body.includes('The long story')
        if (isLong && refusals-- > 0) {
          if (drop) return void request.socket.destroy()
          response.statusCode = 429
          return void response.end('{"error":{"message":"slow down"}}')
        }
        response.setHeader('content-type', 'application/json')
        const content = `${said} ${isLong ? 'yes' : 'no'}`
        response.end(
          JSON.stringify({
            id: 'c',
            object: 'chat.completion',
            model: 'm',
            choices: [{ index: 0, message: { role: 'assistant', content } }],
          }),
        )
      })
    }),
  )
  let dir = ''
  const ask = async (content: string): Promise<string | undefined> => {
    const answer = await fetch(`${base()}/v1/chat/completions`, {
      method: 'POST',
      headers: { 'content-type': 'application/json' },
      body: JSON.stringify({ model: 'm', messages: [{ role: 'user', content }] }),
    }).catch(() => undefined)
    if (answer?.ok !== true) return undefined
    const { choices } = (await answer.json()) as { choices: { message: { content: string } }[] }
    return choices[0]!.message.content
  }
  /** Tries twice, and then asks something shorter. */
  const agent = async (): Promise<string | undefined> =>
    (await ask('The long story')) ?? (await ask('The long story')) ?? (await ask('In short?'))

  const record = async (failures: number): Promise<Tape> => {
    refusals = failures
    drop = false
    said = 'recorded'
    const recorder = createRecorder({ dir })
    await recorder.run({ agent: 'asker', input: {} }, agent)
    return readTape(recorder.lastTape ?? '')
  }
  const draw = async (tape: Tape, failures: number, isDropped = false) => {
    const oracle = createOracle({ by: 'expectations', ok: [parseExpectation('.=other', '--ok')], bad: [] })
    const source = await forkSourceOf(tape, { load: async () => agent, oracle, budget: openBudget({}), timeoutMs: 20_000 })
    refusals = failures
    drop = isDropped
    // What ends as recorded is graded by that.
    said = 'now'
    const { grade, because } = await source.draw({ keep: 0, seed: 0 }, new AbortController().signal)
    return { grade, because }
  }

  beforeAll(async () => {
    await installReplay()
    dir = mkdtempSync(join(tmpdir(), 'harvest-outage-'))
  })
  afterAll(() => rmSync(dir, { recursive: true, force: true }))

  test('has no grade where the agent asked something else instead', async () => {
    const tape = await record(0)
    expect(await draw(tape, 2)).toEqual({ grade: 'ungraded', because: 'A model answered with status 429' })
    const { grade, because } = await draw(tape, 2, true)
    expect(grade).toBe('ungraded')
    expect(because).toMatch(/^A model could not be reached/)
  })

  test('is graded where it was answered when it asked again', async () => {
    expect(await draw(await record(0), 1)).toEqual({ grade: 'bad', because: undefined })
  })

  test('is graded where it failed like that when it was recorded', async () => {
    expect(await draw(await record(2), 2)).toEqual({ grade: 'bad', because: undefined })
  })
})
