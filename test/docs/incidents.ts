import { execFileSync } from 'node:child_process'
import { mkdirSync, readFileSync, symlinkSync, writeFileSync } from 'node:fs'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { dirname, join } from 'node:path'
import { expect } from 'vitest'
import { run } from '../../scripts/walkthrough.ts'
import { warmLine } from '../support/warm-line.ts'

/** A service that refunds orders, with three bugs: it loses a comma, sends texts of any length, and looks up for ever. */
const agent = `import OpenAI from 'openai'
import { runSignal, tools } from 'vitest-harvest/record'

const shop = tools({
  lookup_order: async ({ order_id }: { order_id: string }) =>
    order_id === 'LOST' ? { error: 'not there yet' } : { order_id, total: 25 },
  refund: async ({ order_id, amount }: { order_id: string; amount: number }) => ({ order_id, refunded: amount }),
})

export async function refundAgent(ticket: { text: string }) {
  const client = new OpenAI({ maxRetries: 0 })
  const messages: any[] = [{ role: 'user', content: ticket.text }]
  for (let turn = 0; ; turn++) {
    const { choices } = await client.chat.completions.create({ model: 'gpt-4o', messages }, { signal: runSignal() })
    const message = choices[0]!.message
    messages.push(message)
    const [call] = message.tool_calls ?? []
    if (call?.type !== 'function') return { answer: message.content }
    const { order_id, amount = '' } = JSON.parse(call.function.arguments)
    const args = amount === '' ? { order_id } : { order_id, amount: Number(amount.replace(/\\D/g, '')) }
    const result = await shop[call.function.name as keyof typeof shop](args as never)
    messages.push({ role: 'tool', tool_call_id: call.id, content: JSON.stringify(result) })
  }
}
`

const service = `import { createRecorder } from 'vitest-harvest/record'
import { refundAgent } from './refund.ts'

const recorder = createRecorder({ commit: process.argv[2], budget: { calls: { soft: 6, hard: 8 } } })
for (let n = 1; n <= 60; n++) {
  const text = n === 31 ? 'Refund A-31. ' + 'It broke. '.repeat(60) : n === 44 ? 'Refund LOST.' : n === 17 ? 'Refund A-17, 25,00.' : 'Refund A-' + n
  await recorder.run({ agent: 'refund', id: 'ticket-' + n, input: { text } }, () => refundAgent({ text })).catch(() => undefined)
}
`

const files = {
  'package.json': '{ "type": "module" }\n',
  '.gitignore': 'node_modules\nrecordings/inbox\n.harvest\n.vitest\n',
  'vitest.config.ts': `import { defineConfig } from 'vitest/config'
import { harvest } from 'vitest-harvest/plugin'
export default defineConfig({ plugins: [harvest({ agents: { refund: './src/refund.ts#refundAgent' } })] })
`,
  'src/refund.ts': agent,
  'src/service.ts': service,
  'test/tools.ts': `export const lookup_order = async ({ order_id }: any) => ({ order_id, total: 25 })
export const refund = async ({ order_id, amount }: any) => ({ order_id, refunded: amount })
`,
}

/** What people know and do: the words of the complaint, what is right, the bug; and which of the printed steps they take. */
interface Incident {
  readonly filled: Readonly<Record<'id' | 'words' | 'right', string>>
  readonly bug: readonly [before: string, after: string]
  /** What is said of each step that is taken, from the list of all runs to the case. */
  readonly toCase: readonly string[]
  /** From the case to the fix that is to be made. */
  readonly toFix: readonly string[]
  /** From the fixed agent to the case that is written; all but the last end with 1. */
  readonly toGreen: readonly string[]
}

const incidents: readonly Incident[] = [
  {
    filled: { id: 'comma', words: 'A-17', right: 'refund(amount: 25)' },
    bug: [String.raw`Number(amount.replace(/\D/g, ''))`, "Number(amount.replace(',', '.'))"],
    toCase: ['to find one by its words', 'to read it', 'if it went wrong, a test before it is fixed'],
    toFix: ['to see which step decided', 'to ask the models', 'when the agent is fixed'],
    toGreen: ['to ask them with your own functions', 'to write it'],
  },
  {
    filled: { id: 'long', words: '', right: '' },
    bug: ['content: ticket.text }', 'content: ticket.text.slice(0, 200) }'],
    toCase: ['to see those that failed', 'to read one', 'to make it a test, before it is fixed'],
    toFix: ['to see which step decided', 'to ask the models', 'when the agent is fixed'],
    toGreen: ['to ask them', 'to answer its new calls with your own functions', 'to write it'],
  },
  {
    filled: { id: 'lost', words: 'LOST', right: '' },
    bug: [
      "    messages.push({ role: 'tool', tool_call_id: call.id",
      "    if (turn > 1 && 'error' in result) return { answer: 'A person will look.' }\n    messages.push({ role: 'tool', tool_call_id: call.id",
    ],
    toCase: ['to find one by its words', 'to read it', 'to make it a test, before it is fixed'],
    toFix: ['when the agent is fixed'],
    toGreen: ['to write it'],
  },
]

/**
 * From 60 recorded tickets and three complaints to green and red again, by the printed lines alone: what is typed behind the
 * first `ls` was printed by a command before, with what only people know filled in.
 *
 * @param home - a project with the packages installed; the service gets a folder in it
 */
export async function walkIncidents(home: string, given: NodeJS.ProcessEnv): Promise<void> {
  const model = await startModel()
  const dir = join(home, 'service')
  const person = {
    GIT_AUTHOR_NAME: 'a',
    GIT_AUTHOR_EMAIL: 'a@b.c',
    GIT_COMMITTER_NAME: 'a',
    GIT_COMMITTER_EMAIL: 'a@b.c',
  }
  const env = {
    ...given,
    ...person,
    OPENAI_BASE_URL: model.url,
    OPENAI_API_KEY: 'sk-not-a-key',
    HARVEST_ALLOW_CI_UPDATE: '1',
  }
  const programs = {
    vitest: join(dir, 'node_modules/vitest/vitest.mjs'),
    'vitest-harvest': join(dir, 'node_modules/vitest-harvest/dist/bin.js'),
  }
  const git = (...args: readonly string[]): string => execFileSync('git', args, { cwd: dir, env, encoding: 'utf8' })
  const type = async (command: string, code: number | undefined): Promise<string> => {
    const line = command.replace(/^npx /, '')
    const ended = await (warmLine(line, { dir, env, programs }) ?? run(line, { dir, env }))
    if (code !== undefined) expect(ended.code, `${command}\n${ended.text}`).toBe(code)
    return ended.text
  }
  try {
    for (const [file, text] of Object.entries(files)) {
      mkdirSync(dirname(join(dir, file)), { recursive: true })
      writeFileSync(join(dir, file), text)
    }
    symlinkSync(join(home, 'node_modules'), join(dir, 'node_modules'), 'junction')
    git('init', '--quiet')
    git('add', '-A')
    git('commit', '--quiet', '-m', 'the service')
    expect(await type(`node src/service.ts ${git('rev-parse', 'HEAD').trim()}`, 0)).toBe('')
    for (const incident of incidents) await walkIncident(incident)
    const asked = model.asked()
    expect(await type('npx vitest run', 0)).toContain(`${incidents.length} replayed`)
    expect(model.asked()).toBe(asked)
  } finally {
    await model.close()
  }

  async function walkIncident({ filled, bug: [before, after], toCase, toFix, toGreen }: Incident): Promise<void> {
    let text = await type('npx vitest-harvest ls', 0)
    const take = async (about: string, code = 0): Promise<void> => {
      text = await type(printed(text, about, filled), code)
    }
    for (const about of toCase) await take(about)
    expect(text).toContain('the known bad run, reproduced')
    const promoted = text
    expect(await type(printed(promoted, 'to run its test, after you read it', filled), 0)).toContain(
      '1 known bad reproduced',
    )
    git('add', '-A')
    git('commit', '--quiet', '-m', `the incident ${filled.id}`)
    for (const about of toFix.slice(0, -1)) await take(about)

    const source = join(dir, 'src/refund.ts')
    const buggy = readFileSync(source, 'utf8')
    const fixed = buggy.replace(before, () => after)
    expect(fixed).not.toBe(buggy)
    writeFileSync(source, fixed)
    for (const about of [...toFix.slice(-1), ...toGreen.slice(0, -1)]) await take(about, 1)
    await take(toGreen.at(-1) ?? '')
    expect(text).toMatch(/with the fix: +green[^]*without the fix: +red[^]*written\n/)
    const test = printed(text, 'to run it', filled)
    const commit = printed(text, 'to commit it, together with the fix', filled)
    expect(await type(test, 0)).toMatch(/\d replayed/)
    await type(commit, 0)
    git('commit', '--quiet', '--all', '-m', `fix ${filled.id}`)
    expect(git('status', '--porcelain')).toBe('')

    writeFileSync(source, buggy)
    expect(await type(test, 1)).toMatch(/1 (?:diverged|unproven)/)
    writeFileSync(source, fixed)
  }
}

/** The command line that a text says is next, with what people fill in. */
function printed(text: string, about: string, filled: Incident['filled']): string {
  const steps = [...text.matchAll(/^→ ([^:]+): ((?:npx|git) .*)$/gm)].map(([, name = '', command = '']) => ({
    name,
    command,
  }))
  // What a module has to export for it is said behind it, and this one does.
  const step = steps.find(({ name }) => name.replace(/, once [^]*$/, '') === about)
  if (step === undefined) throw new Error(`no step "${about}" in:\n${text}`)
  const command = step.command.replaceAll(/<(id|words|right)>/g, (_, name: keyof typeof filled) => filled[name])
  expect(command).not.toMatch(/[<>]/)
  return command
}

/** A pretended provider that reads amounts as they are written, and refuses long questions. */
async function startModel(): Promise<{ readonly url: string; asked(): number; close(): Promise<void> }> {
  let asked = 0
  const server = createServer((request, response) => {
    let text = ''
    asked++
    request.setEncoding('utf8').on('data', (chunk: string) => (text += chunk))
    request.on('end', () => {
      const { messages } = JSON.parse(text) as { messages: readonly { role: string; content: string }[] }
      const question = messages[0]?.content ?? ''
      const isTooLong = question.length > 500
      response.writeHead(isTooLong ? 400 : 200, { 'content-type': 'application/json' })
      const [order = 'LOST'] = /A-\d+/.exec(question) ?? []
      const done = messages.filter(({ role }) => role === 'tool').length
      const isLost = order === 'LOST'
      const amount = question.includes(',00') ? '25,00' : '25'
      const call = (name: string, args: object) => ({
        content: null,
        tool_calls: [{ id: `call_${done}`, type: 'function', function: { name, arguments: JSON.stringify(args) } }],
      })
      const said =
        done === 0 || isLost
          ? call('lookup_order', { order_id: order })
          : done === 1
            ? call('refund', { order_id: order, amount })
            : { content: `Refunded ${order}.` }
      const usage = { prompt_tokens: 100, completion_tokens: 10, total_tokens: 110 }
      const answer = { model: 'gpt-4o', usage, choices: [{ index: 0, message: { role: 'assistant', ...said } }] }
      response.end(JSON.stringify(isTooLong ? { error: { message: 'context too long' } } : answer))
    })
  })
  await new Promise<void>((listening) => server.listen(0, '127.0.0.1', listening))
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}/v1`,
    asked: () => asked,
    close: () =>
      new Promise((closed) => {
        server.closeAllConnections()
        server.close(() => closed())
      }),
  }
}
