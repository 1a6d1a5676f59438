import { createServer, type AddressInfo, type Server } from 'node:net'
import { existsSync } from 'node:fs'
import { once } from 'node:events'
import path from 'node:path'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { type Home, type InlineProject, type Lane, openHome, type RunResult } from './inline.ts'
import { config, golden, refundBaseline, refundSources } from './refund.ts'
import { reported, withJson } from './reports.ts'

/** Agents that do one thing more than answer. */
const sources = (port: number): Readonly<Record<string, string>> => ({
  ...refundSources,
  'src/writes.ts': `import { writeFileSync } from 'node:fs'
export default () => {
  try {
    writeFileSync('scratch.txt', 'notes')
  } catch (error) {
    return 'it would not'
  }
}
`,
  // Started while it loads, and belongs to no run.
  'src/late.ts': `import { connect } from 'node:net'
const knock = () => connect(${port}, '127.0.0.1').on('error', () => undefined)
let answered = false
let turns = 0
const again = () => { if (answered && ++turns > 1) knock(); else setImmediate(again) }
export default async () => { answered = true }
setImmediate(again)
`,
  // In the context of its run.
  'src/unawaited.ts': `import { connect } from 'node:net'
export default async () => {
  void (async () => {
    for (let i = 0; i < 500; i++) await undefined
    connect(${port}, '127.0.0.1').on('error', () => undefined)
  })()
}
`,
  'src/reads.ts': `import { readFileSync } from 'node:fs'
export default () => { readFileSync('/etc/hostname'); }
`,
})
const named = (...names: readonly string[]) => names.map((name) => `${name}: './src/${name}.ts'`).join(', ')
const idle = (agent: string, id = agent) => golden(id, 'baseline: []\noutcome: "*"\n', { agent, calls: [] })

describe.each<Lane>([5, 4])('cases under Vitest %i', (lane) => {
  let home: Home
  let server: Server
  let port = 0
  const knocks: number[] = []
  beforeAll(async () => {
    home = openHome(lane)
    server = createServer((socket) => {
      knocks.push(socket.remotePort ?? 0)
      socket.destroy()
    })
    await once(server.listen(0, '127.0.0.1'), 'listening')
    port = (server.address() as AddressInfo).port
  })
  afterAll(() => {
    server.close()
    home?.[Symbol.dispose]()
  })

  const open = (name: string, options: string, agents: readonly string[], test = ''): InlineProject =>
    home.project(name, {
      'vitest.config.ts': config(options, test, named(...agents)),
      ...sources(port),
      ...golden('holds', refundBaseline),
      ...Object.assign({}, ...agents.map((agent) => idle(agent))),
    })

  describe('that are not confined', () => {
    let project: InlineProject
    let result: RunResult
    beforeAll(async () => {
      project = open('seam', '', ['writes', 'late', 'unawaited'])
      result = await project.run(['run', '--maxWorkers=1', ...withJson])
    })

    it('tell the file an agent writes, its line, and stay green', () => {
      expect(result.output).toContain('Writes  scratch.txt (fs.writeFileSync, src/writes.ts:4:5)')
      const writes = reported(project).get('golden/writes')
      expect(writes).toMatchObject({
        status: 'passed',
        meta: { harvest: { listed: [{ kind: 'write', target: 'scratch.txt', site: 'src/writes.ts:4:5' }] } },
      })
      expect(project.read('scratch.txt')).toBe('notes')
    })

    it('refuse what goes on after the run, name the case, and turn the run red', () => {
      expect(knocks).toEqual([])
      for (const name of ['late', 'unawaited'])
        expect(result.output).toMatch(new RegExp(`Blocked real I/O after the run: socket 127[^]*?case +${name}\n`))
      expect(result.code).toBe(1)
    })
  })

  describe("under confine: 'strict'", () => {
    let project: InlineProject
    let result: RunResult
    beforeAll(async () => {
      const options = "confine: { default: 'strict', agents: { apart: 'seam' } }, reads: 'project'"
      project = home.project('strict', {
        'vitest.config.ts': config(options, '', `${named('writes', 'reads')}, apart: './src/writes.ts'`),
        ...sources(port),
        ...golden('holds', refundBaseline),
        ...idle('writes'),
        ...idle('reads'),
        ...idle('apart'),
      })
      result = await project.run(['run', '--maxWorkers=1'])
    })

    it('replay as before, and the summary says how many are confined', () => {
      expect(result.output).toMatch(/Recordings {2}2 replayed, 1 escaped, 1 diverged/)
      expect(result.output).toContain('Confine  strict: 3 of 4 cases; seam: apart')
    })

    it('have a file write refused by Node, and told with the line', () => {
      expect(result.output).toMatch(
        /Blocked real I\/O during replay: FileSystemWrite scratch\.txt\n[^]*?src\/writes\.ts:4:5/,
      )
      expect(result.output).toContain("confine: { default: 'strict', agents: { 'writes': 'seam' } }")
    })

    it('read nothing outside of the project where that was asked', () => {
      expect(result.output).toContain('Access to this API has been restricted')
    })

    it('leave an agent out that the config names, in a project of its own', () => {
      expect(result.output).toContain('Writes  scratch.txt (fs.writeFileSync, src/writes.ts:4:5)')
      expect(result.output).toContain('recordings (seam)')
      expect(project.read('scratch.txt')).toBe('notes')
    })
  })

  it('are red where strict was asked and Node does not enforce it', async () => {
    const project = open('loose', "confine: 'strict'", [], "execArgv: ['--allow-worker']")
    const result = await project.run(['run'])
    expect(result.output).toContain("Node does not enforce `confine: 'strict'`")
    expect(result.output).toContain('HARVEST_NOT_CONFINED')
    expect(result.code).toBe(1)
  })

  it('under watch do what they did, and tell what strict would refuse', async () => {
    const project = open('watch', "confine: 'watch'", ['writes'])
    const result = await project.run(['run'])
    expect(result.code, result.output).toBe(0)
    expect(result.output).toContain('Confine  watch: 2 of 2 cases')
    expect(result.output).toMatch(/Audit {2}scratch\.txt \(FileSystemWrite, src\/writes\.ts:4:5\)/)
    expect(existsSync(path.join(project.folder, 'scratch.txt'))).toBe(true)
  })
})
