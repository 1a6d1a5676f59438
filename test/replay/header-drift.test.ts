import { expect, test } from 'vitest'
import { headerDrift } from '../../src/replay/header-drift.ts'

test('a header that says what is asked for is drift when it changes, appears or goes', () => {
  const recorded = [
    ['anthropic-version', '2026-10-21'],
    ['openai-project', 'shop'],
  ] as const
  const live = [
    ['anthropic-version', '2027-01-01'],
    ['anthropic-beta', 'files'],
  ] as const
  expect(headerDrift(recorded, live)).toEqual([
    { class: 'headers', path: 'anthropic-beta', recorded: '(absent)', live: 'files' },
    { class: 'headers', path: 'anthropic-version', recorded: '2026-10-21', live: '2027-01-01' },
    { class: 'headers', path: 'openai-project', recorded: 'shop', live: '(absent)' },
  ])
})

test('headers that tell who asks are none', () => {
  const agent = (version: string) => [
    ['user-agent', `OpenAI/JS ${version}`] as const,
    ['x-stainless-os', version] as const,
  ]
  expect(headerDrift(agent('7.55.0'), agent('7.56.0'))).toEqual([])
})

test('a tape that kept no headers is not compared', () => {
  expect(headerDrift([], [['content-type', 'application/json']])).toEqual([])
})
