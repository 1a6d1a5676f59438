import { once } from 'node:events'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { join } from 'node:path'
import OpenAI from 'openai'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { createRecorder, tool } from '../../src/record/index.ts'
import { changedQuestions } from '../../src/replay/changed-questions.ts'
import { replayTape, verdictOf } from '../../src/replay/index.ts'
import { readTape, type Tape } from '../../src/tape/index.ts'
import { temporaryFolder } from '../support/temporary-folder.ts'

const servers = [1, 2].map(() =>
  createServer((incoming, response) => {
    incoming.resume().on('end', () => {
      response.setHeader('content-type', 'application/json')
      const message = { role: 'assistant', content: 'fine' }
      response.end(JSON.stringify({ id: 'c', model: 'm', choices: [{ index: 0, message, finish_reason: 'stop' }] }))
    })
  }),
)
let [base, other] = ['', '']
beforeAll(async () => {
  for (const server of servers) await once(server.listen(0, '127.0.0.1'), 'listening')
  ;[base, other] = servers.map((server) => `http://127.0.0.1:${(server.address() as AddressInfo).port}`) as [
    string,
    string,
  ]
})
afterAll(() => {
  for (const server of servers) server.close()
})

const dir = temporaryFolder('causes')
async function record(id: string, run: () => Promise<unknown>): Promise<Tape> {
  await createRecorder({ dir }).run({ agent: 'desk', id }, run)
  return readTape(join(dir, `${id}.tape.jsonl`))
}

const get = async (url: string): Promise<number> => (await fetch(url)).status

async function ask(content: string, system = 'You sum up.'): Promise<string> {
  const client = new OpenAI({ apiKey: 'none', baseURL: base, maxRetries: 0 })
  const messages = [
    { role: 'system', content: system },
    { role: 'user', content },
  ] as const
  const { choices } = await client.chat.completions.create({ model: 'm', messages: [...messages] })
  return choices[0]?.message.content ?? ''
}

const docs = ['Oslo has rain.', 'Bergen has more.', 'Voss has snow.', 'Flam has sheep.']
interface FanOut {
  readonly texts?: readonly string[]
  readonly word?: (text: string) => string
}
const fanOut =
  ({ texts = docs, word = (text) => `Sum up: ${text}` }: FanOut = {}) =>
  async (): Promise<string> => {
    const parts = await Promise.all(texts.map((text) => ask(word(text))))
    await ask('Rate', 'You rate.')
    return ask(`Combine ${parts.join(', ')}`, 'You combine.')
  }

test('a request to another port says so, where all else is the recorded address', async () => {
  const both = (second: string) => async (): Promise<number> => (await get(`${base}/a`)) + (await get(`${second}/b`))
  const { problems } = await replayTape(await record('port', both(base)), both(other))
  expect(problems[0]?.message).toContain(`differs at the host\n  recorded  ${base}\n  now       ${other}`)
  expect(problems[0]?.message).toContain('went to another host, scheme or port')
})

test('one call less of several at once is a step that was skipped, and is not taken by a later call', async () => {
  const tape = await record('less', fanOut())
  const { problems, drift } = await replayTape(tape, fanOut({ texts: docs.filter((text) => !text.startsWith('Voss')) }))
  expect(problems[0]?.facts.what).toMatch(/^The agent skipped step 3, POST /)
  expect(drift).toEqual([])
})

test('a question asked once more is called that, although others of its address are open', async () => {
  const asking = (times: number) => async (): Promise<string> => {
    for (let i = 0; i < times; i++) await ask('Sum up: Oslo')
    return ask('Combine', 'You combine.')
  }
  const { problems } = await replayTape(await record('more', asking(1)), asking(2))
  expect(problems[0]?.message).toMatch(/^The agent made a request more often than recorded: POST /)
  expect(problems[0]?.message).toContain('Every recorded answer to it was given')
})

test.for([
  ['an accent in another form', 'Caf\u00e9', 'Cafe\u0301', 'Caf\\u00e9', 'Cafe\\u0301'],
  ['a letter of another alphabet', 'INV', '\u0406NV', 'INV', '\\u0406NV'],
  ['a blank at the end', 'ok', 'ok ', 'ok', 'ok␣'],
  ['another end of line', 'a\nb', 'a\r\nb', 'a⏎b', 'a\\r⏎b'],
] as const)('%s in an argument is seen in the message', async ([name, was, is, recorded, now]) => {
  const send = tool('send', async (text: string) => text.length)
  const sending = (text: string) => () => send(text)
  const { problems } = await replayTape(await record(name.replaceAll(' ', '-'), sending(was)), sending(is))
  expect(problems[0]?.message).toContain(`recorded  ${recorded}\n  now       ${now}\n`)
})

test('a template that words several messages is one change, and another text in it is another one', async () => {
  const tape = await record('template', fanOut())
  const reworded = async (given: FanOut): Promise<readonly string[]> => {
    const run = await replayTape(tape, fanOut(given))
    expect(verdictOf(run).verdict).toBe('unproven')
    return changedQuestions(run.drift).map(({ key, words, steps }) => `${key} ${words} ${steps.join()}`)
  }
  const [one = '', ...more] = await reworded({ word: (text) => `Summarise: ${text}` })
  expect(more).toEqual([])
  expect(one).toMatch(/^\S+ \[-Sum up-\] \{\+Summarise\+\}: .*, and the same in 3 more 1,2,3,4$/)
  expect(await reworded({ word: (text) => `Summarise: ${text}` })).toEqual([one])
  // Data that changed beside it is a change of its own, and none of it was accepted with the other.
  const snow = docs.map((text) => text.replace('snow', 'hail'))
  const both = await reworded({ texts: snow, word: (text) => `Summarise: ${text}` })
  expect(both).toHaveLength(2)
  expect(both.map((text) => text.split(' ')[0])).not.toContain(one.split(' ')[0])
  expect(await reworded({ word: (text) => `Sum up: ${text}\n` })).toHaveLength(1)
})
