import { cpSync, existsSync, mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import http from 'node:http'
import type { AddressInfo } from 'node:net'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { afterAll, beforeAll, describe, expect, it, onTestFinished } from 'vitest'
import { createRecorder } from '../../src/record/index.ts'
import { warmHarvest as harvest, warmRun } from './harvest.ts'
import { printed } from './printed.ts'
import { configFor, project } from './project.ts'
import { recordRefund, refundAgent } from './tapes.ts'

const golden = 'recordings/golden/incidents/refund-100x'

let tape = ''
beforeAll(async () => {
  tape = await recordRefund(mkdtempSync(join(tmpdir(), 'harvest-promote-')), 'first')
})
afterAll(() => rmSync(dirname(tape), { recursive: true, force: true }))

function recorded(config = configFor({ refund: refundAgent })): string {
  // A busy machine takes long to load an SDK, and no test here waits for the limit.
  const patient = config.replace('harvest({ agents', 'harvest({ timeout: 600_000, agents')
  const folder = project({ 'vitest.config.ts': patient })
  onTestFinished(() => rmSync(folder, { recursive: true, force: true }))
  mkdirSync(join(folder, 'recordings/inbox'), { recursive: true })
  cpSync(tape, join(folder, 'recordings/inbox/first.tape.jsonl'))
  return folder
}

describe('harvest promote', () => {
  it('writes the case and its tape, and prints the case', async () => {
    const cwd = recorded()
    const options = [
      '--folder',
      'incidents',
      '--expect',
      'fail',
      '--title',
      'Refunds once',
      '--tag',
      'slow',
      '--tag',
      'money',
    ]
    const lesson = ['--lesson-wrong', 'paid twice', '--lesson-right', 'pay once']
    const { code, stdout } = await harvest(['promote', 'latest', '--as', 'refund-100x', ...options, ...lesson], { cwd })
    expect(code).toBe(0)
    expect(stdout).toContain('replayed bit for bit: the known bad run, reproduced')
    const text = readFileSync(join(cwd, `${golden}.case.yaml`), 'utf8')
    for (const line of text
      .trim()
      .split('\n')
      .filter((one) => !one.includes('said:')))
      expect(stdout).toContain(line.trim().slice(0, 40))
    expect(text).toMatch(
      /^case: refund-100x\nagent: refund\ntape: refund-100x\.tape\.jsonl\nexpect: fail\ntitle: Refunds once\n/m,
    )
    expect(text).toContain('tags: [slow, money]')
    expect(text).toContain('lookup_order')
    expect(readFileSync(join(cwd, `${golden}.tape.jsonl`), 'utf8')).toBe(
      readFileSync(join(cwd, 'recordings/inbox/first.tape.jsonl'), 'utf8'),
    )
    // By the name of its case from now on, and still by the id it was recorded under.
    for (const name of ['refund-100x', 'first']) expect((await harvest(['show', name], { cwd })).code).toBe(0)
  })

  it.each([
    ['no id', ['latest'], '--as <id>'],
    ['an id that is no slug', ['latest', '--as', '../Refund'], 'HARVEST_PROMOTE_ID'],
    ['an expectation that does not exist', ['latest', '--as', 'x', '--expect', 'maybe'], 'pass or fail'],
    ['a tape that is not there', ['secnd', '--as', 'x'], 'HARVEST_TAPE_MISSING'],
    [
      'a known-bad run that is good by what is said to be right',
      ['latest', '--as', 'x', '--expect', 'fail', '--ok', 'refunded=25'],
      'so it is not a known-bad case',
    ],
  ])('%s: nothing is written, exit code 2', async (_, args, message) => {
    const cwd = recorded()
    const { code, stdout, stderr } = await harvest(['promote', ...args], { cwd })
    expect(stderr).toContain(message)
    expect({ code, stdout }).toEqual({ code: 2, stdout: '' })
    expect(existsSync(join(cwd, 'recordings/golden'))).toBe(false)
  })

  it('a truncated tape is refused with the exit code of damaged tapes', async () => {
    const cwd = recorded()
    const file = join(cwd, 'recordings/inbox/first.tape.jsonl')
    writeFileSync(file, `${readFileSync(file, 'utf8').trimEnd().split('\n').slice(0, -1).join('\n')}\n`)
    const { code, stderr } = await harvest(['promote', 'first', '--as', 'x'], { cwd })
    expect(stderr).toContain('HARVEST_PROMOTE_TRUNCATED')
    expect(code).toBe(3)
  })

  it('an id that is taken is refused, the case stays as it is', { tags: 'thorough' }, async () => {
    const cwd = recorded()
    await harvest(['promote', 'latest', '--as', 'refund-100x', '--title', 'the first'], { cwd })
    const file = join(cwd, 'recordings/golden/refund-100x.case.yaml')
    const before = readFileSync(file)
    const { code, stderr } = await harvest(['promote', 'latest', '--as', 'refund-100x', '--title', 'the second'], {
      cwd,
    })
    expect(code).toBe(2)
    expect(readFileSync(file)).toEqual(before)
    expect(stderr).toContain('tapes demote refund-100x\n')
    // A case without its tape cannot be taken out.
    rmSync(join(cwd, 'recordings/golden/refund-100x.tape.jsonl'))
    const bare = await harvest(['promote', 'latest', '--as', 'refund-100x'], { cwd })
    expect(bare.stderr).toContain('its tape is gone; to replace it, remove it first: rm ')
    expect(bare.stderr).not.toContain('demote')
  })

  it('the tape of a known-bad case makes a known-bad case, unless the run is said to be good', {
    tags: 'thorough',
  }, async () => {
    const cwd = recorded()
    await harvest(['promote', 'latest', '--as', 'bad', '--expect', 'fail', '--ok', 'refund(amount: 1)'], { cwd })
    const expectOf = (id: string): string | undefined =>
      /^expect: (\w+)/m.exec(readFileSync(join(cwd, `recordings/golden/${id}.case.yaml`), 'utf8'))?.[1]
    const again = await harvest(['promote', 'bad', '--as', 'y'], { cwd })
    expect([again.stderr, expectOf('y')]).toEqual([
      expect.stringContaining('bad is known bad, so this case is too'),
      'fail',
    ])
    const good = printed(again.stderr, 'if the run is good')
    expect(good).toEqual(['promote', 'bad', '--as', 'y', '--expect', 'pass'])
    await harvest([...good.slice(0, 3), 'z', ...good.slice(4)], { cwd })
    expect(expectOf('z')).toBe('pass')
  })

  it('an agent that does something else now is refused with what differs, and nothing is written', {
    tags: 'thorough',
  }, async () => {
    const cwd = recorded()
    const args = ['promote', 'latest', '--as', 'refund-100x']
    const env = { REFUND_TWICE: '1' }
    const { code, stdout, stderr } = await harvest(args, { cwd, env })
    expect(stderr).toContain('HARVEST_PROMOTE_DIVERGED')
    expect(stderr).toContain('HARVEST_TAPE_EXHAUSTED')
    // What would be done about the case: there is none.
    expect(stderr).not.toContain('refund-100x --re')
    expect({ code, stdout }).toEqual({ code: 1, stdout: '' })
    expect(existsSync(join(cwd, 'recordings/golden'))).toBe(false)
    const unverified = await harvest([...args, '--unverified'], { cwd, env })
    expect(unverified.code).toBe(0)
    expect(unverified.stdout).toContain('not replayed')
  })

  it('an agent that keeps the id of its process in its input is refused with the way to leave states out, which works', {
    tags: 'thorough',
  }, async () => {
    const config = configFor({ noter: './src/noter.ts#noter' })
    const cwd = project({
      'vitest.config.ts': config,
      'src/noter.ts': `import { tool } from 'vitest-harvest/record'
const look = tool('look', async () => 'seen')
export const noter = async (input: { pid?: number }) => {
  input.pid = process.pid
  return look()
}
`,
      'src/record.ts': `import { createRecorder } from 'vitest-harvest/record'
import { noter } from './noter.ts'
const input = {}
await createRecorder({ dir: 'recordings/inbox' }).run({ agent: 'noter', id: 'noted', input }, () => noter(input))
`,
    })
    onTestFinished(() => rmSync(cwd, { recursive: true, force: true }))
    expect(await warmRun(process.execPath, ['src/record.ts'], { cwd })).toMatchObject({ code: 0, stderr: '' })
    const args = ['promote', 'noted', '--as', 'noted']
    const { code, stderr } = await harvest(args, { cwd })
    expect({ code, stderr }).toMatchObject({ code: 1, stderr: expect.stringContaining('HARVEST_STATES') as string })
    const [, policy = ''] =
      /^→ to exclude states from the verdict, in the case or the config: (.*)$/m.exec(stderr) ?? []
    writeFileSync(join(cwd, 'vitest.config.ts'), config.replace('harvest({ ', `harvest({ ${policy}, `))
    expect(await harvest(args, { cwd })).toMatchObject({ code: 0, stderr: '' })
  })

  it('an agent that asks its model something else is refused as unproven, with the change', {
    tags: 'thorough',
  }, async () => {
    const cwd = recorded()
    const args = ['promote', 'latest', '--as', 'refund-100x']
    const env = { REFUND_PROMPT: 'Be kind.' }
    const { code, stdout, stderr } = await harvest(args, { cwd, env })
    expect(stderr).toContain('A question to a model changed since this run was recorded (system prompt); no case')
    expect(stderr).toContain('changed  Be [-fair-] {+kind+}.')
    expect({ code, stdout }).toEqual({ code: 1, stdout: '' })
    expect(existsSync(join(cwd, 'recordings/golden'))).toBe(false)
    expect(stderr).not.toContain('accept refund-100x')
    const bad = await harvest([...args, '--expect', 'fail', '--ok', 'refund(amount: 1)'], {
      cwd,
      env: { REFUND_TWICE: '1' },
    })
    expect(bad.stderr).toContain('HARVEST_CASE_NO_LONGER_FAILS')
    expect(bad.stderr).not.toContain('fix refund-100x')
    const unverified = await harvest([...args, '--unverified'], { cwd, env })
    expect(unverified.stdout).toContain('not replayed')
  })

  it('an agent that reaches the world is refused with what it reached, where, and what to do about that', {
    tags: 'thorough',
  }, async () => {
    const cwd = recorded(configFor({ refund: './src/escaping.ts#escapingAgent' }))
    mkdirSync(join(cwd, 'src'))
    const escaping = [
      `import { connect } from 'node:net'`,
      `import { refundAgent } from '${refundAgent.split('#')[0]}'`,
      `export async function escapingAgent(ticket: never) {`,
      `  connect(5432, '127.0.0.1').on('error', () => undefined)`,
      `  return refundAgent(ticket)`,
      `}`,
    ]
    writeFileSync(join(cwd, 'src/escaping.ts'), escaping.join('\n'))
    const { code, stderr } = await harvest(['promote', 'latest', '--as', 'refund-100x'], { cwd })
    expect(code).toBe(1)
    expect(stderr.slice(stderr.indexOf('Blocked')).replace(/tape .*/, 'tape   <tape>')).toMatchInlineSnapshot(`
      "Blocked real I/O in the replay of this tape: socket 127.0.0.1:5432; no case was written

        tape   <tape>
        agent  refund
        at     src/escaping.ts:4:3
        code   HARVEST_ESCAPE

      The recorder could not see it, so the tape has no answer and the case would be red.
      → wrap the function that does it in tool(), retriever() or value() from 'vitest-harvest/record', and record again
      → if a test may reach it: allow: ['socket 127.0.0.1:5432'] in harvest() of the Vitest config
      → to write the red case anyway: npx vitest-harvest promote latest --as refund-100x --unverified
      (HARVEST_PROMOTE_DIVERGED)
      "
    `)
    expect(existsSync(join(cwd, 'recordings/golden'))).toBe(false)
  })

  it('names the request headers that were not recorded, and how to keep them', async () => {
    const cwd = recorded()
    const server = http.createServer((_, response) => response.end('{}'))
    await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
    const headers = { 'x-order-channel': 'phone', 'x-vip': '1', traceparent: '00-1' }
    const recorder = createRecorder({ dir: join(cwd, 'recordings/inbox') })
    const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`
    await recorder.run({ agent: 'refund', id: 'second' }, async () => (await fetch(url, { headers })).text())
    server.close()
    const { code, stdout } = await harvest(['promote', 'second', '--as', 'orders', '--unverified'], { cwd })
    expect(code).toBe(0)
    expect(stdout).toContain(
      "request headers not recorded: x-order-channel, x-vip\n  to record and compare them: redact: { headers: ['x-order-channel', 'x-vip'] }, then record again\n",
    )
  })

  it('a reworded prompt is promoted with --unverified alone, and show says what differs', {
    tags: 'thorough',
  }, async () => {
    const cwd = recorded()
    const env = { REFUND_PROMPT: 'Be very fair.' }
    const args = ['promote', 'latest', '--as', 'refund-100x']
    const refused = await harvest([...args, '--json'], { cwd, env })
    expect(JSON.parse(refused.stdout)).toMatchObject({
      error: { code: 'HARVEST_PROMOTE_DIVERGED' },
      verdict: { verdict: 'unproven', differences: [], unproven: [{ part: 'system prompt' }] },
    })
    expect(refused.code).toBe(1)
    const { code } = await harvest([...args, '--unverified'], { cwd, env })
    expect(code).toBe(0)
    const shown = await harvest(['show', 'refund-100x', '--replay'], { cwd, env })
    expect(shown.stdout.slice(shown.stdout.indexOf('now  '))).toMatchInlineSnapshot(`
      "now  does as on the tape, but was asked something else: unproven; drift: 2 instructions
        step 1, instructions at instructions[0].content
          recorded  Be fair.
          now       Be very fair.
        step 3, instructions at instructions[0].content
          recorded  Be fair.
          now       Be very fair.
      "
    `)
    expect((await harvest(['show', 'refund-100x', '--replay'], { cwd })).stdout).toContain(
      'now  as recorded, bit for bit',
    )
  })

  it.each([
    ['the config knows no such agent', configFor({ other: refundAgent }), 'HARVEST_AGENT_UNKNOWN'],
    ['the module of the agent is gone', configFor({ refund: './src/gone.ts#refundAgent' }), 'HARVEST_AGENT_IMPORT'],
    ['the config does not have the plugin', 'export default {}\n', 'HARVEST_AGENTS_UNREACHABLE'],
  ])('%s: refused with exit code 2, and nothing is written', async (_, config, message) => {
    const cwd = recorded(config)
    const { code, stderr } = await harvest(['promote', 'latest', '--as', 'refund-100x'], { cwd })
    expect(stderr).toContain(message)
    expect(code).toBe(2)
    expect(readdirSync(join(cwd, 'recordings'))).toEqual(['inbox'])
  })

  it('a config without the plugin gets the lines to paste', { tags: 'thorough' }, async () => {
    const cwd = recorded('export default {}\n')
    const { stderr } = await harvest(['promote', 'latest', '--as', 'refund-100x'], { cwd })
    const pasted = (about: string): string => stderr.split(`→ ${about}: `)[1]?.split('\n')[0] ?? ''
    const line = pasted('import the plugin in vitest.config.ts')
    const plugins = pasted('and name the agents there')
    const [, file = '', name = ''] = /'\.\/([^#']+)#(\w+)'/.exec(plugins) ?? []
    const patient = plugins.replace('harvest({', 'harvest({ timeout: 600_000,')
    writeFileSync(join(cwd, 'vitest.config.ts'), `${line}\nexport default { ${patient} }\n`)
    mkdirSync(dirname(join(cwd, file)))
    writeFileSync(
      join(cwd, file),
      `export { ${refundAgent.split('#')[1]} as ${name} } from '${refundAgent.split('#')[0]}'\n`,
    )
    expect(await harvest(['promote', 'latest', '--as', 'refund-100x'], { cwd })).toMatchObject({ code: 0 })
  })

  it('--json says where both are', { tags: 'thorough' }, async () => {
    const cwd = recorded()
    const { stdout } = await harvest(['promote', 'latest', '--as', 'refund-100x', '--json'], { cwd })
    expect(JSON.parse(stdout)).toMatchObject({
      case: 'recordings/golden/refund-100x.case.yaml',
      tape: 'recordings/golden/refund-100x.tape.jsonl',
      replayed: { exact: true, drift: [] },
    })
  })
})
