import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { readTape, type TapeEvent } from '../../src/tape/index.ts'
import { debugSteps } from '../../src/debug/steps.ts'
import { wayTo } from '../../src/debug/index.ts'
import { shareOut } from '../../src/debug/context.ts'
import { changesIn, commandsIn, wordsIn } from '../../src/cli/debug/words.ts'
import { shellWord } from '../../src/errors/index.ts'
import { ask } from '../cli/in-process.ts'
import { debug, debugJson, incidentEvents, tapeFile } from './incident.ts'

describe('moving', () => {
  it('goes to a step, on, back and to both ends', async () => {
    const { out, code } = await debug(tapeFile(incidentEvents()), 'goto 7; back; forward 2; first; last; 4')
    expect(out).toMatchInlineSnapshot(`
      "▶  7  tool   refund(order_id: "A-100", amount: 2500)
      ▶  6  model  refund(order_id: "A-100", amount: 2500)
      ▶  8  model  send_mail(to: "C-7")
      ▶  1  model  lookup_order(order_id: "A-100") ∥ refund_policy(country: "DE")
      ▶ 10  model  I refunded 2500 EUR for order A-100.
      ▶  4  model  customer_history(customer: "C-7")"
    `)
    expect(code).toBe(0)
  })

  it('stops at the ends and says so', async () => {
    const { out, code } = await debug(tapeFile(incidentEvents()), 'back; forward 99')
    expect(out).toMatchInlineSnapshot(`
      "▶  1  model  lookup_order(order_id: "A-100") ∥ refund_policy(country: "DE")  the first step
      ▶ 10  model  I refunded 2500 EUR for order A-100.             the last step"
    `)
    expect(code).toBe(0)
  })

  it('refuses a step that does not exist, goes on, and ends with exit code 2', async () => {
    const { out, code } = await debug(tapeFile(incidentEvents()), 'goto 99; goto x; nowhere; st; goto 2')
    expect(out).toMatchInlineSnapshot(`
      "there is no step 99: this tape has 1 to 10
      → to see them: steps
      'x' is not a whole number
      → like this: goto 7
      unknown command 'nowhere'
      → for all commands: help
      ▶  1  model  lookup_order(order_id: "A-100") ∥ refund_policy(country: "DE")
         2  tool   lookup_order(order_id: "A-100")  ∥ 3
         3  tool   refund_policy(country: "DE")  ∥ 2
         4  model  customer_history(customer: "C-7")
         5  tool   customer_history(customer: "C-7")
         6  model  refund(order_id: "A-100", amount: 2500)
         7  tool   refund(order_id: "A-100", amount: 2500)
         8  model  send_mail(to: "C-7")
         9  tool   send_mail(to: "C-7")
        10  model  I refunded 2500 EUR for order A-100.
      ▶  2  tool   lookup_order(order_id: "A-100")  ∥ 3"
    `)
    expect(code).toBe(2)
  })

  it('works on a truncated tape and on one without steps', async () => {
    const events = incidentEvents().slice(0, 2)
    expect((await debug(tapeFile(events, { isTruncated: true }), 'steps; last; inspect')).out).toMatchInlineSnapshot(`
      "▶  1  model  lookup_order(order_id: "A-100") ∥ refund_policy(country: "DE")
         2  tool   lookup_order(order_id: "A-100")
      ▶  2  tool   lookup_order(order_id: "A-100")
      args      {"order_id":"A-100"}
      result    {"order_id":"A-100","total":25,"currency":"EUR"}
      clock     2026-11-22T10:00:00.009Z, +9 ms, took 2 ms
      site      src/refund-agent.ts:62:24"
    `)
    expect((await debug(tapeFile([]), 'steps; timeline; goto 1; inspect')).out).toMatchInlineSnapshot(`
      "this tape has no steps
      there is no step 1: this tape has no steps
      → to see them: steps
      there is no step 0: this tape has no steps
      → to see them: steps"
    `)
  })
})

describe('breakpoints', () => {
  it('stop at the steps where a rule holds, on and back, and say at once how many there are', async () => {
    const { out, code } = await debug(
      tapeFile(incidentEvents()),
      'break refund(amount > 100); break tokens > 1200; continue; c; c; c; rc; rc; rc; delete 1; break; delete 1',
    )
    expect(out).toMatchInlineSnapshot(`
      "breakpoint 1: 1 of 10 steps: 7
      breakpoint 2: 3 of 10 steps: 8, 9, 10
      ▶  7  tool   refund(order_id: "A-100", amount: 2500)          breakpoint 1
      ▶  8  model  send_mail(to: "C-7")                             breakpoint 2
      ▶  9  tool   send_mail(to: "C-7")                             breakpoint 2
      ▶ 10  model  I refunded 2500 EUR for order A-100.             breakpoint 2
      ▶  9  tool   send_mail(to: "C-7")                             breakpoint 2
      ▶  8  model  send_mail(to: "C-7")                             breakpoint 2
      ▶  7  tool   refund(order_id: "A-100", amount: 2500)          breakpoint 1
      breakpoint 1 is deleted
      breakpoint 2: 3 of 10 steps: 8, 9, 10   tokens > 1200
      there is no breakpoint 1
      → to see them: break"
    `)
    expect(code).toBe(2)
  })

  it('stop where a rule about the run is broken, and at marks before the next step', async () => {
    const { out } = await debug(
      tapeFile(incidentEvents()),
      'break never refund(amount: $a) where $a > 100; break refund() preceded by approve(); break refund() preceded by lookup_order(); break mark plan(turn > 2); break at most 1 refund(); break run ends',
    )
    expect(out).toMatchInlineSnapshot(`
      "breakpoint 1: 1 of 10 steps: 7
      breakpoint 2: 1 of 10 steps: 7
      no tool approve on this tape. Its tools: lookup_order, refund_policy, customer_history, refund, send_mail
      breakpoint 3: 0 of 10 steps: none
      breakpoint 4: 1 of 10 steps: 8
      Cannot stop at a rule about a whole run
      It is decided only at the end of the run.
      → stop at a call in it: break refund(amount > 100)
      breakpoint 5: 1 of 10 steps: 10"
    `)
  })

  it('that are no rule are refused with the place and what was expected there', async () => {
    const { out, code } = await debug(tapeFile(incidentEvents()), 'break nevr refund(); continue')
    expect(out).toMatchInlineSnapshot(`
      "Invalid rule
      nevr refund()
      ^ expected '(' after the name of a tool: nevr() for any call of it, got 'nevr', near column 1
      → did you mean 'never'?
      → the language of rules: https://github.com/vitest-harvest/vitest-harvest/blob/main/docs/rules.md
      there is no breakpoint
      → to set one: break refund(amount > 100)"
    `)
    expect(code).toBe(2)
  })

  it('make the exit code 1 when a stop was expected and there was none', async () => {
    const file = tapeFile(incidentEvents())
    const commands = 'break refund(amount > 9000); continue'
    expect((await debug(file, commands)).code).toBe(0)
    expect((await debug(file, commands, '--expect-stop')).code).toBe(1)
    expect((await debug(file, 'break refund(); continue', '--expect-stop')).code).toBe(0)
  })

  it('draw the truth of a rule at every step', async () => {
    const { out } = await debug(tapeFile(incidentEvents()), 'rule model asks call(); rule once refund()')
    expect(out).toMatchInlineSnapshot(`
      "4 of 10 steps: 1, 4, 6, 8
       1  x..x.x.x..
      4 of 10 steps: 7, 8, 9, 10
       1  ......xxxx"
    `)
  })
})

describe('looking', () => {
  it('shows what the model saw by part: tokens that add up, what is new, which step answered it', async () => {
    const { out } = await debug(tapeFile(incidentEvents()), 'goto 6; inspect context')
    expect(out).toMatchInlineSnapshot(`
      "▶  6  model  refund(order_id: "A-100", amount: 2500)
      the model saw 7 messages, 334 tokens; 2 new
          system    ≈  57  Look the order up first. Never refund more than its total.
          user      ≈  48  Please refund my order A-100, it arrived broken.
          assistant ≈  65  lookup_order({"order_id":"A-100"}) refund_policy({"country":"DE"})
          tool      ≈  48  {"order_id":"A-100","total":25,"currency":"EUR"}            as step 2 answered
          tool      ≈  26  {"country":"DE","days":30}                                  as step 3 answered
        + assistant ≈  36  customer_history({"customer":"C-7"})
        + tool      ≈  54  {"customer":"C-7","refunds":1,"note":"paid 2500 cents"}     as step 5 answered
      decided   refund(order_id: "A-100", amount: 2500)"
    `)
    const tokens = [...out.matchAll(/≈ *(\d+)/g)].map(([, count]) => Number(count))
    expect(tokens.reduce((sum, count) => sum + count, 0)).toBe(334)
  })

  it('knows no times where the recording has none', async () => {
    const imported = { format: 'har', grade: 'signature-only', missing: ['timings', 'start'] } as const
    const { out } = await debug(tapeFile(incidentEvents(), { imported }), 'goto 3; clock')
    expect(out).toContain('clock     not known: the recording has no times')
  })

  it('shows arguments, result, clock and state of a tool call', async () => {
    const { out } = await debug(
      tapeFile(incidentEvents()),
      'goto 7; inspect; inspect args; inspect state; inspect reads',
    )
    expect(out).toMatchInlineSnapshot(`
      "▶  7  tool   refund(order_id: "A-100", amount: 2500)
      args      {"order_id":"A-100","amount":2500}
      result    {"order_id":"A-100","refunded":2500}
      clock     2026-11-22T10:00:00.031Z, +31 ms, took 2 ms
      site      src/refund-agent.ts:62:24
        {
          "order_id": "A-100",
          "amount": 2500
        }
      plan  (before step 6, +22 ms)
        {
          "turn": 2,
          "checked": [
            "order"
          ]
        }
      1 value read before step 7
        now    1794000000000  app"
    `)
  })

  it('shows log probabilities where the provider gave them, and says where it gave none', async () => {
    const { out } = await debug(
      tapeFile(incidentEvents()),
      'goto 6; inspect logprobs; goto 4; inspect logprobs; goto 5; inspect logprobs',
    )
    expect(out).toMatchInlineSnapshot(`
      "▶  6  model  refund(order_id: "A-100", amount: 2500)
      1 token
         90.5 %  "2500"                          "25" 10.0 %
      ▶  4  model  customer_history(customer: "C-7")
      the provider gave no log probabilities with step 4
      ▶  5  tool   customer_history(customer: "C-7")
      step 5 is no model call"
    `)
  })

  it('shows a request and a response as they travelled', async () => {
    const { out } = await debug(tapeFile(incidentEvents().slice(0, 1)), 'inspect raw')
    expect(out).toContain('request   POST https://api.openai.com/v1/chat/completions')
    expect(out).toContain('  content-type: application/json')
    expect(out).toContain('"content": "Please refund my order A-100, it arrived broken."')
    expect(out).toContain('response  200')
  })

  it('compares two steps: context, arguments, state', async () => {
    const { out } = await debug(tapeFile(incidentEvents()), 'diff 4 6; diff 5 7; diff 6 4')
    expect(out).toMatchInlineSnapshot(`
      "context of 4 → 6: 5 messages the same, 0 gone, 2 new, 264 → 334 tokens
        + assistant customer_history({"customer":"C-7"})
        + tool      {"customer":"C-7","refunds":1,"note":"paid 2500 cents"}
        state /plan  nothing → {"turn":2,"checked":["order"]}
      context of 4 → 6: 5 messages the same, 0 gone, 2 new, 264 → 334 tokens
        + assistant customer_history({"customer":"C-7"})
        + tool      {"customer":"C-7","refunds":1,"note":"paid 2500 cents"}
        args /customer  "C-7" → nothing
        args /order_id  nothing → "A-100"
        args /amount  nothing → 2500
        result /customer  "C-7" → nothing
        result /refunds  1 → nothing
        result /note  "paid 2500 cents" → nothing
        result /order_id  nothing → "A-100"
        result /refunded  nothing → 2500
        state /plan  nothing → {"turn":2,"checked":["order"]}
      context of 6 → 4: 5 messages the same, 2 gone, 0 new, 334 → 264 tokens
        - assistant customer_history({"customer":"C-7"})
        - tool      {"customer":"C-7","refunds":1,"note":"paid 2500 cents"}
        state /plan  {"turn":2,"checked":["order"]} → nothing"
    `)
  })

  it('draws what ran side by side', async () => {
    const { out } = await debug(tapeFile(incidentEvents()), 'timeline 1 4')
    expect(out).toMatchInlineSnapshot(`
      "steps 1 to 4, +1 ms to +20 ms
      ▶   1  model █████████████████                            8 ms  lookup_order(order_id: "A-100") ∥ r…
          2  tool                  ██████                       2 ms  lookup_order(order_id: "A-100")
          3  tool                  ██████                       2 ms  refund_policy(country: "DE")
          4  model                        █████████████████     8 ms  customer_history(customer: "C-7")"
    `)
  })
})

describe('a value', () => {
  it('is found where it first appeared, and in the requests it went into', async () => {
    const { out } = await debug(tapeFile(incidentEvents()), 'locate 2500')
    expect(out).toMatchInlineSnapshot(`
      "2500 appears first in step 5, which answers it
      step 5   answers /note  paid 2500 cents
      step 6   asks    /note  paid 2500 cents  as step 5 answered
      step 6   answers /0/refund/amount  2500
      step 7   asks    /amount  2500
      step 7   answers /refunded  2500
      step 8   asks     refund({"order_id":"A-100","amount":2500})  as step 6, 7 answered
      step 10  answers  I refunded 2500 EUR for order A-100.
      outcome          /answer  I refunded 2500 EUR for order A-100."
    `)
  })

  it('is the same as text and as number, and no part of a longer one', async () => {
    const { out } = await debug(tapeFile(incidentEvents()), 'locate 25; locate 250; locate "C-7"')
    expect(out).toMatchInlineSnapshot(`
      "25 appears first in step 2, which answers it
      step 2   answers /total  25
      step 4   asks    /total  25  as step 2 answered
      250 is nowhere in this run
      "C-7" appears first in step 4, which answers it
      step 4   answers /0/customer_history/customer  C-7
      step 5   asks    /customer  C-7
      step 5   answers /customer  C-7
      step 6   asks     customer_history({"customer":"C-7"})  as step 4, 5 answered
      step 8   answers /0/send_mail/to  C-7
      step 9   asks    /to  C-7
      step 9   answers /to  C-7
      step 10  asks     send_mail({"to":"C-7"})  as step 8, 9 answered"
    `)
  })

  it('is located by a command of its own, which ends with 1 where there is none', async () => {
    const file = tapeFile(incidentEvents())
    const { out, code } = await ask('locate', file, 'A-100', '--json')
    expect(JSON.parse(out)).toMatchObject({ value: 'A-100', first: { step: 0, where: 'input', path: 'text' } })
    expect(code).toBe(0)
    expect((await ask('locate', file, 'nowhere')).code).toBe(1)
  })
})

describe('for programs', () => {
  it('answers each command with one JSON value on one line', async () => {
    const [moved, seen, differs, wrong, context, noRule] = await debugJson(
      tapeFile(incidentEvents()),
      'goto 6; inspect; diff 4 6; goto 99; inspect context; break nevr refund()',
    )
    expect(moved).toMatchObject({ at: 6, step: 6, kind: 'model', call: 'refund(order_id: "A-100", amount: 2500)' })
    expect(seen).toMatchObject({
      step: 6,
      decided: [{ name: 'refund', args: { order_id: 'A-100', amount: 2500 } }],
      clock: { atMs: 23 },
      state: [{ name: 'plan', data: { turn: 2, checked: ['order'] }, beforeStep: 6 }],
      logprobs: [{ token: '2500', logprob: -0.1, others: [{ token: '25', logprob: -2.3 }] }],
    })
    expect(differs).toMatchObject({ from: 4, to: 6, context: { same: 5, gone: [], tokens: [264, 334] } })
    expect(wrong).toMatchObject({ error: 'there is no step 99: this tape has 1 to 10', code: 'HARVEST_DEBUG_STEP' })
    expect(context).toMatchObject({ step: 6, context: { step: 6, before: 4, tokens: 334 } })
    expect(noRule).toMatchObject({
      code: 'HARVEST_RULE_SYNTAX',
      detail: expect.stringContaining("did you mean 'never'?"),
    })
  })
})

describe('recorded text', () => {
  it('cannot move the cursor or speak to a CI runner, in any view', async () => {
    const evil = '\u001b[2J\u202e\n::error::now\n##[group]x'
    const events = incidentEvents().map((event) =>
      event.kind === 'tool'
        ? { ...event, name: `t${evil}`, args: { a: evil }, result: evil, site: evil }
        : event.kind === 'mark'
          ? { ...event, name: evil, data: evil }
          : event,
    )
    const { out } = await debug(
      tapeFile(events),
      'steps; goto 7; inspect; inspect args; inspect result; inspect state; diff 5 7; timeline; inspect context; last; inspect',
    )
    expect(out).not.toMatch(/[\u001b\u202e]|^\s*::error|##\[/m)
    const { out: json } = await debug(tapeFile(events), 'steps; goto 7; inspect', '--json')
    expect(json).not.toMatch(/[\u001b\u202e]|##\[/)
  })
})

describe('the way to a step', () => {
  it('parks before it was asked for, and passes the answers of its burst', () => {
    const steps = debugSteps(readTape(tapeFile(incidentEvents())))
    expect(wayTo(steps, 1)).toEqual({ step: 1, burst: 3, skip: 0, fence: 7 })
    // Two tools that were answered in one burst.
    expect(wayTo(steps, 2)).toEqual({ step: 2, park: 3, burst: 7, skip: 0, fence: 11 })
    expect(wayTo(steps, 3)).toEqual({ step: 3, park: 3, burst: 7, skip: 1, fence: 11 })
    expect(wayTo(steps, 10)?.fence).toBeUndefined()
  })

  it('holds the last piece of a stream, not its end: clients go on at the piece', () => {
    const [model, tool] = incidentEvents()
    if (model?.kind !== 'exchange' || model.response === undefined || tool?.kind !== 'tool')
      throw new Error('other events')
    // The connection ends while the tool is under way, in the millisecond in which the tool is answered.
    const streamed: TapeEvent = { ...model, response: { ...model.response, end: [6, 11] } }
    const steps = debugSteps(readTape(tapeFile([streamed, { ...tool, n: 5, at: 10, settled: [7, 11] }])))
    expect(wayTo(steps, 1)).toMatchObject({ burst: 3 })
    expect(wayTo(steps, 2)).toMatchObject({ park: 3, burst: 7, skip: 0 })
  })

  it('does not exist for a step without an answer', () => {
    const [model] = incidentEvents()
    const { response: _, ...open } = model as never as Record<string, unknown>
    expect(wayTo(debugSteps(readTape(tapeFile([open as never], { isTruncated: true }))), 1)).toBeUndefined()
  })
})

describe('lines', () => {
  it('are parted at semicolons outside of quotes and brackets', () => {
    expect(commandsIn('break refund(note ~ "a;b"); print f({ a: 1; }) ;; inspect')).toEqual([
      'break refund(note ~ "a;b")',
      'print f({ a: 1; })',
      'inspect',
    ])
  })

  it('end at a semicolon behind what is never closed, so that a typo spoils its own command alone', () => {
    expect(commandsIn('break refund(note = "a;b"; next; print f(1; 2)')).toEqual([
      'break refund(note = "a;b"',
      'next',
      'print f(1; 2)',
    ])
    expect(commandsIn(`what_if 6 We don't refund; inspect ((; back`)).toEqual([
      `what_if 6 We don't refund`,
      'inspect ((',
      'back',
    ])
  })

  it('take no longer for brackets that are never closed than for any other letter', () => {
    // Read once more for each, they would take hours.
    const line = '([{'.repeat(100_000)
    expect(commandsIn(`${line}; back`)).toEqual([line, 'back'])
  })

  it('hold a call as one word, blanks and quotes and all', () => {
    const call = 'refund(order_id="A-100", amount=25)'
    expect(changesIn(`3 ${call} 'result.note="a b"' --live`)).toEqual(['3', call, 'result.note="a b"', '--live'])
    expect(changesIn(`'pay(a, b)' ${call} We refund (as asked) x(`)).toEqual([
      'pay(a, b)',
      call,
      ...['We', 'refund', '(as', 'asked)', 'x('],
    ])
  })

  it('hold words as a shell reads them', () => {
    expect(wordsIn(String.raw`5 "result.note=\"\"" 'a b' c\ d`)).toEqual(['5', 'result.note=""', 'a b', 'c d'])
    expect(() => wordsIn('"open')).toThrow('not closed')
    const texts = fc.array(fc.oneof(fc.string({ unit: 'binary' }), fc.constantFrom("it's\n", '$x', '\\')), {
      maxLength: 4,
    })
    fc.assert(
      fc.property(texts, (words) => {
        expect(wordsIn(words.map(shellWord).join(' '))).toEqual(words)
      }),
    )
  })
})

describe('shares of tokens', () => {
  it('are whole and add up, for every total and every weights', () => {
    for (let total = 0; total < 40; total++)
      for (const weights of [[1], [1, 1, 1], [5, 0, 3], [0, 0], [7, 11, 13, 2]]) {
        const shares = shareOut(total, weights)
        expect(shares.reduce((sum, one) => sum + one, 0)).toBe(total)
        expect(shares.every((one) => Number.isInteger(one) && one >= 0)).toBe(true)
      }
  })
})
