import { expect, test } from 'vitest'
import { encodeValue } from '../../../src/tape/index.ts'
import { recorded, replayed } from './both.ts'
import { mongoServer } from './mongo-server.ts'
import { everything } from './mongodb.agent.ts'

test('what mongodb answered is answered the same without a server', async () => {
  const server = await mongoServer()
  const first = await recorded(() => everything(server.port))
  await server[Symbol.asyncDispose]()
  expect(first.warnings).toEqual([])
  expect(first.tape.close?.unrecorded).toBeUndefined()
  const again = await replayed(first.tape, everything)
  expect(again.problems.map(({ message }) => message)).toEqual([])
  expect(again.outcome.status === 'returned' && encodeValue(again.outcome.value)).toEqual(encodeValue(first.recorded))
  expect(again.reached).toBe(0)
  expect(first.tape.events.filter(({ kind }) => kind === 'tool').length).toBeGreaterThanOrEqual(30)
})
