import { createHash } from 'node:crypto'
import { mkdtempSync, readFileSync, rmSync, statSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import zlib from 'node:zlib'
import fc from 'fast-check'
import { afterAll, beforeAll, describe, expect, onTestFinished, test } from 'vitest'
import { createRedactor, cutOverlap, redactSides } from '../../src/privacy/index.ts'
import { createRecorder, mark, type RecorderOptions } from '../../src/record/index.ts'
import { inexactParts, installReplay, replayTape } from '../../src/replay/index.ts'
import { promote } from '../../src/recordings/index.ts'
import { readTape, type Tape } from '../../src/tape/index.ts'
import { cutsOf, partialText } from '../../src/tape/partial.ts'
import { startOrigin } from './origin.ts'

const secret = 'sk-ant-api03-q8Zr2LxV5nT7bKc1WmYd4HsJ6fGpE9uAoQi3XtBvNyRwMzCkDhSjFgLePaUo-AAAAAA'
const text = 'It was a dark and stormy night; größer als gedacht, the rain fell in torrents. '
const body = Buffer.from(text.repeat(30_000)).subarray(0, 2_400_000)
const mebi = 2 ** 20
const withSecrets = Buffer.concat([
  body.subarray(0, mebi / 2 - 20),
  Buffer.from(` ${secret} `),
  body.subarray(0, mebi),
  Buffer.from(` ${secret} `),
  body.subarray(0, mebi / 2 - 40),
])
const zeros = Buffer.alloc(66 * mebi)
const bombs = {
  gzip: zlib.gzipSync(zeros),
  deflate: zlib.deflateSync(zeros),
  br: zlib.brotliCompressSync(zeros, { params: { [zlib.constants.BROTLI_PARAM_QUALITY]: 1 } }),
  zstd: zlib.zstdCompressSync(zeros),
}

let origin: Awaited<ReturnType<typeof startOrigin>>
beforeAll(async () => {
  origin = await startOrigin({
    '/large': { body },
    '/secret': { body: withSecrets },
    ...Object.fromEntries(Object.entries(bombs).map(([coding, packed]) => [`/${coding}`, { body: packed, coding }])),
    '/packed': {
      body: zlib.gzipSync(Buffer.from(createHash('sha512').update('x').digest('hex').repeat(4))),
      coding: 'gzip',
    },
  })
  await installReplay()
})
afterAll(() => origin.close())

const agents = {
  all: async () => (await (await fetch(`${origin.base}/large`)).text()).length,
  some: async () => {
    const reader = (await fetch(`${origin.base}/large`)).body!.getReader()
    const first = await reader.read()
    await reader.cancel()
    return first.value!.length > 0
  },
}

async function recorded(agent: () => Promise<unknown>, options: RecorderOptions = {}) {
  const dir = mkdtempSync(join(tmpdir(), 'harvest-caps-'))
  onTestFinished(() => rmSync(dir, { recursive: true, force: true }))
  const recorder = createRecorder({ dir, bodies: { maxMegabytes: 1 }, ...options })
  await recorder.run({ agent: 'a', id: 'r' }, ({ flag }) => {
    flag('x')
    return agent()
  })
  recorder.flush()
  return { dir, tape: readTape(join(dir, 'r.tape.jsonl')), stats: recorder.stats }
}

const answer = ({ events }: Tape) => events.find((event) => event.kind === 'exchange')!.response!
const bytesOf = (chunks: ReturnType<typeof answer>['chunks']): Buffer =>
  Buffer.concat(
    chunks.map(([, , one]) => (typeof one === 'string' ? Buffer.from(one) : Buffer.from(one.base64, 'base64'))),
  )

describe('a body larger than its cap', () => {
  test.each([{}, { sample: 0 }])('keeps its two ends, its size and its digest, recorded with %j', async (options) => {
    const { tape, stats } = await recorded(agents.all, options)
    const { cut, whole, chunks } = answer(tape)
    const kept = bytesOf(chunks)
    expect(whole).toEqual({
      size: body.length,
      at: expect.any(Number) as number,
      window: mebi / 2,
      sha256: createHash('sha256').update(body).digest('hex'),
    })
    expect(kept.subarray(0, whole!.at).equals(body.subarray(0, whole!.at))).toBe(true)
    expect(kept.subarray(whole!.at).equals(body.subarray(body.length - (kept.length - whole!.at)))).toBe(true)
    expect(whole!.at).toBeGreaterThan(mebi / 2 - 4)
    expect(cut).toBe(body.length - kept.length)
    expect(kept.length).toBeGreaterThan(mebi - 8)
    expect(stats).toMatchObject({ capped: 1, kept: 1 })
    expect(partialText(cutsOf(tape))).toBe('partial: 1 body is cut, 1.3 of 2.3 MB left out')
    expect(tape.close?.incomplete).toBeUndefined()
  })

  test('has no part of a secret that stands across the border of its cut', async () => {
    const { tape } = await recorded(async () => (await fetch(`${origin.base}/secret`)).text())
    const file = readFileSync(tape.source, 'utf8')
    for (let at = 0; at + 8 <= secret.length; at++) expect(file.includes(secret.slice(at, at + 8))).toBe(false)
    expect(answer(tape).whole).toMatchObject({ keptSha256: expect.stringMatching(/^[0-9a-f]{64}$/) as string })
    expect(answer(tape).whole).not.toHaveProperty('sha256')
  })

  test('nor has one anywhere near a border, in pieces of any size', () => {
    fc.assert(
      fc.property(
        fc.integer({ min: -100, max: 100 }),
        fc.integer({ min: 7, max: 3000 }),
        fc.boolean(),
        (shift, size, isTail) => {
          const window = 2000
          const side = Buffer.from(text.repeat(2000)).subarray(0, window + cutOverlap)
          let at = (isTail ? cutOverlap : window) + shift
          while ((side[at]! & 0xc0) === 0x80) at++
          const hidden = Buffer.concat([side.subarray(0, at), Buffer.from(` ${secret} `), side.subarray(at)])
          const pieces: Buffer[] = []
          for (let from = 0; from < hidden.length; from += size) pieces.push(hidden.subarray(from, from + size))
          const kept = isTail
            ? redactSides([], pieces, window, createRedactor()).tail
            : redactSides(pieces, [], window, createRedactor()).head
          const shown = Buffer.concat(kept).toString()
          expect(kept.length).toBe(pieces.length)
          expect(Buffer.byteLength(shown)).toBeGreaterThan(window - secret.length - 4)
          for (let from = 0; from + 8 <= secret.length; from++)
            expect(shown.includes(secret.slice(from, from + 8))).toBe(false)
          expect(shown).not.toContain('\ufffd')
        },
      ),
      { seed: 14, numRuns: 60 },
    )
  })

  test('is cut between characters and read as text, no matter where its bytes were cut', () => {
    const named = '{"password":"Sommer in Prag"}'
    fc.assert(
      fc.property(
        fc.constantFrom('ü', '→', '😀', 'a😀', 'üa→'),
        fc.integer({ min: 2_000, max: 2_020 }),
        fc.integer({ min: 0, max: 8 }),
        fc.integer({ min: 50_000, max: 50_008 }),
        fc.boolean(),
        (letters, window, lost, size, isTail) => {
          const long = letters.repeat(60_000)
          const whole = Buffer.from(isTail ? long + named : named + long)
          const held = isTail
            ? whole.subarray(whole.length - window - cutOverlap + lost)
            : whole.subarray(0, window + cutOverlap - lost)
          const pieces: Buffer[] = []
          for (let from = 0; from < held.length; from += size) pieces.push(held.subarray(from, from + size))
          const kept = isTail
            ? redactSides([], pieces, window, createRedactor()).tail
            : redactSides(pieces, [], window, createRedactor()).head
          const shown = Buffer.concat(kept).toString()
          expect(shown).not.toContain('\ufffd')
          expect(shown).not.toContain('Sommer')
          const rest = shown.replace(/\{.*\}/, '')
          expect(isTail ? long.endsWith(rest) : long.startsWith(rest)).toBe(true)
          expect(Buffer.byteLength(rest)).toBeGreaterThan(window - named.length - 4 - lost)
        },
      ),
      { seed: 15, numRuns: 60 },
    )
  })

  test('of a request is compared by its size and its digest: no byte of it can change', async () => {
    const sends = (sent: Buffer) => async () =>
      (await fetch(`${origin.base}/small?10`, { method: 'POST', body: new Uint8Array(sent) })).status
    const { tape } = await recorded(sends(body))
    const { request } = tape.events.find((event) => event.kind === 'exchange')!
    expect(request.cut).toBeGreaterThan(mebi)
    const same = await replayTape(tape, sends(body), { strict: true })
    expect([same.problems, same.notCompared, inexactParts(same)]).toEqual([[], [], []])
    await fc.assert(
      fc.asyncProperty(fc.integer({ min: 0, max: body.length - 1 }), fc.boolean(), async (at, isLeftOut) => {
        const [before, after] = [body.subarray(0, at), body.subarray(at + 1)]
        const other = isLeftOut ? [before, after] : [before, Buffer.from('#'), after]
        const { problems } = await replayTape(tape, sends(Buffer.concat(other)))
        expect(problems.map(({ code }) => code)).toEqual(['HARVEST_DIVERGENCE'])
      }),
      { seed: 17, numRuns: 12, examples: [[body.length / 2, false]] },
    )
    const [problem] = (await replayTape(tape, sends(Buffer.from(body).fill('#', mebi, mebi + 1)))).problems
    expect(problem!.message).toContain(`2400000 bytes, SHA-256 ${request.whole!.sha256!}`)
  })

  const form = (middle: string): FormData => {
    const data = new FormData()
    data.append('file', new Blob([body, middle, body]), 'a.txt')
    return data
  }
  const half = body.toString().slice(0, mebi)
  test.each([
    ['in whose end something was redacted', (middle: string) => `${secret} ${half}${middle}${half}`],
    ['with a boundary that differs each time', form],
  ])('of a request %s is compared by its size, and the rest is listed', async (_, bodyWith) => {
    const sends = (middle: string) => async () =>
      (await fetch(`${origin.base}/small?10`, { method: 'POST', body: bodyWith(middle) })).status
    const { tape } = await recorded(sends('anna'))
    for (const middle of ['anna', 'cleo']) {
      const result = await replayTape(tape, sends(middle))
      expect(result.problems).toEqual([])
      expect(result.notCompared).toContainEqual(
        expect.objectContaining({ kind: 'hidden part', path: 'body', stepNumber: 1 }),
      )
      expect(inexactParts(result)).toContain('not compared: hidden part at step 1, body')
    }
    const { problems } = await replayTape(tape, sends('mallory'))
    expect(problems.map(({ code }) => code)).toEqual(['HARVEST_DIVERGENCE'])
  })

  test('of a request that is packed is compared by its size and its digest', async () => {
    const noise = (seed: string): Buffer =>
      Buffer.concat(
        Array.from({ length: 40_000 }, (_, n) =>
          createHash('sha512')
            .update(seed + n)
            .digest(),
        ),
      )
    const sends = (packed: Buffer) => async () =>
      (
        await fetch(`${origin.base}/small?10`, {
          method: 'POST',
          body: new Uint8Array(packed),
          headers: { 'content-encoding': 'gzip' },
        })
      ).status
    const [was, is] = ['one', 'two'].map((seed) => zlib.gzipSync(noise(seed)))
    const { tape } = await recorded(sends(was!))
    expect((await replayTape(tape, sends(was!))).problems).toEqual([])
    expect((await replayTape(tape, sends(is!))).problems.length).toBe(1)
  })
})

describe('a replay of a cut answer', () => {
  test('goes on when the agent reads no further', async () => {
    const { tape } = await recorded(agents.all)
    const result = await replayTape(tape, agents.some)
    expect(result.problems).toEqual([])
  })

  test('is another run when it does, and says which cap it was', async () => {
    const { tape } = await recorded(agents.all)
    const result = await replayTape(tape, agents.all)
    expect(result.problems.map(({ code }) => code)).toEqual(['HARVEST_BODY_CUT'])
    expect(result.problems[0]!.message).toContain('The recorder kept 1 MB of each body: its cap.')
  })

  test('becomes a case only when somebody accepts the cut', async () => {
    const { tape, dir } = await recorded(agents.all)
    const options = { recordings: join(dir, 'recordings'), tape: tape.source, as: 'large' }
    expect(() => promote(options)).toThrow(/The tape is partial/)
    expect(promote({ ...options, acceptCut: true }).content.id).toBe('large')
  })
})

describe('a decompression bomb', () => {
  test.each(Object.keys(bombs))('in %s costs its cap, and the rest of its run is recorded', async (coding) => {
    const { tape } = await recorded(async () => {
      await (await fetch(`${origin.base}/${coding}`)).arrayBuffer()
      mark('went on')
    })
    const { length } = bombs[coding as keyof typeof bombs]
    expect(answer(tape)).toMatchObject({ chunks: [], unsearched: { size: length, reason: 'size' } })
    expect(tape.events.map(({ kind }) => kind)).toContain('mark')
    expect(statSync(tape.source).size).toBeLessThan(4000)
  })

  test('and a packed body that is none is kept byte for byte', async () => {
    const { tape } = await recorded(async () => (await fetch(`${origin.base}/packed`)).text())
    expect(answer(tape)).not.toHaveProperty('cut')
    expect(zlib.gunzipSync(bytesOf(answer(tape).chunks)).length).toBe(512)
  })
})

test('a tape that reaches its cap takes no more, has a last line, and is incomplete', async () => {
  const { tape, stats } = await recorded(
    async () => {
      for (let n = 0; n < 40; n++) mark(`${n}`, 'x'.repeat(10_000))
    },
    { tapes: { maxMegabytes: 0.1 } },
  )
  expect(tape.events.length).toBe(11)
  expect(tape.close?.incomplete).toBe('the tape reached its cap of 0.1 MB')
  expect(stats).toMatchObject({ kept: 1, capped: 1 })
})
