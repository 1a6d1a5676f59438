import { type CaseContent, parseCase } from '../../src/cases/index.ts'
import { HarvestError } from '../../src/errors/index.ts'

/** The four fields every case has. */
export const head = ['case: refund-100x', 'agent: refund', 'tape: refund-100x.tape.jsonl', 'expect: pass', ''].join(
  '\n',
)

/** A case with every field, as a person might write it. */
export const full = `# why this case exists: ticket of 3 March
case: refund-100x
agent: refund
tape: refund-100x.tape.jsonl
expect: pass
title: Never refunds more than the order value
tags: [golden, incident]
lesson: { wrong: "refunded 2500", right: "refund 25" }
pins: { commit: 4f2a9c1, dirty: false, models: [claude-x], prompt: sha256-aa, tools: sha256-bb, node: 24.21.0 }
match: { trace: causal, args: keys, tools: { search: { args: [query] }, lookup_order: exact } }
drift: { messages: fail, headers: ignore }
escapes: { allow: [socket 127.0.0.1:5432] }
serve: reworded
tools: { run: [refund] }
timeout: 20000
baseline:
  - lookup_order(order_id)
  - [audit(*), notify(channel)]   # at once
  - refund(amount, order_id)
messages:
  - { from: planner, to: worker, body: { order: A-100, amount: 25 } }
marks: [{ name: planned, data: [1, null] }, { name: done }]
states: [{ of: cart, call: 2, in: 4, changes: [{ path: /total, value: 25 }, { path: /note }] }]
rules:
  - 'never refund(amount: $a) where $a > 500'
outcome: { refunded: 25, note: null }
oracle: ./src/oracle.ts#isRight
approved: { reason: "limit is per order", by: "Kim", at: 2026-11-20T10:00:00Z }
`

/** The message of the error a call throws; fails when it throws none, or not one of ours. */
export function messageOf(call: () => unknown): string {
  return errorOf(call).message
}

/** The error a call throws; fails when it throws none, or not one of ours. */
export function errorOf(call: () => unknown): HarvestError {
  let result: unknown
  try {
    result = call()
  } catch (error) {
    if (HarvestError.is(error)) return error
    throw error
  }
  throw new Error(`nothing was thrown, but returned: ${JSON.stringify(result)}`)
}

/** What a case says, without what reading it adds. */
export function contentOf(text: string): CaseContent {
  return without(parseCase(text, 'a'), 'file', 'lines', 'expected')
}

/** An object without some of its keys. */
export function without<T extends object, Name extends keyof T>(value: T, ...names: readonly Name[]): Omit<T, Name> {
  return Object.fromEntries(Object.entries(value).filter(([key]) => !names.includes(key as Name))) as Omit<T, Name>
}
