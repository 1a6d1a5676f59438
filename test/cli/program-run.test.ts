import '../support/packed.ts'
import { mkdtempSync, readdirSync, readFileSync, rmSync, symlinkSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join, resolve } from 'node:path'
import { fileURLToPath } from 'node:url'
import { beforeAll, describe, expect, it } from 'vitest'
import { type Answered, scratch, warmHarvest as harvest } from './harvest.ts'
import { printed } from './printed.ts'
import { startProvider } from './provider.ts'

const program = fileURLToPath(new URL('./refund-program.ts', import.meta.url))

describe('a program that harvest record ran', () => {
  let folder: string
  let tape: string
  let recorded: Answered
  beforeAll(async () => {
    folder = mkdtempSync(join(tmpdir(), 'harvest-program-'))
    tape = join(folder, 'refund.tape.jsonl')
    const provider = await startProvider('Refunded.')
    recorded = await harvest([
      'record',
      '--dir',
      folder,
      '--id',
      'refund',
      '--agent',
      'refund',
      '--',
      'node',
      program,
      provider.url,
      '007',
    ])
    // From here on there is no provider: whatever a replay shows, it has from the tape.
    provider.close()
    return () => rmSync(folder, { recursive: true, force: true })
  })

  it('wrote and answered what it would have without us', () => {
    expect(recorded.code).toBe(3)
    expect(recorded.stdout).toMatch(/^Refunded\.\nRefunded\.\nrefund 007 at \d+, ticket \d+\n$/)
    expect(recorded.stderr).toContain('one refund is waiting\n')
    expect(recorded.stderr).toContain(`harvest: 2 steps, exit code 3 → ${tape}`)
  })

  it('left one tape, which carries its command line without a path of this machine', () => {
    expect(readdirSync(folder)).toEqual(['refund.tape.jsonl'])
    const [header = ''] = readFileSync(tape, 'utf8').split('\n', 1)
    const { agent, command } = JSON.parse(header) as { agent: string; command: { argv: string[]; cwd: string } }
    expect(agent).toBe('refund')
    expect(command).toEqual({
      argv: ['node', 'test/cli/refund-program.ts', expect.stringContaining('127.0.0.1'), '007'],
      cwd: '.',
    })
  })

  it('runs again from its tape: the same output, byte for byte, the same clock, the same chance', async () => {
    const replayed = await harvest(['replay', tape, '--run-recorded'])
    expect(replayed).toEqual({
      code: 0,
      stdout: recorded.stdout,
      stderr: expect.stringMatching(
        /^harvest: runs the recorded command node test\/cli\/refund-program\.ts http:\S+ 007\none refund is waiting\nharvest: refund: same; 2 of 2 steps served\n$/,
      ),
    })
  })

  it('is verified to the bit', async () => {
    const { code, stdout, stderr } = await harvest(['replay', tape, '--exact', '--run-recorded'])
    expect({ code, stderr }).toEqual({ code: 0, stderr: expect.stringMatching(/^harvest: runs the recorded .*\n$/) })
    expect(stdout.replace(/sha256-\w{16}/g, 'sha256-<16 letters>')).toMatchInlineSnapshot(`
      "                                                            recorded                 replayed
      steps served                                                       2                        2  ✓
      request bodies and arguments, byte for byte                        2                        2  ✓
      steps never asked for                                              0                        0  ✓
      clock, random and id reads                                         2                        2  ✓
      answers out of recorded order                                      0                        0  ✓
      escapes                                                            0                        0  ✓
      problems                                                           0                        0  ✓
      values not compared                                                0                        0  ✓
      exit code                                                          3                        3  ✓
      stdout                                       sha256-<16 letters>  sha256-<16 letters>  ✓
      stderr                                       sha256-<16 letters>  sha256-<16 letters>  ✓

      refund: same; bit-exact
      "
    `)
  })

  it('may be run as another command line', async () => {
    const { code, stderr } = await harvest(['replay', tape, '--', 'node', program, 'http://127.0.0.1:4444', '007'])
    // Another host may be another deployment: nobody knows what it would answer.
    expect(stderr).toContain('harvest: refund: unproven; 2 of 2 steps served; drift: 2 endpoint')
    expect(code).toBe(1)
  })

  it('that asks once more diverges: exit code 1, and the message says where', async () => {
    const { code, stderr } = await harvest(['replay', tape, '--run-recorded'], { env: { REFUND_TWICE: '1' } })
    expect(code).toBe(1)
    expect(stderr).toMatch(/at +test\/cli\/refund-program\.ts:\d+:\d+/)
    expect(stderr).toContain('(HARVEST_TAPE_EXHAUSTED)')
    expect(stderr).toContain('harvest: refund: different; 2 of 2 steps served')
  })

  it('that ends with another exit code diverges', async () => {
    const replayed = await harvest(['replay', tape, '--run-recorded'], { env: { REFUND_EXIT: '0' } })
    expect(replayed.stderr).toContain('harvest: refund: different; 2 of 2 steps served; exit code 0, recorded 3')
    expect(replayed.code).toBe(1)
    const verified = await harvest(['replay', tape, '--exact', '--run-recorded', '--json'], {
      env: { REFUND_EXIT: '0' },
    })
    const { exact, rows } = JSON.parse(verified.stdout) as {
      exact: boolean
      rows: { what: string; isEqual: boolean }[]
    }
    expect(exact).toBe(false)
    expect(rows.filter(({ isEqual }) => !isEqual).map(({ what }) => what)).toEqual(['exit code'])
    expect(verified.code).toBe(1)
  })

  it('never has its tape overwritten', async () => {
    const before = readFileSync(tape)
    const { code, stderr } = await harvest(['record', '--dir', folder, '--id', 'refund', '--', 'node', '-e', '0'])
    expect(stderr).toContain('(HARVEST_TAPE_EXISTS)')
    expect(code).toBe(2)
    expect(readFileSync(tape)).toEqual(before)
  })
})

describe('harvest record', () => {
  it('with --json leaves stdout to the answer', async () => {
    const folder = scratch()
    const { code, stdout, stderr } = await harvest([
      'record',
      '--json',
      '--dir',
      folder,
      '--',
      'node',
      '-e',
      'console.log("said")',
    ])
    expect(JSON.parse(stdout)).toMatchObject({ steps: 0, closed: true, exitCode: 0 })
    expect(stderr).toContain('said\n')
    expect(code).toBe(0)
  })

  it('names a tape by the time when nobody else does', async () => {
    const folder = scratch()
    await harvest(['record', '--dir', folder, '--', 'node', '-e', '0'])
    expect(readdirSync(folder)).toEqual([expect.stringMatching(/^\w{26}\.tape\.jsonl$/)])
  })

  it('takes an id that looks like a number as it stands', async () => {
    const folder = scratch()
    await harvest(['record', '--dir', folder, '--id', '007', '--', 'node', '-e', '0'])
    expect(readdirSync(folder)).toEqual(['007.tape.jsonl'])
  })

  it('a program that no Node runs leaves no tape, and that is said', async () => {
    const { code, stderr } = await harvest(['record', '--dir', scratch(), '--', 'sh', '-c', 'exit 0'])
    expect(stderr).toContain('The program ended without a tape')
    expect(code).toBe(2)
  })

  it('a program whose file is missing leaves no tape, and that is said; an ending that Node adds is none', async () => {
    const folder = scratch()
    const missing = await harvest(['record', '--dir', folder, '--', 'node', 'no-agent.js'], { cwd: folder })
    expect(missing.stderr).toContain('The program ended without a tape')
    expect(missing.stderr).toContain('→ check the spelling of its file')
    expect([missing.code, readdirSync(folder)]).toEqual([2, []])
    writeFileSync(join(folder, 'other.js'), '')
    const short = await harvest(['record', '--dir', folder, '--id', 'short', '--', 'node', 'other'], { cwd: folder })
    expect([short.code, readdirSync(folder).includes('short.tape.jsonl')]).toEqual([0, true])
  })

  it('a script is run by Node, also where it is only proposed', async () => {
    const { stderr } = await harvest(['record', 'no-agent.ts'], { cwd: scratch() })
    expect(printed(stderr, 'put -- before the program')).toEqual(['record', '--', 'node', 'no-agent.ts'])
  })

  it('a program that is not there is exit code 2', async () => {
    const { code, stderr } = await harvest(['record', '--dir', scratch(), '--', 'no-such-program'])
    expect(stderr).toContain('Cannot start the program: ENOENT')
    expect(code).toBe(2)
  })

  it('a program that was killed leaves what it had, and that is said', async () => {
    const folder = scratch()
    const { code, stderr } = await harvest([
      'record',
      '--dir',
      folder,
      '--id',
      'killed',
      '--',
      'node',
      '-e',
      'process.kill(process.pid, "SIGKILL")',
    ])
    expect(code).toBe(137)
    expect(stderr).toContain('truncated: the program ended before the tape was closed')
  })
})

describe('a tape from elsewhere', () => {
  it('cannot make harvest run a program of its choice', async () => {
    const folder = scratch()
    await harvest(['record', '--dir', folder, '--id', 'foreign', '--', 'node', '-e', 'console.log("made to run")'])
    const tape = join(folder, 'foreign.tape.jsonl')
    const { code, stdout, stderr } = await harvest(['replay', tape])
    expect(stderr).toContain('(HARVEST_CLI_COMMAND_UNTRUSTED)')
    expect({ code, stdout }).toEqual({ code: 2, stdout: '' })
  })
})

it('harvest test runs the project’s own Vitest and passes its exit code on', { tags: 'thorough' }, async () => {
  const folder = scratch()
  symlinkSync(resolve('node_modules'), join(folder, 'node_modules'))
  writeFileSync(join(folder, 'vitest.config.mjs'), 'export default {}')
  writeFileSync(join(folder, 'green.test.js'), "import { it } from 'vitest'\nit('is green', () => {})\n")
  writeFileSync(
    join(folder, 'red.test.js'),
    "import { it } from 'vitest'\nit('is red', () => { throw new Error('red') })\n",
  )
  const green = await harvest(['test', 'green'], { cwd: folder })
  expect(green.stdout).toContain('1 passed')
  expect(green.code).toBe(0)
  const red = await harvest(['test', '--json'], { cwd: folder })
  expect(JSON.parse(red.stdout)).toMatchObject({ numPassedTests: 1, numFailedTests: 1 })
  expect(red.code).toBe(1)
  expect((await harvest(['test', '--no-such-flag'], { cwd: folder })).code).toBe(1)
})
