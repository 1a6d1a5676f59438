import '../support/packed.ts'
import { type ChildProcess, spawn } from 'node:child_process'
import { once } from 'node:events'
import { existsSync, mkdirSync, readdirSync, readFileSync, statSync, writeFileSync } from 'node:fs'
import { type AddressInfo, createServer, type Server } from 'node:net'
import path from 'node:path'
import { DatabaseSync } from 'node:sqlite'
import { afterAll, beforeAll, describe, expect, it, test } from 'vitest'
import { describeLanes, type Home, type InlineProject, openHome, type RunResult } from '../host/inline.ts'
import { config, golden, refundBaseline, refundSources } from '../host/refund.ts'
import { reported, type ReportedTest, withJson } from '../host/reports.ts'
import { foreignCases } from './foreign-cases.ts'
import { lateAgents } from './ways/late-agents.ts'
import { type Canary, type Fate, ways } from './ways/ways.ts'

type Mode = 'seam' | 'watch' | 'strict'

/** Agents that do one thing more than answer. */
const sources: Readonly<Record<string, string>> = {
  ...refundSources,
  ...Object.fromEntries(
    ['ways', 'odd-ways'].map((name) => [
      `src/${name}.ts`,
      readFileSync(path.join(import.meta.dirname, `ways/${name}.ts`), 'utf8'),
    ]),
  ),
  'src/try.ts': `import { ways } from './ways.ts'
export default async ({ way, canary }) => {
  try {
    await ways[way].go(canary)
  } catch {
    // What was refused is on the list.
  }
}
`,
  'src/writes.ts': `import { writeFileSync } from 'node:fs'
export default () => {
  try {
    writeFileSync('scratch.txt', 'notes')
  } catch (error) {
    return 'it would not'
  }
}
`,
  'src/writes-late.ts': `import { AsyncLocalStorage } from 'node:async_hooks'
import { writeFileSync } from 'node:fs'
// Of no run, so in real time.
const outside = AsyncLocalStorage.snapshot()
export default () => void outside(() => setTimeout(() => writeFileSync('late.txt', 'notes'), 60))
`,
  'src/writes-between.ts': `import { AsyncLocalStorage } from 'node:async_hooks'
import { writeFileSync } from 'node:fs'
import { onTestFinished } from 'vitest'
const outside = AsyncLocalStorage.snapshot()
// Its case is over, and Vitest has not heard so.
export default () => onTestFinished(() => outside(() => writeFileSync('between.txt', 'notes')))
`,
  'src/reads.ts': `import { readFileSync } from 'node:fs'
export default () => { readFileSync('/etc/hostname'); }
`,
  'src/quiet.ts': 'export default () => undefined\n',
}
const idle = (agent: string, id = agent, input?: unknown) =>
  golden(id, 'baseline: []\noutcome: "*"\n', { agent, calls: [], ...(input === undefined ? {} : { input }) })
const named = (agents: Readonly<Record<string, string>>) =>
  Object.entries(agents)
    .map(([name, file]) => `'${name}': './src/${file}.ts'`)
    .join(', ')
/** What these tests are about on this Node. */
const tried = Object.entries(ways).filter(([, way]) => way.isMissing !== true)
const idOf = (mode: Mode, way: string) => `${mode}-${way.toLowerCase().replaceAll(/[^a-z0-9]+/g, '-')}`

describeLanes('from the tarball, under Vitest %i', (lane) => {
  let home: Home
  let server: Server
  let bystander: ChildProcess
  let port = 0
  const arrived: number[] = []
  beforeAll(async () => {
    home = openHome(lane)
    bystander = spawn(process.execPath, ['-e', 'setInterval(() => {}, 1000)'], { stdio: 'ignore' })
    server = createServer((socket) => {
      arrived.push(socket.remotePort ?? 0)
      socket.destroy()
    })
    await once(server.listen(0, '127.0.0.1'), 'listening')
    port = (server.address() as AddressInfo).port
  })
  afterAll(() => {
    server?.close()
    bystander?.kill()
    home?.[Symbol.dispose]()
  })

  /** A case for each way out, with a folder of its own. */
  function tryAll(project: InlineProject, mode: Mode): void {
    for (const [way] of tried) {
      const folder = path.join(project.folder, 'canary', idOf(mode, way))
      mkdirSync(path.join(folder, 'node_modules/bcrypt'), { recursive: true })
      for (const parent of ['.', 'node_modules/bcrypt'])
        writeFileSync(path.join(folder, parent, 'add-on.node'), 'no machine code')
      writeFileSync(path.join(folder, 'env'), 'HARVEST_CANARY=1\n')
      const database = path.join(project.folder, 'canary', `${mode}.db`)
      const canary: Canary = { folder, database, port, pid: bystander.pid ?? 0 }
      for (const [file, text] of Object.entries(idle(mode, idOf(mode, way), { way, canary }))) project.write(file, text)
    }
    for (const [name, more] of [
      [`${mode}.db`, ''],
      [`${mode}.db-ahead`, 'pragma journal_mode = wal;'],
    ]) {
      const database = new DatabaseSync(path.join(project.folder, 'canary', name!))
      database.exec(`${more} create table t(a)`)
      database.close()
    }
  }

  /** What appeared in the folder of a way, or is gone from it. */
  function touched(project: InlineProject, mode: Mode, way: string): readonly string[] {
    const before = ['add-on.node', 'env', 'node_modules']
    const after = readdirSync(path.join(project.folder, 'canary', idOf(mode, way)))
    return [...after.filter((one) => !before.includes(one)), ...before.filter((one) => !after.includes(one))]
  }

  let shut: InlineProject
  let shutResult: RunResult
  let watched: InlineProject
  let watchedResult: RunResult
  const foreign = foreignCases()
  const late = (name: string) => path.join(shut.folder, 'canary', `late-${name}`)
  const lateNames = Object.keys(lateAgents(0, String))

  beforeAll(async () => {
    const open = ['seam', 'apart', 'writes-late', 'writes-between', ...lateNames]
    const options = `confine: { default: 'strict', agents: { ${open.map((name) => `'${name}': 'seam'`).join(', ')} } }, reads: 'project'`
    const agents = {
      strict: 'try',
      seam: 'try',
      writes: 'writes',
      reads: 'reads',
      apart: 'writes',
      'writes-late': 'writes-late',
      'writes-between': 'writes-between',
    }
    shut = home.project('shut', {
      'vitest.config.ts': config(
        options,
        '',
        `${named(agents)}, ${named(Object.fromEntries(lateNames.map((name) => [name, name])))}`,
      ),
      ...sources,
      ...golden('holds', refundBaseline),
      ...Object.assign({}, ...['writes', 'reads', 'apart', 'writes-between', ...lateNames].map((agent) => idle(agent))),
    })
    // Vitest begins with the largest file: others follow while the agent writes.
    for (const [file, text] of Object.entries(idle('writes-late')))
      shut.write(file, file.endsWith('.yaml') ? `${text}# ${'-'.repeat(4000)}\n` : text)
    for (const [name, text] of Object.entries(lateAgents(port, late))) shut.write(`src/${name}.ts`, text)
    for (const mode of ['seam', 'strict'] as const) tryAll(shut, mode)
    shutResult = await shut.run(['run', '--maxWorkers=1', ...withJson])

    watched = home.project('watched', {
      'vitest.config.ts': config(
        `confine: { default: 'watch', agents: { apart: 'seam' } }`,
        '',
        named({ watch: 'try', writes: 'writes', apart: 'writes', quiet: 'quiet' }),
      ),
      ...sources,
      ...Object.assign({}, ...['writes', 'apart'].map((agent) => idle(agent))),
    })
    for (const [file, content] of Object.entries(foreign.files)) {
      mkdirSync(path.dirname(path.join(watched.folder, file)), { recursive: true })
      writeFileSync(path.join(watched.folder, file), content)
    }
    tryAll(watched, 'watch')
    watchedResult = await watched.run(['run', '--maxWorkers=1', ...withJson])
  })

  describe.each<Mode>(['seam', 'watch', 'strict'])('every way out of a replay, confined by `%s`', (mode) => {
    const project = () => (mode === 'watch' ? watched : shut)
    const of = (way: string): ReportedTest => reported(project()).get(`golden/${idOf(mode, way)}`)!

    test('is refused, listed or harmless as the table says', () => {
      const expected = tried.map(([name, way]) => {
        const fate = mode === 'strict' ? (way.strict ?? way.seam) : way.seam
        return [name, fate === 'unseen' ? 'open' : fate]
      })
      expect(Object.fromEntries(tried.map(([name]) => [name, fateOf(of(name))]))).toEqual(Object.fromEntries(expected))
    })

    test('touches no file but those that are listed, and under `strict` none', () => {
      const found = tried.flatMap(([name]) => (touched(project(), mode, name).length > 0 ? [name] : []))
      expect(found.filter((name) => fateOf(of(name)) !== 'listed')).toEqual([])
      if (mode === 'strict') expect(found).toEqual([])
      else expect(found.length).toBeGreaterThan(5)
      expect(existsSync(path.join(project().folder, 'canary', `${mode}.db-ahead-wal`))).toBe(mode !== 'strict')
      // What is unseen: the times of a file that is only opened to read.
      const { mtimeMs } = statSync(path.join(project().folder, 'canary', `${mode}.db`))
      expect(mtimeMs === 1000).toBe(mode !== 'strict')
    })

    test('names the line of the agent', () => {
      const told = tried.filter(([name, way]) => way.isFarFromAgent !== true && /refused|listed/.test(fateOf(of(name))))
      expect(told.length).toBeGreaterThan(30)
      expect(told.flatMap(([name]) => (/src\/(?:odd-)?ways\.ts:\d+/.test(saidOf(of(name))) ? [] : [name]))).toEqual([])
    })

    test('says what was refused, and what to do', () => {
      const refused = tried.filter(([name]) => fateOf(of(name)) === 'refused')
      expect(refused.length).toBeGreaterThan(20)
      const isSaid = (name: string) =>
        /Blocked [^\n]+: \S[^]*→ [^]*\(HARVEST_ESCAPE\)/.test(of(name).failureMessages.join())
      expect(refused.flatMap(([name]) => (isSaid(name) ? [] : [name]))).toEqual([])
    })
  })

  it('nothing reaches the canary port or the canary process', () => {
    expect(arrived).toEqual([])
    expect(bystander.exitCode ?? bystander.signalCode).toBeNull()
  })

  describe('cases that are not confined', () => {
    it('tell the file an agent writes, its line, and stay green', () => {
      expect(watchedResult.output).toContain('Writes  scratch.txt (fs.writeFileSync, src/writes.ts:4:5)')
      expect(reported(watched).get('golden/apart')).toMatchObject({
        status: 'passed',
        meta: { harvest: { listed: [{ kind: 'write', target: 'scratch.txt', site: 'src/writes.ts:4:5' }] } },
      })
      expect(watched.read('scratch.txt')).toBe('notes')
    })

    it.each([
      ['late', /^src\/writes-late\.ts:5:/],
      ['between', /^src\/writes-between\.ts:6:/],
    ])('tell the file that an agent writes when its case is over: %s', (name, site) => {
      expect(shut.read(`${name}.txt`)).toBe('notes')
      const listed = [{ kind: 'write', target: `${name}.txt`, site: expect.stringMatching(site) }]
      expect(reported(shut).get(`golden/writes-${name}`)).toMatchObject({
        status: 'passed',
        meta: { harvest: { listed } },
      })
    })

    it('refuse what goes on after the run, name the case, and turn the run red', () => {
      for (const name of ['loaded', 'unawaited'])
        expect(shutResult.output).toMatch(new RegExp(`Blocked real I/O after the run: socket 127[^]*?case +${name}\n`))
      expect(shutResult.output).toMatch(/Blocked real I\/O after the run: child_process\.spawnSync[^]*?case +hears\n/)
      expect(shutResult.code).toBe(1)
    })

    it('start nothing from a listener of the process, long after the run', () => {
      expect(lateNames.filter((name) => existsSync(late(name)))).toEqual([])
    })
  })

  describe("cases under confine: 'strict'", () => {
    it('replay as before, and the summary says how many are confined', () => {
      expect(reported(shut).get('golden/holds')?.status).toBe('passed')
      expect(shutResult.output).toMatch(
        new RegExp(
          `Confine {2}strict: ${tried.length + 3} of ${2 * tried.length + 6 + lateNames.length} cases; seam: apart, `,
        ),
      )
    })

    it('have a file write refused by Node, and told with the line', () => {
      const told = reported(shut).get('golden/writes')?.failureMessages.join()
      expect(told).toMatch(/Blocked real I\/O during replay: FileSystemWrite scratch\.txt\n[^]*?src\/writes\.ts:4:5/)
      expect(told).toContain("confine: { default: 'strict', agents: { 'writes': 'seam' } }")
    })

    it('read nothing outside of the project where that was asked', () => {
      expect(reported(shut).get('golden/reads')?.failureMessages.join()).toContain(
        'Access to this API has been restricted',
      )
    })

    it('leave an agent out that the config names, in a project of its own', () => {
      expect(reported(shut).get('golden/apart')?.meta.harvest).toMatchObject({
        listed: [{ kind: 'write', target: 'scratch.txt', by: 'fs.writeFileSync', site: 'src/writes.ts:4:5' }],
      })
      expect(shutResult.output).toContain('recordings (seam)')
      expect(shut.read('scratch.txt')).toBe('notes')
    })

    it('are red where strict was asked and Node does not enforce it', async () => {
      const loose = home.project('loose', {
        'vitest.config.ts': config("confine: 'strict'", "execArgv: ['--allow-worker']"),
        ...sources,
        ...golden('holds', refundBaseline),
      })
      const result = await loose.run(['run'])
      expect(result.output).toContain("Node does not enforce `confine: 'strict'`")
      expect(result.output).toContain('HARVEST_NOT_CONFINED')
      expect(result.code).toBe(1)
    })
  })

  it('under watch do what they did, and tell what strict would refuse', () => {
    expect(watchedResult.output).toMatch(/Confine {2}watch: \d+ of \d+ cases; seam: apart/)
    expect(watchedResult.output).toMatch(/Audit {2}\S/)
    expect(reported(watched).get('golden/writes')).toMatchObject({
      status: 'passed',
      meta: {
        harvest: {
          listed: [{ kind: 'audit', by: 'FileSystemWrite', target: 'scratch.txt', site: 'src/writes.ts:4:5' }],
        },
      },
    })
  })

  it('a case or tape of a stranger that is not sound is red, with what is wrong, and what it brings does not run', () => {
    const tests = reported(watched)
    const green = Object.keys(foreign.codes).filter((name) => tests.get(`golden/${name}`)?.status === 'passed')
    expect(green).toEqual([])
    for (const [name, code] of Object.entries(foreign.codes)) expect(watchedResult.output, name).toContain(code)
    // Sound, but for a command line that nobody asked to run.
    expect(tests.get('golden/command')?.status).toBe('passed')
    expect(foreign.canaries.filter((file) => existsSync(path.join(watched.folder, file)))).toEqual([])
  })
})

function saidOf({ failureMessages, meta }: ReportedTest): string {
  return failureMessages.join() + JSON.stringify(meta.harvest?.['listed'] ?? [])
}

function fateOf({ status, meta }: ReportedTest): Fate {
  if (Number(meta.harvest?.['escapes'] ?? 0) > 0) return 'refused'
  if (status !== 'passed') return 'served'
  return Array.isArray(meta.harvest?.['listed']) && meta.harvest['listed'].length > 0 ? 'listed' : 'open'
}
