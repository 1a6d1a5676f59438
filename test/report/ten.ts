import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { globSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { basename, join } from 'node:path'
import { startShopProvider } from '../../fixtures/refund/provider.ts'
import { type Desk, openDesk } from '../cli/desk.ts'
import { warmRun as run } from '../cli/harvest.ts'
import { configFor, project } from '../cli/project.ts'
import { samples } from '../importers/samples.ts'
import { codingSession } from './coding-session.ts'

/** A run of each kind that a report is made of, and how each is named. */
export const tenRuns = [
  'incident',
  'desk-bad',
  'session',
  'branch',
  'replayable',
  're-drivable',
  'timeline-only',
  'cut',
  'red-case',
  'unproven-case',
] as const
export type TenRun = (typeof tenRuns)[number]

/** A project in which all ten were really made: recorded, blamed, forked, imported, killed, and turned red by Vitest. */
export interface TenRuns {
  readonly root: string
  readonly recordings: string
  /** Id of the branch that ended well. */
  readonly branch: string
  /** What `blame --json` and `fork --json` printed. */
  readonly printed: Readonly<Record<'blame' | 'fork', string>>
  remove(): void
}

/** Three agents: triage asks policy and billing, and refunds what billing says was paid. */
const deskAgents = `import { message, retriever, tools } from 'vitest-harvest/record'

const shop = tools({
  lookup_order: async ({ order_id }: { order_id: string }) => ({ order_id, paid_minor: 2500 }),
  refund: async ({ order_id, amount }: { order_id: string; amount: number }) => ({ refunded: amount }),
})
const policies = retriever('search_policy', async (query: string) => ['broken items are refunded in 30 days'])

async function model(model: string, messages: readonly object[], tools: readonly string[] = []): Promise<any> {
  for (;;) {
    const response = await fetch(process.env.DESK_URL + '/v1/chat/completions', {
      method: 'POST',
      headers: { 'content-type': 'application/json' },
      body: JSON.stringify({
        model,
        messages,
        ...(tools.length > 0 && { tools: tools.map((name) => ({ type: 'function', function: { name, parameters: { type: 'object' } } })) }),
      }),
    })
    if (response.status !== 429) return (await response.json()).choices[0].message
    await response.text()
  }
}

async function converse(name: string, messages: any[], tools: readonly string[]): Promise<string> {
  for (;;) {
    const said = await model(name, messages, tools)
    messages.push(said)
    if (said.tool_calls === undefined) return said.content
    for (const call of said.tool_calls) {
      const result = await shop[call.function.name as keyof typeof shop](JSON.parse(call.function.arguments) as never)
      messages.push({ role: 'tool', tool_call_id: call.id, content: JSON.stringify(result) })
    }
  }
}

async function askPolicy(question: string): Promise<string> {
  message('triage', 'policy', question)
  const passages = await policies(question)
  const answer = (await model('gpt-5-nano', [
    { role: 'system', content: 'You know the policy.' },
    { role: 'user', content: question + '\\n\\nPassages: ' + passages.join('; ') },
  ])).content
  message('policy', 'triage', answer)
  return answer
}

async function askBilling(question: string): Promise<string> {
  message('triage', 'billing', question)
  const answer = await converse('gpt-5-mini', [
    { role: 'system', content: 'You are the billing specialist. Tell amounts in EUR.' },
    { role: 'user', content: question },
  ], ['lookup_order'])
  message('billing', 'triage', answer)
  return answer
}

export async function deskAgent(ticket: { text: string }): Promise<{ answer: string }> {
  const messages: any[] = [
    { role: 'system', content: 'You are the triage agent. Answer the customer.' },
    { role: 'user', content: ticket.text },
  ]
  messages.push(await model('gpt-5', messages))
  const policy = await askPolicy('May a broken item be refunded in Germany?')
  const billing = await askBilling('What was paid for A-100?')
  messages.push({ role: 'user', content: 'policy: ' + policy + '\\nbilling: ' + billing })
  return { answer: await converse('gpt-5', messages, ['refund']) }
}
`

const record = `import { createRecorder } from 'vitest-harvest/record'
import { deskAgent } from './desk.ts'
import { refundAgent } from './refund-agent.ts'
const recorder = createRecorder()
const broken = { text: 'Please refund my order A-100, it arrived broken.' }
const cents = { text: 'Refund 25.00 EUR for order A-100, please.' }
await recorder.run({ agent: 'refund', id: 'incident', input: cents }, () => refundAgent(cents))
await recorder.run({ agent: 'refund', id: 'refunded', input: broken }, () => refundAgent(broken))
for (const id of ['desk-bad', 'desk-good', 'cut']) await recorder.run({ agent: 'desk', id, input: broken }, () => deskAgent(broken))
`

/** Makes the ten runs. */
export async function makeTenRuns(): Promise<TenRuns> {
  const root = project({
    'vitest.config.ts': configFor({ refund: './src/refund-agent.ts#refundAgent', desk: './src/desk.ts#deskAgent' }),
    'src/desk.ts': deskAgents,
    'src/record.ts': record,
    'src/refund-agent.ts': readFileSync('fixtures/refund/refund-agent.ts', 'utf8').replace(
      '../../src/record/index.ts',
      'vitest-harvest/record',
    ),
    'from/replayable.har': samples.har,
    'from/re-drivable.json': samples.nock,
    'from/timeline-only.har': samples.har.replace(/"text":/g, '"size_of":'),
    'from/session.jsonl': codingSession(391),
  })
  const recordings = join(root, 'recordings')
  const [shop, desk] = [await startShopProvider(), await openDesk(decide())]
  const env = { DESK_URL: desk.url, OPENAI_BASE_URL: shop.url, OPENAI_API_KEY: 'sk-not-a-key', CI: '' }
  const start = async (expected: number, program: string, ...args: readonly string[]): Promise<string> => {
    const { code, stdout, stderr } = await run(process.execPath, [join(root, program), ...args], { cwd: root, env })
    if (code !== expected) throw new Error(`${program} ${args.join(' ')} ended with ${code}: ${stdout}${stderr}`)
    return stdout
  }
  const harvest = (...args: readonly string[]): Promise<string> =>
    start(0, 'node_modules/vitest-harvest/dist/cli/main.js', ...args)
  try {
    await recordRuns(root, desk, env)
    const live = ['--cross-version', '--live', '--max-cost', '0.50', '--json']
    const blame = await harvest('blame', 'incident', '--ok', 'refund(amount: 25)', ...live)
    const fork = await harvest(
      'fork',
      'desk-bad',
      '--step',
      '7',
      '--ok',
      'refund(amount: 25)',
      '--runs',
      '3',
      '--tools',
      'live',
      '--save',
      ...live,
    )
    const { branches } = JSON.parse(fork) as { branches: readonly { grade: string; saved: string }[] }
    const branch = basename(branches.find(({ grade }) => grade === 'ok')?.saved ?? '', '.tape.jsonl')
    for (const file of globSync('from/*', { cwd: root })) await harvest('import', file, '--agent', 'elsewhere')
    await harvest('promote', 'refunded', '--as', 'red-case')
    await harvest('promote', 'desk-good', '--as', 'unproven-case')
    // A tool call of a turn is forgotten, and a question reads otherwise.
    edit(join(root, 'src/refund-agent.ts'), 'calls.map(runTool)', 'calls.slice(0, 1).map(runTool)')
    edit(join(root, 'src/desk.ts'), 'Tell amounts in EUR.', 'Say amounts in EUR.')
    await start(1, 'node_modules/vitest/vitest.mjs', 'run', '--reporter=json', '--outputFile=results.json')
    return {
      root,
      recordings,
      branch,
      printed: { blame, fork },
      remove: () => rmSync(root, { recursive: true, force: true }),
    }
  } finally {
    await Promise.all([shop.close(), desk.close()])
  }
}

/** The last of the runs is killed while it waits for its model. */
async function recordRuns(root: string, desk: Desk, env: Readonly<Record<string, string>>): Promise<void> {
  const child = spawn(process.execPath, ['src/record.ts'], {
    cwd: root,
    env: { ...process.env, ...env },
    stdio: ['ignore', 'ignore', 'inherit'],
  })
  const { decide } = desk
  let triaged = 0
  desk.decide = (messages, question) => {
    if (question.model === 'gpt-5' && messages.length === 2) triaged++
    if (triaged < 3 || question.model !== 'gpt-5-mini') return decide(messages, question)
    return void child.kill('SIGKILL')
  }
  await once(child, 'close')
  desk.decide = decide
}

/** What the models of the desk say: the first time policy is too busy, and every third time billing takes cents for euros. */
function decide(): Desk['decide'] {
  const asked = { policy: 0, billing: 0 }
  return (messages, { model }) => {
    const results = messages.filter(({ role }) => role === 'tool').length
    if (model === 'gpt-5-nano') return asked.policy++ === 0 ? { status: 429 } : 'Yes, within 30 days.'
    if (model === 'gpt-5-mini') {
      if (results === 0) return { tool: 'lookup_order', args: { order_id: 'A-100' } }
      const [amount, logprob] = asked.billing++ % 3 === 0 ? ['2500', Math.log(0.42)] : ['25.00', Math.log(0.9)]
      return {
        text: `Order A-100 was paid with ${amount} EUR.`,
        logprobs: [
          [amount, logprob],
          [' EUR', Math.log(0.99)],
        ],
      }
    }
    const told = messages.map(({ content }) => /paid with (\S+) EUR/.exec(String(content))?.[1]).find(Boolean)
    if (told === undefined) return 'I ask policy and billing.'
    if (results === 0) return { tool: 'refund', args: { order_id: 'A-100', amount: Number(told) } }
    return `I refunded ${Number(told)} EUR.`
  }
}

function edit(file: string, from: string, to: string): void {
  const text = readFileSync(file, 'utf8')
  if (!text.includes(from)) throw new Error(`${file} has no ${from}`)
  writeFileSync(file, text.replace(from, to))
}
