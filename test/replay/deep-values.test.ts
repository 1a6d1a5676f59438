import { mkdtempSync, rmSync } from 'node:fs'
import { createServer, type Server } from 'node:http'
import type { AddressInfo } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { createRecorder, mark, message, retriever, state, tool } from '../../src/record/index.ts'
import { installReplay, type ReplayOptions, replayTape, verdictOf } from '../../src/replay/index.ts'
import { encodeValue, readTape } from '../../src/tape/index.ts'
import { namedArgs } from '../../src/tape/present-args.ts'

// However deep a value lies, a change at its bottom is seen, or it is listed that it is not.
const depths = [1, 99, 100, 101, 150, 250, 2_000]

let dir: string
let server: Server
let base: string

beforeAll(async () => {
  await installReplay()
  dir = mkdtempSync(join(tmpdir(), 'harvest-deep-'))
  server = createServer((request, response) => {
    request.resume().on('end', () => {
      response.setHeader('content-type', 'application/json')
      response.end(
        JSON.stringify({ id: 'x', model: 'm', choices: [{ message: { role: 'assistant', content: 'ok' } }] }),
      )
    })
  })
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  base = `http://127.0.0.1:${(server.address() as AddressInfo).port}`
})

afterAll(() => {
  server.close()
  rmSync(dir, { recursive: true, force: true })
})

function nested(depth: number, bottom: unknown, around: (value: unknown) => unknown = (o) => ({ o })): unknown {
  let value = bottom
  for (let level = 0; level < depth; level++) value = around(value)
  return value
}

class Link {
  readonly next: unknown
  constructor(next: unknown) {
    this.next = next
  }
}

/** What holds a value: each as deep a nest of it. */
const holders: Readonly<Record<string, (value: unknown) => unknown>> = {
  objects: (o) => ({ o }),
  lists: (o) => [o],
  'a list and objects': (next) => ({ item: 'x', next: [next] }),
  maps: (o) => new Map([['k', o]]),
  sets: (o) => new Set([o]),
  instances: (o) => new Link(o),
  errors: (cause) => new Error('x', { cause }),
  bare: (o) => Object.assign(Object.create(null) as object, { o }),
}

const send = tool('send', async (..._: readonly unknown[]) => 'ok')
const find = retriever('find', async (..._: readonly unknown[]) => ['hit'])

async function post(path: string, body: unknown): Promise<void> {
  const headers = { 'content-type': 'application/json' }
  await (await fetch(base + path, { method: 'POST', body: JSON.stringify(body), headers })).json()
}

type Agent = (value: unknown) => Promise<unknown>

const run: ReplayOptions = { tools: 'run' }
const done = 'done'

const places: Readonly<Record<string, { readonly agent: Agent; readonly options?: ReplayOptions }>> = {
  'the argument of a tool': { agent: async (value) => (await send(value), done) },
  'a member of the argument of a tool': { agent: async (value) => (await send({ amount: 1, value }), done) },
  'an argument of a tool beside another': { agent: async (value) => (await send('a', value), done) },
  'an argument of a tool before one that is absent': { agent: async (value) => (await send(value, undefined), done) },
  'an argument of a tool that runs': { agent: async (value) => (await send({ value }), done), options: run },
  'the argument of a retriever': { agent: async (value) => (await find(value), done) },
  'an argument of a retriever beside another': { agent: async (value) => (await find('q', { value }), done) },
  'a message': { agent: async (body) => (message('a', 'b', body), done) },
  'a mark': { agent: async (value) => (mark('m', { value }), done) },
  'a state': { agent: async (value) => (state('s', { value }), done) },
  'the outcome': { agent: async (value) => ({ value }) },
  'what a thrown error has': {
    agent: (value) => Promise.reject(Object.assign(new Error('x'), { details: { value } })),
  },
  'the result of a body that runs': {
    agent: async (value) => (await tool('get', async () => ({ value }))(), done),
    options: run,
  },
  'the result of a retriever that runs': {
    agent: async (value) => (await retriever('get', async () => [value])(), done),
    options: run,
  },
  'what a body that runs throws': {
    agent: async (value) =>
      tool('get', () => Promise.reject(Object.assign(new Error('x'), { value })))().catch(() => done),
    options: run,
  },
  'a piece of a body that runs': {
    agent: async (value) => {
      const pieces = tool('get', async function* () {
        yield value
      })
      for await (const _ of pieces());
      return done
    },
    options: run,
  },
  'what a generator is given': {
    agent: async (value) => {
      const answers = tool('ask', async function* (): AsyncGenerator<unknown, void, unknown> {
        yield 1
        yield 2
      })()
      await answers.next()
      await answers.next(value)
      await answers.return(undefined)
      return done
    },
  },
  'the argument of a tool in a body that runs': {
    agent: async (value) => (await tool('outer', async () => send(value))(), done),
    options: run,
  },
}

let recorded = 0

async function verdictsOf(
  { agent, options }: { readonly agent: Agent; readonly options?: ReplayOptions },
  valueOf: (bottom: number) => unknown,
) {
  const recorder = createRecorder({ dir })
  await recorder.run({ agent: 'deep', id: `deep-${recorded++}` }, () => agent(valueOf(1))).catch(() => undefined)
  const tape = readTape(recorder.lastTape ?? '')
  const replayed = async (bottom: number) => {
    const result = await replayTape(tape, () => agent(valueOf(bottom)), options)
    return [verdictOf(result).verdict, result.notCompared.length] as const
  }
  return { same: await replayed(1), changed: await replayed(2) }
}

const everywhere = Object.keys(places).flatMap((place) => depths.map((depth) => [place, depth] as const))

describe('a change at the bottom is not the recorded value', () => {
  test.each(everywhere)('%s, %i levels deep', async (place, depth) => {
    const { same, changed } = await verdictsOf(places[place]!, (bottom) => nested(depth, bottom))
    expect([place, ...same]).toEqual([place, 'same', 0])
    expect([place, changed[0]]).toEqual([place, 'different'])
  })

  const kinds = Object.keys(holders).flatMap((kind) =>
    ['the argument of a tool', 'the argument of a retriever', 'a mark', 'the outcome'].map(
      (place) => [kind, place] as const,
    ),
  )
  test.each(kinds)('of %s in %s', async (kind, place) => {
    for (const depth of [60, 101, 400]) {
      const { same, changed } = await verdictsOf(places[place]!, (bottom) => nested(depth, bottom, holders[kind]))
      expect([depth, ...same]).toEqual([depth, 'same', 0])
      expect([depth, changed[0]]).toEqual([depth, 'different'])
    }
  })

  test.each(depths)('the body of a request, %i levels deep', async (depth) => {
    const service: Agent = async (value) => (await post('/refund', { value }), done)
    const model: Agent = async (value) => (
      await post('/v1/chat/completions', {
        model: 'm',
        messages: [{ role: 'user', content: 'x' }],
        metadata: {},
        value,
      }),
      done
    )
    const tools: Agent = async (parameters) => {
      const offered = [{ type: 'function', function: { name: 'send', parameters } }]
      await post('/v1/chat/completions', { model: 'm', messages: [{ role: 'user', content: 'x' }], tools: offered })
      return done
    }
    for (const agent of [service, model, tools]) {
      const { same, changed } = await verdictsOf({ agent }, (bottom) => ({ value: nested(depth, bottom) }))
      expect(same).toEqual(['same', 0])
      expect(changed[0]).not.toBe('same')
    }
  })
})

test('a case names arguments as before, however deep they are', () => {
  expect(Object.keys(namedArgs(encodeValue({ amount: 1, value: nested(150, 1) })) as object)).toEqual([
    'amount',
    'value',
  ])
})
