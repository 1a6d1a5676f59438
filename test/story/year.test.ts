import { type ChildProcess, execFileSync, spawn } from 'node:child_process'
import { globSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { compileCache } from '../../fixtures/child/compile-cache.ts'
import { readTape } from '../../src/tape/index.ts'
import { warmHarvest as harvest, warmRun as run } from '../cli/harvest.ts'
import { project } from '../cli/project.ts'
import { binomialBounds } from '../record/binomial.ts'
import { startModel } from './model.ts'
import { shop, type Ticket, ticketsOfADay } from './shop.ts'

const count = 1_000
const golden = 'recordings/golden/paid-twice.case.yaml'

// One story, told in order: each step builds on the one before.
describe('a year with a golden set', { tags: 'thorough' }, () => {
  let cwd = ''
  let model: Awaited<ReturnType<typeof startModel>>
  const tickets = ticketsOfADay(count)
  const incidents = tickets.filter(({ isIncident }) => isIncident)
  const kept = new Map<string, string>()

  beforeAll(async () => {
    model = await startModel()
    cwd = project(shop)
    // The model of this story stands in for the provider the agents ask when nobody says otherwise.
    const hosts = JSON.stringify({ [new URL(model.url).origin]: ['https://api.openai.com'] })
    edit('vitest.config.ts', 'harvest({ ', `harvest({ hosts: ${hosts}, `)
    git('init', '--quiet', '--initial-branch=main')
    commit('the shop')
  })
  afterAll(async () => {
    await model.close()
    rmSync(cwd, { recursive: true, force: true })
  })

  const git = (...args: readonly string[]): string =>
    execFileSync('git', ['-c', 'user.name=Ada', '-c', 'user.email=ada@example.com', ...args], { cwd, encoding: 'utf8' })
  const commit = (message: string): void => {
    git('add', '-A')
    git('commit', '--quiet', '-m', message)
  }
  const vitest = (env: Record<string, string> = { CI: '1' }) =>
    run(process.execPath, [join(cwd, 'node_modules/vitest/vitest.mjs'), 'run'], { cwd, env: { NO_COLOR: '1', ...env } })
  const edit = (file: string, from: string, to: string): void => {
    const text = readFileSync(join(cwd, file), 'utf8')
    expect(text).toContain(from)
    writeFileSync(join(cwd, file), text.replace(from, to))
  }

  it('production records 1,000 runs of three agents at 5 %, keeps all 12 incidents and a fair share of the rest', async () => {
    await serveTickets(cwd, { MODEL_URL: model.url, GIT_SHA: git('rev-parse', 'HEAD').trim() }, tickets)
    for (const file of globSync('recordings/inbox/*.tape.jsonl', { cwd })) {
      const { header, close } = readTape(join(cwd, file))
      expect(close).toBeDefined()
      kept.set(header.id, (close?.kept ?? []).map(({ because }) => because).join(' '))
    }
    expect(incidents.map(({ id }) => id).filter((id) => !kept.has(id))).toEqual([])
    const sampled = kept.size - incidents.length
    const [low, high] = binomialBounds(count - incidents.length, 0.05, 1e-6)
    expect(sampled).toBeGreaterThanOrEqual(low)
    expect(sampled).toBeLessThanOrEqual(high)
    const reasons = incidents.map(({ id }) =>
      kept
        .get(id)
        ?.replace(/ ?\bsample\b/, '')
        .trim(),
    )
    expect(new Set(reasons)).toEqual(new Set(['flag', 'error', 'tool']))
  })

  it('ls finds the run that paid twice', async () => {
    const { code, stdout } = await harvest(['ls', '--agent', 'refund', '--kept', 'flag', '--json'], { cwd })
    expect(code).toBe(0)
    const { tapes } = JSON.parse(stdout) as { tapes: { id: string }[] }
    expect(tapes.map(({ id }) => id).sort()).toEqual(
      incidents
        .filter(({ slow }) => slow)
        .map(({ id }) => id)
        .sort(),
    )
  })

  it('promoted as known bad and committed, CI is green while the bug is there', async () => {
    const [incident] = incidents
    const lesson = ['--lesson-wrong', 'paid twice when the bank was slow', '--lesson-right', 'pay once']
    const args = ['promote', incident?.id ?? '', '--as', 'paid-twice', '--expect', 'fail', '--tag', 'incident']
    const { code, stdout, stderr } = await harvest([...args, ...lesson], { cwd })
    expect({ code, stderr }).toEqual({ code: 0, stderr: '' })
    expect(stdout).toContain('the known bad run, reproduced')
    commit('an incident')
    const tests = await vitest()
    expect(tests.code).toBe(0)
    expect(tests.stdout).toContain('1 known bad reproduced')
    expect(git('status', '--porcelain')).toBe('')
  })

  it('the fix makes CI red with the review message and the lesson', async () => {
    edit('src/agents.ts', '  if (slow) await refund({ order_id, amount: 25 })\n', '')
    const { code, stdout, stderr } = await vitest()
    expect(code).toBe(1)
    expect(stdout + stderr).toContain('This incident no longer reproduces')
    expect(stdout + stderr).toContain('paid twice when the bank was slow')
    commit('pay once')
  })

  it('flipped to expect: pass and updated with a reason, it is green', async () => {
    edit(golden, 'expect: fail', 'expect: pass')
    const args = ['test', '--update-recordings', '--reason', 'the second payment was the bug']
    const updated = await harvest(args, { cwd, env: { CI: '' } })
    expect(updated.stdout + updated.stderr).toContain('paid-twice.case.yaml')
    expect(updated.code).toBe(0)
    expect(readFileSync(join(cwd, golden), 'utf8')).toContain('the second payment was the bug')
    expect((await vitest()).code).toBe(0)
    commit('review the fix')
  })

  it('a refactor that changes the order of independent calls stays green', async () => {
    edit(
      'src/agents.ts',
      'const [order, policy] = await Promise.all([lookupOrder({ order_id }), refundPolicy({ order_id })])',
      'const [policy, order] = await Promise.all([refundPolicy({ order_id }), lookupOrder({ order_id })])',
    )
    const { code, stdout } = await vitest()
    expect(stdout).toContain('1 replayed')
    expect(code).toBe(0)
    commit('a refactor')
  })

  it('one that drops the look-up goes red', async () => {
    edit(
      'src/agents.ts',
      'const [policy, order] = await Promise.all([refundPolicy({ order_id }), lookupOrder({ order_id })])',
      'const policy = await refundPolicy({ order_id })',
    )
    const { code, stdout, stderr } = await vitest()
    expect(code).toBe(1)
    expect(stdout + stderr).toContain('HARVEST_TRACE')
    expect(stdout + stderr).toContain('lookup_order')
  })

  it('neither CI nor a run without a reason accepts it', async () => {
    const before = readFileSync(join(cwd, golden), 'utf8')
    const ci = await harvest(['test', '--update-recordings', '--reason', 'CI says so'], { cwd, env: { CI: '1' } })
    expect(ci.code).toBe(1)
    const mute = await harvest(['test', '--update-recordings'], { cwd, env: { CI: '' } })
    expect(mute.code).toBe(2)
    expect(readFileSync(join(cwd, golden), 'utf8')).toBe(before)
  })

  it('accepted with a reason, the diff is small enough to review, and the tape is untouched', async () => {
    const args = ['test', '--update-recordings', '--reason', 'the policy alone decides']
    expect((await harvest(args, { cwd, env: { CI: '' } })).code).toBe(0)
    const changed = git('diff', '--numstat', '--', 'recordings').trim().split('\n')
    expect(changed).toHaveLength(1)
    expect(changed[0]).toContain(golden)
    const [added, removed] = (changed[0] ?? '').split('\t').map(Number)
    expect((added ?? 0) + (removed ?? 0)).toBeLessThanOrEqual(14)
    commit('drop the look-up')
    const tests = await vitest()
    expect(tests.stdout).toContain('1 replayed')
    expect(tests.code).toBe(0)
  })
})

/** Starts the service, sends it every ticket, fifty at a time, and stops it. */
async function serveTickets(cwd: string, env: Record<string, string>, tickets: readonly Ticket[]): Promise<void> {
  const child = spawn(process.execPath, ['src/service.ts'], {
    cwd,
    env: { PATH: process.env['PATH'], ...compileCache, ...env },
    stdio: ['pipe', 'pipe', 'inherit'],
  })
  const port = await firstLine(child)
  const waiting = tickets.values()
  const client = async (): Promise<void> => {
    for (const { agent, isIncident: _, ...ticket } of waiting) {
      const response = await fetch(`http://127.0.0.1:${port}/${agent}`, {
        method: 'POST',
        body: JSON.stringify(ticket),
      })
      await response.text()
    }
  }
  await Promise.all(Array.from({ length: 50 }, client))
  child.stdin?.end()
  await new Promise((ended) => child.once('close', ended))
}

function firstLine(child: ChildProcess): Promise<string> {
  return new Promise((said) => child.stdout?.once('data', (chunk) => said(String(chunk).trim())))
}
