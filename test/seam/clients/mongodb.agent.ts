import { Binary, Decimal128, Long, MongoBulkWriteError, MongoClient, MongoServerError, ObjectId } from 'mongodb'
import { client } from '../../../src/record/index.ts'

interface Order {
  _id: ObjectId
  [field: string]: unknown
}

export async function everything(port: number, name = 'Ada'): Promise<unknown> {
  const mongo = client(new MongoClient(`mongodb://127.0.0.1:${port}/?directConnection=true`))
  const orders = mongo.db('shop').collection<Order>('orders')
  const answers: unknown[] = []
  await mongo.connect()
  const own = new ObjectId()
  answers.push(
    await orders.insertOne({
      _id: own,
      name,
      big: Long.fromString('9007199254740993'),
      price: Decimal128.fromString('12.50'),
      at: new Date('2026-03-04T05:06:07.008Z'),
      tags: ['a', null],
      file: new Binary(Buffer.from([0, 255])),
      note: { deep: { n: 1.5 } },
    }),
  )
  answers.push(
    await orders.insertOne({ name: 'Bob' } as never),
    await orders.insertMany([{ n: 1 }, { n: 2 }, { n: 3 }] as never[]),
  )
  const ada = await orders.findOne({ _id: own })
  answers.push(ada, ada?._id.toHexString() === own.toHexString(), await orders.findOne({ name: 'nobody' }))
  answers.push(await orders.find({}).batchSize(2).toArray())
  for await (const order of orders.find({ name: 'Bob' })) answers.push(order['name'])
  const cursor = orders.find({}, { batchSize: 1 })
  answers.push(await cursor.next(), await cursor.hasNext(), await cursor.next())
  await cursor.close()
  answers.push(await orders.updateOne({ name: 'Bob' }, { $set: { name: 'Tom' } }), await orders.countDocuments())
  await orders
    .insertOne({ _id: own })
    .catch((error: unknown) =>
      answers.push([error instanceof MongoServerError, (error as MongoServerError).code, (error as Error).message]),
    )
  await orders
    .insertMany([{ _id: own }])
    .catch((error: unknown) => answers.push([error instanceof MongoBulkWriteError, (error as Error).message]))
  await mongo
    .db('shop')
    .command({ nonsense: 1 })
    .catch((error: unknown) => answers.push([error instanceof MongoServerError, (error as MongoServerError).codeName]))
  answers.push(
    await mongo.withSession(async (session) =>
      session.withTransaction(async () => {
        await orders.updateOne({ n: 1 }, { $set: { n: 9 } }, { session })
        return orders.findOne({ n: 9 }, { session, projection: { _id: 0 } })
      }),
    ),
  )
  answers.push(await mongo.db('shop').command({ ping: 1 }))
  const values = [
    null,
    true,
    -1,
    2 ** 40,
    1.5,
    '',
    'ß 😀',
    new Date(0),
    Long.MAX_VALUE,
    /a+/i,
    [[]],
    { of: { of: [1] } },
  ]
  for (const value of values) {
    const { insertedId } = await orders.insertOne({ value } as never)
    answers.push((await orders.findOne({ _id: insertedId }))?.['value'])
  }
  await mongo.close()
  return answers
}
