import { beforeAll, expect, test } from 'vitest'
import { installReplay, replayTape } from '../../src/replay/index.ts'
import { chat, chatUrl, tapeOf } from './tapes.ts'

beforeAll(() => installReplay())

const headers = { 'content-type': 'application/json' }
const post = async (body: string): Promise<string> => (await fetch(chatUrl, { method: 'POST', headers, body })).text()

test('a request that stands on the tape letter for letter is answered, whatever counts as secret by now', async () => {
  const body = chat('Use the key npm_0123456789abcdefghijABCDEFGHIJ012345')
  const { problems, comparison } = await replayTape(tapeOf([{ body }]), () => post(body))
  expect(problems).toEqual([])
  expect(comparison).toMatchObject({ served: 1, identical: 1 })
})

test('placeholders the agent sends back as they stand are counted: the next secret gets the next number', async () => {
  const tape = tapeOf([
    { body: chat('Write to redacted-1@email.invalid') },
    { body: chat('And to redacted-2@email.invalid') },
  ])
  const { problems, comparison } = await replayTape(tape, async () => {
    await post(chat('Write to redacted-1@email.invalid'))
    await post(chat('And to jo@example.com'))
  })
  expect(problems).toEqual([])
  expect(comparison).toMatchObject({ served: 2, identical: 2 })
})
