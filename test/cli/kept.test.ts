import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { rmSync } from 'node:fs'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { warmHarvest as harvest, warmRun as start } from './harvest.ts'
import { configFor, project } from './project.ts'

const agent = `import OpenAI from 'openai'
import { runSignal, tools } from 'vitest-harvest/record'

const shop = tools({ look: async ({ id }: { id: number }) => ({ id }) })

export async function deskAgent(ticket: { text: string }) {
  const client = new OpenAI({ maxRetries: 0 })
  const messages: any[] = [{ role: 'user', content: ticket.text }]
  for (let id = 0; ; id++) {
    const { choices } = await client.chat.completions.create({ model: 'gpt-4o', messages }, { signal: runSignal() })
    messages.push(choices[0]!.message)
    await shop.look({ id })
  }
}
`

const recorder = `import { createRecorder } from 'vitest-harvest/record'
import { deskAgent } from './desk.ts'

const [id, text, of = 'calls', hard = '3'] = process.argv.slice(2)
const recorder = createRecorder({ budget: { [of]: { soft: Number(hard) / 2, hard: Number(hard) } } })
const ticket = { text }
await recorder.run({ agent: 'desk', id, input: ticket }, () => deskAgent(ticket)).catch(({ name }) => console.log(name))
`

describe('promote takes what production keeps', () => {
  let cwd = ''
  const server = createServer((request, response) => {
    let text = ''
    request.setEncoding('utf8').on('data', (chunk: string) => (text += chunk))
    request.on('end', () => {
      const isTooLong = text.includes('too long')
      response.writeHead(isTooLong ? 400 : 200, {
        'content-type': 'application/json',
        'set-cookie': `__cf_bm=${'a1B2c3D4'.repeat(5)}; path=/`,
        'x-request-id': 'req_8f7a6b5c4d3e2f1a',
        'retry-after': '20',
      })
      const error = { message: 'context too long', type: 'invalid_request_error', code: 'context_length_exceeded' }
      const message = { role: 'assistant', content: 'Once more.' }
      const usage = { prompt_tokens: 1_000, completion_tokens: 10, total_tokens: 1_010 }
      const said = { model: 'gpt-4o', usage, choices: [{ index: 0, message }] }
      response.end(JSON.stringify(isTooLong ? { error } : said))
    })
  })
  const env = (): Record<string, string> => ({
    OPENAI_BASE_URL: `http://127.0.0.1:${(server.address() as AddressInfo).port}/v1`,
    OPENAI_API_KEY: 'sk-not-a-key',
  })
  beforeAll(async () => {
    await new Promise<void>((listening) => server.listen(0, '127.0.0.1', listening))
    cwd = project({
      'vitest.config.ts': configFor({ desk: './src/desk.ts#deskAgent' }),
      'src/desk.ts': agent,
      'src/record.ts': recorder,
    })
  })
  afterAll(() => {
    rmSync(cwd, { recursive: true, force: true })
    server.closeAllConnections()
    server.close()
  })

  const promote = async (id: string, ...words: readonly string[]) => {
    const { code, stderr } = await start(process.execPath, ['src/record.ts', id, ...words], { cwd, env: env() })
    expect([code, stderr]).toEqual([0, ''])
    const promoted = await harvest(['promote', id, '--as', id, '--expect', 'fail'], { cwd, env: env() })
    expect(promoted.stderr).toBe('')
    return promoted.stdout
  }

  it('a run that ends in the error of an SDK, with the headers of its answer', { tags: 'thorough' }, async () => {
    const stdout = await promote('refused', 'This is too long.')
    expect(stdout).toContain('name: BadRequestError')
    expect(stdout).toContain('replayed bit for bit: the known bad run, reproduced')
    // It threw: that it returns is what a fix is graded by.
    expect(stdout).toMatch(/→ when the agent is fixed: npx vitest-harvest fix refused\n/)
  })

  it.each([
    ['calls', '3'],
    ['tokens', '3500'],
    ['costUsd', '0.009'],
  ])('a run that the budget of its recorder aborted, counted in %s', { tags: 'thorough' }, async (of, hard) => {
    const stdout = await promote(`budget-${of.toLowerCase()}`, 'Go on.', of, hard)
    expect(stdout).toContain('name: APIUserAbortError')
    expect(stdout).toContain('replayed bit for bit: the known bad run, reproduced')
  })

  it('and each is a test that holds', { tags: 'thorough' }, async () => {
    const { code, stdout } = await harvest(['test'], { cwd, env: env() })
    expect([code, stdout]).toEqual([0, expect.stringContaining('0 replayed, 4 known bad reproduced')])
  })
})
