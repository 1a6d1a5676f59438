import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { diffJson } from '../../src/report/diff/json.ts'
import { SharedBodies } from '../../src/report/view/bodies.ts'
import { reportData } from '../../src/report/view/report-data.ts'
import { cutTexts, Texts } from '../../src/report/view/texts.ts'
import type { ReportBody, ReportData } from '../../src/report/view/types.ts'
import { readTape } from '../../src/tape/index.ts'
import { chat, deskBlame, deskTape, opened, tapeOf } from './desk.ts'

const madeAt = '2026-03-04T05:06:07.000Z'
const dataOf = (tape = deskTape()): ReportData => reportData({ run: opened(tape), madeAt })

/** Every number that stands for a text. */
function refsIn(value: unknown, key = ''): readonly number[] {
  if (typeof value === 'number')
    return /^(?:t|sys|params|input|said|thought|args|result|h|q|rh|a|outcome|before|after|words|message|recorded|now)$/.test(
      key,
    )
      ? [value]
      : []
  if (Array.isArray(value)) return value.flatMap((one) => refsIn(one, key))
  if (typeof value !== 'object' || value === null) return []
  return Object.entries(value).flatMap(([name, member]) =>
    name === 'args' && typeof member !== 'number' ? [] : refsIn(member, name),
  )
}

describe('the view model of a run', () => {
  it('holds each text once, names each by its number, and holds none that nothing names', () => {
    const { texts, run } = dataOf()
    const refs = new Set(refsIn(run))
    expect(new Set(texts).size).toBe(texts.length)
    expect([...refs].every((ref) => Number.isInteger(ref) && ref >= 0 && ref < texts.length)).toBe(true)
    expect(texts.filter((_, index) => !refs.has(index))).toEqual([])
  })

  it('says of each step what `show --json` says of it', () => {
    const one = opened(deskTape())
    const { run, texts } = reportData({ run: one, madeAt })
    expect(
      run.steps.map(({ no, n, kind, name, at, took, status, fin, err }) => ({
        no,
        n,
        kind,
        name,
        at,
        took,
        status,
        fin,
        err,
      })),
    ).toEqual(
      one.run.steps.map((step) => ({
        no: step.number,
        n: step.n,
        kind: step.kind,
        name: step.name,
        at: step.atMs,
        took: step.tookMs,
        status: step.status,
        fin: step.finish,
        err: step.error,
      })),
    )
    expect(run.steps.map(({ said, result }) => texts[said ?? result ?? -1])).toEqual(
      one.run.steps.map(({ answer }) => answer),
    )
    expect(run.spending).toEqual(one.run.spending)
  })

  it('tells three agents apart by their instructions, and names them by their messages', () => {
    expect(dataOf().run.steps.map(({ name, lane }) => `${name} ${lane}`)).toEqual([
      'gpt-5 triage',
      'search_policy policy',
      'gpt-5-nano policy',
      'gpt-5-nano policy',
      'gpt-5-mini billing',
      'lookup_order billing',
      'gpt-5-mini billing',
      'gpt-5 triage',
      'refund triage',
      'gpt-5 triage',
    ])
  })

  it('calls a request a retry when the same one failed before, and no other', () => {
    expect(dataOf().run.steps.flatMap(({ no, again }) => (again === undefined ? [] : [[no, again]]))).toEqual([[4, 3]])
  })

  it('leaves out what is not known: no cost without a price, no tokens without a count', () => {
    const { steps } = dataOf().run
    expect(steps[2]).not.toHaveProperty('tok')
    expect(steps[0]?.tok).toEqual([101, null, 20, null])
    expect(steps[2]).not.toHaveProperty('cost')
  })

  it('says how sure a model was where its answer has log probabilities, and nothing elsewhere', () => {
    const { steps } = dataOf().run
    expect(steps[6]?.sure).toMatchObject({ tokens: 2, least: [{ token: '2500' }, { token: ' EUR' }] })
    expect(steps[6]?.sure?.least[0]?.p).toBeCloseTo(0.42)
    expect(steps[6]?.sure?.mean).toBeCloseTo(Math.sqrt(0.42 * 0.99))
    expect(steps[0]).not.toHaveProperty('sure')
  })

  it('of an import keeps what it misses, and of a truncated tape that it is one', () => {
    const imported = { format: 'otlp', grade: 'signature-only', missing: ['timings', 'start', 'outcome'] } as const
    const { run } = dataOf(tapeOf({ header: { imported }, events: [], close: { outcome: { status: 'unknown' } } }))
    expect(run).toMatchObject({ imported, truncated: false, steps: [], outcome: { status: 'unknown' } })
    expect(dataOf(tapeOf({ events: [], close: null })).run).toMatchObject({ truncated: true })
    expect(dataOf(tapeOf({ events: [], close: null })).run).not.toHaveProperty('outcome')
  })

  it('is the same from the same tape', () => {
    expect(dataOf()).toEqual(dataOf())
  })

  it('reads every case of the golden set of this repository', () => {
    const tape = readTape('recordings/golden/refund/refund-broken-item.tape.jsonl')
    const { run } = dataOf(tape)
    expect(run.steps.map(({ kind }) => kind)).toEqual(['model', 'tool', 'tool', 'model', 'tool', 'model'])
    expect(run.steps[3]?.prompt?.msgs.map(({ r, c = [] }) => [r, ...c])).toEqual([
      ['user'],
      ['assistant', 'lookup_order(order_id: "A-100")', 'refund_policy(country: "DE")'],
      ['tool'],
      ['tool'],
    ])
  })
})

describe('request bodies that repeat', () => {
  it('come out as they were, whatever they have in common', () => {
    const part = fc.constantFrom('x'.repeat(3000), 'y'.repeat(2500), 'z'.repeat(1100), '"a":1', '', '\u2028')
    fc.assert(
      fc.property(
        fc.array(
          fc.array(part, { maxLength: 4 }).map((parts) => parts.join('')),
          { maxLength: 8 },
        ),
        (bodies) => {
          const texts = new Texts()
          const shared = new SharedBodies(texts)
          const held = bodies.map((body, index) => shared.add(index + 1, body))
          const restore = (body: ReportBody): string => {
            if (typeof body === 'number') return texts.all[body] ?? ''
            const known = restore(held[body.like - 1]!)
            return known.slice(0, body.head) + texts.all[body.t] + known.slice(known.length - body.tail)
          }
          expect(held.map(restore)).toEqual(bodies)
        },
      ),
    )
  })

  it('of a long conversation take the room of what is new', () => {
    const turn = (count: number): object[] =>
      Array.from({ length: count }, (_, index) => ({ role: 'user', content: `${index} ${'word '.repeat(400)}` }))
    const events = Array.from({ length: 40 }, (_, index) =>
      chat(1 + index * 10, 'Be brief.', turn(index + 1) as never, { text: `answer ${index}` }),
    )
    const size = (count: number): number => JSON.stringify(dataOf(tapeOf({ events: events.slice(0, count) }))).length
    expect(size(40) / size(20)).toBeLessThan(2.3)
  })
})

describe('a report that is too large', () => {
  it('cuts long texts in their middle and says how many characters it left out', () => {
    const { texts, cut } = cutTexts(['short', 'x'.repeat(100_000)])
    expect(texts[0]).toBe('short')
    expect(texts[1]).toContain('34,464 characters are left out')
    expect(cut).toEqual({ texts: 1, characters: 34_464 })
  })
})

describe('where two runs part', () => {
  it('is the first step that was asked the same and answered otherwise: no failed request, and no repeated one', () => {
    const diff = diffJson(opened(deskTape()), opened(deskTape(false)))
    expect(diff.parts).toEqual({ a: 7, b: 6 })
    expect(diff.steps.map(({ a, b, role }) => [a, b, role])).toEqual([
      [1, 1, undefined],
      [2, 2, undefined],
      [3, undefined, 'chance'],
      [4, 3, undefined],
      [5, 4, undefined],
      [6, 5, undefined],
      [7, 6, 'origin'],
      [8, 7, 'follows'],
      [9, 8, 'follows'],
      [10, 9, 'follows'],
    ])
  })

  it('is the question where that differs first', () => {
    const one = (user: string, text: string) =>
      opened(tapeOf({ events: [chat(1, 'Be fair.', [{ role: 'user', content: user }], { text })] }))
    expect(diffJson(one('Refund A.', 'Yes.'), one('Refund B.', 'No.')).parts).toEqual({ a: 1, b: 1 })
    expect(diffJson(one('Refund A.', 'Yes.'), one('Refund A.', 'Yes.')).parts).toBeNull()
  })

  it('is a step that only one run has, where nothing before differs', () => {
    const turn = (n: number) => chat(n, 'Be fair.', [{ role: 'user', content: `${n}` }], { text: 'Yes.' })
    const [long, short] = [opened(tapeOf({ events: [turn(1), turn(10)] })), opened(tapeOf({ events: [turn(1)] }))]
    expect(diffJson(long, short).parts).toEqual({ a: 2 })
    expect(diffJson(short, long).parts).toEqual({ b: 2 })
  })

  it('stands in a report as `diff --json` prints it', () => {
    const [a, b] = [opened(deskTape()), opened(deskTape(false))]
    const data = reportData({ run: a, other: b, blame: deskBlame, madeAt })
    expect(data.diff).toEqual(diffJson(a, b))
    expect(data.blame).toBe(deskBlame)
  })
})
