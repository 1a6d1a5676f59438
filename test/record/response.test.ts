import { execFileSync } from 'node:child_process'
import { mkdtempSync, readdirSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import v8 from 'node:v8'
import vm from 'node:vm'
import { afterAll, beforeAll, expect, onTestFinished, test } from 'vitest'
import { createRecorder, mark, tool } from '../../src/record/index.ts'
import { replayTape, verdictOf } from '../../src/replay/index.ts'
import { readTape, type Tape } from '../../src/tape/index.ts'
import { type Model, startModel } from './model.ts'

// Handlers of the Fetch API answer with a response before the model has spoken: the run is the body, too.
let model: Model
beforeAll(async () => {
  model = await startModel()
})
afterAll(() => model.close())

function recording() {
  const dir = mkdtempSync(join(tmpdir(), 'harvest-response-'))
  onTestFinished(() => rmSync(dir, { recursive: true, force: true }))
  const recorder = createRecorder({ dir })
  const run = <T>(fn: () => T): T => recorder.run({ agent: 'chat', id: 'chat' }, fn)
  const tape = (): Tape => readTape(join(dir, readdirSync(dir)[0] ?? ''))
  return { recorder, run, tape, isClosed: () => tape().close !== undefined }
}

const lookup = tool('lookup', async (id: string) => ({ id }))

/** Asks the model twice and a tool once while its body is read, one step per piece. */
function chat(): Response {
  const steps = [() => model.ask(), async () => JSON.stringify(await lookup('A-1')), () => model.ask()]
  const body = new ReadableStream<Uint8Array>(
    {
      async pull(controller) {
        const step = steps.shift()
        if (step === undefined) return controller.close()
        controller.enqueue(new TextEncoder().encode(await step()))
      },
    },
    { highWaterMark: 0 },
  )
  return new Response(body, {
    status: 201,
    statusText: 'Made',
    headers: [
      ['x-a', '1'],
      ['set-cookie', 'a=1'],
      ['set-cookie', 'b=2'],
    ],
  })
}

const kinds = ({ events }: Tape): readonly string[] => events.map(({ kind }) => kind).filter((kind) => kind !== 'draws')

test('the run goes on while the body is read, by whomever', async () => {
  const { run, tape, isClosed, recorder } = recording()
  const response = run(chat)
  expect(isClosed()).toBe(false)
  expect(recorder.lastTape).toBeUndefined()
  const text = await response.text()
  expect(text).toMatch(/^\{.*on its way.*\{"id":"A-1"\}\{.*on its way.*$/)
  expect(kinds(tape())).toEqual(['exchange', 'tool', 'exchange'])
  expect(tape().close).toMatchObject({ outcome: { status: 'returned' }, events: expect.any(Number) })
  expect(recorder.lastTape).toBeDefined()
})

test('a promised response is no different', async () => {
  const { run, tape } = recording()
  const response = await run(async () => {
    await model.ask()
    return chat()
  })
  await response.text()
  expect(kinds(tape())).toEqual(['exchange', 'exchange', 'tool', 'exchange'])
})

test('status, headers and pieces are those of the agent, and nothing is read before somebody asks', async () => {
  const { run } = recording()
  let pulled = 0
  const body = new ReadableStream<Uint8Array>(
    {
      pull(controller) {
        pulled++
        if (pulled > 3) controller.close()
        else controller.enqueue(Uint8Array.of(pulled))
      },
    },
    { highWaterMark: 0 },
  )
  const init = chat()
  const response = run(() => new Response(body, init))
  await sleep(5)
  expect(pulled).toBe(0)
  expect([response.status, response.statusText, [...response.headers]]).toEqual([201, 'Made', [...init.headers]])
  const pieces: number[][] = []
  for await (const piece of response.body!) pieces.push([...piece])
  expect(pieces).toEqual([[1], [2], [3]])
})

test('a reader who goes away ends the run, and the agent hears of it', async () => {
  const { run, tape } = recording()
  let reason: unknown
  const response = run(
    () =>
      new Response(
        new ReadableStream({
          start: (controller) => controller.enqueue(Uint8Array.of(1)),
          cancel: (why) => {
            reason = why
            mark('cancelled')
          },
        }),
      ),
  )
  const reader = response.body!.getReader()
  await reader.read()
  await reader.cancel('gone')
  expect(reason).toBe('gone')
  expect(kinds(tape())).toEqual(['mark'])
  expect(tape().close?.outcome).toMatchObject({ status: 'returned' })
})

test('a body that fails is a run that threw; its reader hears the same', async () => {
  const { run, tape } = recording()
  const failing = new ReadableStream({
    pull: () => {
      throw new TypeError('the model hung up')
    },
  })
  const response = run(() => new Response(failing))
  await expect(response.text()).rejects.toThrow('the model hung up')
  expect(tape().close?.outcome).toMatchObject({ status: 'threw', error: { message: 'the model hung up' } })
})

test('what has no body to read is handed on as it is, and ends the run', async () => {
  const used = new Response('x')
  await used.text()
  for (const response of [new Response(null, { status: 204 }), Response.error(), used]) {
    const { run, isClosed } = recording()
    expect(run(() => response)).toBe(response)
    expect(isClosed()).toBe(true)
  }
})

test('a body that nobody reads ends its run when it is collected', async () => {
  v8.setFlagsFromString('--expose-gc')
  const collect = vm.runInNewContext('gc') as () => void
  const { run, isClosed } = recording()
  const forget = (): void => void run(() => new Response('never read'))
  forget()
  expect(isClosed()).toBe(false)
  await expect
    .poll(() => {
      collect()
      return isClosed()
    })
    .toBe(true)
})

test('a process that ends with a body nobody began to read leaves a whole tape; one half read is cut short', () => {
  const dir = mkdtempSync(join(tmpdir(), 'harvest-response-'))
  onTestFinished(() => rmSync(dir, { recursive: true, force: true }))
  const door = new URL('../../src/record/index.ts', import.meta.url).href
  const source = `
    import { createRecorder } from '${door}'
    const recorder = createRecorder({ dir: ${JSON.stringify(dir)} })
    const answer = () => new Response(new ReadableStream({ pull: (c) => c.enqueue(Uint8Array.of(1)) }))
    globalThis.unread = recorder.run({ agent: 'chat', id: 'unread' }, answer)
    await recorder.run({ agent: 'chat', id: 'half' }, answer).body.getReader().read()
    process.exit()`
  execFileSync(process.execPath, ['--input-type=module', '-e', source])
  const closeOf = (id: string) => readTape(join(dir, `${id}.tape.jsonl`)).close
  expect([closeOf('unread')?.outcome.status, closeOf('half')]).toEqual(['returned', undefined])
})

test('a replay reads the body too: the same handler, offline, with nothing left over', async () => {
  const { run, tape } = recording()
  await run(chat).text()
  const result = await replayTape(tape(), chat)
  expect(result.problems).toEqual([])
  expect(result.unused).toEqual([])
  expect(result.comparison).toMatchObject({ recorded: 3, served: 3, identical: 3, outcomeEqual: true })
  const { outcome } = result
  expect(outcome.status === 'returned' && (await outcome.value.text())).toContain('on its way')
})

test('its status, its headers and the body that was read are on the tape, and compared', async () => {
  const { run, tape } = recording()
  const answer = (total: number) => Response.json({ total }, { status: 201 })
  await run(() => answer(25)).text()
  expect(tape().close?.outcome).toMatchObject({ value: { contents: { status: 201, body: { total: 25 } } } })
  const verdict = async (made: Response): Promise<string> => verdictOf(await replayTape(tape(), () => made)).verdict
  expect(await verdict(answer(25))).toBe('same')
  expect(await verdict(answer(2500))).toBe('different')
  expect(await verdict(Response.json({ total: 25 }, { status: 500 }))).toBe('different')
})

test('a body that nobody read to its end is not compared, and that is said', async () => {
  const { run, tape } = recording()
  await run(() => new Response('a long story')).body?.cancel()
  const { notCompared, ...replayed } = await replayTape(tape(), () => new Response('another story'))
  expect(verdictOf({ notCompared, ...replayed }).verdict).toBe('same')
  expect(notCompared).toMatchObject([{ path: 'outcome', placeholder: 'the body of a Response' }])
})
