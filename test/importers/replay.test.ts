import { describe, expect, it } from 'vitest'
import { state } from '../../src/record/index.ts'
import { replayTape } from '../../src/replay/index.ts'
import { forkTape } from '../../src/fork/index.ts'
import { parseTape, serializeTape, type Tape } from '../../src/tape/index.ts'
import { answered, asked, imported, samples, url } from './samples.ts'

function tapeOf(text: string): Tape {
  const { header, events, close } = imported(text)
  return parseTape(serializeTape(header, events, close), 'sample')
}

async function ask(body: string, address = url): Promise<string> {
  const headers = { 'content-type': 'application/json' }
  return (await fetch(address, { method: 'POST', headers, body })).text()
}

describe('the replay of an imported tape', () => {
  it.each(['vcrpy', 'har', 'httprr', 'ruby-vcr'] as const)('%s serves the recorded bytes', async (format) => {
    const result = await replayTape(tapeOf(samples[format]), () => ask(asked))
    expect(result.problems).toEqual([])
    expect(result.outcome).toEqual({ status: 'returned', value: answered })
    expect(result.comparison).toMatchObject({ recorded: 1, served: 1 })
  })

  it('clock and ids are no drift: they were never recorded', async () => {
    const agent = async (): Promise<unknown> => [await ask(asked), Date.now(), Math.random(), crypto.randomUUID()]
    const [first, second] = [await replayTape(tapeOf(samples.har), agent), await replayTape(tapeOf(samples.har), agent)]
    expect(first.drift).toEqual([])
    expect(first.problems).toEqual([])
    expect(first.outcome).toEqual(second.outcome)
    expect(first.outcome).toMatchObject({ value: [answered, Date.parse('2026-03-04T05:06:07.089Z') + 820, {}, {}] })
  })

  it('calls that the file lists one after the other may be made side by side, and their order is listed as not compared', async () => {
    const [one, two] = ['{"q":1}', '{"q":2}']
    const entry = JSON.parse(samples['dd-test-agent']) as { request: { url: string }; response: { body: string } }
    const interactions = [one, two].map((body) => ({
      request: { method: 'POST', uri: url, headers: { 'content-type': ['application/json'] }, body },
      response: { ...entry.response, headers: {}, body: { string: `answer to ${body}` } },
    }))
    const tape = tapeOf(JSON.stringify({ version: 1, interactions }))
    const result = await replayTape(tape, () => Promise.all([ask(two), ask(one)]))
    expect(result.problems).toEqual([])
    expect(result.outcome).toEqual({ status: 'returned', value: [`answer to ${two}`, `answer to ${one}`] })
    expect(result.notCompared.map(({ kind, path }) => [kind, path])).toEqual([
      ['order of steps', 'imported from vcrpy'],
    ])
    // On a tape of our own the same is a change of order.
    const { imported: _, ...own } = tape.header
    const strict = await replayTape({ ...tape, header: own }, () => Promise.all([ask(two), ask(one)]))
    expect(strict.problems.map(({ code }) => code)).toContain('HARVEST_ORDER')
    expect(strict.notCompared).toEqual([])
  })

  it('states that the agent notes are no difference, and are listed as not compared', async () => {
    const agent = async (): Promise<unknown> => {
      state('basket', { items: 1 })
      return ask(asked)
    }
    const result = await replayTape(tapeOf(samples.har), agent)
    expect(result.problems).toEqual([])
    expect(result.notCompared.map(({ kind, path }) => [kind, path])).toEqual([['hidden part', 'state basket']])
    // On a tape of our own, one without it is of another run.
    const { imported: _, ...own } = tapeOf(samples.har).header
    const strict = await replayTape({ ...tapeOf(samples.har), header: own }, agent)
    expect(strict.problems.map(({ code }) => code)).toContain('HARVEST_STATES')
  })

  it('a single call has no order that could be left out of a comparison', async () => {
    expect((await replayTape(tapeOf(samples.vcrpy), () => ask(asked))).notCompared).toEqual([])
  })

  it('calls that were under way at once are answered in the order in which they were answered then', async () => {
    const entry = (q: number, ms: number, time: number): object => ({
      startedDateTime: new Date(Date.UTC(2026, 2, 4) + ms).toISOString(),
      time,
      request: { method: 'POST', url, headers: [], postData: { mimeType: 'application/json', text: `{"q":${q}}` } },
      response: { status: 200, headers: [], content: { text: `${q}` } },
    })
    const tape = tapeOf(JSON.stringify({ log: { version: '1.2', entries: [entry(1, 0, 900), entry(2, 5, 300)] } }))
    const result = await replayTape(tape, async () => {
      const arrived: string[] = []
      await Promise.all([1, 2].map(async (q) => arrived.push(await ask(`{"q":${q}}`))))
      return arrived
    })
    expect(result.problems).toEqual([])
    expect(result.outcome).toEqual({ status: 'returned', value: ['2', '1'] })
  })

  it('a tape below the grade is refused by replay and fork, and every import by a strict replay', async () => {
    const agent = (): Promise<string> => ask(asked)
    await expect(replayTape(tapeOf(samples.aimock), agent)).rejects.toThrow('HARVEST_TAPE_GRADE')
    await expect(forkTape(tapeOf(samples.aimock), agent, { keep: 0, tail: { from: 'tape' } })).rejects.toThrow(
      'HARVEST_TAPE_GRADE',
    )
    await expect(replayTape(tapeOf(samples.vcrpy), agent, { strict: true })).rejects.toThrow('HARVEST_TAPE_GRADE')
  })
})
