import { mkdirSync, readdirSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { pathToFileURL } from 'node:url'
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest'
import { type Desk, deskProject, openDesk, recordDesk, usual } from './desk.ts'
import { harvest, warmHarvest } from './harvest.ts'

/** Loaded by each process of a command: nothing can be written below FULL once the file beside it is there. */
const disk = `import fs from 'node:fs'
import { syncBuiltinESMExports } from 'node:module'

const { FULL: full } = process.env
const isFull = (path) => String(path).startsWith(full) && fs.existsSync(full + '.full')
for (const name of ['writeFileSync', 'appendFileSync', 'mkdirSync']) {
  const original = fs[name]
  fs[name] = (path, ...rest) => {
    if (isFull(path)) throw Object.assign(new Error('no space left on device'), { code: 'ENOSPC', syscall: 'write' })
    return original(path, ...rest)
  }
}
syncBuiltinESMExports()
`

describe('a disk on which no run can be kept', () => {
  let desk: Desk
  let cwd = ''
  const kept = (): string => join(cwd, 'recordings/inbox/.forks')
  const fills = (): void => writeFileSync(`${kept()}.full`, '')
  beforeAll(async () => {
    desk = await openDesk(usual)
    cwd = deskProject()
    writeFileSync(join(cwd, 'disk.mjs'), disk)
    await recordDesk(cwd, desk, 'good', ['Refund A-100.'])
    desk.decide = tooMuch
    await recordDesk(cwd, desk, 'bad', ['Refund A-100.'])
  })
  beforeEach(() => {
    desk.decide = usual
    desk.asked.length = 0
    rmSync(kept(), { recursive: true, force: true })
    rmSync(`${kept()}.full`, { force: true })
  })
  afterAll(async () => {
    rmSync(cwd, { recursive: true, force: true })
    await desk.close()
  })
  const tooMuch: Desk['decide'] = (messages) => {
    const done = messages.filter(({ role }) => role === 'tool').length
    return done === 1 ? { tool: 'refund', args: { order_id: 'A-100', amount: 2500 } } : usual(messages)
  }
  /** Says no two times the same, and fills the disk as it answers for the n-th time. */
  const fillsAt = (n: number): Desk['decide'] => {
    return (messages) => {
      if (desk.asked.length === n) fills()
      const decided = usual(messages)
      return typeof decided === 'string' ? `${decided} (${desk.asked.length})` : decided
    }
  }
  const run = (...args: readonly string[]) => {
    const env = {
      DESK_URL: desk.url,
      CI: '',
      FULL: kept(),
      NODE_OPTIONS: `--import=${pathToFileURL(join(cwd, 'disk.mjs')).href}`,
    }
    return harvest(args, { cwd, env })
  }
  const blame = ['blame', 'bad', '--ok', 'refund(amount: 25)', '--live', '--max-runs', '6', '--cross-version']
  const fork = [
    'fork',
    'bad',
    '--step',
    '3',
    '--live',
    '--tools',
    'live',
    '--runs',
    '3',
    '--cross-version',
    '--parallel',
    '1',
  ]

  it.each([
    ['blame', blame],
    ['blame --isolate', [...blame, '--isolate']],
    ['fork', fork],
    ['fork --critical', ['fork', 'bad', '--critical', '--ok', 'refund(amount: 25)', '--live', '--cross-version']],
  ])('%s is refused before a model is asked', { tags: 'thorough' }, async (_, args) => {
    fills()
    const { code, stdout, stderr } = await run(...args)
    expect([code, stdout]).toEqual([2, ''])
    expect(stderr).toContain('Cannot write a file of the recordings')
    expect(stderr).toMatch(/system +ENOSPC on write[^]*\(HARVEST_RECORDINGS_WRITE\)/)
    expect(stderr).not.toContain('Vitest')
    expect(desk.asked.length).toBe(0)
  })

  it('a free fork needs no place: it says what it finds, and that it is not kept', { tags: 'thorough' }, async () => {
    fills()
    const { code, stdout, stderr } = await run('fork', 'good', '--step', '2', '--set', 'result.total=30')
    expect([code, stderr]).toEqual([1, expect.stringContaining('HARVEST_RECORDINGS_WRITE')])
    expect(stdout).toContain('good: ')
  })

  it('blame goes on to its verdict when the disk fills up meanwhile, and says once what is not kept', {
    tags: 'thorough',
  }, async () => {
    desk.decide = fillsAt(4)
    const { stdout, stderr } = await run(...blame)
    expect(stderr.match(/Runs cannot be kept for later sessions/g)).toHaveLength(1)
    expect(stderr).toMatch(/ENOSPC on write[^]*HARVEST_RECORDINGS_WRITE/)
    expect(stderr).not.toContain('HARVEST_AGENTS_UNREACHABLE')
    expect(stdout).toMatch(/of 6|6 forks|6 runs/)
    expect(stdout).toContain('model calls')
  })

  it('fork goes on to its answer when the disk fills up meanwhile, and the forks before are kept', {
    tags: 'thorough',
  }, async () => {
    desk.decide = fillsAt(3)
    const { code, stdout, stderr } = await run(...fork)
    expect([code, stderr.match(/Runs cannot be kept for later sessions/g)?.length]).toEqual([0, 1])
    expect(stdout).toMatch(/^ +3 /m)
    rmSync(`${kept()}.full`)
    desk.asked.length = 0
    const again = await run(...fork)
    expect(again.stdout).toContain('1 fork reused')
    expect(desk.asked.length).toBe(4)
  })

  it('branches that cannot be saved are told all the same', { tags: 'thorough' }, async () => {
    const words = ['fork', 'good', '--step', '5', '--live', '--cross-version', '--save']
    const inbox = join(cwd, 'recordings/inbox')
    const { stdout: usually, code: usualCode } = await warmHarvest(words, { cwd, env: { DESK_URL: desk.url } })
    const saved = readdirSync(inbox).filter((name) => /^(?!(?:bad|good)\.).+\.tape\.jsonl$/.test(name))
    expect([usualCode, saved]).toEqual([0, [expect.any(String)]])
    rmSync(join(inbox, saved[0]!))
    mkdirSync(join(inbox, saved[0]!))
    const { code, stdout, stderr } = await warmHarvest(words, { cwd, env: { DESK_URL: desk.url } })
    rmSync(join(inbox, saved[0]!), { recursive: true })
    expect([code, stderr]).toEqual([2, expect.stringContaining('HARVEST_RECORDINGS_WRITE')])
    expect(stdout.split('\n')[0]).toBe(usually.split('\n')[0])
  })

  it.each([
    ['blame', blame],
    ['fork', fork],
    ['a free fork', ['fork', 'good', '--step', '2', '--set', 'result.total=30']],
  ])('%s says it plainly where a file stands in the place of the folder', async (_, args) => {
    writeFileSync(kept(), '')
    const { code, stdout, stderr } = await warmHarvest(args, { cwd, env: { DESK_URL: desk.url, CI: '' } })
    expect([code, stdout]).toEqual([2, ''])
    expect(stderr).toMatch(/Cannot write a file of the recordings[^]*ENOTDIR[^]*\(HARVEST_RECORDINGS_WRITE\)/)
    expect(desk.asked.length).toBe(0)
  })
})
