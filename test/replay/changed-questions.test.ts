import { expect, test } from 'vitest'
import { changedQuestions, type Drift, unprovenError } from '../../src/replay/index.ts'

const change: Drift = {
  class: 'endpoint',
  policy: 'unproven',
  step: 3,
  stepNumber: 1,
  path: 'url',
  part: 'host of the model',
  recorded: 'https://api.openai.com',
  live: 'https://models.example',
  words: 'https://[-api.openai.com-] {+models.example+}',
  key: 'k'.repeat(16),
  was: 'sha256-a',
  now: 'sha256-b',
}

test('a model at another host is told with the line that makes both hosts one', () => {
  const { message } = unprovenError(changedQuestions([change]), { caseId: 'refund', tape: 'refund' })
  expect(message).toContain(
    `→ if both are the same service:  hosts: { 'https://api.openai.com': ['https://models.example'] } in harvest()`,
  )
})

test('another path at the same host has no such line', () => {
  const path = { recorded: 'https://api.openai.com/v1/chat', live: 'https://api.openai.com/v2/chat' }
  const { message } = unprovenError(changedQuestions([{ ...change, ...path }]), { tape: 'refund' })
  expect(message).not.toContain('hosts:')
})
