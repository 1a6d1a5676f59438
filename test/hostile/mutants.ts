import type { CaseContent } from '../../src/cases/index.ts'
import { writeCase } from '../../src/cases/index.ts'
import { sealLine } from '../../src/tape/digest.ts'
import type { Json, TapeEvent } from '../../src/tape/index.ts'
import { mulberry32 } from '../recordings/mulberry32.ts'
import { call, exchange, type TapeParts, tapeText } from '../recordings/make.ts'

/** What stands in the inbox and in the golden set for one round of commands. */
export interface Mutant {
  readonly tape: Buffer
  readonly case: Buffer
}

type Choose = <T>(list: readonly T[]) => T

/** The mutant of a number: the same number gives the same bytes. */
export function mutantOf(seed: number): Mutant {
  const random = mulberry32(seed)
  const choose: Choose = (list) => list[Math.floor(random() * list.length)]!
  const isTape = random() < 0.75
  const tape = choose(tapes)
  return {
    tape: isTape ? mutatedTape(tape, random, choose) : Buffer.from(tape),
    case: isTape && random() < 0.7 ? Buffer.from(plainCase) : mutatedCase(random, choose),
  }
}

/** Most lines are sealed anew, as an attacker would: the digest is no signature. */
function mutatedTape(text: string, random: () => number, choose: Choose): Buffer {
  if (random() < 0.25) return torn(Buffer.from(text), random)
  const lines = text.trimEnd().split('\n')
  const items = lines.map((line) => JSON.parse(line) as Record<string, Json>)
  const times = 1 + Math.floor(random() * 3)
  for (let n = 0; n < times; n++) mutate(choose(items), random, choose)
  if (random() < 0.1) items.splice(Math.floor(random() * items.length), 1)
  if (random() < 0.1) items.splice(Math.floor(random() * items.length), 0, structuredClone(choose(items)))
  let digest = ''
  const sealed = items.map(({ '#': _, ...item }) => {
    const json = spelled(item, random)
    const made = sealLine(digest, json === '{}' ? '{"x":1}' : json)
    digest = made.digest
    return Buffer.from(made.bytes)
  })
  const whole = Buffer.concat(sealed)
  return random() < 0.1 ? torn(whole, random) : whole
}

/** JSON that not every reader reads alike. */
function spelled(item: Json, random: () => number): string {
  const json = JSON.stringify(item)
  const way = random()
  if (way < 0.05) return json.replace(/"(\w+)":/, '"$1":1,"$1":')
  if (way < 0.08) return json.replace(/\d{2,}/, '1e400')
  if (way < 0.11) return json.replace(/:\[/, `:${'['.repeat(300)}${']'.repeat(300)},"z":[`)
  return json
}

function mutatedCase(random: () => number, choose: Choose): Buffer {
  if (random() < 0.4) return torn(Buffer.from(plainCase), random)
  const value = structuredClone(caseContent) as Record<string, Json>
  mutate(value, random, choose)
  if (random() < 0.5) mutate(value, random, choose)
  // JSON is YAML as well.
  return Buffer.from(JSON.stringify(value, undefined, random() < 0.5 ? 0 : 2))
}

/** Bytes changed, cut, doubled or put in. */
function torn(bytes: Buffer, random: () => number): Buffer {
  const at = Math.floor(random() * bytes.length)
  const to = Math.min(bytes.length, at + Math.floor(random() * 200))
  const way = random()
  if (way < 0.2) return bytes.subarray(0, at)
  if (way < 0.4) return Buffer.concat([bytes.subarray(0, at), bytes.subarray(to)])
  if (way < 0.55) return Buffer.concat([bytes.subarray(0, to), bytes.subarray(at)])
  if (way < 0.7) return Buffer.concat([bytes, bytes.subarray(at, to)])
  const changed = Buffer.from(bytes)
  for (let n = 0; n < 1 + random() * 8; n++) changed[Math.floor(random() * changed.length)] = Math.floor(random() * 256)
  return changed
}

/** Replaces, removes or moves one value somewhere inside. */
function mutate(root: Record<string, Json>, random: () => number, choose: Choose): void {
  let at = root as Record<string, Json> | Json[]
  for (;;) {
    const keys = Object.keys(at)
    if (keys.length === 0) return
    const key = choose(keys)
    const value = (at as Record<string, Json>)[key]!
    if (typeof value === 'object' && value !== null && random() < 0.75) {
      at = value as Record<string, Json>
      continue
    }
    const way = random()
    if (way < 0.12) Reflect.deleteProperty(at, key)
    else if (way < 0.2 && typeof value === 'string') (at as Record<string, Json>)[key] = value.repeat(50)
    else if (way < 0.3) (at as Record<string, Json>)[key] = [value, value]
    else if (way < 0.36) (at as Record<string, Json>)[choose(names)] = value
    else (at as Record<string, Json>)[key] = structuredClone(choose(odd))
    return
  }
}

const names = ['like', 'head', 'tail', 'error', 'aborted', 'redact', 'imported', 'parent', 'in', 'asked', 'yields', 'n']

const deep = JSON.parse(`${'['.repeat(200)}${']'.repeat(200)}`) as Json

/** What a writer of tapes would never write. */
const odd: readonly Json[] = [
  null,
  true,
  '',
  0,
  -1,
  1.5,
  2 ** 31,
  2 ** 53,
  1e300,
  -1e300,
  [],
  {},
  deep,
  '__proto__',
  'constructor',
  '../../../canary',
  '/etc/passwd',
  'm.tape.jsonl',
  './m.tape.jsonl',
  '\u0000',
  '\u001b[2J\u202e',
  '\ud800',
  'x'.repeat(20_000),
  '(a+)+$',
  '2026-13-45T99:99:99Z',
  '-275000-01-01T00:00:00.000Z',
  'data:text/javascript,0',
  'gzip, br, zstd, deflate, gzip',
  'file:///etc/passwd',
  'http://[::1',
  'stdio:sh -c touch canary',
  '--output=canary',
  '$(touch canary)',
  [[1, 2, 3]],
  [['a', 'b']],
  [1, 1],
  { base64: '////' },
  { base64: 'not base64!' },
  { like: 1, head: 1e9, text: '', tail: 1 },
  { $type: 'Error' },
  { $type: 'regexp', source: '(', flags: 'zz' },
  { argv: ['sh', '-c', 'touch canary'], cwd: '.' },
  { argv: ['node', '-e', 'require("fs").writeFileSync("canary","")'], cwd: '../..' },
  { rules: [{ kind: 'x', pattern: '(a+)+$', flags: 'g' }] },
  { rules: [{ kind: 'x', pattern: '(', flags: 'g' }], keys: 7, headers: {}, off: 'x' },
  { id: 'm', file: 'm.tape.jsonl', digest: 'x', events: 0, keep: 0 },
  { id: 'p', file: '../../canary/secret', digest: 'x', events: 1, keep: 1 },
  { format: 'har', grade: 'timeline-only', missing: ['outcome', 'start'] },
]

const model = exchange(
  3,
  JSON.stringify({
    model: 'gpt-5',
    messages: [
      { role: 'system', content: 'Refund.' },
      { role: 'user', content: 'A-100 aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa!' },
    ],
    tools: [{ type: 'function', function: { name: 'lookup', parameters: {} } }],
  }),
  [
    JSON.stringify({
      id: 'c1',
      model: 'gpt-5',
      choices: [
        {
          index: 0,
          message: {
            role: 'assistant',
            content: null,
            tool_calls: [{ id: 't1', type: 'function', function: { name: 'lookup', arguments: '{"id":"A-100"}' } }],
          },
        },
      ],
      usage: { prompt_tokens: 10, completion_tokens: 5, prompt_tokens_details: { cached_tokens: 3 } },
    }),
  ],
)

const events: readonly TapeEvent[] = [
  {
    kind: 'draws',
    n: 1,
    at: 1,
    draws: [
      ['now', 'app', 1_770_000_000_000],
      ['random', 'app', 0.5],
    ],
  },
  model,
  { ...call(30, 'lookup', { id: 'A-100' }), result: { total: 25 }, site: 'src/agent.ts:3:4' },
  { ...call(33, 'search', { q: 'x' }), kind: 'retrieval', error: { name: 'Error', message: 'no' } },
  {
    ...exchange(40, '{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"lookup","arguments":{}}}', [
      '{"jsonrpc":"2.0","id":1,"result":{"content":[{"type":"text","text":"ok"}]}}\n',
    ]),
    via: 'stdio',
    method: 'tools/call',
    url: 'stdio:node server.js',
  },
  { kind: 'spawn', n: 70, at: 70, command: ['node', 'server.js'] },
  { kind: 'push', n: 71, at: 71, url: 'stdio:node server.js', text: '{"jsonrpc":"2.0","method":"x"}' },
  { kind: 'message', n: 72, at: 72, from: 'a', to: 'b', body: { x: 1 } },
  { kind: 'mark', n: 73, at: 73, name: 'paid', data: { x: [1] } },
]

const canaryCommand = { argv: ['sh', '-c', 'touch canary'], cwd: '.' }
const parts: readonly TapeParts[] = [
  { header: { id: 'm', input: { text: 'A-100' } }, events },
  {
    header: { id: 'm', command: canaryCommand },
    events: [events[0]!, events[2]!],
    close: { outcome: { status: 'exited', code: 0, stdout: 'x', stderr: '' } },
  },
  {
    header: { id: 'm', imported: { format: 'har', grade: 'replayable', missing: ['outcome'] } },
    events: [model],
    close: { outcome: { status: 'returned' }, timers: [['app', 50, 0, [[3, [[4, 4]]]]]] },
  },
  {
    header: { id: 'm', redact: { keys: ['pin'], rules: [{ kind: 'order', pattern: 'A-\\d+', flags: 'g' }] } },
    events,
    close: {
      kept: [{ because: 'cost', detail: 'x' }],
      retention: { class: 'flagged', until: '2020-03-04T05:06:07.089Z' },
      usage: { modelCalls: 1, inputTokens: 1, outputTokens: 1, costUsd: 0.1 },
    },
  },
]
const tapes: readonly string[] = parts.map((one) => tapeText(one))

/** A tape and a case nothing is wrong with, to compare mutants with. */
export const plainTape: string = tapes[0]!

const caseContent = {
  case: 'm',
  agent: 'refund',
  tape: 'm.tape.jsonl',
  expect: 'pass',
  title: 'Refunds',
  tags: ['incident'],
  lesson: { wrong: 'x', right: 'y' },
  pins: { commit: '4f2a9c1', models: ['gpt-5'], prompt: 'x', node: '24.0.0' },
  match: { trace: 'causal', args: 'keys', tools: { lookup: { args: ['id'] } } },
  drift: { params: 'report' },
  escapes: { allow: ['socket 127.0.0.1:1'] },
  serve: 'reworded',
  tools: { run: ['lookup'] },
  timeout: 2000,
  baseline: ['lookup(id)', ['search(q)']],
  messages: [{ from: 'a', to: 'b', body: { x: 1 } }],
  marks: [{ name: 'paid', data: { x: [1] } }],
  outcome: { refunded: 25 },
  oracle: './src/oracle.ts#isRight',
  approved: { reason: 'x', by: 'y', at: '2026-03-04' },
  accepted: [{ key: 'AAAAAAAAAAAAAAAA', what: 'instructions', was: 'a', now: 'b', words: 'c' }],
}

const plainCase = writeCase({ ...(caseContent as unknown as CaseContent), id: 'm' } as CaseContent, { schema: 'x' })
