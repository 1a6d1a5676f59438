import { readFileSync } from 'node:fs'
import { describe, expect, it } from 'vitest'
import { scratch, warmHarvest as harvest } from './harvest.ts'
import { recordRefund } from './tapes.ts'

describe('harvest show', () => {
  it('prints header, steps and outcome; nothing recorded can speak to the terminal or to CI', async () => {
    const tape = await recordRefund(scratch())
    const { code, stdout, stderr } = await harvest(['show', tape])
    expect(code).toBe(0)
    expect(
      stderr.replaceAll(tape, '<tape>'),
    ).toBe(`→ if it went right, a test: npx vitest-harvest promote <tape> --as '<id>'
→ if it went wrong, a test before it is fixed: npx vitest-harvest promote <tape> --as '<id>' --expect fail --ok '<right>'
  <right>: what would have been right: a call, lookup_order(…), or a value, refunded=…
`)
    expect(steady(stdout, tape)).toMatchInlineSnapshot(`
      "tape      refund-100x
      file      <file>
      agent     refund
      recorded  <when>, took <time>
      made by   vitest-harvest/0.1.0, node <version>
      commit    4f2a9c1
      models    invented-1
      usage     2 model calls, tokens unknown, cost unknown
      input     {"order":"A1","provider":"http://127.0.0.1:<port>"}
      steps     3 steps (2 model, 1 tool); draws: 1 now

      1 <time> <time>  model  invented-1  tokens unknown
         system   Be fair.
         user     Refund this order: A1
         said     Done.\\x1b[2J\\u202e
                  | \\x3a:error::forged
         calls    lookup_order(order: "A1")
      2 <time> <time>  tool   lookup_order
         args     ["A1"]
         result   {"order":"A1","value":25}
      3 <time> <time>  model  invented-1  tokens unknown
         prompt   system as in step 1
         user     A1 is worth 25. Refund?
         said     Done.\\x1b[2J\\u202e
                  | \\x3a:error::forged
         calls    lookup_order(order: "A1")

      outcome   returned {"refunded":25,"at":<now>,
                  "said":"Done.\\u001b[2J\\u202e\\n::error::forged"}
      "
    `)
    expect(stdout).not.toMatch(/\u001b|^\s*::/m)
  })

  it('--json holds the same, whole', async () => {
    const tape = await recordRefund(scratch())
    const { stdout } = await harvest(['show', tape, '--json'])
    expect(JSON.parse(stdout)).toMatchObject({
      tape,
      header: { agent: 'refund', pins: { commit: '4f2a9c1' } },
      steps: [
        {
          number: 1,
          kind: 'model',
          name: 'invented-1',
          asked: 'Refund this order: A1',
          toolCalls: ['lookup_order(order: "A1")'],
        },
        { number: 2, kind: 'tool', name: 'lookup_order', asked: '["A1"]', answer: '{"order":"A1","value":25}' },
        { number: 3, kind: 'model', answer: 'Done.\u001b[2J\u202e\n::error::forged' },
      ],
      close: { outcome: { status: 'returned', value: { refunded: 25 } } },
    })
    expect(stdout).not.toMatch(/[\u001b\u202e]/)
  })

  it('what is no tape is exit code 3, what is not there is 2', async () => {
    expect((await harvest(['show', 'package.json'])).code).toBe(3)
    expect((await harvest(['show', 'nowhere.tape.jsonl'])).code).toBe(2)
    expect(readFileSync('package.json', 'utf8')).toContain('vitest-harvest')
  })
})

/** Times, ports and the widths that hang on them. */
function steady(text: string, tape: string): string {
  return text
    .replace(tape, '<file>')
    .replace(/\d{4}-\d\d-\d\dT[\d:.]+Z/, '<when>')
    .replace(/ +\+?[\d.]+ m?s(?=\s)/g, ' <time>')
    .replace(/^ {12,}/gm, '            ')
    .replace(/node \d+\.\d+\.\d+/, 'node <version>')
    .replace(/127\.0\.0\.1:\d+/, '127.0.0.1:<port>')
    .replace(/"at":\d+/, '"at":<now>')
}
