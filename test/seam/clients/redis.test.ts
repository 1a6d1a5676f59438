import { describe, expect, test } from 'vitest'
import { recorded, replayed } from './both.ts'
import { getAndSet, withIoredis, withRedis } from './redis.agent.ts'
import { redisServer } from './redis-server.ts'

describe.each([
  ['ioredis', withIoredis],
  ['redis', withRedis],
])('%s', (driver, agent) => {
  test('is answered the same without a server', async () => {
    const server = await redisServer()
    const first = await recorded(() => agent(server.port))
    await server[Symbol.asyncDispose]()
    expect(first.warnings).toEqual([])
    expect(first.tape.close?.unrecorded).toBeUndefined()
    const again = await replayed(first.tape, agent)
    expect(again.problems.map(({ message }) => message)).toEqual([])
    expect(again.outcome).toEqual({ status: 'returned', value: first.recorded })
    expect(again.reached).toBe(0)
    expect(
      first.tape.events.filter((event) => event.kind === 'tool' && event.driver === driver).length,
    ).toBeGreaterThanOrEqual(30)
  })
})

test('a command of ioredis has its answer on the tape before the next one that waited for it', async () => {
  await using server = await redisServer()
  const { tape } = await recorded(() => getAndSet(server.port))
  const commands = tape.events.flatMap((event) => (event.kind === 'tool' ? [event] : []))
  expect(commands.map(({ name }) => name)).toEqual(['ioredis.set', 'ioredis.get', 'ioredis.set'])
  for (const [index, { n }] of commands.slice(1).entries()) expect(commands[index]!.settled?.[0]).toBeLessThan(n)
})
