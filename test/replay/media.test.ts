import { once } from 'node:events'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { join } from 'node:path'
import OpenAI, { toFile } from 'openai'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { createRecorder } from '../../src/record/index.ts'
import { replayTape, verdictOf } from '../../src/replay/index.ts'
import { readTape } from '../../src/tape/index.ts'
import { temporaryFolder } from '../support/temporary-folder.ts'

const server = createServer((incoming, response) => {
  incoming.resume().on('end', () => {
    response.setHeader('content-type', 'application/json')
    response.end(JSON.stringify({ text: 'Refund, please.', data: [{ b64_json: 'UE5H' }] }))
  })
})
let base = ''
beforeAll(async () => {
  await once(server.listen(0, '127.0.0.1'), 'listening')
  base = `http://127.0.0.1:${(server.address() as AddressInfo).port}/v1`
})
afterAll(() => void server.close())

interface Desk {
  readonly prompt?: string
  readonly png?: Uint8Array
  readonly pngs?: 1 | 2
  readonly size?: '1024x1024' | '1536x1024'
  readonly picture?: string
  readonly spoken?: string
  readonly voice?: string
  readonly heard?: string
  readonly names?: string
  readonly isStream?: true
}

const png = Buffer.from([0x89, 0x50, 0x4e, 0x47, 0xff, 0x00, 0x0d, 0x0a])

/** Draws, speaks and listens, by the SDK of the provider. */
const desk =
  ({ png: image = png, pngs = 1, prompt = 'Remove the slogan.', size = '1024x1024', ...told }: Desk) =>
  async (): Promise<unknown> => {
    const {
      picture = 'A parcel',
      spoken = 'Your parcel is late.',
      voice = 'alloy',
      heard = 'RIFF-voice',
      names = 'Kern, Uster',
    } = told
    const client = new OpenAI({ apiKey: 'none', baseURL: base, maxRetries: 0 })
    const logo = await toFile(image, 'logo.png', { type: 'image/png' })
    const model = 'gpt-image-1'
    const edited = await client.images.edit({ model, image: pngs === 1 ? logo : [logo, logo], prompt, n: 1, size })
    await client.images.generate({ model, prompt: picture })
    await (await client.audio.speech.create({ model: 'tts-1', voice, input: spoken })).arrayBuffer()
    const listened = await client.audio.transcriptions.create({
      model: 'whisper-1',
      file: await toFile(new TextEncoder().encode(heard), 'call.wav', { type: 'audio/wav' }),
      ...(names !== '' && { prompt: names }),
      ...(told.isStream && { stream: true }),
    } as unknown as OpenAI.Audio.TranscriptionCreateParamsNonStreaming)
    return [edited.data?.length, listened.text]
  }

const dir = temporaryFolder('media')
let tape: ReturnType<typeof readTape>
beforeAll(async () => {
  await createRecorder({ dir }).run({ agent: 'desk', id: 'run' }, desk({}))
  tape = readTape(join(dir, 'run.tape.jsonl'))
})

test.for<[string, Desk, ...string[]]>([
  ['nothing', {}, 'same'],
  [
    'the prompt of an edit',
    { prompt: 'Keep the slogan.' },
    'unproven',
    'messages[0].text: [-Remove-] {+Keep+} the slogan.',
  ],
  ['its picture', { png: Buffer.from([0x89, 0x50, 0xfe]) }, 'unproven', 'messages[1]'],
  ['one picture more', { pngs: 2 }, 'different'],
  ['a setting of it', { size: '1536x1024' }, 'unproven', 'params.size: [-1024x1024-] {+1536x1024+}'],
  ['the prompt of a picture', { picture: 'A letter' }, 'unproven', 'messages[0].text: A [-parcel-] {+letter+}'],
  [
    'what is said',
    { spoken: 'Your parcel is here.' },
    'unproven',
    'messages[0].text: Your parcel is [-late-] {+here+}.',
  ],
  ['who says it', { voice: 'verse' }, 'unproven', 'params.voice: [-alloy-] {+verse+}'],
  ['what is heard', { heard: 'RIFF-other' }, 'unproven', 'messages[0]'],
  ['the hint for it', { names: 'Kern, Meier' }, 'unproven', 'params.prompt: Kern, [-Uster-] {+Meier+}'],
  ['no hint for it', { names: '' }, 'unproven', 'params.prompt: [-Kern, Uster-] {+(absent)+}'],
  ['that it comes as a stream', { isStream: true }, 'different'],
])('a model of images or of speech is asked with %s changed', async ([, change, verdict, words]) => {
  const result = await replayTape(tape, desk(change))
  expect([verdictOf(result).verdict, result.drift.map((one) => `${one.path}: ${one.words}`)]).toEqual([
    verdict,
    words === undefined ? [] : [expect.stringContaining(words)],
  ])
})
