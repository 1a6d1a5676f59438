import { describe, expect, it } from 'vitest'
import { compareRuns } from '../../src/report/diff/compare.ts'
import { nearDifference } from '../../src/report/diff/words.ts'
import { parseTape, type Tape, type TapeEvent } from '../../src/tape/index.ts'
import { type TapeParts, putTape, tapeText } from '../recordings/make.ts'
import { call, exchange } from '../tape/make.ts'
import { Run } from '../trace/run.ts'
import { harvest, scratch } from './harvest.ts'
import { ask } from './in-process.ts'
import { recordRefund } from './tapes.ts'

const tapeOf = (parts: TapeParts): Tape => parseTape(tapeText(parts), 'a')
const returned = (value: object) => ({ outcome: { status: 'returned' as const, value: value as never } })

/** One model turn that asks for tools, the calls, and a closing word. */
function refund(
  amount: number,
  { system = 'Be fair.', id = 'call_1', said = 'Done.', tool = 'refund', more = 0 } = {},
) {
  const chat = (n: number, messages: readonly object[], message: object): TapeEvent => ({
    ...exchange(
      n,
      JSON.stringify({ model: 'gpt-4o', messages: [{ role: 'system', content: system }, ...messages] }),
      JSON.stringify({ choices: [{ index: 0, message, finish_reason: 'stop' }] }),
    ),
    url: 'https://api.example/v1/chat/completions',
  })
  const user = { role: 'user', content: 'Refund A-17.' }
  const asked = {
    role: 'assistant',
    content: null,
    tool_calls: [{ id, type: 'function', function: { name: tool, arguments: JSON.stringify({ amount }) } }],
  }
  const answered = { role: 'tool', tool_call_id: id, content: 'ok' }
  return [
    chat(1, [user], asked),
    call(8, tool, { amount }),
    chat(12, [user, asked, answered], { role: 'assistant', content: said }),
    ...Array.from({ length: more }, (_, i) =>
      chat(20 + 6 * i, [user], { role: 'assistant', content: 'Anything else?' }),
    ),
  ]
}

describe('the class of a difference', () => {
  const a = tapeOf({ events: refund(25), close: returned({ refunded: 25 }) })
  const classOf = (parts: TapeParts): string =>
    compareRuns(a, tapeOf({ close: returned({ refunded: 25 }), ...parts })).class

  it('is `same` when only times and the ids of providers differ', () => {
    expect(
      classOf({ header: { id: 'other', startedAt: '2027-01-01T00:00:00.000Z' }, events: refund(25, { id: 'call_9' }) }),
    ).toBe('same')
  })
  it('is `text only` when prompts, answers or the return value differ', () => {
    expect(classOf({ events: refund(25, { system: 'Be kind.' }) })).toBe('text only')
    expect(classOf({ events: refund(25, { said: 'There.' }) })).toBe('text only')
    expect(classOf({ events: refund(25), close: returned({ refunded: 26 }) })).toBe('text only')
  })
  it('is `text only` when what the run made of its input differs, and its place is named', () => {
    const left = (said: string) =>
      tapeOf({
        events: refund(25),
        header: { input: { messages: [] } },
        close: { ...returned({ refunded: 25 }), input: { left: { messages: [said] } } },
      })
    expect(compareRuns(left('25 EUR'), left('25 EUR')).class).toBe('same')
    const { class: name, outcome } = compareRuns(left('25 EUR'), left('2500 EUR'))
    expect([name, outcome.at]).toEqual(['text only', { path: 'input.messages[0]', a: '25 EUR', b: '2500 EUR' }])
  })
  it('is `number of calls` when the same tools are called with more model calls around them', () => {
    expect(classOf({ events: refund(25, { more: 1 }) })).toBe('number of calls')
  })
  it('is `other requests` when only servers that run no model were asked more or less often', () => {
    const ask = (n: number, url: string): TapeEvent => ({ ...exchange(n, 'grant_type=refresh', '{}'), url })
    expect(classOf({ events: [...refund(25), ask(60, 'https://login.example/token')] })).toBe('other requests')
    // The server of the models is asked for nothing but work.
    expect(classOf({ events: [...refund(25), ask(60, 'https://api.example/v1/threads')] })).toBe('number of calls')
    const bare = (count: number): Tape =>
      tapeOf({ events: Array.from({ length: count }, (_, i) => ask(1 + 6 * i, 'https://shop.example/orders')) })
    expect(compareRuns(bare(1), bare(2)).class).toBe('number of calls')
  })
  it('is `arguments` when a tool is called with others', () => {
    expect(classOf({ events: refund(2500, { more: 1 }) })).toBe('arguments')
  })
  it('is `tool sequence` when another tool is called, or one more', () => {
    expect(classOf({ events: refund(25, { tool: 'void' }) })).toBe('tool sequence')
    expect(classOf({ events: [...refund(25), call(60, 'mail', {})] })).toBe('tool sequence')
  })
  it('parallel calls that came in another order are the same calls', () => {
    const inOrder = (...names: readonly string[]): Tape => {
      const run = new Run()
      const begun = names.map((name) => run.begin(name))
      for (const { settle } of begun) settle()
      return tapeOf({ events: run.events })
    }
    const diff = compareRuns(inOrder('look', 'ask'), inOrder('ask', 'look'))
    expect(diff.class).toBe('same')
    expect(diff.steps.map(({ a: one, b: other }) => `${one}-${other}`).sort()).toEqual(['1-2', '2-1'])
  })
})

describe('headers of a request', () => {
  it('are not compared with those of a tape that kept none', () => {
    const asked = (headers: readonly (readonly [string, string])[]): Tape => {
      const event = exchange(1, '{}', '{}')
      return tapeOf({ events: [{ ...event, request: { ...event.request, headers } }] })
    }
    const [kept, other, bare] = [asked([['accept', 'a/b']]), asked([['accept', 'c/d']]), asked([])]
    const drift = (a: Tape, b: Tape): number => compareRuns(a, b).steps.flatMap(({ differences }) => differences).length
    expect([drift(kept, other), drift(kept, bare), drift(bare, kept)]).toEqual([1, 0, 0])
  })
})

describe('harvest diff', () => {
  it('prints the outcome first, then the calls, the steps with their drift, the prompt word by word, and the pins', async () => {
    const folder = scratch()
    const a = putTape(folder, 'a', { events: refund(25), close: returned({ refunded: 25 }) })
    const b = putTape(folder, 'b', {
      header: { id: 'run-2', pins: { node: '24.21.0', commit: '9ab0c3d' } },
      events: refund(2500, { system: 'Be fair and quick.' }),
      close: { ...returned({ refunded: 2500 }), at: 3000 },
    })
    const { code, out } = await ask('diff', a, b)
    expect(code).toBe(1)
    expect(out.replaceAll(folder, '<folder>')).toMatchInlineSnapshot(`
      "A  run-1  <folder>/a.tape.jsonl
      B  run-2  <folder>/b.tape.jsonl

      arguments
      outcome  differs at refunded
         A  25
         B  2500
      trace    1 tool call in A, 1 in B: 1 with other arguments
      first    with other arguments, layer 1 of the causal order
         A  refund(amount: 25)
         B  refund(amount: 2500)

        - refund(amount: 25)
        + refund(amount: 2500)

      steps    3 differ, 0 alike; drift: 2 instructions, 1 messages, 1 arguments
      parts    A1 and B1 were asked something else; 2 steps after it follow
        A1  B1  model  gpt-4o  instructions, answer  parts here
            instructions[0].content: Be fair. → Be fair and quick.
        A2  B2  tool   refund  arguments  follows
            arguments.amount: 25 → 2500
        A3  B3  model  gpt-4o  instructions, messages  follows
            instructions[0].content: Be fair. → Be fair and quick.

      system prompt  differs in 2 model calls, first:
        Be fair {+and quick+}.

                   A                                B
      agent        refund                           refund
      input        none                             none
      commit       4f2a9c1                          9ab0c3d                          ≠
      models       gpt-4o                           gpt-4o
      prompt       sha256-VTm1GQSG19kr7jfYi-FYuNV…  sha256-d1nnC6tn9MZaRIEPusgulf-…  ≠
      tools        none                             none
      node         24.21.0                          24.21.0
      recorder     vitest-harvest/0.1.0             vitest-harvest/0.1.0
      steps        3                                3
      model calls  2                                2
      tokens in    unknown                          unknown
      tokens out   unknown                          unknown
      cost         unknown                          unknown
      took         13 ms                            3.00 s                           ≠"
    `)
  })

  it('two runs that are the same are exit code 0, and --json says so in one word', async () => {
    const folder = scratch()
    const a = putTape(folder, 'a', { events: refund(25) })
    const b = putTape(folder, 'b', {
      header: { id: 'run-2' },
      events: refund(25, { system: 'Be kind.', id: 'call_2' }),
    })
    const { code, out } = await ask('diff', a, b, '--json')
    expect(code).toBe(0)
    expect(JSON.parse(out)).toMatchObject({
      same: true,
      class: 'text only',
      trace: { same: true, calls: [1, 1], first: null, differences: [] },
      steps: [
        {
          a: 1,
          b: 1,
          kind: 'model',
          differences: [{ class: 'instructions', path: 'instructions[0].content', a: 'Be fair.', b: 'Be kind.' }],
        },
        { a: 2, b: 2, kind: 'tool', name: 'refund', differences: [] },
        { a: 3, b: 3, differences: [{ class: 'instructions' }] },
      ],
    })
    expect((await ask('diff', a, a)).out).toMatch(/\nsame\noutcome {2}the same: returned/)
  })

  it('compares recorded runs, a truncated one too; nothing recorded can speak to the terminal', async () => {
    const folder = scratch()
    const [a, cut] = [await recordRefund(folder, 'a'), putTape(folder, 'cut', { events: refund(25), close: null })]
    const { code, stdout, stderr } = await harvest(['diff', a, cut])
    expect({ code, stderr }).toEqual({ code: 1, stderr: '' })
    expect(stdout).toContain('   B  truncated')
    expect(stdout).toContain('tool sequence')
    expect(stdout).not.toMatch(/\u001b|\u202e|^\s*::/m)
  })

  it('runs of thousands of calls with nothing in common are compared, and the report stays short', () => {
    const many = (name: string): Tape =>
      tapeOf({ events: Array.from({ length: 3000 }, (_, i) => call(2 * i + 1, `${name}${i}`, { i })) })
    const diff = compareRuns(many('a'), many('b'))
    expect(diff.class).toBe('tool sequence')
    expect(diff.callCounts).toEqual([3000, 3000])
    expect(diff.trace.first).toMatchObject({ layer: 0 })
  })
})

describe('two texts', () => {
  it('too long for a line are cut where they part', () => {
    const same = 'x'.repeat(100)
    expect(nearDifference(`${same}1 end`, `${same}2 end`, 20)).toEqual(['…xxxxx1 end', '…xxxxx2 end'])
  })
})
