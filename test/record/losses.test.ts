import { randomBytes, randomUUID } from 'node:crypto'
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { expect, onTestFinished, test } from 'vitest'
import { parseCase } from '../../src/cases/index.ts'
import type { HarvestError } from '../../src/errors/index.ts'
import { createRecorder, mark, message, retriever, tool, value } from '../../src/record/index.ts'
import { installReplay, replayTape, verdictOf } from '../../src/replay/index.ts'
import type { Revive } from '../../src/seam/source.ts'
import { type CallEvent, encodeValue, readTape, type Tape } from '../../src/tape/index.ts'
import { judge } from '../../src/verdict/index.ts'
import { chatUrl, Recording } from '../replay/tapes.ts'

class Money {
  readonly cents: number
  constructor(cents: number) {
    this.cents = cents
  }
  toString(): string {
    return `${(this.cents / 100).toFixed(2)} EUR`
  }
}
class RefusedError extends Error {
  get isFinal(): boolean {
    return true
  }
}

const reviveAll: Revive = (recorded, how) =>
  how === 'threw' ? Object.setPrototypeOf(recorded, RefusedError.prototype) : new Money((recorded as Money).cents)

async function recorded(agent: () => unknown): Promise<{ readonly tape: Tape; readonly warnings: HarvestError[] }> {
  const dir = mkdtempSync(join(tmpdir(), 'harvest-losses-'))
  onTestFinished(() => rmSync(dir, { recursive: true, force: true }))
  const warnings: HarvestError[] = []
  const recorder = createRecorder({ dir, onWarning: (error) => warnings.push(error) })
  await recorder.run({ agent: 'a', id: 'lossy' }, agent)
  expect(recorder.stats).toMatchObject({ kept: 1, failures: 0 })
  return { tape: readTape(recorder.lastTape ?? ''), warnings }
}

const lostOn = ({ events }: Tape): Record<string, readonly string[] | undefined> =>
  Object.fromEntries(events.flatMap((event) => ('name' in event ? [[event.name, (event as CallEvent).lost]] : [])))

const agentWith = (revive?: Revive) => {
  const options = revive && { revive }
  const price = tool('price', async (_: { sku: string }) => new Money(1250), options)
  const tax = retriever('tax', (_: string) => new Money(250), options)
  const stream = tool(
    'stream',
    async function* () {
      yield new Money(1)
    },
    options,
  )
  const refuse = tool(
    'refuse',
    async () => {
      throw new RefusedError('no')
    },
    options,
  )
  return async () => {
    const pieces: string[] = []
    for await (const piece of stream()) pieces.push(piece.toString())
    const isFinal = await refuse().catch((error: RefusedError) => error instanceof RefusedError && error.isFinal)
    return [(await price({ sku: 'A-1' })).toString(), tax('A-1').toString(), ...pieces, isFinal]
  }
}
const right = ['12.50 EUR', '2.50 EUR', '0.01 EUR', true]

test('what a tape cannot give back of a wrapped call stands on it, and is told once per function', async () => {
  const fill = tool('fill', (target: { order?: string }, done: (order: string) => void) => {
    target.order = 'A-17'
    done('A-17')
    return 'ok'
  })
  const plain = tool('plain', (given: { a: number[] }) => ({ sum: given.a.length, at: new Date(0), of: new Map() }))
  const { tape, warnings } = await recorded(async () => {
    for (const _ of [1, 2]) {
      fill({}, () => undefined)
      plain({ a: [1] })
      value('rate', () => ({ nested: [new Money(3)] }))
      await agentWith()()
    }
  })
  expect(lostOn(tape)).toEqual({
    fill: ['args[1]: a callback', 'args: changed by the call'],
    plain: undefined,
    rate: ['result.nested[0]: Money'],
    price: ['result: Money'],
    tax: ['result: Money'],
    stream: ['piece: Money'],
    refuse: ['error: RefusedError'],
  })
  expect(new Set(warnings.map(({ code }) => code))).toEqual(new Set(['HARVEST_TOOL_LOSS']))
  expect(warnings).toHaveLength(6)
  expect(warnings.map(({ message: text }) => text).join()).toContain('tool(fn, { revive: (recorded) => … })')
})

test('a replay gets what revive makes of it: results, pieces, errors', async () => {
  const agent = agentWith(reviveAll)
  const { tape, warnings } = await recorded(agent)
  expect([warnings, lostOn(tape)['price']]).toEqual([[], undefined])
  const run = await replayTape(tape, agent)
  expect([verdictOf(run).verdict, run.outcome]).toEqual(['same', { status: 'returned', value: right }])
})

test('without revive the difference names what was recorded, and what to do', async () => {
  const agent = agentWith()
  const { tape } = await recorded(agent)
  const run = await replayTape(tape, agent)
  const { verdict, differences } = verdictOf(run)
  expect(verdict).toBe('different')
  const kase = (more: string) =>
    parseCase(`case: a\nagent: a\ntape: a.tape.jsonl\nexpect: pass\n${more}`, 'a.case.yaml')
  const told = ['', 'baseline: []\n', `baseline: ['*']\nmatch: { trace: superset }\noutcome: 1\n`].map(
    (more) => judge(kase(more), run, kase(more).match ?? {}).because?.error.message,
  )
  for (const message of [differences[0]?.message, ...told]) {
    expect(message).toContain('the recorded piece was a `Money`; revive it')
    expect(message).toContain('{ revive: (recorded) => … }')
  }
})

test('without revive a case names it beside data that a model is asked now', async () => {
  await installReplay()
  const body = (content: string) => JSON.stringify({ model: 'm', messages: [{ role: 'user', content }] })
  const recording = new Recording()
  recording.call('price', [], encodeValue(new Money(5)), { sync: true })
  recording.exchange({ body: body('It costs 0.05 EUR') })
  const price = tool('price', () => new Money(5))
  const agent = (said: string) => async () => {
    const text = `${said} ${String(price())}`
    return (await fetch(chatUrl, { method: 'POST', body: body(text) })).json()
  }
  const kase = parseCase("case: a\nagent: a\ntape: a.tape.jsonl\nexpect: pass\nbaseline: ['*']\n", 'a.case.yaml')
  const { verdict, because } = judge(
    kase,
    await replayTape(recording.tape({ value: { ok: true } }), agent('It costs')),
    {},
  )
  expect([verdict, because?.error.code]).toEqual(['unproven', 'HARVEST_UNPROVEN'])
  expect(because?.error.message).toContain('step 1, price: the recorded result was a `Money`; revive it')
})

test('what is drawn inside of a function that replays serve stays off the tape; of one that they run it stays', async () => {
  const drawing = () => Array.from({ length: 500 }, () => Date.now() + Math.random()).length
  const served = [tool('served', drawing), retriever('found', drawing), () => value('read', drawing)]
  const agent = () => [...served.map((fn) => fn()), Date.now() > 0]
  const { tape } = await recorded(agent)
  const draws = tape.events.flatMap((event) => (event.kind === 'draws' ? event.draws : []))
  expect(draws.map(([kind]) => kind)).toEqual(['now'])
  expect(verdictOf(await replayTape(tape, agent)).verdict).toBe('same')
  const run = await replayTape(tape, agent, { tools: 'run' })
  expect([verdictOf(run).verdict, run.ranForReal]).toEqual(['same', ['served', 'found']])
  const inside = await recorded(tool('run', drawing, { replay: 'run' }))
  expect(inside.tape.events.flatMap((event) => (event.kind === 'draws' ? event.draws : []))).toHaveLength(1000)
})

test('a secret made of random bytes is told once, for they stand on the tape; made inside of a tool, they do not', async () => {
  const spell = {
    base64: () => randomBytes(24).toString('base64'),
    url: () => randomBytes(32).toString('base64url'),
    key: () => `acme_${randomBytes(16).toString('hex')}`,
    uuid: () => randomUUID(),
  }
  const create = tool('create', (_: { password: string }) => true)
  for (const make of Object.values(spell)) {
    let password = ''
    const agent = (): boolean => create({ password: (password = make()) })
    const { tape, warnings } = await recorded(() => [agent(), agent()])
    expect(warnings.map(({ code }) => code)).toEqual(['HARVEST_DRAWN_SECRET'])
    expect(JSON.stringify(tape.events)).not.toContain(`password":"${password}`)
    const made = tool('make', () => ({ password: (password = make()) }))
    const inside = await recorded(() => create(made()))
    expect(inside.warnings).toEqual([])
    expect(inside.tape.events.flatMap((event) => (event.kind === 'draws' ? event.draws : []))).toEqual([])
    expect(JSON.stringify(inside.tape.events)).not.toContain(password)
  }
  const harmless = await recorded(() => create({ password: ['tr33', 'house', randomUUID().slice(0, 2)].join('') }))
  expect(harmless.warnings).toEqual([])
})

test('a message or a mark without names is refused where it is made', () => {
  const misused = message as unknown as (given: object) => void
  expect(() => misused({ from: 'a', to: 'b', body: 1 })).toThrow("write: message('planner', 'worker', body)")
  expect(() => mark(17 as never)).toThrow('HARVEST_WRAP_ARGUMENT')
})
