/** A case with everything a case can say, to be changed for the worse or for the better. */
export const base = `case: refund-100x
agent: refund
tape: refund-100x.tape.jsonl
expect: pass
title: Never refunds more than the order value
tags: [golden]
match:
  trace: causal
  args: keys
  tools:
    refund: { args: exact }
    search: { args: [query, limit] }
drift: { headers: fail }
escapes: { allow: [socket db:5432] }
serve: canonical
tools: { run: [round, format] }
timeout: 5000
baseline:
  - lookup_order(order_id)
  - 'refund(amount: 25, order_id)'
  - - notify(to)
    - audit()
messages:
  - { from: lead, to: editor, body: draft }
  - { from: editor, to: lead, body: veto }
marks:
  - { name: planned }
rules:
  - never refund(amount > 500)
  - refund(order_id=$id) preceded by lookup_order(order_id=$id) within 5 steps
  - at most 1 refund() ok
outcome:
  refunded: 25
  items:
    - { sku: a, count: 2 }
oracle: ./src/oracle.ts#isRight
`
/** The case with parts of it replaced. */
export const edit = (...changes: readonly (readonly [string, string])[]): string =>
  changes.reduce((text, [from, to]) => {
    if (!text.includes(from)) throw new Error(`not in the case: ${from}`)
    return text.replace(from, () => to)
  }, base)
const approved = "approved: { reason: 'asks the bank first', by: Jane, at: '2026-03-04T05:06:07Z' }\n"

/** Cases that assert less than the base, and what a review says of each. */
export const planted: readonly (readonly [string, string])[] = [
  [edit(['expect: pass', 'expect: fail']), 'expect: pass → fail: it is green while it is wrong'],
  [edit(['trace: causal', 'trace: superset']), 'match.trace: causal → superset'],
  [edit(['trace: causal', 'trace: subset']), 'match.trace: causal → subset'],
  [edit(['trace: causal', 'trace: unordered']), 'match.trace: causal → unordered'],
  [edit(['  args: keys\n', '  args: ignore\n']), 'match.args: keys → ignore'],
  [edit(['  args: keys\n', '  args: superset\n']), 'match.args: keys → superset'],
  [edit(['refund: { args: exact }', 'refund: { args: ignore }']), 'match.tools.refund: exact → ignore'],
  [edit(['    refund: { args: exact }\n', '']), 'match.tools.refund: exact → keys'],
  [edit(['[query, limit]', '[query]']), 'match.tools.search: [query, limit] → [query]'],
  [edit(['search: {', 'audit: { args: ignore }\n    search: {']), 'match.tools.audit: keys → ignore'],
  [edit(['{ headers: fail }', '{ headers: report }']), 'drift.headers: fail → report'],
  [edit(['{ headers: fail }', '{ headers: fail, instructions: ignore }']), 'drift.instructions: unproven → ignore'],
  [edit(['drift: { headers: fail }\n', '']), 'drift.headers: fail → unproven'],
  [edit(['[socket db:5432]', '[socket db:5432, socket mail:25]']), 'escapes: allows socket mail:25'],
  [edit(['serve: canonical', 'serve: conversation']), 'serve: canonical → conversation'],
  [edit(['[round, format]', '[round]']), 'tools: the code of format is not run any more'],
  [edit(['timeout: 5000', 'timeout: 50000']), 'timeout: 5000 ms → 50000 ms'],
  [edit(['timeout: 5000\n', '']), 'timeout: 5000 ms → none'],
  [
    edit(['rules:\n', "states:\n  - { of: cart, call: 2, changes: [{ path: '' }] }\nrules:\n"]),
    'states: snapshot 2 of cart is not expected any more',
  ],
  [edit(['lookup_order(order_id)', 'lookup_order(*)']), 'baseline: lookup_order(order_id) → lookup_order(*)'],
  [edit(['- lookup_order(order_id)', "- '*'"]), 'baseline: lookup_order(order_id) → *'],
  [edit(['amount: 25', 'amount']), 'baseline: refund(amount: 25, order_id) → refund(amount, order_id)'],
  [
    edit(["'refund(amount: 25, order_id)'", "'refund(amount: 25)'"]),
    'baseline: refund(amount: 25, order_id) → refund(amount: 25)',
  ],
  [edit(['    - audit()\n', '']), 'baseline: audit() is no longer expected'],
  [
    edit([
      "  - lookup_order(order_id)\n  - 'refund(amount: 25, order_id)'\n",
      "  - - lookup_order(order_id)\n    - 'refund(amount: 25, order_id)'\n",
    ]),
    'baseline: the order of lookup_order and refund is not asserted any more',
  ],
  [base.replace(/baseline:\n(?: .*\n)+/, ''), 'baseline: not asserted any more'],
  [edit(['  - { from: editor, to: lead, body: veto }\n', '']), 'messages: 2 → 1'],
  [edit(['  - { name: planned }', '  []']), 'marks: 1 → 0'],
  [edit(['  - at most 1 refund() ok\n', '']), 'rules: removed: at most 1 refund() ok'],
  [edit(['amount > 500', 'amount > 5000']), 'rules: never refund(amount > 500) → never refund(amount > 5000)'],
  [edit(['    - { sku: a, count: 2 }', '    - { sku: a, count: "*" }']), 'outcome.items[0].count: 2 → *'],
  [edit(['  refunded: 25\n', '']), 'outcome.refunded: not asserted any more'],
  [base.replace(/outcome:\n(?: .*\n)+/, ''), 'outcome: not asserted any more'],
  [edit(['oracle: ./src/oracle.ts#isRight\n', '']), 'oracle: ./src/oracle.ts#isRight → none'],
  // Also where somebody approved it.
  [
    edit(['lookup_order(order_id)', 'lookup_order(*)']) + approved,
    'baseline: lookup_order(order_id) → lookup_order(*)',
  ],
]

/** Changes after which a case asserts no less than the base. */
export const good: readonly (readonly [string, string])[] = [
  [
    'another state is expected',
    edit(['rules:\n', 'states:\n  - { of: cart, changes: [{ path: /total, value: 20 }] }\nrules:\n']),
  ],
  ['nothing', base],
  ['a title', edit(['Never refunds more', 'It never refunds more'])],
  ['a tag', edit(['[golden]', '[golden, incident]'])],
  ['a lesson', `${base}lesson: { wrong: refunded 2500, right: refund 25 }\n`],
  ['pins', `${base}pins: { commit: 4f2a9c1, models: [gpt-5] }\n`],
  ['a comment', `# checked by hand\n${base}`],
  ['a stricter order', edit(['trace: causal', 'trace: strict'])],
  ['arguments compared whole', edit(['  args: keys\n', '  args: exact\n'])],
  ['one more tool compared whole', edit(['search: {', 'audit: { args: exact }\n    search: {'])],
  ['one more argument that counts', edit(['[query, limit]', '[query, limit, page]'])],
  ['all arguments that count', edit(['{ args: [query, limit] }', '{ args: exact }'])],
  ['a stricter policy', edit(['{ headers: fail }', '{ headers: fail, instructions: fail }'])],
  ['one policy for all that is stricter', edit(['{ headers: fail }', 'fail'])],
  ['one escape less', edit(['escapes: { allow: [socket db:5432] }\n', ''])],
  ['answers matched more closely', edit(['serve: canonical', 'serve: exact'])],
  ['more code that runs', edit(['{ run: [round, format] }', 'run'])],
  ['a shorter time', edit(['timeout: 5000', 'timeout: 2000'])],
  ['one more call', edit(['    - audit()\n', '    - audit()\n  - close()\n'])],
  ['one more argument', edit(['notify(to)', 'notify(to, body)'])],
  ['a value for an argument', edit(['notify(to)', '\'notify(to: "jane")\''])],
  ['more order', edit(['  - - notify(to)\n    - audit()\n', '  - notify(to)\n  - audit()\n'])],
  ['another order in one layer', edit(['  - - notify(to)\n    - audit()\n', '  - - audit()\n    - notify(to)\n'])],
  ['another value', edit(['amount: 25', 'amount: 30'], ['refunded: 25', 'refunded: 30']) + approved],
  ['another call that was approved', edit(['    - audit()\n', '    - log()\n']) + approved],
  ['a call that was approved to go', edit(['    - audit()\n', '']) + approved],
  ['another outcome that was approved', edit(['  refunded: 25\n', '  paid: 25\n']) + approved],
  ['one more message', edit(['body: veto }\n', 'body: veto }\n  - { from: lead, to: editor, body: final }\n'])],
  ['one more mark', edit(['  - { name: planned }', '  - { name: planned }\n  - { name: done }'])],
  ['one more rule', edit(['  - at most 1', '  - never delete_order()\n  - at most 1'])],
  [
    'a stricter rule',
    edit(['amount > 500', 'amount > 50'], ['within 5 steps', 'within 3 steps'], ['at most 1', 'at most 0']),
  ],
  [
    'rules in another order',
    edit(['  - never refund(amount > 500)\n', ''], ['() ok\n', '() ok\n  - never refund(amount > 500)\n']),
  ],
  ['a rule with spaces', edit(['never refund(amount > 500)', 'never refund( amount>500 )'])],
  ['more of the outcome', edit(['  refunded: 25\n', '  refunded: 25\n  currency: EUR\n'])],
  ['an oracle elsewhere', edit(['./src/oracle.ts#isRight', './src/judge.ts#isRight'])],
]
