import { execFileSync } from 'node:child_process'
import { rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { type Decision, type Desk, type DeskQuestion, openDesk } from './desk.ts'
import { type Answered, warmRun as start } from './harvest.ts'
import { configFor, project } from './project.ts'
import { built } from '../support/built.ts'

type Messages = Parameters<Desk['decide']>[0]

/** One kind of fix: an agent with a bug, the same one fixed, and what its model says to either. */
export interface FixKind {
  readonly name: string
  /** Parts of the agent that the fix changes: what is there, and what comes in its place. */
  readonly edits: readonly (readonly [before: string, after: string])[]
  readonly decide: Desk['decide']
  /** What the fixed agent does. */
  readonly ok: readonly string[]
  /** Functions for tools that were not recorded. */
  readonly standIns?: string
}

/** An agent of a shop, with a place for each bug. Its order A-100 is worth 25. */
const agent = `import { tools } from 'vitest-harvest/record'

const shop = tools({
  lookup_order: async ({ order_id }: { order_id: string }) => ({ order_id, total: 25, currency: 'EUR' }),
  lookup_policy: async ({ order_id }: { order_id: string }) => ({ order_id, mayRefund: true }),
  refund: async ({ order_id, amount }: { order_id: string; amount: number }) => ({ order_id, refunded: amount }),
})
const prompt = 'You refund orders.'
const model = process.env.DESK_MODEL ?? 'gpt-4o-mini'
const schemas = [
  { name: 'lookup_order', description: 'Looks an order up' },
  { name: 'refund', description: 'Refunds an order; the amount is in cents' },
]

async function ask(messages: object[]) {
  const response = await fetch(process.env.DESK_URL + '/v1/chat/completions', {
    method: 'POST',
    headers: { 'content-type': 'application/json' },
    body: JSON.stringify({ model, messages, tools: schemas.map((one) => ({ type: 'function', function: one })) }),
  })
  if (!response.ok) throw new Error('the model answered with status ' + response.status)
  const { choices } = await response.json()
  return choices[0].message
}

export async function deskAgent(ticket: { text: string }) {
  const messages: any[] = [{ role: 'system', content: prompt }, { role: 'user', content: ticket.text }]
  for (let turn = 0; turn < 8; turn++) {
    const message = await ask(messages)
    messages.push(message)
    const calls = message.tool_calls ?? []
    if (calls.length === 0) return { answer: message.content }
    for (const call of calls.toReversed()) {
      const args = JSON.parse(call.function.arguments)
      const result = await shop[call.function.name as keyof typeof shop](args as never)
      messages.push({ role: 'tool', tool_call_id: call.id, content: JSON.stringify(result) })
    }
  }
  throw new Error('too many turns')
}
`

const lookUp = { tool: 'lookup_order', args: { order_id: 'A-100' } }
const lookUpPolicy = { tool: 'lookup_policy', args: { order_id: 'A-100' } }
const refund = (amount: unknown) => ({ tool: 'refund', args: { order_id: 'A-100', amount } })
const refundStandIn = 'export const refund = async ({ amount }: any) => ({ order_id: "A-100", refunded: amount })\n'

const says = (messages: Messages, text: string): boolean => JSON.stringify(messages).includes(text)

/** One of these after the other, then a text. */
function inTurn(messages: Messages, calls: readonly Decision[], text = 'It is refunded.'): Decision {
  return calls[messages.filter(({ role }) => role === 'tool').length] ?? text
}

const offers = ({ tools }: DeskQuestion, word: string): boolean => tools.join(' ').includes(word)

/** Looks the order up, refunds so much, says so. */
function refunds(amount: (messages: Messages, question: DeskQuestion) => number): Desk['decide'] {
  return (messages, question) => inTurn(messages, [lookUp, refund(amount(messages, question))])
}

/** Ten kinds of fixes; each fixed agent asks for what its incident did not. */
export const fixKinds: readonly FixKind[] = [
  {
    name: 'prompt',
    edits: [["'You refund orders.'", "'You refund orders. Never more than their total.'"]],
    decide: refunds((messages) => (says(messages, 'Never more') ? 25 : 2500)),
    ok: ['refund(amount: 25)'],
    standIns: refundStandIn,
  },
  {
    name: 'tool schema',
    edits: [['the amount is in cents', 'the amount is in euros']],
    decide: refunds((_, question) => (offers(question, 'euros') ? 25 : 2500)),
    ok: ['refund(amount: 25)'],
    standIns: refundStandIn,
  },
  {
    name: 'code of the loop',
    edits: [
      [
        '    if (calls.length === 0) return',
        `    if (calls.length === 0 && turn === 0) {
      messages.push({ role: 'user', content: 'Do it, please.' })
      continue
    }
    if (calls.length === 0) return`,
      ],
    ],
    decide: (messages) =>
      says(messages, 'Do it, please.') ? inTurn(messages, [lookUp, refund(25)]) : 'I shall look the order up.',
    ok: ['refund(amount: 25)'],
    standIns: `export const lookup_order = async () => ({ order_id: 'A-100', total: 25 })\n${refundStandIn}`,
  },
  {
    name: 'retry',
    edits: [
      ['  if (!response.ok) throw', '  if (response.status === 503) return ask(messages)\n  if (!response.ok) throw'],
    ],
    // It is overloaded once.
    decide: (() => {
      let asked = 0
      return (messages) => (++asked === 2 ? { status: 503 } : inTurn(messages, [lookUp, refund(25)]))
    })(),
    ok: ['refund(amount: 25)'],
    standIns: refundStandIn,
  },
  {
    name: 'parsing',
    edits: [
      [
        'const args = JSON.parse(call.function.arguments)',
        `const args = JSON.parse(call.function.arguments)
      if (typeof args.amount === 'string') args.amount = Number(args.amount.replace(',', '.'))`,
      ],
    ],
    decide: (messages) => inTurn(messages, [lookUp, refund('25,00')]),
    ok: ['refund(amount: 25)'],
    standIns: refundStandIn,
  },
  {
    name: 'guard before a tool',
    edits: [['const result = await', `const result = args.amount > 25 ? { error: 'more than its total' } : await`]],
    decide: (messages) =>
      says(messages, 'more than its total') ? 'I cannot refund that much.' : inTurn(messages, [lookUp, refund(2500)]),
    ok: ['answer~cannot'],
  },
  {
    name: 'other model',
    edits: [["'gpt-4o-mini'", "'gpt-4o'"]],
    decide: refunds((_, { model }) => (model === 'gpt-4o' ? 25 : 2500)),
    ok: ['refund(amount: 25)'],
    standIns: refundStandIn,
  },
  {
    name: 'order',
    edits: [['calls.toReversed()', 'calls']],
    // Both at once: the look at the order has to come first.
    decide: (messages) => {
      const [first] = messages.filter(({ role }) => role === 'tool')
      if (first === undefined) return [lookUp, refund(25)]
      return JSON.stringify(first).includes('total') ? 'It was looked up and refunded.' : 'It was refunded unseen.'
    },
    ok: ['answer~looked up'],
  },
  {
    name: 'a removed tool',
    edits: [["  { name: 'refund', description: 'Refunds an order; the amount is in cents' },\n", '']],
    decide: (messages, question) =>
      offers(question, 'refund')
        ? inTurn(messages, [lookUp, refund(2500)])
        : inTurn(messages, [lookUp], 'A person will refund it.'),
    ok: ['answer~person'],
  },
  {
    name: 'a new tool',
    edits: [
      [
        'const schemas = [\n',
        "const schemas = [\n  { name: 'lookup_policy', description: 'Says whether an order may be given back' },\n",
      ],
    ],
    decide: (messages, question) =>
      offers(question, 'lookup_policy')
        ? inTurn(messages, [lookUp, lookUpPolicy], 'The policy does not allow it.')
        : inTurn(messages, [lookUp, refund(2500)]),
    ok: ['lookup_policy(order_id: "A-100")'],
    standIns: 'export const lookup_policy = async () => ({ mayRefund: false })\n',
  },
]

/** A project with an incident of one kind, promoted and committed, and its agent fixed since. */
export interface FixProject {
  readonly cwd: string
  readonly desk: Desk
  harvest(...args: readonly string[]): Promise<Answered>
  git(...args: readonly string[]): string
  /** The agent with its bug again. */
  unfix(): void
  fix(): void
  close(): Promise<void>
}

const recordProgram = `import { createRecorder } from 'vitest-harvest/record'
import { deskAgent } from './desk.ts'
const recorder = createRecorder({ commit: process.argv[2] })
const ticket = { text: 'Refund A-100.' }
await recorder.run({ agent: 'desk', input: ticket }, () => deskAgent(ticket)).catch(() => undefined)
`

/** Records and promotes an incident with the wrong agent, then fixes the agent and leaves that uncommitted. */
export async function openFixProject(kind: FixKind): Promise<FixProject> {
  const desk = await openDesk(kind.decide)
  const cwd = project({
    'vitest.config.ts': configFor({ desk: './src/desk.ts#deskAgent' }),
    'src/desk.ts': agent,
    'src/record.ts': recordProgram,
    '.gitignore': 'node_modules\nrecordings/inbox\n',
    ...(kind.standIns === undefined ? {} : { 'test/tools.ts': kind.standIns }),
  })
  const env = { DESK_URL: desk.url, HARVEST_ALLOW_CI_UPDATE: '1' }
  const git = (...args: readonly string[]): string =>
    execFileSync('git', ['-c', 'user.name=a', '-c', 'user.email=a@b.c', ...args], { cwd, encoding: 'utf8' })
  const harvest = (...args: readonly string[]) => start(process.execPath, [built('cli/main.js'), ...args], { cwd, env })
  git('init', '--quiet')
  git('add', '-A')
  git('commit', '--quiet', '-m', 'the desk')
  const recorded = await start(process.execPath, ['src/record.ts', git('rev-parse', 'HEAD').trim()], { cwd, env })
  const promoted = await harvest(
    'promote',
    'latest',
    '--as',
    'incident',
    '--expect',
    'fail',
    '--lesson-wrong',
    'too much',
    '--unverified',
  )
  if (recorded.code !== 0 || promoted.code !== 0) throw new Error(`${recorded.stderr}${promoted.stderr}`)
  git('add', '-A')
  git('commit', '--quiet', '-m', 'the incident')
  const write = (text: string): void => writeFileSync(join(cwd, 'src/desk.ts'), text)
  const fixed = kind.edits.reduce((text, [before, after]) => {
    if (!text.includes(before)) throw new Error(`the agent of '${kind.name}' has no ${before}`)
    return text.replace(before, () => after)
  }, agent)
  write(fixed)
  return {
    cwd,
    desk,
    harvest,
    git,
    unfix: () => write(agent),
    fix: () => write(fixed),
    close: async () => {
      rmSync(cwd, { recursive: true, force: true })
      await desk.close()
    },
  }
}
