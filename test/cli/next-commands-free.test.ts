import { execFileSync } from 'node:child_process'
import { readFileSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, it, onTestFinished } from 'vitest'
import { built } from '../support/built.ts'
import { type Desk, deskProject, openDesk, usual } from './desk.ts'
import { type Answered, warmHarvest as harvest, warmRun as start } from './harvest.ts'
import { many } from './many.ts'
import { printed } from './printed.ts'
import { configFor } from './project.ts'

const recordings = "it's recs"

/** Records one run that may do as much as it needs, and one whose budget ends it. */
const record = `import { createServer } from 'node:http'
import { createRecorder, mark } from 'vitest-harvest/record'
import { deskAgent } from './desk.ts'
import { oddAgent } from './odd.ts'
const dir = ${JSON.stringify(`${recordings}/inbox`)}
const ticket = { text: 'Refund A-100.', to: { name: 'Ann' } }
const agent = () => (mark('plan', { careful: true }), deskAgent(ticket))
await createRecorder({ dir }).run({ agent: 'desk', id: 'the run', input: ticket }, agent)
const limited = createRecorder({ dir, budget: { calls: { hard: 2 } } })
await limited.run({ agent: 'desk', id: 'over budget', input: ticket }, async ({ signal }) => {
  await deskAgent(ticket).catch(() => undefined)
  console.log(String(signal.reason))
})
const events = ['I ', 'see.'].map((content) => JSON.stringify({ choices: [{ index: 0, delta: { content } }] }))
const server = createServer(({ url, socket }, response) => {
  if (url === '/gone') socket.destroy()
  else if (url === '/total') response.end('25 EUR')
  else response.setHeader('content-type', 'text/event-stream').end([...events, '[DONE]'].map((one) => 'data: ' + one + '\\n\\n').join(''))
})
await new Promise((listening) => server.listen(0, '127.0.0.1', () => listening(undefined)))
const input = { base: 'http://127.0.0.1:' + (server.address() as { port: number }).port }
await createRecorder({ dir }).run({ agent: 'odd', id: 'odd', input }, () => oddAgent(input))
await createRecorder({ dir }).run({ agent: 'desk', id: 'still', input: ticket }, async () => 'nothing to do')
server.close()
server.closeAllConnections()
`

/** Hears a stream, a text, nothing at all, and an error. */
const odd = `import { tools } from 'vitest-harvest/record'
const shop = tools({ refund: async (): Promise<object> => { throw new Error('no money') } })
export async function oddAgent({ base }: { base: string }) {
  const body = JSON.stringify({ model: 'gpt-4o', stream: true, messages: [{ role: 'user', content: 'Look.' }] })
  const headers = { 'content-type': 'application/json' }
  const said = await fetch(base + '/v1/chat/completions', { method: 'POST', headers, body }).then((heard) => heard.text())
  const total = await fetch(base + '/total').then((heard) => heard.text())
  const gone = await fetch(base + '/gone').then(() => 'there', () => 'gone')
  const refunded = await shop.refund().catch(() => 'nothing')
  return { said, total, gone, refunded }
}
`

describe('a message that is printed before anything runs leads on by what it prints', () => {
  let desk: Desk
  let cwd = ''
  let said = ''
  beforeAll(async () => {
    desk = await openDesk(usual)
    cwd = deskProject()
    writeFileSync(
      join(cwd, 'vitest.config.ts'),
      configFor({ desk: './src/desk.ts#deskAgent', odd: './src/odd.ts#oddAgent' }),
    )
    writeFileSync(join(cwd, 'src/odd.ts'), odd)
    writeFileSync(join(cwd, 'src/record.ts'), record)
    const recorded = await start(process.execPath, ['src/record.ts'], { cwd, env: { DESK_URL: desk.url } })
    expect(recorded).toMatchObject({ code: 0, stderr: '' })
    said = recorded.stdout
  })
  afterAll(async () => {
    rmSync(cwd, { recursive: true, force: true })
    await desk.close()
  })
  const inDir = ['--dir', recordings]
  function answers(...lines: readonly (readonly string[])[]): readonly Answered[] {
    return many(lines, cwd, { CI: '' })
  }
  /** A command line as it is printed, in a shell where the program has a name of its own. */
  function inShell(text: string, about: string): string {
    const line = text.split('\n').find((one) => one.includes(`→ ${about}`)) ?? ''
    const command = line.slice(line.indexOf('npx ')).replace('npx vitest-harvest', '"$NODE" "$MAIN"')
    const env = { ...process.env, NODE: process.execPath, MAIN: built('cli/main.js'), VITEST: undefined }
    return execFileSync('sh', ['-c', command], { cwd, env, encoding: 'utf8' })
  }

  it('the budget of a recorder names the run that it ended, and a run that is elsewhere asks for its folder', () => {
    const show = printed(said, 'to see what the run did')
    expect(show).toEqual(['show', 'over budget'])
    const [elsewhere] = answers(show)
    expect(elsewhere?.code).toBe(2)
    const named = printed(elsewhere?.stderr ?? '', 'if its recorder writes to another folder', { '<folder>': 'it' })
    expect(named).toEqual(['show', 'over budget', '--dir', 'it'])
    const [shown] = answers(named.with(-1, recordings))
    expect(shown).toMatchObject({ code: 0, stdout: expect.stringContaining('lookup_order') as string })
  })

  it('of blame: what was typed wrong, what no run knows, what it costs, where good answers are', () => {
    const blame = ['blame', 'the run', ...inDir, '--cross-version']
    const refused = answers(
      [...blame, '--ok', 'refund(amount'],
      [...blame, '--ok', 'anwser.text=25'],
      [...blame, '--bad', 'refund(*)', '--repairs'],
      [...blame, '--ok', 'refund(amount: "2500")'],
      [...blame, '--ok', 'answer!=Sorry.'],
      [...blame, '--bad', 'answer!=Sorry.'],
    ).map(({ code, stderr }) => {
      expect(code, stderr).toBe(2)
      return stderr
    })
    const [wrong = '', unknown = '', repairs = '', type = '', not = '', neither = ''] = refused
    const next = [
      printed(wrong, 'to see which tools the run calls and what it returns'),
      printed(unknown, 'if only the fixed agent has it'),
      printed(type, 'if a right run has the other type'),
      printed(repairs, 'record a good run of the agent and name it', { '<tape|case>': 'still' }),
      printed(repairs, 'to call the tools for real'),
      printed(not, 'if a run is wrong that returns it'),
      printed(neither, 'if a run is right that returns it'),
    ]
    expect(next.slice(-2)).toEqual([
      [...blame, '--bad', 'answer=Sorry.'],
      [...blame, '--ok', 'answer=Sorry.'],
    ])
    const [shown, ...asked] = answers(...next)
    expect(shown).toMatchObject({ code: 0, stdout: expect.stringContaining('refund(') as string })
    // What is left to say is that it costs money.
    for (const { stderr } of asked) {
      expect(stderr).toContain('HARVEST_LIVE_CONSENT')
      const limits = ['to confirm, with a limit', 'to confirm, with the default limit']
      expect(limits.map((about) => printed(stderr, about).slice(-3))).toEqual([
        ['--live', '--max-cost', '2.50'],
        expect.arrayContaining(['--live']),
      ])
    }
  })

  it('what is refused of a command line leads on with the tape that was typed, and with nothing else in its place', {
    tags: 'thorough',
  }, () => {
    const fork = ['fork', 'the run', ...inDir]
    expect(answers(['promote', 'odd', '--as', 'the-case', '--unverified', ...inDir])).toMatchObject([{ code: 0 }])
    const lines: readonly (readonly string[])[] = [
      ['rerun', 'the-case', ...inDir, '--runs', '3'],
      ['rerun', 'the-case', ...inDir, '--max-calls', '9'],
      ['rerun', 'the case', '--golden', '--live', ...inDir],
      ['rerun', ...inDir],
      fork,
      [...fork, '--say', 'no'],
      [...fork, '--step', '1', '--tools', 'live'],
      [...fork, '--step', '1', '--mode', '2=live'],
      [...fork, '--step', '1', '--replace', 'a'],
      [...fork, '--step', '1', '--set', 'a=1', '--set', 'b'],
      [...fork, '--step', '1', '--runs', 'many'],
      [...fork, '--step', '1', '--runs'],
      [...fork, '--step', '1', '--step', '2'],
      [...fork, '--stpe', '1'],
      ['frok', 'the run', '--step', '1'],
      ['chaos', 'the run', ...inDir, '--faults', 'htpp,order'],
      ['chaos', 'the run', ...inDir, '--path', '0:1'],
      ['show', 'the run', 'another', ...inDir],
      ['show', 'the run', ...inDir, '--', 'x'],
      ['show', ...inDir, '--full'],
      ['patch', 'the run', ...inDir],
      ['tapes', 'hold', 'the run', ...inDir],
      ['check', '--max-age', '3d', ...inDir],
      ['export', 'the run', ...inDir],
    ]
    const refused = answers(...lines).map(({ code, stderr }) => {
      expect(code, stderr).toBe(2)
      return stderr
    })
    const next = refused.map((text) =>
      text.split('\n').flatMap((line) => /→ (.*?): (npx .*)$/.exec(line)?.slice(1) ?? []),
    )
    const told = next.map((list, at) => {
      const typed = lines[at] ?? []
      const abouts = list.filter((about, i) => i % 2 === 0 && !/^for all /.test(about ?? ''))
      const commands = abouts.map((about) => printed(refused[at] ?? '', about))
      // Every one is about what was typed, and the first one says what all others were.
      const subject = typed.find((word) => /^the[ -]/.test(word))
      const others = commands.filter((words) => words[0] !== 'ls')
      expect(others.length, refused[at]).toBeGreaterThan(0)
      for (const words of others) if (subject !== undefined) expect(words).toContain(subject)
      return others.map((words) => words.join(' ')).join('\n')
    })
    expect(told.length).toBe(lines.length)
    expect(printed(refused[1] ?? '', 'to confirm')).toContain('--live')
    const [shown, ...bad] = answers(
      printed(refused[4] ?? '', 'to see the steps'),
      printed(refused[4] ?? '', 'with one of them', { '<n>': '0' }),
    )
    expect(shown).toMatchObject({ code: 0, stdout: expect.stringContaining('lookup_order') as string })
    expect(bad.map(({ stderr }) => stderr)).toEqual([expect.stringContaining('--step')])
    expect(answers(['tapes', 'demote', 'the-case', ...inDir])).toMatchObject([{ code: 0 }])
  })

  it('of fork and patch: steps, names and answers that the tape does not have', { tags: 'thorough' }, () => {
    const fork = ['fork', 'the run', ...inDir]
    const patch = ['patch', 'the run', ...inDir]
    const refused = answers(
      [...fork, '--step', '9', '--say', 'No.'],
      [...fork, '--mark', 'plna={"careful":false}'],
      [...fork, '--step', '2', '--edit', 's/nowhere/there/'],
      [...fork, '--step', '3', '--edit', 's/nowhere/there/'],
      [...patch, '--step', '9', '--set', 'result.total=30'],
      [...patch, '--set', 'input.to.nmae=Bo'],
      [...patch, '--set', 'input.total=30'],
    ).map(({ code, stderr }) => {
      expect(code, stderr).toBe(2)
      return stderr
    })
    const [noStep = '', noMark = '', noEdit = '', noText = '', noPatch = '', noName = '', noPlace = ''] = refused
    expect(printed(noMark, 'did you mean plan?')).toEqual([...fork, '--mark', 'plan={"careful":false}'])
    expect(printed(noName, 'did you mean name?')).toEqual([...patch, '--set', 'input.to.name=Bo'])
    expect(printed(noPlace, 'if it is in the answer of a step', { '<step>': '2' })).toEqual([
      ...[...patch, '--set', 'input.total=30'],
      ...['--step', '2'],
    ])
    const shown = answers(
      printed(noStep, 'to see them'),
      printed(noPatch, 'to see them'),
      printed(noPlace, 'to see where a value is recorded', { '<value>': '25' }),
    )
    expect(shown.map(({ code, stderr }) => [code, stderr.includes('HARVEST_')])).toEqual([
      [0, false],
      [0, false],
      [0, false],
    ])
    expect(shown[2]?.stdout).toContain('total')
    expect(inShell(noEdit, 'to see it')).toContain('total')
    inShell(noText, 'to see it')
    expect(readFileSync(join(cwd, 'response.bin'), 'utf8')).toContain('refund')
  })

  it('of fork and patch: an answer that cannot be edited like this is replaced as a whole', {
    tags: 'thorough',
  }, async () => {
    const fork = (step: string, ...change: readonly string[]) => ['fork', 'odd', ...inDir, '--step', step, ...change]
    const patch = (step: string, change: string) => ['patch', 'odd', ...inDir, '--step', step, '--set', change]
    const json = ['--json-patch', 'patch.json']
    writeFileSync(join(cwd, 'patch.json'), '[{"op":"remove","path":"/0"}]')
    const edit = ['--replace', '25', '--with', '30']
    writeFileSync(join(cwd, 'total.txt'), '30 EUR')
    const refused = answers(
      fork('1', ...json),
      fork('2', ...json),
      fork('3', ...edit),
      fork('4', ...edit),
      patch('2', 'body.total=30'),
      patch('1', 'events[2].choices=none'),
    ).map(({ code, stderr }) => {
      expect(code, stderr).toBe(2)
      return stderr
    })
    const [removed = '', noJson = '', gone = '', failed = '', noBody = '', done = ''] = refused
    const next: readonly (readonly [readonly string[], string])[] = [
      [printed(removed, 'to let the model say something else', { '<text>': 'You see.' }), 'You see.'],
      [printed(removed, 'to let it call a tool', { 'tool(key=value)': 'refund(order_id=A-100)' }), 'tool_calls'],
      [printed(noJson, 'to replace all of it', { '<file>': 'total.txt' }), '30 EUR'],
      [printed(failed, 'to give the call an answer', { '<json>': '{"total":30}' }), '"total":30'],
      [printed(noBody, 'to set all of it', { '<text>': '30 EUR' }), '30 EUR'],
    ]
    for (const [words, brought] of next) {
      const { code, stdout, stderr } = await harvest([...words, '--json'], { cwd, env: { CI: '' } })
      expect({ code, stderr }, words.join(' ')).toEqual({ code: 0, stderr: '' })
      expect(stdout.replaceAll('\\', ''), words.join(' ')).toContain(brought)
    }
    expect(inShell(gone, 'to see which steps have one')).toContain('/gone')
    inShell(done, 'to see its events')
    expect(readFileSync(join(cwd, 'response.bin'), 'utf8')).toContain('[DONE]')
  })

  it('of blame and replay: an agent that was named and did not make the run leads to the one that did', {
    tags: 'thorough',
  }, async () => {
    const blame = ['blame', 'the run', ...inDir, '--ok', 'refund(amount: 2500)', '--cross-version', '--dry-run']
    const [refused] = answers([...blame, '--agent', 'odd'])
    expect(refused?.stderr).toContain('odd, but the run is of desk')
    const steps = refused?.stderr.split('\n').filter((line) => line.startsWith('→ ')) ?? []
    expect(steps).toHaveLength(2)
    const own = printed(refused?.stderr ?? '', 'to run desk, whose run it is')
    expect(own).toEqual(blame)
    const whole = printed(refused?.stderr ?? '', 'to see the whole difference')
    expect(whole).toEqual(['replay', 'the run', ...inDir, '--agent', 'odd'])
    const replayed = await harvest(whole, { cwd, env: { CI: '' } })
    expect(replayed.code).toBe(1)
    const back = printed(replayed.stderr, 'to replay desk, whose run it is')
    expect(replayed.stderr.match(/^→ /gm)).toHaveLength(1)
    const same = await harvest(back, { cwd, env: { CI: '' } })
    // All its steps; only the mark is set by the script that records.
    expect(same.stderr).toContain('; 5 of 5 steps served')
    expect(same.stderr).not.toContain('whose run it is')
    const [graded] = answers(own)
    expect(graded?.stderr).toContain('The agent left other marks')
    // Of an agent that this project does not have nothing can be run without naming another one.
    const config = readFileSync(join(cwd, 'vitest.config.ts'), 'utf8')
    writeFileSync(join(cwd, 'vitest.config.ts'), config.replace('"desk":', '"other":'))
    onTestFinished(() => writeFileSync(join(cwd, 'vitest.config.ts'), config))
    const [foreign] = answers([...blame, '--agent', 'odd'])
    expect(foreign?.stderr).toContain('HARVEST_CONTROL')
    expect(foreign?.stderr).not.toContain('whose run it is')
    const replayedAs = await harvest(whole, { cwd, env: { CI: '' } })
    expect(replayedAs).toMatchObject({ code: 1, stderr: expect.not.stringContaining('whose run it is') as string })
  })

  it('of check: an inbox that was staged is unstaged and ignored, in whichever folder it is and from wherever it is typed', {
    tags: 'thorough',
  }, () => {
    const git = (...args: readonly string[]): string =>
      execFileSync('git', ['-c', 'user.name=a', '-c', 'user.email=a@b.c', ...args], { cwd, encoding: 'utf8' })
    git('init', '--quiet')
    git('add', recordings)
    for (const folder of [cwd, join(cwd, 'src')]) {
      git('add', '--force', recordings)
      const dir = folder === cwd ? recordings : `../${recordings}`
      const [staged] = many([['check', '--staged', '--dir', dir]], folder)
      const all = staged?.stdout ?? ''
      for (const [, command = ''] of all.matchAll(/→ to (?:unstage it|ignore the inbox): (.*)$/gm))
        execFileSync('sh', ['-c', command], { cwd: folder, stdio: 'ignore' })
      const left = git('diff', '--cached', '--name-only', '--', recordings)
      const ignored = git('status', '--short', '--', `${recordings}/inbox`)
      expect({ all, left, ignored }).toEqual({
        all: expect.stringContaining('HARVEST_CHECK_INBOX'),
        left: '',
        ignored: '',
      })
      rmSync(join(cwd, recordings, '.gitignore'))
    }
  })

  it('of doctor: the newest tape becomes a case, and a first run is missing where there is none', () => {
    const [here, nowhere] = answers(['doctor', ...inDir], ['doctor', '--dir', 'none'])
    const promote = printed(here?.stdout ?? '', 'to make a case of the newest tape', { '<id>': 'mine' })
    expect(promote).toEqual(['promote', 'still', '--as', 'mine', ...inDir])
    expect(nowhere?.stdout).toMatch(/→ to record a first run: https:.*recording\.md$/m)
  })
})
