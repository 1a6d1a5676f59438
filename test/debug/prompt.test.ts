import { spawn } from 'node:child_process'
import { copyFileSync, mkdirSync, mkdtempSync, readFileSync, rmSync, statSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join, resolve } from 'node:path'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { hasTerminal } from '../cli/terminal.ts'
import { built } from '../support/built.ts'
import { run } from '../cli/harvest.ts'

let dir: string
const module = resolve('fixtures/debug/refund-agent.ts#refundAgent')

beforeAll(async () => {
  dir = mkdtempSync(join(tmpdir(), 'harvest-debug-prompt-'))
  const inbox = join(dir, 'recordings/inbox')
  mkdirSync(inbox, { recursive: true })
  const { code, stderr } = await run(process.execPath, [
    resolve('fixtures/debug/record-refund.ts'),
    inbox,
    'refund-100x',
  ])
  if (code !== 0) throw new Error(stderr)
  copyFileSync(join(inbox, 'refund-100x.tape.jsonl'), join(dir, 'copy.tape.jsonl'))
})

afterAll(() => rmSync(dir, { recursive: true, force: true }))

/** Types lines at a real terminal, each once the prompt is there. */
async function atTerminal(
  lines: readonly string[],
  ...options: readonly string[]
): Promise<{ code: number | null; output: string }> {
  const command = [process.execPath, built('cli/main.js'), 'debug', 'refund-100x', ...options].map(
    (word) => `'${word}'`,
  )
  const own = Object.entries(process.env).filter(([name]) => !/^(VITEST|NODE_OPTIONS|FORCE_COLOR)/.test(name))
  const child = spawn('script', ['-qec', command.join(' '), '/dev/null'], {
    cwd: dir,
    env: { ...Object.fromEntries(own), TERM: 'xterm', NO_COLOR: '1' },
  })
  let output = ''
  let prompts = 0
  child.stdout.setEncoding('utf8').on('data', (text: string) => {
    output += text
    const seen = [...output.matchAll(/\(\d+\/10(?: code\*?)?\) /g)].length
    while (prompts < seen && prompts < lines.length) child.stdin.write(`${lines[prompts++]}\r`)
  })
  const code = await new Promise<number | null>((ended, failed) => child.once('error', failed).once('close', ended))
  // oxlint-disable-next-line no-control-regex
  return { code, output: output.replaceAll(/\u001b\[[0-9;]*[A-Za-z]/g, '').replaceAll('\r', '') }
}

describe.skipIf(!hasTerminal)('at a terminal', () => {
  it('two minutes with a bad refund: from the opening to the line of the code, and back', {
    tags: 'thorough',
  }, async () => {
    const { code, output } = await atTerminal(
      [
        'break refund(amount > 100)',
        'continue',
        'back',
        'inspect context',
        'diff 4 6',
        'code',
        'print messages.at(-1).content',
        'print Date.now()',
        'next',
        'back',
        'back',
        'quit',
      ],
      '--module',
      module,
    )
    expect(code).toBe(0)
    const told = [
      'refund  refund-100x   10 steps (5 model, 5 tool)',
      'ended   returned {"answer":"I refunded 2500 EUR for order A-100."}',
      '▶  1  model  lookup_order(order_id: "A-100") ∥ refund_policy(country: "DE")',
      '   2  tool   lookup_order(order_id: "A-100")  ∥ 3',
      '  10  model  I refunded 2500 EUR for order A-100.',
      'goto N · back · forward · break RULE · continue · inspect · diff I J · code · what_if · help',
      '(1/10) break refund(amount > 100)',
      'breakpoint 1: 1 of 10 steps: 7',
      '(1/10) continue',
      '▶  7  tool   refund(order_id: "A-100", amount: 2500)          breakpoint 1',
      '(7/10) back',
      '▶  6  model  refund(order_id: "A-100", amount: 2500)',
      '(6/10) inspect context',
      'the model saw 7 messages, 334 tokens; 2 new',
      '  + tool      ',
      'decided   refund(order_id: "A-100", amount: 2500)',
      '(6/10) diff 4 6',
      'context of 4 → 6: 5 messages the same, 0 gone, 2 new, 264 → 334 tokens',
      '(6/10) code',
      ' in ask, called by refundAgent refund-agent.ts:',
      'const body = (await response.json()) as { choices: [{ message: Message }] }',
      '  messages = Array(7)   base = ',
      '(6/10 code) print messages.at(-1).content',
      `'{"customer":"C-7","refunds":1,"note":"paid 2500 cents"}'`,
      '(6/10 code) print Date.now()',
      'that would read a recorded clock: `clock` prints it, `call Date.now()` does it all the same',
      '(6/10 code) next',
      'return body.choices[0].message',
      '(6/10 code) back',
      '(6/10 code) back',
      ' in runTool, called by refundAgent refund-agent.ts:',
      '(5/10 code) quit',
    ]
    let from = 0
    for (const line of told) {
      const at = output.indexOf(line, from)
      expect(at, `${line}\n--- after ---\n${output.slice(from)}`).toBeGreaterThanOrEqual(from)
      from = at + line.length
    }
    // What was typed may hold personal data: it is kept for its owner alone, in the inbox.
    const history = join(dir, 'recordings/inbox/.debug-history')
    expect(readFileSync(history, 'utf8')).toContain('break refund(amount > 100)')
    expect(statSync(history).mode & 0o077).toBe(0)
  })

  it('does what is typed ahead once the command before it has ended', async () => {
    const { code, output } = await atTerminal(['6\rcode\rnext', '', '', 'quit'], '--module', module)
    expect(code).toBe(0)
    expect(output).not.toContain('the agent does not stand in its code')
    expect(output).toMatch(/→ +\d+ +const body[^→]*→ +\d+ +return body/)
  })
})

describe('a script', () => {
  it('comes from stdin as well: a line each, comments left out', async () => {
    const child = spawn(process.execPath, [built('cli/main.js'), 'debug', join(dir, 'copy.tape.jsonl'), '--json'], {
      stdio: ['pipe', 'pipe', 'inherit'],
    })
    let out = ''
    child.stdout.setEncoding('utf8').on('data', (text: string) => (out += text))
    child.stdin.end('# the refund\nbreak refund(amount > 100)\ncontinue; back\n')
    expect(await new Promise((ended) => child.once('close', ended))).toBe(0)
    const values = out
      .trim()
      .split('\n')
      .map((line) => JSON.parse(line) as object)
    expect(values).toHaveLength(3)
    expect(values[1]).toMatchObject({ at: 7, stopped: true })
  })

  it('is told which tools of a rule are unknown to the tape, and which was meant', async () => {
    const rules = ['break refnd(amount > 100)', 'rule caused(a, b)', 'break re*() or refund()']
    const { stdout } = await run(process.execPath, [
      built('cli/main.js'),
      'debug',
      join(dir, 'copy.tape.jsonl'),
      '-x',
      rules.join('; '),
    ])
    const tools = 'Its tools: lookup_order, refund_policy, customer_history, refund, send_mail'
    expect(stdout).toContain(`: none\nno tool refnd on this tape. Did you mean refund? ${tools}\n`)
    expect(stdout).toContain(`\nno tool caused on this tape. ${tools}\n`)
    expect(stdout.match(/no tool/g)).toHaveLength(2)
  })

  it('that meets a damaged tape ends with exit code 3', async () => {
    const { code } = await run(process.execPath, [
      built('cli/main.js'),
      'debug',
      resolve('package.json'),
      '-x',
      'steps',
    ])
    expect(code).toBe(3)
  })
})
