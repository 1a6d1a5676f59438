import { expect, test } from 'vitest'
import { changedParts } from '../../src/match/question-parts.ts'
import type { ModelRequest } from '../../src/providers/index.ts'
import { Changes } from '../../src/replay/change.ts'
import { changedQuestions, type Drift, unprovenError } from '../../src/replay/index.ts'
import type { Tape } from '../../src/tape/index.ts'

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

test('the policy that excludes changes is one for each class of them, conversation and all', () => {
  const changes: readonly Drift[] = [
    change,
    { ...change, class: 'instructions', part: 'system prompt', key: 'l'.repeat(16) },
    { ...change, class: 'instructions', part: 'prompt', key: 'm'.repeat(16) },
    { ...change, class: 'messages', part: 'message 2', key: 'n'.repeat(16) },
  ]
  const { message } = unprovenError(changedQuestions(changes), { tape: 'refund' })
  expect(message).toContain(
    "→ to exclude such changes from the verdict:  drift: { endpoint: 'report', instructions: 'report', messages: 'report' }\n",
  )
})

test('changes stand in the order they were asked, so that a change that quotes another one comes behind it', () => {
  const of = (key: string, stepNumber: number, isData?: true): Drift => ({
    ...change,
    class: isData ? 'messages' : 'instructions',
    part: isData ? 'user message' : 'system prompt',
    key,
    stepNumber,
    ...(isData && { isData }),
  })
  // Found in the order of a run in which steps changed places.
  const found = changedQuestions([of('quote', 9, true), of('prompt', 6), of('prompt', 3), of('prompt', 8)])
  expect(found.map(({ key }) => key)).toEqual(['prompt', 'quote'])
  const { message } = unprovenError(found, { tape: 'refund' })
  expect(message).toMatch(/^2 questions changed \(system prompt, user message\)/)
  expect(message).toMatch(/changed {2}system prompt.*\n {2}changed {2}user message/)
  expect(message).toContain('if you looked and it is meant:  npx vitest-harvest accept --change prompt --change quote')
})

test('of many changes those of data are among the shown ones, and the command says that it accepts no others', () => {
  const many = Array.from({ length: 7 }, (_, i): Drift => ({ ...change, key: `k${i}`, stepNumber: i + 1 }))
  const { message } = unprovenError(
    changedQuestions([...many, { ...change, key: 'data', stepNumber: 8, isData: true }]),
    {
      tape: 'refund',
    },
  )
  expect(message).toContain(
    'if you looked and what is shown is meant:  npx vitest-harvest accept --change k0 --change k1 --change k2 --change k3 --change data --reason',
  )
  expect(message).toContain('… and 3 more changes')
})

test('a tape by itself leads to a case; that of a program, and one without its end, cannot be one', () => {
  const header = { id: 'run', agent: 'desk' } as Tape['header']
  const close = { outcome: { status: 'returned', value: 1 } } as NonNullable<Tape['close']>
  const steps = (bare: Pick<Tape, 'header' | 'close'>): readonly string[] =>
    unprovenError(changedQuestions([change]), { tape: 'run', bare }).facts.fix ?? []
  const accept = 'accept the change there: npx vitest-harvest accept \'<id>\' --reason "…"'
  const promote = "npx vitest-harvest promote run --as '<id>'"
  expect(steps({ header, close }).slice(0, 3)).toEqual([
    `if it went wrong, make it a case: ${promote} --expect fail --unverified`,
    `if it went right, make it a case: ${promote} --unverified`,
    accept,
  ])
  const threw = { outcome: { status: 'threw', error: 1 } } as NonNullable<Tape['close']>
  expect(steps({ header, close: threw })[0]).toBe(`make it a case: ${promote} --expect fail --unverified`)
  const unknown = { outcome: { status: 'unknown' } } as NonNullable<Tape['close']>
  expect(steps({ header, close: unknown })[1]).toContain(`${promote} --baseline --unverified`)
  const program = { ...header, command: { argv: ['node', 'run.js'], cwd: '.' } } as Tape['header']
  for (const bare of [{ header: program, close }, { header }, { header, close: { ...close, incomplete: 'disk full' } }])
    expect(steps(bare)).toContain('if you looked and it is meant, record the run again')
  expect(steps({ header: program, close }).join()).not.toContain("'report'")
})

test('another path at the same host has no such line', () => {
  const path = { recorded: 'https://api.openai.com/v1/chat', live: 'https://api.openai.com/v2/chat' }
  const { message } = unprovenError(changedQuestions([{ ...change, ...path }]), { tape: 'refund' })
  expect(message).not.toContain('hosts:')
})

test('a changed tool says where in it, by its name', () => {
  const tool = (name: string, description: string, type = 'string') => ({
    name,
    description,
    input_schema: { type: 'object', properties: { phone: { type } } },
  })
  const asked = (...tools: readonly ReturnType<typeof tool>[]): ModelRequest => ({
    dialect: 'anthropic',
    model: 'm',
    instructions: [],
    messages: [],
    tools,
    params: {},
  })
  const words = (before: ModelRequest, now: ModelRequest) =>
    changedParts(before, now, ['/v1/messages', '/v1/messages']).map(
      (found) => new Changes('a').drift({ n: 1, number: 1 }, found, 'unproven', undefined).words,
    )
  const [find, pay] = [tool('find_customer', 'Find'), tool('pay', 'Pay')]
  expect(words(asked(find, pay), asked(tool('find_customer', 'Find', 'number'), pay))).toEqual([
    'tools[find_customer].input_schema.properties.phone.type: [-string-] {+number+}',
  ])
  expect(words(asked(find, pay), asked(pay, find))[0]).toBe('tool find_customer moved from place 1 to 2')
  expect(words(asked(find, pay), asked(tool('find_customer', 'Look'), tool('pay', 'Give')))[0]).toMatch(
    /^find_customer\.description: .*; pay\.description: /,
  )
})

test('a field of a message that is no text says where in the message it is, also alone', () => {
  const told = (more: object): ModelRequest => ({
    dialect: 'anthropic',
    model: 'm',
    instructions: [],
    messages: [{ role: 'user', content: [{ type: 'tool_result', tool_use_id: 'c', content: 'no', ...more }] }],
    tools: [],
    params: {},
  })
  const words = (before: object, now: object) =>
    changedParts(told(before), told(now), ['/v1/messages', '/v1/messages']).map(
      (found) => new Changes('a').drift({ n: 1, number: 1 }, found, 'unproven', undefined).words,
    )
  expect(words({ is_error: true }, {})).toEqual(['content[0].is_error: [-true-] {+(absent)+}'])
  expect(words({}, { content: 'yes' })).toEqual(['[-no-] {+yes+}'])
})

test.each([
  ['removed', ['look', 'pay'], ['look'], 'tool pay removed'],
  ['added', ['look'], ['look', 'pay'], 'tool pay added'],
  ['moved', ['look', 'pay', 'ask'], ['ask', 'look', 'pay'], 'tool ask moved from place 3 to 1'],
  ['renamed', ['look', 'pay'], ['look', 'refund'], 'tool pay removed; tool refund added'],
  ['the last one', ['look'], [], 'tool look removed'],
])('a tool of a list that is %s is told by its name', (_, before, now, words) => {
  const change = new Changes('desk')
  const found = changedParts(asked(before), asked(now), ['https://a.test', 'https://a.test'])
  expect(found.map((one) => change.drift({ n: 0, number: 1 }, one, 'unproven', undefined).words)).toEqual([words])
})

test('a tool that changed in a list with another order is told with both', () => {
  const [before, now] = [asked(['look', 'pay']), asked(['pay', 'look'], { pay: 'pays at once' })]
  const [found] = changedParts(before, now, ['https://a.test', 'https://a.test'])
  const { words } = new Changes('desk').drift({ n: 0, number: 1 }, found!, 'unproven', undefined)
  expect(words).toMatch(
    /^tool \w+ moved from place \d to \d; tools\[pay\]\.function\.description: pays \{\+at once\+\}$/,
  )
})

test('tools without names of their own are told as they are', () => {
  const of = (types: readonly string[]): ModelRequest => ({ ...asked([]), tools: types.map((type) => ({ type })) })
  const [found] = changedParts(of(['search', 'search']), of(['search']), ['https://a.test', 'https://a.test'])
  expect(new Changes('desk').drift({ n: 0, number: 1 }, found!, 'unproven', undefined).words).toContain('[-')
})

function asked(names: readonly string[], descriptions: Readonly<Record<string, string>> = {}): ModelRequest {
  return {
    dialect: 'openai-chat',
    model: 'gpt-5',
    instructions: [],
    messages: [],
    params: {},
    tools: names.map((name) => ({ type: 'function', function: { name, description: descriptions[name] ?? 'pays' } })),
  }
}
