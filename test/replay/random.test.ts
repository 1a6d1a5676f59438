import crypto, { getRandomValues } from 'node:crypto'
import { readFileSync } from 'node:fs'
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

const ec = crypto.generateKeyPairSync('ec', { namedCurve: 'P-256' })
const rsa = crypto.generateKeyPairSync('rsa', { modulusLength: 2048 })
const data = Buffer.from('x')
const hex = (bytes: ArrayBuffer | Uint8Array | NodeJS.ArrayBufferView): string =>
  Buffer.from(bytes as ArrayBuffer).toString('hex')
const later = <T>(begin: (done: (error: Error | null, value: T) => void) => unknown): Promise<T> =>
  new Promise((resolve, reject) => begin((error, value) => (error ? reject(error) : resolve(value))))
const jwk = (key: crypto.KeyObject): string => JSON.stringify(key.export({ format: 'jwk' }))
const group = crypto.getDiffieHellman('modp5')
const { subtle } = globalThis.crypto
const oaep = { name: 'RSA-OAEP', hash: 'SHA-256' }
const oaepKey = (use: 'encrypt' | 'wrapKey'): Promise<crypto.webcrypto.CryptoKey> =>
  subtle.importKey('jwk', rsa.publicKey.export({ format: 'jwk' }) as crypto.webcrypto.JsonWebKey, oaep, true, [use])
const aes = (): Promise<crypto.webcrypto.CryptoKey> =>
  subtle.generateKey({ name: 'AES-GCM', length: 256 }, true, ['encrypt'])
const steadyAes = (): Promise<crypto.webcrypto.CryptoKey> =>
  subtle.importKey('raw', Buffer.alloc(32), 'AES-GCM', true, ['encrypt'])

/** Draw from OpenSSL itself. */
const limits: { readonly [name: string]: () => unknown } = {
  generateKey: async () =>
    jwk(await later<crypto.KeyObject>((done) => crypto.generateKey('aes', { length: 256 }, done as never))),
  generateKeySync: () => jwk(crypto.generateKeySync('aes', { length: 256 })),
  generateKeyPair: () =>
    new Promise((done) =>
      crypto.generateKeyPair('ec', { namedCurve: 'P-256' }, (_, key) => done(jwk(key as unknown as crypto.KeyObject))),
    ),
  generateKeyPairSync: () => jwk(crypto.generateKeyPairSync('ec', { namedCurve: 'P-256' }).publicKey),
  generatePrime: async () => hex(await later<ArrayBuffer>((done) => crypto.generatePrime(64, done as never))),
  generatePrimeSync: () => hex(crypto.generatePrimeSync(64)),
  createDiffieHellman: () => crypto.createDiffieHellman(group.getPrime()).generateKeys('hex'),
  createDiffieHellmanGroup: () => crypto.createDiffieHellmanGroup('modp5').generateKeys('hex'),
  getDiffieHellman: () => crypto.getDiffieHellman('modp5').generateKeys('hex'),
  createECDH: () => crypto.createECDH('prime256v1').generateKeys('hex'),
  publicEncrypt: () => hex(crypto.publicEncrypt(rsa.publicKey, data)),
  sign: () => hex(crypto.sign('sha256', data, ec.privateKey)),
  createSign: () => crypto.createSign('sha256').update(data).sign(ec.privateKey, 'hex'),
  'subtle.generateKey': async () => hex(await subtle.exportKey('raw', await aes())),
  'subtle.encrypt': async () => hex(await subtle.encrypt(oaep, await oaepKey('encrypt'), data)),
  'subtle.wrapKey': async () => hex(await subtle.wrapKey('raw', await steadyAes(), await oaepKey('wrapKey'), oaep)),
  'subtle.sign': async () => {
    const p256 = { name: 'ECDSA', namedCurve: 'P-256' }
    const jwkKey = ec.privateKey.export({ format: 'jwk' }) as crypto.webcrypto.JsonWebKey
    const key = await subtle.importKey('jwk', jwkKey, p256, false, ['sign'])
    return hex(await subtle.sign({ name: 'ECDSA', hash: 'SHA-256' }, key, data))
  },
}

/** Of newer Nodes, which this one may not have. */
const newerLimits = ['encapsulate', 'subtle.encapsulateBits', 'subtle.encapsulateKey']

const served = [
  ...['randomUUID', 'randomUUIDv7', 'getRandomValues', 'randomBytes', 'pseudoRandomBytes', 'prng', 'rng'],
  ...['randomInt', 'randomFill', 'randomFillSync'],
]

/** Give the same for the same, or what is above by another name. */
const drawsNothing = new Set([
  ...['argon2', 'argon2Sync', 'checkPrime', 'checkPrimeSync', 'createCipheriv', 'createDecipheriv', 'createHash'],
  ...['createHmac', 'createPrivateKey', 'createPublicKey', 'createSecretKey', 'createVerify', 'decapsulate'],
  ...['diffieHellman', 'getCipherInfo', 'getCiphers', 'getCurves', 'getFips', 'getHashes', 'hash', 'hkdf', 'hkdfSync'],
  ...['pbkdf2', 'pbkdf2Sync', 'privateDecrypt', 'privateEncrypt', 'publicDecrypt', 'scrypt', 'scryptSync'],
  ...['secureHeapUsed', 'setEngine', 'setFips', 'timingSafeEqual', 'verify'],
  ...['Certificate', 'Cipheriv', 'Decipheriv', 'DiffieHellman', 'DiffieHellmanGroup', 'ECDH', 'Hash', 'Hmac'],
  ...['KeyObject', 'Sign', 'Verify', 'X509Certificate'],
  ...['decrypt', 'verify', 'digest', 'deriveKey', 'deriveBits'].map((name) => `subtle.${name}`),
  ...['importKey', 'exportKey', 'unwrapKey', 'getPublicKey', 'supports'].map((name) => `subtle.${name}`),
  ...['decapsulateBits', 'decapsulateKey'].map((name) => `subtle.${name}`),
])

test.for(Object.keys(limits))(
  '%s draws inside of OpenSSL: another one in a replay, which the page says',
  async (name) => {
    const agent = async (): Promise<unknown> => limits[name]!()
    const tape = await recorded(agent)
    const { outcome } = await replayTape(tape, agent)
    const { value } = tape.close!.outcome as { readonly value?: unknown }
    expect(value).toEqual(expect.any(String))
    expect(outcome).toEqual({ status: 'returned', value: expect.any(String) })
    expect(outcome).not.toMatchObject({ value })
  },
)

test('every function of node:crypto and crypto.subtle is served, a limit of the page, or draws nothing', () => {
  const functionsOf = (holder: object): readonly string[] =>
    Object.entries(Object.getOwnPropertyDescriptors(holder)).flatMap(([name, { value }]) =>
      name !== 'constructor' && typeof value === 'function' ? [name] : [],
    )
  const shortcuts = Object.keys(crypto).filter((name) => typeof Reflect.get(crypto, name) === 'function')
  const names = new Set([
    ...functionsOf(crypto),
    ...shortcuts,
    ...functionsOf(Object.getPrototypeOf(subtle) as object).map((name) => `subtle.${name}`),
  ])
  const known = [...served, ...Object.keys(limits), ...newerLimits, ...drawsNothing]
  expect([...names].filter((name) => !known.includes(name))).toEqual([])
  const rows = readFileSync('docs/boundary.md', 'utf8').split('\n')
  const row = (word: string): string => rows.find((line) => line.startsWith('|') && line.includes(word)) ?? ''
  for (const name of served) expect(row('`randomInt`')).toContain(name)
  const [ofModule, ofSubtle] = row('inside of OpenSSL').split(';') as [string, string]
  for (const name of [...Object.keys(limits), ...newerLimits]) {
    const [holder, own = holder] = name.split('.')
    expect(holder === 'subtle' ? ofSubtle : ofModule).toContain(`\`${own}\``)
  }
})
