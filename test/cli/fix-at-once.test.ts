import { type ChildProcess, spawn } from 'node:child_process'
import { once } from 'node:events'
import { appendFileSync, existsSync, mkdirSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, it, onTestFinished } from 'vitest'
import { type FixKind, fixKinds, type FixProject, openFixProject } from './fix-kinds.ts'
import { type Answered, run, scratch } from './harvest.ts'
import { printed } from './printed.ts'
import { built } from '../support/built.ts'

const prompt = fixKinds.find(({ name }) => name === 'prompt') as FixKind
const words = ['fix', 'incident', ...['--ok', 'refund(amount: 25)', '--tools', './test/tools.ts', '--live']] as const

async function opened(): Promise<FixProject> {
  const project = await openFixProject(prompt)
  onTestFinished(() => project.close())
  return project
}

function environment({ desk }: FixProject): Record<string, string> {
  return { DESK_URL: desk.url, CI: '', VITEST: '', HARVEST_ALLOW_CI_UPDATE: '1' }
}

/** Begins a command, in a process that a signal can end. */
function begin(
  project: FixProject,
  args: readonly string[],
  more: Readonly<Record<string, string>> = {},
): { readonly child: ChildProcess; readonly ended: Promise<Answered> } {
  const child = spawn(process.execPath, [built('cli/main.js'), ...args], {
    cwd: project.cwd,
    env: { ...process.env, ...environment(project), ...more },
    stdio: ['ignore', 'pipe', 'pipe'],
  })
  onTestFinished(() => void child.kill('SIGKILL'))
  const said = { stdout: '', stderr: '' }
  child.stdout.setEncoding('utf8').on('data', (chunk: string) => (said.stdout += chunk))
  child.stderr.setEncoding('utf8').on('data', (chunk: string) => (said.stderr += chunk))
  return { child, ended: once(child, 'close').then(([code]) => ({ code: code as number | null, ...said })) }
}

const caseFile = ({ cwd }: FixProject): string => join(cwd, 'recordings/golden/incident.case.yaml')

const checkouts = ({ git }: FixProject): number => git('worktree', 'list').trim().split('\n').length

it('a second fix of the case is refused while one runs, before it asks a model; one that was killed locks nothing', {
  tags: 'thorough',
}, async () => {
  const project = await opened()
  const { desk } = project
  const before = desk.asked.length
  // The first question is never answered.
  desk.decide = (...asked) => (desk.asked.length - before > 1 ? prompt.decide(...asked) : undefined)
  const { child, ended } = begin(project, [...words, '--yes'])
  await expect.poll(() => desk.asked.length - before, { timeout: 600_000 }).toBe(1)
  const second = await project.harvest(...words, '--yes')
  expect([second.code, second.stdout]).toEqual([2, ''])
  expect(second.stderr).toMatch(/^Another fix of this case is running\n[^]*\(HARVEST_FIX_RUNNING\)/)
  expect(second.stderr).toMatch(new RegExp(`^ {2}process +${child.pid}$`, 'm'))
  expect(desk.asked.length - before).toBe(1)
  // One that pays for nothing and writes nothing may run beside it.
  const plan = await project.harvest(...words.slice(0, -1))
  expect([plan.code, plan.stdout]).toEqual([1, expect.stringContaining('→ to ask them: ')])
  child.kill('SIGKILL')
  await ended
  await expect.poll(() => desk.left, { timeout: 600_000 }).toBe(1)
  desk.decide = prompt.decide
  const again = await project.harvest(...printed(second.stderr, 'once it has ended, to go on with its runs'))
  expect([again.code, again.stderr]).toEqual([0, ''])
  expect(
    readdirSync(join(project.cwd, 'recordings/inbox/.forks/incident')).filter((name) => /lock/.test(name)),
  ).toEqual([])
  const checked = await project.harvest('check')
  expect([checked.code, checked.stdout]).toEqual([0, expect.not.stringContaining('Obsolete')])
})

it('a case that is edited while its fix runs is not written over, and the runs of that fix count afterwards', {
  tags: 'thorough',
}, async () => {
  const project = await opened()
  const { desk } = project
  const before = desk.asked.length
  const read = (): string => readFileSync(caseFile(project), 'utf8')
  let isEdited = false
  desk.decide = (...asked) => {
    if (!isEdited) appendFileSync(caseFile(project), '# Seen by Ada.\n')
    isEdited = true
    return prompt.decide(...asked)
  }
  const refused = await project.harvest(...words, '--no-cache', '--yes')
  const edited = read()
  expect([refused.code, refused.stderr]).toEqual([2, expect.stringContaining('HARVEST_CASE_EDITED')])
  expect(edited).toMatch(/^expect: fail$[^]*# Seen by Ada\.\n$/m)
  // Before it is shown green and red.
  expect(refused.stdout).not.toContain('with the fix:')
  const made = desk.asked.length - before
  expect(made).toBeGreaterThan(6)
  const again = printed(refused.stderr, 'to fix the case as it is now')
  // Another edit, while the case is shown red.
  const { ended } = begin(project, again)
  await expect.poll(() => checkouts(project), { interval: 20, timeout: 600_000 }).toBe(2)
  appendFileSync(caseFile(project), '# And by Bob.\n')
  const late = await ended
  expect([late.code, late.stderr]).toEqual([2, expect.stringContaining('HARVEST_CASE_EDITED')])
  expect(read()).toBe(`${edited}# And by Bob.\n`)
  expect(readdirSync(join(project.cwd, 'recordings/golden')).filter((name) => /fixed/.test(name))).toEqual([])
  const written = await project.harvest(...printed(late.stderr, 'to fix the case as it is now'))
  expect([written.code, written.stderr, desk.asked.length - before]).toEqual([0, '', made])
  expect(read()).toMatch(/^expect: pass$[^]*# Seen by Ada\.\n# And by Bob\.\n/m)
})

/** A `git` that needs a moment to check something out, and what is there once it has begun. */
function slowGit(): { readonly path: string; readonly isAsked: () => boolean } {
  const folder = scratch()
  const asked = join(folder, 'asked')
  const git = process.env['PATH']?.split(':').find((one) => existsSync(join(one, 'git')))
  const slow = `case "$*" in *"worktree add"*) touch '${asked}'; sleep 3;; esac\nexec '${git}/git' "$@"\n`
  writeFileSync(join(folder, 'git'), `#!/bin/sh\n${slow}`, { mode: 0o755 })
  return { path: `${folder}:${process.env['PATH']}`, isAsked: () => existsSync(asked) }
}

it('a signal that ends a fix while it shows its case is answered with whether its runs are kept, and how to go on', {
  tags: 'thorough',
}, async () => {
  const project = await opened()
  const { desk } = project
  const { path, isAsked } = slowGit()
  const temporary = scratch()
  // With so many files that git does not know, the code is unknown: nothing is kept.
  const unknown = join(project.cwd, 'notes')
  mkdirSync(unknown)
  for (let n = 0; n <= 500; n++) writeFileSync(join(unknown, `${n}.txt`), '')
  const isCheckedOut = () => checkouts(project) === 2
  const phases = [
    ['SIGINT', 130, {}, isCheckedOut, 'Its runs are not kept.', 'to begin again'],
    ['SIGTERM', 143, { PATH: path }, isAsked, 'Finished forks are kept', 'to go on'],
    ['SIGINT', 130, {}, isCheckedOut, 'Finished forks are kept', 'to go on'],
  ] as const
  let again: readonly string[] = words
  const asked: number[] = []
  for (const [signal, exitCode, env, isReached, kept, how] of phases) {
    const before = desk.asked.length
    const { child, ended } = begin(project, again, { ...env, TMPDIR: temporary })
    // One that ends before says why.
    await Promise.race([ended, expect.poll(isReached, { interval: 20, timeout: 600_000 }).toBe(true)])
    child.kill(signal)
    const { code, stderr } = await ended
    expect([code, stderr]).toEqual([exitCode, expect.stringContaining('HARVEST_CLI_INTERRUPTED')])
    expect(stderr).toContain(`Nothing is running any more. ${kept}`)
    again = printed(stderr, how)
    asked.push(desk.asked.length - before)
    // Nothing is left behind.
    expect([checkouts(project), readdirSync(temporary).filter((name) => name.startsWith('harvest-'))]).toEqual([1, []])
    rmSync(unknown, { recursive: true, force: true })
  }
  const shown = await project.harvest(...again)
  expect([shown.code, shown.stdout]).toEqual([1, expect.stringContaining('without the fix: red')])
  expect(shown.stdout).toContain('reused')
  const [unkept = 0] = asked
  expect(unkept).toBeGreaterThan(0)
  expect(asked).toEqual([unkept, unkept, 0])
})

it('what a killed fix left is removed by the next one: its checkout, and its temporary folders', {
  tags: 'thorough',
}, async () => {
  const project = await opened()
  const env = { ...environment(project), TMPDIR: scratch() }
  const left = (): readonly string[] => readdirSync(env.TMPDIR).filter((name) => name.startsWith('harvest-'))
  const { child, ended } = begin(project, words, env)
  await expect.poll(() => checkouts(project), { interval: 20, timeout: 600_000 }).toBe(2)
  await expect.poll(() => left().length, { interval: 20, timeout: 600_000 }).toBe(3)
  child.kill('SIGKILL')
  await ended
  expect(
    left()
      .map((name) => name.replace(/\..*/, ''))
      .sort(),
  ).toEqual(['harvest-fix', 'harvest-jobs', 'harvest-worktree'])
  // One that is not ours.
  mkdirSync(join(env.TMPDIR, 'harvest-of-summer'))
  const next = await run(process.execPath, [built('cli/main.js'), ...words], { cwd: project.cwd, env })
  expect([next.code, next.stdout]).toEqual([1, expect.stringContaining('without the fix: red')])
  expect([checkouts(project), left()]).toEqual([1, ['harvest-of-summer']])
})
