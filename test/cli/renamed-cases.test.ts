import { execFileSync } from 'node:child_process'
import { existsSync, renameSync, rmSync, symlinkSync, writeFileSync } from 'node:fs'
import { join, resolve } from 'node:path'
import { beforeEach, describe, expect, it } from 'vitest'
import { call } from '../tape/make.ts'
import { putTape } from '../recordings/make.ts'
import { type Answered, scratch, warmHarvest as harvest } from './harvest.ts'

let root: string
beforeEach(() => {
  root = scratch()
})

function git(...args: readonly string[]): string {
  const identity = ['-c', 'user.name=Test', '-c', 'user.email=test@example.com', '-c', 'commit.gpgsign=false']
  return execFileSync('git', [...identity, ...args], { cwd: root, encoding: 'utf8', stdio: 'pipe' }).trim()
}

const golden = (name: string): string => join(root, 'recordings/golden', name)

function put(id: string, name = id): void {
  putTape(join(root, 'recordings'), `golden/${name}`, { events: [call(1, 'lookup')] })
  const lines = [`case: ${id}`, 'agent: refund', `tape: ${name}.tape.jsonl`, 'expect: pass', 'baseline: [lookup()]']
  writeFileSync(golden(`${name}.case.yaml`), `${lines.join('\n')}\n`)
}

const typed = (...args: readonly string[]): Promise<Answered> => harvest(args, { cwd: root })

describe('a case that is not called like this any more', () => {
  it('is proposed by the name of its file, where its id is another', async () => {
    put('refund-all', 'triage-old')
    renameSync(golden('triage-old.tape.jsonl'), golden('kept.tape.jsonl'))
    const file = golden('triage-old.case.yaml')
    writeFileSync(file, 'case: refund-all\nagent: refund\ntape: kept.tape.jsonl\nexpect: pass\nbaseline: [lookup()]\n')
    const { code, stderr } = await typed('show', 'triage-old')
    expect(code).toBe(2)
    expect(stderr).toContain('→ did you mean: npx vitest-harvest show refund-all\n')
    expect((await typed('show', 'refund-all')).code).toBe(0)
  })

  it('of two runs to compare, the mistyped one is not taken for the other', async () => {
    put('ok-refund')
    put('ok-refunds')
    const { stderr } = await typed('diff', 'ok-refund', 'ok-refnd')
    expect(stderr).toContain('→ did you mean: npx vitest-harvest diff ok-refund ok-refunds\n')
    rmSync(golden('ok-refunds.case.yaml'))
    rmSync(golden('ok-refunds.tape.jsonl'))
    expect((await typed('diff', 'ok-refund', 'ok-refnd')).stderr).not.toContain('did you mean')
  })

  it('is named with the commit that deleted it, and comes back by the command that is printed', async () => {
    put('gone')
    put('other')
    git('init', '-q')
    git('add', '-A')
    git('commit', '-qm', 'Record')
    rmSync(golden('gone.case.yaml'))
    rmSync(golden('gone.tape.jsonl'))
    const open = (await typed('show', 'gone')).stderr
    expect(open).toMatch(/deleted in +a change that is not committed\n/)
    git('commit', '-qam', 'Drop a case')
    const { stderr } = await typed('show', 'gone')
    expect(stderr).toMatch(/deleted in +commit [0-9a-f]{10}, Drop a case\n/)
    symlinkSync(resolve('node_modules'), join(root, 'node_modules'))
    writeFileSync(join(root, 'vitest.config.mjs'), 'export default {}')
    const ran = (await typed('test', 'gone', '--reason', 'othr')).stderr
    expect(ran).toMatch(
      /No case is called gone: deleted in commit [0-9a-f]{10}, Drop a case\n→ to get it back: git checkout /,
    )
    // A value of an option is no name of a case.
    expect(ran).not.toContain('othr')
    expect((await typed('test', 'othr')).stderr).toContain('→ did you mean: npx vitest-harvest test other\n')
    const [, command = ''] = /→ to get it back: (git checkout .*)\n/.exec(stderr) ?? []
    execFileSync('sh', ['-c', command], { cwd: root, stdio: 'pipe' })
    expect(existsSync(golden('gone.case.yaml'))).toBe(true)
    expect((await typed('show', 'gone')).code).toBe(0)
  })

  it('is proposed by the name that a commit gave it', async () => {
    put('before')
    git('init', '-q')
    git('add', '-A')
    git('commit', '-qm', 'Record')
    for (const end of ['case.yaml', 'tape.jsonl']) git('mv', golden(`before.${end}`), golden(`successor.${end}`))
    const lines = [
      'case: successor',
      'agent: refund',
      'tape: successor.tape.jsonl',
      'expect: pass',
      'baseline: [lookup()]',
    ]
    writeFileSync(golden('successor.case.yaml'), `${lines.join('\n')}\n`)
    git('commit', '-qam', 'Rename a case')
    const { stderr } = await typed('show', 'before')
    expect(stderr).toContain('→ did you mean: npx vitest-harvest show successor\n')
  })

  it('is found by its beginning when it was fixed, and has a tape of the incident and one of the fix', async () => {
    put('refund-100x')
    putTape(join(root, 'recordings'), 'golden/refund-100x.fixed-1', { events: [call(1, 'lookup')] })
    expect((await typed('show', 'refund-1')).code).toBe(0)
    put('refund-12')
    expect((await typed('show', 'refund-1')).stderr).toContain("tapes match 'refund-1'")
    expect((await typed('show', 'refund-100')).code).toBe(0)
    // A run of the inbox may be meant.
    putTape(join(root, 'recordings'), 'inbox/refund-1002', { events: [call(1, 'lookup')] })
    expect((await typed('show', 'refund-100')).stderr).toContain("tapes match 'refund-100'")
  })

  it('is a tape of the inbox yet: it is promoted first', async () => {
    putTape(join(root, 'recordings'), 'inbox/triage', { events: [call(1, 'lookup')] })
    const { code, stderr } = await typed('fix', 'triage')
    expect(code).toBe(2)
    expect(stderr).toContain("→ it is a tape, to make a case of it: npx vitest-harvest promote triage --as '<id>'\n")
  })
})
