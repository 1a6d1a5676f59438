import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, it } from 'vitest'
import { parseExpectation } from '../../src/blame/expectation.ts'
import { hasAnswerTo, hasOtherAnswers, hasOtherAnswersToSame, KnownRuns, neverMet } from '../../src/blame/known-good.ts'
import { valuesSeen } from '../../src/blame/known-names.ts'
import { createOracle } from '../../src/blame/oracle.ts'
import { askedOf } from '../../src/blame/positions.ts'
import { isOfSameQuestion } from '../../src/blame/other-tape.ts'
import { serializeTape, stepsOf, type Tape } from '../../src/tape/index.ts'
import { temporaryFolder } from '../support/temporary-folder.ts'
import { refundOf } from './refund-run.ts'

/** A run whose model asks for one amount, and whose code gives the tool another. */
function madeBy(asked: number, given: number): Tape {
  const tape = refundOf(asked)
  const events = tape.events.map((event) =>
    event.kind === 'tool' && event.name === 'refund'
      ? { ...event, args: { order_id: 'A-100', amount: given }, result: { refunded: given } }
      : event,
  )
  return { ...tape, events }
}

describe('a condition that no run is known to meet', () => {
  const bad = refundOf(2500, { outcome: { status: 'returned', value: { answer: 'I refunded 2500 EUR.' } } })
  const unmet = (ok: readonly string[], hasGood = false) =>
    neverMet(
      { by: 'expectations', ok: ok.map((text) => parseExpectation(text, '--ok')), bad: [] },
      { tapes: [bad] },
      { isGood: hasGood ? 'same question' : undefined, hasKnown: false },
    )

  it.each([
    'refund(amount: 26)',
    'refund(order_id: "A-101")',
    'refund(order_id: "EUR")',
    'answer="25"',
    'answer=25 EUR',
    'answer~26 EUR',
    'answer~25 EUR',
    'at most 0 refund()',
    'refund(amount > 5000)',
  ])('is one with a value that is nowhere in the run: %s', async (text) => {
    expect(await unmet([text])).toEqual([expect.stringContaining(`--ok ${text}: no known run`)])
  })

  it.each(['refund(amount: 30)', 'refund(amount: 2500)', 'lookup_order(*)', 'answer~2500', 'at most 1 refund()'])(
    'is none whose value went through a tool, and none that the run itself meets: %s',
    async (text) => {
      expect(await unmet([text])).toEqual([])
    },
  )

  it('says so of each condition, with what was seen there', async () => {
    const said = await unmet(['refund(amount: 26)', 'lookup_order(*)', 'refnd()'])
    expect(said).toEqual([
      '--ok refund(amount: 26): no known run does that (amount there: 2500)',
      expect.stringContaining('unknown tool refnd'),
    ])
    expect(valuesSeen(parseExpectation('answer=25', '--ok'), { tapes: [bad] })).toBe('there: "I refunded 2500 EUR."')
  })

  it('is one where each condition may be met and no run is known to meet them all', async () => {
    const both = await unmet(['refund(amount: 30)', 'answer~2500'])
    expect(both).toEqual(['no known run meets all conditions: --ok refund(amount: 30) --ok answer~2500'])
    expect(await unmet(['refund(amount: 30)', 'answer~2500'], true)).toEqual([])
  })

  describe('of what is bad alone', () => {
    const doubts = (tape: Tape, texts: readonly string[], hasGood = false) => {
      const bads = texts.map((text) => parseExpectation(text, '--bad'))
      return neverMet(
        { by: 'expectations', ok: [], bad: bads },
        { tapes: [tape] },
        { isGood: hasGood ? 'same question' : undefined, hasKnown: false },
      )
    }

    it.each(['refund(*)', 'refund(order_id: "A-100")', 'refund(amount: 2500)', 'never lookup_order()', 'answer~EUR'])(
      'is one that the models of the run asked for, or that nobody can look for: %s',
      async (text) => {
        expect(await doubts(bad, [text])).toEqual([`--bad ${text}: no run is known that is without it`])
      },
    )

    it('is none where the code put the value there, and none where a good run is known', async () => {
      const code = madeBy(25, 2500)
      expect(await doubts(code, ['refund(amount: 2500)'])).toEqual([])
      expect(await doubts(code, ['refund(amount: 2500)', 'refund(*)'])).toEqual([
        '--bad refund(*): no run is known that is without it',
      ])
      expect(await doubts(bad, ['refund(*)'], true)).toEqual([])
    })
  })

  it('is none where a good run is known', async () => {
    expect(await unmet(['refund(amount: 26)'], true)).toEqual([])
    expect(await neverMet({ by: 'ending' }, { tapes: [bad] }, { isGood: undefined, hasKnown: true })).toEqual([])
  })

  it('is one of what a bad run does, where each run that passes does it too', async () => {
    const bads = ['refund(amount: 2500)', 'answer~EUR'].map((text) => parseExpectation(text, '--bad'))
    const said = await neverMet(
      { by: 'expectations', ok: [], bad: bads },
      { tapes: [bad] },
      { isGood: undefined, hasKnown: true },
    )
    expect(said).toEqual(['--bad refund(amount: 2500) --bad answer~EUR: each known run that passes is bad by that'])
  })

  it('stays one where only a run of another input is good, which need not have met what this one meets', async () => {
    const of = (ok: readonly string[], bads: readonly string[]) =>
      neverMet(
        {
          by: 'expectations',
          ok: ok.map((text) => parseExpectation(text, '--ok')),
          bad: bads.map((text) => parseExpectation(text, '--bad')),
        },
        { tapes: [bad] },
        { isGood: 'another question', hasKnown: true },
      )
    expect(await of([], ['refund(*)'])).toEqual([
      '--bad refund(*): no run of the same input is known that is without it',
    ])
    expect(await of(['at most 0 refund()'], [])).toEqual([expect.stringContaining('no known run')])
    expect(await of(['refund(amount: 25)'], [])).toEqual([])
    const other = refundOf(25)
    const { header } = other
    expect(isOfSameQuestion(other, bad)).toBe(true)
    expect(isOfSameQuestion({ ...other, header: { ...header, input: { text: 'Hello.' } } }, bad)).toBe(false)
    expect(isOfSameQuestion({ ...other, header: { ...header, agent: 'another' } }, bad)).toBe(false)
  })

  it('is one of a function that grades no run ok, be it that none is known to pass, or that each that passes is bad', async () => {
    const judging = { by: 'function', name: './src/oracle.ts#isRight', judge: () => false } as const
    const look = (hasGood: boolean, hasKnown: boolean) =>
      neverMet(judging, { tapes: [bad] }, { isGood: hasGood ? 'another question' : undefined, hasKnown })
    expect(await look(false, true)).toEqual(['--oracle ./src/oracle.ts#isRight: no known run that passes is graded ok'])
    expect(await look(false, false)).toEqual(['--oracle ./src/oracle.ts#isRight: no run is known that it grades ok'])
    expect(await look(true, true)).toEqual([])
  })

  it('is one that calls a run of the same question bad which passes, although one of another question is good', async () => {
    const input = { tapes: [bad] }
    const is = (isGood: 'another question' | 'same question') =>
      ({ isGood, hasKnown: true, contradictedBy: 'good25' }) as const
    const name = './src/oracle.ts#isRight'
    const judge = { by: 'function', name, judge: () => false } as const
    expect(await neverMet(judge, input, is('another question'))).toEqual([
      `--oracle ${name}: good25 passes, has the same input, and is bad by that`,
    ])
    const values = { by: 'expectations', ok: [parseExpectation('refund(amount: 30)', '--ok')], bad: [] } as const
    expect(await neverMet(values, input, is('another question'))).toEqual([
      '--ok refund(amount: 30): good25 passes, has the same input, and is bad by that',
    ])
    for (const judging of [judge, values]) expect(await neverMet(judging, input, is('same question'))).toEqual([])
  })
})

it('a known run is graded once, no matter how often it is asked whether one is good', async () => {
  const folder = temporaryFolder('known')
  const asked = refundOf(2500)
  const known = [2500, 30, 25].map((amount) => {
    const file = join(folder, `${amount}.tape.jsonl`)
    const { header, events, close } = amount === 2500 ? asked : refundOf(amount)
    writeFileSync(file, serializeTape(header, events, close))
    return { name: `${amount}`, file, passes: true }
  })
  const unread = { name: 'unread', file: join(folder, 'none.tape.jsonl'), passes: true }
  const graded: string[] = []
  const oracle = createOracle({ by: 'expectations', ok: [parseExpectation('refund(amount: 25)', '--ok')], bad: [] })
  const counted = {
    ...oracle,
    grade: (run: Parameters<typeof oracle.grade>[0]) => {
      graded.push('a run')
      return oracle.grade(run)
    },
  }
  const runs = new KnownRuns([unread, ...known.slice(1)], asked, counted)
  expect(runs.first?.name).toBe('30')
  for (let time = 0; time < 3; time++) expect((await runs.good(() => true))?.name).toBe('25')
  expect(await runs.good(() => false)).toBeUndefined()
  for (let time = 0; time < 3; time++) expect((await runs.bad(() => true))?.name).toBe('30')
  expect(graded).toHaveLength(2)
})

describe('of runs that are graded ok', () => {
  const asked = refundOf(2500)
  const good = refundOf(25)
  const ofOther = (tape: Tape): Tape => ({ ...tape, header: { ...tape.header, input: { text: 'Hello.' } } })
  const oracle = createOracle({ by: 'expectations', ok: [parseExpectation('refund(amount: 25)', '--ok')], bad: [] })
  const folder = temporaryFolder('known')
  const written = (name: string, { header, events, close }: Tape, passes = true) => {
    const file = join(folder, `${name}.tape.jsonl`)
    writeFileSync(file, serializeTape(header, events, close))
    return { name, file, passes }
  }
  const isFit = (): boolean => true

  it('one that was asked the same is proposed before others, and one of another input only where that fits', async () => {
    const [other, same] = [written('other', ofOther(good)), written('same', good)]
    const runs = new KnownRuns([other, same], asked, oracle)
    expect(await runs.good(isFit, isFit)).toEqual(same)
    expect(await runs.good(() => false, isFit)).toEqual({ ...other, isOfOtherInput: true })
    expect(
      await runs.good(
        () => false,
        () => false,
      ),
    ).toBeUndefined()
    expect(await new KnownRuns([other], asked, oracle).good(isFit)).toBeUndefined()
  })

  it('one that no case says to pass is a good one, and contradicts nothing', async () => {
    const runs = new KnownRuns([written('fresh', good, false), written('bad', refundOf(30), false)], asked, oracle)
    expect((await runs.good(isFit))?.name).toBe('fresh')
    expect(await runs.bad(isFit)).toBeUndefined()
    expect(runs.first).toBeUndefined()
  })

  it('one of another input helps with an answer to a call that left the tape, or another one to the very same call', () => {
    const refund = stepsOf(good).find((step) => step.kind === 'tool' && step.name === 'refund')!
    expect(hasAnswerTo(good, new Set([askedOf(refund)]))).toBe(true)
    expect(hasAnswerTo(asked, new Set([askedOf(refund)]))).toBe(false)
    // Its other call is another question, and its same call has the same answer.
    expect([hasOtherAnswers(good, asked), hasOtherAnswersToSame(good, asked)]).toEqual([false, false])
    const events = good.events.map((event) =>
      event.kind === 'tool' && event.name === 'lookup_order' ? { ...event, result: { total: 26 } } : event,
    )
    expect(hasOtherAnswersToSame({ ...good, events }, asked)).toBe(true)
  })
})
