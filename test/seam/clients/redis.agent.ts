import { Redis, ReplyError } from 'ioredis'
import { createClient, ErrorReply, RESP_TYPES } from 'redis'
import { client } from '../../../src/record/index.ts'

const bytes = Buffer.from([0, 255, 13, 10])
const texts = ['', 'ß 😀', "it's", '\r\n', '{"a":[1,null]}', '9007199254740993']

/** One after the other. */
export async function getAndSet(port: number): Promise<unknown> {
  const redis = client(new Redis({ host: '127.0.0.1', port }))
  await redis.set('name', 'Ada')
  const name = await redis.get('name')
  await redis.set('name', `${name} Lovelace`)
  redis.disconnect()
  return name
}

export async function withIoredis(port: number, name = 'Ada'): Promise<unknown> {
  const redis = client(new Redis({ host: '127.0.0.1', port }))
  const answers: unknown[] = []
  answers.push(await redis.set('name', name), await redis.get('name'), await redis.get('none'))
  answers.push(await redis.set('bytes', bytes), await redis.getBuffer('bytes'))
  answers.push(await redis.incrby('count', 2), await redis.incrby('count', 40))
  answers.push(await redis.hset('user', { a: 1, b: '2' }), await redis.hgetall('user'))
  answers.push(await redis.rpush('list', 'a', 'b'), await redis.lrange('list', 0, -1), await redis.mget('name', 'none'))
  answers.push(await redis.del('list'), await redis.type('name'), await redis.ping(), await redis.publish('news', 'x'))
  await redis.incrby('user', 1).catch((error: unknown) => answers.push([error instanceof ReplyError, String(error)]))
  await redis.get('user').catch((error: unknown) => answers.push([error instanceof ReplyError, String(error)]))
  answers.push(await redis.pipeline().get('name').hgetall('user').get('user').exec())
  answers.push(await redis.multi().set('x', '1').get('x').hgetall('user').exec())
  answers.push(await new Promise((resolve) => void redis.get('name', (error, value) => resolve([error, value]))))
  answers.push(await redis.eval('return 1', 0), await redis.call('GET', 'name'))
  for await (const keys of redis.scanStream()) answers.push(keys)
  answers.push(redis instanceof Redis)
  for (const text of texts) answers.push(await redis.set('text', text), await redis.get('text'))
  redis.disconnect()
  return answers
}

export async function withRedis(port: number, name = 'Ada'): Promise<unknown> {
  const redis = client(createClient({ socket: { host: '127.0.0.1', port } }))
  redis.on('error', () => undefined)
  const answers: unknown[] = [redis.isOpen]
  if (!redis.isOpen) await redis.connect()
  answers.push(await redis.set('name', name), await redis.get('name'), await redis.get('none'), redis.isReady)
  const raw = redis.withTypeMapping({ [RESP_TYPES.BLOB_STRING]: Buffer })
  answers.push(await redis.set('bytes', bytes), await raw.get('bytes'))
  answers.push(await redis.incrBy('count', 2), await redis.incrBy('count', 40))
  answers.push(await redis.hSet('user', { a: 1, b: '2' }), { ...(await redis.hGetAll('user')) })
  answers.push(
    await redis.rPush('list', ['a', 'b']),
    await redis.lRange('list', 0, -1),
    await redis.mGet(['name', 'none']),
  )
  answers.push(await redis.del('list'), await redis.type('name'), await redis.ping(), await redis.publish('news', 'x'))
  await redis.get('user').catch((error: unknown) => answers.push([error instanceof ErrorReply, String(error)]))
  answers.push(await redis.multi().set('x', '1').get('x').incrBy('count', 1).exec())
  answers.push(await redis.multi().get('x').get('name').execAsPipeline())
  answers.push(await redis.sendCommand(['GET', 'name']), await redis.eval('return 1'))
  for await (const keys of redis.scanIterator()) answers.push(keys)
  for (const text of texts) answers.push(await redis.set('text', text), await redis.get('text'))
  await redis.close()
  return answers
}
