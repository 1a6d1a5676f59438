import { execFileSync } from 'node:child_process'
import { rmSync, writeFileSync } from 'node:fs'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { built } from '../support/built.ts'
import { run as start } from './harvest.ts'
import { configFor, project } from './project.ts'

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

const fixes = {
  comma: ["Number(amount.replace(/\\D/g, ''))", "Number(amount.replace(',', '.'))"],
  long: ['content: ticket.text }', 'content: ticket.text.slice(0, 200) }'],
  lost: [
    "    messages.push({ role: 'tool', tool_call_id: call.id",
    "    if (turn > 1 && 'error' in result) return { answer: 'A person will look.' }\n    messages.push({ role: 'tool', tool_call_id: call.id",
  ],
} as const

describe('from a complaint to green and red again, by the printed commands alone', () => {
  let cwd = ''
  let code = agent
  const server = createServer((request, response) => {
    let text = ''
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
  const env = (): Record<string, string> => ({
    OPENAI_BASE_URL: `http://127.0.0.1:${(server.address() as AddressInfo).port}/v1`,
    OPENAI_API_KEY: 'sk-not-a-key',
    HARVEST_ALLOW_CI_UPDATE: '1',
  })
  const git = (...args: readonly string[]): string =>
    execFileSync('git', ['-c', 'user.name=a', '-c', 'user.email=a@b.c', ...args], { cwd, encoding: 'utf8' })
  const commit = (message: string): void => {
    git('add', '-A')
    git('commit', '--quiet', '-m', message)
  }
  /** A command line as it was printed, in a shell. */
  const paste = async (line: string) => {
    const words = line.replace(/^npx vitest-harvest/, `"${process.execPath}" "${built('cli/main.js')}"`)
    const { code: exitCode, stdout, stderr } = await start('/bin/sh', ['-c', words], { cwd, env: env() })
    return { code: exitCode, text: stdout + stderr }
  }
  /** The command line that a text says is next. */
  const next = (text: string, command: string): string => {
    const found = new RegExp(`npx vitest-harvest ${command}\\b.*`).exec(text)?.[0]
    if (found === undefined) throw new Error(`no next step in:\n${text}`)
    return found
  }
  const write = (): void => writeFileSync(join(cwd, 'src/refund.ts'), code)

  beforeAll(async () => {
    await new Promise<void>((listening) => server.listen(0, '127.0.0.1', listening))
    cwd = project({
      'vitest.config.ts': configFor({ refund: './src/refund.ts#refundAgent' }),
      'src/refund.ts': agent,
      'src/service.ts': service,
      'test/tools.ts': `export const lookup_order = async ({ order_id }: any) => ({ order_id, total: 25 })
export const refund = async ({ order_id, amount }: any) => ({ order_id, refunded: amount })
`,
      '.gitignore': 'node_modules\nrecordings/inbox\n',
    })
    git('init', '--quiet')
    commit('the service')
    const { stderr } = await start(process.execPath, ['src/service.ts', git('rev-parse', 'HEAD').trim()], {
      cwd,
      env: env(),
    })
    expect(stderr).toBe('')
  })
  afterAll(() => {
    rmSync(cwd, { recursive: true, force: true })
    server.closeAllConnections()
    server.close()
  })

  it('finds the runs that went wrong among 60', async () => {
    const { text } = await paste('npx vitest-harvest ls --inbox --outcome threw')
    expect([...text.matchAll(/ticket-\d+/g)].map(([id]) => id).sort()).toEqual(['ticket-31', 'ticket-44'])
  })

  it.each([
    { bug: 'comma', ticket: 'ticket-17', ok: ` --ok 'refund(amount: 25)'`, steps: 4 },
    { bug: 'long', ticket: 'ticket-31', ok: '', steps: 4 },
    { bug: 'lost', ticket: 'ticket-44', ok: '', steps: 2 },
  ] as const)('$ticket ends green with its fix, and red without it', async ({ bug, ticket, ok, steps }) => {
    const promoted = await paste(`npx vitest-harvest promote ${ticket} --as ${bug} --expect fail${ok}`)
    expect(promoted).toEqual({ code: 0, text: expect.stringContaining('the known bad run, reproduced') })
    const blamed = await paste(next(promoted.text, 'blame'))
    expect(blamed.code, blamed.text).toBe(0)
    commit(`the incident of ${ticket}`)
    const [before, after] = fixes[bug]
    const unfixed = code
    code = code.replace(before, () => after)
    write()
    let line = next(promoted.text, 'fix')
    let said = await paste(line)
    for (let step = 1; said.code !== 0 && step < steps; step++) {
      line = next(said.text, 'fix')
      said = await paste(line)
    }
    expect(said).toEqual({
      code: 0,
      text: expect.stringMatching(/with the fix: +green[^]*without the fix: +red[^]*written\./),
    })
    const green = await paste('npx vitest-harvest test')
    expect(green).toEqual({ code: 0, text: expect.stringMatching(/\d replayed/) })
    commit(`fix ${bug}`)
    const fixed = code
    code = unfixed
    write()
    const red = await paste(`npx vitest-harvest test ${bug}`)
    expect(red.code).toBe(1)
    code = fixed
    write()
  })
})
