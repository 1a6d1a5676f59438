import { join } from 'node:path'
import { mkdirSync, writeFileSync } from 'node:fs'
import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { foldText } from '../../src/report/fold.ts'
import { overlaps } from '../../src/report/overlaps.ts'
import { currentFlags, type TapeEvent } from '../../src/tape/index.ts'
import { putTape } from '../recordings/make.ts'
import { call, exchange, mark } from '../tape/make.ts'
import { Run } from '../trace/run.ts'
import { scratch } from './harvest.ts'
import { ask } from './in-process.ts'

/** A chat request and its answer. */
function chat(n: number, messages: readonly object[], said: object, details: object = {}): TapeEvent {
  const step = exchange(
    n,
    JSON.stringify({ model: 'gpt-4o', messages }),
    JSON.stringify({
      model: 'gpt-4o-2024-08-06',
      choices: [{ index: 0, message: { role: 'assistant', ...said }, finish_reason: 'stop' }],
      usage: { prompt_tokens: 1200, completion_tokens: 40, ...details },
    }),
  )
  return { ...step, url: 'https://api.example/v1/chat/completions' }
}

const system = { role: 'system', content: 'Be fair.\nNever refund more than the total.\nA\nB\nC\nD' }
const user = { role: 'user', content: 'Refund A-17.' }
const calls = {
  tool_calls: [{ id: 'c1', type: 'function', function: { name: 'lookup', arguments: '{"order":"A-17"}' } }],
}
const asked = { role: 'assistant', content: '', ...calls }
const incident: readonly TapeEvent[] = [
  chat(1, [system, user], calls),
  call(8, 'lookup', { order: 'A-17' }),
  mark(10, 'looked up'),
  chat(
    12,
    [system, user, asked, { role: 'tool', tool_call_id: 'c1', content: '{"ok":true}' }],
    { content: 'Done.', reasoning_content: 'It is found.' },
    {
      prompt_tokens_details: { cached_tokens: 200, cache_write_tokens: 100 },
      completion_tokens_details: { reasoning_tokens: 30 },
    },
  ),
  {
    kind: 'draws',
    n: 20,
    at: 10,
    draws: [
      ['now', 'app', 1772600767089],
      ['random', 'openai', 0.25],
    ],
  },
]

describe('harvest show', () => {
  it('tells why a run was kept, how long it is kept, what it cost, and each prompt once', async () => {
    const file = putTape(scratch(), 'incident', {
      header: { input: { order: 'A-17' }, flags: currentFlags },
      events: incident,
      close: {
        outcome: {
          status: 'threw',
          error: { $type: 'error', class: 'Error', name: 'RangeError', message: 'too much' },
        },
        kept: [{ because: 'flag', detail: 'customer complained' }, { because: 'error' }],
        retention: { class: 'incident', hold: 'case 4711' },
        unrecorded: ['socket 10.0.0.1:5432'],
      },
    })
    const { code, out } = await ask('show', file, '--reads')
    expect(code).toBe(0)
    expect(out.replace(/\/\S+incident.tape/, '<folder>/incident.tape')).toMatchInlineSnapshot(`
      "tape       run-1
      file       <folder>/incident.tape.jsonl
      agent      refund
      recorded   2026-03-04T05:06:07.089Z, took 13 ms
      made by    vitest-harvest/0.1.0, node 24.21.0
      commit     4f2a9c1
      models     gpt-4o
      usage      2 model calls, 2,400 tokens in, 80 out, $0.00655
      kept       flag (customer complained), error
      retention  incident, on legal hold: case 4711
      input      {"order":"A-17"}
      steps      3 steps (2 model, 1 tool); draws: 1 now, 1 random

      1  +1 ms  1 ms  model  gpt-4o  1,200 in, 40 out, $0.0034
         system   Be fair.
                  | Never refund more than the total.
                  | A
                  | B
                  … 2 more lines
         user     Refund A-17.
         calls    lookup(order: "A-17")
      2  +4 ms  1 ms  tool   lookup
         args     {"order":"A-17"}
         result   {"ok":true}
         +5 ms  mark  looked up
      3  +6 ms  1 ms  model  gpt-4o  1,200 in (200 cached, 100 written to the cache), 40 out (30 reasoning), $0.00315
         prompt   system as in step 1; goes on from step 1 (3 messages)
         tool     lookup: as step 2 answered
         thought  It is found.
         said     Done.
         +10 ms  now  1772600767089 (2026-03-04T05:06:07.089Z)  by app
         +10 ms  random  0.25  by openai

      outcome   threw RangeError: too much
      missing   not recorded: socket 10.0.0.1:5432"
    `)
  })

  it('credits a tool result to the nearest earlier step that answered it, each to its own', async () => {
    const said = (id: string): object => ({ role: 'tool', tool_call_id: id, content: '{"ok":true}' })
    const both = { tool_calls: ['c1', 'c2'].map((id) => ({ ...calls.tool_calls[0]!, id })) }
    const answered = (n: number, name: string): TapeEvent => ({ ...call(n, name, { n }), result: { ok: true } })
    const first = [system, user, { role: 'assistant', content: '', ...both }, said('c1'), said('c2')]
    const file = putTape(scratch(), 'equal', {
      events: [
        chat(1, [system, user], both),
        answered(8, 'lookup'),
        answered(10, 'lookup'),
        chat(12, first, calls),
        answered(20, 'lookup'),
        answered(22, 'audit'),
        chat(24, [...first, asked, { ...said('c3'), name: 'lookup' }], { content: 'Done.' }),
        // The same answer once more: it came after every question.
        answered(32, 'lookup'),
      ],
    })
    const { out } = await ask('show', file)
    expect(out.match(/as step \d+ answered/g)).toEqual([
      'as step 2 answered',
      'as step 3 answered',
      'as step 5 answered',
    ])
  })

  it.each([
    ['no usage', undefined, 'tokens unknown'],
    ['a usage that says nothing', {}, 'tokens unknown'],
    ['output alone', { completion_tokens: 24 }, 'tokens in unknown, 24 out'],
    ['input alone', { prompt_tokens: 812 }, '812 tokens in'],
    ['none used', { prompt_tokens: 0, completion_tokens: 0 }, '0 tokens in, 0 out'],
  ])('of answers with %s it says "%s", and never 0 for what is unknown', async (_, usage, text) => {
    const answer = { model: 'gpt-4o', choices: [{ index: 0, message: { content: 'Hi.' } }], usage }
    const asked = exchange(1, JSON.stringify({ model: 'gpt-4o', messages: [user] }), JSON.stringify(answer))
    const url = 'https://api.example/v1/chat/completions'
    const file = putTape(scratch(), 'usage', { events: [{ ...asked, url }] })
    const { out } = await ask('show', file)
    expect(/^usage +1 model call, (.*?)(?:, (?:\$|cost).*)?$/m.exec(out)?.[1]).toBe(text)
    const { spending } = JSON.parse((await ask('show', file, '--json')).out) as { spending: object }
    expect(Object.values(spending).includes(0) && text === 'tokens unknown' && 'inputTokens' in spending).toBe(false)
  })

  it('--full unfolds, --limit keeps the first and the last steps and says which are missing', async () => {
    const many = Array.from({ length: 40 }, (_, i) =>
      call(2 * i + 1, 'lookup', { text: `line\n`.repeat(i === 0 ? 9 : 1) }),
    )
    const file = putTape(scratch(), 'many', { events: many })
    const { out } = await ask('show', file, '--steps', '4')
    expect(out.match(/^ *\d+ .*lookup$/gm)?.map((line) => line.trim().split(' ')[0])).toEqual(['1', '2', '39', '40'])
    expect(out).toContain('… steps 3 to 38 not shown')
    const chatty = putTape(scratch(), 'chatty', { events: incident })
    expect((await ask('show', chatty)).out).toContain('… 2 more lines')
    expect((await ask('show', chatty, '--full')).out).toContain('| D\n')
  })

  it('a truncated tape shows what was recorded, open steps as open', async () => {
    const { settled: _, result: __, ...open } = call(8, 'lookup', { order: 'A-17' })
    const file = putTape(scratch(), 'cut', { events: [open], close: null })
    const { out, notes } = await ask('show', file)
    expect(notes).toContain('so it cannot become a test')
    expect(out.slice(out.indexOf('\n\n') + 2)).toMatchInlineSnapshot(`
      "1  +4 ms  …  tool  lookup
         args     {"order":"A-17"}
         open     no answer was recorded

      outcome   truncated: the process ended before the run did
      ended     cut off in call 1, tool lookup, begun 05:06:07"
    `)
  })

  it('the tape of a program shows its exit code and what it printed', async () => {
    const outcome = { status: 'exited' as const, code: 3, stdout: 'one\n::error::two\n', stderr: 'bad\u001b[2J' }
    const { out } = await ask('show', putTape(scratch(), 'program', { close: { outcome } }))
    expect(out.slice(out.indexOf('outcome'))).toMatchInlineSnapshot(`
      "outcome   exit code 3
      stdout    one
                | \\x3a:error::two
      stderr    bad\\x1b[2J"
    `)
  })

  it('an error of the provider is told with its reason, and costs nothing', async () => {
    const failed = exchange(
      1,
      JSON.stringify({ model: 'gpt-4o', messages: [user] }),
      '{"error":{"type":"overloaded","message":"try later"}}',
    )
    if (failed.response === undefined) throw new Error('it has one')
    const events = [{ ...failed, response: { ...failed.response, status: 529 } }]
    const { out } = await ask('show', putTape(scratch(), 'failed', { events }))
    expect(out).toMatch(/status {3}529\n +error {4}overloaded: try later/)
    expect(out).toContain('usage     1 model call, 0 tokens in, 0 out, $0')
    expect(out).toMatch(/1 .* model {2}gpt-4o {2}no tokens\n/)
  })

  it('a case is its tape, and what the case says of it', async () => {
    const recordings = scratch()
    mkdirSync(join(recordings, 'golden'), { recursive: true })
    const lines = ['case: never-twice', 'agent: refund', 'tape: t.tape.jsonl', 'expect: fail', 'title: Never twice']
    const more = [
      'lesson: { wrong: refunded twice, right: refund once }',
      'baseline: [[b(x), a(y)], "c(x: 1)"]',
      'outcome: {}',
    ]
    writeFileSync(join(recordings, 'golden/never-twice.case.yaml'), [...lines, ...more, ''].join('\n'))
    putTape(recordings, 'golden/t')
    const { out } = await ask('show', 'never-twice', '--dir', recordings)
    expect(out.replaceAll(recordings, '<recordings>').replace(/\n\n[^]*\n\n/, '\n…\n')).toMatchInlineSnapshot(`
      "case       never-twice  <recordings>/golden/never-twice.case.yaml
      title      Never twice
      expect     fail: a known-bad incident that is not fixed yet
      wrong was  refunded twice
      right is   refund once
      tape       run-1
      file       <recordings>/golden/t.tape.jsonl
      agent      refund
      recorded   2026-03-04T05:06:07.089Z, took 13 ms
      made by    vitest-harvest/0.1.0, node 24.21.0
      commit     4f2a9c1
      models     none
      usage      no model calls
      steps      1 step (1 tool)
      …
      baseline
        - - b(x)
          - a(y)
        - 'c(x: 1)'"
    `)
  })

  it('numbers that are none, a step that is not there and bytes a call does not have are refused', async () => {
    const file = putTape(scratch(), 'one')
    await expect(ask('show', file, '--steps', '0')).rejects.toThrow('Invalid --steps: expected a whole number from 1')
    await expect(ask('show', file, '--step', '2')).rejects.toThrow('there is no step 2: run-1 has 1 step')
    await expect(ask('show', file, '--raw', 'request')).rejects.toThrow('--raw needs --step')
    await expect(ask('show', file, '--step', '1', '--raw', 'both')).rejects.toThrow(
      'Invalid --raw: expected request or response',
    )
    await expect(ask('show', file, '--step', '1', '--raw', 'request')).rejects.toThrow('it has values and no bytes')
  })

  it('a request says only what no request before it said, in whatever order the tape has them', async () => {
    const run = new Run()
    run.answer(...run.model(['lookup']))
    run.model()
    const { out } = await ask('show', putTape(scratch(), 'turns', { events: run.events.toReversed() }), '--json')
    const { steps } = JSON.parse(out) as { steps: { prompt: { continues?: number; fresh: { role: string }[] } }[] }
    expect(steps.map(({ prompt }) => [prompt.continues, prompt.fresh.map(({ role }) => role)])).toEqual([
      [undefined, ['user']],
      [1, ['tool']],
    ])
  })
})

describe('folding', () => {
  it('for every text, no line is too wide and, unfolded, no word is lost', () => {
    const text = fc.string({ unit: fc.constantFrom('a', 'bc', ' ', '\n', ',', '日', '::error::', '\u001b', '\r\n') })
    fc.assert(
      fc.property(text, fc.integer({ min: 20, max: 60 }), (recorded, width) => {
        const rows = foldText(recorded, { width })
        const words = (list: string): string => list.replace(/\\x[0-9a-f]{2}|[|\s:]/g, '')
        expect(words(rows.join(''))).toBe(words(recorded.replace(/\u001b/g, '')))
        for (const row of rows) expect(row.replace(/\\x[0-9a-f]{2}/g, '.').length).toBeLessThanOrEqual(width)
        expect(rows.join('\n')).not.toMatch(/^\s*::|\u001b/m)
      }),
    )
  })

  it('for every text, what is shown and what is counted make the whole', () => {
    fc.assert(
      fc.property(
        fc.array(fc.string({ unit: 'grapheme-ascii', maxLength: 30 })),
        fc.integer({ min: 1, max: 6 }),
        (list, lines) => {
          const all = [...list, 'end']
          const rows = foldText(all.join('\n'), { width: 80, lines })
          const left = /^… ([\d,]+) more line/.exec(rows.at(-1) ?? '')?.[1]
          expect(rows.length - (left === undefined ? 0 : 1) + Number(left ?? 0)).toBe(all.length)
        },
      ),
    )
  })
})

describe('steps at the same time', () => {
  it('are those whose spans touch on one level; the nearest are named, all are counted', () => {
    const at = (n: number, end: number, level = 0) => ({ n, end, level })
    expect(overlaps([at(1, 4), at(2, 6), at(3, 9, 2), at(5, 7), at(8, 9)])).toEqual([
      { near: [1], count: 1 },
      { near: [0, 3], count: 2 },
      { near: [], count: 0 },
      { near: [1], count: 1 },
      { near: [], count: 0 },
    ])
    const all = overlaps(Array.from({ length: 9 }, (_, n) => at(n, Infinity)))
    expect(all[8]).toEqual({ near: [4, 5, 6, 7], count: 8 })
  })
})
