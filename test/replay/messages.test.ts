import { beforeAll, describe, expect, test } from 'vitest'
import { tool } from '../../src/record/index.ts'
import { installReplay, type ReplayOptions, replayTape } from '../../src/replay/index.ts'
import type { Tape } from '../../src/tape/index.ts'
import { chat, chatUrl, Recording, tapeOf } from './tapes.ts'

// What a person reads when a replay does not hold. Lines of this file are cut to `messages.test.ts:<line>`.
beforeAll(() => installReplay())

const soon = { hangMs: 500 } as ReplayOptions
const post = async (body: string, url = chatUrl): Promise<string> => (await fetch(url, { method: 'POST', body })).text()

async function problemOf(tape: Tape, agent: () => unknown, options: ReplayOptions = soon): Promise<string> {
  const { problems } = await replayTape(tape, agent, options)
  expect(problems).toHaveLength(1)
  return (problems[0]?.message ?? '').replaceAll(/messages\.test\.ts:\d+:\d+/g, 'messages.test.ts:<line>')
}

const refundTape = (): Tape =>
  tapeOf([{ body: chat('Look up order A-17'), answer: '{"paid":25}' }, { body: chat('Refund 25 to Greta Holm') }])

describe('a problem says what, where, against which recorded call, and what to do', () => {
  test('another question', async () => {
    const recorded = [{ body: chat('Look up order A-17') }, { url: 'https://shop.test/refunds', body: '{"amount":25}' }]
    const message = await problemOf(tapeOf(recorded), async () => {
      await post(chat('Look up order A-17'))
      await post('{"amount":250}', 'https://shop.test/refunds').catch(() => undefined)
    })
    expect(message).toMatchInlineSnapshot(`
      "No recorded response matches POST shop.test/refunds

        tape     refund
        step     2 of this replay (2 recorded)
        at       test/replay/messages.test.ts:<line>
        after    step 1, POST api.openai.com/v1/chat/completions
        nearest  step 2, POST shop.test/refunds

        differs at amount
        recorded  25
        now       250

      The nearest recorded request differs in content.
      → to see the recorded steps: npx vitest-harvest show refund
      → if the new behaviour is right: record the run again and promote the new tape
      (HARVEST_DIVERGENCE)"
    `)
  })

  test('a call of an address that is not on the tape', async () => {
    const message = await problemOf(refundTape(), () => fetch('https://mail.test/send?to=x', { method: 'PUT' }))
    expect(message).toMatchInlineSnapshot(`
      "The agent called PUT mail.test/send?to=x, which is not on the tape

        tape     refund
        step     1 of this replay (2 recorded)
        at       test/replay/messages.test.ts:<line>
        after    the start of the run
        nearest  step 1, POST api.openai.com/v1/chat/completions

      A replay has no network: only recorded requests are answered.
      → to see the recorded steps: npx vitest-harvest show refund
      → if the new behaviour is right: record the run again and promote the new tape
      (HARVEST_DIVERGENCE)"
    `)
  })

  test('any call, when the tape has none', async () => {
    expect(await problemOf(tapeOf([]), () => fetch('https://mail.test/send'))).toMatchInlineSnapshot(`
      "The agent called GET mail.test/send, which is not on the tape

        tape     refund
        step     1 of this replay (0 recorded)
        at       test/replay/messages.test.ts:<line>
        after    the start of the run
        nearest  none: the tape holds no exchange

      A replay has no network: only recorded requests are answered.
      → to see the recorded steps: npx vitest-harvest show refund
      → if the new behaviour is right: record the run again and promote the new tape
      (HARVEST_DIVERGENCE)"
    `)
  })

  test('one call more than recorded', async () => {
    const message = await problemOf(tapeOf([{ body: chat('dice') }]), async () => {
      await post(chat('dice'))
      await post(chat('dice'))
    })
    expect(message).toMatchInlineSnapshot(`
      "The agent made a request more often than recorded: POST api.openai.com/v1/chat/completions

        tape     refund
        step     2 of this replay (1 recorded)
        at       test/replay/messages.test.ts:<line>
        after    step 1, POST api.openai.com/v1/chat/completions
        nearest  step 1, POST api.openai.com/v1/chat/completions

      Every recorded answer to it was given: the agent takes more steps or repeats one.
      → to see the recorded steps: npx vitest-harvest show refund
      → if the new behaviour is right: record the run again and promote the new tape
      (HARVEST_TAPE_EXHAUSTED)"
    `)
  })

  test('a call that fits two recorded ones', async () => {
    const recording = new Recording()
    for (const words of ['Praise the sea and its ships', 'Check whether this contract is valid'])
      recording.exchange({ body: chat(words) })
    recording.atOnce(2)
    expect(
      await problemOf(recording.tape(), () => post(chat('Check if this contract is valid'))),
    ).toMatchInlineSnapshot(`
      "Several recorded conversations match POST api.openai.com/v1/chat/completions equally well

        tape         refund
        step         1 of this replay (2 recorded)
        at           test/replay/messages.test.ts:<line>
        after        the start of the run
        candidate 1  step 1, POST api.openai.com/v1/chat/completions
        candidate 2  step 2, POST api.openai.com/v1/chat/completions

      The request was changed, and a guess could serve the wrong answer.
      → if the new behaviour is right: record the run again and promote the new tape
      (HARVEST_AMBIGUOUS)"
    `)
  })

  test('an answer that calls a tool no longer offered', async () => {
    const tools = [{ type: 'function', function: { name: 'refund' } }]
    const call = { id: 'c', type: 'function', function: { name: 'refund', arguments: '{}' } }
    const answer = JSON.stringify({ choices: [{ message: { role: 'assistant', tool_calls: [call] } }] })
    expect(
      await problemOf(tapeOf([{ body: chat('go', { tools }), answer }]), () => post(chat('go'))),
    ).toMatchInlineSnapshot(`
      "The recorded answer to POST api.openai.com/v1/chat/completions calls the tool refund, which the agent no longer offers

        tape     refund
        step     1 of this replay (1 recorded)
        at       test/replay/messages.test.ts:<line>
        after    the start of the run
        nearest  step 1, POST api.openai.com/v1/chat/completions

      A model does not call a tool it is not offered, so the next steps were never recorded.
      → offer refund again
      → if the new behaviour is right: record the run again and promote the new tape
      (HARVEST_DIVERGENCE)"
    `)
  })

  test('a text that became empty or blank is seen', async () => {
    const differs = async (now: string): Promise<string> => {
      const message = await problemOf(tapeOf([{ body: '{"note":"paid"}' }]), () => post(JSON.stringify({ note: now })))
      return message
        .split('\n')
        .filter((line) => /recorded  |now  /.test(line))
        .join()
    }
    expect(await differs('')).toBe('  recorded  paid,  now       ""')
    expect(await differs('  ')).toBe('  recorded  paid,  now       "  "')
  })

  test('digits that no JavaScript number holds', async () => {
    const tape = tapeOf([{ body: '{"id":12345678901234567890}' }])
    expect(await problemOf(tape, () => post('{"id":12345678901234567891}'))).toMatchInlineSnapshot(`
      "No recorded response matches POST api.openai.com/v1/chat/completions

        tape     refund
        step     1 of this replay (1 recorded)
        at       test/replay/messages.test.ts:<line>
        after    the start of the run
        nearest  step 1, POST api.openai.com/v1/chat/completions

        differs at the body
        recorded  {"id":12345678901234567890}
        now       {"id":12345678901234567891}

      The nearest recorded request differs in content.
      → to see the recorded steps: npx vitest-harvest show refund
      → if the new behaviour is right: record the run again and promote the new tape
      (HARVEST_DIVERGENCE)"
    `)
  })

  test('a tool with other arguments, and a tool called too often', async () => {
    const refund = tool('refund', (_: { id: string; amount: number }) => 'ran')
    const recording = new Recording()
    recording.call('refund', { id: 'A-17', amount: 25 }, 'done', { sync: true })
    expect(await problemOf(recording.tape(), () => refund({ id: 'A-17', amount: 250 }))).toMatchInlineSnapshot(`
      "The agent called refund with arguments that are not on the tape

        tape      refund
        step      1 of this replay (1 recorded)
        at        test/replay/messages.test.ts:<line>
        after     the start of the run
        recorded  step 1, tool refund

        differs at amount
        recorded  25
        now       250

      The model's decision is recorded, so the agent's code changed the arguments.
      → to see the recorded steps: npx vitest-harvest show refund
      → if the new behaviour is right: record the run again and promote the new tape
      (HARVEST_DIVERGENCE)"
    `)
    const often = await problemOf(recording.tape(), () => [
      refund({ id: 'A-17', amount: 25 }),
      refund({ id: 'A-17', amount: 25 }),
    ])
    expect(often).toMatchInlineSnapshot(`
      "The agent called refund more often than recorded

        tape     refund
        step     2 of this replay (1 recorded)
        at       test/replay/messages.test.ts:<line>
        after    step 1, tool refund
        call     refund {"id":"A-17","amount":25}
        nearest  none left

      The tape has no result for this call.
      → to see the recorded steps: npx vitest-harvest show refund
      → if the new behaviour is right: record the run again and promote the new tape
      (HARVEST_TAPE_EXHAUSTED)"
    `)
    const refunds = tool('refunds', async (_: { id: string; amount: number }) => ({ ok: true }))
    expect(await problemOf(recording.tape(), () => refunds({ id: 'A-17', amount: 25 }))).toMatchInlineSnapshot(`
      "The agent called "refunds", which it never did when this run was recorded

        tape             refund
        step             1 of this replay (1 recorded)
        at               test/replay/messages.test.ts:<line>
        after            the start of the run
        call             refunds {"id":"A-17","amount":25}
        due on the tape  step 1, tool refund

      The tape has no result for this call.
      → if the function was only renamed: keep its recorded name, as tool(name, …)
      → to see the recorded steps: npx vitest-harvest show refund
      → if the new behaviour is right: record the run again and promote the new tape
      (HARVEST_TAPE_EXHAUSTED)"
    `)
  })

  test('steps in another order', async () => {
    const message = await problemOf(refundTape(), async () => {
      await post(chat('Refund 25 to Greta Holm'))
      await post(chat('Look up order A-17'))
    })
    expect(message).toMatchInlineSnapshot(`
      "The agent made its steps in another order: step 2 came before step 1, which it made later

        tape        refund
        step        1 of this replay (2 recorded)
        at          test/replay/messages.test.ts:<line>
        after       the start of the run
        made        step 2, POST api.openai.com/v1/chat/completions
        made later  step 1, POST api.openai.com/v1/chat/completions

      In the recording step 1 came first.
      → if the order matters: make step 1 first, and await it
      → to see the recorded order: npx vitest-harvest show refund
      → if the new behaviour is right: record the run again and promote the new tape
      (HARVEST_ORDER)"
    `)
  })

  describe('a step that was never asked is the cause, and is named before what came of it', () => {
    const get = async (url: string): Promise<string> => (await fetch(url)).text()
    const orders = (page: number): string => `https://shop.test/orders?page=${page}`
    const pages = (): Tape =>
      tapeOf([
        { body: chat('go') },
        { method: 'GET', url: orders(1), answer: '[1]' },
        { method: 'GET', url: orders(2), answer: '[2]' },
        { body: chat('found 1 and 2') },
        { body: chat('thanks') },
      ])

    test('another recorded step made instead', async () => {
      const message = await problemOf(pages(), async () => {
        await post(chat('go'))
        await get(orders(1))
        await post(chat('found 1 and 2'))
        await post(chat('thanks'))
      })
      expect(message).toMatchInlineSnapshot(`
        "The agent skipped step 3, GET shop.test/orders?page=2

          tape   refund
          step   3 of this replay (5 recorded)
          at     test/replay/messages.test.ts:<line>
          after  step 2, GET shop.test/orders?page=1

        Made instead: step 4, POST api.openai.com/v1/chat/completions

        The recorded steps after it were made with its answer.
        → if it is still needed: make step 3 before the steps that follow it
        → to see the recorded steps: npx vitest-harvest show refund
        → if the new behaviour is right: record the run again and promote the new tape
        (HARVEST_ORDER)"
      `)
    })

    test('the same step made later is a change of order', async () => {
      const message = await problemOf(pages(), async () => {
        await post(chat('go'))
        await get(orders(1))
        await post(chat('found 1 and 2'))
        await get(orders(2))
        await post(chat('thanks'))
      })
      expect(message).toContain('in another order: step 4 came before step 3, which it made later')
      expect(message).toContain('made later  step 3, GET shop.test/orders?page=2')
      expect(message).toContain('(HARVEST_ORDER)')
    })

    test('a call once more than recorded made instead', async () => {
      const message = await problemOf(pages(), async () => {
        await post(chat('go'))
        await get(orders(1))
        await get(orders(1)).catch(() => undefined)
        await post(chat('found 1 and 2'))
        await post(chat('thanks'))
      })
      expect(message).toContain('The agent skipped step 3, GET shop.test/orders?page=2')
      expect(message).toContain('Made instead: GET shop.test/orders?page=1 once more than recorded')
    })

    test('a model call left out, by the beginning of its system prompt or its last message', async () => {
      const system = (content: unknown): string =>
        JSON.stringify({
          model: 'm',
          messages: [
            { role: 'system', content },
            { role: 'user', content: 'go' },
          ],
        })
      const prompts = [
        [system('You guard\n\u001b[31m the desk. '.repeat(9)), /^Step 1 asked: "You guard.{1,90}"$/m],
        [system([{ type: 'text', text: 'You guard the desk' }]), /^Step 1 asked: "You guard the desk"$/m],
        [chat('is it safe?'), /^Step 1 asked: "is it safe\?"$/m],
      ] as const
      for (const [guarding, said] of prompts) {
        const recording = new Recording()
        recording.exchange({ body: guarding })
        recording.exchange({ body: chat('thanks for the refund') })
        recording.exchange({ body: chat('thanks again') })
        const message = await problemOf(recording.tape(), async () => {
          await post(chat('thanks for the refund'))
          await post(chat('thanks again'))
        })
        expect(message).toMatch(/^The agent skipped step 1, POST /)
        expect(message).toMatch(said)
        expect(message).not.toContain('\u001b')
      }
    })

    test('messages left out of a question, by how many and which', async () => {
      const asked = (...said: readonly string[]): string =>
        JSON.stringify({ model: 'm', messages: said.map((content) => ({ role: 'user', content })) })
      const recording = new Recording()
      recording.exchange({ body: asked('hello', 'it broke', 'on Monday', 'refund it') })
      const whenAsked = (...said: readonly string[]): Promise<string> =>
        problemOf(recording.tape(), () => post(asked(...said)), { strict: true })
      expect(await whenAsked('hello', 'refund it')).toContain(
        '\n  missing   2 of 4 messages: [1], [2]\n  differs at messages[1]',
      )
      expect(await whenAsked('hello', 'other')).toContain('\n  missing   2 of 4 messages\n')
      expect(await whenAsked('hello', 'it broke', 'on Sunday', 'refund it')).not.toContain('missing')
    })

    test('a tool left out, and a question without its answer', async () => {
      const recording = new Recording()
      recording.exchange({ body: chat('go') })
      recording.call('look', { id: 1 }, 'seen')
      recording.exchange({ body: chat('we have seen it') })
      const message = await problemOf(recording.tape(), async () => {
        await post(chat('go'))
        await post(chat('no idea')).catch(() => undefined)
      })
      expect(message).toMatchInlineSnapshot(`
        "The agent skipped step 2, tool look

          tape   refund
          step   2 of this replay (3 recorded)
          at     test/replay/messages.test.ts:<line>
          after  step 1, POST api.openai.com/v1/chat/completions

        Made instead: POST api.openai.com/v1/chat/completions, which is nearest to step 3, POST api.openai.com/v1/chat/completions

          differs at messages[0].content
          recorded  we have seen it
          now       no idea

        The recorded steps after it were made with its answer.
        → if it is still needed: make step 2 before the steps that follow it
        → to see the recorded steps: npx vitest-harvest show refund
        → if the new behaviour is right: record the run again and promote the new tape
        (HARVEST_DIVERGENCE)"
      `)
    })

    test('a repeat in front of a step that is made all the same is only that', async () => {
      const message = await problemOf(pages(), async () => {
        await post(chat('go'))
        await get(orders(1))
        await get(orders(1)).catch(() => undefined)
        await get(orders(2))
        await post(chat('found 1 and 2'))
        await post(chat('thanks'))
      })
      expect(message).toContain('The agent made a request more often than recorded: GET shop.test/orders?page=1')
      expect(message).toContain('(HARVEST_TAPE_EXHAUSTED)')
    })
  })

  test('another query', async () => {
    const invoices = 'https://shop.test/invoices?'
    const tape = tapeOf([{ method: 'GET', url: `${invoices}customer=C-7&month=2026-03&page=1` }])
    const message = await problemOf(tape, () => fetch(`${invoices}month=2026-03&page=1`))
    expect(message).toMatchInlineSnapshot(`
      "The agent asked GET shop.test/invoices with another query

        tape     refund
        step     1 of this replay (1 recorded)
        at       test/replay/messages.test.ts:<line>
        after    the start of the run
        nearest  step 1, GET shop.test/invoices?customer=C-7&month=2026-03&page=1
        changed  [-customer=C-7&-] month=2026-03&page=1

      The recorded answer is for the recorded query; for another one the service may answer something else.
      → restore the recorded query
      → to see the recorded steps: npx vitest-harvest show refund
      → if the new behaviour is right: record the run again and promote the new tape
      (HARVEST_DIVERGENCE)"
    `)
    // A page more than recorded is another call, not the recorded one changed.
    const more = await problemOf(tape, async () => {
      await (await fetch(`${invoices}customer=C-7&month=2026-03&page=1`)).text()
      await fetch(`${invoices}customer=C-7&month=2026-03&page=2`)
    })
    expect(more).toContain(
      'The agent called GET shop.test/invoices?customer=C-7&month=2026-03&page=2, which is not on the tape',
    )
  })

  test('steps left out', async () => {
    expect(await problemOf(refundTape(), () => 'nothing')).toMatchInlineSnapshot(`
      "The agent left out 2 recorded steps

        tape  refund

        - step 1, POST api.openai.com/v1/chat/completions
        - step 2, POST api.openai.com/v1/chat/completions

      The agent takes fewer steps than recorded.
      → to see the recorded steps: npx vitest-harvest show refund
      → if the new behaviour is right: record the run again and promote the new tape
      (HARVEST_UNUSED)"
    `)
  })

  test('something that went around the seam', async () => {
    const { connect } = await import('node:net')
    const message = await problemOf(tapeOf([]), () => {
      connect(5432, 'db.test').on('error', () => undefined)
    })
    expect(message).toMatchInlineSnapshot(`
      "Blocked real I/O during replay: socket db.test:5432

        tape   refund
        at     test/replay/messages.test.ts:<line>
        after  the start of the run

      The recorder cannot see it, so the tape has no answer for it.
      → wrap the function that does it in tool(), retriever() or value() from 'vitest-harvest/record', and record again
      → if a test may reach it: allow: ['socket db.test:5432']
      (HARVEST_ESCAPE)"
    `)
  })

  test('a child process', async () => {
    const { spawn } = await import('node:child_process')
    expect(await problemOf(tapeOf([]), () => spawn('psql', ['-c', 'select 1']))).toMatchInlineSnapshot(`
      "Blocked a child process that is not on the tape: psql -c select 1

        tape   refund
        at     test/replay/messages.test.ts:<line>
        after  the start of the run

      Only child processes that speak JSON over stdio, one message a line, can be replayed.
      → wrap the function that starts it in tool() or value() from 'vitest-harvest/record', and record again
      (HARVEST_ESCAPE)"
    `)
  })

  test('drift that may not be', async () => {
    const agent = () => post(chat('hi', { model: 'm-2' }))
    const message = await problemOf(tapeOf([{ body: chat('hi') }]), agent, { drift: { model: 'fail' } })
    expect(message).toMatchInlineSnapshot(`
      "The question to the model changed: model

        tape  refund
        step  1
        at    test/replay/messages.test.ts:<line>

        changed  [-m-1-] {+m-2+}

      The config or the case sets this class of drift to \`fail\`.
      → to see the recorded step: npx vitest-harvest show refund --step 1
      → if the new behaviour is right: record the run again and promote the new tape
      → if such a change is harmless: drift: { model: 'report' }
      (HARVEST_DRIFT)"
    `)
  })

  test('a clock that is read for ever', async () => {
    const message = await problemOf(tapeOf([]), () => {
      while (Date.now() > 0);
    })
    expect(message).toMatchInlineSnapshot(`
      "Busy loop: the agent polls the clock without yielding

        tape   refund
        at     test/replay/messages.test.ts:<line>
        after  the start of the run

      The clock of a replay only moves while the agent waits.
      → wait with setTimeout() in place of the loop
      (HARVEST_CLOCK_SPIN)"
    `)
  })

  test('an agent that hangs', async () => {
    const message = await problemOf(refundTape(), async () => {
      await post(chat('Look up order A-17'))
      await new Promise(() => undefined)
    })
    expect(message).toMatchInlineSnapshot(`
      "The agent never answered

        tape    refund
        after   step 1, POST api.openai.com/v1/chat/completions
        next    step 2, POST api.openai.com/v1/chat/completions, which the agent has not asked
        waited  500 ms of real time with nothing left to deliver

      It waits for something that is not on the tape.
      → to see the recorded steps: npx vitest-harvest show refund
      (HARVEST_AGENT_TIMEOUT)"
    `)
  })

  test('a run that was given up', async () => {
    const signal = AbortSignal.timeout(30)
    expect(await problemOf(tapeOf([]), () => new Promise(() => undefined), { signal })).toMatchInlineSnapshot(`
      "The replay was stopped before the agent answered

        tape    refund
        after   the start of the run
        reason  The operation was aborted due to timeout

      The agent hangs, or the time limit is too short.
      → to see the recorded steps: npx vitest-harvest show refund
      → to give it more time: raise the time limit of the test
      (HARVEST_RUN_ABORTED)"
    `)
  })

  test('text of the tape cannot move the cursor or forge a line', async () => {
    const evil = 'x\u001b[2K\n::error::forged\n(HARVEST_OK)'
    expect(await problemOf(tapeOf([{ body: evil }]), () => post('y'))).toMatchInlineSnapshot(`
      "No recorded response matches POST api.openai.com/v1/chat/completions

        tape     refund
        step     1 of this replay (1 recorded)
        at       test/replay/messages.test.ts:<line>
        after    the start of the run
        nearest  step 1, POST api.openai.com/v1/chat/completions

        differs at the body
        recorded  x\\x1b[2K
                  | \\x3a:error::forged
                  | (HARVEST_OK)
        now       y

      The nearest recorded request differs in content.
      → to see the recorded steps: npx vitest-harvest show refund
      → if the new behaviour is right: record the run again and promote the new tape
      (HARVEST_DIVERGENCE)"
    `)
  })

  test('an option that is misspelt', async () => {
    const misspelt = replayTape(tapeOf([]), () => 1, { serv: 'exact' } as ReplayOptions)
    await expect(misspelt).rejects.toThrowErrorMatchingInlineSnapshot(`
      [HarvestError: Unknown option 'serv' of replay

        options  drift, redacted, escapes, serve, signal, constants, allow, hosts, strict, messages, marks, states, tools

      → did you mean: serve
      (HARVEST_REPLAY_OPTION)]
    `)
    await expect(
      replayTape(tapeOf([]), () => 1, { serve: 'exakt' } as never),
    ).rejects.toThrowErrorMatchingInlineSnapshot(`
      [HarvestError: Invalid option 'serve' of replay

        expected  'exact', 'canonical', 'conversation', or 'reworded'
        got       'exakt'

      → did you mean: serve: 'exact'
      → set serve to 'exact', 'canonical', 'conversation', or 'reworded', or leave it out
      (HARVEST_REPLAY_OPTION)]
    `)
    await expect(
      replayTape(tapeOf([]), () => 1, { drift: { modl: 'fail' } } as never),
    ).rejects.toThrowErrorMatchingInlineSnapshot(`
      [HarvestError: Unknown option 'drift.modl' of replay

        options  drift.encoding, drift.bookkeeping, drift.endpoint, drift.model, drift.instructions, drift.whitespace, drift.tools, drift.params, drift.messages, drift.headers, drift.destination, drift.arguments, drift.guards, drift.credentials, drift.agentMessages, drift.marks, drift.states, drift.results, drift.redacted, drift.timers, drift.awaits, drift.functions

      → did you mean: drift.model
      (HARVEST_REPLAY_OPTION)]
    `)
  })
})
