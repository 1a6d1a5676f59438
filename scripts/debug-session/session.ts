/** What is typed. */
export const commands: readonly string[] = [
  'break refund(amount > 100)',
  'continue',
  'back',
  'inspect context',
  'diff 4 6',
  'what_if 5 result.note="" "result.note=paid 25 EUR"',
  'code',
  'print messages.at(-1).content',
  'print Date.now()',
  'next',
  'locals',
  'back',
  'back',
  'quit',
]

/** Members of the answers in JSON, by the number of the command from 0. */
export const jsonExpected: readonly (readonly [command: number, fields: object])[] = [
  [0, { breakpoint: 1, rule: 'refund(amount > 100)', hits: [7] }],
  [1, { at: 7, stopped: true, call: 'refund(order_id: "A-100", amount: 2500)' }],
  [2, { at: 6, kind: 'model' }],
  [3, { step: 6 }],
  [4, { from: 4, to: 6 }],
  [5, { step: 5, differs: null }],
  [6, { stopped: true, step: 6, place: { file: 'src/refund-agent.ts', line: 51, column: 32 }, in: 'ask' }],
  [7, { value: '{"customer":"C-7","refunds":1,"note":"paid 2500 cents"}' }],
  [8, { code: 'HARVEST_DEBUG_COMMAND' }],
  [9, { stopped: true, step: 6, moves: ['next'], place: { file: 'src/refund-agent.ts', line: 52, column: 15 } }],
  [11, { stopped: true, step: 6, moves: [] }],
  [12, { stopped: true, step: 5, in: 'runTool' }],
  [13, { quit: true }],
]

/** A case with the rule that the run breaks. */
export function addedRule(text: string): string {
  return `${text.trimEnd()}\nrules:\n  - never refund(amount > 100)\n`
}

/** What is printed, without times, colours, and the figures that are shared out by characters. */
export function wordsOf(text: string): readonly string[] {
  return (
    text
      // oxlint-disable-next-line no-control-regex
      .replaceAll(/\u001B\[[0-9;?]*[A-Za-z]/g, '')
      .replaceAll('\r', '')
      .replaceAll(/\d+(?:\.\d+)? m?s\b/g, '<time>')
      .replaceAll(/recorded \d{4}-\d\d-\d\d/g, 'recorded <day>')
      .replaceAll(/127\.0\.0\.1:\d+/g, '127.0.0.1:<port>')
      .replaceAll(/≈ *\d+/g, '≈ <n>')
      .split('\n')
      .map((line) => line.trimEnd())
      .filter((line) => line !== '')
  )
}

/** The lines that commands answer: without the opening and the prompts. */
export function answersOf(lines: readonly string[]): readonly string[] {
  const first = lines.findIndex((line) => line.startsWith('('))
  return lines.slice(first).filter((line) => !/^\(\d+\/\d+(?: code)?\)/.test(line) && !line.startsWith('exit code'))
}

/** What a terminal shows: the session of a reader, word for word. */
export const expected: readonly string[] = `refund  refund-100x   10 steps (5 model, 5 tool), <time>, recorded <day>
ended   returned {"answer":"I refunded 2500 EUR for order A-100."}
rules   1 broken: never refund(amount > 100)   first at step 7
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
goto N · back · forward · break RULE · continue · inspect · diff I J · code · what_if · help
(1/10) break refund(amount > 100)
breakpoint 1: 1 of 10 steps: 7
(1/10) continue
▶  7  tool   refund(order_id: "A-100", amount: 2500)          breakpoint 1
(7/10) back
▶  6  model  refund(order_id: "A-100", amount: 2500)
(6/10) inspect context
the model saw 7 messages, 334 tokens; 2 new
    system    ≈ <n>  Look the order up first. Never refund more than its total.
    user      ≈ <n>  Please refund my order A-100, it arrived broken.
    assistant ≈ <n>  lookup_order({"order_id":"A-100"}) refund_policy({"country":"DE"})
    tool      ≈ <n>  {"order_id":"A-100","total":25,"currency":"EUR"}            as step 2 answered
    tool      ≈ <n>  {"country":"DE","days":30}                                  as step 3 answered
  + assistant ≈ <n>  customer_history({"customer":"C-7"})
  + tool      ≈ <n>  {"customer":"C-7","refunds":1,"note":"paid 2500 cents"}     as step 5 answered
decided   refund(order_id: "A-100", amount: 2500)
(6/10) diff 4 6
context of 4 → 6: 5 messages the same, 0 gone, 2 new, 264 → 334 tokens
  + assistant customer_history({"customer":"C-7"})
  + tool      {"customer":"C-7","refunds":1,"note":"paid 2500 cents"}
(6/10) what_if 5 result.note="" "result.note=paid 25 EUR"
change                   as recorded  95 %  first difference
result.note=             not judged         HARVEST_NOT_RECORDED
result.note=paid 25 EUR  not judged         HARVEST_NOT_RECORDED
→ the tape does not hold what the model says then; to ask it: add --live to the line
(6/10) code
src/refund-agent.ts:51 in ask, called by refundAgent refund-agent.ts:34
  50    })
→ 51    const body = (await response.json()) as { choices: [{ message: Message }] }
  52    return body.choices[0].message
  messages = Array(7)   base = 'http://127.0.0.1:<port>'   response = Response
(6/10 code) print messages.at(-1).content
'{"customer":"C-7","refunds":1,"note":"paid 2500 cents"}'
(6/10 code) print Date.now()
that would read a recorded clock: \`clock\` prints it, \`call Date.now()\` does it all the same
(6/10 code) next
src/refund-agent.ts:52 in ask, called by refundAgent refund-agent.ts:34
  51    const body = (await response.json()) as { choices: [{ message: Message }] }
→ 52    return body.choices[0].message
  53  }
  messages = Array(7)   base = 'http://127.0.0.1:<port>'   response = Response   body = Object
(6/10 code) locals
  messages = Array(7)
  base = 'http://127.0.0.1:<port>'
  response = Response
  body = Object
(6/10 code) back
src/refund-agent.ts:51 in ask, called by refundAgent refund-agent.ts:34
  50    })
→ 51    const body = (await response.json()) as { choices: [{ message: Message }] }
  52    return body.choices[0].message
  messages = Array(7)   base = 'http://127.0.0.1:<port>'   response = Response
(6/10 code) back
src/refund-agent.ts:60 in runTool, called by refundAgent refund-agent.ts:39
  59    const result = await tool(args)
→ 60    return result
  61  }
  call = Object   tool = function call(...t){return wrapped({kin…   args = Object
  result = Object
(5/10 code) quit
exit code 0`.split('\n')
