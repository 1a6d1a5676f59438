import { execFile } from 'node:child_process'
import diagnostics from 'node:diagnostics_channel'
import { mkdtempSync, readdirSync, readFileSync, rmSync } from 'node:fs'
import http from 'node:http'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { promisify } from 'node:util'
import fc from 'fast-check'
import { afterAll, beforeAll, describe, expect, onTestFinished, test } from 'vitest'
import { createRecorder, mark, message, type RecorderOptions, type RunHandle, tool } from '../../src/record/index.ts'
import { readTape, type Tape } from '../../src/tape/index.ts'
import { startOrigin } from './origin.ts'

/** Nothing tells what it is but its name. */
const token = 'Kq7fZr9Xv4Tn8WbQm2LsJ5hD'
let origin: Awaited<ReturnType<typeof startOrigin>>
beforeAll(async () => {
  const pad = 'lorem ipsum '.repeat(50_000)
  const body = (text: string) => ({ body: Buffer.from(text) })
  origin = await startOrigin({
    '/secret': body('{"mail":"jane.roe@example.com","n":1}'),
    '/token': body(JSON.stringify({ a: pad, access_token: token, z: pad })),
  })
})
afterAll(() => origin.close())

function recording(options: RecorderOptions = {}) {
  const dir = mkdtempSync(join(tmpdir(), 'harvest-hold-'))
  onTestFinished(() => rmSync(dir, { recursive: true, force: true }))
  const recorder = createRecorder({ dir, onWarning: () => undefined, ...options })
  const run = <T>(id: string, fn: (run: RunHandle) => T): T => recorder.run({ agent: 'a', id, input: { id } }, fn)
  const tape = (id: string): Tape => {
    recorder.flush()
    return readTape(join(dir, `${id}.tape.jsonl`))
  }
  return { recorder, dir, run, tape, files: () => readdirSync(dir) }
}

const bytes = async (n: number): Promise<string> => (await fetch(`${origin.base}/bytes?${n}`)).text()

/** Does everything a run can do, one thing after another. */
async function busy({ flag }: RunHandle): Promise<unknown> {
  const lookUp = tool('look_up', async (order: { id: string }) => ({
    ...order,
    at: Date.now(),
    mail: 'joe@example.com',
  }))
  const count = tool('count', async function* (to: number) {
    for (let n = 0; n < to; n++) yield { n, by: 'joe@example.com' }
  })
  const fail = tool('fail', () => {
    throw new TypeError('no such order of jane.roe@example.com')
  })
  mark('began', { mail: 'first@example.com' })
  await (await fetch(`${origin.base}/secret`, { method: 'POST', body: 'for joe@example.com' })).json()
  await lookUp({ id: 'C-1' })
  for await (const _ of count(3));
  try {
    fail()
  } catch {
    message('a', 'b', 'it failed')
  }
  await Promise.all([bytes(10), bytes(2000)])
  await fetch(origin.base.replace(/\d+$/, '1')).catch(() => undefined)
  const aborted = new AbortController()
  const asked = fetch(`${origin.base}/bytes?5`, { signal: aborted.signal }).catch(() => undefined)
  aborted.abort()
  await asked
  for (let n = 0; n < 300; n++) Math.random()
  flag('looked at')
  return { mail: 'jane.roe@example.com', id: 'last@example.com' }
}

/** What a tape says but when it was, and what differs in two runs of one agent: random numbers, times and orders of answers. */
function shapeOf({ header, events, close }: Tape): unknown {
  const texts = events.map((event) => {
    if (event.kind !== 'exchange')
      return { ...event, at: 0, settled: event.kind === 'draws' ? 0 : undefined, site: '', n: 0, draws: 0, yields: 0 }
    return {
      url: event.url,
      request: event.request.body,
      chunks: event.response?.chunks.map(([, , text]) => text),
      error: event.error?.name,
      aborted: event.aborted !== undefined,
    }
  })
  return { flags: header.flags, input: header.input, texts, outcome: close?.outcome, incomplete: close?.incomplete }
}

describe('a run that is judged when it is over', () => {
  test('has the tape, when it is kept, that it has when it is written as it goes', async () => {
    const held = recording({ sample: 0 })
    const direct = recording({ sample: 1 })
    await held.run('r', busy)
    await direct.run('r', busy)
    const [tape, other] = [held.tape('r'), direct.tape('r')]
    const clean = (value: unknown): string =>
      JSON.stringify(value).replaceAll(/"result":\{"id":"C-1","at":\d+/g, '"result":{"id":"C-1"')
    expect(clean(shapeOf(tape))).toBe(clean(shapeOf(other)))
    expect(tape.events.map(({ kind, n }) => `${kind} ${n}`).length).toBe(other.events.length)
    expect(new Set(tape.events.map(({ n }) => n)).size).toBe(tape.events.length)
    expect(tape.close?.kept).toEqual([{ because: 'flag', detail: 'looked at' }])
    expect(readFileSync(tape.source, 'utf8')).not.toMatch(/@example/)
    expect(held.recorder.stats.heldBytes).toBe(0)
  })

  test('has the headers its client sent, and those that somebody else adds when the request is made', async () => {
    const add = (message: unknown): void => {
      const { request } = message as { readonly request: { addHeader?(name: string, value: string): void } }
      request.addHeader?.('accept-language', 'xx')
    }
    // The recorder is there first: it hears the request first.
    const [held, direct] = [recording({ sample: 0 }), recording({ sample: 1 })]
    diagnostics.subscribe('undici:request:create', add)
    onTestFinished(() => void diagnostics.unsubscribe('undici:request:create', add))
    const ask = async ({ flag }: RunHandle): Promise<void> => {
      await fetch(`${origin.base}/secret`, { headers: { 'accept-language': 'de', 'content-type': 'text/x' } })
      flag('looked at')
    }
    await held.run('r', ask)
    await direct.run('r', ask)
    const headers = ({ events }: Tape): unknown => events.flatMap((one) => (one.kind === 'exchange' ? one.request : []))
    expect(headers(held.tape('r'))).toEqual(headers(direct.tape('r')))
    expect(JSON.stringify(headers(held.tape('r')))).toContain('["accept-language","de"]')
    expect(JSON.stringify(headers(held.tape('r')))).toContain('["accept-language","xx"]')
  })

  test('leaves no file and nothing in memory when nothing keeps it', async () => {
    const { recorder, run, files } = recording({ sample: 0, keep: { errors: true, timeoutMs: 60_000 } })
    await Promise.all(
      Array.from({ length: 20 }, (_, n) =>
        run(`r${n}`, async () => {
          await bytes(5000)
          expect(recorder.stats.heldBytes).toBeGreaterThan(0)
        }),
      ),
    )
    recorder.flush()
    expect(files()).toEqual([])
    expect(recorder.stats).toMatchObject({ runs: 20, dropped: 20, open: 0, heldBytes: 0, kept: 0 })
  })

  test('is written after its answer, one run at a time, and nobody has to ask for it', async () => {
    const { run, files } = recording({ sample: 0 })
    run('a', ({ flag }) => flag('x'))
    run('b', ({ flag }) => flag('x'))
    expect(files()).toEqual([])
    await new Promise((next) => setImmediate(next))
    expect(files()).toEqual(['a.tape.jsonl'])
    await new Promise((next) => setImmediate(next))
    expect(files()).toEqual(['a.tape.jsonl', 'b.tape.jsonl'])
  })

  test('is told as it was, whatever the agent does to the bytes it sent or was given', async () => {
    const { run, tape } = recording({ sample: 0 })
    const { request } = await import('undici')
    await run('r', async ({ flag }) => {
      flag('x')
      const body = (await fetch(`${origin.base}/bytes?20000`)).body!
      for await (const chunk of body) chunk.fill(0)
      const { body: other } = await request(`${origin.base}/bytes?20000`)
      for await (const chunk of other) (chunk as Buffer).fill(0)
      await new Promise<void>((resolve) => {
        const buffer = Buffer.from('ask once. ')
        const sent = http.request(`${origin.base}/bytes?20000`, { method: 'POST' }, (response) => {
          response.on('data', (chunk: Buffer) => chunk.fill(0)).on('end', resolve)
        })
        sent.write(buffer, () => {
          buffer.fill(0)
          sent.end(buffer.fill('z'))
        })
      })
    })
    const exchanges = tape('r').events.filter((event) => event.kind === 'exchange')
    const answers = exchanges.map(({ response }) => response!.chunks.map(([, , text]) => text).join(''))
    for (const answer of answers) expect(answer).toBe('abcdefgh '.repeat(3000).slice(0, 20000))
    expect(exchanges[2]!.request.body).toBe('ask once. zzzzzzzzzz')
  })
})

describe('when a hundred runs under way hold more than may be held', () => {
  test('bodies of the oldest go first, their tapes say so, and no more is held', async () => {
    const limit = 2 * 2 ** 20
    const { recorder, run, tape } = recording({ sample: 0, hold: { megabytes: 2 } })
    let most = 0
    const open = Promise.withResolvers<void>()
    const runs: Promise<void>[] = []
    for (let n = 0; n < 100; n++) {
      const asked = Promise.withResolvers<void>()
      runs.push(
        run(`r${n}`, async ({ flag }) => {
          flag('x')
          await bytes(n === 0 ? 400_000 : 60_000)
          most = Math.max(most, recorder.stats.heldBytes)
          asked.resolve()
          await open.promise
        }),
      )
      await asked.promise
    }
    expect(recorder.stats).toMatchObject({ runs: 100, open: 100 })
    open.resolve()
    await Promise.all(runs)
    const tapes = Array.from({ length: 100 }, (_, n) => tape(`r${n}`))
    expect(most).toBeLessThanOrEqual(limit)
    const whole = tapes.map(({ close }) => close?.incomplete === undefined)
    expect(whole.lastIndexOf(false)).toBe(whole.indexOf(true) - 1)
    expect(whole.filter(Boolean).length).toBeGreaterThan(25)
    expect(tapes[0]!.close?.incomplete).toMatch(/^hold: bodies were let go/)
    const [first, second] = tapes.map(({ events }) => events.find((event) => event.kind === 'exchange')?.response)
    expect(first).toMatchObject({ cut: 400_000 - 2 * 4096, whole: { size: 400_000, at: 4096 } })
    expect(second).toMatchObject({ cut: 60_000, chunks: [], whole: { size: 60_000, at: 0 } })
    expect(recorder.stats).toMatchObject({
      runs: 100,
      kept: 100,
      open: 0,
      heldBytes: 0,
      capped: whole.filter((is) => !is).length * 2,
    })
  })

  test('and bodies that still come in go with all of their run', async () => {
    const { recorder, run, tape } = recording({ sample: 0, hold: { megabytes: 0.5 } })
    await run('r', async ({ flag }) => {
      flag('x')
      await bytes(2_000_000)
      expect(recorder.stats.heldBytes).toBeLessThanOrEqual(2 ** 19)
    })
    expect(tape('r')).toMatchObject({
      events: [],
      close: { incomplete: expect.stringMatching(/^hold: what happened/) as string },
    })
    expect(recorder.stats).toMatchObject({ kept: 1, open: 0, heldBytes: 0 })
  })
})

test.each([
  ['bodies of it', 2, /^hold: bodies were let go/],
  ['all of it', 0.5, /^hold: what happened was let go/],
])('when %s went, nothing that is kept of a run holds a value that was named in there', async (_, mb, says) => {
  const { run, tape, dir } = recording({ sample: 0, keep: {}, hold: { megabytes: mb } })
  const agent = async ({ flag }: RunHandle): Promise<string> => {
    const text = await (await fetch(`${origin.base}/token`)).text()
    await tool('log_in', async (given: string) => given)(token)
    flag(`logged in with ${token}`)
    for (let n = 0; n < 4; n++) await bytes(800_000)
    return (JSON.parse(text) as { access_token: string }).access_token
  }
  expect(await run('returned', agent)).toBe(token)
  const failing = run('threw', async (handle) => {
    throw new Error(`refused: ${await agent(handle)}`)
  })
  await expect(failing).rejects.toThrow(`refused: ${token}`)
  for (const id of ['returned', 'threw']) {
    const { close } = tape(id)
    expect(close).toMatchObject({ outcome: { status: id }, incomplete: expect.stringMatching(says) as string })
    expect(readFileSync(join(dir, `${id}.tape.jsonl`), 'utf8')).not.toContain(token)
  }
})

test('for every order of runs, each is in one place: runs = kept + dropped + notSampled + unrecorded + open', async () => {
  const deed = fc.record({
    recorder: fc.nat(3),
    act: fc.constantFrom('return', 'throw', 'flag', 'wait', 'nest', 'sameId', 'flush'),
    fetches: fc.nat(1),
  })
  await fc.assert(
    fc.asyncProperty(fc.array(deed, { maxLength: 12 }), async (deeds) => {
      const all = [
        recording(),
        recording({ sample: 0.5 }),
        recording({ sample: 0.3, decide: 'start' }),
        recording({ sample: 0, dir: '/proc/nowhere/inbox', onWarning: () => undefined }),
      ]
      const sums = (): void => {
        for (const { recorder } of all) {
          const { runs, kept, dropped, notSampled, unrecorded, open } = recorder.stats
          expect(runs).toBe(kept + dropped + notSampled + unrecorded + open)
          expect(open).toBeGreaterThanOrEqual(0)
        }
      }
      const waits: (() => void)[] = []
      const runs: Promise<unknown>[] = []
      for (const [n, { recorder: of, act, fetches }] of deeds.entries()) {
        const { recorder } = all[of]!
        if (act === 'flush') recorder.flush()
        else
          runs.push(
            Promise.resolve(
              recorder.run({ agent: 'a', id: act === 'sameId' ? 'same' : `r${n}` }, async ({ flag }) => {
                if (fetches > 0) await bytes(10)
                if (act === 'flag') flag('x')
                if (act === 'throw') throw new Error('no')
                if (act === 'nest') recorder.run({ agent: 'b' }, () => 1)
                if (act === 'wait') await new Promise<void>((go) => waits.push(go))
              }),
            ).catch(() => undefined),
          )
        sums()
      }
      for (const go of waits) go()
      while (waits.length < deeds.filter(({ act }) => act === 'wait').length)
        await new Promise((next) => setImmediate(next))
      for (const go of waits) go()
      await Promise.all(runs)
      sums()
      for (const { recorder } of all) recorder.flush()
      sums()
      for (const { recorder } of all) expect(recorder.stats).toMatchObject({ open: 0, heldBytes: 0 })
    }),
    { seed: 14, numRuns: 12 },
  )
})

describe('when its process ends', () => {
  const child = fileURLToPath(new URL('./ends.child.ts', import.meta.url))
  const ended = async (how: string): Promise<readonly Tape[]> => {
    const dir = mkdtempSync(join(tmpdir(), 'harvest-ends-'))
    onTestFinished(() => rmSync(dir, { recursive: true, force: true }))
    await promisify(execFile)(process.execPath, [child, dir, how]).catch(() => undefined)
    return readdirSync(dir)
      .toSorted()
      .map((name) => readTape(join(dir, name)))
  }

  test.each(['exit', 'throw'])(
    'by %s, what is decided is written whole, and what was under way as far as it came',
    async (how) => {
      const tapes = await ended(how)
      expect(tapes.map(({ header, close }) => [header.id, close?.outcome.status])).toEqual([
        ['certain', undefined],
        ['flagged', 'returned'],
        ['open', undefined],
      ])
      expect(tapes.find(({ header }) => header.id === 'open')?.events).toMatchObject([
        { kind: 'mark', name: 'under way' },
      ])
    },
  )

  test('what was under way is not written where errors are not kept', async () => {
    const tapes = await ended('quiet')
    expect(tapes.map(({ header }) => header.id)).toEqual(['certain', 'flagged'])
  })

  test('by kill -9, only runs that were kept for certain are there', async () => {
    const tapes = await ended('kill')
    expect(tapes.map(({ header, events }) => [header.id, events.length])).toEqual([['certain', 1]])
  })
})

test('a flag that is cut says no part of a secret that stood at the cut', () => {
  // A long secret before it brings the cut into what is shown.
  const long = `eyJhbGciOiJIUzI1NiJ9.${'zdWIiOiIx'.repeat(200)}.${'s1G'.repeat(14)}`
  const says = (text: string): string => `${long} ${text.padStart(1_999 - long.length + 8)}`
  const { run, tape } = recording()
  run('cut', ({ flag, hold }) => {
    flag(says('4111 1111 1111 1111'))
    hold(says('anna.smith@shop.example'))
  })
  const { kept, retention } = tape('cut').close!
  expect(JSON.stringify([kept, retention])).not.toMatch(/4111|anna/)
  expect(kept?.map(({ detail }) => detail)).toEqual(['…', '…'])
})
