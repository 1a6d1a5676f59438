import { mkdirSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { tapeText } from '../host/refund.ts'
import { warmHarvest as harvest } from './harvest.ts'
import { many } from './many.ts'
import { printed } from './printed.ts'
import { configFor, project } from './project.ts'

/** Tries everything three times, and does both calls anew when the second one fails. */
const payer = `import { tool } from 'vitest-harvest/record'
const lookup = tool('lookup_order', async (order: { order_id: string }) => ({ amount: 25 }))
const refund = tool('refund', async (order: { order_id: string; amount: number }) => 'ok')
let mine = 0
export async function payer({ order_id }: { order_id: string }) {
  // Fresh modules in every run: what one leaves behind does not reach the next.
  if (mine++ > 0) throw new Error('not fresh')
  for (let attempt = 0; ; attempt++) {
    try {
      const { amount } = await lookup({ order_id })
      await refund({ order_id, amount })
      return { refunded: amount }
    } catch (error) {
      if (attempt === 2) throw error
    }
  }
}
`
const recordings = 'my recordings'

describe('harvest chaos', () => {
  let cwd = ''
  beforeAll(() => {
    cwd = project({
      'vitest.config.ts': configFor({ payer: './src/payer.ts#payer' }),
      'src/payer.ts': payer,
    })
    const folder = join(cwd, recordings, 'golden')
    mkdirSync(folder, { recursive: true })
    writeFileSync(join(folder, 'paid.tape.jsonl'), tapeText('paid', { agent: 'payer', input: { order_id: 'A-1' } }))
    const outcome = 'outcome:\n  refunded: 25\n'
    const head = 'case: paid\nagent: payer\ntape: paid.tape.jsonl\nexpect: pass\n'
    mkdirSync(join(cwd, recordings, 'inbox'))
    const other = tapeText('other run', { agent: 'payer', input: { order_id: 'A-1' } })
    writeFileSync(join(cwd, recordings, "inbox/it's paid.tape.jsonl"), other)
    writeFileSync(join(folder, 'paid.case.yaml'), `${head}baseline:\n  - lookup_order(order_id)\n${outcome}`)
  })
  afterAll(() => rmSync(cwd, { recursive: true, force: true }))
  const chaos = (...args: string[]) => harvest(['chaos', 'paid', '--dir', recordings, ...args], { cwd })

  it('shrinks a failure to the fault it needs, and tells how to see it again', async () => {
    const { code, stdout, stderr } = await chaos('--faults', 'tool-error,tool-slow', '--seed', '4')
    expect(stderr).toBe('')
    expect(stdout).toMatchInlineSnapshot(`
      "the agent does not survive
        step 2, tool refund: the call fails (tool-error)
      trace: did lookup_order({"order_id":"A-1"}) 2 times, and 1 when recorded

      Without this fault it survives. Found in schedule 2, of 4 faults; 4 runs to shrink it, 18 all together.
      → to see it again: npx vitest-harvest chaos paid --dir 'my recordings' --faults tool-error,tool-slow --seed 4 --path 1:1:0
      "
    `)
    expect(code).toBe(1)
    const again = printed(stdout, 'to see it again')
    const repeated = await harvest([...again, '--json'], { cwd })
    expect(repeated.code).toBe(1)
    expect(JSON.parse(repeated.stdout)).toMatchObject({
      survived: false,
      runs: 13,
      failure: { class: 'trace', schedule: [{ step: 2, kind: 'tool-error', args: {} }] },
    })
  })

  it('says what was tried, and no survival where an ending that fails by default is left out', {
    tags: 'thorough',
  }, async () => {
    const { code, stdout } = await chaos(
      '--faults',
      'tools,messages',
      '--reads',
      'lookup_*',
      '--fail',
      'crash,trace',
      '--seed',
      '1',
      '--runs',
      '16',
    )
    expect(stdout).toMatchInlineSnapshot(`
      "no run ended as --fail crash,trace says
      13 schedules of faults, 15 runs: 9 survived, 4 hang
      tried: 8 tool-slow, 5 tool-reset, 4 tool-no-answer, 3 tool-error
      not tried: messages: no such fault can happen in this run
      seed 1
      "
    `)
    expect(code).toBe(0)
  })

  it('names a fault that no schedule held, and the command that tries it', { tags: 'thorough' }, async () => {
    const { stdout } = await chaos(
      '--faults',
      'tool-slow,tool-reset',
      '--fail',
      'outcome',
      '--seed',
      '1',
      '--runs',
      '1',
    )
    expect(stdout).toMatch(/^not tried: tool-(slow|reset): not in any of 1 schedule$/m)
    expect(await harvest(printed(stdout, 'to try them alone'), { cwd })).toMatchObject({
      stdout: expect.not.stringContaining('not tried') as string,
    })
  })

  it('names the command that tries a fault which the one schedule of a path does not hold, without that path', {
    tags: 'thorough',
  }, async () => {
    const { stdout } = await chaos('--faults', 'tool-slow', '--seed', '1', '--path', '0:0')
    const alone = printed(stdout, 'to try them alone')
    expect(alone).toEqual(['chaos', 'paid', '--dir', recordings, '--seed', '1', '--faults', 'tool-slow'])
    expect(await harvest(alone, { cwd })).toMatchObject({ stdout: expect.not.stringContaining('not tried') as string })
  })

  it('that has no fault to try names the commands that show the steps and try others, as a shell reads them', {
    tags: 'thorough',
  }, async () => {
    const typed = ['chaos', "it's paid", '--dir', recordings, '--faults', 'http', '--runs', '1', '--seed', '4']
    const { code, stderr } = await harvest(typed, { cwd })
    expect(code, stderr).toBe(2)
    const show = printed(stderr, 'to see the steps')
    // Its id, where that finds it; in one word, for a shell.
    expect(show).toEqual(['show', 'other run', '--dir', recordings])
    expect(many([show], cwd)[0]).toMatchObject({ code: 0, stdout: expect.stringContaining('lookup_order') as string })
    const others = printed(stderr, 'try others')
    const tried = expect.stringMatching(/^1 schedules of faults.*\ntried: 1 /m) as string
    expect(await harvest(others, { cwd })).toMatchObject({ stderr: '', stdout: tried })
  })

  it('a mistyped ending or tool leads to the command with the one that was meant', { tags: 'thorough' }, async () => {
    const typed = ['chaos', 'paid', '--dir', recordings, '--faults', 'tool-slow', '--runs', '2', '--seed', '1']
    const mistyped = [
      [...typed, '--fail', 'crash,hag'],
      [...typed, '--repeatable', 'lookup_ordr'],
    ]
    const meant = many(mistyped, cwd).map(({ stderr }) => printed(stderr, 'did you mean'))
    expect(meant).toEqual([
      [...typed, '--fail', 'crash,hang'],
      [...typed, '--repeatable', 'lookup_order'],
    ])
    expect(await harvest(meant[0] ?? [], { cwd })).toMatchObject({ code: 0, stderr: '' })
  })

  it.each([
    ['a fault nobody knows', ['--faults', 'htpp'], 'did you mean: npx vitest-harvest chaos '],
    ['an ending nobody knows', ['--fail', 'crashes'], 'Invalid --fail: expected crash'],
    ['a path without its seed', ['--path', '1:2'], '--path needs --seed'],
    ['a seed that is none', ['--seed', 'x'], 'Invalid --seed: expected a whole number'],
    ['a time that is none', ['--time', 'soon'], 'Invalid --max-time: expected a duration'],
    ['nothing', ['--faults', ','], 'Invalid --faults: expected one name or more'],
    [
      'a tool that is not in the run',
      ['--repeatable', 'get_*,lookup_ordr'],
      'did you mean lookup_order? npx vitest-harvest chaos ',
    ],
    ['an agent nobody knows', ['--variant', 'payr'], 'HARVEST_AGENT_UNKNOWN'],
    ['a schedule that is none', ['--schedule', 'src/payer.ts'], 'HARVEST_CHAOS_SCHEDULE'],
  ])('%s is refused before anything runs', async (_, args, message) => {
    const { code, stdout, stderr } = await chaos(...args)
    expect(stderr).toContain(message)
    expect({ code, stdout }).toEqual({ code: 2, stdout: '' })
  })
})
