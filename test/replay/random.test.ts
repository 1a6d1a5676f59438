import crypto, { getRandomValues } from 'node:crypto'
import { promisify } from 'node:util'
import { beforeAll, expect, test } from 'vitest'
import { createRecorder } from '../../src/record/index.ts'
import { installReplay, replayTape } from '../../src/replay/index.ts'
import { readTape, type Tape } from '../../src/tape/index.ts'
import { temporaryFolder } from '../support/temporary-folder.ts'

beforeAll(() => installReplay())

type Agent = () => Promise<unknown>
async function recorded(agent: Agent): Promise<Tape> {
  const recorder = createRecorder({ dir: temporaryFolder('harvest-random-') })
  await recorder.run({ agent: 'a' }, agent)
  return readTape(recorder.lastTape!)
}

/** What this Node has of its own that an older one has not. */
const newer: { readonly [name: string]: (() => unknown) | undefined } = {
  'crypto.randomUUIDv7':
    (crypto as { randomUUIDv7?: () => unknown }).randomUUIDv7 &&
    (() => Reflect.apply(Reflect.get(crypto, 'randomUUIDv7') as () => unknown, crypto, [])),
  ...Object.fromEntries(
    ['instant', 'zonedDateTimeISO', 'plainDateTimeISO', 'plainTimeISO', 'plainDateISO'].map((name) => {
      const { Temporal } = globalThis as { Temporal?: { Now: Record<string, () => unknown> } }
      return [`Temporal.Now.${name}`, Temporal && ((): string => String(Temporal.Now[name]?.()))]
    }),
  ),
}
/** The first Node that has it. */
const since = (name: string): number => (name.startsWith('Temporal') ? 26 : 24)

const filled = (view: ArrayBuffer | Buffer | Uint16Array, ...part: number[]): Promise<string> =>
  new Promise<Error | null>((done) => Reflect.apply(crypto.randomFill, crypto, [view, ...part, done])).then(() =>
    Buffer.from(ArrayBuffer.isView(view) ? view.buffer : view).toString('hex'),
  )
const reads: { readonly [name: string]: () => unknown } = {
  'Math.random': () => Math.random(),
  'performance.now': () => performance.now(),
  'crypto.randomUUID': () => crypto.randomUUID(),
  'webcrypto.randomUUID': () => crypto.webcrypto.randomUUID(),
  'webcrypto.getRandomValues': () => Buffer.from(crypto.webcrypto.getRandomValues(new Uint8Array(9))).toString('hex'),
  'crypto.getRandomValues': () => Buffer.from(crypto.getRandomValues(new Uint8Array(9))).toString('hex'),
  'getRandomValues, imported by its name': () => Buffer.from(getRandomValues(new Uint8Array(9))).toString('hex'),
  'globalThis.crypto.getRandomValues': () =>
    Buffer.from(globalThis.crypto.getRandomValues(new Uint8Array(9))).toString('hex'),
  ...Object.fromEntries(
    ['pseudoRandomBytes', 'prng', 'rng']
      .filter((name) => name in crypto)
      .map((name) => [
        `crypto.${name}`,
        () => (Reflect.get(crypto, name) as typeof crypto.randomBytes)(9).toString('hex'),
      ]),
  ),
  'crypto.randomBytes': () => crypto.randomBytes(9).toString('hex'),
  'crypto.randomBytes with a promise': async () => (await promisify(crypto.randomBytes)(9)).toString('hex'),
  'crypto.randomInt': () => crypto.randomInt(2 ** 40),
  'crypto.randomInt with a promise': () =>
    promisify(crypto.randomInt as (max: number, done: (error: Error | null, n: number) => void) => void)(2 ** 40),
  'crypto.randomBytes with a callback': () =>
    new Promise((done) => crypto.randomBytes(9, (_error, bytes) => done(bytes.toString('hex')))),
  'crypto.randomInt with a callback': () =>
    new Promise((done) => crypto.randomInt(2 ** 40, (_error, value) => done(value))),
  'crypto.randomFillSync of a buffer': () => crypto.randomFillSync(Buffer.alloc(9)).toString('hex'),
  'crypto.randomFillSync of an ArrayBuffer': () =>
    Buffer.from(Reflect.apply(crypto.randomFillSync, crypto, [new ArrayBuffer(9)]) as ArrayBuffer).toString('hex'),
  'crypto.randomFill with a promise': () =>
    promisify(crypto.randomFill as unknown as (buffer: Buffer, done: (error: Error | null, b: Buffer) => void) => void)(
      Buffer.alloc(9),
    ).then(String),
  'crypto.randomFill of a buffer': () => filled(Buffer.from(new ArrayBuffer(9))),
  'crypto.randomFill of a part': () => filled(new Uint16Array(9), 2, 5),
  'crypto.randomFill of an ArrayBuffer': () => filled(new ArrayBuffer(9), 3),
}

/** With the tape emptied of what was drawn, a replay makes it up, the same each time. */
const blank = (tape: Tape): Tape => ({ ...tape, events: tape.events.filter(({ kind }) => kind !== 'draws') })
const valueOf = async (tape: Tape, agent: Agent): Promise<unknown> => {
  const { outcome, problems } = await replayTape(tape, agent)
  return [problems, (outcome as { value?: unknown }).value]
}

async function expectServed(read: () => unknown): Promise<void> {
  const got: unknown[] = []
  const agent: Agent = async () => {
    got.push(await read())
    return got.at(-1)
  }
  const tape = await recorded(agent)
  expect(await valueOf(tape, agent)).toEqual([[], got[0]])
  await replayTape(blank(tape), agent)
  await replayTape(blank(tape), agent)
  const [, , first, second] = got
  expect(second).toEqual(first)
  expect(first).not.toEqual(got[0])
  expect(typeof first).toBe(typeof got[0])
}

test.for(Object.keys(reads))('%s is recorded, served, and made up where the tape has it not', (name) =>
  expectServed(reads[name]!),
)

test.for(Object.keys(newer))('%s is recorded and served, where this Node has it', async (name) => {
  const read = newer[name]
  const [major = 0] = process.versions.node.split('.').map(Number)
  // Only an older Node may be without it: else it would be seen by nobody that nothing was proven.
  if (!read) return expect(major).toBeLessThanOrEqual(since(name))
  const agent: Agent = async () => [read(), read()]
  const tape = await recorded(agent)
  const { value } = tape.close!.outcome as { value?: unknown }
  expect(await valueOf(tape, agent)).toEqual([[], value])
  expect(tape.events.flatMap((event) => (event.kind === 'draws' ? event.draws : []))).toHaveLength(2)
})

test('a UUID of version 7 that the tape has not tells the time of the replay', async (context) => {
  const read = newer['crypto.randomUUIDv7']
  if (!read) return context.skip('this Node has no crypto.randomUUIDv7')
  const tape = blank(await recorded(async () => read()))
  const { outcome } = await replayTape(tape, async () => read())
  const id = (outcome as { value?: unknown }).value as string
  expect(id).toMatch(/^[\da-f]{8}-[\da-f]{4}-7[\da-f]{3}-[89ab][\da-f]{3}-[\da-f]{12}$/)
  expect(Number.parseInt(id.replace('-', '').slice(0, 12), 16) - Date.parse(tape.header.startedAt)).toBeLessThan(1_000)
})

test('what Node refuses to fill it refuses in a run', async () => {
  const wrong = [() => crypto.randomFillSync('text' as never), () => crypto.randomFillSync(Buffer.alloc(2), 3)]
  const tape = await recorded(async () => {
    for (const one of [...wrong, () => crypto.randomFill(Buffer.alloc(2), undefined as never)])
      expect(one).toThrow(expect.objectContaining({ code: expect.stringMatching(/^ERR_/) }))
  })
  expect(tape.close).toMatchObject({ outcome: { status: 'returned' } })
})
