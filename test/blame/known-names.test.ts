import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { parseExpectation } from '../../src/blame/expectation.ts'
import { neverSeen, requireKnownCall, requireKnownNames } from '../../src/blame/known-names.ts'
import { noteUnknownNames } from '../../src/cli/known-bad.ts'
import type { Json, Tape } from '../../src/tape/index.ts'
import { refundOf, refundRun } from './refund-run.ts'

describe('names of an expectation', () => {
  const bad = refundOf(2500, {
    outcome: { status: 'returned', value: { refunded: 2500, order: { items: [{ price: 10 }] } } },
  })
  const look = (text: string, more: Partial<Parameters<typeof requireKnownNames>[1]> = {}) =>
    requireKnownNames([parseExpectation(text, '--ok')], { tapes: [bad], ...more })

  it.each([
    'refund(amount: 25)',
    'refund(*)',
    'lookup_order(order_id: "B-7")',
    'refunded=25',
    'order.items[0].price=12',
    'order.items[3].price=12',
    'refunded~^25$',
    '.~25',
  ])('that the run knows are let pass: %s', (text) => {
    expect(look(text)).toEqual([])
  })

  it.each([
    ['refnud(amount: 25)', "did you mean refund? --ok 'refund(amount: 25)'"],
    ['refund(amont: 25)', "did you mean amount? --ok 'refund(amount: 25)'"],
    ['refundd=25', 'did you mean refunded? --ok refunded=25'],
    ['order.itmes[0].price=12', "did you mean items? --ok 'order.items[0].price=12'"],
    ['once refund(amont=25)', "did you mean amount? --ok 'once refund(amount=25)'"],
    ['not refund(amont > 100)', "did you mean amount? --ok 'not refund(amount > 100)'"],
    [
      'lookup_order() preceded by refund(amount=25, oder_id="A-1")',
      `did you mean order_id? --ok 'lookup_order() preceded by refund(amount=25, order_id="A-1")'`,
    ],
    ['model asks refund(amont=25)', "did you mean amount? --ok 'model asks refund(amount=25)'"],
    ['model asks refnud()', "did you mean refund? --ok 'model asks refund()'"],
  ])('that nobody knows are refused with the nearest one, which can be read: %s', (text, fix) => {
    const given = expect.objectContaining({ code: 'HARVEST_ORACLE_EXPECTATION' }) as Error
    expect(() => look(text)).toThrow(given)
    try {
      look(text)
    } catch (error) {
      const { facts } = error as { readonly facts: { readonly fix: readonly string[] } }
      expect(facts.fix).toEqual([fix, expect.stringMatching(/only the fixed agent has it: --any-name$/)])
      const meant = /--ok '?(.*?)'?$/.exec(fix)?.[1] ?? ''
      expect(look(meant)).toEqual([])
    }
  })

  it('below an argument of a rule are looked up too, but in lists, and a rule may write a number as a text', () => {
    const calls = [{ name: 'ship', args: { to: { city: 'Bonn' }, items: [{ id: 1 }], count: 2 } }]
    const tapes = [refundRun([{ calls }, { say: 'Sent.' }])]
    expect(() => look('once ship(to.ctiy="Bonn")', { tapes })).toThrow("did you mean city? --ok 'once ship(to.city")
    expect(() => look('ship(count.x=2)', { tapes })).toThrow('unknown argument x')
    expect(look('once ship(to.city="Ulm", items.3.id=7, count="2")', { tapes })).toEqual([])
  })

  it('of a tool that is wrapped but was not called are nowhere on the tape: the refusal says what lets them pass', () => {
    expect(() => look('escalate(*)')).toThrow(
      '→ if the tool was never called, or only the fixed agent has it: --any-name',
    )
    expect(() => look('refund(amont: 25)')).toThrow('→ if only the fixed agent has it: --any-name')
  })

  it('swapped, dropped or doubled letters of any known name are refused, whatever the letters', () => {
    const names = ['refund', 'lookup_order', 'refund_policy']
    const typo = fc.tuple(fc.constantFrom(...names), fc.nat(20), fc.constantFrom('swap', 'drop', 'double'))
    fc.assert(
      fc.property(typo, ([name, where, how]) => {
        const at = where % (name.length - 1)
        const [a = '', b = ''] = [name[at], name[at + 1]]
        const wrong = name.slice(0, at) + { swap: b + a, drop: b, double: a + a + b }[how] + name.slice(at + 2)
        fc.pre(!names.includes(wrong))
        expect(() => look(`${wrong}(*)`)).toThrow('unknown tool')
      }),
      { seed: 7, numRuns: 60 },
    )
  })

  it('of a value that is not to be one are refused with the other option, not with the opposite', () => {
    const answered = refundOf(25, { outcome: { status: 'returned', value: { answer: 'x' } } })
    const said = (option: string): string => {
      try {
        requireKnownNames([parseExpectation('answer!=x', option)], { tapes: [answered] })
      } catch (error) {
        return (error as Error).message
      }
      return ''
    }
    expect(said('--ok')).toContain('→ if a run is wrong that returns it: --bad answer=x, without --ok\n')
    expect(said('--bad')).toContain('→ if a run is right that returns it: --ok answer=x, without --bad\n')
    expect(said('--ok')).not.toContain('did you mean')
  })

  it('in a rule that each run without them would meet are not said to be met by no run', () => {
    for (const text of ['at most 1 refnud()', 'never refnud(amount > 100)', 'at most 1 refund(amont=25)']) {
      expect(() => look(text)).toThrow(`No known run decides --ok ${text}: unknown `)
      expect(() => look(text)).toThrow('so that part says the same of every run.')
    }
    expect(() => look('refnud(amount: 25)')).toThrow('No run could meet')
  })

  it.each(['at most 1 refnud()', 'never refnud(*)', 'refnud(amount: 2500)'])(
    'of tools are refused before models are asked, where the run and its models know no tool at all: %s',
    (text) => {
      const said = (isAsked: boolean, tape: typeof bad) => {
        const notes: string[] = []
        const screen = { note: (note: string) => void notes.push(note) }
        noteUnknownNames([parseExpectation(text.replace('refnud', 'escalate'), 'ok')], tape, screen, { isAsked })
        return notes
      }
      const without = refundRun([{ say: 'Right.' }])
      expect(() => said(true, without)).toThrow(/tools known +none[^]*: --any-name/)
      expect(said(false, without)).toHaveLength(1)
      // A fixed agent may have one tool more.
      expect(said(true, bad)).toHaveLength(1)
    },
  )

  it('that a good run or a case knows are let pass', () => {
    const good = refundRun([{ calls: [{ name: 'apologise', args: { to: 'Ada' } }] }, { say: 'Sorry.' }])
    expect(look('apologise(to: "Ada")', { tapes: [bad, good] })).toEqual([])
    expect(look('voucher=5', { outcome: { voucher: 5 } })).toEqual([])
  })

  it('that a model cannot decide are refused as those of a grade are', () => {
    const decide = (text: string, name: string, args: Record<string, string> = {}) =>
      requireKnownCall({ name, args }, text, bad)
    expect(() => decide('refund()', 'refund')).not.toThrow()
    expect(() => decide('refnud(a=1)', 'refnud')).toThrow(
      "→ did you mean refund? --decide 'refund(a=1)' instead of 'refnud(a=1)'",
    )
    expect(() => decide('refund(amont=25)', 'refund', { amont: '25' })).toThrow(
      "did you mean amount? --decide 'refund(amount=25)' instead of 'refund(amont=25)'",
    )
    expect(decide('refund(currency="EUR")', 'refund', { currency: 'EUR' })).toEqual([
      'no recorded call of refund has the argument currency; known are order_id, amount',
    ])
    expect(() => decide('apologise()', 'apologise')).toThrow(/tools known .*refund[^]*all the same: --any-name/)
    const offered = offering(bad, 'pay', { type: 'object', properties: { sum: { type: 'number' } } })
    expect(() => requireKnownCall({ name: 'pay', args: { sum: 1 } }, 'pay(sum=1)', offered)).not.toThrow()
    expect(() => requireKnownCall({ name: 'pay', args: { smu: 1 } }, 'pay(smu=1)', offered)).toThrow(
      "did you mean sum? --decide 'pay(sum=1)' instead of 'pay(smu=1)'",
    )
  })

  /** How a schema of `refund` and the run go together, and whether `--decide` and `--ok` with each argument are let pass. */
  const schemas: readonly (readonly [string, Schema, { readonly [key: string]: 'known' | 'noted' | 'refused' }])[] = [
    ['an empty list allows any', { properties: {} }, { amount: 'known', currency: 'noted', amuont: 'refused' }],
    ['so does one of no properties', {}, { amount: 'known', currency: 'noted', amuont: 'refused' }],
    [
      'one that refuses others still has those of the run',
      { properties: {}, additionalProperties: false },
      { amount: 'known', currency: 'refused', amuont: 'refused' },
    ],
    [
      'a list that the run keeps to is taken for all',
      { properties: { order_id: {}, amount: {}, note: {} } },
      { amount: 'known', note: 'known', currency: 'refused', amuont: 'refused', ntoe: 'refused' },
    ],
    [
      'a list that the run does not keep to is not',
      { properties: { order_id: {} } },
      { amount: 'known', currency: 'noted', amuont: 'refused', oder_id: 'refused' },
    ],
    [
      'one that refuses others refuses all but those of the run',
      { properties: { order_id: {} }, additionalProperties: false },
      { amount: 'known', currency: 'refused' },
    ],
    [
      'one that allows others lets any pass that is not nearly one of its own',
      { properties: { order_id: {}, amount: {}, note: {} }, additionalProperties: { type: 'string' } },
      { note: 'known', currency: 'noted', ntoe: 'refused' },
    ],
    [
      'patterns are more than the list',
      { properties: { order_id: {}, amount: {} }, patternProperties: { '^x_': {} } },
      { x_a: 'noted' },
    ],
    [
      'so are other schemas beside it',
      { properties: { order_id: {}, amount: {} }, allOf: [{ required: ['a'] }] },
      { x_a: 'noted' },
    ],
  ]
  it.each(schemas)('of arguments are refused where the schema of the tool refuses them: %s', (_, schema, all) => {
    const tape = offering(bad, 'refund', { type: 'object', ...schema })
    for (const [key, is] of Object.entries(all)) {
      const decided = () => requireKnownCall({ name: 'refund', args: { [key]: 1 } }, `refund(${key}=1)`, tape)
      const asked = (text: string) => () => look(text, { tapes: [tape] })
      for (const looked of [decided, asked(`refund(${key}: "*")`), asked(`never refund(${key}=1)`)]) {
        if (is === 'refused') expect(looked, key).toThrow(`unknown argument ${key}`)
        else
          expect(looked(), key).toEqual(
            is === 'known' ? [] : [expect.stringContaining(`has the argument ${key}; known`)],
          )
      }
    }
  })

  it('of arguments of a tool that any may be given to and that was never called are let pass', () => {
    const tape = offering(bad, 'pay', { type: 'object', properties: {} })
    expect(requireKnownCall({ name: 'pay', args: { sum: 1 } }, 'pay(sum=1)', tape)).toEqual([])
    expect(look('pay(sum: 1)', { tapes: [tape] })).toEqual([])
    const none = offering(bad, 'pay', { type: 'object', additionalProperties: false })
    expect(() => look('pay(sum: 1)', { tapes: [none] })).toThrow('unknown argument sum')
  })

  it('of arguments that only a good run has are known, and say that a list is not whole', () => {
    const offered = offering(bad, 'refund', { type: 'object', properties: { order_id: {}, amount: {} } })
    const good = refundRun([
      { calls: [{ name: 'refund', args: { order_id: 'A-100', voucher: 'V' } }] },
      { say: 'Sent.' },
    ])
    expect(() => look('refund(voucher: "V")', { tapes: [offered] })).toThrow('unknown argument voucher')
    expect(look('refund(voucher: "V")', { tapes: [offered, good] })).toEqual([])
    expect(look('refund(region: "V")', { tapes: [offered, good] })).toHaveLength(1)
  })

  it('of arguments that a model gave and the code renamed are known', () => {
    const tape = {
      ...bad,
      events: bad.events.map((event) =>
        event.kind === 'tool' && event.name === 'refund' ? { ...event, args: { cents: 2500 } } : event,
      ),
    }
    const decide = (key: string) => requireKnownCall({ name: 'refund', args: { [key]: 1 } }, `refund(${key}=1)`, tape)
    expect([...decide('amount'), ...decide('cents')]).toEqual([])
    expect(() => decide('amuont')).toThrow('did you mean amount?')
  })

  it('with a value that is written in another JSON type are refused, and other values of another type are warned of', () => {
    expect(() => look('refund(amount: "25")')).toThrow(
      /^No run could meet --ok refund\(amount: "25"\): amount is a string there, and was a number in the run \(2500\)\n/,
    )
    expect(() => look('refund(amount: "25")')).toThrow(
      /did you mean refund\(amount: 25\)\? --ok 'refund\(amount: 25\)'\n/,
    )
    expect(() => look('refund(order_id: 100, amount: 100)')).toThrow(/\? --ok 'refund\(order_id: "100", amount: 100\)'/)
    expect(() => look('refunded="25"')).toThrow(/\? --ok refunded=25\n/)
    const said = { outcome: { status: 'returned', value: { answer: 'I refunded 2500 EUR.' } } } as const
    expect(() => look('answer=-2.5', { tapes: [refundOf(2500, said)] })).toThrow(/ 'answer~-2\\.5\\b'\n/)
    expect(() => look('answer=25', { tapes: [refundOf(2500, said)] })).toThrow(/ 'answer~\\b25\\b'\n/)
    expect(look('refunded=soon')).toEqual([expect.stringContaining('is a string there, and was a number in the run')])
  })

  it('of what no run has are told from those that a run may meet, whether they are allowed or not', () => {
    const unseen = (text: string) => neverSeen([parseExpectation(text, '--ok')], { tapes: [bad] })
    expect(['refund(amount: 25)', 'refunded=25'].flatMap(unseen)).toEqual([])
    for (const text of [
      'refnd(amount: 25)',
      'refund(amuont: 25)',
      'refund(amount: "25")',
      'refunde=25',
      'refunded=soon',
    ])
      expect(unseen(text), text).toHaveLength(1)
  })

  it('of a run that threw are not known, so any place is let pass', () => {
    const threw = refundOf(2500, {
      outcome: { status: 'threw', error: { $type: 'error', name: 'Error', message: 'no' } },
    })
    expect(look('refunded=25', { tapes: [threw] })).toEqual([])
  })
})

type Schema = { readonly [key: string]: Json }

/** The same run, whose model was offered a tool. */
function offering(tape: Tape, name: string, parameters: Schema): Tape {
  const body = JSON.stringify({
    model: 'gpt-4o',
    messages: [],
    tools: [{ type: 'function', function: { name, parameters } }],
  })
  const events = tape.events.map((event) =>
    event.kind === 'exchange' ? { ...event, request: { ...event.request, body } } : event,
  )
  return { ...tape, events }
}
