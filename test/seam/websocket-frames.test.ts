import { deflateRawSync } from 'node:zlib'
import { expect, test } from 'vitest'
import { FrameReader, type WebSocketMessage } from '../../src/seam/websocket-frames.ts'

const compressedText = 0xc1

test('a message that cannot be decompressed stands as its bytes, and those behind it are read', () => {
  const heard: WebSocketMessage[] = []
  const reader = new FrameReader((message) => heard.push(message))
  const broken = Buffer.from([0x00, 0x01, 0x02, 0x03, 0x04])
  const good = deflateRawSync(Buffer.from('hello'))
  for (const data of [broken, good]) reader.add(Buffer.concat([Buffer.from([compressedText, data.length]), data]))
  expect(heard).toEqual([
    { kind: 'binary', data: broken },
    { kind: 'text', data: Buffer.from('hello') },
  ])
})
