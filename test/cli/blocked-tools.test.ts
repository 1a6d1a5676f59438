import { execFileSync } from 'node:child_process'
import { rmSync, writeFileSync } from 'node:fs'
import { type AddressInfo, createServer, type Server } from 'node:net'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { type Desk, deskAgent, deskProject, openDesk, recordDesk, usual } from './desk.ts'
import { warmHarvest as harvest } from './harvest.ts'
import { configFor } from './project.ts'

/** A wrapped tool that asks a database over a socket of its own: no recorder sees that. */
const asking = `import { connect } from 'node:net'
import { text } from 'node:stream/consumers'
const order = async () => JSON.parse(await text(connect(Number(process.env.DB_PORT), '127.0.0.1')))
`

describe('a socket of a wrapped tool, where tools run for real', () => {
  let desk: Desk
  let database: Server
  let cwd = ''
  const git = (...args: string[]): string =>
    execFileSync('git', ['-c', 'user.name=a', '-c', 'user.email=a@b.c', ...args], { cwd, encoding: 'utf8' })
  const env = (): Record<string, string> => ({ DESK_URL: desk.url, DB_PORT: `${port()}`, CI: '' })
  const port = (): number => (database.address() as AddressInfo).port
  const run = (...args: string[]) => harvest(args, { cwd, env: env() })
  beforeAll(async () => {
    desk = await openDesk(usual)
    database = createServer((socket) => socket.end('{"order_id":"A-100","total":25}'))
    await new Promise<void>((listening) => database.listen(0, '127.0.0.1', listening))
    cwd = deskProject()
    const agent = deskAgent.replace(/lookup_order: async .*/, 'lookup_order: async (_: unknown) => order(),')
    writeFileSync(join(cwd, 'src/desk.ts'), asking + agent)
    writeFileSync(join(cwd, '.gitignore'), 'node_modules\nrecordings/inbox\n.vitest\n')
    git('init', '--quiet')
    git('add', '-A')
    git('commit', '--quiet', '-m', 'the desk')
    process.env['DB_PORT'] = `${port()}`
    await recordDesk(cwd, desk, 'first', ['Refund A-100.', git('rev-parse', 'HEAD').trim()])
    expect((await run('promote', 'first', '--as', 'paid', '--expect', 'fail', '--unverified')).code).toBe(0)
  })
  afterAll(async () => {
    delete process.env['DB_PORT']
    rmSync(cwd, { recursive: true, force: true })
    database.close()
    await desk.close()
  })

  const allow = (list: readonly string[]): void =>
    writeFileSync(
      join(cwd, 'vitest.config.ts'),
      configFor({ desk: './src/desk.ts#deskAgent' }).replace('} })', `}, allow: ${JSON.stringify(list)} })`),
    )
  const reached = (): string => `socket 127.0.0.1:${port()}`
  const step = (): string => `→ if runs may reach it, in harvest() of the Vitest config: allow: ['${reached()}']\n`
  const asked = async (words: readonly string[]) => {
    const before = desk.asked.length
    const fresh = words[0] === 'rerun' ? [] : ['--no-cache']
    const { code, stdout, stderr } = await run(...words, '--live', '--tools', 'live', '--cross-version', ...fresh)
    return { code, said: stdout + stderr, calls: desk.asked.length - before }
  }
  const rerun = ['rerun', 'paid', '--runs', '2', '--ok', 'refund(amount: 25)']
  const fork = ['fork', 'first', '--step', '1', '--runs', '2']
  const blame = ['blame', 'first', '--bad', 'refund(*)', '--max-runs', '40']

  it.each([[rerun.slice(0, -2)], [fork], [blame], [[...blame, '--isolate']]])(
    'is refused before a model is asked where the config allows no socket at all: %j',
    async (words) => {
      allow([])
      const refused = await asked(words)
      expect(refused).toMatchObject({ code: 2, calls: 0 })
      expect(refused.said).toContain('The recorded run reached a socket that harvest() does not allow')
      expect(refused.said).toContain(step())
    },
  )

  it.each([[rerun], [fork], [blame]])(
    'is named with what to write into the config, where that allows another one: %j',
    { tags: 'thorough' },
    async (words) => {
      allow(['socket 127.0.0.1:1'])
      const refused = await asked(words)
      expect(refused.code).toBe(1)
      expect(refused.said).toContain('Blocked real I/O that harvest() does not allow')
      expect(refused.said).toContain(step())
      expect(refused.said).not.toMatch(/decided otherwise|record a run that makes it|--tools tape/)
      allow([reached()])
      const followed = await asked(words)
      expect(followed.said).not.toContain('HARVEST_NOT_RECORDED')
    },
  )
})
