import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { forkCommand } from '../../src/cli/commands/fork.ts'
import { chanceBetween, isShown } from '../../src/cli/forking/beside.ts'
import { together } from '../../src/cli/forking/branches.ts'
import { printDecisions, reportDecisions } from '../../src/cli/forking/critical.ts'
import { printAsk, printBranches } from '../../src/cli/forking/print.ts'
import { readCall, readClock, readEdit, readModes } from '../../src/cli/forking/words.ts'
import { describeInterval, describeRate, readDuration, readNumber, withLost } from '../../src/cli/live.ts'
import { parse } from '../../src/cli/parse.ts'
import { readProveWords } from '../../src/cli/proving/words.ts'
import { specs } from '../../src/cli/spec/index.ts'
import { parseNumeral, parseSpan } from '../../src/report/moments.ts'
import { wilson } from '../../src/stats/index.ts'
import type { Screen } from '../../src/report/output.ts'
import { type Json, parseTape } from '../../src/tape/index.ts'
import { tapeText } from '../recordings/make.ts'
import { findsHostile, hostilePayloads } from '../support/hostile.ts'

const call = (word: string) => readCall(word, forkCommand)
const edit = (word: string) => readEdit(word, forkCommand)
const clock = (word: string) => readClock(word, forkCommand)

describe('a tool call on the command line', () => {
  it.each<[string, string, Json]>([
    ['refund()', 'refund', {}],
    ['refund(amount=10)', 'refund', { amount: 10 }],
    ['refund(amount: 10, order_id: "A, (1)")', 'refund', { amount: 10, order_id: 'A, (1)' }],
    ['refund(order_id=A-1,reason=too late)', 'refund', { order_id: 'A-1', reason: 'too late' }],
    ['search(q="a=b", ids=[1,2], by={"x":1,"y":"}"})', 'search', { q: 'a=b', ids: [1, 2], by: { x: 1, y: '}' } }],
    ['refund({"amount":10})', 'refund', { amount: 10 }],
    ['ns.tool-1(a=null)', 'ns.tool-1', { a: null }],
  ])('%s', (word, name, args) => {
    expect(call(word)).toEqual({ name, args, isWhole: /^\S+\(\{/.test(word) })
  })

  it('for every arguments, reads what stands there as JSON', () => {
    const key = fc.stringMatching(/^[a-z_]{1,8}$/)
    fc.assert(
      fc.property(fc.dictionary(key, fc.jsonValue()), (args) => {
        const inner = Object.entries(args).map(([name, value]) => `${name}=${JSON.stringify(value)}`)
        expect(call(`tool(${inner.join(', ')})`).args).toEqual(JSON.parse(JSON.stringify(args)))
      }),
    )
  })

  it.each(['refund', 'refund(10)', '(a=1)', 'refund(a=1', ''])('%j is none', (word) => {
    expect(() => call(word)).toThrow(/--decide/)
  })
})

describe('a number that begins with a dot', () => {
  const given = (argv: readonly string[]) => {
    const parsed = parse(argv, specs)
    if (parsed.kind !== 'run') throw new Error('no command')
    return parsed.given
  }

  it('is read as with a nought before it, whichever option it stands behind', () => {
    const cost = (text: string) => readNumber(given(['blame', 'x', '--max-cost', text]), forkCommand, 'max-cost', 0)
    const time = (text: string) => readDuration(given(['blame', 'x', '--timeout', text]), forkCommand, 'timeout')
    const budget = (text: string) => readProveWords(['--prove', '--budget', text]).costUsd
    fc.assert(
      fc.property(fc.stringMatching(/^\d{1,3}[1-9]$/), (digits) => {
        const [bare, whole] = [`.${digits}`, `0.${digits}`]
        expect([cost(bare), budget(bare)]).toEqual([Number(whole), Number(whole)])
        expect([time(`${bare}m`), clock(`-1d${bare}h`)]).toEqual([time(`${whole}m`), clock(`-1d${whole}h`)])
        expect(parseSpan(`${bare}w`)).toBe(parseSpan(`${whole}w`))
      }),
    )
  })

  it.each(['.', '1.', '-.5', '1e3', '.5.5', ''])('%j is none', (text) => {
    expect(parseNumeral(text)).toBe(undefined)
    expect(() => readProveWords(['--prove', `--budget=${text}`])).toThrow(/--budget/)
  })
})

describe('live runs that were lost', () => {
  it('may have ended either way: the interval holds for both', () => {
    const { low, high } = withLost(56, 56, 9)
    expect([low, high]).toEqual([wilson(56, 65).low, wilson(65, 65).high])
    expect(describeRate(2, 2, 1)).toBe(`2 of 2 (95 %: ${describeInterval(withLost(2, 2, 1))})`)
    expect(withLost(3, 4, 0)).toEqual(wilson(3, 4))
  })

  it('is shown by a smaller chance the more forks there are, for each look at more of them is a chance as well', () => {
    expect([4, 5, 12].map((forks) => isShown({ chance: 0.03, forks }))).toEqual([true, true, false])
    expect([12, 48].map((forks) => isShown({ chance: 0.01, forks }))).toEqual([true, false])
    expect(isShown({ chance: null, forks: 4 })).toBe(undefined)
  })

  it('make no difference of two arms larger than it is at least, and none that they may turn round', () => {
    const [all, few] = [
      { hits: 20, runs: 20, lost: 0 },
      { hits: 8, runs: 20, lost: 0 },
    ]
    const whole = chanceBetween(all, few)
    expect(chanceBetween(all, { hits: 8, runs: 16, lost: 4 })).toBeGreaterThan(whole)
    expect(chanceBetween(all, { hits: 4, runs: 16, lost: 4 })).toBeCloseTo(whole, 12)
    expect(chanceBetween({ hits: 10, runs: 16, lost: 4 }, { hits: 12, runs: 16, lost: 4 })).toBe(1)
  })
})

describe('an edit', () => {
  it.each([
    ['s/old/new/', { match: 'old', with: 'new', flags: '' }],
    ['s|a/b|c|gi', { match: 'a/b', with: 'c', flags: 'gi' }],
    [String.raw`s/a\/b/c\/d/`, { match: 'a/b', with: 'c/d', flags: '' }],
    [String.raw`s/\d+\.//`, { match: String.raw`\d+\.`, with: '', flags: '' }],
  ])('%s', (word, wanted) => {
    expect(edit(word)).toEqual(wanted)
  })

  it.each(['old', 's/old', 's/old/new', 's//new/', 's/(/x/', 's/a/b/y', 's/a/b/g/h', 'sxaxbx'])(
    '%j is none',
    (word) => {
      expect(() => edit(word)).toThrow(/--edit/)
    },
  )
})

describe('a clock', () => {
  it.each([
    ['+2h', 7_200_000],
    ['-30m', -1_800_000],
    ['1d12h', 129_600_000],
    ['500ms', 500],
    ['1.5s', 1_500],
  ])('%s', (word, ms) => {
    expect(clock(word)).toBe(ms)
  })

  it.each(['2', 'h', '+2 h', '2w', '--2h', ''])('%j is none', (word) => {
    expect(() => clock(word)).toThrow(/--clock/)
  })
})

describe('the modes of steps', () => {
  it('are told by their numbers', () => {
    expect(readModes('5=pinned, 6=replayed, 7=live', forkCommand)).toEqual({ 5: 'replayed', 6: 'replayed', 7: 'live' })
  })

  it.each(['5', '5=frozen', '0=live', '5=live,', 'x=live'])('%j is refused', (word) => {
    expect(() => readModes(word, forkCommand)).toThrow(/--mode/)
  })
})

describe('hostile recorded text in what a fork prints', () => {
  const screenOf = () => {
    const lines: string[] = []
    const screen: Screen = {
      line: (text = '') => void lines.push(text),
      note: (text) => void lines.push(text),
      json: (value) => void lines.push(JSON.stringify(value)),
      paint: (_, text) => text,
      progress: () => {},
    }
    return { screen, said: () => lines.join('\n') }
  }
  const textOf = hostilePayloads.map(({ text }) => text)

  it('is neutral: changes, tails, outcomes, differences, problems', () => {
    for (const text of textOf) {
      const { screen, said } = screenOf()
      const tape = parseTape(
        tapeText({ header: { id: `id ${text.toWellFormed()}`, agent: text.toWellFormed() } }),
        'tape',
      )
      const request = { keep: 1, seed: '1', tail: { from: 'reference' as const, file: text }, agent: text }
      const spent = { modelCalls: 1, inputTokens: 1, outputTokens: 1 }
      const fork = {
        seed: '1',
        outcome: { status: 'returned' as const, value: text },
        prefix: { steps: 1, isExact: true },
        problems: [],
        spent,
        isInert: false,
        fingerprint: '',
        branch: '',
        madeAt: text,
      }
      const same = { same: true, differences: 0 }
      const step = { kind: 'asked' as const, step: 1, before: text, after: `${text}!` }
      const compared = { outcome: same, trace: same, first: step, steps: { parent: 1, branch: 1 } }
      const branches = [
        { seed: '1', request, fork, compared, grade: 'ok' as const, problems: [], isReused: true, saved: text },
        { seed: '2', request, problems: [{ code: 'HARVEST_NOT_RECORDED', message: `no\n${text}` }], isReused: false },
      ]
      printAsk({ tape }, request, [{ where: text, before: text, after: text }], screen)
      printBranches(branches, together(branches), { by: text, recorded: 'bad' }, screen)
      const fix = 'npx vitest-harvest fix'
      expect(said()).toContain(fix)
      const good = screenOf()
      printBranches(branches, together(branches), undefined, good.screen, { isGood: true })
      expect(good.said()).not.toContain(fix)
      const alternative = { step: 1, decided: text, instead: text, request }
      const decisions = reportDecisions([{ step: 1, decided: text }], [alternative], branches, 'bad')
      printDecisions(decisions, { grader: { by: text, recorded: 'bad', takesAnyOther: false } }, screen)
      expect(findsHostile(said())).toEqual([])
      expect(said().length).toBeGreaterThan(300)
    }
  })
})
