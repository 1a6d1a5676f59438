import { execFileSync } from 'node:child_process'
import { existsSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { copyProject } from '../../scripts/link-tree.ts'
import { specs } from '../../src/cli/spec/index.ts'
import { promote } from '../../src/recordings/index.ts'
import { type Desk, deskAgent, openDesk, usual } from './desk.ts'
import { type Answered, warmHarvest as harvest, warmRun as run } from './harvest.ts'
import { many } from './many.ts'
import { configFor, project } from './project.ts'
import { samples } from '../importers/samples.ts'

const commands = specs

/** What a project has when somebody tries the examples of a command. `golden` where none is named. */
const worlds: Readonly<Record<string, 'golden' | 'inbox' | 'program' | 'bare'>> = {
  init: 'bare',
  record: 'inbox',
  promote: 'inbox',
  replay: 'program',
  verify: 'program',
  tapes: 'golden',
}
/** Examples that end with another code than 0 on purpose. */
const codes: Readonly<Record<string, number>> = {
  // What a model says to a changed result is not on the tape.
  'patch refund-100x --step 2 --set result.total=30': 1,
  // Five runs rule no effect out.
  'patch refund-100x --set input.text="Refund A-2." --live --runs 5': 1,
  // Its agent believes whatever comes with any status.
  'chaos refund-100x --faults http --smallest --seed 7': 1,
  // Neither value is in this run.
  'locate refund-100x 2500': 1,
  'locate latest "paid 25 EUR" --json': 1,
  'show refund-100x --find 2500': 1,
  // Its case is green: nothing is to be fixed.
  'fix refund-100x --ok "refund(amount: 25)"': 1,
  'fix refund-100x --live --runs 5 --max-cost 0.50': 1,
  // The case refunds as well: it is no good run to that question.
  'blame latest --ok "answer~cannot refund" --reference refund-broken-item --dry-run': 2,
  // The cases that pass refund as well: nothing is claimed by what calls them bad.
  'blame refund-100x --bad "refund(*)" --live --max-cost 2.50': 1,
  'blame refund-100x --isolate --bad "refund(*)" --tools live --live --max-cost 2.50': 1,
  'isolate refund-100x --bad "refund(*)" --tools live --live --max-cost 2.50': 1,
  'isolate latest --bad "answer~refunded" --tools live --live': 1,
  // There is no such file.
  'fix refund-100x --live --tools ./test/tools.ts --yes': 2,
  // It plays in an empty folder, and there are recordings here; test/docs/tarball plays it.
  demo: 2,
  // No case has this change: a key is that of one edit.
  'accept --change 4f9kQ2mXw7TzB1aL --reason "the limit was raised"': 2,
}

/** Those that only read run in one process: they neither start programs nor run an agent, which changes a process. */
const readers = new Set(['check', 'diff', 'export', 'import', 'locate', 'ls', 'report', 'review', 'show'])

const program = `const url = process.env.DESK_URL ?? 'http://127.0.0.1:45999'
const messages = [{ role: 'user', content: 'Hello' }]
const response = await fetch(url + '/v1/chat/completions', { method: 'POST', body: JSON.stringify({ model: 'gpt-4o', messages }) })
console.log((await response.json()).choices[0].message.role)
`
const recordAll = `import { createRecorder } from 'vitest-harvest/record'
import { refundAgent } from './src/refund-agent.ts'
const recorder = createRecorder({ commit: process.argv[2] })
for (const id of ['first', 'second', 'run', 'last']) {
  const ticket = { text: 'Refund A-100.' }
  await recorder.run({ agent: 'refund', id, input: ticket }, () => refundAgent(ticket))
}
`

/** Commands whose examples replay many times, or ask a model. */
const thorough = new Set([
  ...['accept', 'blame', 'chaos', 'doctor', 'fix', 'fork', 'isolate', 'patch', 'promote', 'replay', 'rerun', 'test'],
  ...['validate', 'verify'],
])

describe('every example of --help works', () => {
  let desk: Desk
  let home = ''
  beforeAll(async () => {
    desk = await openDesk(usual)
    home = mkdtempSync(join(tmpdir(), 'harvest-examples-'))
    await makeWorlds(home, desk)
  })
  afterAll(async () => {
    rmSync(home, { recursive: true, force: true })
    await desk.close()
  })

  it('there are examples of every command', () => {
    expect(commands.filter(({ examples }) => examples.length === 0)).toEqual([])
  })

  // `open` serves until it is stopped: the tests of reports start it.
  const [short, long] = [false, true].map((isLong) =>
    commands.filter(({ name }) => name !== 'open' && thorough.has(name) === isLong).map(({ name }) => name),
  ) as [string[], string[]]
  it.each(short)('of harvest %s', areRun)
  it.each(long)('of harvest %s', { tags: 'thorough' }, areRun)

  async function areRun(name: string): Promise<void> {
    const { examples } = commands.find((one) => one.name === name)!
    // The tape of a program says what to run, that of an agent is told.
    const worldOf = (example: string): string => {
      const world = example.includes('--module ./src') ? 'golden' : (worlds[name.split(' ')[0] ?? name] ?? 'golden')
      const cwd = join(home, `${name}-${world}`)
      if (!existsSync(cwd)) copyProject(join(home, world), cwd)
      return cwd
    }
    // Replays ask at the address that was recorded; nobody answers there any more than anywhere.
    const env: Record<string, string> = { CI: '', DESK_URL: desk.url }
    const answers: (Pick<Answered, 'code'> & { readonly example: string; readonly said: string })[] = []
    const ran = (example: string, { code, stdout, stderr }: Answered): void =>
      void answers.push({ example, code, said: code === (codes[example] ?? 0) ? '' : stdout + stderr })
    if (!readers.has(name))
      for (const example of examples) ran(example, await harvest(words(example), { cwd: worldOf(example), env }))
    else
      for (const [cwd, some] of Map.groupBy(examples, worldOf))
        for (const [at, answer] of many(some.map(words), cwd, env).entries()) ran(some[at]!, answer)
    expect(answers).toEqual(examples.map((example) => ({ example, code: codes[example] ?? 0, said: '' })))
  }
})

/** As a shell takes a line apart: double quotes hold words together. */
function words(line: string): readonly string[] {
  return [...line.matchAll(/(?:[^\s"]|"[^"]*")+/g)].map(([word]) => word.replaceAll('"', ''))
}

async function makeWorlds(home: string, desk: Desk): Promise<void> {
  const base = project({
    'vitest.config.ts': configFor({ refund: './src/refund-agent.ts#refundAgent' }),
    'src/refund-agent.ts': deskAgent.replace('function deskAgent', 'function refundAgent'),
    'agent.js': program,
    'cassettes/greeting.yaml': samples.vcrpy,
    'record.ts': recordAll,
    '.gitignore': 'node_modules/\nrecordings/inbox/\n.vitest/\n',
  })
  const git = (...args: string[]): string =>
    execFileSync('git', ['-c', 'user.name=Ada', '-c', 'user.email=ada@example.com', ...args], {
      cwd: base,
      encoding: 'utf8',
    })
  const add = (message: string): void => {
    git('add', '-A')
    git('commit', '--quiet', '-m', message)
  }
  const keep = (world: string): void => copyProject(base, join(home, world))
  git('init', '--quiet')
  add('the agent')
  const env = { DESK_URL: desk.url }
  const recorded = await run(process.execPath, ['record.ts', git('rev-parse', 'HEAD').trim()], { cwd: base, env })
  expect(recorded).toEqual({ code: 0, stdout: '', stderr: '' })
  keep('inbox')

  const recordings = join(base, 'recordings')
  promote({ recordings, tape: 'second', as: 'refund-broken-item', tags: ['golden'] })
  promote({ recordings, tape: 'run', as: 'refund-100x', tags: ['incident'] })
  add('the golden set')
  keep('golden')

  // For --agent the tape of a run, for the program behind it the tape of a program; both are called refund-100x.
  const cwd = join(home, 'inbox')
  copyProject(cwd, join(home, 'program'))
  const whole = join(home, 'program')
  const { code } = await harvest(['record', '--id', 'refund-100x', '--', 'node', 'agent.js'], { cwd: whole, env })
  expect(code).toBe(0)
  // What a tape names is run because the project lists it.
  const manifest = join(whole, 'package.json')
  const written = JSON.parse(readFileSync(manifest, 'utf8')) as object
  writeFileSync(manifest, JSON.stringify({ ...written, harvest: { programs: { agent: ['node', 'agent.js'] } } }))

  keep('bare')
  const config = readFileSync(join(base, 'vitest.config.ts'), 'utf8')
  expect(config).toContain('plugins')
  writeFileSync(
    join(home, 'bare/vitest.config.ts'),
    `import { defineConfig } from 'vitest/config'\nexport default defineConfig({})\n`,
  )
  rmSync(base, { recursive: true, force: true })
}
