import { expect, test } from 'vitest'
import { recorded, replayed } from './both.ts'
import { everything } from './postgres-js.agent.ts'
import { postgresServer } from './postgres-server.ts'

test('what postgres.js answered is answered the same without a server', { tags: 'thorough' }, async () => {
  const server = await postgresServer()
  const first = await recorded(() => everything(server.port))
  await server[Symbol.asyncDispose]()
  expect(first.warnings).toEqual([])
  expect(first.tape.close?.unrecorded).toBeUndefined()
  const again = await replayed(first.tape, everything)
  expect(again.problems.map(({ message }) => message)).toEqual([])
  expect(again.outcome).toEqual({ status: 'returned', value: first.recorded })
  expect(again.reached).toBe(0)
  expect(first.tape.events.filter(({ kind }) => kind === 'tool').length).toBeGreaterThan(30)
})
