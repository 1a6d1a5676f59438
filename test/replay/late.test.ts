import { appendFileSync, readdirSync, readFileSync, renameSync } from 'node:fs'
import { createServer } from 'node:http'
import { once } from 'node:events'
import type { AddressInfo } from 'node:net'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { createRecorder, mark, message, type RecorderOptions, tools } from '../../src/record/index.ts'
import { replayTape } from '../../src/replay/index.ts'
import type { ReplayOptions, ReplayResult } from '../../src/match/types.ts'
import { lateFlag, readTape, type Tape } from '../../src/tape/index.ts'
import { temporaryFolder } from '../support/temporary-folder.ts'

const server = createServer((request, response) => void request.resume().on('end', () => response.end('{}')))
let base = ''
beforeAll(async () => {
  await once(server.listen(0, '127.0.0.1'), 'listening')
  base = `http://127.0.0.1:${(server.address() as AddressInfo).port}`
})
afterAll(() => {
  server.close()
})

const desk = tools({
  look: async ({ id }: { id: string }) => ({ id, total: 25 }),
  refund: async ({ id }: { id: string }) => ({ id }),
  audit: async ({ id }: { id: string }) => ({ id }),
})

const works = {
  'a tool': () => desk.refund({ id: 'A-17' }),
  'a message': () => message('desk', 'worker', { id: 'A-17' }),
  'a mark': () => mark('done', { id: 'A-17' }),
  'a request': async () => (await fetch(`${base}/orders?id=17`, { method: 'POST', body: '{}' })).text(),
} as const
type Work = keyof typeof works
const names: Readonly<Record<Work, string>> = {
  'a tool': 'tool refund',
  'a message': 'message desk → worker',
  'a mark': 'mark done',
  get 'a request'() {
    return `request POST ${base}`
  },
}
const actions = new Set<Work>(['a tool', 'a message', 'a request'])

const starts = {
  'a timer': (work: () => unknown) => void setTimeout(work, 5),
  'an immediate': (work: () => unknown) => void setImmediate(work),
  'a promise': (work: () => unknown) =>
    void new Promise<void>((resolve) => setTimeout(resolve, 5)).then(async () => {
      await work()
    }),
} as const
type Start = keyof typeof starts

const agent = (start: Start, work?: Work) => async (): Promise<unknown> => {
  await desk.look({ id: 'A-17' })
  if (work !== undefined) starts[start](works[work])
  return { done: true }
}

async function record(run: () => Promise<unknown>, options: Partial<RecorderOptions> = {}): Promise<Tape> {
  const dir = temporaryFolder('late')
  const recorder = createRecorder({ dir, ...options })
  await recorder.run({ agent: 'desk', id: 'run' }, run)
  await new Promise((resolve) => setTimeout(resolve, 100))
  recorder.flush()
  return readTape(join(dir, 'run.tape.jsonl'))
}

const replay = (tape: Tape, run: () => Promise<unknown>): Promise<ReplayResult> =>
  replayTape(tape, run, { late: true } as ReplayOptions)

const lateRows = ({ drift }: ReplayResult): readonly unknown[] =>
  drift.map(({ class: name, part, recorded, live, policy }) => [name, part, recorded, live, policy])

const cases = (Object.keys(starts) as readonly Start[]).flatMap((start) =>
  (Object.keys(works) as readonly Work[]).map((work) => [start, work] as const),
)

describe('what an agent does after it returned', () => {
  test.for(cases)('from %s, %s: is on its tape by name and listed as not compared', async ([start, work]) => {
    const tape = await record(agent(start, work))
    const { kind, name } = tape.close?.late?.[0] ?? {}
    expect([`${kind} ${name}`, tape.close?.late?.length]).toEqual([names[work], 1])
    const same = await replay(tape, agent(start, work))
    expect(same.problems).toEqual([])
    const part = `${names[work]} after the agent returned`
    expect(lateRows(same)).toEqual([['awaits', part, 'made, not compared', 'made', 'report']])
    const gone = await replay(tape, agent(start))
    expect(gone.problems).toEqual([])
    expect(lateRows(gone)).toEqual([['awaits', part, 'made', 'not made', 'report']])
  })

  test('is on the tape of a run that was held until it was judged', async () => {
    const tape = await record(agent('a timer', 'a tool'), { sample: 0, keep: { when: () => true } })
    expect(tape.close?.late).toEqual([{ kind: 'tool', name: 'refund' }])
  })

  test('is each thing once, whatever it was done with', async () => {
    const run = async (): Promise<void> => {
      for (const id of ['1', '2', '3']) setTimeout(() => void desk.audit({ id }), 5)
      setTimeout(() => mark('done'), 5)
    }
    const tape = await record(run)
    expect(tape.close?.late).toHaveLength(2)
    expect(lateRows(await replay(tape, run))).toHaveLength(2)
  })

  test('leaves a tape alone that was moved or that somebody changed', async () => {
    const dir = temporaryFolder('late')
    const recorder = createRecorder({ dir })
    for (const id of ['moved', 'changed'])
      await recorder.run({ agent: 'desk', id }, async () => void setTimeout(() => mark('done'), 50))
    renameSync(join(dir, 'moved.tape.jsonl'), join(dir, 'other.tape.jsonl'))
    appendFileSync(join(dir, 'changed.tape.jsonl'), '\n')
    const before = readdirSync(dir).map((name) => [name, readFileSync(join(dir, name), 'utf8')])
    await new Promise((resolve) => setTimeout(resolve, 100))
    expect(readdirSync(dir).map((name) => [name, readFileSync(join(dir, name), 'utf8')])).toEqual(before)
  })

  test.for(cases)('from %s, %s: is red or listed where the recording has none', async ([start, work]) => {
    const { problems, drift } = await replay(await record(agent(start)), agent(start, work))
    const part = `${names[work]} after the agent returned`
    if (!actions.has(work)) {
      expect(problems).toEqual([])
      expect(drift).toMatchObject([{ class: 'awaits', part, recorded: 'not made', live: 'made' }])
      return
    }
    expect(problems.map(({ code }) => code)).toEqual(['HARVEST_RUN_OVER'])
    expect(problems[0]?.message).toContain(`${names[work]} after it returned, which it did not when recorded`)
    expect(problems[0]?.message).toMatch(/\bat +.*late\.test\.ts:\d+/)
  })

  test('is listed alone where the recorder noted nothing, as that of older tapes', async () => {
    const { header, ...rest } = await record(agent('a timer'))
    const older = { ...rest, header: { ...header, flags: header.flags.filter((flag) => flag !== lateFlag) } }
    for (const work of actions) {
      const { problems, drift } = await replay(older, agent('a timer', work))
      expect(problems).toEqual([])
      expect(drift).toMatchObject([{ class: 'awaits', part: `${names[work]} after the agent returned`, live: 'made' }])
    }
  })

  test.for([
    ['GET', undefined],
    ['HEAD', undefined],
    ['DELETE', 'HARVEST_RUN_OVER'],
    ['PATCH', 'HARVEST_RUN_OVER'],
  ] as const)('a request by %s: only one that reads is no action', async ([method, code]) => {
    const tape = await record(agent('a timer'))
    const { problems, drift } = await replay(tape, async () => {
      await desk.look({ id: 'A-17' })
      setTimeout(() => void fetch(`${base}/orders`, { method }).catch(() => undefined), 5)
      return { done: true }
    })
    expect(problems.map((each) => each.code)).toEqual(code === undefined ? [] : [code])
    expect(drift.map(({ part }) => part)).toEqual(
      code === undefined ? [`request ${method} ${base} after the agent returned`] : [],
    )
  })
})
