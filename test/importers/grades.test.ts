import { describe, expect, it } from 'vitest'
import { requireGrade } from '../../src/tape/grade.ts'
import { type ImportGrade, parseTape, serializeTape, type TapeHeader } from '../../src/tape/index.ts'
import { cassette, imported, samples } from './samples.ts'

const graded = (grade: ImportGrade): TapeHeader => ({
  ...imported(samples.vcrpy).header,
  imported: { format: 'vcrpy', grade, missing: ['clock', 'order'] },
})

const har = (...contents: readonly object[]): string =>
  JSON.stringify({
    log: {
      entries: contents.map((content) => ({
        request: { method: 'GET', url: 'https://api.example/', headers: [] },
        response: { status: 200, headers: [], content, bodySize: 5 },
      })),
    },
  })

describe('the grade of an import', () => {
  it.each([
    ['replayable', har({ text: 'a' }, { text: 'b' })],
    ['replayable', har({ size: 0 })],
    ['re-drivable', har({ text: 'a' }, { textJSON: {} })],
    ['signature-only', har({ text: 'a' }, { size: 5 })],
    ['timeline-only', har({ size: 5 }, { size: 5 })],
  ] as const)('is the worst of its calls: %s', (grade, text) => {
    expect(imported(text).header.imported?.grade).toBe(grade)
  })

  it('an answer that was left out has no end, and is named as missing', () => {
    const tape = imported(har({ size: 5 }))
    expect(tape.events[0]).not.toHaveProperty('response.end')
    expect(tape.facts.missing).toContain('answers')
  })

  it('a request without an answer has none on the tape', () => {
    const failed = har({ text: '' }).replace('"status":200', '"status":0')
    expect(imported(failed).events[0]).not.toHaveProperty('response')
  })

  it('nothing is made up: a start nobody knows is 1970, outcome and Node are unknown', () => {
    const { header, close, events } = imported(cassette("'one'"))
    expect(header).toMatchObject({ startedAt: '1970-01-01T00:00:00.000Z', pins: { node: 'unknown' } })
    expect(header).not.toHaveProperty('input')
    expect(close.outcome).toEqual({ status: 'unknown' })
    expect(events.map(({ kind }) => kind)).toEqual(['exchange'])
    expect(header.imported?.missing).toEqual([
      ...['clock', 'ids', 'tools', 'input', 'outcome', 'order'],
      ...['start', 'timings', 'chunks', 'request-headers', 'content-type'],
    ])
  })

  it('what is there is not missing', () => {
    expect(imported(samples.vcrpy).header.startedAt).toBe('2026-03-04T05:06:07.000Z')
    const go = imported(samples['go-vcr'])
    expect(go.events[0]).toMatchObject({ at: 0, response: { moment: [1, 61_500] } })
    expect(go.facts.missing).toContain('starts')
    expect(go.facts.missing).not.toContain('timings')
  })
})

describe('a grade is enforced', () => {
  it.each(['replayable', 're-drivable'] as const)('%s can be replayed', (grade) => {
    expect(() => requireGrade(graded(grade), 'replay')).not.toThrow()
  })

  it.each(['signature-only', 'timeline-only'] as const)('%s cannot', (grade) => {
    expect(() => requireGrade(graded(grade), 'replay')).toThrow('HARVEST_TAPE_GRADE')
  })

  it('no import can be verified, and the message says what is missing', () => {
    expect(() => requireGrade(graded('replayable'), 'verify')).toThrowErrorMatchingInlineSnapshot(`
      [HarvestError: An imported tape cannot be replayed byte for byte

        tape     sample
        grade    replayable, imported from vcrpy
        missing  clock, order

      A byte comparison needs the clock, the ids and the order of the run, which the recording lacks.
      → to replay it: npx vitest-harvest replay sample
      (HARVEST_TAPE_GRADE)]
    `)
  })

  it('a tape of our own is good for everything', () => {
    const { imported: _, ...own } = graded('timeline-only')
    expect(() => requireGrade(own, 'verify')).not.toThrow()
  })

  it.each([
    [{ format: 'vcrpy', grade: 'perfect', missing: [] }, 'imported.grade is not a grade'],
    [{ format: 'vcrpy', grade: 'replayable' }, 'imported.missing is not a list'],
    [{ grade: 'replayable', missing: [] }, 'format is not text'],
    ['vcrpy', 'imported is not an object'],
  ])('a header that says %j is refused', (value, problem) => {
    const header = { ...graded('replayable'), imported: value } as unknown as TapeHeader
    expect(() => parseTape(serializeTape(header, []), 'sample')).toThrow(problem)
  })
})
