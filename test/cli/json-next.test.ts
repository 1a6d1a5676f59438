import '../support/warm-spawn.ts'
import { globSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, it, vi } from 'vitest'
import { loadCommand } from '../../src/cli/commands/index.ts'
import { withNextCommands } from '../../src/cli/next-lines.ts'
import { parse } from '../../src/cli/parse.ts'
import { specs } from '../../src/cli/spec/index.ts'
import type { Screen } from '../../src/report/output.ts'
import { type Desk, deskProject, openDesk, usual } from './desk.ts'
import { run as start } from './harvest.ts'
import { configFor } from './project.ts'

/** What `--json` would say of the answer that is printed. */
let asJson: { readonly next: readonly string[] } | undefined

vi.mock('../../src/cli/next-lines.ts', async (original) => {
  const real = await original<typeof import('../../src/cli/next-lines.ts')>()
  const printAnswer: typeof real.printAnswer = (answer, print, asker) => {
    const json = (value: unknown): void => void (asJson = value as typeof asJson)
    const { given, screen } = asker
    const has = (name: string): boolean => name === 'json' || given.has(name)
    real.printAnswer(answer, print, { ...asker, given: { ...given, has }, screen: { ...screen, json } })
    real.printAnswer(answer, print, asker)
  }
  return { ...real, printAnswer }
})

const record = `import { createRecorder } from 'vitest-harvest/record'
import { deskAgent } from './desk.ts'
const ticket = { text: 'Refund A-100.', to: { name: 'Ann' } }
const recorder = createRecorder({ dir: 'recordings/inbox' })
// The second is no case: nothing says what a good run is.
for (const id of ['it is', 'open']) await recorder.run({ agent: 'desk', id, input: ticket }, () => deskAgent(ticket))
`

describe('an answer', () => {
  let desk: Desk
  let cwd = ''
  const [before, { argv }] = [process.cwd(), process]
  beforeAll(async () => {
    desk = await openDesk(usual)
    cwd = deskProject()
    writeFileSync(join(cwd, 'vitest.config.ts'), configFor({ desk: './src/desk.ts#deskAgent' }))
    writeFileSync(join(cwd, 'src/record.ts'), record)
    const recorded = await start(process.execPath, ['src/record.ts'], { cwd, env: { DESK_URL: desk.url } })
    expect(recorded).toMatchObject({ code: 0, stderr: '' })
    process.chdir(cwd)
    vi.stubEnv('DESK_URL', desk.url)
    vi.stubEnv('VITEST', undefined)
    vi.stubEnv('CI', '')
    const line = 'promote,it is,--as,paid,--unverified,--expect,fail,--ok,refund(amount: 26)'
    await told(line.split(','))
  })
  afterAll(async () => {
    vi.unstubAllEnvs()
    process.argv = argv
    process.chdir(before)
    rmSync(cwd, { recursive: true, force: true })
    await desk.close()
  })

  /** All that a command says, before its answer too. */
  async function told(line: readonly string[]): Promise<readonly string[]> {
    process.argv = ['node', 'vitest-harvest', ...line]
    asJson = undefined
    const lines: string[] = []
    const hear = (text = ''): void => void lines.push(...text.split('\n'))
    const screen: Screen = { line: hear, note: hear, json: hear, paint: (_, text) => text, progress: () => {} }
    const parsed = parse(line, specs)
    if (parsed.kind !== 'run') throw new Error(`not a command: ${line.join(' ')}`)
    await (await loadCommand(parsed.spec.name)).run(parsed.given, withNextCommands(screen, parsed.spec))
    return lines
  }

  /** By the file of the command: a new one is to be looked at too. */
  const lines: Readonly<Record<string, readonly (readonly string[])[]>> = {
    blame: [
      ['blame', 'it is', '--bad', 'refund(*)', '--dry-run', '--cross-version'],
      ['blame', 'it is', '--isolate', '--bad', 'refund(*)', '--dry-run', '--cross-version'],
    ],
    chaos: [['chaos', 'it is', '--runs', '2', '--seed', '1']],
    doctor: [['doctor']],
    fix: [['fix', 'paid']],
    fork: [
      ['fork', 'it is', '--step', '1', '--say', 'No.', '--save'],
      ['fork', 'open', '--critical', '--bad', 'refund(*)'],
    ],
    patch: [['patch', 'it is', '--step', '2', '--set', 'result.total=30']],
    rerun: [['rerun', 'paid', '--live', '--runs', '1', '--max-calls', '9', '--cross-version']],
  }

  /** Nothing is wrong with this project, and each alternative of that run has a grade. */
  const silent: readonly string[] = ['doctor', 'fork open --critical --bad refund(*)']

  it('is looked at of every command that has it in both forms', () => {
    const files = globSync('src/cli/commands/*.ts', { cwd: before }).filter((file) =>
      readFileSync(join(before, file), 'utf8').includes('printAnswer('),
    )
    expect(files.map((file) => /(\w+)\.ts$/.exec(file)?.[1]).sort()).toEqual(Object.keys(lines).sort())
  })

  /** The agent of a fix is another one. */
  function fixed<T>(line: readonly string[], run: () => Promise<T>): Promise<T> {
    if (line[0] !== 'fix') return run()
    const file = join(cwd, 'src/desk.ts')
    const agent = readFileSync(file, 'utf8')
    writeFileSync(file, agent.replace('Look it up first.', 'Look it up first, and refund 26.'))
    return run().finally(() => writeFileSync(file, agent))
  }

  it.each(
    Object.values(lines)
      .flat()
      .map((line) => [line.join(' '), line] as const),
  )('%s: has the same next commands for programs as for people', { tags: 'thorough' }, async (name, line) => {
    const printed = (await fixed(line, () => told(line))).flatMap(
      (text) => /→ .*?((?:[A-Z_]+=1 )?npx .*)/.exec(text)?.[1] ?? [],
    )
    expect(printed.length > 0).toBe(!silent.includes(name))
    expect(asJson?.next, printed.join('\n')).toEqual([...new Set(printed)])
  })
})
