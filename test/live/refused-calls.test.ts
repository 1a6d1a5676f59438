import { expect, it } from 'vitest'
import { openBudget, usageOf } from '../../src/live/index.ts'
import type { ExchangeEvent } from '../../src/tape/index.ts'

const url = 'https://api.openai.com/v1/chat/completions'
const asked = JSON.stringify({ model: 'gpt-4o', messages: [{ role: 'user', content: 'x'.repeat(3_000) }] })

function call(status: number, body: object): ExchangeEvent {
  const response = { moment: [0, 0], status, headers: [], chunks: [[0, 0, JSON.stringify(body)]], end: [0, 0] }
  const request = { headers: [['content-type', 'application/json']], body: asked }
  return {
    kind: 'exchange',
    n: 0,
    at: 0,
    via: 'fetch',
    method: 'POST',
    url,
    request,
    response,
  } as unknown as ExchangeEvent
}

function spentBy(event: ExchangeEvent): number | undefined {
  const budget = openBudget({})
  budget.spent('gpt-4o', usageOf(event), { asked: asked.length, answered: 0 })
  return budget.total.costUsd
}

it('a call that its provider refused costs nothing, and one that does not say what it used is estimated', () => {
  for (const status of [401, 429, 500]) expect(spentBy(call(status, { error: { message: 'no' } })), `${status}`).toBe(0)
  const message = { role: 'assistant', content: 'Yes.' }
  expect(spentBy(call(200, { choices: [{ index: 0, message }] }))).toBeGreaterThan(0)
})
